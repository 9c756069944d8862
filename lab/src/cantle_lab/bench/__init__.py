"""Benchmarks of whole runs: speed and memory as ratios to reading the same file, and a model for far larger data."""

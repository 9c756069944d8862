"""Evaluation of releases against raw data. It reads private records, so no code that publishes data imports it."""

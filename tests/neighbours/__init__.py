"""Neighbours are inputs: D and D' are two files, frames, lists or graphs, one record apart (docs/privacy.md, cleaning)."""

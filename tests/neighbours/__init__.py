"""Neighbours are inputs: D and D' are files, frames, lists or graphs one record apart (docs/privacy.md, cleaning)."""

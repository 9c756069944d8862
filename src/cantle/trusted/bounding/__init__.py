"""Bounds on what one person or one node can change, applied before anything is counted."""

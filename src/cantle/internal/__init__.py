"""The curator's own view of private data: what a schema does to a file, and how a release compares with it.

Everything here shows private facts without noise and must not be published. Nothing of it is used by `publish`.
"""

WARNING = "INTERNAL: this shows private facts without noise. Do not publish it or pass it on."
"""The first line of whatever this room writes."""

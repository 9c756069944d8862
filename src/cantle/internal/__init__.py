"""The curator's own view of private data: what a schema does to a file, and how a release compares with the file.

Everything here shows private facts without noise and must not be published. `publish` uses nothing of it.
"""

WARNING = "INTERNAL: this shows private facts without noise. Do not publish it or pass it on."
"""The first line of everything that this package prints or writes."""

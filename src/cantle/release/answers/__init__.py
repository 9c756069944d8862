"""Answers to questions about a release, from what was released alone."""

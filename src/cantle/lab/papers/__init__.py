"""Measuring releases against raw data. Sees records; nothing on the publishing side imports it."""

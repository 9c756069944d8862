"""Evaluation of releases against raw data. It sees records; nothing on the publishing side imports it."""

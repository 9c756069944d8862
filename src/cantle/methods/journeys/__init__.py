"""Journeys: sequences from noisy lengths, short paths, ends and strings."""

"""Journeys: sequences from noisy lengths and strings."""

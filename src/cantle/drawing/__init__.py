"""Counts made to agree, and records drawn from counts: what several methods share."""

"""Speed and memory of whole runs, as ratios to reading the same file; and what they say of far larger data."""

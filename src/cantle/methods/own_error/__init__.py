"""A release's own error: its numbers, and the public questions that it is measured with."""

"""The decisions of a run: what is asked and admitted, what it costs, and how answers are drawn. Read this first."""

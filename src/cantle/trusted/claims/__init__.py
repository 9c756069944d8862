"""What may be asked and chosen, each with its sensitivity or range, and the proof beside the code."""

"""The model behind journeys: it sees noisy answers only."""

"""The methods, one per folder, and what they share. A method sees public regions and noisy answers."""

"""One paper a file. A method sees public regions and noisy answers; it imports neither noise nor engines."""

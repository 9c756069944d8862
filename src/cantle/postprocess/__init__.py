"""Noisy answers become groups and records; free of privacy cost."""

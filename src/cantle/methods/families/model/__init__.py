"""What noisy tables of views say about families, and families drawn from them. Public values only."""

"""Where the records live. An engine counts exactly, draws nothing, and is spoken to by the curator alone."""

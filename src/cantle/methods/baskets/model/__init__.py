"""The model of baskets: what is fitted to its noisy counts, between and after its questions."""

"""baskets: noisy sizes, items and pairs of items, and sets that agree with them."""

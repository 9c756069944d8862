"""The public part of `baskets`: from noisy sizes, supports, head patterns and pairs to synthetic records."""

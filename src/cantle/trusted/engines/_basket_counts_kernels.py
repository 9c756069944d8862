"""Compiled twins of basket_counts.py; each makes one pass over the records."""

from __future__ import annotations

import numpy as np

from cantle.trusted.arrays import Codes, Ints
from cantle.trusted.jit import compiled


@compiled
def items(starts: Ints, codes: Codes, parts: Ints, most: int, counts: Ints) -> None:
    """`basket_counts.plain_items`."""
    universe = len(counts) // 3
    for r in range(len(starts) - 1):
        size = starts[r + 1] - starts[r]
        first = 2 * universe if size > most else (universe if size > 1 else 0)
        for k in range(starts[r], starts[r + 1]):
            counts[first + codes[k]] += parts[size]


@compiled
def pairs(starts: Ints, codes: Codes, place_of: Codes, parts: Ints, of_two: int, counts: Ints) -> None:
    """`basket_counts.plain_pairs`."""
    half = len(counts) // 2
    mine = np.empty(len(parts), np.int64)
    for r in range(len(starts) - 1):
        number = 0
        for k in range(starts[r], starts[r + 1]):
            place = place_of[codes[k]]
            if place >= 0:
                if number < len(parts):
                    mine[number] = place
                number += 1
        if number < 2 or number >= len(parts):
            continue
        double = starts[r + 1] - starts[r] == 2
        part, first = (of_two, 0) if double else (parts[number], half)
        for b in range(1, number):
            base = first + mine[b] * (mine[b] - 1) // 2
            for a in range(b):
                counts[base + mine[a]] += part

"""Compiled twins of the two sums of label_fit.py, in the same order."""

from __future__ import annotations

import numpy as np

from cantle.jit import compiled
from cantle.trusted.core.arrays import Codes, Floats


@compiled
def gather(effects: Floats, rows: Codes) -> Floats:
    """See label_fit.gather."""
    total = np.empty(rows.shape[1])
    for u in range(rows.shape[1]):
        total[u] = effects[rows[0, u]]
    for block in range(1, rows.shape[0]):
        for u in range(rows.shape[1]):
            total[u] += effects[rows[block, u]]
    return total


@compiled
def scatter(values: Floats, rows: Codes, cells: int) -> Floats:
    """See label_fit.scatter."""
    total = np.zeros(cells)
    for block in range(rows.shape[0]):
        for u in range(rows.shape[1]):
            total[rows[block, u]] += values[u]
    return total

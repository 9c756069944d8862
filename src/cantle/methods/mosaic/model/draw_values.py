"""Values inside cells: each value of a cell is equally likely."""

from __future__ import annotations

import numpy as np

from cantle.drawing.counts import Dice
from cantle.trusted.core.arrays import Codes
from cantle.trusted.geometry.boxes import Ints

BLOCK = 1 << 16
"""Records whose values are drawn together."""


def draw_values(cells: Codes, edges: Ints, dice: Dice) -> Codes:
    """A code inside each record's cell."""
    if len(edges) == edges[-1] + 1:  # every cell is one value
        return cells
    codes: Codes = np.empty(len(cells), dtype=np.min_scalar_type(edges[-1]))
    for start in range(0, len(cells), BLOCK):
        some = cells[start : start + BLOCK]
        first, width = edges[:-1][some], np.diff(edges)[some]
        codes[start : start + BLOCK] = first + np.minimum((dice.random(len(some)) * width).astype(np.int64), width - 1)
    return codes

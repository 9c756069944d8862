"""Records drawn from a weighted pool, as evenly as possible, then shuffled. Post-processing."""

from __future__ import annotations

import numpy as np

from cantle.drawing.counts import Dice, Floats
from cantle.methods.baskets.model.pool import Codes, Pool
from cantle.trusted.geometry.boxes import Ints

_BLOCK = 1 << 14  # records put together at once, so that their arrays stay in the cache


def draw_records(pool: Pool, weights: Floats, number: int, dice: Dice) -> tuple[Ints, Codes]:
    """This many records from the pool, each about as often as its weight says, as ragged rows in random order."""
    running = np.cumsum(weights)
    if number <= 0 or not len(running) or running[-1] <= 0:
        return np.zeros(1, np.int64), np.zeros(0, np.int32)
    at = (np.arange(number) + dice.random()) / number * running[-1]
    rows = np.minimum(np.searchsorted(running, at, side="right"), int(np.flatnonzero(weights)[-1]))
    rows = rows[dice.permutation(number)]
    size = np.diff(pool.starts)[rows]
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(size)])
    items = np.empty(starts[-1], np.int32)
    for first in range(0, number, _BLOCK):
        some, begin, end = slice(first, first + _BLOCK), starts[first], starts[min(first + _BLOCK, number)]
        place = np.repeat(pool.starts[rows[some]] - starts[:-1][some], size[some])
        place += np.arange(begin, end)
        items[begin:end] = pool.items[place]
    return starts, items

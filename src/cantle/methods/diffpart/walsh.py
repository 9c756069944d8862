"""Non-negative counts of all sets of a small universe that keep the one- and two-item tables. Post-processing.

Clipping 2^|I| noisy counts at zero would add half the noise of every empty cell; a threshold would lose all small
cells. But the number of records that contain one or two given items is a sum of many cells, in which the noise averages
out. So we keep the cells that stand out of the noise and spread the rest as if items were independent. Then we
alternate between "one- and two-item tables as measured" and "no negative cell", and correct the sizes of records from
time to time. In terms of Walsh coefficients: those of order at most 2 are taken from the noisy table, shrunk towards
the starting point by the part of the difference that noise explains. Orders from 3 on would bring back the noise of the
cells.
"""

from __future__ import annotations

import numpy as np

from cantle.drawing.counts import Floats, variance
from cantle.trusted.geometry.boxes import Bools, Ints
from cantle.trusted.geometry.item_partitions import popcount

ORDER = 2
ROUNDS = 150
SIZES_EVERY = 5
"""Rounds between corrections of the numbers of records of each size, because clipping moves mass into large sets."""
STEP = 1.8
"""Over-relaxation factor of the projection on the tables; it converges for factors below 2."""
STANDS_OUT = 8.0
"""Number of noise scales from which on a cell counts as standing out."""


def transform(cells: Floats, order: int = ORDER) -> list[Floats]:
    """The Walsh coefficients of a table of 2^d cells, up to this order, one array per order.

    Bits are transformed one by one from the highest. An array of coefficients of order k over the remaining bits
    becomes two arrays of half the size: the sum of its halves has order k, their difference order k + 1. Because higher
    orders are dropped on the way, this takes about 6 * 2^d operations.
    """
    levels = [cells.reshape(1, -1)] + [np.zeros((0, len(cells)))] * order
    while levels[0].shape[1] > 1:
        half = levels[0].shape[1] // 2
        below = [levels[0][:0], *levels[:-1]]
        levels = [_halved(level, lower, half) for level, lower in zip(levels, below, strict=True)]
    return [level[:, 0] for level in levels]


def _halved(level: Floats, lower: Floats, half: int) -> Floats:
    """The sums of the halves of one order, and the differences of the halves of the order below it."""
    halved = np.empty((len(level) + len(lower), half))
    np.add(level[:, :half], level[:, half:], out=halved[: len(level)])
    np.subtract(lower[:, :half], lower[:, half:], out=halved[len(level) :])
    return halved


def spread(coefficients: list[Floats], bits: int) -> Floats:
    """The table that has these coefficients and no others: the steps of `transform` backwards."""
    order = len(coefficients) - 1
    levels = [c.reshape(-1, 1) * 0.5**bits for c in coefficients]  # one factor 1/2 per step
    for done in range(bits - 1, -1, -1):
        kept = [_sets(done, k) for k in range(order + 1)]
        gaps = [level[kept[k] :] for k, level in enumerate(levels)]
        twice = np.concatenate([levels[order][: kept[order]]] * 2, axis=1)  # the highest order has no differences
        levels = [*(_doubled(levels[k][: kept[k]], gaps[k + 1]) for k in range(order)), twice]
    return np.asarray(levels[0][0])


def _doubled(sums: Floats, gaps: Floats) -> Floats:
    """The two halves, up to a factor, from their sum and their difference."""
    half = sums.shape[1]
    doubled = np.empty((len(sums), 2 * half))
    np.add(sums, gaps, out=doubled[:, :half])
    np.subtract(sums, gaps, out=doubled[:, half:])
    return doubled


def _sets(bits: int, size: int) -> int:
    """C(bits, size), the number of sets of this size."""
    number = 1
    for i in range(size):
        number = number * (bits - i) // (i + 1)
    return max(0, number)


def fill_in(noisy: Floats, rate: float) -> Floats:
    """Non-negative estimates of all cells from noisy counts of this rate; cell 0, the empty set, gets 0."""
    bits = len(noisy).bit_length() - 1
    large = noisy > STANDS_OUT / rate
    rest = np.where(large, 0.0, noisy)
    cells = np.where(large, noisy, _independent(rest, bits))
    noise = float(variance(rate)) * float((~large).sum())
    wanted = [_drawn(said, shown, noise) for said, shown in zip(transform(noisy), transform(cells), strict=True)]
    size = popcount(np.arange(len(noisy)))
    records = _by_size(rest, large, size, float(variance(rate)))
    for step in range(1, ROUNDS + 1):
        off = [goal - shown for goal, shown in zip(wanted, transform(cells), strict=True)]
        cells += STEP * spread(off, bits)
        np.maximum(cells, 0.0, out=cells)
        cells[0] = 0.0
        if step % SIZES_EVERY == 0:
            shown = np.bincount(size, np.where(large, 0.0, cells), bits + 1)
            scale = np.where(shown > 0, records / np.maximum(shown, 1e-300), 1.0)
            cells = np.where(large, cells, cells * scale[size])
    return cells


def _by_size(rest: Floats, large: Bools, size: Ints, spread_of_one: float) -> Floats:
    """Numbers of records of each size in the cells that do not stand out, minus what noise explains."""
    records = np.maximum(np.bincount(size, rest), 1e-9)
    return records * np.maximum(0.0, 1 - spread_of_one * np.bincount(size, ~large) / records**2)


def _independent(rest: Floats, bits: int) -> Floats:
    """The table of independent items with the measured number of records and the measured frequency of each item."""
    total, ones = transform(rest, 1)
    records = max(1.0, float(total[0]))
    share = np.clip((records - ones[::-1]) / (2 * records), 1e-6, 0.999)  # coefficients come highest bit first
    cells = np.full(1, records)
    for bit in range(bits):
        cells = np.concatenate([cells * (1 - share[bit]), cells * share[bit]])
    cells[0] = 0.0
    return cells * (records / max(float(cells.sum()), 1e-300))


def _drawn(said: Floats, shown: Floats, noise: float) -> Floats:
    """Coefficients between the measured ones and those of the start; closer to the measured ones if noise explains less
    of the difference."""
    off = said - shown
    seen = float(np.mean(off**2)) if len(off) else 0.0
    return np.asarray(shown + max(0.0, 1 - noise / seen) * off if seen > 0 else shown)

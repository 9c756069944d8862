"""Cells of a place: aligned spans of its codes, which are rectangles of the map, split where noisy counts are large.

An adaptive grid (Qardaji, Yang and Li, ICDE 2013) of three levels, whose cells are halved any number of times along the
curve. The counts of all levels are averaged upwards and made non-negative downwards. Other columns see the place in at
most 256 blocks of about equally many records; inside a block, records follow the finest cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from cantle.drawing.column_cells import Column, aligned_blocks
from cantle.drawing.counts import Dice, Floats
from cantle.drawing.smooth import project_runs
from cantle.trusted.core.arrays import Bools, Codes
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.cross_tables import MOST_CELLS

LEVELS = Fraction(1, 5), Fraction(1, 5), Fraction(3, 5)
"""The share of the place's budget that each level gets."""

FIRST, SPLIT = 360.0, (10.0, 2.5)
"""Records times epsilon in a block of the first level, and in a part of a block that the next levels count."""

FEWEST_BITS, MOST_BITS = 6, 14
BLOCKS = 256

FEW, FEW_BITS = 1_000, 4
"""Records times epsilon of the place below which the first level has 16 blocks, because counts of 64 would be mostly
noise. Chosen on check-ins, made-up towns and a made-up city with 200 to 1,500 of these."""


@dataclass(frozen=True, eq=False)
class Level:
    """The edges of the cells that were counted together, their noisy counts, and the variance of each; null is a cell
    of its own, the last."""

    edges: Ints
    counts: Floats
    variance: float


def first_edges(column: Column, records: float) -> Ints:
    """The edges of the first level, for so many records times epsilon."""
    wanted = round(np.log2(max(1.0, records / FIRST)))
    bits = max(FEW_BITS if records < FEW else FEWEST_BITS, min(MOST_BITS, wanted))
    return _with_null(
        column, np.arange(0, column.values + 1, column.values >> min(bits, column.values.bit_length() - 1))
    )


def next_edges(column: Column, level: Level, rate: float, per: float) -> Ints:
    """The edges of the next level, which is counted at this rate: each cell is halved a number of times that follows
    from its noisy count."""
    sizes, counts = np.diff(level.edges), level.counts
    most = np.floor(np.log2(sizes)).astype(np.int64)
    halved = np.floor(np.log2(np.maximum(1.0, counts * rate / per)) + 0.5).astype(np.int64)
    halved = np.minimum(halved, most)
    while (np.int64(1) << halved).sum() >= MOST_CELLS:
        halved = np.maximum(halved - 1, 0)
    parts = np.int64(1) << halved
    parent = np.repeat(np.arange(len(parts)), parts)
    place = np.arange(len(parent)) - np.repeat(np.cumsum(parts) - parts, parts)
    starts = level.edges[:-1][parent] + place * (sizes // parts)[parent]
    return np.append(starts, column.codes).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Place:
    """The estimated masses of the finest cells, the edges of the blocks that other columns see, and the number of all
    records with its variance."""

    edges: Ints
    masses: Floats
    blocks: Ints
    records: tuple[float, float]

    @property
    def block_masses(self) -> Floats:
        return np.add.reduceat(self.masses, np.searchsorted(self.edges, self.blocks[:-1]))

    def draw(self, block: Codes, dice: Dice) -> Codes:
        """A code in the block of each record, evenly spread over the cells."""
        ends = np.concatenate([[0.0], np.cumsum(self.masses)])
        at = np.searchsorted(self.edges, self.blocks)
        order = np.lexsort((dice.random(len(block)), block))
        often = np.bincount(block, minlength=len(self.blocks) - 1)
        rank = np.arange(len(block)) - np.repeat(np.cumsum(often) - often, often)
        chosen = block[order].astype(np.int64)
        tick = (rank + dice.random(len(often))[chosen]) / often[chosen]
        low, high = ends[at[chosen]], ends[at[chosen + 1]]
        sought = low + tick * (high - low)
        cell = np.clip(np.searchsorted(ends, sought, side="right") - 1, at[chosen], at[chosen + 1] - 1)
        even = high <= low
        part = np.where(even, tick, (sought - ends[cell]) / np.maximum(self.masses[cell], 1e-300))
        first, width = self.edges[cell], np.diff(self.edges)[cell]
        first = np.where(even, self.blocks[chosen], first)
        width = np.where(even, np.diff(self.blocks)[chosen], width)
        codes: Codes = np.empty(len(block), dtype=np.min_scalar_type(self.edges[-1]))
        codes[order] = first + np.clip((part * width).astype(np.int64), 0, width - 1)
        return codes


def estimated(column: Column, levels: Sequence[Level], empty: Bools) -> Place:
    """The place that follows from the counts of all levels; no record is in the cells that are known to be `empty`."""
    counts = [level.counts for level in levels]
    noise = [np.full(len(level.counts), level.variance) for level in levels]
    counts[-1], noise[-1] = np.where(empty, 0.0, counts[-1]), np.where(empty, 0.0, noise[-1])
    starts = [np.searchsorted(fine.edges, coarse.edges[:-1]) for coarse, fine in zip(levels, levels[1:], strict=False)]
    for number in range(len(levels) - 2, -1, -1):
        below, spread = (np.add.reduceat(one[number + 1], starts[number]) for one in (counts, noise))
        weight = spread / (spread + noise[number])
        counts[number] = weight * counts[number] + (1 - weight) * below
        noise[number] = weight * noise[number]
    records = float(counts[0].sum()), float(noise[0].sum())
    now, first = np.array([max(1.0, records[0])]), [np.zeros(1, dtype=np.int64), *starts]
    for level, begins in zip(counts, first, strict=True):
        now = project_runs(level, begins, now)
    now = np.where(empty & ~empty.all(), 0.0, now) + (not now.any())
    masses = now / now.sum()
    return Place(levels[-1].edges, masses, _blocks(column, levels[-1].edges, masses), records)


def _blocks(column: Column, edges: Ints, masses: Floats) -> Ints:
    """The edges of at most 256 aligned blocks of whole cells, null by itself."""
    below = np.concatenate([[0.0], np.cumsum(masses)])

    def cell(ends: Ints) -> Ints:
        return np.searchsorted(edges, ends)

    return _with_null(column, aligned_blocks(column.values, lambda ends: below[cell(ends)], BLOCKS - column.null, cell))


def _with_null(column: Column, edges: Ints) -> Ints:
    return (np.append(edges, column.codes) if column.null else edges).astype(np.int64)

"""Cells of columns: public spans of values that the tables of `mosaic` count.

Numeric columns of up to 64 values and all categories have one cell per value. A wider numeric column starts with cells
of equal width, single cells for its lowest value and for zero, and cells of growing width (1, 2, 5, 10, ...) away from
both; noisy answers may refine them. Null is one more cell, always the last.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from cantle.drawing.counts import Floats
from cantle.schema.domain import Attribute, Plane, Steps
from cantle.trusted.core.arrays import Bools
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.value_classes import ValueClasses

MOST_UNIT_CELLS = 64
"""A numeric column of at most this many values has one cell per value."""

WIDTHS, LOW_WIDTHS, RICH_WIDTHS = 32, 16, 128
"""Cells of equal width of a wide column: normally, if there are few records, and if there are many for few columns."""

RICH_VALUES = 256
"""With many records for few columns, a column of at most this many values has one cell per value."""

FEWEST_SPLIT, PER_PART, MOST_PARTS = 6, 3, 16
"""Records times the rate of their noise from which on a cell is split, and per part; and the most parts. Chosen on
Adult, bank, diamonds, doctor visits, free light chains, health insurance and labour supply, at epsilon 0.3 and 1."""

FEWEST_KEPT, GROWTH = 3, 0.5
"""Records times that rate from which on a cell is never joined with others, and how wide joined cells may be, relative
to their distance from these. Chosen on generated lengths of time: exponential, gamma, log-normal, normal."""

MOST_SPIKES = 24
PERIODS = (1, 5, 10, 50, 100, 500, 1000, 5000, 10_000, 50_000, 100_000)
FEWEST_MULTIPLES = 8
"""A period makes a class of round values only if the range has at least this many multiples of it."""


@dataclass(frozen=True)
class Column:
    """Public facts about a column: how many values it has, and which values are close to each other."""

    name: str
    values: int
    null: bool = False
    numeric: bool = False
    origin: int | None = None
    """The distance of code 0 from the value zero, in steps; None if values are not multiples of anything (dates,
    categories)."""
    levels: tuple[tuple[int, ...], ...] = ()
    """Levels of a taxonomy, coarsest first: the edges of their spans of codes."""
    place: bool = False
    """Whether it holds places; noisy answers determine all of its cells."""
    share: Fraction | None = None
    """The share of epsilon that a place is declared to get."""

    @property
    def codes(self) -> int:
        return self.values + self.null

    @property
    def wide(self) -> bool:
        return self.numeric and self.values > MOST_UNIT_CELLS

    @property
    def classes(self) -> ValueClasses:
        """The classes of round values; a single class if values are not multiples of anything."""
        if self.origin is None:
            return ValueClasses(0, (1,))
        every = ValueClasses(self.origin, PERIODS)
        enough = [n for n in range(1, len(PERIODS)) if every.multiples(0, self.values, n) >= FEWEST_MULTIPLES]
        return ValueClasses(self.origin, (1, *(PERIODS[n] for n in enough)))


def column_of(attribute: Attribute) -> Column:
    """The public facts about a column of a domain."""
    scale = attribute.scale
    if isinstance(scale, Plane):
        return Column(attribute.name, attribute.bins, attribute.nullable, place=True, share=scale.budget)
    if isinstance(scale, Steps):
        each = scale.step * attribute.width
        rounds = scale.type in ("integer", "number") and scale.first % each == 0
        return Column(attribute.name, attribute.bins, attribute.nullable, True, scale.first // each if rounds else None)
    return Column(attribute.name, scale.grid, attribute.nullable, levels=_levels(attribute))


def _levels(attribute: Attribute) -> tuple[tuple[int, ...], ...]:
    """The edges of the nodes of a taxonomy, level by level below its root; the leaf of a short branch is repeated."""
    tree = attribute.taxonomy
    if tree is None:
        return ()
    levels, spans = [], [tree.root]
    while any(hi - lo > 1 for lo, hi in spans):
        parts = (tree.children(lo, hi) if hi - lo > 1 else ((lo, hi),) for lo, hi in spans)
        spans = [part for children in parts for part in children]
        if len(spans) < attribute.grid:
            levels.append((*(lo for lo, _ in spans), attribute.grid))
    return tuple(levels)


def starting_edges(column: Column, widths: int = WIDTHS) -> Ints:
    """Edges of the cells of a column's values before any answer; null is not included."""
    if column.place:
        return np.array([0, column.values], dtype=np.int64)
    if not column.wide:
        return np.arange(column.values + 1, dtype=np.int64)
    return ladder_edges(column.values, widths, None if column.origin is None else -column.origin)


def ladder_edges(values: int, widths: int, zero: int | None) -> Ints:
    """Edges of equal widths, finer near the lowest value and near `zero`, if that is one of the values."""
    even = -(-np.arange(widths + 1, dtype=np.int64) * values // widths)
    edges = [even, _ladder(values, widths)]
    if zero is not None and 0 <= zero < values:
        edges += [np.array([zero]), zero + _ladder(values, widths), zero + 1 - _ladder(values, widths)]
    rungs = np.unique(np.concatenate(edges))
    return rungs[(rungs >= 0) & (rungs <= values)].astype(np.int64)


def _ladder(values: int, widths: int) -> Ints:
    """1, 2, 5, 10, ... up to one width."""
    powers = 10 ** np.arange(len(str(values)), dtype=np.int64)
    steps = (powers[:, None] * np.array([1, 2, 5])).reshape(-1)
    return steps[(steps <= max(1, values // widths))]


def aligned_blocks(
    values: int, below: Callable[[Ints], Floats | Ints], most: int, part: Callable[[Ints], Ints] = np.asarray
) -> Ints:
    """Edges of at most so many aligned blocks of a place, always halving that with most records; `below` says how many
    records have smaller codes. A block is not halved if it has no record, or a single `part`: a code, by default."""
    edges = np.array([0, values], dtype=np.int64)
    while len(edges) <= most:
        held = np.where(np.diff(part(edges)) > 1, np.diff(below(edges)), 0)
        if held.max() <= 0:
            break
        at = int(held.argmax())
        edges = np.insert(edges, at + 1, (edges[at] + edges[at + 1]) // 2)
    return edges


def split_edges(edges: Ints, noisy: Ints, rate: float) -> Ints:
    """The edges after cells with many records are split into parts of equal width, and cells with few are joined, far
    from all others: the noise of many empty cells would hide the end of a distribution. `rate` is that of the noise.

    >>> split_edges(np.array([0, 10, 40, 41]), np.array([50, 90, 500]), 0.1).tolist()
    [0, 10, 20, 30, 40, 41]
    """
    kept = _not_joined(edges, noisy * rate >= FEWEST_KEPT)
    edges, noisy = edges[kept], np.add.reduceat(noisy, kept[:-1])
    records, widths = noisy * rate, np.diff(edges)
    parts = np.where(records >= FEWEST_SPLIT, np.clip(records // PER_PART, 1, MOST_PARTS), 1).astype(np.int64)
    parts = np.minimum(parts, widths)
    cell = np.repeat(np.arange(len(parts)), parts)
    within = np.arange(len(cell)) - np.repeat(np.cumsum(parts) - parts, parts)
    return np.append(edges[cell] + within * widths[cell] // parts[cell], edges[-1]).astype(np.int64)


def _not_joined(edges: Ints, many: Bools) -> Ints:
    """Which edges stay, given which cells hold `many` records. Cells that hold few grow with their distance from these;
    the last one, in which values above the bound count too, stays by itself."""
    if not many.any():
        return np.arange(len(edges))
    low, high = edges[:-1][many, None], edges[1:][many, None]
    distance, kept = np.maximum(low - edges, edges - high).clip(0).min(axis=0), [0]
    for at in range(1, len(edges) - 2):
        if edges[at] - edges[kept[-1]] >= GROWTH * min(distance[at], distance[kept[-1]]):
            kept.append(at)
    return np.array([*kept, *range(max(1, len(edges) - 2), len(edges))])


def with_single_values(edges: Ints, codes: Ints) -> Ints:
    """The edges after each of these codes is made a cell of its own."""
    return np.unique(np.concatenate([edges, codes, codes + 1])).astype(np.int64)


def largest_spikes(codes: Ints, counts: Ints) -> Ints:
    """The codes of the 24 largest counts, ties by code."""
    order = np.lexsort((codes, -counts))[:MOST_SPIKES]
    return np.sort(codes[order])


def with_null(column: Column, edges: Ints) -> Ints:
    """The edges with the null cell, if the column has one."""
    return np.append(edges, column.codes).astype(np.int64) if column.null else edges

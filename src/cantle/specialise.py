"""Which specialisations compete in DiffGen, and how they are scored from exact counts. Trusted.

A candidate replaces one span v of one attribute's cut by its children: of a category the children of v in the
taxonomy, of a number the two sides of a grid point strictly inside v. All are public.

Scores come from tables of (cell, code, class) that list occupied entries only. A number's grid points between two
neighbouring occupied codes have the same counts on both sides, hence the same score: they are weighed as one run, and
the point inside the chosen run is drawn uniformly, which is the law of choosing among all points. The runs cover the
whole grid, end runs beyond the smallest and largest occupied code included; the runs themselves are never shown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np

from cantle.grid import Grid
from cantle.quality import Additive, Gini, HalfGini, InfoGain, JointMajority, Max, Quality, WeightedMajority
from cantle.regions import Ints
from cantle.tally import Domain, GridTable

Span = tuple[int, int]
Look = Callable[[GridTable], tuple[Ints, Ints]]
"""Gives the occupied (cell, code, class) entries of a table, sorted, and their counts."""


@dataclass(frozen=True)
class Value:
    """One span of an attribute's cut that can be specialised: into fixed children, or (None) at a point inside."""

    attribute: int
    span: Span
    children: tuple[Span, ...] | None

    def fits(self, sizes: tuple[int, ...]) -> bool:
        """Whether this is a span of the domain with children that cover it in order."""
        lo, hi = self.span
        if not (0 <= self.attribute < len(sizes) and 0 <= lo < hi - 1 < sizes[self.attribute]):
            return False
        if self.children is None:
            return True
        ends = [lo, *(end for _, end in self.children)]
        in_order = [start for start, _ in self.children] == ends[:-1] and all(a < b for a, b in pairwise(ends))
        return in_order and ends[-1] == hi and len(self.children) > 1


@dataclass(frozen=True, eq=False)
class Runs:
    """Scored candidates, one selection a segment. Private: where runs begin depends on the records."""

    scores: Ints
    many: Ints  # candidates in the run, all of this score
    inverse: Ints  # inverse weight of one candidate
    starts: Ints
    value: Ints  # which value it specialises
    point: Ints  # first point of the run; 0 for fixed children


class Scored(Protocol):
    """Candidates that score themselves from the tables they look at."""

    def fits(self, domain: Domain, quality: Quality) -> bool:
        """Whether these are candidates of this domain that this quality has a proof for; judged without records."""

    def score(self, look: Look, quality: Quality) -> Runs: ...


# ---- from tables to scores ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Table:
    """Occupied (cell, code) entries of one attribute in order, with their class counts (entries, classes)."""

    cell: Ints
    code: Ints
    counts: Ints

    @staticmethod
    def of(look: Look, key: GridTable) -> Table:
        entries, exact_counts = look(key)
        pair, label = np.divmod(entries, key.classes)
        first = _firsts(pair)
        counts = np.zeros((len(first), key.classes), dtype=np.int64)
        counts[np.repeat(np.arange(len(first)), np.diff(first, append=len(pair))), label] = exact_counts
        cell, code = np.divmod(pair[first], key.size)
        return Table(cell, code, counts)


def _firsts(group: Ints) -> Ints:
    """The first position of each run of equal numbers (all at least 0)."""
    return np.flatnonzero(np.diff(group, prepend=-1))


def _steps(table: Table, quality: Additive) -> tuple[Ints, Ints]:
    """The distinct occupied codes, and what passing each from right to left adds to the score, over all cells."""
    first = _firsts(table.cell)
    sizes = np.diff(first, append=len(table.cell))
    below = np.cumsum(table.counts, axis=0)
    left = below - np.repeat(below[first] - table.counts[first], sizes, axis=0)
    whole = left[first + sizes - 1]
    score = quality.value(left) + quality.value(np.repeat(whole, sizes, axis=0) - left)
    before = np.concatenate([np.zeros(1, np.int64), score[:-1]])[: len(score)]
    before[first] = quality.value(whole)  # with all of a cell on the right it is undivided
    order = np.argsort(table.code, kind="stable")
    code, gain = table.code[order], (score - before)[order]
    start = _firsts(code)
    return code[start], np.add.reduceat(gain, start) if len(start) else gain


def _runs(code: Ints, span: Span) -> tuple[Ints, Ints, Ints]:
    """Runs of points inside a span with these occupied codes: how many codes lie left, how many points, the first."""
    lo, hi = span
    point = np.concatenate([[lo + 1], code + 1])
    many = np.append(code + 1, hi) - point
    left = np.flatnonzero(many > 0)
    return left, many[left], point[left]


def _child_gains(table: Table, values: Sequence[Value], size: int, quality: Additive) -> Ints:
    """For values with fixed children, the score of the children less that of the undivided value, over all cells."""
    owner, child = np.full(size, -1, dtype=np.int64), np.zeros(size, dtype=np.int64)
    for i, value in enumerate(values):
        for number, (lo, hi) in enumerate(value.children or ()):
            owner[lo:hi], child[lo:hi] = i, lo + number  # ascending over the whole attribute
    inside = owner[table.code] >= 0
    cell, code, counts = table.cell[inside], table.code[inside], table.counts[inside]
    gains = np.zeros(len(values), dtype=np.int64)
    if len(cell):
        for group, sign in ((cell * 2 * size + child[code], 1), (cell, -1)):
            first = _firsts(group)
            worth = quality.value(np.add.reduceat(counts, first, axis=0))
            np.add.at(gains, owner[code[first]], sign * worth)
    return gains


# ---- candidates -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class JointSplits:
    """All (value, split) pairs of a grid at once, scored over all its cells; every value has total weight 1.

    Claim 20. The score of a candidate is, up to a number common to all, the sum of the quality's value over all cells
    after the split. The added record lies in one cell and has one code and class, so it changes one part of each
    candidate's partition: the quality's range (Claims 4, 18, 19) holds.
    """

    grid: Grid
    values: tuple[Value, ...]
    classes: int

    def fits(self, domain: Domain, quality: Quality) -> bool:
        sizes, classes = domain
        weights_fit = not isinstance(quality, WeightedMajority) or len(quality.weights) == classes
        return (
            type(quality) in (JointMajority, WeightedMajority, HalfGini)
            and weights_fit
            and type(self.grid) is Grid
            and self.grid.fits(sizes)
            and self.grid.cells * 2 * max(sizes, default=1) * classes <= 2**62
            and self.classes == classes
            and len(self.values) > 0
            and all(type(v) is Value and v.fits(sizes) and v.span in self.grid.spans(v.attribute) for v in self.values)
        )

    def score(self, look: Look, quality: Quality) -> Runs:
        assert isinstance(quality, Additive)
        parts = []
        for attribute in sorted({v.attribute for v in self.values}):
            size = int(self.grid.edges[attribute][-1])
            table = Table.of(look, GridTable(self.grid, attribute, size, self.classes))
            fixed = [i for i, v in enumerate(self.values) if v.attribute == attribute and v.children is not None]
            if fixed:
                gains = _child_gains(table, [self.values[i] for i in fixed], size, quality)
                one = np.ones(len(fixed), np.int64)
                parts.append((gains, one, one, np.array(fixed), 0 * one))
            open_ = [i for i, v in enumerate(self.values) if v.attribute == attribute and v.children is None]
            if open_:
                code, step = _steps(table, quality)
                parts += [self._points(i, code, step) for i in open_]
        return _gathered(parts, [sum(len(part[0]) for part in parts)])

    def _points(self, i: int, code: Ints, step: Ints) -> tuple[Ints, Ints, Ints, Ints, Ints]:
        """The points inside one value."""
        lo, hi = self.values[i].span
        here = slice(*np.searchsorted(code, (lo, hi)))
        left, many, point = _runs(code[here], (lo, hi))
        scores = np.concatenate([[0], np.cumsum(step[here])])[left]
        return scores, many, np.full(len(left), hi - lo - 1), np.full(len(left), i), point


def _gathered(parts: Sequence[tuple[Ints, Ints, Ints, Ints, Ints]], sizes: Sequence[int]) -> Runs:
    scores, many, inverse, value, point = (np.concatenate(column) for column in zip(*parts, strict=True))
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return Runs(scores, many, inverse, starts, value, point)


@dataclass(frozen=True, eq=False)
class SplitPoints:
    """One point inside each of several disjoint spans of one attribute, each scored on its span's records alone.

    Claim 21. One charge pays for all: the spans hold disjoint records, so a record has a say in one selection only.
    """

    values: tuple[Value, ...]
    size: int
    classes: int

    def fits(self, domain: Domain, quality: Quality) -> bool:
        sizes, classes = domain
        if type(quality) not in (Max, InfoGain, Gini) or self.classes != classes or not self.values:
            return False
        if not all(type(v) is Value and v.fits(sizes) and v.children is None for v in self.values):
            return False
        spans = sorted(v.span for v in self.values)
        apart = all(first[1] <= second[0] for first, second in pairwise(spans))
        attribute = self.values[0].attribute
        return apart and self.size == sizes[attribute] and all(v.attribute == attribute for v in self.values)

    def score(self, look: Look, quality: Quality) -> Runs:
        table = Table.of(look, GridTable(None, self.values[0].attribute, self.size, self.classes))
        parts = []
        for i, v in enumerate(self.values):
            here = slice(*np.searchsorted(table.code, v.span))
            below = np.cumsum(np.vstack([np.zeros((1, self.classes), np.int64), table.counts[here]]), axis=0)
            left, many, point = _runs(table.code[here], v.span)
            scores = quality.scores([below[left], below[-1] - below[left]])
            parts.append((scores, many, np.ones(len(left), np.int64), np.full(len(left), i), point))
        return _gathered(parts, [len(part[0]) for part in parts])


@dataclass(frozen=True, eq=False)
class OneValue:
    """One of several values with fixed children, each scored on its own records alone (DiffGen, line 7).

    Claim 22. The added record changes one child of each value whose records it joins and none of the others, so every
    score changes as its quality says (Claims 3, 5, 6) or not at all: within the quality's range, which spans 0.
    """

    values: tuple[Value, ...]
    sizes: tuple[int, ...]
    classes: int

    def fits(self, domain: Domain, quality: Quality) -> bool:
        sizes, classes = domain
        known = all(type(v) is Value and v.fits(sizes) and v.children is not None for v in self.values)
        right = type(quality) in (Max, InfoGain, Gini) and self.classes == classes and self.sizes == sizes
        return right and known and len(self.values) > 0

    def score(self, look: Look, quality: Quality) -> Runs:
        below: dict[int, tuple[Ints, Ints]] = {}
        for attribute in {v.attribute for v in self.values}:
            table = Table.of(look, GridTable(None, attribute, self.sizes[attribute], self.classes))
            nothing = np.zeros((1, self.classes), np.int64)
            below[attribute] = table.code, np.cumsum(np.vstack([nothing, table.counts]), axis=0)
        scores = np.zeros(len(self.values), dtype=np.int64)
        for i, v in enumerate(self.values):
            code, sums = below[v.attribute]
            ends = [np.searchsorted(code, span) for span in v.children or ()]
            scores[i] = quality.scores([sums[hi] - sums[lo] for lo, hi in ends])
        one = np.ones(len(scores), np.int64)
        return Runs(scores, one, one, np.array([0, len(scores)]), np.arange(len(scores)), 0 * one)


TRUSTED_SCORED = (JointSplits, SplitPoints, OneValue)

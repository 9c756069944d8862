"""Candidate specialisations of DiffGen, and their scores from exact counts.

A candidate replaces one span v of one attribute's cut by its children: for a category the children of v in the
taxonomy, for a number the two sides of a grid point strictly inside v. All are public.

If all points of a number compete (`SplitPoints`), those between two neighbouring occupied codes have the same counts
on both sides, hence the same score: they are weighted as one run, and the point inside the chosen run is drawn
uniformly, which is the law of choosing among all points. The runs cover the whole grid, including end runs beyond the
smallest and largest occupied code; the runs themselves are never released. Claims 20 to 22 and 24 are checked in
tests/trusted/test_specialisations.py and tests/audit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from cantle.trusted.claims.cut_candidates import Chosen, Scored
from cantle.trusted.claims.scores import (
    Additive,
    Gini,
    HalfGini,
    InfoGain,
    JointMajority,
    Max,
    Quality,
    WeightedMajority,
)
from cantle.trusted.core.answers import Pick
from cantle.trusted.core.keys import CodeTable, Domain, GridBins, are_ints
from cantle.trusted.counting.base import TableEngine
from cantle.trusted.geometry.boxes import Frontier, Ints
from cantle.trusted.geometry.grid import Grid

MOST_HANDICAP = 1 << 60
MOST_TABLE = 1 << 26  # most counts of one binned grid, which are all in memory

Span = tuple[int, int]


@dataclass(frozen=True)
class Value:
    """One span of an attribute's cut that can be specialised: into fixed children, or (if None) at a point inside."""

    attribute: int
    span: Span
    children: tuple[Span, ...] | None

    def fits(self, sizes: tuple[int, ...]) -> bool:
        """Whether this is a span of the domain with children that cover it in order."""
        if not (are_ints((self.attribute,)) and _is_span(self.span)):
            return False
        lo, hi = self.span
        if not (0 <= self.attribute < len(sizes) and 0 <= lo < hi - 1 < sizes[self.attribute]):
            return False
        if self.children is None:
            return True
        if type(self.children) is not tuple or not all(_is_span(child) for child in self.children):
            return False
        ends = [lo, *(end for _, end in self.children)]
        in_order = [start for start, _ in self.children] == ends[:-1] and all(a < b for a, b in pairwise(ends))
        return in_order and ends[-1] == hi and len(self.children) > 1


def _is_span(span: object) -> bool:
    """Whether this is a plain pair of plain whole numbers; objects of other classes may change while they are used."""
    return are_ints(span) and len(span) == 2  # type: ignore[arg-type]


def _are_values(values: object, sizes: tuple[int, ...]) -> bool:
    """Whether this is a plain tuple of one or more values of the domain."""
    return type(values) is tuple and len(values) > 0 and all(type(v) is Value and v.fits(sizes) for v in values)


@dataclass(frozen=True, eq=False, kw_only=True)
class ScoredSplits(Scored):
    """Scored candidates and the splits they stand for. Private: where runs begin depends on the records."""

    value: Ints  # which value it specialises
    point: Ints  # first point of the run; 0 for fixed children


class _Specialisations(ABC):
    """The base of all candidate sets of specialisations: they are scored on all records at once.

    Claim 24. epsilon-DP: each selection as in Claim 13, where runs stand for all their points; several selections in
    one question look at disjoint records (Claim 21). All records are looked at, so the path of every record must pay:
    only the unsplit root may be asked (`everyone`).
    """

    kind: ClassVar[str] = "tables"
    everyone: ClassVar[bool] = True
    literal: bool = False

    @property
    def margin(self) -> int:
        return 2 if self.literal else 1

    def exact_scores(
        self,
        engine: TableEngine,
        positions: Ints,  # noqa: ARG002
        nodes: Frontier,  # noqa: ARG002
        quality: Quality,
    ) -> Iterator[ScoredSplits]:
        yield self.score(engine, quality)

    @abstractmethod
    def score(self, engine: TableEngine, quality: Quality) -> ScoredSplits:
        """The scores of all candidates."""

    def answer(self, nodes: Frontier, chosen: Sequence[Chosen[ScoredSplits]]) -> list[Pick]:  # noqa: ARG002
        """One pick per selection: which value, and at which point."""
        [one] = chosen
        scored = one.scored
        points = scored.point[one.place]
        points = np.where(points > 0, points + one.within, 0)
        values = scored.value[one.place].tolist()
        return [Pick(value, point) for value, point in zip(values, points.tolist(), strict=True)]


# ---- from tables to scores ------------------------------------------------------------------------------------


def code_table(engine: TableEngine, key: CodeTable) -> tuple[Ints, Ints]:
    """The occupied codes of an attribute in order, and their class counts (codes, classes)."""
    entries, exact_counts = engine.occupied(key)
    codes, label = np.divmod(entries, key.classes)
    occupied, row = np.unique(codes, return_inverse=True)
    counts = np.zeros((len(occupied), key.classes), dtype=np.int64)
    counts[row, label] = exact_counts
    return occupied, counts


def _running(counts: Ints) -> Ints:
    """Class counts of the first 0, 1, 2, ... codes."""
    return np.cumsum(np.vstack([np.zeros((1, counts.shape[1]), np.int64), counts]), axis=0)


def _runs(code: Ints, span: Span) -> tuple[Ints, Ints, Ints]:
    """Runs of points inside a span with these occupied codes: number of codes to the left, of points, first point."""
    lo, hi = span
    point = np.concatenate([[lo + 1], code + 1])
    many = np.append(code + 1, hi) - point
    left = np.flatnonzero(many > 0)
    return left, many[left], point[left]


def even_points(lo: int, hi: int, most: int) -> Ints:
    """At most this many of the points lo + 1 to hi - 1, evenly spaced.

    >>> even_points(0, 10, 3).tolist(), even_points(4, 7, 3).tolist()
    ([2, 5, 8], [5, 6])
    """
    inside = hi - lo - 1
    number = min(most, inside)
    return lo + 1 + (2 * np.arange(number, dtype=np.int64) + 1) * inside // (2 * number)


# ---- candidates -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class JointSplits(_Specialisations):
    """All (value, split) pairs of a grid at once, scored over all its cells; permute-and-flip.

    For a value that is split at a point, at most `points` evenly spaced points compete; later rounds refine. Each value
    has a public handicap that is subtracted from its scores, so that a value is not favoured for its number of points.

    Claim 20. The score of a candidate is, up to a number common to all and its handicap, the sum of the quality's value
    over all cells after the split. The added record lies in one cell and has one code and class, so it changes one part
    of each candidate's partition: the quality's range (Claims 4, 18, 19) holds. Public numbers change no difference.
    """

    grid: Grid
    values: tuple[Value, ...]
    handicaps: tuple[int, ...]
    points: int
    classes: int

    def fits(self, nodes: Frontier, domain: Domain, quality: Quality) -> bool:  # noqa: ARG002
        sizes, classes = domain
        if not (_are_values(self.values, sizes) and are_ints((self.points, self.classes)) and are_ints(self.handicaps)):
            return False
        weights_fit = not isinstance(quality, WeightedMajority) or len(quality.weights) == classes
        width = max([self.points + 1, *(len(v.children) for v in self.values if v.children is not None)])
        return (
            type(quality) in (JointMajority, WeightedMajority, HalfGini)
            and weights_fit
            and self.classes == classes
            and self.points > 0
            and len(self.handicaps) == len(self.values)
            and all(0 <= handicap < MOST_HANDICAP for handicap in self.handicaps)
            and type(self.grid) is Grid
            and self.grid.fits(sizes)
            and self.grid.cells * classes * width <= MOST_TABLE
            and all(v.span in self.grid.spans(v.attribute) for v in self.values)
        )

    def score(self, engine: TableEngine, quality: Quality) -> ScoredSplits:
        assert isinstance(quality, Additive)
        engine.place(self.grid)
        by_attribute: dict[int, dict[Span, int]] = {}
        for i, v in enumerate(self.values):
            by_attribute.setdefault(v.attribute, {})[v.span] = i
        parts, cells_after = [], np.cumprod((1, *reversed(self.grid.shape)))[::-1]
        for attribute, mine in by_attribute.items():
            spans = self.grid.spans(attribute)
            inner = [self._inner(mine.get(span), span) for span in spans]
            exact_counts = self._by_span(engine, attribute, inner, int(cells_after[attribute + 1]))
            for number, span in enumerate(spans):
                if span in mine:
                    points = inner[number]
                    part = np.moveaxis(exact_counts[:, number, :, :, : len(points) + 1], 2, 3)
                    parts.append(self._gains(mine[span], points, part, quality))
        scores, value, point = (np.concatenate(column) for column in zip(*parts, strict=True))
        scores = scores - np.array(self.handicaps, dtype=np.int64)[value]
        return _one_region(scores, np.array([0, len(scores)]), value, point)

    def _inner(self, value: int | None, span: Span) -> Ints:
        """The points inside a span at which its bins begin, without the span's own start."""
        if value is None:
            return np.zeros(0, dtype=np.int64)
        children = self.values[value].children
        return even_points(*span, self.points) if children is None else np.array([lo for lo, _ in children[1:]])

    def _by_span(self, engine: TableEngine, attribute: int, inner: list[Ints], after: int) -> Ints:
        """Counts (cells before, spans, cells after, classes, bins), before and after in the order of attributes."""
        starts = np.union1d(self.grid.edges[attribute][:-1], np.concatenate(inner))
        number = np.concatenate([np.arange(len(points) + 1) for points in inner])
        width = max(len(points) for points in inner) + 1
        exact_counts = engine.dense(GridBins(attribute, starts, number, width, self.classes))
        return exact_counts.reshape(-1, len(inner), after, self.classes, width)

    def _gains(self, i: int, points: Ints, exact_part: Ints, quality: Additive) -> tuple[Ints, Ints, Ints]:
        """Scores of a value's candidates minus that of the undivided value; `exact_part` is (.., .., bins, classes)."""
        whole = exact_part.sum(axis=2)
        undivided = quality.value(whole).sum()
        if self.values[i].children is not None:
            return np.array([quality.value(exact_part).sum() - undivided]), np.array([i]), np.zeros(1, np.int64)
        left = np.cumsum(exact_part, axis=2)[:, :, :-1]
        sides = quality.value(left) + quality.value(whole[:, :, None] - left)
        return sides.sum(axis=(0, 1)) - undivided, np.full(len(points), i), points


def _one_region(scores: Ints, starts: Ints, value: Ints, point: Ints, many: Ints | None = None) -> ScoredSplits:
    """Selections over the whole domain; with `many` by the exponential mechanism, every point of the same weight."""
    weights = None if many is None else np.ones_like(many)
    selections = np.arange(len(starts) - 1)
    return ScoredSplits(0, 1, scores, starts, selections, weights, many, value=value, point=point)


def _gathered(parts: Sequence[tuple[Ints, Ints, Ints, Ints]], sizes: Sequence[int]) -> ScoredSplits:
    scores, many, value, point = (np.concatenate(column) for column in zip(*parts, strict=True))
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return _one_region(scores, starts, value, point, many)


@dataclass(frozen=True, eq=False)
class SplitPoints(_Specialisations):
    """One point inside each of several disjoint spans of one attribute, each scored only on its span's records.

    Claim 21. One charge pays for all: the spans hold disjoint records, so a record influences only one selection.
    """

    values: tuple[Value, ...]
    size: int
    classes: int
    literal: bool = False

    def fits(self, nodes: Frontier, domain: Domain, quality: Quality) -> bool:  # noqa: ARG002
        sizes, classes = domain
        if type(quality) not in (Max, InfoGain, Gini) or not are_ints((self.size, self.classes)):
            return False
        if type(self.literal) is not bool:
            return False
        if self.classes != classes or not _are_values(self.values, sizes):
            return False
        spans = sorted(v.span for v in self.values)
        apart = all(first[1] <= second[0] for first, second in pairwise(spans))
        attribute = self.values[0].attribute
        alike = all(v.attribute == attribute and v.children is None for v in self.values)
        return apart and alike and self.size == sizes[attribute]

    def score(self, engine: TableEngine, quality: Quality) -> ScoredSplits:
        code, counts = code_table(engine, CodeTable(self.values[0].attribute, self.size, self.classes))
        parts = []
        for i, v in enumerate(self.values):
            here = slice(*np.searchsorted(code, v.span))
            below = _running(counts[here])
            left, many, point = _runs(code[here], v.span)
            scores = quality.scores([below[left], below[-1] - below[left]])
            parts.append((scores, many, np.full(len(left), i), point))
        return _gathered(parts, [len(part[0]) for part in parts])


@dataclass(frozen=True, eq=False)
class OneValue(_Specialisations):
    """One of several values with fixed children, each scored only on its own records (DiffGen, line 7).

    Claim 22. The added record changes one child of each value whose records it joins and none of the others, so every
    score changes as its quality says (Claims 3, 5, 6) or not at all: within the quality's range, which spans 0.
    """

    values: tuple[Value, ...]
    sizes: tuple[int, ...]
    classes: int
    literal: bool = False

    def fits(self, nodes: Frontier, domain: Domain, quality: Quality) -> bool:  # noqa: ARG002
        sizes, classes = domain
        if not (_are_values(self.values, sizes) and are_ints((self.classes,)) and are_ints(self.sizes)):
            return False
        right = type(quality) in (Max, InfoGain, Gini) and self.classes == classes and self.sizes == sizes
        right = right and type(self.literal) is bool
        return right and all(v.children is not None for v in self.values)

    def score(self, engine: TableEngine, quality: Quality) -> ScoredSplits:
        below: dict[int, tuple[Ints, Ints]] = {}
        for attribute in {v.attribute for v in self.values}:
            code, counts = code_table(engine, CodeTable(attribute, self.sizes[attribute], self.classes))
            below[attribute] = code, _running(counts)
        scores = np.zeros(len(self.values), dtype=np.int64)
        for i, v in enumerate(self.values):
            code, sums = below[v.attribute]
            ends = [np.searchsorted(code, span) for span in v.children or ()]
            scores[i] = quality.scores([sums[hi] - sums[lo] for lo, hi in ends])
        one = np.ones(len(scores), np.int64)
        return _one_region(scores, np.array([0, len(scores)]), np.arange(len(scores)), 0 * one, one)


SPECIALISATIONS = (JointSplits, SplitPoints, OneValue)

"""The noise in the counts that the released records of a question were drawn from, and direct answers of noisy tables.

If the release did not measure its own error, this is all that an interval covers. Drawing records from noisy counts
adds an error of its own, which is not included. The noise of direct answers has a known law.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from cantle.drawing.counts import variance
from cantle.drawing.tree import Leaves
from cantle.release.answers.estimates import Noise
from cantle.schema.code_sets import (
    AnySet,
    Box,
    Key,
    Question,
    areas_in,
    columns_of,
    edges_of,
    holds,
    hull,
    sums_in,
)
from cantle.schema.domain import Domain
from cantle.trusted.core.arrays import Bools, Codes, Floats, Ints
from cantle.trusted.geometry import value_sets

Share = Callable[[Box], float]
"""The share of the released records in a box (codes per column) for which a question holds."""


def sum_of(noises: Iterable[Noise]) -> Noise:
    return sum(noises, Noise())


def worst_of_columns(question: Question, share: Share, noise: Callable[[Key, AnySet], Noise]) -> Noise:
    """The largest noise of what a question names, scaled by the share of its records for which it holds."""
    box = hull(question)
    scaled = (noise(key, box[key]).scaled(share({key: box[key]})) for key in columns_of(question) if key in box)
    return max(scaled, key=lambda one: one.variance, default=Noise())


def variances(groups: pl.DataFrame) -> Floats:
    """The variance of the noise in each row."""
    return variance(groups["rate_num"].to_numpy() / groups["rate_den"].to_numpy())


@dataclass(frozen=True, eq=False)
class Regions:
    """Boxes of codes with a noisy count each: spans first .. end per column, and the variance of the noise."""

    columns: Sequence[str]
    first: Codes
    end: Codes
    variance: Floats
    sets: frozenset[str] = frozenset()
    """Columns of which some spans stand for sets of codes (geometry/value_sets.py)."""

    def noise(self, question: Question) -> Noise:
        """The noise in an answer: each count is weighted by the part of its box for which the question holds."""
        weight = np.ones(len(self.variance))
        for key, codes in hull(question).items():
            if key in self.columns:
                at = self.columns.index(str(key))
                weight *= self._share(codes, at)
        spread = weight**2 * self.variance
        return Noise(float(spread.sum()), float(3 * (spread**2).sum()))

    def _share(self, codes: AnySet, at: int) -> Floats:
        """The share of each box's codes of a column that are in a set of codes."""
        first, end = self.first[:, at], self.end[:, at]
        if self.columns[at] not in self.sets:
            return codes.share(first, end)
        one = np.arange(value_sets.MOST)
        below = np.concatenate([[0.0], np.cumsum(value_sets.along(codes.share(one, one + 1)))])
        return np.asarray((below[end] - below[first]) / (end - first))


def regions_of(domain: Domain, leaves: Leaves) -> Regions:
    """The leaves of a tree, each class by itself. Leaves that were not counted have no noise."""
    of_sets = [bool((leaves.hi[:, j] > attribute.size).any()) for j, attribute in enumerate(domain.attributes)]
    both = [*zip(domain.attributes, of_sets, strict=True)]
    first, end = (
        side_by_side([part[:, j] if far else a.places(part[:, j]) for j, (a, far) in enumerate(both)], len(part))
        for part in (leaves.lo, leaves.hi)
    )
    names, sets = [one.name for one in domain.attributes], frozenset(one.name for one, far in both if far)
    spread = variance(leaves.rate_num / leaves.rate_den) if len(leaves.rate_num) else np.zeros(len(first))
    if domain.target is None:
        return Regions(names, first, end, spread, sets)
    classes = domain.target.size
    label = np.tile(np.arange(classes), len(first))[:, None]
    first, end = (np.repeat(part, classes, axis=0) for part in (first, end))
    joined = np.hstack([first, label]), np.hstack([end, label + 1])
    return Regions([*names, domain.target.name], *joined, np.repeat(spread, classes), sets)


def side_by_side(columns: list[Ints], rows: int) -> Ints:
    """The columns of an array with so many rows; there is none if the target is the only column of the table."""
    return np.array(columns, dtype=np.int64).reshape(len(columns), rows).T


@dataclass(frozen=True, eq=False)
class NoisyTable:
    """A table of noisy counts. The cells of a column are spans of its codes, given by their edges."""

    columns: tuple[str, ...]
    edges: tuple[Ints, ...]
    counts: Ints | Floats
    variance: float

    def answers(self, question: Question) -> bool:
        """Whether the question holds for all or none of the values of every cell."""
        asked = columns_of(question)
        return (
            not sums_in(question)
            and set(asked) <= set(self.columns)
            and all(edges_of(question, key) <= self._edge_sets[self.columns.index(str(key))] for key in asked)
            and all(np.isin(self.share(str(key), area), (0, 1)).all() for key, area in areas_in(question))
        )

    def share(self, column: str, codes: AnySet) -> Floats:
        """The share of each cell of a column that is in a set of codes."""
        edges = self.edges[self.columns.index(column)]
        return codes.share(edges[:-1], edges[1:])

    def cells(self, question: Question) -> Bools:
        """For each cell whether the question holds for it."""
        inside = holds(question, self._first_codes)
        return np.broadcast_to(inside, self.counts.shape)

    def _first_codes(self, key: Key) -> Ints:
        """The first code of each cell, along the axis of the column."""
        axis = self.columns.index(str(key))
        shape = [1] * len(self.columns)
        shape[axis] = -1
        return self.edges[axis][:-1].reshape(shape)

    @cached_property
    def _edge_sets(self) -> list[set[int]]:
        return [set(edges.tolist()) for edges in self.edges]

    def touched(self, column: str, codes: AnySet) -> float:
        """The number of cells of a column that have a code of the set."""
        return float((self.share(column, codes) > 0).sum())


@dataclass(frozen=True)
class DirectAnswer:
    """An unbiased count from noisy tables, and its noise."""

    value: float
    noise: Noise


@dataclass(frozen=True)
class Tables:
    """All noisy tables of a release; `size` is the noisy number of records, if it was measured by itself. From tables
    `behind` records were drawn too, but they answer nothing by themselves."""

    tables: Sequence[NoisyTable]
    size: NoisyTable | None
    behind: Sequence[NoisyTable] = ()

    def answer(self, question: Question) -> DirectAnswer | None:
        """The mean of the answers of all tables that answer the question, weighted by precision; None if no table does.

        Every table is first adjusted to the noisy number of records, N. With a share a = m v / (M v + v_N) of the
        difference going to the m of its M cells inside, the answer is (1 - a) inside - a outside + a N.
        """
        able = [table for table in self.tables if table.answers(question)]
        parts = [_Part.of(table, question, self.size) for table in able]
        if self.size is not None and not columns_of(question) and holds(question, lambda _: np.array(0)):
            parts.append(_Part(float(self.size.counts), Noise.of(self.size.variance), 0.0))
        if not parts:
            return None
        precision = [1 / max(part.own.variance, 1e-12) for part in parts]
        weights = [one / sum(precision) for one in precision]
        value = sum(w * part.value for w, part in zip(weights, parts, strict=True))
        noise = sum_of(part.own.scaled(w) for w, part in zip(weights, parts, strict=True))
        common = sum(w * part.common for w, part in zip(weights, parts, strict=True))
        return DirectAnswer(value, noise + (Noise.of(self.size.variance, common) if self.size else Noise()))

    def noise_behind(self, question: Question, share: Callable[[Box], float]) -> Noise:
        """The noise in the tables that the records of a question were drawn from.

        `share` returns the share of the released records in a box (codes per column) for which the question holds. For
        each column, the table with most of the question's columns is used; the largest noise counts.
        """
        box = hull(question)
        worst = Noise()
        for key in columns_of(question):
            known = [table for table in (*self.tables, *self.behind) if key in table.columns]
            noises = [_noise_in(table, box, share) for table in known]
            if noises:
                most = max(number for number, _ in noises)
                mine = min((noise for number, noise in noises if number == most), key=lambda one: one.variance)
                worst = max(worst, mine, key=lambda one: one.variance)
        return worst

    def covariance(self, column: Key, edges: Ints) -> Floats:
        """The covariance of the noise in the counts of a column's cells, if all tables are combined by precision."""
        precision = np.zeros((len(edges) - 1, len(edges) - 1))
        for table in (*self.tables, *self.behind):
            if column in table.columns:
                own = table.edges[table.columns.index(str(column))]
                group = np.searchsorted(own, edges[:-1], side="right")
                precision += (group[:, None] == group) * ((len(own) - 1) / (table.counts.size * table.variance))
        return np.asarray(np.linalg.pinv(precision, hermitian=True))


@dataclass(frozen=True)
class _Part:
    """The answer of one table: a number, its own noise, and the share of the noise of N in it."""

    value: float
    own: Noise
    common: float

    @staticmethod
    def of(table: NoisyTable, question: Question, size: NoisyTable | None) -> _Part:
        inside = table.cells(question)
        m, every, v = float(inside.sum()), float(inside.size), table.variance
        total, part = float(table.counts.sum()), float(table.counts[inside].sum())
        if size is None:
            return _Part(part, Noise.of(v, times=m), 0.0)
        a = m * v / max(every * v + size.variance, 1e-300)
        own = Noise.of(v, 1 - a, m) + Noise.of(v, a, every - m)
        return _Part(part + a * (float(size.counts) - total), own, a)


def _noise_in(table: NoisyTable, box: Box, share: Callable[[Box], float]) -> tuple[int, Noise]:
    """How many of the box's columns a table has, and the noise that it adds to a count of the question."""
    mine: Box = {key: codes for key, codes in box.items() if key in table.columns}
    cells = 1.0
    for column, edges in zip(table.columns, table.edges, strict=True):
        cells *= table.touched(column, mine[column]) if column in mine else len(edges) - 1
    return len(mine), Noise.of(table.variance, times=cells).scaled(share(mine))

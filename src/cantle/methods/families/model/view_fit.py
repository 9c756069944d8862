"""Estimates about the columns of one view, as mosaic makes them for a table, and about all views together.

Counts are numbers of families here: the released counts are parts of one family (cantle.trusted.geometry.views).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from cantle.drawing.counts import Floats
from cantle.drawing.smooth import combine, smooth
from cantle.methods.families.layout import Layout
from cantle.methods.mosaic.model import estimates
from cantle.methods.mosaic.model.fitted import Fitted
from cantle.methods.mosaic.model.groupings import Groupings
from cantle.methods.mosaic.model.noisy_tables import NoisyTable, laplace_variance
from cantle.schema.rules import Rules
from cantle.trusted.core.arrays import Bools
from cantle.trusted.geometry import item_partitions
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.views import FIRST, LATER, PARENTS, STAGES

UNKNOWN = 1e12
"""The variance of counts that were not measured."""

Answered = tuple[Floats, float]
"""Noisy numbers of families by cell, and their variance."""


def in_families(noisy: Ints, rate: tuple[int, int]) -> Answered:
    """Noisy counts of this rate, which are in parts, as numbers of families."""
    num, den = rate
    return noisy / item_partitions.PARTS, laplace_variance(num / den) / item_partitions.PARTS**2


def table_of(answered: Answered, columns: tuple[int, ...], groups: tuple[int, ...]) -> NoisyTable:
    """The answer as a table that estimates use."""
    counts, variance = answered
    return NoisyTable(columns, groups, counts.reshape(groups), variance)


@dataclass
class ViewFit(Fitted):
    """Estimates about one view. `fixed` are distributions of columns that another view tells, `shared` the groupings of
    columns that stand in several roles; `ordered` are pairs of columns of which the second has no smaller value, or, if
    the order `falls`, no larger one."""

    fixed: Mapping[int, Floats] = field(default_factory=dict)
    shared: Mapping[int, Groupings] = field(default_factory=dict)
    ordered: Sequence[tuple[int, int]] = ()
    falls: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self.groupings = tuple(self.shared.get(number, own) for number, own in enumerate(self.groupings))

    def add(self, table: NoisyTable) -> None:
        empty = self.empty(table.columns, table.groups)
        self.tables.append(table.without(empty) if empty.any() else table)

    def empty(self, columns: Sequence[int], groups: Sequence[int]) -> Bools:
        """Which cells of a table hold only values that break a rule or the order of the children."""
        out = np.array(super().empty(columns, groups))
        for before, after in self.ordered:
            if before in columns and after in columns:
                out |= self._out_of_order(columns, groups, (before, after))
        return out

    def _out_of_order(self, columns: Sequence[int], groups: Sequence[int], pair: tuple[int, int]) -> Bools:
        """Cells whose values are strictly in the wrong order; equal values may be in either, and so may null."""
        ends = []
        for one in pair:
            axis = list(columns).index(one)
            edges = self.edges[one][self.groupings[one].edges(groups[axis])]
            shape = [-1 if place == axis else 1 for place in range(len(columns))]
            null = edges[1:] > self.columns[one].values
            ends.append([part.reshape(shape) for part in (edges[:-1], edges[1:] - 1, null)])
        (low, high, no_first), (own_low, own_high, no_own) = ends
        wrong = own_low > high if self.falls else own_high < low
        return np.broadcast_to(wrong & ~no_first & ~no_own, tuple(groups))

    def _known(self) -> dict[int, Floats]:
        unknown = (number for number, spread in enumerate(self.spread) if spread.min() >= UNKNOWN)
        return {number: self._from_tables(number) for number in unknown if number not in self.fixed} | dict(self.fixed)

    def _from_tables(self, number: int) -> Floats:
        """The distribution of a column without a first table: that of the finest groups in which it was measured, which
        are smoothed as cells are, and evenly inside them."""
        column, edges = self.columns[number], self.edges[number]
        tables = [table for table in self.tables if number in table.columns]
        if not tables:
            return np.full(len(edges) - 1, 1 / (len(edges) - 1))
        measured = [table.groups[table.columns.index(number)] for table in tables]
        grouping, finest = self.groupings[number], max(measured)
        counts, spread = np.zeros(finest), np.full(finest, UNKNOWN)
        for table, groups in zip(tables, measured, strict=True):
            sums, summed = table.onto((number,), (groups,), self.groupings)
            at = grouping.coarsen(finest, groups)
            counts, spread = combine(counts, spread, at, sums, summed * table.variance)
        starts = grouping.starts(finest)
        widths = np.add.reduceat(np.diff(edges), starts).astype(np.float64)
        alone = column.null and starts[-1] == len(edges) - 2  # null is a group of its own
        known = widths[: len(widths) - alone] if column.numeric else None
        masses = smooth(counts, spread, known, self.total)
        masses /= max(masses.sum(), 1e-9)
        inside = np.diff(edges) if column.numeric else np.ones(len(edges) - 1)
        map_ = grouping.map(finest)
        return masses[map_] * inside / np.bincount(map_, inside)[map_]


class FamilyFit:
    """Estimates from the answers so far: made from the number of families and the first tables, then tables of views
    are added one by one."""

    def __init__(
        self,
        layout: Layout,
        edges: tuple[Sequence[Ints], Sequence[Ints]],
        rules: tuple[Rules | None, Rules | None],
        size: tuple[int, float],
        first: Mapping[tuple[int, int], Answered],
    ) -> None:
        self.layout, self.edges, self.rules = layout, edges, rules
        self._first = first
        tables = [
            NoisyTable((column,), counts.shape, counts, variance)
            for (view, column), (counts, variance) in first.items()
            if view == PARENTS
        ]
        self.noisy_total = estimates.total_records([size], tables)
        above = self._view(PARENTS, self.noisy_total, rules[0])
        _, with_one, with_two = self._totals(above)
        beside = self._view(FIRST, with_one, rules[1], self._given(above))
        self._fits = [above, beside]
        shared = {column: above.groupings[column] for column in range(len(layout.parent))}
        for child in range(len(layout.child)):
            grouping = beside.groupings[layout.own(FIRST, child)]
            shared |= dict.fromkeys(self._roles(child), grouping)
        self._fits.append(self._view(LATER, with_two, rules[1], self._given_later(), shared))

    def __getitem__(self, view: int) -> ViewFit:
        return self._fits[view]

    def use_tables(self) -> None:
        """Updates one-way distributions and totals with the tables measured so far, view by view."""
        above, beside, later = self._fits
        above.use_tables()
        _, beside.total, later.total = self._totals(above)
        beside.fixed = self._given(above)
        beside.use_tables()
        later.fixed = self._given_later()
        later.use_tables()

    def _roles(self, child: int) -> tuple[int, int, int]:
        layout = self.layout
        return layout.first(child), layout.previous(child), layout.own(LATER, child)

    def _view(
        self,
        view: int,
        total: float,
        rules: Rules | None,
        fixed: Mapping[int, Floats] | None = None,
        shared: Mapping[int, Groupings] | None = None,
    ) -> ViewFit:
        columns, edges = self.layout.columns(view), self.layout.edges(view, *self.edges)
        counts = [np.zeros(len(edge) - 1) for edge in edges]
        spread = [np.full(len(edge) - 1, UNKNOWN) for edge in edges]
        for (where, column), (noisy, variance) in self._first.items():
            if where == view:
                counts[column], spread[column] = noisy, np.full(len(noisy), variance)
        falls = self.layout.order is not None and self.layout.order[1]
        return ViewFit(
            columns, edges, None, total, counts, spread, {}, rules=rules, fixed=fixed or {},
            shared=shared or {}, ordered=self._ordered() if view == LATER else [], falls=falls,
        )  # fmt: skip

    def _ordered(self) -> list[tuple[int, int]]:
        """Pairs of columns of LATER with the order's value of an earlier child and of a later one."""
        if self.layout.order is None:
            return []
        first, previous, own = self._roles(self.layout.order[0])
        return [(previous, own), (first, own), (first, previous)]

    def _totals(self, above: ViewFit) -> tuple[float, float, float]:
        """The numbers of families, of those with a child, and of those with two."""
        sizes = above.one_way[len(self.layout.parent)] * above.total
        return above.total, max(1.0, float(sizes[1:].sum())), max(1.0, float(sizes[2:].sum()))

    def _given(self, above: ViewFit) -> dict[int, Floats]:
        """Distributions of the parents' columns and of the number of children, of families with a child."""
        parent = len(self.layout.parent)
        sizes = above.one_way[parent].copy()
        sizes[0] = 0.0
        return {**{one: above.one_way[one] for one in range(parent)}, parent: _shares(sizes)}

    def _given_later(self) -> dict[int, Floats]:
        """The same of families with two children, each later child with the weight that it has in the view."""
        layout, (above, beside) = self.layout, self._fits[:2]
        parent, later = len(layout.parent), self._fits[LATER] if len(self._fits) > LATER else None
        size = np.arange(layout.most + 1)
        each = np.where(size >= 2, above.one_way[parent] / np.maximum(size - 1, 1), 0.0)
        left = np.append(np.cumsum(each[::-1])[::-1][1:], 0.0)
        left[0] = 0.0
        fixed = {one: above.one_way[one] for one in range(parent)}
        fixed |= {parent: _shares(left), parent + 1: np.full(STAGES, 1 / STAGES)}
        for child in range(len(layout.child)):
            first, previous, own = self._roles(child)
            at_first = beside.one_way[layout.own(FIRST, child)]
            fixed[first] = at_first
            fixed[previous] = at_first if later is None else (at_first + later.one_way[own]) / 2
        return fixed


def _shares(masses: Floats) -> Floats:
    total = masses.sum()
    return masses / total if total > 0 else np.full(len(masses), 1 / len(masses))

"""The fit of one column's regression: factors of its sub-tables, so that drafted records agree with their counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cantle.drawing.counts import Floats
from cantle.methods.mosaic.model.conditionals import Fitting, Places, Regression
from cantle.methods.mosaic.model.groupings import Groupings
from cantle.methods.mosaic.model.sub_tables import SubTable
from cantle.trusted.core.arrays import Codes

if TYPE_CHECKING:
    from cantle.methods.mosaic.model.generate import Model

FITTED, LAST_FITTED = 5_000, 20_000
"""Number of records that a column's regression is fitted on in drafts, and most records for a release."""

WORK = 2_000_000
"""Most numbers that a regression reads per step, unless it is fitted on the fewest records anyway."""

SWEEPS, LAST_SWEEPS = 1, 4
LEAD = -1
"""The row with the classes of the leading variable, which comes after the rows of the columns."""

_TINY = 1e-12


def fit(
    model: Model, column: int, tables: list[SubTable], first: Floats, cells: Codes, engine: Regression
) -> list[Floats]:
    """Factors of every sub-table (its rows by refined groups), fitted level by level on some of the records.

    The last factors are those of the anchor: the column's distribution given the leading column, or its one-way
    distribution if classes were learned. Fitting ends with the anchor at every level, but for settled tables.
    """
    return _Fit(model, column, tables, first, cells, engine).run()


class _Fit:
    """A fit in progress."""

    def __init__(
        self, model: Model, column: int, tables: list[SubTable], first: Floats, cells: Codes, engine: Regression
    ) -> None:
        self._model, self._tables, self._engine = model, tables, engine
        self._of_column, self._refined = model.groupings[column], first.shape[1]
        self._anchor, by_lead = len(tables), model.mixture is None
        cells = cells[:, : min(model.fitted, max(FITTED, model.work // (self._refined * (len(tables) + 1))))]
        lead = cells[LEAD]
        rows = first[lead]
        self._everyone = rows.mean(axis=0) if len(rows) else first.mean(axis=0)
        index, groups = self._places(cells, lead if by_lead else np.zeros_like(lead))
        one_way = np.bincount(self._of_column.map(self._refined), model.one_way[column])[None, :]
        goal = first if by_lead else one_way
        widths = np.array([*(table.groups for table in tables), self._refined], dtype=np.int64)
        lines = np.array([*(len(table.counts) for table in tables), len(goal)], dtype=np.int64)
        heads, starts = (np.concatenate([np.zeros(1, np.int64), np.cumsum(many)]) for many in (lines, lines * widths))
        goals, factors = np.zeros(starts[-1]), np.ones((heads[-1], self._refined))
        goals[starts[self._anchor] :] = goal.ravel()
        self._fitting = Fitting(rows, index, groups, goals, starts, widths, heads, factors)

    def run(self) -> list[Floats]:
        levels = sorted({table.level for table in self._tables})
        for level in levels:
            for number, table in enumerate(self._tables):
                if table.level == level:
                    self._believe(number, table)
            numbers = [number for number, table in enumerate(self._tables) if table.level <= level]
            used = [number for number in numbers if not self._tables[number].settled] + [self._anchor]
            used += [number for number in numbers if self._tables[number].settled]
            sweeps = LAST_SWEEPS if level == levels[-1] else SWEEPS
            self._engine.rake(self._fitting, np.tile(np.array(used, np.int64), sweeps))
        return np.split(self._fitting.factors, self._fitting.heads[1:-1])

    def _places(self, cells: Codes, anchor_rows: Codes) -> tuple[Codes, Codes]:
        """For each sub-table, and last for the anchor: the row of each record, and the group that holds each refined
        group."""
        index = np.empty((self._anchor + 1, len(anchor_rows)), dtype=np.uint16)
        groups = np.empty((self._anchor + 1, self._refined), dtype=np.uint16)
        places = Places.of([parents_of(self._model.groupings, table) for table in self._tables])
        for number, table in enumerate(self._tables):
            index[number] = places.rows(cells, number)
            groups[number] = self._of_column.coarsen(self._refined, table.groups)
        index[-1], groups[-1] = anchor_rows, np.arange(self._refined)
        return index, groups

    def _believe(self, number: int, table: SubTable) -> None:
        """Sets the goal of a table, and the factors of rows that no fitted record is in, which raking leaves alone: as
        if these were like all records."""
        rows, index, of_groups, goals, starts, _, heads, factors = self._fitting
        mass = self._engine.mass(rows, index[number], len(table.counts))
        unseen = mass.sum(axis=1) <= 0
        if unseen.any():
            mass[unseen] = self._everyone
        grouped = np.add.reduceat(mass, self._of_column.coarse_starts(self._refined, table.groups), axis=1)
        members = grouped.sum(axis=1)
        given = grouped / np.maximum(members, _TINY)[:, None]
        table.believe(given, np.where(unseen, 0.0, members), self._model.total)
        goals[starts[number] : starts[number + 1]] = table.goal.ravel()
        if unseen.any():
            ratio = table.goal[unseen] / np.maximum(given[unseen], _TINY)
            factors[heads[number] : heads[number + 1]][unseen] = ratio[:, of_groups[number]]


def parents_of(groupings: tuple[Groupings, ...], table: SubTable) -> list[tuple[int, Codes]]:
    """The parent columns of a sub-table, with what each of their cells adds to the number of a record's row."""
    row_parts, stride = list[tuple[int, Codes]](), len(table.counts)
    for parent, groups in zip(table.parents, table.parent_groups, strict=True):
        stride //= groups
        row_parts.append((parent, groupings[parent].map(groups).astype(np.uint32) * np.uint32(stride)))
    return row_parts

"""Sub-tables: noisy counts of one column, given columns that are already drawn (its parents).

Each measured pair is used with up to 3 groups per column (level 1), up to 8 (level 2) and as measured (level 3). A
table with several drawn columns is also used as a whole (level 4). Equal sub-tables from several tables are averaged by
inverse variance.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np

from cantle.drawing.counts import Floats
from cantle.drawing.smooth import project_onto
from cantle.methods.mosaic.model.groupings import Groupings
from cantle.methods.mosaic.model.noisy_tables import NoisyTable
from cantle.trusted.core.arrays import Bools

LEVELS = (3, 8, 1 << 30)
"""Most groups per column at levels 1, 2 and 3."""

JOINT = 4
MOST_JOINT_ROWS = 1 << 15
_OWN_TEST = 3.0
_CELL_DOUBT = 1.0
"""How strongly counts near their noise are shrunk to 0; otherwise the positive noise of empty cells adds up."""

_TINY = 1e-12


@dataclass(eq=False)
class SubTable:
    """Counts of the groups of one column by the groups of its parents; `noise` is the variance of each count, 0 where
    the rules allow no record."""

    parents: tuple[int, ...]
    parent_groups: tuple[int, ...]
    groups: int
    level: int
    counts: Floats
    noise: Floats
    settled: bool = False
    goal: Floats = field(default_factory=lambda: np.empty((0, 0)))
    strength: float = 0.0

    def conditional(self, total: float) -> tuple[Floats, Floats]:
        """The noisy conditional distribution of the column given the parents, and for each row the noise variance of
        its entries."""
        seen = np.maximum(self.counts, _TINY)
        doubted = self.counts * np.maximum(0.0, 1 - _CELL_DOUBT * self.noise / seen**2)
        may = self._possible()
        mass = project_onto(doubted.ravel(), total, None if may is None else may.ravel()).reshape(self.counts.shape)
        rows = mass.sum(axis=1)
        safe = np.maximum(rows, _TINY)
        mean = self.noise.mean(axis=1) if may is None else self.noise.sum(axis=1) / np.maximum(1, may.sum(axis=1))
        noise = np.where(rows > 0, np.minimum(1.0, mean / safe**2), 1.0)
        return mass / safe[:, None], noise

    def _possible(self) -> Bools | None:
        """Which counts the rules allow to be more than 0; None if all are allowed."""
        may = self.noise > 0
        return None if may.all() or not may.any() else may

    def believe(self, model: Floats, rows: Floats, total: float) -> None:
        """Sets the goal between the noisy conditional and `model`: closer to the first if the table stands out of its
        noise.

        Empirical Bayes: `strength` is the variance of true differences from the model, estimated over the whole table.
        """
        if self.settled:
            self._take(model, rows)
            return
        conditional, noise = self.conditional(total)
        weight = rows**2
        distance = (conditional - model) ** 2
        excess = (weight[:, None] * (distance - noise[:, None])).sum()
        self.strength = max(0.0, float(excess / max(weight.sum() * self.groups, _TINY)))
        trust = self.strength / (self.strength + noise)
        own = 1 - _OWN_TEST * self.groups * noise / np.maximum(distance.sum(axis=1), _TINY)
        trust = np.maximum(trust, own)[:, None]
        self.goal = trust * conditional + (1 - trust) * model
        if (may := self._possible()) is not None:
            inside = np.where(may, self.goal, 0.0)
            mass = inside.sum(axis=1, keepdims=True)  # rows in which nothing is allowed stay: no record is in them
            self.goal = np.where(mass > 0, inside / np.maximum(mass, _TINY), self.goal)

    def alone(self, otherwise: Floats) -> Floats:
        """The conditional distributions of a settled table as they are; `otherwise` where it has no record."""
        mass = self.counts.sum(axis=1, keepdims=True)
        return np.where(mass > 0, self.counts / np.maximum(mass, _TINY), otherwise)

    def _take(self, model: Floats, rows: Floats) -> None:
        """Sets the goal of a settled table to its own rows."""
        self.goal = self.alone(model)
        weight = rows**2
        moved = weight[:, None] * (self.goal - model) ** 2
        self.strength = float(moved.sum() / max(weight.sum() * self.groups, _TINY))


def sub_tables(
    column: int,
    drawn: Collection[int],
    tables: Sequence[NoisyTable],
    groupings: Sequence[Groupings],
    joint: Sequence[int] = LEVELS[-1:],
) -> list[SubTable]:
    """All sub-tables of a column, lower levels first, in a fixed order. Tables with several drawn columns are used as
    wholes with at most so many groups per column as `joint` says, one number after the other."""
    by_groups: dict[tuple[tuple[int, ...], tuple[int, ...], int], SubTable] = {}
    for table in tables:
        parents = tuple(c for c in table.columns if c in drawn)
        if column not in table.columns or not parents:
            continue
        if table.settled:
            _add(by_groups, table, parents, column, len(LEVELS), LEVELS[-1], groupings)
            continue
        for parent in parents:
            for level, most in enumerate(LEVELS, 1):
                _add(by_groups, table, (parent,), column, level, most, groupings)
        if len(parents) > 1 and prod(table.groups[table.columns.index(p)] for p in parents) <= MOST_JOINT_ROWS:
            for level, most in enumerate(joint, JOINT):
                _add(by_groups, table, parents, column, level, most, groupings)
    return sorted(by_groups.values(), key=lambda sub: sub.level)


def _add(
    by_groups: dict[tuple[tuple[int, ...], tuple[int, ...], int], SubTable],
    table: NoisyTable,
    parents: tuple[int, ...],
    column: int,
    level: int,
    most: int,
    groupings: Sequence[Groupings],
) -> None:
    """Adds the sub-table of these parents with at most `most` groups per column, or averages it with an equal one."""
    wanted = (*parents, column)
    measured = [table.groups[table.columns.index(c)] for c in wanted]
    groups = tuple(groupings[c].at_most(min(most, g)) for c, g in zip(wanted, measured, strict=True))
    key = (parents, groups[:-1], groups[-1])
    before = by_groups.get(key)
    if before is not None and before.level < level:
        return  # the same groups were used at a lower level already
    counts, summed = table.onto(wanted, groups, groupings)
    counts = counts.reshape(-1, groups[-1])
    noise = summed.reshape(counts.shape) * table.variance
    if before is not None:
        share = before.noise / np.maximum(before.noise + noise, _TINY)
        counts = before.counts + share * (counts - before.counts)
        noise = before.noise * (1 - share)
    by_groups[key] = SubTable(parents, groups[:-1], groups[-1], level, counts, noise, table.settled)

"""Noisy tables of grouped columns and their coarser forms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cantle.drawing.counts import Floats
from cantle.drawing.smooth import LEAST_VARIANCE, project_onto
from cantle.methods.mosaic.model.groupings import Groupings
from cantle.trusted.core.arrays import Bools, Codes
from cantle.trusted.geometry.cross_tables import CrossTable


@dataclass(frozen=True, eq=False)
class NoisyTable:
    """Noisy counts over groups of columns, one axis per column; every cell has the same noise variance.

    Cells in which every point breaks a rule are `empty`: their counts are 0, without noise. The counts of a `settled`
    table are not negative and agree with those of its columns, so that they are used as they are.
    """

    columns: tuple[int, ...]
    groups: tuple[int, ...]
    counts: Floats
    variance: float
    empty: Bools | None = None
    settled: bool = False

    def without(self, empty: Bools) -> NoisyTable:
        """The table with these cells known to be empty."""
        return replace(self, counts=np.where(empty, 0.0, self.counts), empty=empty)

    def projected(self, total: float) -> Floats:
        """Non-negative counts of all cells that sum to `total`, in one row."""
        return project_onto(self.counts.ravel(), total, None if self.empty is None else ~self.empty.ravel())

    def onto(
        self,
        columns: Sequence[int],
        groups: Sequence[int],
        groupings: Sequence[Groupings] | Mapping[int, Groupings],
    ) -> tuple[Floats, Floats]:
        """Counts over some of the columns at coarser groups, and how many noisy cells of this table each count sums."""
        others = tuple(axis for axis, column in enumerate(self.columns) if column not in columns)
        summed = self.counts.sum(axis=others)
        weight = np.full(summed.shape, self.counts.size / max(1, summed.size))
        if self.empty is not None:
            weight = (~self.empty).sum(axis=others).astype(np.float64)
        left = [column for column in self.columns if column in columns]
        for axis, column in enumerate(left):
            fine = self.groups[self.columns.index(column)]
            coarse = groups[list(columns).index(column)]
            if coarse != fine:
                starts = groupings[column].coarse_starts(fine, coarse)
                summed, weight = (np.add.reduceat(array, starts, axis=axis) for array in (summed, weight))
        order = [left.index(column) for column in columns]
        return summed.transpose(order), weight.transpose(order)


def coarser(table: NoisyTable, groups: tuple[int, ...], groupings: Sequence[Groupings]) -> NoisyTable:
    """An ordinary table at fewer groups of its columns, of the mean noise of its cells; `groupings` are those of its
    columns."""
    if groups == table.groups:
        return table
    counts, summed = table.onto(table.columns, groups, dict(zip(table.columns, groupings, strict=True)))
    return NoisyTable(table.columns, groups, counts, table.variance * float(summed.mean()))


def rising_together(table: NoisyTable, sides: tuple[Floats, Floats]) -> NoisyTable:
    """A table of two ordered columns with less noise: what one number says about it, and a part of the rest.

    The number is the correlation of the columns, each group at the middle of its ranks. It adds up all cells, so it
    stands out of noise in which no cell does. Of it and of the rest as much is kept as exceeds their noise. `sides`
    are the numbers of records in the groups of each column.
    """
    total = max(1.0, float(sides[0].sum()))
    first, second = (one / max(1.0, float(one.sum())) for one in sides)
    by, along = (_standard_ranks(one) for one in (first, second))
    product, chance = by[:, None] * along, first[:, None] * second
    noise = table.variance * float((product**2).sum()) / total**2
    found = float((table.counts * product).sum()) / total
    rising = chance * product * found
    rest = table.counts - total * (chance + rising)
    kept = max(0.0, 1 - noise / max(found**2, LEAST_VARIANCE))
    more = max(0.0, 1 - table.variance * rest.size / max(float((rest**2).sum()), LEAST_VARIANCE))
    left = kept**2 * noise * float(((total * chance * product) ** 2).mean()) + more**2 * table.variance
    return replace(table, counts=total * (chance + kept * rising) + more * rest, variance=max(left, LEAST_VARIANCE))


def _standard_ranks(shares: Floats) -> Floats:
    """The middle rank of each group, with mean 0 and variance 1."""
    middle = np.cumsum(shares) - shares / 2
    centred = middle - float((shares * middle).sum())
    return np.asarray(centred / max(float((shares * centred**2).sum()) ** 0.5, LEAST_VARIANCE))


def question(columns: tuple[int, ...], groups: tuple[int, ...], groupings: Sequence[Groupings]) -> CrossTable:
    """The cross table that measures these columns in these groups."""
    return CrossTable(columns, tuple(groupings[c].map(g) for c, g in zip(columns, groups, strict=True)))


def identity(cells: int) -> Codes:
    """Each cell as a group of its own."""
    return np.arange(cells).astype(np.uint8 if cells <= 256 else np.uint16)


def whole_table(column: int, cells: int) -> CrossTable:
    """The cross table of one column in all of its cells."""
    return CrossTable((column,), (identity(cells),))


def laplace_variance(rate: float) -> float:
    """The variance of discrete Laplace noise of this rate; at least LEAST_VARIANCE, because at high rates the formula
    rounds to 0."""
    ratio = np.exp(-rate)
    return max(float(2 * ratio / (1 - ratio) ** 2), LEAST_VARIANCE)

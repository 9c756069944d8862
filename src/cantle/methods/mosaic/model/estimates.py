"""Public estimates from noisy tables: the number of records, one-way distributions, groupings, each class.

The class table of a column is used first coarsely, then finely, each time only as far as it stands out of its noise;
the result agrees with the column's one-way distribution. Inside a cell of numbers, density follows the cells around.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from cantle.drawing.column_cells import Column
from cantle.drawing.counts import Dice, Floats, mix
from cantle.drawing.smooth import LEAST_VARIANCE, combine, smooth
from cantle.methods.mosaic.model.groupings import Groupings
from cantle.methods.mosaic.model.noisy_tables import NoisyTable
from cantle.methods.mosaic.model.sub_tables import LEVELS, SubTable
from cantle.trusted.core.arrays import Codes
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.cross_tables import Map


def total_records(sizes: Sequence[tuple[float, float]], first: Sequence[NoisyTable]) -> float:
    """The inverse-variance mean of noisy sizes, given with their variances, and of the totals of the first tables."""
    totals = np.array([*(size for size, _ in sizes), *(table.counts.sum() for table in first)], dtype=np.float64)
    noisy = [table.counts.size if table.empty is None else max(1, int((~table.empty).sum())) for table in first]
    known = (table.variance * cells for table, cells in zip(first, noisy, strict=True))
    weights = 1 / np.array([*(variance for _, variance in sizes), *known])
    return float((totals * weights).sum() / weights.sum())


def one_way_counts(first: Sequence[NoisyTable], lead: int | None, count: int) -> tuple[list[Floats], list[Floats]]:
    """Noisy counts of all `count` columns from the first tables, and their variances.

    The leading column's counts are averaged over all tables, by their inverse variances.
    """
    counts: list[Floats] = [np.zeros(0)] * count
    spread: list[Floats] = [np.zeros(0)] * count
    lead_sums, lead_weights = [], []
    for table in first:
        noisy = np.ones(table.counts.shape) if table.empty is None else (~table.empty).astype(np.float64)
        column, along = table.columns[0], tuple(range(1, noisy.ndim))
        counts[column] = table.counts.sum(axis=along)
        spread[column] = np.maximum(noisy.sum(axis=along) * table.variance, LEAST_VARIANCE)
        if lead is not None:
            lead_sums.append(table.counts.sum(axis=0))
            lead_weights.append(1 / np.maximum(noisy.sum(axis=0) * table.variance, LEAST_VARIANCE))
    if lead is not None:
        weights = np.array(lead_weights)
        together = np.ascontiguousarray(weights.T).sum(axis=1)
        counts[lead] = (np.array(lead_sums) * weights).sum(axis=0) / together
        spread[lead] = 1 / together
    return counts, spread


def one_ways(
    counts: Sequence[Floats],
    spread: Sequence[Floats],
    chosen: Sequence[NoisyTable],
    columns: Sequence[Column],
    edges: Sequence[Ints],
    groupings: Sequence[Groupings] | None,
    total: float,
    fixed: Mapping[int, Floats],
) -> list[Floats]:
    """Smoothed one-way distributions of all columns, which also use the chosen tables; those that are `fixed` stay."""
    distributions = []
    for number, column in enumerate(columns):
        if number in fixed:
            distributions.append(fixed[number])
            continue
        x, variance = counts[number], spread[number]
        for table in chosen:
            if groupings is not None and number in table.columns and not table.settled:
                groups = table.groups[table.columns.index(number)]
                sums, summed = table.onto((number,), (groups,), groupings)
                x, variance = combine(x, variance, groupings[number].map(groups), sums, summed * table.variance)
        widths = np.diff(edges[number])[: len(x) - column.null].astype(np.float64) if column.numeric else None
        smoothed = smooth(x, variance, widths, total)
        distributions.append(smoothed / max(smoothed.sum(), 1e-9))
    return distributions


_TINY = 1e-300
BLOCK = 1 << 16
"""Records whose values are drawn together."""

_STEEPEST = 8.0
_FEWEST = 0.5  # records that an empty cell counts as, beside its neighbours


def draw_values(cells: Codes, edges: Ints, null: bool, dice: Dice) -> Codes:
    """A code inside each record's cell; the last cell may be null."""
    if len(edges) == edges[-1] + 1:  # every cell is one value
        return cells
    rise = steepness(np.bincount(cells, minlength=len(edges) - 1), edges, null)
    even, above = np.abs(rise) < 1e-6, np.expm1(rise)
    codes: Codes = np.empty(len(cells), dtype=np.min_scalar_type(edges[-1]))
    for start in range(0, len(cells), BLOCK):
        some = cells[start : start + BLOCK]
        share, first, width = dice.random(len(some)), edges[:-1][some], np.diff(edges)[some]
        # the place in the cell below which this share of it lies, if density grows by e^rise from end to end
        place = np.where(even[some], share, np.log1p(share * above[some]) / np.where(even, 1.0, rise)[some])
        codes[start : start + BLOCK] = first + np.minimum((place * width).astype(np.int64), width - 1)
    return codes


def steepness(counts: Ints, edges: Ints, null: bool) -> Floats:
    """By how much the logarithm of the density grows from the lower to the upper end of each cell.

    It changes as it does towards one of both neighbours, namely the one to which it changes less, so that frequent
    values and noise beside a cell move little. In a cell that is denser or sparser than both it is even. A steep cell
    has its mean density not in its middle; where it has it follows from the steepness, so both are found in turn.
    """
    widths, middles = np.diff(edges).astype(np.float64), (edges[1:] + edges[:-1]) / 2
    level, rise = np.log(np.maximum(counts, _FEWEST) / widths), np.zeros(len(widths))
    for _ in range(3):
        half = np.maximum(np.abs(rise) / 2, 1e-3)
        change = np.diff(level) / np.diff(middles + widths * np.sign(rise) * np.log(np.sinh(half) / half) / (2 * half))
        change[len(change) - null :] = 0.0
        before, after = np.append(0.0, change), np.append(change, 0.0)
        flatter = np.where(before * after > 0, np.sign(after) * np.minimum(np.abs(before), np.abs(after)), 0.0)
        rise = np.clip(flatter * widths, -_STEEPEST, _STEEPEST)
    return rise


_SWEEPS = 10


def given_class(
    table: NoisyTable, one_way: Floats, shares: Floats, groupings: tuple[Groupings, ...], total: float
) -> Floats:
    """The distributions, one row per class and one column per cell.

    `table` counts (column, class); `shares` are the shares of the classes.
    """
    column, lead = table.columns
    model = np.tile(one_way, (len(shares), 1))
    done = 0
    for most in LEVELS:
        groups = groupings[column].at_most(min(most, table.groups[0]))
        if groups == done:
            continue
        done = groups
        counts, summed = table.onto((lead, column), (len(shares), groups), groupings)
        sub = SubTable((lead,), (len(shares),), groups, 1, counts, summed * table.variance)
        grouping = groupings[column].map(groups)
        starts = groupings[column].starts(groups)
        sub.believe(np.add.reduceat(model, starts, axis=1), shares * total, total)
        model = _agree(model, sub.goal, grouping, starts, one_way, shares)
    return model


def _agree(model: Floats, goal: Floats, grouping: Map, starts: Ints, one_way: Floats, shares: Floats) -> Floats:
    """Scales the model in turn to the goal for its groups in each class and to the one-way distribution. A class in
    which these have no cell in common gets the one-way distribution."""
    for _ in range(_SWEEPS):
        now = np.add.reduceat(model, starts, axis=1)
        model = model * (goal / np.maximum(now, _TINY))[:, grouping]
        mixed = mix(shares, model)
        model = model * np.where(mixed > 0, one_way / np.maximum(mixed, _TINY), 0.0)
        whole = model.sum(axis=1, keepdims=True)
        model = np.where(whole > 0, model / np.maximum(whole, _TINY), one_way)
    return model

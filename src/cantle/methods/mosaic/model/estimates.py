"""Public estimates from noisy tables: the number of records, one-way distributions, groupings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from cantle.drawing.column_cells import Column
from cantle.drawing.counts import Floats
from cantle.drawing.smooth import LEAST_VARIANCE, combine, smooth
from cantle.methods.mosaic.model.groupings import Groupings
from cantle.methods.mosaic.model.noisy_tables import NoisyTable
from cantle.trusted.geometry.boxes import Ints


def total_records(sizes: Sequence[tuple[float, float]], first: Sequence[NoisyTable]) -> float:
    """The inverse-variance mean of noisy sizes, given with their variances, and of the totals of the first tables."""
    totals = np.array([*(size for size, _ in sizes), *(table.counts.sum() for table in first)], dtype=np.float64)
    weights = 1 / np.array(
        [*(variance for _, variance in sizes), *(table.variance * _noisy_cells(table) for table in first)]
    )
    return float((totals * weights).sum() / weights.sum())


def _noisy_cells(table: NoisyTable) -> int:
    return table.counts.size if table.empty is None else max(1, int((~table.empty).sum()))


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
    doubt: float,
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
        smoothed = smooth(x, variance, widths, total, doubt)
        distributions.append(smoothed / max(smoothed.sum(), 1e-9))
    return distributions

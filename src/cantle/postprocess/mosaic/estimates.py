"""Public estimates from noisy tables: the number of records, one-way distributions, groupings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cantle.postprocess.counts import Floats
from cantle.postprocess.mosaic.column_cells import Column
from cantle.postprocess.mosaic.groupings import Groupings
from cantle.postprocess.mosaic.noisy_tables import NoisyTable
from cantle.postprocess.mosaic.smooth import combine, smooth
from cantle.trusted.geometry.boxes import Ints


def total_records(noisy_size: int, size_variance: float, first: Sequence[tuple[Ints, float]]) -> float:
    """The inverse-variance mean of the noisy size and the totals of the first tables, given with their variances."""
    totals = np.array([noisy_size, *(table.sum() for table, _ in first)], dtype=np.float64)
    weights = 1 / np.array([size_variance, *(variance * table.size for table, variance in first)])
    return float((totals * weights).sum() / weights.sum())


def one_way_counts(
    first: Sequence[tuple[Ints, float]], columns: Sequence[int], lead: int | None, count: int
) -> tuple[list[Floats], list[Floats]]:
    """Noisy counts of every column from the first tables, and their variances.

    The leading column's counts are averaged over all tables, by their inverse variances.
    """
    counts: list[Floats] = [np.zeros(0)] * count
    spread: list[Floats] = [np.zeros(0)] * count
    lead_sums, lead_weights = [], []
    for (table, variance), column in zip(first, columns, strict=True):
        if lead is None:
            counts[column], spread[column] = table.astype(np.float64), np.full(len(table), variance)
            continue
        cells, classes = table.shape
        counts[column], spread[column] = table.sum(axis=1).astype(np.float64), np.full(cells, classes * variance)
        lead_sums.append(table.sum(axis=0))
        lead_weights.append(1 / (cells * variance))
    if lead is not None:
        weights = np.array(lead_weights)
        counts[lead] = (np.array(lead_sums) * weights[:, None]).sum(axis=0) / weights.sum()
        spread[lead] = np.full(len(counts[lead]), 1 / weights.sum())
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
) -> list[Floats]:
    """Smoothed one-way distributions of all columns, the chosen tables taken into account."""
    found = []
    for number, column in enumerate(columns):
        x, variance = counts[number], spread[number]
        for table in chosen:
            if groupings is not None and number in table.columns:
                groups = table.groups[table.columns.index(number)]
                sums, summed = table.onto((number,), (groups,), groupings)
                x, variance = combine(x, variance, groupings[number].map(groups), sums, summed * table.variance)
        widths = np.diff(edges[number])[: len(x) - column.null].astype(np.float64) if column.numeric else None
        smoothed = smooth(x, variance, widths, total, doubt)
        found.append(smoothed / max(smoothed.sum(), 1e-9))
    return found

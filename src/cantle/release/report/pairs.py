"""How strongly pairs of columns are connected: Cramér's V, from 0 (unrelated) to 1 (one determines the other)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cantle.release.report.groupings import Ints

MOST_RECORDS = 200_000
"""Records that are looked at; of more, every second, third, … one."""

Floats = NDArray[np.float64]


def associations(columns: Sequence[Ints], sizes: Sequence[int]) -> Floats:
    """Cramér's V of each pair of grouped columns, corrected for its bias (Bergsma 2013); 1 on the diagonal."""
    strengths = np.eye(len(columns))
    for a in range(len(columns)):
        for b in range(a):
            strengths[a, b] = strengths[b, a] = cramers_v(cross_table(columns[a], columns[b], sizes[a], sizes[b]))
    return strengths


def thinned(columns: Sequence[Ints]) -> list[Ints]:
    """The same columns with at most `MOST_RECORDS` records, evenly spaced."""
    step = -(-len(columns[0]) // MOST_RECORDS) if columns else 1
    return [column[:: max(1, step)] for column in columns]


def cross_table(one: Ints, two: Ints, rows: int, columns: int) -> Ints:
    """The number of records in each pair of groups."""
    return np.bincount(one * columns + two, minlength=rows * columns).reshape(rows, columns)


def cramers_v(table: Ints) -> float:
    """Cramér's V of a table of counts.

    >>> cramers_v(np.array([[500, 0], [0, 500]])), cramers_v(np.array([[250, 250], [250, 250]]))
    (1.0, 0.0)
    """
    n = int(table.sum())
    if not n:
        return 0.0
    counts = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0].astype(float)
    rows, columns = counts.shape
    if min(rows, columns) < 2:
        return 0.0
    expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0, keepdims=True) / n
    phi = float(((counts - expected) ** 2 / expected).sum() / n)
    spare = n - 1
    phi = max(0.0, phi - (rows - 1) * (columns - 1) / spare)
    least = min(rows - (rows - 1) ** 2 / spare, columns - (columns - 1) ** 2 / spare) - 1
    return round(float(min(1.0, (phi / least) ** 0.5)), 6) if least > 0 else 0.0


def distance(one: Ints, two: Ints) -> float:
    """Total variation distance of two tables of counts, each as shares of its own sum.

    >>> distance(np.array([1, 1]), np.array([2, 0]))
    0.5
    """
    sums = max(1, int(one.sum())), max(1, int(two.sum()))
    return float(np.abs(one / sums[0] - two / sums[1]).sum() / 2)

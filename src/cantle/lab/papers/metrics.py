"""Distances between raw and released data. Each says which way is better and what range it has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Literal, ParamSpec

import numpy as np
import numpy.typing as npt

from cantle.errors import ParameterError
from cantle.lab.papers.coding import Floats, Ints

Numbers = npt.ArrayLike


P = ParamSpec("P")


@dataclass(frozen=True)
class Metric(Generic[P]):
    """A function of (truth, release) that declares its name, its better direction and its range."""

    name: str
    goal: Literal["min", "max"]
    range: tuple[float, float]
    function: Callable[P, float]

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> float:
        return self.function(*arguments, **named)


def _coupling(truth: Numbers, release: Numbers) -> tuple[Floats, Floats]:
    """Distances and their weights when mass moves quantile by quantile, the cheapest way in one dimension.

    With n and m points the quantiles change at multiples of 1/n and of 1/m; they are merged as integers
    (multiples of 1/nm), so equal sizes pair the sorted points exactly.
    """
    x = np.sort(np.asarray(truth, dtype=np.float64))
    y = np.sort(np.asarray(release, dtype=np.float64))
    n, m = len(x), len(y)
    ends = np.union1d(np.arange(1, n + 1) * m, np.arange(1, m + 1) * n)
    weight = np.diff(ends, prepend=0)
    return x[(ends - 1) // m] - y[(ends - 1) // n], weight / (n * m)


def _moved(truth: Numbers, release: Numbers, power: int) -> float:
    if not np.size(truth):
        raise ParameterError("the raw sample is empty; a distance needs at least one value")
    if not np.size(release):
        return np.inf  # nothing was released: as bad as it gets
    distance, weight = _coupling(truth, release)
    return float((weight @ np.abs(distance) ** power) ** (1 / power))


def _emd(truth: Numbers, release: Numbers) -> float:
    return _moved(truth, release, 2)


def _w1(truth: Numbers, release: Numbers) -> float:
    return _moved(truth, release, 1)


def _tvd1(truth: Ints, release: Ints) -> float:
    distances = []
    for i in range(truth.shape[1]):
        size = int(max(truth[:, i].max(initial=0), release[:, i].max(initial=0))) + 1
        p = np.bincount(truth[:, i], minlength=size) / max(len(truth), 1)
        q = np.bincount(release[:, i], minlength=size) / max(len(release), 1)
        distances.append(max(np.maximum(p - q, 0).sum(), np.maximum(q - p, 0).sum()))
    return float(np.mean(distances))


def _purity(clusters: Ints, regions: Ints) -> float:
    pairs, counts = np.unique(np.column_stack([regions, clusters]), axis=0, return_counts=True)
    starts = np.flatnonzero(np.r_[True, np.diff(pairs[:, 0]) != 0])
    return float(np.maximum.reduceat(counts, starts).sum() / len(regions))


def locate(points: Floats, low: Floats, high: Floats) -> Ints:
    """The number of the box that holds each point, -1 for none; boxes are disjoint, low <= x < high.

    >>> locate(np.array([[1.0], [7.0]]), np.array([[0.0], [5.0]]), np.array([[5.0], [9.0]])).tolist()
    [0, 1]
    """
    orders = np.argsort(points, axis=0, kind="stable")
    first, last = np.empty(low.shape, dtype=np.int64), np.empty(low.shape, dtype=np.int64)
    for i in range(points.shape[1]):
        column = points[orders[:, i], i]
        first[:, i], last[:, i] = np.searchsorted(column, low[:, i]), np.searchsorted(column, high[:, i])
    # a box looks only at the points in its own slice of the attribute where that slice is shortest
    shortest = (last - first).argmin(axis=1)
    home = np.full(len(points), -1, dtype=np.int64)
    for box, i in enumerate(shortest):
        near = orders[first[box, i] : last[box, i], i]
        held = points[near]
        home[near[((held >= low[box]) & (held < high[box])).all(axis=1)]] = box
    return home


# RPS section 4.1 calls sqrt(mean (X_i - Y_i)^2) of the sorted samples the EMD; properly the Mallows distance
# with p = 2. Unequal sizes by quantile coupling. Infinite when nothing was released.
emd = Metric("EMD (root mean square)", "min", (0.0, np.inf), _emd)

# What is usually called the earth mover's distance.
w1 = Metric("W1", "min", (0.0, np.inf), _w1)

# Code matrices, one column per attribute: mean over the attributes of the total variation distance between
# the histograms of truth and release. 1 when nothing was released.
tvd1 = Metric("TVD1", "min", (0.0, 1.0), _tvd1)

# RPS section 4.1, figure 2: (cluster, region) of each raw record -> share of the records that belong to the
# majority cluster of their region. At least the share of the largest cluster.
purity = Metric("purity", "max", (0.0, 1.0), _purity)

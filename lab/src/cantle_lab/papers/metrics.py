"""Distances between raw and released data, each with its range and whether small or large values are better."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Literal, ParamSpec

import numpy as np
import numpy.typing as npt

from cantle.errors import ParameterError
from cantle_lab.papers.coding import Floats, Ints

Numbers = npt.ArrayLike


P = ParamSpec("P")


@dataclass(frozen=True)
class Metric(Generic[P]):
    """A function of (truth, release) with its name, its range, and whether it should be small or large (`goal`)."""

    name: str
    goal: Literal["min", "max"]
    range: tuple[float, float]
    function: Callable[P, float]

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> float:
        return self.function(*arguments, **named)


def _coupling(truth: Numbers, release: Numbers) -> tuple[Floats, Floats]:
    """Distances and their weights if mass is moved quantile by quantile, which is cheapest in one dimension.

    With n and m points, quantiles change at multiples of 1/n and of 1/m. These are merged as integers (multiples of
    1/nm), so that sorted points of samples of equal size are paired exactly.
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
        return np.inf  # nothing was released: the worst value
    distance, weight = _coupling(truth, release)
    return float((weight @ np.abs(distance) ** power) ** (1 / power))


def _emd(truth: Numbers, release: Numbers) -> float:
    return _moved(truth, release, 2)


def _w1(truth: Numbers, release: Numbers) -> float:
    return _moved(truth, release, 1)


def variation(truth: npt.ArrayLike, release: npt.ArrayLike) -> float:
    """The total variation distance of two lists of counts: half the sum of the differences of their shares."""
    p, q = (np.asarray(counts, dtype=np.float64) for counts in (truth, release))
    return float(np.abs(p / max(1.0, p.sum()) - q / max(1.0, q.sum())).sum() / 2)


def variation_of_codes(truth: Ints, release: Ints) -> float:
    """The same of two lists of codes."""
    size = int(max(truth.max(initial=0), release.max(initial=0))) + 1
    return variation(np.bincount(truth, minlength=size), np.bincount(release, minlength=size))


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
    """The number of the box that contains each point, or -1; boxes are disjoint, with low <= x < high.

    >>> locate(np.array([[1.0], [7.0]]), np.array([[0.0], [5.0]]), np.array([[5.0], [9.0]])).tolist()
    [0, 1]
    """
    orders = np.argsort(points, axis=0, kind="stable")
    first, last = np.empty(low.shape, dtype=np.int64), np.empty(low.shape, dtype=np.int64)
    for i in range(points.shape[1]):
        column = points[orders[:, i], i]
        first[:, i], last[:, i] = np.searchsorted(column, low[:, i]), np.searchsorted(column, high[:, i])
    # Each box is compared only with the points in its range of one attribute: the one where these are fewest.
    shortest = (last - first).argmin(axis=1)
    home = np.full(len(points), -1, dtype=np.int64)
    for box, i in enumerate(shortest):
        near = orders[first[box, i] : last[box, i], i]
        held = points[near]
        home[near[((held >= low[box]) & (held < high[box])).all(axis=1)]] = box
    return home


# RPS section 4.1 calls sqrt(mean (X_i - Y_i)^2) of the sorted samples the EMD; properly it is the Mallows distance
# with p = 2. Samples of unequal size are compared by quantile coupling. It is infinite if nothing was released.
emd = Metric("EMD (root mean square)", "min", (0.0, np.inf), _emd)

# This is usually called the earth mover's distance.
w1 = Metric("W1", "min", (0.0, np.inf), _w1)

# For matrices of codes with one column per attribute: the mean over the attributes of the total variation distance
# between the histograms of truth and release. It is 1 if nothing was released.
tvd1 = Metric("TVD1", "min", (0.0, 1.0), _tvd1)

# RPS section 4.1, figure 2: from the cluster and region of each raw record, the share of the records that belong to the
# majority cluster of their region. It is at least the share of the largest cluster.
purity = Metric("purity", "max", (0.0, 1.0), _purity)


def _ks(truth: Numbers, release: Numbers) -> float:
    x, y = np.sort(np.asarray(truth).ravel()), np.sort(np.asarray(release).ravel())
    if not len(x):
        raise ParameterError("the raw sample is empty; a distance needs at least one value")
    if not len(y):
        return 1.0  # nothing was released: the worst value
    steps = np.concatenate([x, y])  # the distribution functions change only at these values
    below_x, below_y = (np.searchsorted(sample, steps, side="right") / len(sample) for sample in (x, y))
    return float(np.abs(below_x - below_y).max())


# RPS section 5.2: the largest difference of the two empirical distribution functions; sizes may differ.
ks = Metric("KS", "min", (0.0, 1.0), _ks)

# In RPS sections 4.1 and 5.2, EMD is the root mean square of the sorted differences, as in Hay et al. 2009 (Mallows,
# p = 2); usually the name means W1. Both are computed by quantile coupling, so sizes may differ.
MOVED = (emd, w1)

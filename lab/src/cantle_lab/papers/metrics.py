"""Distances between raw and released data: functions of (truth, release).

They are 0 for a copy of the truth, but for `purity`, which is 1 there.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cantle.errors import ParameterError
from cantle_lab.papers.coding import Floats, Ints

Numbers = npt.ArrayLike


def emd(truth: Numbers, release: Numbers) -> float:
    """What RPS calls the earth mover's distance: sqrt(mean (X_i - Y_i)^2) of the sorted samples.

    RPS uses it in sections 4.1 and 5.2, as Hay et al. 2009 do; properly it is the Mallows distance with p = 2. Samples
    of unequal size are compared quantile by quantile. It is infinite if nothing was released.
    """
    return _moved(truth, release, 2)


def w1(truth: Numbers, release: Numbers) -> float:
    """What is usually called the earth mover's distance: the mean |X_i - Y_i|, from 0 to infinity."""
    return _moved(truth, release, 1)


def _moved(truth: Numbers, release: Numbers, power: int) -> float:
    """The cost of moving mass quantile by quantile, which is cheapest in one dimension.

    With n and m points, quantiles change at multiples of 1/n and of 1/m. These are merged as integers (multiples of
    1/nm), so that sorted points of samples of equal size are paired exactly.
    """
    x, y = _sorted(truth), np.sort(np.asarray(release, dtype=np.float64))
    n, m = len(x), len(y)
    if not m:
        return np.inf
    ends = np.union1d(np.arange(1, n + 1) * m, np.arange(1, m + 1) * n)
    weight = np.diff(ends, prepend=0) / (n * m)
    distance = x[(ends - 1) // m] - y[(ends - 1) // n]
    return float((weight @ np.abs(distance) ** power) ** (1 / power))


def ks(truth: Numbers, release: Numbers) -> float:
    """The largest difference of the two empirical distribution functions (RPS section 5.2), from 0 to 1."""
    x, y = _sorted(truth), np.sort(np.asarray(release, dtype=np.float64))
    if not len(y):
        return 1.0
    steps = np.concatenate([x, y])  # the distribution functions change only at these values
    below_x, below_y = (np.searchsorted(sample, steps, side="right") / len(sample) for sample in (x, y))
    return float(np.abs(below_x - below_y).max())


def _sorted(truth: Numbers) -> Floats:
    if not np.size(truth):
        raise ParameterError("the raw sample is empty; a distance needs at least one value")
    return np.sort(np.asarray(truth, dtype=np.float64))


def variation(truth: Numbers, release: Numbers) -> float:
    """The total variation distance of two lists of counts, from 0 to 1: the share of the mass that would have to move.

    It is 1 if one of them is empty, and the other is not.
    """
    p, q = (np.asarray(counts, dtype=np.float64) for counts in (truth, release))
    apart = p / max(1.0, p.sum()) - q / max(1.0, q.sum())
    return float(max(apart.clip(min=0).sum(), -apart.clip(max=0).sum()))


def variation_of_codes(truth: Ints, release: Ints) -> float:
    """The same of two lists of codes."""
    size = int(max(truth.max(initial=0), release.max(initial=0))) + 1
    return variation(np.bincount(truth, minlength=size), np.bincount(release, minlength=size))


def tvd1(truth: Ints, release: Ints) -> float:
    """The mean of this over the columns of two matrices of codes, one row per record."""
    return float(np.mean([variation_of_codes(truth[:, i], release[:, i]) for i in range(truth.shape[1])]))


def purity(clusters: Ints, regions: Ints) -> float:
    """The share of the records that are in the majority cluster of their region (RPS section 4.1, figure 2).

    It is at least the share of the largest cluster, and at most 1.
    """
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

"""Exact confidence bounds of a probability from a number of hits (Clopper & Pearson 1934), without scipy.

Each bound is found by bisection on a binomial tail; of the last interval it is the end that keeps the bound valid.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

ALPHA = 0.0005
"""Each bound fails in at most one of 2,000 audits, so at least one of an audit's two bounds in at most one of 1,000
(docs/privacy.md, Audits)."""


def at_least(hits: int, runs: int, alpha: float = ALPHA) -> float:
    """The largest p under which this many hits or more have a probability of at most alpha; 0 without a hit.

    >>> at_least(0, 10), round(at_least(10, 10), 6) == round(0.0005**0.1, 6)
    (0.0, True)
    """
    if not 0 <= hits <= runs:
        raise ValueError("hits must be from 0 to the number of runs")
    if hits == 0:
        return 0.0
    k, choices = _terms(hits, runs)

    def rare(p: float) -> bool:
        return float(np.exp(choices + k * math.log(p) + (runs - k) * math.log1p(-p)).sum()) <= alpha

    return _last(rare)


def at_most(hits: int, runs: int, alpha: float = ALPHA) -> float:
    """The smallest p under which this many hits or fewer have a probability of at most alpha; 1 if all are hits.

    >>> at_most(10, 10), at_most(0, 10) == 1 - at_least(10, 10)
    (1.0, True)
    """
    return 1.0 - at_least(runs - hits, runs, alpha)


def epsilon_at_least(more: int, less: int, runs: int, alpha: float = ALPHA) -> float:
    """The lower bound of epsilon if an event occurred in `more` runs on one data set and in `less` on its neighbour.

    It is -inf if `more` is 0.
    """
    low, high = at_least(more, runs, alpha), at_most(less, runs, alpha)
    return math.log(low / high) if low > 0 else -math.inf


def _last(holds: Callable[[float], bool]) -> float:
    """The largest number in [0, 1] up to which a condition holds, approached from below; it must hold at 0."""
    low, high = 0.0, 1.0
    while high - low > 1e-15 and high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _terms(hits: int, runs: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """All k from `hits` to `runs`, and the logarithm of the number of ways to have k hits in this many runs."""
    k = np.arange(hits, runs + 1)
    first = math.lgamma(runs + 1) - math.lgamma(hits + 1) - math.lgamma(runs - hits + 1)
    return k, first + np.cumsum(np.concatenate([[0.0], np.log(runs - k[:-1]) - np.log(k[1:])]))

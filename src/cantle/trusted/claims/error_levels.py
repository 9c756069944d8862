"""Levels of error: how far counting questions are off, each as one whole number that a record changes by at most 1.

Questions, weights, released counts and the classes of questions are public. tests/laws/test_own_error.py checks the
claims by brute force.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.rectangles import WHOLE

PERCENT = 95


def weighted_errors(exact_counts: Ints, released: Ints, weights: Ints) -> Ints:
    """For each question the difference of its counts times its weight, rounded down.

    Claim 55a. If a record changes every exact count by at most 1, it changes every entry by at most 1, and k records by
    at most k. Released counts and weights are public. The difference d moves by at most k, d * w with w <= 1 by at most
    k, and floors of two numbers that are at most a whole number k apart are at most k apart. Computed without overflow
    for all counts: with d = 2^16 a + r, the floor of d w / 2^16 is a w + the floor of r w / 2^16.

    >>> weighted_errors(np.array([9, 2]), np.array([2, 9]), np.array([WHOLE, WHOLE // 2])).tolist()
    [7, 3]
    """
    differences = np.abs(exact_counts - released)
    return (differences >> 16) * weights + ((differences & (WHOLE - 1)) * weights >> 16)


def ranked(numbers: Ints, percent: int) -> int:
    """The ceil(percent / 100 * Q)-th smallest of Q numbers, without interpolation; 100 gives the largest.

    >>> ranked(np.arange(100), PERCENT), ranked(np.array([4, 2]), 100)
    (94, 4)
    """
    return int(np.sort(numbers)[-(-percent * len(numbers) // 100) - 1])


def error_level(errors: Sequence[Ints], percent: int) -> int:
    """The `percent` % quantile, over groups of questions, of the 95 % quantile of each group's weighted errors.

    Claim 55b. It changes by at most k if every entry changes by at most k, whatever the numbers of groups and
    questions. Call f of a list monotone if it never falls when entries rise, and even if adding 1 to all entries adds
    1. Order statistics are both, the largest entry included, and a monotone and even f of monotone and even f's is so
    too. Then f(list) - k = f(list - k) <= f(list') <= f(list + k) = f(list) + k. So the worst pair of columns costs no
    more noise than one question. Entries change by at most k by Claim 55a. Groups must not depend on records.
    """
    return ranked(np.array([ranked(group, PERCENT) for group in errors], dtype=np.int64), percent)

"""A release's own error: a few whole numbers that say how far released records are off, and their sensitivity.

Questions and released counts are public: they follow from records that were drawn from noisy answers, and from public
dice. Exact counts are compared with them inside the curator (`Curator.own_error`), and only noisy numbers leave it.
tests/laws/test_own_error.py checks every bound by brute force.

Levels of error say how far counting questions are off, each as one whole number that a record changes by at most 1.
Questions, weights, released counts and the classes of questions are public. tests/laws/test_own_error.py checks the
claims by brute force.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cantle.errors import ParameterError
from cantle.trusted.core.budget import Unit
from cantle.trusted.counting.base import SplitEngine
from cantle.trusted.geometry.boxes import Ints, is_int64_array
from cantle.trusted.geometry.workloads import (
    APART,
    ASKED,
    ONE_COLUMN,
    WHOLE,
    FamilyWorkload,
    SequenceWorkload,
    SetWorkload,
    TableWorkload,
)

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


MOST_RELEASED = 1 << 40
"""Largest released count: sums of differences then stay far below 2^62."""

WORKLOADS: dict[str, type] = {
    "tables": TableWorkload,
    "sets": SetWorkload,
    "sequences": SequenceWorkload,
    "families": FamilyWorkload,
}
"""The workload for each kind of data."""


AnyWorkload = TableWorkload | SetWorkload | SequenceWorkload | FamilyWorkload


@dataclass(frozen=True, eq=False)
class OwnError:
    """A public workload and the counts of the released records for it.

    Classes without a question are not asked. A table gives up to three numbers: over questions about one column their
    95 % quantile; over pairs of columns measured together the 95 % quantile of each pair's 95 % quantile; and over the
    other pairs the largest of those. Families give up to three, each the largest 95 % quantile of a pair of columns: of
    their own ones, with one of a child, and of two children in a row. Sets give up to three: over items the largest
    95 % quantile of a band; over pairs and triples all of whose pairs were counted the largest error; and over the
    others the same. Sequences give up to two: the largest error over pairs that follow each other directly, and over
    pairs at any distance.

    Claim 57. K numbers together have sensitivity K k for a unit of k records: each moves by at most k (Claims 55a to
    55c), and L1 sensitivities add up. K, the classes and the weights follow from the workload, which is public. One
    family changes the number of families with a certain child, or with two in a row, by at most 1, however many it has.
    """

    workload: AnyWorkload
    released: Ints

    def fits(self, kind: str, domain: object) -> bool:
        """Whether the workload fits data of this kind and domain; decided without records."""
        if type(self.workload) is not WORKLOADS.get(kind) or not self.workload.fits(domain):
            return False
        if not is_int64_array(self.released, self.workload.cells):
            return False
        return bool((self.released >= 0).all() and (self.released <= MOST_RELEASED).all())

    def checked(self, kind: str, domain: object) -> OwnError:
        """The curator's own copy; refused if it does not fit or has no question."""
        if not self.fits(kind, domain) or not self.numbers:
            raise ParameterError("the workload or its released counts do not fit this data, or ask for nothing")
        return OwnError(self.workload.copy(), self.released.copy())

    @property
    def numbers(self) -> int:
        """K, the number of answers."""
        return len(self._classes())

    def sensitivity(self, unit: Unit) -> int:
        """L1 bound for one unit, of all numbers together."""
        return self.numbers * unit.max_records

    def exact_numbers(self, engine: SplitEngine) -> Ints:
        """The exact numbers, over all records that the engine was opened with."""
        exact_counts, released = engine.count_all(self.workload), self.released
        weights = np.full(len(released), WHOLE, dtype=np.int64)
        if isinstance(self.workload, TableWorkload):
            tables, rectangles = self.workload.tables, self.workload.rectangles
            exact_counts, released = (rectangles.counts(tables, counts) for counts in (exact_counts, released))
            weights = rectangles.weights
        errors = weighted_errors(exact_counts, released, weights)
        levels = [error_level([errors[one] for one in groups], percent) for groups, percent in self._classes()]
        return np.array(levels, dtype=np.int64)

    def _classes(self) -> list[tuple[Sequence[slice | Ints], int]]:
        """For each class that has a question: the places of its questions, in groups, and which quantile over groups
        is asked."""
        if isinstance(self.workload, SetWorkload):
            return self._classes_of_sets(self.workload)
        if isinstance(self.workload, SequenceWorkload):
            near, every = self.workload.near, self.workload.cells
            families = [[slice(i, i + 1) for i in range(*ends)] for ends in ((0, near), (near, every))]
            return [(one, 100) for one in families if one]
        if isinstance(self.workload, FamilyWorkload):
            return [(groups, 100) for groups in map(self.workload.pairs_of, ASKED) if groups]
        classes = list[tuple[Sequence[slice | Ints], int]]()
        for number in np.unique(self.workload.classes).tolist():
            groups = [
                self.workload.rectangles.of(table) for table in np.flatnonzero(self.workload.classes == number).tolist()
            ]
            if number == ONE_COLUMN:  # all questions are one group
                classes.append(([np.concatenate([np.arange(one.start, one.stop) for one in groups])], 100))
            else:
                classes.append((groups, 100 if number == APART else PERCENT))
        return classes

    def _classes_of_sets(self, workload: SetWorkload) -> list[tuple[Sequence[slice | Ints], int]]:
        """Items by band, then each group of items by itself, in two classes."""
        items, every = len(workload.items), workload.cells
        apart, bands = items + workload.together, workload.bands.tolist()
        groups = [slice(*ends) for ends in zip(bands[:-1], bands[1:], strict=True)]
        together, others = ([slice(i, i + 1) for i in range(*ends)] for ends in ((items, apart), (apart, every)))
        return [(one, 100) for one in (groups, together, others) if one]

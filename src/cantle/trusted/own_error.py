"""A release's own error: a few whole numbers that say how far released records are off, and their sensitivity.

Questions and released counts are public: they follow from records that were drawn from noisy answers, and from public
dice. Exact counts are compared with them inside the curator (`Curator.own_error`), and only noisy numbers leave it.
tests/laws/test_own_error.py checks every bound by brute force.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cantle.errors import ParameterError
from cantle.trusted.budget import Unit
from cantle.trusted.engines.base import SplitEngine
from cantle.trusted.geometry.boxes import Ints, is_int64_array
from cantle.trusted.geometry.cross_tables import CrossTable
from cantle.trusted.geometry.workloads import SetWorkload, TableWorkload

MOST_RELEASED = 1 << 40
"""Largest released count: sums of differences then stay far below 2^62."""

PERCENT = 95

WORKLOADS: dict[str, type] = {"tables": TableWorkload, "sets": SetWorkload}
"""The workload for each kind of data."""


def quantile_error(exact_counts: Ints, released: Ints) -> int:
    """The ceil(.95 Q)-th smallest difference between the counts of Q questions, without interpolation.

    Claim 55. Sensitivity 1 per record, whatever Q: a record changes each exact count by at most 1 and no released one,
    so each difference by at most 1. If all entries of a list move by at most 1, so does its r-th smallest: r entries
    that were at most v are at most v + 1, and in the other direction alike. Questions must not depend on records.

    >>> quantile_error(np.arange(100), np.zeros(100, dtype=np.int64)), quantile_error(np.array([7]), np.array([9]))
    (94, 2)
    """
    differences = np.sort(np.abs(exact_counts - released))
    rank = -(-PERCENT * len(differences) // 100)
    return int(differences[rank - 1])


def mean_distance(exact_counts: Ints, released: Ints, tables: int) -> int:
    """The mean over P tables of the sum of all differences between cells, rounded down.

    Claim 56. Sensitivity 1 per record: a record is in one cell of each table, so it changes the distance of each by at
    most 1 and their sum T by at most P. floor(T / P) then changes by at most 1: floor(x + 1) = floor(x) + 1, and floor
    never falls. Nothing is divided by a number of records.

    >>> mean_distance(np.array([3, 0, 2, 2]), np.array([1, 1, 2, 0]), 2)
    2
    """
    return int(np.abs(exact_counts - released).sum()) // tables


@dataclass(frozen=True, eq=False)
class OwnError:
    """A public workload and the counts of the released records for it.

    Kinds without a question are not asked. A table gives up to three numbers: the quantile over questions about one
    column, over questions about several, and the mean distance of tables of two columns; sets give up to two: the
    quantile over items, and over pairs and triples.

    Claim 57. K numbers together have sensitivity K per record: each has sensitivity 1 (Claims 55 and 56), and L1
    sensitivities add up. The number K follows from the workload, which is public.
    """

    workload: TableWorkload | SetWorkload
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
        return sum(1 for length in self._lengths() if length)

    def sensitivity(self, unit: Unit) -> int:
        """L1 bound for one unit, of all numbers together."""
        return self.numbers * unit.max_records

    def exact_numbers(self, engine: SplitEngine) -> Ints:
        """The exact numbers, over all records that the engine was opened with."""
        exact_counts = engine.count_all(self.workload)
        exact, first = [], 0
        for kind, length in enumerate(self._lengths()):
            here = slice(first, first + length)
            first += length
            if not length:
                continue
            if kind == 2:
                exact.append(mean_distance(exact_counts[here], self.released[here], len(self._tables())))
            else:
                exact.append(quantile_error(exact_counts[here], self.released[here]))
        return np.array(exact, dtype=np.int64)

    def _tables(self) -> tuple[CrossTable, ...]:
        return self.workload.pairs if isinstance(self.workload, TableWorkload) else ()

    def _lengths(self) -> tuple[int, int, int]:
        """The counts of each kind of number."""
        if isinstance(self.workload, TableWorkload):
            cells = sum(table.cells for table in self.workload.pairs)
            return len(self.workload.one_column), len(self.workload.more_columns), cells
        return len(self.workload.items), len(self.workload.starts) - 1, 0

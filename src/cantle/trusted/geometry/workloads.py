"""Public families of counting questions, and counts of the records that satisfy them: private records in engines,
released ones in post-processing.

A *workload* holds all questions about a release's own error (own_error.py). Questions about a table are rectangles of
tables of one or two columns; if a table has a class, it is one more column, the last. Questions about sets are items,
pairs and triples of items. Questions about sequences are pairs of symbols, one after the other.

`Rectangles` of such tables are counting questions about neighbouring groups, with public weights. A question about one
column is a rectangle of a table of that column, whose second side has one group.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from cantle import kernel_choice
from cantle.trusted.core.arrays import Codes
from cantle.trusted.geometry.boxes import Ints, is_int64_array
from cantle.trusted.geometry.cross_tables import ColumnCells, CrossTable, are_tables, count_tables
from cantle.trusted.geometry.item_partitions import popcount
from cantle.trusted.geometry.views import CHILDREN, LATER, PARENTS, FamilyDomain

WHOLE = 1 << 16
"""The weight 1; weights are whole numbers of 1/WHOLE, from 0 to WHOLE."""

MOST_RECTANGLES = 100_000
"""Most rectangles of a workload."""


class _Arrays:
    """A dataclass that holds arrays."""

    def copy(self) -> Self:
        """The same in arrays of its own, because the method may still write to its arrays."""
        return replace(self, **{name: one.copy() for name, one in vars(self).items() if isinstance(one, np.ndarray)})  # type: ignore[type-var]


@dataclass(frozen=True, eq=False)
class Rectangles(_Arrays):
    """Rectangles starts[t] to starts[t + 1] - 1 are those of table t: rows from `top` to below `bottom`, columns from
    `left` to below `right`. The error of each is multiplied by weight / 2^16."""

    starts: Ints
    top: Ints
    bottom: Ints
    left: Ints
    right: Ints
    weights: Ints

    def __len__(self) -> int:
        return len(self.top)

    def fits(self, tables: Sequence[CrossTable]) -> bool:
        """Whether each of these tables has a rectangle, all of them lie in their tables, and weights are at most 1."""
        number = np.size(self.top)
        parts = (self.top, self.bottom, self.left, self.right, self.weights)
        if number > MOST_RECTANGLES or not all(is_int64_array(part, number) for part in parts):
            return False
        if not is_int64_array(self.starts, len(tables) + 1) or self.starts[0] or self.starts[-1] != number:
            return False
        each = np.diff(self.starts)
        if (each < 1).any() or (self.weights < 0).any() or (self.weights > WHOLE).any():
            return False
        rows, columns = np.repeat(np.array([_sides(table) for table in tables]), each, axis=0).T
        inside = (self.top >= 0) & (self.top < self.bottom) & (self.bottom <= rows)
        return bool((inside & (self.left >= 0) & (self.left < self.right) & (self.right <= columns)).all())

    def of(self, table: int) -> slice:
        """The places of the rectangles of a table."""
        return slice(int(self.starts[table]), int(self.starts[table + 1]))

    def counts(self, tables: Sequence[CrossTable], cells: Ints) -> Ints:
        """The number of records in each rectangle, given the counts of the cells of all tables.

        Claim 55c. A record changes each of these numbers by 0 or 1, however many rectangles there are: it is in one
        cell of each table, and a cell is in a rectangle or not.
        """
        counts, first = np.zeros(len(self), dtype=np.int64), 0
        for number, table in enumerate(tables):
            rows, columns = _sides(table)
            below = np.zeros((rows + 1, columns + 1), dtype=np.int64)
            below[1:, 1:] = cells[first : first + table.cells].reshape(rows, columns).cumsum(axis=0).cumsum(axis=1)
            first += table.cells
            here = self.of(number)
            top, bottom, left, right = self.top[here], self.bottom[here], self.left[here], self.right[here]
            counts[here] = below[bottom, right] - below[top, right] - below[bottom, left] + below[top, left]
        return counts


def _sides(table: CrossTable) -> tuple[int, int]:
    rows, *more = table.shape
    return rows, more[0] if more else 1


MOST_QUESTIONS = 10_000
"""Most questions of one kind."""

MOST_CONDITIONS = 3
"""Most items of one question."""

_PACKED = 1 << 13  # sets counted together: their items, one bit each, stay in the cache
_SLICE = 1 << 18  # records whose cells are found together


ONE_COLUMN, TOGETHER, APART = range(3)
"""The classes of the tables of a workload: of one column, of a pair measured together, and of another pair."""


@dataclass(frozen=True, eq=False)
class TableWorkload:
    """Tables of one or two columns over the same cells, the class of each table, and rectangles of these tables."""

    within: ColumnCells
    tables: tuple[CrossTable, ...]
    classes: Ints
    rectangles: Rectangles

    @property
    def cells(self) -> int:
        """The numbers that are counted: the cells of all tables."""
        return sum(table.cells for table in self.tables)

    def copy(self) -> TableWorkload:
        """The same in arrays of their own, because the method may still write to its arrays."""
        tables = tuple(CrossTable(one.columns, tuple(map_.copy() for map_ in one.maps)) for one in self.tables)
        return TableWorkload(self.within.copy(), tables, self.classes.copy(), self.rectangles.copy())

    def fits(self, domain: object) -> bool:
        """Whether this is a workload about a table of this domain (sizes of the attributes, number of classes)."""
        if type(domain) is not tuple or type(self.within) is not ColumnCells or type(self.rectangles) is not Rectangles:
            return False
        if not self.within.fits(columns_of(*domain)) or not are_tables(self.tables, self.within.shape):
            return False
        columns = np.array([len(table.columns) for table in self.tables])
        if (columns > 2).any() or not is_int64_array(self.classes, len(self.tables)):
            return False
        known = np.isin(self.classes, (ONE_COLUMN, TOGETHER, APART)) & ((self.classes == ONE_COLUMN) == (columns == 1))
        return bool(known.all()) and self.rectangles.fits(self.tables)


@dataclass(frozen=True, eq=False)
class SetWorkload(_Arrays):
    """Questions about sets: how many records hold each of `items`, and all of groups[starts[i]:starts[i + 1]].

    Items are in bands, from place bands[i] to before bands[i + 1]. The first `together` groups are one class, the
    others another.
    """

    items: Ints
    bands: Ints
    starts: Ints
    groups: Ints
    together: int

    @property
    def cells(self) -> int:
        return len(self.items) + len(self.starts) - 1

    def fits(self, domain: object) -> bool:
        """Whether these are questions about items of this taxonomy."""
        size = getattr(domain, "size", 0)
        known = is_int64_array(self.items, np.size(self.items)) and len(self.items) <= MOST_QUESTIONS
        if not known or not is_int64_array(self.groups, np.size(self.groups)):
            return False
        if not _are_starts(self.starts, len(self.groups), 1) or not self._fit_bands():
            return False
        if type(self.together) is not int or not 0 <= self.together < len(self.starts):
            return False
        every = np.concatenate([self.items, self.groups])
        return bool((every >= 0).all() and (every < size).all())

    def _fit_bands(self) -> bool:
        """Whether every item is in one band, and no band is empty."""
        if type(self.bands) is not np.ndarray or not is_int64_array(self.bands, self.bands.size) or not len(self.bands):
            return False
        return bool(self.bands[0] == 0 and self.bands[-1] == len(self.items) and (np.diff(self.bands) > 0).all())


@dataclass(frozen=True, eq=False)
class SequenceWorkload(_Arrays):
    """Questions about sequences: how many contain the symbols of a pair, in this order. Of the first `near` pairs the
    second symbol follows the first directly, of the others at any distance."""

    pairs: Ints
    near: int

    @property
    def cells(self) -> int:
        return len(self.pairs)

    def fits(self, domain: object) -> bool:
        """Whether these are questions about symbols of this domain."""
        known = type(self.pairs) is np.ndarray and self.pairs.dtype == np.int64 and self.pairs.ndim == 2
        if not known or self.pairs.shape[1] != 2 or len(self.pairs) > MOST_QUESTIONS or type(self.near) is not int:
            return False
        inside = (self.pairs >= 0) & (self.pairs < getattr(domain, "symbols", 0))
        return bool(inside.all()) and 0 <= self.near <= len(self.pairs)


ASKED = (PARENTS, CHILDREN, LATER)
"""The views that questions about a release's own error are about, a class each."""


@dataclass(frozen=True, eq=False)
class FamilyWorkload(_Arrays):
    """Questions about families, ordered by view: question i asks how many families have a record of view views[i] whose
    code in column columns[i, j] is from low[i, j] to below high[i, j], for j = 0 and 1."""

    views: Ints
    columns: Ints
    low: Ints
    high: Ints

    @property
    def cells(self) -> int:
        return len(self.views)

    def fits(self, domain: object) -> bool:
        """Whether these are questions about the views of such families."""
        number = np.size(self.views)
        if type(domain) is not FamilyDomain or not is_int64_array(self.views, number) or number > MOST_QUESTIONS:
            return False
        parts = (self.columns, self.low, self.high)
        if not all(type(part) is np.ndarray and part.dtype == np.int64 and part.shape == (number, 2) for part in parts):
            return False
        if not np.isin(self.views, ASKED).all() or (np.diff(self.views) < 0).any():
            return False
        for view in ASKED:
            sizes, mine = np.array(domain.sizes(view)), self.views == view
            columns = self.columns[mine]
            if (columns < 0).any() or (columns >= len(sizes)).any():
                return False
            low, high = self.low[mine], self.high[mine]
            if ((low < 0) | (low >= high) | (high > sizes[columns])).any():
                return False
        return True

    def of(self, view: int) -> Ints:
        """The numbers of the questions about a view."""
        return np.flatnonzero(self.views == view)

    def pairs_of(self, view: int) -> list[Ints]:
        """The numbers of the questions about each pair of columns of a view."""
        mine = self.of(view)
        _, pair = np.unique(self.columns[mine], axis=0, return_inverse=True)
        return [mine[pair.reshape(-1) == number] for number in range(int(pair.max(initial=-1)) + 1)]


def columns_of(sizes: tuple[int, ...], classes: int) -> tuple[int, ...]:
    """How many codes each column has, the class as the last one where there is one.

    >>> columns_of((4, 2), 3), columns_of((4, 2), 1)
    ((4, 2, 3), (4, 2))
    """
    return (*sizes, classes) if classes > 1 else sizes


def _are_starts(starts: object, end: int, least: int) -> bool:
    """Whether these divide `end` conditions among at most MOST_QUESTIONS questions of `least` to MOST_CONDITIONS."""
    if type(starts) is not np.ndarray or not is_int64_array(starts, starts.size):
        return False
    if not 1 <= len(starts) <= MOST_QUESTIONS + 1 or starts[0] or starts[-1] != end:
        return False
    each = np.diff(starts)
    return bool((each >= least).all() and (each <= MOST_CONDITIONS).all())


def fingerprint(workload: TableWorkload | SetWorkload | SequenceWorkload | FamilyWorkload) -> str:
    """SHA-256 of a workload; the same questions in the same order have the same hash."""
    digest = hashlib.sha256()
    if isinstance(workload, SequenceWorkload):
        parts = [workload.pairs[: workload.near].reshape(-1), workload.pairs[workload.near :].reshape(-1)]
    elif not isinstance(workload, TableWorkload):
        parts = [np.reshape(part, -1) for part in vars(workload).values()]
    else:
        parts = [*workload.within.edges, workload.classes, *vars(workload.rectangles).values()]
        parts += [part for table in workload.tables for part in (np.array(table.columns), *table.maps)]
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(np.ascontiguousarray(part, dtype="<i8").tobytes())
    return digest.hexdigest()


# ---- counts ---------------------------------------------------------------------------------------------------


def count_table(workload: TableWorkload, columns: Sequence[Codes], *, compiled: bool | None = None) -> Ints:
    """All numbers of a workload over records given by their codes, one array per column."""
    return count_within(workload.within, workload.tables, columns, compiled=compiled)


def count_within(
    within: ColumnCells, tables: Sequence[CrossTable], columns: Sequence[Codes], *, compiled: bool | None = None
) -> Ints:
    """The counts of the cells of tables over records given by their codes, one array per column. Unless the caller has
    decided it, the number of records decides whether kernels count."""
    if compiled is None:  # not for fewer records: a release counts only one or two workloads
        compiled = kernel_choice.worth_loading(len(columns[0]))
    counts, locate = np.zeros(sum(table.cells for table in tables), dtype=np.int64), within.locator()
    for first in range(0, len(columns[0]), _SLICE):
        cells = locate([column[first : first + _SLICE] for column in columns])
        counts += count_tables(cells, tables, compiled=compiled)
    return counts


def count_sets(workload: SetWorkload, starts: Ints, items: Codes) -> Ints:
    """All numbers of a workload over records given as ragged rows of item codes, none twice in a row."""
    counts = [np.zeros(len(workload.items), np.int64), np.zeros(len(workload.starts) - 1, np.int64)]
    most = int(max(items.max(initial=-1), workload.items.max(initial=-1), workload.groups.max(initial=-1))) + 1
    counts[0] += np.bincount(items, minlength=most)[workload.items]
    used, number = np.unique(workload.groups), len(workload.starts) - 1
    place = np.full(most, len(used), dtype=np.int64)  # all other items share a row that is not used
    place[used] = np.arange(len(used))
    asked = _padded(workload.starts, place[workload.groups], MOST_CONDITIONS)
    for first in range(0, len(starts) - 1 if number else 0, _PACKED):
        block = starts[first : first + _PACKED + 1]
        record = np.repeat(np.arange(len(block) - 1), np.diff(block))
        holds = np.zeros((len(used) + 1, _PACKED), dtype=np.bool_)
        holds[place[items[block[0] : block[-1]]], record] = True
        packed = np.packbits(holds, axis=1).view(np.uint64)  # 64 records per word
        yes = packed[asked[0]]
        for rows in asked[1:]:
            yes &= packed[rows]
        counts[1] += popcount(yes).sum(axis=1)
    return np.concatenate(counts)


def count_families(workload: FamilyWorkload, view: int, columns: Sequence[Codes], family: Ints) -> Ints:
    """The numbers of families for the questions about one view, given its records by column, family after family, and
    the family of each record."""
    counts = np.zeros(len(workload.of(view)), dtype=np.int64)
    for place, number in enumerate(workload.of(view).tolist()):
        held = np.ones(len(family), dtype=np.bool_)
        for column, low, high in zip(
            workload.columns[number].tolist(),
            workload.low[number].tolist(),
            workload.high[number].tolist(),
            strict=True,
        ):
            held &= (columns[column] >= low) & (columns[column] < high)
        having = family[held]
        counts[place] = np.count_nonzero(np.diff(having, prepend=-1))
    return counts


def _padded(starts: Ints, values: Ints, length: int) -> Ints:
    """The first `length` values of all rows of a ragged table; a shorter row repeats its first one."""
    sizes = np.diff(starts)
    return np.stack([values[starts[:-1] + np.where(sizes > k, k, 0)] for k in range(length)])

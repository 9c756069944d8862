"""Public families of counting questions, and counts of the records that satisfy them: private records in engines,
released ones in post-processing.

A *workload* holds all questions about a release's own error (own_error.py). Questions about a table are conditions on
cells of one to three columns; if a table has a class, it is one more column, the last. Questions about sets are items,
pairs and triples of items.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cantle.trusted import kernel_choice
from cantle.trusted.arrays import Codes, Words
from cantle.trusted.geometry.boxes import Bools, Ints, is_int64_array
from cantle.trusted.geometry.count_tables import count_tables
from cantle.trusted.geometry.cross_tables import ColumnCells, CrossTable, are_tables

MOST_QUESTIONS = 10_000
"""Most questions of one kind."""

MOST_CONDITIONS = 3
"""Most columns or items of one question."""

_BLOCK = 1 << 17  # records counted together: their cells stay in the cache
_PACKED = 1 << 13  # sets counted together: their items, one bit each, stay in the cache
_SLICE = 1 << 20  # records whose cells are found together


@dataclass(frozen=True, eq=False)
class Questions:
    """Counting questions. Question i has the conditions from starts[i] to starts[i + 1] - 1. It counts the records that
    meet all of these: condition j holds if the record's cell of column[j] is at least lo[j] and below hi[j]."""

    starts: Ints
    column: Ints
    lo: Ints
    hi: Ints

    def __len__(self) -> int:
        return len(self.starts) - 1

    def copy(self) -> Questions:
        """The same in arrays of their own."""
        return Questions(self.starts.copy(), self.column.copy(), self.lo.copy(), self.hi.copy())

    def fits(self, sizes: tuple[int, ...]) -> bool:
        """Whether these are questions about columns with these numbers of cells."""
        conditions = np.size(self.column)
        if not _are_starts(self.starts, conditions, 1):
            return False
        if not all(is_int64_array(part, conditions) for part in (self.column, self.lo, self.hi)):
            return False
        if not conditions:
            return True
        if (self.column < 0).any() or (self.column >= len(sizes)).any():
            return False
        most = np.array(sizes, dtype=np.int64)[self.column]
        return bool((self.lo >= 0).all() and (self.lo < self.hi).all() and (self.hi <= most).all())


@dataclass(frozen=True, eq=False)
class TableWorkload:
    """Questions about one column, questions about several, and tables of pairs of columns, all over the same cells."""

    within: ColumnCells
    one_column: Questions
    more_columns: Questions
    pairs: tuple[CrossTable, ...]

    @property
    def cells(self) -> int:
        """The numbers that are counted: one per question, then the cells of all tables."""
        return len(self.one_column) + len(self.more_columns) + sum(table.cells for table in self.pairs)

    def copy(self) -> TableWorkload:
        """The same in arrays of their own, because the method may still write to its arrays."""
        pairs = tuple(CrossTable(one.columns, tuple(map_.copy() for map_ in one.maps)) for one in self.pairs)
        return TableWorkload(self.within.copy(), self.one_column.copy(), self.more_columns.copy(), pairs)

    def fits(self, domain: object) -> bool:
        """Whether this is a workload about a table of this domain (sizes of the attributes, number of classes)."""
        if type(domain) is not tuple or type(self.within) is not ColumnCells:
            return False
        if not self.within.fits(columns_of(*domain)):
            return False
        for family in (self.one_column, self.more_columns):
            if type(family) is not Questions or not family.fits(self.within.sizes):
                return False
        return self.pairs == () or are_tables(self.pairs, self.within.sizes)


@dataclass(frozen=True, eq=False)
class SetWorkload:
    """Questions about sets: how many records hold each of `items`, and all of groups[starts[i]:starts[i + 1]]."""

    items: Ints
    starts: Ints
    groups: Ints

    @property
    def cells(self) -> int:
        return len(self.items) + len(self.starts) - 1

    def copy(self) -> SetWorkload:
        """The same in arrays of their own."""
        return SetWorkload(self.items.copy(), self.starts.copy(), self.groups.copy())

    def fits(self, domain: object) -> bool:
        """Whether these are questions about items of this taxonomy."""
        size = getattr(domain, "size", 0)
        known = is_int64_array(self.items, np.size(self.items)) and len(self.items) <= MOST_QUESTIONS
        if not known or not is_int64_array(self.groups, np.size(self.groups)):
            return False
        if not _are_starts(self.starts, len(self.groups), 1):
            return False
        every = np.concatenate([self.items, self.groups])
        return bool((every >= 0).all() and (every < size).all())


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


def fingerprint(workload: TableWorkload | SetWorkload) -> str:
    """SHA-256 of a workload; the same questions in the same order have the same hash."""
    digest = hashlib.sha256()
    if isinstance(workload, SetWorkload):
        parts: list[Codes] = [workload.items, workload.starts, workload.groups]
    else:
        families = (workload.one_column, workload.more_columns)
        parts = [*workload.within.edges]
        parts += [part for one in families for part in (one.starts, one.column, one.lo, one.hi)]
        parts += [part for table in workload.pairs for part in (np.array(table.columns), *table.maps)]
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(np.ascontiguousarray(part, dtype="<i8").tobytes())
    return digest.hexdigest()


# ---- counts ---------------------------------------------------------------------------------------------------


def count_table(workload: TableWorkload, columns: Sequence[Codes], *, compiled: bool | None = None) -> Ints:
    """All numbers of a workload over records given by their codes, one array per column. Unless the caller has decided
    it, the number of records decides whether kernels count."""
    if compiled is None:  # not for fewer records: a release counts only one or two workloads
        compiled = kernel_choice.worth_loading(len(columns[0]))
    counts = np.zeros(workload.cells, dtype=np.int64)
    for first in range(0, len(columns[0]), _SLICE):
        cells = workload.within.locate([column[first : first + _SLICE] for column in columns])
        asked = [count_questions(cells, one, compiled=compiled) for one in (workload.one_column, workload.more_columns)]
        counts += np.concatenate([*asked, count_tables(cells, workload.pairs, compiled=compiled)])
    return counts


def count_questions(cells: Codes, questions: Questions, *, compiled: bool = False) -> Ints:
    """How many records satisfy each question; `cells` has one row per column. Kernels return the same counts."""
    if not compiled or not len(questions):
        return count_plainly(cells, questions)
    from cantle.trusted.geometry import _count_kernels

    # Many questions share a condition, which is checked once.
    every = np.stack([questions.column, questions.lo, questions.hi])
    (column, lo, hi), place = np.unique(every, axis=1, return_inverse=True)
    asked = _padded(questions.starts, place.reshape(-1), MOST_CONDITIONS)
    return _count_kernels.count_questions(cells, column, lo, hi - lo - 1, asked)


def count_plainly(cells: Codes, questions: Questions) -> Ints:
    """The specification of `count_questions`."""
    counts = np.zeros(len(questions), dtype=np.int64)
    alone = np.diff(questions.starts) == 1
    at = questions.starts[:-1][alone]
    counts[alone] = _count_spans(cells, questions.column[at], questions.lo[at], questions.hi[at])
    column, lo, last = questions.column.tolist(), questions.lo.tolist(), (questions.hi - questions.lo - 1).tolist()
    others = np.flatnonzero(~alone)
    starts, ends = questions.starts[others].tolist(), questions.starts[others + 1].tolist()
    spans = list(zip(others.tolist(), starts, ends, strict=True))
    for first in range(0, cells.shape[1], _BLOCK):
        block = [row[first : first + _BLOCK] for row in cells]
        for number, begin, end in spans:
            yes = _inside(block[column[begin]], lo[begin], last[begin])
            for j in range(begin + 1, end):
                yes &= _inside(block[column[j]], lo[j], last[j])
            counts[number] += np.count_nonzero(yes)
    return counts


def _count_spans(cells: Codes, column: Ints, lo: Ints, hi: Ints) -> Ints:
    """How many records have a cell from lo to before hi in a column, from the counts of all its cells."""
    counts = np.zeros(len(column), dtype=np.int64)
    for number in np.unique(column).tolist():
        here = column == number
        each = np.bincount(cells[number], minlength=int(hi[here].max()))
        below = np.concatenate([np.zeros(1, np.int64), np.cumsum(each)])
        counts[here] = below[hi[here]] - below[lo[here]]
    return counts


def _inside(cells: Codes, lo: int, last: int) -> Bools:
    """Whether cells are from lo to lo + last: as unsigned numbers, those below lo wrap around to large ones."""
    return np.asarray((cells - cells.dtype.type(lo)) <= cells.dtype.type(last))


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
        counts[1] += _ones(yes)
    return np.concatenate(counts)


def _padded(starts: Ints, values: Ints, length: int) -> Ints:
    """The first `length` values of all rows of a ragged table; a shorter row repeats its first one."""
    sizes = np.diff(starts)
    return np.stack([values[starts[:-1] + np.where(sizes > k, k, 0)] for k in range(length)])


def _ones(words: Words) -> Ints:
    """How many bits are set in each row of words: bits are added up in pairs, fours and bytes, then the bytes."""
    for shift, bits in ((1, 0x55), (2, 0x33), (4, 0x0F)):
        mask = np.uint64(bits * 0x0101010101010101)
        words = (words & mask) + (words >> np.uint64(shift) & mask)
    return np.asarray(words.view(np.uint8).sum(axis=1, dtype=np.int64))

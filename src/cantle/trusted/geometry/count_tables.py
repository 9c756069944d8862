"""Counts of many cross tables over the same records, given by their cells: private ones in engines, drafted ones in
post-processing.

The compiled form makes one pass over blocks of records per table; the numpy form here specifies it. With many records,
both count a few joint tables, and the wanted ones are added up from these.

Joint tables are a few larger tables of which many tables of two columns are sums. Counting takes one pass over the
records per table. A table of three or more columns has the tables of all its pairs as sums, because every record is in
exactly one of its cells; so a few joint tables replace many passes. Which tables are joined follows from their shapes,
which are public, and does not change a count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np

from cantle import kernel_choice
from cantle.trusted.core.arrays import Bools, Codes
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.cross_tables import CrossTable, Map

MOST_CELLS = 4096
"""Most cells of a joint table of several wanted ones: their counts stay in the cache."""


class Axes:
    """The different axes of some tables, each a column and a map cell -> group. Tables share many of them."""

    def __init__(self, tables: Sequence[CrossTable]) -> None:
        self.columns: list[int] = []
        self.maps: list[Map] = []
        self._known: dict[tuple[int, bytes], int] = {}
        self.members = [list(map(self._number, table.columns, table.maps)) for table in tables]
        """The axes of each table."""

    def _number(self, column: int, map_: Map) -> int:
        number = self._known.setdefault((column, map_.tobytes()), len(self.maps))
        if number == len(self.maps):
            self.columns.append(column)
            self.maps.append(map_)
        return number

    def table(self, axes: Sequence[int]) -> CrossTable:
        """The table of these axes."""
        return CrossTable(tuple(self.columns[axis] for axis in axes), tuple(self.maps[axis] for axis in axes))


@dataclass(frozen=True, eq=False)
class JointTables:
    """The tables to count instead of the wanted ones. Wanted table i is the sum of `tables[home[i]]` over all of its
    axes but those at `places[i]`."""

    tables: tuple[CrossTable, ...]
    home: tuple[int, ...]
    places: tuple[list[int], ...]

    def add_up(self, counts: Ints) -> Ints:
        """The counts of the wanted tables, one after the other, from those of the joint tables."""
        each = np.split(counts, np.cumsum([table.cells for table in self.tables])[:-1])
        sums = [np.zeros(0, dtype=np.int64)]
        for home, places in zip(self.home, self.places, strict=True):
            shape = self.tables[home].shape
            first = np.moveaxis(each[home].reshape(shape), places, range(len(places)))
            sums.append(first.reshape(*(shape[place] for place in places), -1).sum(axis=-1).reshape(-1))
        return np.concatenate(sums)


def joined(wanted: Sequence[CrossTable]) -> JointTables:
    """Joint tables for the wanted tables of two columns; other tables are counted as they are."""
    axes = Axes(wanted)
    sizes = np.array([int(map_[-1]) + 1 for map_ in axes.maps], dtype=np.int64)
    waiting = np.zeros((len(sizes), len(sizes)), dtype=np.bool_)
    for pair in axes.members:
        if len(pair) == 2:
            waiting[pair, pair[::-1]] = True
    groups, home, owner = list[list[int]](), list[int](), np.zeros(waiting.shape, dtype=np.int64)
    for members in axes.members:
        if len(members) != 2:
            home.append(len(groups))
            groups.append(members)
            continue
        first, second = members
        if waiting[first, second]:
            group = _grown(members, waiting, sizes)
            within = np.ix_(group, group)
            waiting[within], owner[within] = False, len(groups)
            groups.append(group)
        home.append(int(owner[first, second]))
    places = tuple([groups[at].index(axis) for axis in members] for at, members in zip(home, axes.members, strict=True))
    return JointTables(tuple(map(axes.table, groups)), tuple(home), places)


def _grown(pair: list[int], waiting: Bools, sizes: Ints) -> list[int]:
    """A pair of axes, and one more axis after the other while the table is small and contains more waiting pairs."""
    group, cells = list(pair), int(np.prod(sizes[pair]))
    while True:
        gain = np.where(sizes * cells <= MOST_CELLS, waiting[:, group].sum(axis=1), 0)
        gain[group] = 0
        if not gain.any():
            return group
        best = np.flatnonzero(gain == gain.max())
        axis = int(best[np.argmax(sizes[best])])  # small axes are left for tables that are nearly full
        group.append(axis)
        cells *= int(sizes[axis])


COMPILED_FROM = 2000
"""Records from which on kernels pay off, if there are many tables."""

MANY = 32
"""From this number on, tables count as many."""


JOINED_FROM = 1 << 15
"""Records from which on it takes less time to add up tables than to count them."""


def count_tables(cells: Codes, tables: Sequence[CrossTable], *, compiled: bool | None = None) -> Ints:
    """The counts of each table, one table after the other; `cells` has one row per column.

    Whether kernels count is decided here, unless the caller has decided it. The counts are the same either way.
    """
    if compiled is None:
        compiled = pays(cells.shape[1], len(tables))
    if cells.shape[1] < JOINED_FROM:
        return _count(cells, tables, compiled)
    joint = joined(tables)
    return joint.add_up(_count(cells, joint.tables, compiled))


def _count(cells: Codes, tables: Sequence[CrossTable], compiled: bool) -> Ints:
    if tables and compiled:
        from cantle.trusted.geometry import _count_kernels

        return _count_kernels.count_tables(cells, tables)
    return count_tables_plainly(cells, tables)


def count_codes(codes: Codes, size: int, *, compiled: bool) -> Ints:
    """How many records have each of `size` codes. Kernels count codes of one byte."""
    if compiled and codes.dtype == np.uint8 and codes.flags.c_contiguous:
        from cantle.trusted.geometry import _count_kernels

        return _count_kernels.count_codes(codes, size)
    return np.bincount(codes, minlength=size).astype(np.int64)


def pays(records: int, tables: int) -> bool:
    """Whether kernels pay off for tables of which there will be more, as in the rounds of `mosaic`."""
    if kernel_choice.worth_loading(records):
        return True
    return records >= COMPILED_FROM and tables >= MANY and find_spec("numba") is not None


def count_tables_plainly(cells: Codes, tables: Sequence[CrossTable]) -> Ints:
    """The specification of `count_tables`."""
    counts = [np.zeros(0, dtype=np.int64)]
    for table in tables:
        counts.append(np.bincount(cells_in(table, cells), minlength=table.cells).astype(np.int64))
    return np.concatenate(counts)


def cells_in(table: CrossTable, cells: Codes) -> Ints:
    """The cell of a table in which each record lies."""
    entry = np.zeros(cells.shape[1], dtype=np.int64)
    for column, map_, groups in zip(table.columns, table.maps, table.shape, strict=True):
        entry *= groups
        entry += map_[cells[column]]
    return entry


def flatten(tables: Sequence[CrossTable]) -> tuple[Ints, Codes, Ints, Ints, Ints, Ints]:
    """Tables as arrays: the columns and the maps of their different axes; where the axes of each table begin, these
    axes and their numbers of groups; and where each table's counts begin."""
    axes = Axes(tables)
    most = max(map(len, axes.maps))
    maps = np.zeros((len(axes.maps), most), dtype=np.result_type(*axes.maps))
    for row, map_ in zip(maps, axes.maps, strict=True):
        row[: len(map_)] = map_
    begins = np.cumsum([0, *map(len, axes.members)], dtype=np.int64)
    members = np.array([axis for one in axes.members for axis in one], dtype=np.int64)
    groups = np.array([size for table in tables for size in table.shape], dtype=np.int64)
    starts = np.cumsum([0, *(table.cells for table in tables)], dtype=np.int64)
    return np.array(axes.columns, dtype=np.int64), maps, begins, members, groups, starts

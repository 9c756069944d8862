"""Counts of many cross tables over the same records, given by their cells: private ones in engines, drafted ones in
post-processing.

The compiled form makes one pass over blocks of records per table; the numpy form here specifies it.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

import numpy as np

from cantle import kernel_choice
from cantle.trusted.core.arrays import Codes
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.cross_tables import CrossTable, Map


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


COMPILED_FROM = 2000
"""Records from which on kernels pay off, if there are many tables."""

MANY = 32
"""From this number on, tables count as many."""


def count_tables(cells: Codes, tables: Sequence[CrossTable], *, compiled: bool | None = None) -> Ints:
    """The counts of each table, one table after the other; `cells` has one row per column.

    Whether kernels count is decided here, unless the caller has decided it. The counts are the same either way.
    """
    if compiled is None:
        compiled = pays(cells.shape[1], len(tables))
    if tables and compiled:
        from cantle.trusted.geometry import _count_kernels

        return _count_kernels.count_tables(cells, tables)
    return count_tables_plainly(cells, tables)


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

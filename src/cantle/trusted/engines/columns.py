"""The column engine: records by column, never moved, for questions about the whole data and the cells of grids.

Grid tables are counted in an array if the table is not much larger than the data, otherwise by sorting the entries.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, NoReturn

import numpy as np
import numpy.typing as npt

from cantle.trusted.arrays import Codes
from cantle.trusted.engines.base import Chunk, WholeTables
from cantle.trusted.engines.packing import Layout
from cantle.trusted.engines.table_counts import count_cells, count_columns, count_key
from cantle.trusted.geometry.boxes import Cuts, Ints
from cantle.trusted.geometry.cross_tables import ColumnCells
from cantle.trusted.geometry.grid import Grid
from cantle.trusted.geometry.span_values import LOOKED_UP
from cantle.trusted.geometry.subset import copy_numbers
from cantle.trusted.geometry.workloads import TableWorkload
from cantle.trusted.keys import Classes, CodeTable, GridBins, GridCells, OneWays, Sizes, TableKey
from cantle.trusted.table_keys import CELL_KEYS, LeafCounts, TableCounts

DENSE = 1 << 20
"""Tables of up to this many entries, or twice the records, are counted in an array of that size."""


class ColumnEngine(WholeTables):
    """Counts over one array of codes per attribute; there is one region, the whole domain."""

    keys: ClassVar[tuple[type, ...]] = (Sizes, Classes, OneWays, *CELL_KEYS)

    def __init__(
        self,
        columns: list[Codes],
        classes: Codes,
        *,
        sizes: tuple[int, ...],
        class_count: int,
        compiled: bool = False,
    ) -> None:
        self.sizes, self.classes = sizes, class_count
        self._columns, self._class = columns, classes
        self._grid: Grid | None = None
        self._cells = 0
        self._entry: Codes = np.zeros(0, np.int64)
        self._tables: dict[int, tuple[Ints, Ints]] = {}
        self._located_in: tuple[ColumnCells, Codes] | None = None
        self._copy: Ints | None = None
        self.compiled = compiled
        if self.compiled and not all(map(_are_below, (*columns, classes), (*sizes, class_count))):
            raise ValueError("codes must be below the sizes of their attributes")

    def __repr__(self) -> str:
        return "ColumnEngine()"

    def __reduce__(self) -> NoReturn:
        raise TypeError("an engine holds private records and cannot be pickled")

    def close(self) -> None:
        del self._columns, self._class, self._entry, self._tables, self._located_in, self._copy
        self._kept = None

    def keep_all(self) -> None:
        """Does nothing: the only region is never split."""

    def count_all(self, workload: TableWorkload) -> Ints:
        return count_columns(workload, self._columns, self._class)

    def _tally(self, positions: Ints, key: TableKey) -> Iterator[Chunk]:
        if not len(positions):
            return
        match key:
            case Sizes():
                yield 0, 1, np.array([[len(self._class)]], dtype=np.int64)
            case Classes():
                yield 0, 1, np.bincount(self._class, minlength=key.classes).reshape(1, -1)
            case OneWays():
                parts = [self._one_way(a, size, key.classes) for a, size in zip(key.attributes, key.sizes, strict=True)]
                yield 0, 1, np.concatenate(parts).reshape(1, -1)
            case _:
                raise NotImplementedError("a column engine has one region, which is never split")

    def _cell_counts(self, key: TableCounts | LeafCounts) -> Ints:
        """Counts of cross tables or leaves; the cells of all records are kept, because they are needed many times.

        Cells are compared by their edges, never by identity, as grids are.
        """
        if isinstance(key, TableCounts) and key.subset is not None:
            if self._copy is None:  # the same for every subset
                self._copy = copy_numbers(Layout(self.sizes, self.classes).pack(self._columns, self._class))
            used = np.flatnonzero(key.subset.takes_part(self._columns, self._copy))
            return count_key(key, [column[used] for column in self._columns])
        if self._located_in is None or not self._located_in[0].same(key.within):
            self._located_in = key.within.copy(), key.within.locate(self._columns)
        return count_cells(key, self._located_in[1])

    def _one_way(self, attribute: int, size: int, classes: int) -> Ints:
        column = self._columns[attribute]
        entry = column if classes == 1 else column.astype(np.int64) * classes + self._class
        return np.bincount(entry, minlength=size * classes)

    def split(self, positions: Ints, cuts: Cuts) -> None:
        raise NotImplementedError("a column engine has one region, which is never split")

    def occupied(self, key: GridCells | CodeTable) -> tuple[Ints, Ints]:
        """The occupied entries of a key, ascending, and their counts."""
        if isinstance(key, GridCells):
            self.place(key.grid)
            return _occupied(self._entry, key.cells)
        if key.attribute not in self._tables:  # needed in every round, and never changes
            entry = self._columns[key.attribute].astype(np.int64) * key.classes + self._class
            self._tables[key.attribute] = _occupied(entry, key.size * key.classes)
        return self._tables[key.attribute]

    def dense(self, key: GridBins) -> Ints:
        """All counts of the placed grid by bin, shape (cells, classes, width)."""
        # A binned grid has at most 2^26 entries (JointSplits.fits).
        cells, size, column = self._cells, self.sizes[key.attribute], self._columns[key.attribute]
        if self.compiled and size <= LOOKED_UP:
            from cantle.trusted.engines import _kernels

            counts = np.zeros(cells * key.classes * key.width, dtype=np.int64)
            _kernels.count_bins(self._entry, column, _table(key, size), key.width, counts)
            return counts.reshape(cells, key.classes, key.width)
        entry = self._entry.astype(np.int32, copy=False) * np.int32(key.width)
        entry += _bins(key, size, column)
        return np.bincount(entry, minlength=cells * key.classes * key.width).reshape(cells, key.classes, key.width)

    def place(self, grid: Grid) -> None:
        """Finds cell * classes + class of each record, and keeps it for the counts of the next round.

        Grids are compared by their edges, never by identity, because a grid could have been changed in between.
        """
        if self._grid is None or not self._grid.same(grid):
            self._grid, self._cells = grid.copy(), grid.cells
            kind: type[np.integer] = np.int32 if self._cells * self.classes < 2**31 else np.int64
            self._entry = self._located(kind) if self.compiled else self._entries().astype(kind, copy=False)

    def _entries(self) -> Ints:
        """cell * classes + class of each record."""
        assert self._grid is not None
        cell = self._grid.locate(self._columns) if self._columns else np.zeros(len(self._class), dtype=np.int64)
        return cell * self.classes + self._class

    def _located(self, kind: type[np.integer]) -> Codes:
        """The same by kernels, attribute by attribute, with tables of what each code adds to the entry."""
        from cantle.trusted.engines import _kernels

        assert self._grid is not None
        entry, step = self._class.astype(kind), self.classes
        for edge, column in reversed(list(zip(self._grid.edges, self._columns, strict=True))):
            spans = len(edge) - 1
            if spans > 1 and edge[-1] > LOOKED_UP:
                entry += ((np.searchsorted(edge, column, side="right") - 1) * step).astype(kind)
            elif spans > 1:
                _kernels.add_spans(entry, column, np.repeat(np.arange(spans) * step, np.diff(edge)).astype(kind))
            step *= spans
        return entry


def _are_below(column: Codes, size: int) -> bool:
    """Whether all codes are in the domain, as the encoder's are: kernels use them as positions in arrays."""
    return not len(column) or (int(column.max()) < size and int(column.min()) >= 0)


def _table(key: GridBins, size: int) -> npt.NDArray[np.int32]:
    """The place of each code within its span."""
    return np.repeat(key.number.astype(np.int32), np.diff(key.starts, append=size))


def _bins(key: GridBins, size: int, column: Codes) -> npt.NDArray[np.int32]:
    """The place of each record's code within its span, from a table of all codes if that is small."""
    if size <= LOOKED_UP:
        return np.take(_table(key, size), column, mode="clip")  # codes are below size; "clip" only saves the check
    return key.number[np.searchsorted(key.starts, column, side="right") - 1].astype(np.int32)


def _occupied(entry: Codes, entries: int) -> tuple[Ints, Ints]:
    if entries <= max(DENSE, 2 * len(entry)):
        counts = np.bincount(entry, minlength=entries)
        listed = np.flatnonzero(counts)
        return listed, counts[listed]
    entry = np.sort(entry)
    first = np.flatnonzero(np.diff(entry, prepend=-1))
    return entry[first].astype(np.int64, copy=False), np.diff(first, append=len(entry))

"""The memory engine: row-major codes, physically ordered by region, counted in cache-sized chunks of regions.

Moving the rows at every split keeps each region's records together, so that a level is counted by one pass of
`bincount` per attribute over contiguous rows; an index permutation is several times slower, and a whole level at
once would allocate gigabytes. `benchmarks/speed.py` measures whole runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NoReturn, assert_never

import numpy as np

from cantle.trusted.arrays import Bools, Codes
from cantle.trusted.engines.base import Chunk, TableEngine, Tables
from cantle.trusted.engines.table_counts import count_rows
from cantle.trusted.geometry.boxes import Cuts, Ints
from cantle.trusted.geometry.workloads import TableWorkload
from cantle.trusted.keys import (
    ChildSizes,
    Classes,
    OneWayEach,
    OneWays,
    Sizes,
    TableKey,
)

CHUNK_CELLS = 1 << 18
"""Cells of counts held at once: two megabytes, about a core's cache."""

BLOCK = 1 << 19
"""Codes counted at once, unless there are more cells than that."""


class MemoryEngine(Tables):
    """Counts over arrays of codes (records, attributes) and classes (records,)."""

    def __init__(
        self,
        codes: Codes,
        classes: Codes,
        *,
        sizes: tuple[int, ...],
        class_count: int,
        chunk_cells: int = CHUNK_CELLS,
    ) -> None:
        self.sizes, self.classes = sizes, class_count
        self._codes, self._class = np.ascontiguousarray(codes), np.ascontiguousarray(classes)
        self._starts: Ints = np.array([0, len(codes)], dtype=np.int64)
        self._chunk_cells = chunk_cells
        self._all: tuple[Codes, Codes] | None = None

    def __repr__(self) -> str:
        return "MemoryEngine()"

    def __reduce__(self) -> NoReturn:
        raise TypeError("an engine holds private records and cannot be pickled")

    def close(self) -> None:
        del self._codes, self._class, self._starts, self._all

    def keep_all(self) -> None:
        self._all = self._codes, self._class  # a split makes new arrays

    def count_all(self, workload: TableWorkload) -> Ints:
        assert self._all is not None
        return count_rows(workload, *self._all)

    def tally(self, positions: Ints, key: TableKey) -> Iterator[Chunk]:
        step = max(1, self._chunk_cells // key.cells)
        for first in range(0, len(positions), step):
            last = min(first + step, len(positions))
            yield first, last, self._count(positions[first:last], first, key)

    def _rows(self, positions: Ints) -> tuple[slice | Ints, Ints]:
        """Rows of the listed regions, and for each row its region's number within the list."""
        lengths = self._starts[positions + 1] - self._starts[positions]
        local = np.repeat(np.arange(len(positions)), lengths)
        if len(positions) and positions[-1] - positions[0] + 1 == len(positions):
            return slice(self._starts[positions[0]], self._starts[positions[-1] + 1]), local
        ends = np.cumsum(lengths)
        return np.arange(len(local)) - np.repeat(ends - lengths - self._starts[positions], lengths), local

    def _count(self, positions: Ints, first: int, key: TableKey) -> Ints:
        """Counts of the regions at these positions, which begin at place `first` of the question."""
        nodes = len(positions)
        match key:
            case Sizes():
                return (self._starts[positions + 1] - self._starts[positions]).reshape(nodes, 1)
            case Classes():
                rows, local = self._rows(positions)
                return _bincount(local, self._class[rows], key.classes, nodes)
            case OneWays():
                return self._one_ways(positions, key)
            case OneWayEach():
                rows, local = self._rows(positions)
                attribute = key.attribute[first : first + nodes]
                value = self._codes[rows][np.arange(len(local)), attribute[local]]
                return _bincount(local, self._joint(value, rows, key.classes), key.cells, nodes)
            case ChildSizes():
                rows, local = self._rows(positions)
                cuts = Cuts(key.cuts.attribute[first : first + nodes], key.cuts.point[first : first + nodes])
                return _bincount(local, cuts.label(self._codes[rows], local), 2, nodes)
            case _:
                assert_never(key)

    def _joint(self, value: Codes, rows: slice | Ints, classes: int) -> Codes:
        """The cell (code, class) of each row; the code alone when the class is left out."""
        return value if classes == 1 else value.astype(np.int64) * classes + self._class[rows]

    def _one_ways(self, positions: Ints, key: OneWays) -> Ints:
        rows, local = self._rows(positions)
        codes, labels, attributes = _at(self._codes, rows), self._class[rows], list(key.attributes)
        if attributes != list(range(self._codes.shape[1])):
            codes = codes[:, attributes]
        counts = np.zeros((len(positions), key.cells), dtype=np.int64)
        step = max(1, max(BLOCK, counts.size) // max(1, len(attributes)))
        for first in range(0, len(local), step):
            some = slice(first, first + step)
            cell = np.multiply(codes[some], key.classes, dtype=np.int64)  # in place from here on, to save memory
            cell += key.offsets[:-1] * key.classes
            cell += (local[some] * key.cells + (labels[some] if key.classes > 1 else 0))[:, None]
            counts += np.bincount(cell.reshape(-1), minlength=counts.size).reshape(counts.shape)
        return counts

    def split(self, positions: Ints, cuts: Cuts) -> None:
        rows, local = self._rows(positions)
        codes, classes = _at(self._codes, rows), self._class[rows]
        child = 2 * local + cuts.label(codes, local)
        # Rows are in region order already, so this stable sort only divides each region in two.
        order = np.argsort(child, kind="stable")
        lengths = np.bincount(child, minlength=2 * len(positions))
        self._codes, self._class = _at(codes, order), classes[order]
        self._starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _at(codes: Codes, rows: slice | Ints) -> Codes:
    """These rows; `take` moves whole rows, an index moves value by value."""
    return codes[rows] if isinstance(rows, slice) else codes.take(rows, axis=0)


def _bincount(local: Ints, cell: Codes | Bools, cells: int, nodes: int) -> Ints:
    """Counts (nodes, cells) of rows given by region and cell."""
    flat = local * cells + cell
    return np.bincount(flat, minlength=nodes * cells).reshape(nodes, cells)


def open_rows(codes: Codes, classes: Codes, *, sizes: tuple[int, ...], class_count: int, compiled: bool) -> TableEngine:
    """This engine, or the one with kernels."""
    if compiled:
        from cantle.trusted.engines.rows_compiled import CompiledEngine

        return CompiledEngine(codes, classes, sizes=sizes, class_count=class_count)
    return MemoryEngine(codes, classes, sizes=sizes, class_count=class_count)

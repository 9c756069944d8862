"""The memory engine with compiled kernels: the same answers as the plain engine, faster.

A record is one row: its codes, its class, and padding to whole 64-bit words, so that it moves as words. Rows are moved
in place; a region is the rows from its start to its end, and rows of closed regions stay where they are, unused.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NoReturn, assert_never

import numpy as np

from cantle.trusted.arrays import Codes
from cantle.trusted.engines import _kernels
from cantle.trusted.engines.base import Chunk, Tables
from cantle.trusted.engines.table_counts import count_rows
from cantle.trusted.geometry.boxes import Cuts, Ints
from cantle.trusted.geometry.workloads import TableWorkload
from cantle.trusted.keys import ChildSizes, Classes, OneWayEach, OneWays, Sizes, TableKey

CHUNK_CELLS = 1 << 18
"""Counts or scores at a time: few enough to stay in the cache and in memory that is already allocated."""


class CompiledEngine(Tables):
    """Counts over arrays of codes (records, attributes) and classes (records,); the arrays given are not kept."""

    compiled = True

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
        self._label, self._chunk_cells = len(sizes), chunk_cells
        largest = max(*sizes, class_count, 1) if sizes else class_count
        kind = np.min_scalar_type(largest - 1) if largest <= 2**32 else np.dtype(np.int64)
        words = -(-(self._label + 1) * kind.itemsize // 8)
        self._words = np.zeros((len(codes), words), dtype=np.uint64)
        self._rows = self._words.view(kind)
        every = np.array([*sizes, class_count], dtype=np.int64)
        if not _kernels.pack(np.ascontiguousarray(codes), np.ascontiguousarray(classes), every, self._rows):
            raise ValueError("codes must be below the sizes of their attributes")
        self._start, self._end = np.zeros(1, np.int64), np.full(1, len(codes), np.int64)
        self._room = np.empty(0, dtype=np.int64)

    def __repr__(self) -> str:
        return "CompiledEngine()"

    def __reduce__(self) -> NoReturn:
        raise TypeError("an engine holds private records and cannot be pickled")

    def close(self) -> None:
        del self._words, self._rows, self._start, self._end, self._room

    def keep_all(self) -> None:
        """Does nothing: rows of closed regions stay where they are."""

    def count_all(self, workload: TableWorkload) -> Ints:
        return count_rows(workload, self._rows[:, : self._label], self._rows[:, self._label])

    def tally(self, positions: Ints, key: TableKey) -> Iterator[Chunk]:
        step = max(1, self._chunk_cells // key.cells)
        for first in range(0, len(positions), step):
            last = min(first + step, len(positions))
            counts = np.zeros((last - first, key.cells), dtype=np.int64)
            self._count(positions[first:last], slice(first, last), key, counts)
            yield first, last, counts

    def _count(self, positions: Ints, here: slice, key: TableKey, counts: Ints) -> None:
        """Writes to `counts` those of the regions at these positions, which are the part `here` of the question."""
        where = self._start[positions], self._end[positions]
        match key:
            case Sizes():
                counts[:, 0] = where[1] - where[0]
            case Classes():
                _kernels.count_classes(self._rows, self._label, *where, counts)
            case OneWays():
                attributes = np.array(key.attributes, dtype=np.int64)
                _kernels.count_one_ways(self._rows, self._label, *where, attributes, key.offsets, key.classes, counts)
            case OneWayEach():
                attribute = key.attribute[here].copy()
                _kernels.count_each(self._rows, self._label, *where, attribute, key.classes, counts)
            case ChildSizes():
                attribute, point = key.cuts.attribute[here].copy(), key.cuts.point[here].copy()
                _kernels.count_children(self._rows, *where, attribute, point, counts)
            case _:
                assert_never(key)

    def cut_scores(
        self, positions: Ints, lo: Ints, hi: Ints, only: Ints | None, classes: int, weights: tuple[int, int]
    ) -> Iterator[Chunk]:
        """Counts and scores all cuts (of attribute `only`) of the listed regions, as base.py specifies."""
        cuts = np.maximum(hi - lo - 1, 0)
        each = cuts.sum(axis=1) if only is None else cuts[np.arange(len(cuts)), only]
        sizes = np.array(self.sizes, dtype=np.int64)
        for first, last in _runs(each, self._chunk_cells):
            some, scores = positions[first:last], self._room_for(int(each[first:last].sum()))
            _kernels.score_cuts(
                self._rows, self._words, self._label, self._start[some], self._end[some], lo[first:last].copy(),
                hi[first:last].copy(), _part(only, first, last), *weights, classes, sizes, scores,
            )  # fmt: skip
            yield first, last, scores

    def _room_for(self, scores: int) -> Ints:
        """Memory that is kept and reused: allocating new memory costs more than writing to it."""
        if len(self._room) < scores:
            self._room = np.empty(max(scores, self._chunk_cells), dtype=np.int64)
        return self._room[:scores]

    def split(self, positions: Ints, cuts: Cuts) -> None:
        start, end = self._start[positions], self._end[positions]
        middle = np.empty(len(positions), dtype=np.int64)
        _kernels.part(self._rows, self._words, start, end, cuts.attribute.copy(), cuts.point.copy(), middle)
        self._start = np.stack([start, middle], axis=1).reshape(-1)
        self._end = np.stack([middle, end], axis=1).reshape(-1)


def _part(only: Ints | None, first: int, last: int) -> Ints:
    return np.zeros(0, dtype=np.int64) if only is None else only[first:last].copy()


def _runs(each: Ints, most: int) -> Iterator[tuple[int, int]]:
    """Runs of whole regions with at most this many candidates, or one larger region."""
    ends, first = np.cumsum(each), 0
    while first < len(each):
        before = ends[first] - each[first]
        last = max(first + 1, int(np.searchsorted(ends, before + most, side="right")))
        yield first, last
        first = last

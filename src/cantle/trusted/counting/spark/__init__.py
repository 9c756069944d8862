"""The Spark engine: workers count, the driver adds up. Needs the extra `spark` (PySpark 4) and Java.

Each partition holds parts, cached on the workers: the records of a word engine (cantle.trusted.counting.words), region
by region. A question is one job: every worker asks the engines of its parts, workers add up partial counts in a tree
(tree.py), and the driver adds the last few. A split sends only the rules of the last level and makes a new cached set
of parts. When a worker is lost, Spark rebuilds its parts from the source and the rules of all levels, so reading the
source again must return the same records. An engine adds no noise: the driver's curator adds it to the sums.

What Spark caches or spills on its workers is private: anyone who can read its folders can read codes (docs/engines.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from cantle.trusted.bounding.persons import PERSON
from cantle.trusted.claims.table_queries import CrossTables
from cantle.trusted.core.keys import CodeTable, GridBins, GridCells
from cantle.trusted.core.private import Private
from cantle.trusted.counting.base import Chunk
from cantle.trusted.counting.packing import merged
from cantle.trusted.counting.spark import workers
from cantle.trusted.counting.spark.cluster import is_running, load, nothing_of, reading, running, select, session
from cantle.trusted.counting.spark.workers import (
    Counts,
    Encode,
    OfPersons,
    Part,
    Work,
)
from cantle.trusted.counting.words import CellKey, TableKey, Tables, WordEngine
from cantle.trusted.geometry.boxes import BoxRule, Ints
from cantle.trusted.geometry.grid import Grid
from cantle.trusted.geometry.workloads import TableWorkload

if TYPE_CHECKING:
    from polars import DataFrame as Frame
    from pyspark import RDD
    from pyspark.sql import DataFrame

__all__ = ["Encode", "OfPersons", "SparkEngine", "is_running", "load", "nothing_of", "reading", "select", "session"]

CHUNK_CELLS = 1 << 18
"""Cells of counts returned together, as in memory."""

FINE = 1 << 24
"""Most counts of a grid by code that are kept, for all attributes together: 128 MB."""

MOST_CELLS, ALL_CELLS = 1 << 23, 1 << 26
"""Most cells that a worker counts in one job, and that may reach one place together: at most half a gigabyte."""


class SparkEngine(Private, Tables):
    """Counts over a Spark data frame whose batches `records` turns into codes, on the workers."""

    def __init__(
        self,
        frame: DataFrame,
        records: Encode | OfPersons,
        *,
        sizes: tuple[int, ...],
        class_count: int,
        own: bool = False,
    ) -> None:
        self.sizes, self.classes = sizes, class_count
        self._own = own
        self._session = frame.sparkSession
        with running():
            self._parts = _kept(self._opened(frame, records))
            partitions = self._parts.getNumPartitions()
        self._cells = min(MOST_CELLS, ALL_CELLS // max(1, min(partitions, workers.MOST)))
        self._older: list[RDD[Part]] = []
        self._all: RDD[Part] | None = None
        self._grid: Grid | None = None
        self._fine: dict[int, Ints] | None = None
        self._known: dict[int, tuple[Ints, Ints]] = {}

    def _opened(self, frame: DataFrame, records: Encode | OfPersons) -> RDD[Part]:
        """The records as parts; if persons are bounded, all records of a person are in the same part (Claim 40)."""
        if not isinstance(records, OfPersons):
            return workers.unpickled(frame.mapInArrow(workers.packer(records, self.domain), "part binary"))
        rows: RDD[Frame] = workers.unpickled(frame.mapInArrow(workers.each(records.encode), "part binary"))
        return workers.grouped(rows, PERSON).mapPartitions(workers.bounder(self.domain, records.max_records))

    def close(self) -> None:
        held = [self._parts, *self._older, *([] if self._all is None else [self._all])]
        del self._parts, self._all, self._older, self._known, self._fine
        self._kept = None
        with running():
            for parts in held:
                parts.unpersist()
            if self._own:
                self._session.stop()

    # ---- the protocol -------------------------------------------------------------------------------------

    def keep_all(self) -> None:
        self._all = self._parts

    def count_all(self, workload: TableWorkload) -> Ints:
        assert self._all is not None
        return self._summed(self._all, workload.cells, lambda engine: engine.count_all(workload))

    def _tally(self, positions: Ints, key: TableKey) -> Iterator[Chunk]:
        most, step = max(1, self._cells // key.cells), max(1, CHUNK_CELLS // key.cells)
        for start in range(0, len(positions), most):
            exact_counts = self._count(positions[start : start + most], start, key)
            for first in range(0, len(exact_counts), step):
                last = min(first + step, len(exact_counts))
                yield start + first, start + last, exact_counts[first:last]

    def _count(self, positions: Ints, first: int, key: TableKey) -> Ints:
        """Counts of the regions at these positions, which begin at place `first` of the question."""
        cells = len(positions) * key.cells
        counts = self._summed(self._parts, cells, lambda engine: engine.count(positions, first, key).reshape(-1))
        return counts.reshape(len(positions), key.cells)

    def split(self, positions: Ints, rule: BoxRule) -> None:
        if self._parts is not self._all:
            self._older.append(self._parts)
        self._parts = _kept(self._parts.mapPartitions(workers.moved(self.domain, positions, rule)))

    def occupied(self, key: GridCells | CodeTable) -> tuple[Ints, Ints]:
        """The occupied entries of a key, ascending, and their counts."""
        if isinstance(key, GridCells):
            return merged(self._listed(key))
        if key.attribute not in self._known:  # needed in every round, and never changes
            self._known[key.attribute] = merged(self._listed(key))
        return self._known[key.attribute]

    def _listed(self, key: GridCells | CodeTable) -> list[Counts]:
        return self._ask(self._parts, workers.listed(self.domain, lambda engine: engine.occupied(key)))

    def place(self, grid: Grid) -> None:
        """Sets the grid of the next questions; grids are compared by their edges."""
        if self._grid is None or not self._grid.same(grid):
            self._grid, self._fine = grid.copy(), None

    def dense(self, key: GridBins) -> Ints:
        """All counts of the placed grid by bin, shape (cells, classes, width)."""
        assert self._grid is not None
        if self._fine is None:
            self._fine = self._counted_by_code(self._grid)
        if key.attribute not in self._fine:
            (counts,) = self._binned(self._grid, [key])
            return counts.reshape(self._grid.cells, key.classes, key.width)
        fine = self._fine[key.attribute].reshape(self._grid.cells, key.classes, -1)
        bins = np.add.reduceat(fine, key.starts, axis=2)
        counts = np.zeros((*fine.shape[:2], key.width), dtype=np.int64)
        for i, number in enumerate(key.number.tolist()):  # bins of one number are in different cells
            counts[:, :, number] += bins[:, :, i]
        return counts

    def _counted_by_code(self, grid: Grid) -> dict[int, Ints]:
        """The counts of a grid by class and code, in one job for all attributes, because a round needs all of them; an
        attribute of very many codes is left out, and counted by bin."""
        kept, together = list[GridBins](), 0
        for size, attribute in sorted((size, attribute) for attribute, size in enumerate(self.sizes)):
            together += grid.cells * self.classes * size
            if together > FINE:
                break
            codes = np.arange(size)
            kept.append(GridBins(attribute, codes, codes, size, self.classes))
        return {key.attribute: counts for key, counts in zip(kept, self._binned(grid, kept), strict=True)}

    def _binned(self, grid: Grid, keys: list[GridBins]) -> list[Ints]:
        """All counts by bin of several attributes."""
        sizes = [grid.cells * key.classes * key.width for key in keys]

        def count(engine: WordEngine) -> Ints:
            engine.place(grid)
            return np.concatenate([engine.dense(key).reshape(-1) for key in keys])

        return np.split(self._summed(self._parts, sum(sizes), count), np.cumsum(sizes)[:-1]) if keys else []

    def _cell_counts(self, key: CellKey) -> Ints:
        """Counts of cross tables or leaves, in one job; for a subset, equal records are first brought together."""
        parts = self._parts
        if isinstance(key, CrossTables) and key.subset is not None:
            number = max(1, parts.getNumPartitions())
            parts = parts.flatMap(workers.sorter(number)).groupByKey(number).values().map(workers.gathered)
        return self._summed(parts, key.cells, lambda engine: next(engine.tally(np.zeros(1, np.int64), key))[2][0])

    # ---- jobs ---------------------------------------------------------------------------------------------

    def _summed(self, parts: RDD[Part], cells: int, count: Callable[[WordEngine], Ints]) -> Ints:
        """All counts, added up over the parts."""
        counts = np.zeros(cells, dtype=np.int64)
        for at, more in self._ask(parts, workers.summed(self.domain, cells, count)):
            counts[at] += more
        return counts

    def _ask(self, parts: RDD[Part], work: Work[Part, Counts]) -> list[Counts]:
        """The counts of all partitions, added up until few are left."""
        with running():
            answers = workers.collected(parts.mapPartitions(work), lambda one, two: merged([one, two]))
            for old in self._older:  # the newest parts are complete now
                old.unpersist()
        self._older = []
        return answers


def _kept(parts: RDD[Part]) -> RDD[Part]:
    from pyspark import StorageLevel

    return parts.persist(StorageLevel.MEMORY_AND_DISK)

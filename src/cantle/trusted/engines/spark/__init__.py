"""The Spark engine: workers count, the driver adds up. Needs the extra `spark` (PySpark 4) and Java.

Each partition holds its records as words with the number of each record's region (cantle.trusted.engines.packing),
cached on the workers. A question is one job: every worker runs the kernel on its partitions, workers add up partial
counts in a tree (tree.py), and the driver adds the last few. A split sends only the rules of the last level and makes a
new cached set of parts. When a worker is lost, Spark rebuilds its parts from the source and the rules of all levels, so
reading the source again must return the same records. An engine adds no noise: the driver's curator adds it to the
sums.

What Spark caches or spills on its workers is private: anyone who can read its folders can read codes (docs/engines.md).
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import numpy as np

from cantle.errors import EngineError
from cantle.trusted.engines.base import Chunk, Tables
from cantle.trusted.engines.packing import GridTally, Layout, Tally, add_sparse, merged, numbers
from cantle.trusted.engines.spark import cluster, tree, workers
from cantle.trusted.engines.spark.cluster import is_running, load, nothing_of, reading, select, session
from cantle.trusted.engines.spark.workers import (
    Counts,
    Encode,
    Group,
    Held,
    OfPersons,
    Part,
    Result,
    Sent,
    WithPersons,
    Work,
)
from cantle.trusted.geometry.boxes import Cuts, Ints
from cantle.trusted.geometry.grid import Grid
from cantle.trusted.geometry.workloads import TableWorkload
from cantle.trusted.keys import CodeTable, GridBins, GridCells, TableKey
from cantle.trusted.table_keys import LeafCounts, TableCounts

if TYPE_CHECKING:
    from pyspark import RDD
    from pyspark.sql import DataFrame

__all__ = ["Encode", "OfPersons", "SparkEngine", "is_running", "load", "nothing_of", "reading", "select", "session"]

CHUNK_CELLS = 1 << 18
"""Cells of counts returned together, as in memory."""

MOST_CELLS, ALL_CELLS = 1 << 23, 1 << 26
"""Most cells that a worker counts in one job, and that may reach one place together: at most half a gigabyte."""

Asked = TypeVar("Asked")


class SparkEngine(Tables):
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
        self._layout, self._own = Layout(sizes, class_count), own
        self._session = frame.sparkSession
        self._errors = cluster.errors()
        with self._guarded():
            self._context = self._session.sparkContext
            self._parts = _kept(self._opened(frame, records))
            partitions = self._parts.getNumPartitions()
        self._cells = min(MOST_CELLS, ALL_CELLS // max(1, min(partitions, tree.MOST)))
        self._regions, self._older = 1, list["RDD[Part]"]()
        self._all: RDD[Part] | None = None
        self._grid: Grid | None = None
        self._counted: GridTally | None = None
        self._known: dict[int, tuple[Ints, Ints]] = {}

    def _opened(self, frame: DataFrame, records: Encode | OfPersons) -> RDD[Part]:
        """The records as parts; if persons are bounded, all records of a person are in the same part (Claim 40)."""
        if not isinstance(records, OfPersons):
            return _unpickled(frame.mapInArrow(workers.packer(records, self._layout), "part binary"))
        held: RDD[WithPersons] = _unpickled(
            frame.mapInArrow(workers.person_packer(records.encode, self._layout), "part binary")
        )
        number = max(1, held.getNumPartitions())
        groups: RDD[tuple[int, Iterable[WithPersons]]] = held.flatMap(workers.person_sorter(number)).groupByKey(number)
        return groups.mapPartitions(workers.bounder(self._layout, records.max_records))

    def __repr__(self) -> str:
        return "SparkEngine()"

    def __reduce__(self) -> NoReturn:
        raise TypeError("an engine holds private records and cannot be pickled")

    def close(self) -> None:
        held = [self._parts, *self._older, *([] if self._all is None else [self._all])]
        del self._parts, self._all, self._older, self._known, self._counted
        self._kept = None
        with self._guarded():
            for parts in held:
                parts.unpersist()
            if self._own:
                self._session.stop()

    # ---- the protocol -------------------------------------------------------------------------------------

    def keep_all(self) -> None:
        self._all = self._parts

    def count_all(self, workload: TableWorkload) -> Ints:
        assert self._all is not None
        partial = self._ask(self._all, workers.workload_counter, (self._layout, workload), np.add)
        return sum(partial, np.zeros(workload.cells, np.int64))

    def _tally(self, positions: Ints, key: TableKey) -> Iterator[Chunk]:
        most, step = max(1, self._cells // key.cells), max(1, CHUNK_CELLS // key.cells)
        for start in range(0, len(positions), most):
            end = min(start + most, len(positions))
            number = numbers(positions[start:end], self._regions)
            tally = Tally(self._layout, key, end - start, start)
            for part in self._ask(self._parts, workers.counter, (self._layout, key, number, start), add_sparse):
                tally.merge(part)
            exact_counts = tally.table()
            for first in range(start, end, step):
                last = min(first + step, end)
                yield first, last, exact_counts[first - start : last - start]

    def split(self, positions: Ints, cuts: Cuts) -> None:
        rules = self._context.broadcast((self._layout, numbers(positions, self._regions), cuts))
        if self._parts is not self._all:
            self._older.append(self._parts)
        self._parts = _kept(self._parts.mapPartitions(workers.mover(rules)))
        self._regions = 2 * len(positions)

    def occupied(self, key: GridCells | CodeTable) -> tuple[Ints, Ints]:
        """The occupied entries of a key, ascending, and their counts."""
        if isinstance(key, GridCells):
            return merged(self._listed(key))
        if key.attribute not in self._known:  # needed in every round, and never changes
            self._known[key.attribute] = merged(self._listed(key))
        return self._known[key.attribute]

    def _listed(self, key: GridCells | CodeTable) -> list[Counts]:
        return self._ask(self._parts, workers.lister, (self._layout, key), workers.add_listed)

    def place(self, grid: Grid) -> None:
        """Sets the grid of the next questions; grids are compared by their edges."""
        if self._grid is None or not self._grid.same(grid):
            self._grid, self._counted = grid.copy(), None

    def dense(self, key: GridBins) -> Ints:
        """All counts of the placed grid by bin, shape (cells, classes, width)."""
        assert self._grid is not None
        if self._counted is None:
            self._counted = GridTally(self._layout, self._grid)
            for part in self._ask(self._parts, workers.grid_counter, (self._layout, self._grid), add_sparse):
                self._counted.merge(part)
        if self._counted.has(key.attribute):
            return self._counted.dense(key)
        counts = np.zeros(self._grid.cells * key.classes * key.width, dtype=np.int64)
        question = self._layout, key, self._grid, len(counts)
        for at, more in self._ask(self._parts, workers.binner, question, workers.add_listed):
            counts[at] += more
        return counts.reshape(self._grid.cells, key.classes, key.width)

    def _cell_counts(self, key: TableCounts | LeafCounts) -> Ints:
        """Counts of cross tables or leaves, in one job; for a subset, equal records are first brought together."""
        answers: list[Counts]
        if isinstance(key, TableCounts) and key.subset is not None:
            number = max(1, self._parts.getNumPartitions())
            groups: RDD[Group] = self._parts.flatMap(workers.sorter(number)).groupByKey(number)
            answers = self._ask(groups, workers.copy_counter, (self._layout, key), workers.add_listed)
        else:
            answers = self._ask(self._parts, workers.cell_counter, (self._layout, key), workers.add_listed)
        counts = np.zeros(key.cells, dtype=np.int64)
        for at, more in answers:
            counts[at] += more
        return counts

    # ---- jobs ---------------------------------------------------------------------------------------------

    def _ask(
        self,
        parts: RDD[Held],
        work: Callable[[Sent[Asked]], Work[Held, Result]],
        question: Asked,
        add: Callable[[Result, Result], Result],
    ) -> list[Result]:
        """The answers of all partitions, added up until few are left; the question is sent once per worker."""
        with self._guarded():
            sent = self._context.broadcast(question)
            answers = tree.collected(parts.mapPartitions(work(sent)), add)
            sent.destroy()
            for old in self._older:  # the newest parts are complete now
                old.unpersist()
        self._older = []
        return answers

    def _guarded(self) -> cluster.hushed:
        """Replaces Spark's errors by a fixed message, because they may quote values."""
        why = "the source cannot be read, or the cluster is gone; Spark's own log says which"
        return cluster.hushed(self._errors, lambda _: EngineError(f"the Spark job failed: {why}"))


def _unpickled(packed: DataFrame) -> RDD[Any]:
    return packed.rdd.map(lambda row: pickle.loads(row[0]))


def _kept(parts: RDD[Part]) -> RDD[Part]:
    from pyspark import StorageLevel

    return parts.persist(StorageLevel.MEMORY_AND_DISK)

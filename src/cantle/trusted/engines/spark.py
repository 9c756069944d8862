"""The Spark engine: workers count, the driver adds up. Needs the extra `spark` (PySpark 4) and Java.

Each partition holds its records as words with the number of each record's region (cantle.trusted.engines.packing),
cached on the workers. A question is one job: every worker runs the kernel on its partitions and sends partial counts. A
split sends only the rules of the last level and makes a new cached set of parts. When a worker is lost, Spark rebuilds
its parts from the source and the rules of all levels, so the source must give the same records when it is read again.
An engine adds no noise: the driver's curator adds it to the sums.

What Spark caches or spills on its workers is private; whoever can enter its folders can read codes (docs/engines.md).
"""

from __future__ import annotations

import os
import pickle
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

import numpy as np

from cantle._arrays import Codes
from cantle.errors import DataError, EngineError, MissingExtra, ParameterError, raise_alone, replacing
from cantle.trusted.engines.base import Chunk, Tables
from cantle.trusted.engines.packing import (
    GridTally,
    Layout,
    Tally,
    Words,
    add_bins,
    merged,
    numbers,
    occupied,
    split_words,
)
from cantle.trusted.engines.table_counts import count_all_words, count_words, with_copies
from cantle.trusted.geometry.boxes import Cuts, Ints
from cantle.trusted.geometry.grid import Grid
from cantle.trusted.geometry.workloads import TableWorkload
from cantle.trusted.keys import CodeTable, GridBins, GridCells, Key
from cantle.trusted.mixing import scramble
from cantle.trusted.table_keys import HeapCounts, LeafCounts, TableCounts

BLOCK = 1 << 18
"""Records of a part."""

CHUNK_CELLS = 1 << 18
"""Cells of counts returned together, as in memory."""

MOST_CELLS, ALL_CELLS = 1 << 23, 1 << 26
"""Most cells that a worker counts in one job, and that all partitions may send: at most half a gigabyte."""

Part = tuple[Words, Codes]
"""Words, and the number of each record's region."""

Encode = Callable[[Any], tuple[Sequence[Codes], Codes]]
"""An Arrow batch as columns of codes and classes; runs on the workers."""


class SparkEngine(Tables):
    """Counts over a Spark data frame whose batches `encode` turns into codes."""

    def __init__(
        self, frame: Any, encode: Encode, *, sizes: tuple[int, ...], class_count: int, own: bool = False
    ) -> None:
        self.sizes, self.classes = sizes, class_count
        self._layout, self._own = Layout(sizes, class_count), own
        self._session = frame.sparkSession
        self._errors = _errors()
        with self._guarded():
            self._context = self._session.sparkContext
            packed = frame.mapInArrow(_packer(encode, self._layout), "part binary").rdd
            self._parts = _kept(packed.map(lambda row: pickle.loads(row[0])))
            partitions = self._parts.getNumPartitions()
        self._cells = min(MOST_CELLS, ALL_CELLS // max(1, partitions))
        self._regions, self._older = 1, list[Any]()
        self._all: Any = None
        self._grid: Grid | None = None
        self._counted: GridTally | None = None
        self._known: dict[int, tuple[Ints, Ints]] = {}

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
        return sum(self._ask(self._all, _workload_counter, self._layout, workload), np.zeros(workload.cells, np.int64))

    def tally(self, positions: Ints, key: Key | TableCounts | LeafCounts | HeapCounts) -> Iterator[Chunk]:
        if isinstance(key, TableCounts | LeafCounts):
            yield 0, 1, self._cell_counts(key).reshape(1, -1)
            return
        if isinstance(key, HeapCounts):
            yield 0, 1, key.counted(self.occupied).reshape(1, -1)
            return
        most, step = max(1, self._cells // key.cells), max(1, CHUNK_CELLS // key.cells)
        for start in range(0, len(positions), most):
            end = min(start + most, len(positions))
            number = numbers(positions[start:end], self._regions)
            tally = Tally(self._layout, key, end - start, start)
            for part in self._ask(self._parts, _counter, self._layout, key, number, start):
                tally.merge(part)
            exact_counts = tally.table()
            for first in range(start, end, step):
                last = min(first + step, end)
                yield first, last, exact_counts[first - start : last - start]

    def split(self, positions: Ints, cuts: Cuts) -> None:
        rules = self._context.broadcast((self._layout, numbers(positions, self._regions), cuts))
        if self._parts is not self._all:
            self._older.append(self._parts)
        self._parts = _kept(self._parts.mapPartitions(_mover(rules)))
        self._regions = 2 * len(positions)

    def occupied(self, key: GridCells | CodeTable) -> tuple[Ints, Ints]:
        """The occupied entries of a key, ascending, and their counts."""
        if isinstance(key, GridCells):
            return merged(self._ask(self._parts, _lister, self._layout, key))
        if key.attribute not in self._known:  # asked again every round, and never changes
            self._known[key.attribute] = merged(self._ask(self._parts, _lister, self._layout, key))
        return self._known[key.attribute]

    def place(self, grid: Grid) -> None:
        """Sets the grid of the next questions; grids are compared by their edges."""
        if self._grid is None or not self._grid.same(grid):
            self._grid, self._counted = grid.copy(), None

    def dense(self, key: GridBins) -> Ints:
        """All counts of the placed grid by bin, shape (cells, classes, width)."""
        assert self._grid is not None
        if self._counted is None:
            self._counted = GridTally(self._layout, self._grid)
            for part in self._ask(self._parts, _grid_counter, self._layout, self._grid):
                self._counted.merge(part)
        if self._counted.has(key.attribute):
            return self._counted.dense(key)
        counts = np.zeros(self._grid.cells * key.classes * key.width, dtype=np.int64)
        for at, more in self._ask(self._parts, _binner, self._layout, key, self._grid, len(counts)):
            counts[at] += more
        return counts.reshape(self._grid.cells, key.classes, key.width)

    def _cell_counts(self, key: TableCounts | LeafCounts) -> Ints:
        """Counts of cross tables or leaves, in one job; where a subset is used equal records come together first."""
        parts, work = self._parts, _cell_counter
        if isinstance(key, TableCounts) and key.subset is not None:
            number = max(1, self._parts.getNumPartitions())
            parts = self._parts.flatMap(_sorter(number)).groupByKey(number)
            work = _copy_counter
        counts = np.zeros(key.cells, dtype=np.int64)
        for at, more in self._ask(parts, work, self._layout, key):
            counts[at] += more
        return counts

    # ---- jobs ---------------------------------------------------------------------------------------------

    def _ask(self, parts: Any, work: Callable[..., Any], *question: Any) -> list[Any]:
        """The answers of all partitions; the question is sent once per worker."""
        with self._guarded():
            sent = self._context.broadcast(question)
            answers: list[Any] = parts.mapPartitions(work(sent)).collect()
            sent.destroy()
            for old in self._older:  # the parts asked are all made now
                old.unpersist()
        self._older = []
        return answers

    def _guarded(self) -> _Hushed:
        """Replaces Spark's errors by a fixed message, because they may quote values."""
        why = "the source cannot be read, or the cluster is gone; Spark's own log says which"
        return _Hushed(self._errors, lambda _: EngineError(f"the Spark job failed: {why}"))


# ---- what the workers run -------------------------------------------------------------------------------------


def _packer(encode: Encode, layout: Layout) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Arrow batches as parts of about BLOCK records, in regions numbered 0."""

    def pack(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        held: list[Words] = []

        def packed() -> Any:
            words = np.concatenate(held, axis=1)
            part = pickle.dumps((words, np.zeros(words.shape[1], dtype=np.uint32)))
            return pyarrow.RecordBatch.from_arrays([pyarrow.array([part], pyarrow.binary())], ["part"])

        for batch in batches:
            held.append(layout.pack(*encode(batch)))
            if sum(words.shape[1] for words in held) >= BLOCK:
                yield packed()
                held.clear()
        if held:
            yield packed()

    return pack


def _counter(question: Any) -> Callable[[Iterator[Part]], Iterator[Any]]:
    """The counts of a key in a partition."""

    def count(parts: Iterator[Part]) -> Iterator[Any]:
        layout, key, number, first = question.value
        tally = Tally(layout, key, int(number.max(initial=-1)) + 1, first)
        for words, node in parts:
            tally.add(words, number[node])
        yield tally.sparse()

    return count


def _cell_counter(question: Any) -> Callable[[Iterator[Part]], Iterator[Any]]:
    """The counts of cross tables or leaves in a partition."""

    def count(parts: Iterator[Part]) -> Iterator[Any]:
        layout, key = question.value
        counts = count_words(layout, key, ((words, None) for words, _ in parts))
        at = np.flatnonzero(counts)
        yield at, counts[at]

    return count


def _workload_counter(question: Any) -> Callable[[Iterator[Part]], Iterator[Any]]:
    """The numbers of a workload in a partition."""

    def count(parts: Iterator[Part]) -> Iterator[Any]:
        layout, workload = question.value
        yield count_all_words(layout, workload, (words for words, _ in parts))

    return count


def _sorter(number: int) -> Callable[[Part], list[tuple[int, Words]]]:
    """Parts of a part by what their records hold, so that equal records go to the same place."""

    def sort(part: Part) -> list[tuple[int, Words]]:
        words, _ = part
        place = np.zeros(words.shape[1], dtype=np.uint64)
        for row in words:
            place = scramble(place ^ row)
        place %= np.uint64(number)
        return [(int(one), words[:, place == one]) for one in np.unique(place)]

    return sort


def _copy_counter(question: Any) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """The counts of cross tables over a subset; a group holds all records with the same words."""

    def count(groups: Iterator[Any]) -> Iterator[Any]:
        layout, key = question.value
        found = (np.concatenate(list(words), axis=1) for _, words in groups)
        layout, key = question.value
        counts = count_words(layout, key, map(with_copies, found))
        at = np.flatnonzero(counts)
        yield at, counts[at]

    return count


def _mover(rules: Any) -> Callable[[Iterator[Part]], Iterator[Part]]:
    """The records that stay, in the children of their regions."""

    def move(parts: Iterator[Part]) -> Iterator[Part]:
        layout, number, cuts = rules.value
        for words, node in parts:
            kept, child = split_words(layout, words, node, number, cuts)
            yield kept, child.astype(np.uint32)

    return move


def _lister(question: Any) -> Callable[[Iterator[Part]], Iterator[Any]]:
    """The occupied entries of a grid or of a table of codes in a partition."""

    def listed(parts: Iterator[Part]) -> Iterator[Any]:
        layout, key = question.value
        if isinstance(key, GridCells):
            yield occupied([layout.locate(words, key.grid) for words, _ in parts])
        else:
            yield occupied([layout.entry(words, key.attribute, key.classes) for words, _ in parts])

    return listed


def _grid_counter(question: Any) -> Callable[[Iterator[Part]], Iterator[Any]]:
    """The counts of a grid by code in a partition."""

    def count(parts: Iterator[Part]) -> Iterator[Any]:
        tally = GridTally(*question.value)
        for words, _ in parts:
            tally.add(words)
        yield tally.sparse()

    return count


def _binner(question: Any) -> Callable[[Iterator[Part]], Iterator[Any]]:
    """The counts of a grid by bin of one attribute in a partition."""

    def count(parts: Iterator[Part]) -> Iterator[Any]:
        layout, key, grid, cells = question.value
        counts = np.zeros(cells, dtype=np.int64)
        for words, _ in parts:
            add_bins(counts, layout, key, grid, words)
        at = np.flatnonzero(counts)
        yield at, counts[at]

    return count


# ---- the cluster ----------------------------------------------------------------------------------------------


def _kept(parts: Any) -> Any:
    from pyspark import StorageLevel

    return parts.persist(StorageLevel.MEMORY_AND_DISK)


class _Hushed(replacing):
    """Replaces errors, and suppresses what PySpark prints before raising them, because it may quote a value."""

    def __enter__(self) -> None:
        from pyspark.logger import PySparkLogger

        self._loggers = [PySparkLogger.getLogger(f"{kind}QueryContextLogger") for kind in ("DataFrame", "SQL")]
        self._before = [logger.disabled for logger in self._loggers]
        for logger in self._loggers:
            logger.disabled = True

    def _leave(self) -> None:
        for logger, was in zip(self._loggers, self._before, strict=True):
            logger.disabled = was


def _errors() -> tuple[type[BaseException], ...]:
    from py4j.protocol import Py4JError, Py4JNetworkError
    from pyspark.errors import PySparkException

    return (Py4JError, Py4JNetworkError, PySparkException, OSError)


def load() -> Any:
    """PySpark's SparkSession; MissingExtra or EngineError if PySpark or Java is missing."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise_alone(MissingExtra("the spark engine needs PySpark, which is not installed; pip install 'cantle[spark]'"))
    home = os.environ.get("JAVA_HOME")
    if not shutil.which("java", path=os.path.join(home, "bin") if home else None):
        raise MissingExtra("the spark engine needs Java 17 or later; install it, or correct JAVA_HOME")
    return SparkSession


def is_running() -> bool:
    """Whether this process has a Spark session already."""
    return load().getActiveSession() is not None


def session() -> Any:
    """The active Spark session, or a new one from Spark's own configuration (local if nothing is configured)."""
    kind = load()
    active = kind.getActiveSession()
    if active is not None:
        return active
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    quiet = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
    try:
        made = kind.builder.appName("cantle").config(map=quiet).getOrCreate()
    except _errors():
        raise_alone(EngineError("Spark does not start; check its configuration, the master's address and JAVA_HOME"))
    made.sparkContext.setLogLevel("OFF")  # its messages may quote what it reads
    return made


def reading(name: str) -> _Hushed:
    """Replaces all of Spark's messages about a source by a fixed one."""
    rule = f"Spark cannot read {name!r}; check the path, or the name of the table."
    return _Hushed(_errors(), lambda _: DataError(rule))


def select(frame: Any, columns: list[str]) -> Any:
    """These columns of a Spark data frame."""
    if ".connect." in type(frame).__module__:
        raise ParameterError("a session of Spark Connect cannot keep parts on its workers; use a classic session")
    with reading("the frame"):
        given = frame.columns
        wrong = ", ".join(repr(name) for name in columns if given.count(name) != 1)
        if wrong:
            raise DataError(f"the Spark frame has no column {wrong}, or more than one; correct the names.")
        return frame.select(*[frame[f"`{name.replace('`', '``')}`"] for name in columns])


def nothing_of(frame: Any) -> Any:
    """The types of a frame: an Arrow table without a record."""
    with reading("the frame"):
        return frame.limit(0).toArrow()

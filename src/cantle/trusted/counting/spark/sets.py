"""Sets on Spark: workers bring the rows of each record together and count; the sums of counts reach the driver.

A long table is sent around once, so that all rows of a record (of a person, if persons are bounded) are in one group;
a column of lists stays where it is. Records are cached on the workers as numbers of items. Partitions of diffpart need
all records at once: for these they are collected into the memory of the driver.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from cantle.errors import EngineError
from cantle.trusted.bounding.persons import places
from cantle.trusted.core.arrays import Codes, Ints
from cantle.trusted.counting.filed_sets import Count, Packed, add_up
from cantle.trusted.counting.spark import cluster, tree
from cantle.trusted.counting.spark.workers import pickled

if TYPE_CHECKING:
    from polars import Series
    from pyarrow import RecordBatch
    from pyspark import RDD
    from pyspark.sql import DataFrame

Rows = tuple[tuple["Series", ...], Codes]
"""The keys of rows (texts, none missing), of which the last one decides their group, and the code of each row's
item."""


@dataclass(frozen=True)
class LongRows:
    """A long table: `encode` turns a batch into rows, `pack` turns all rows of a group into records."""

    encode: Callable[[RecordBatch], Rows]
    pack: Callable[[Rows], Packed]


@dataclass(frozen=True)
class Lists:
    """A column of lists: `pack` turns a batch into records."""

    pack: Callable[[RecordBatch], Packed]


class SparkSets:
    """Records in cached partitions of Spark."""

    def __init__(self, frame: DataFrame, records: LongRows | Lists, *, own: bool = False) -> None:
        from pyspark import StorageLevel

        self._session, self._own, self._errors = frame.sparkSession, own, cluster.errors()
        with self._guarded():
            self._parts = self._opened(frame, records).persist(StorageLevel.MEMORY_AND_DISK)

    def __repr__(self) -> str:
        return "SparkSets()"

    def __reduce__(self) -> NoReturn:
        raise TypeError("private records cannot be pickled")

    def added(self, count: Count) -> Ints:
        """The sum of partial counts, added up in a tree of workers."""
        with self._guarded():
            return add_up(tree.collected(self._parts.mapPartitions(_counter(count)), np.add))

    def everything(self) -> tuple[Ints, Codes]:
        with self._guarded():
            parts = self._parts.collect()
        lengths = np.concatenate([np.zeros(1, np.int64), *(lengths for lengths, _ in parts)])
        return np.cumsum(lengths), np.concatenate([np.zeros(0, np.int32), *(items for _, items in parts)])

    def close(self) -> None:
        with self._guarded():
            self._parts.unpersist()
            if self._own:
                self._session.stop()

    @staticmethod
    def _opened(frame: DataFrame, records: LongRows | Lists) -> RDD[Packed]:
        if isinstance(records, Lists):
            return _unpickled(frame.mapInArrow(_each(records.pack), "part binary"))
        rows: RDD[Rows] = _unpickled(frame.mapInArrow(_each(records.encode), "part binary"))
        number = max(1, rows.getNumPartitions())
        return rows.flatMap(_sorter(number)).groupByKey(number).map(_packer(records.pack))

    def _guarded(self) -> cluster.hushed:
        """Replaces Spark's errors by a fixed message, because they may quote values."""
        why = "the source cannot be read, or the cluster is gone; Spark's own log says which"
        return cluster.hushed(self._errors, lambda _: EngineError(f"the Spark job failed: {why}"))


def _unpickled(packed: DataFrame) -> RDD[Any]:
    return packed.rdd.map(lambda row: pickle.loads(row[0]))


# ---- on the workers ---------------------------------------------------------------------------------------------


def _each(make: Callable[[RecordBatch], object]) -> Callable[[Iterator[RecordBatch]], Iterator[RecordBatch]]:
    return lambda batches: (pickled(make(batch)) for batch in batches)


def _sorter(number: int) -> Callable[[Rows], list[tuple[int, Rows]]]:
    """Divides rows by their last key, so that equal keys go to the same group."""

    def sort(rows: Rows) -> list[tuple[int, Rows]]:
        keys, codes = rows
        place = places(keys[-1], number)
        return [
            (int(one), (tuple(key.filter(place == one) for key in keys), codes[place == one]))
            for one in np.unique(place)
        ]

    return sort


def _packer(pack: Callable[[Rows], Packed]) -> Callable[[tuple[int, Iterable[Rows]]], Packed]:
    """The records of a group, which holds all rows of its keys."""

    def packed(group: tuple[int, Iterable[Rows]]) -> Packed:
        import polars as pl

        keys, codes = zip(*group[1], strict=True)
        return pack((tuple(pl.concat(some) for some in zip(*keys, strict=True)), np.concatenate(codes)))

    return packed


def _counter(count: Count) -> Callable[[Iterable[Packed]], Iterator[Ints]]:
    def counted(packs: Iterable[Packed]) -> Iterator[Ints]:
        nothing = np.zeros(1, np.int64)
        yield add_up(count(np.concatenate([nothing, np.cumsum(lengths)]), items) for lengths, items in packs)

    return counted

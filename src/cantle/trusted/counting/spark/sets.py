"""Sets on Spark: workers bring the rows of each record together and count; the sums of counts reach the driver.

A long table is sent around once, so that all rows of a record (of a person, if persons are bounded) are in one group;
a column of lists stays where it is. Records are cached on the workers as ragged records. Partitions of diffpart need
all records at once: for these they are collected into the memory of the driver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from cantle.trusted.core.arrays import Ints
from cantle.trusted.core.private import Private
from cantle.trusted.counting.ragged import Count, Packed, Ragged, sum_of
from cantle.trusted.counting.spark import cluster
from cantle.trusted.counting.spark.workers import collected, each, grouped, unpickled
from cantle.trusted.counting.stores import InMemory

if TYPE_CHECKING:
    from polars import DataFrame as Frame
    from pyarrow import RecordBatch
    from pyspark import RDD
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class LongRows:
    """A long table: `encode` turns a batch into rows, `pack` turns all rows that share some values of `key` into
    records."""

    encode: Callable[[RecordBatch], Frame]
    key: str
    pack: Callable[[Sequence[Frame]], Packed]


@dataclass(frozen=True)
class Lists:
    """A column of lists: `pack` turns a batch into records."""

    pack: Callable[[RecordBatch], Packed]


class SparkSets(Private):
    """Records in cached partitions of Spark."""

    def __init__(self, frame: DataFrame, records: LongRows | Lists, *, own: bool = False) -> None:
        from pyspark import StorageLevel

        self._session, self._own = frame.sparkSession, own
        with cluster.running():
            self._parts = self._opened(frame, records).persist(StorageLevel.MEMORY_AND_DISK)

    def added(self, count: Count) -> Ints:
        """The sum of partial counts, added up in a tree of workers."""
        with cluster.running():
            return sum_of(collected(self._parts.mapPartitions(_counter(count)), np.add))

    def everything(self) -> Ragged:
        with cluster.running():
            return Ragged.gathered(self._parts.collect(), InMemory())

    def close(self) -> None:
        with cluster.running():
            self._parts.unpersist()
            if self._own:
                self._session.stop()

    @staticmethod
    def _opened(frame: DataFrame, records: LongRows | Lists) -> RDD[Packed]:
        made: RDD[Packed]
        if isinstance(records, Lists):
            made = unpickled(frame.mapInArrow(each(records.pack), "part binary"))
        else:
            rows: RDD[Frame] = unpickled(frame.mapInArrow(each(records.encode), "part binary"))
            made = grouped(rows, records.key).map(records.pack)
        return made


def _counter(count: Count) -> Callable[[Iterable[Packed]], Iterator[Ints]]:
    def counted(packs: Iterable[Packed]) -> Iterator[Ints]:
        start = np.zeros(1, np.int64)
        parts = (count(np.concatenate([start, np.cumsum(lengths)]), codes) for lengths, codes in packs)
        yield sum_of(chain([count(start, np.zeros(0, np.int32))], parts))

    return counted

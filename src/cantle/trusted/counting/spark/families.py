"""Families on Spark: workers join both tables by key and count; the sums of counts reach the driver.

The rows of both tables are sent around once, so that all rows of a key are in one group (Claim 67). Families are cached
on the workers. Each question is one job, in which every worker asks an engine in its memory (counting/families.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar, TypeVar

import numpy as np

from cantle.trusted.bounding.families import Families, Order, families_of
from cantle.trusted.bounding.persons import PERSON
from cantle.trusted.claims.queries import Size
from cantle.trusted.claims.views import ViewTables
from cantle.trusted.core.arrays import Codes
from cantle.trusted.core.keys import CodeTable, GridCells
from cantle.trusted.core.private import Private
from cantle.trusted.counting.base import Chunk
from cantle.trusted.counting.families import FamilyEngine, WholeFamilies
from cantle.trusted.counting.packing import merged
from cantle.trusted.counting.spark import cluster
from cantle.trusted.counting.spark.workers import collected, each, grouped, unpickled
from cantle.trusted.counting.words import CellKey, TableKey, Tables
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.views import FamilyDomain
from cantle.trusted.geometry.workloads import FamilyWorkload

if TYPE_CHECKING:
    from polars import DataFrame as Frame
    from pyarrow import RecordBatch
    from pyspark import RDD
    from pyspark.sql import DataFrame

Joined = tuple[list[Codes], Ints, list[Codes]]
"""The parts of families, which Spark may send to its workers."""

Encode = Callable[["RecordBatch"], "Frame"]
"""An Arrow batch as rows with their keys, those of children marked."""

Listed = tuple[Codes, Codes]
"""Codes that occur, ascending, and their parts."""

Counted = TypeVar("Counted")
ROOT = np.zeros(1, dtype=np.int64)


class SparkFamilies(WholeFamilies):
    """Families in cached partitions of Spark."""

    compiled: ClassVar[bool] = False

    def __init__(
        self, frames: Sequence[DataFrame], encode: Sequence[Encode], domain: FamilyDomain, order: Order, *, own: bool
    ) -> None:
        from pyspark import StorageLevel

        self._session, self._own, self._domain = frames[0].sparkSession, own, domain
        with cluster.running():
            parents, children = (
                unpickled(frame.mapInArrow(each(make), "part binary"))
                for frame, make in zip(frames, encode, strict=True)
            )
            joined = grouped(parents.union(children), PERSON).map(_joiner(domain, order))
            self._parts: RDD[Joined] = joined.persist(StorageLevel.MEMORY_AND_DISK)

    def view(self, view: int) -> SparkView:
        """The records of one view."""
        return SparkView(self, view)

    def tally(self, positions: Ints, key: Size | ViewTables) -> Iterator[Chunk]:  # noqa: ARG002 - the root alone
        """The number of families, or the parts by cell of tables of one view."""
        yield 0, 1, self.added(lambda engine: next(engine.tally(ROOT, key))[2][0], key.cells).reshape(1, -1)

    def count_all(self, workload: FamilyWorkload) -> Ints:
        """The numbers of families for the questions of a workload."""
        return self.added(lambda engine: engine.count_all(workload), workload.cells)

    def added(self, count: Callable[[FamilyEngine], Ints], cells: int) -> Ints:
        """The sum of what the workers count."""
        return np.sum([np.zeros(cells, np.int64), *self.asked(count, np.add)], axis=0, dtype=np.int64)

    def asked(
        self, count: Callable[[FamilyEngine], Counted], add: Callable[[Counted, Counted], Counted]
    ) -> list[Counted]:
        """What the workers count, added up until few are left."""
        domain = self._domain

        def work(parts: Iterable[Joined]) -> Iterator[Counted]:
            for joined in parts:
                yield count(FamilyEngine([Families(*joined)], domain))

        with cluster.running():
            return collected(self._parts.mapPartitions(work), add)

    def close(self) -> None:
        with cluster.running():
            self._parts.unpersist()
            if self._own:
                self._session.stop()


class SparkView(Private, Tables):
    """One view of families on Spark."""

    def __init__(self, families: SparkFamilies, view: int) -> None:
        self._families, self._view = families, view
        self.sizes, self.classes = families.domain.sizes(view), 1

    def _cell_counts(self, key: CellKey) -> Ints:
        view = self._view
        return self._families.added(lambda engine: next(engine.view(view).tally(ROOT, key))[2][0], key.cells)

    def occupied(self, key: GridCells | CodeTable) -> tuple[Ints, Ints]:
        """The codes of a column that occur, ascending, and the parts of each."""
        view = self._view

        def listed(engine: FamilyEngine) -> Listed:
            return engine.view(view).occupied(key)

        return merged(self._families.asked(listed, lambda one, other: merged([one, other])))

    def _tally(self, positions: Ints, key: TableKey) -> Iterator[Chunk]:  # noqa: ARG002 - refused
        raise TypeError("a view answers questions about all of its records only")


def _joiner(domain: FamilyDomain, order: Order) -> Callable[[list[Frame]], Joined]:
    def join(rows: list[Frame]) -> Joined:
        families = families_of(rows, domain, order)
        return families.parent, families.size, families.child

    return join

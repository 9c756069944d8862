"""Partial counts added up in a tree of workers, so that the driver gets few of them, however many partitions there are.

This is Spark's `treeAggregate` with a fixed number of partial counts per place instead of a fixed depth: what the
driver receives and adds does not grow with the number of partitions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from pyspark import RDD

MOST = 8
"""Partial counts that are added up at one place."""

Part = TypeVar("Part")


def collected(parts: RDD[Part], add: Callable[[Part, Part], Part]) -> list[Part]:
    """The partial counts, one per partition, as at most MOST that have the same sum."""
    number = parts.getNumPartitions()
    while number > MOST:
        number = -(-number // MOST)
        parts = parts.mapPartitionsWithIndex(_sender(MOST)).reduceByKey(add, number).values()
    return parts.collect()


def _sender(most: int) -> Callable[[int, Iterable[Part]], Iterator[tuple[int, Part]]]:
    """Names the place at which a partition's counts are added up."""

    def send(partition: int, parts: Iterable[Part]) -> Iterator[tuple[int, Part]]:
        return ((partition // most, part) for part in parts)

    return send

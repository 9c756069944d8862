"""The jobs of the Spark engine: what each worker does with its partitions, by the engine that counts on one machine.

Partial counts are added up in a tree of workers (`collected`), so that the driver gets few of them, however many
partitions there are. This is Spark's `treeAggregate` with a fixed number of partial counts per place instead of a fixed
depth: what the driver receives and adds does not grow with the number of partitions.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from cantle.trusted.bounding.persons import bounded
from cantle.trusted.core.arrays import Codes, Ints, Words
from cantle.trusted.core.keys import Domain
from cantle.trusted.core.mixing import scramble
from cantle.trusted.counting.packing import merged
from cantle.trusted.counting.stores import divided
from cantle.trusted.counting.words import WordEngine
from cantle.trusted.geometry.boxes import BoxRule

if TYPE_CHECKING:
    from polars import DataFrame as Frame
    from pyarrow import RecordBatch
    from pyspark import RDD
    from pyspark.sql import DataFrame

BLOCK = 1 << 22
"""Most records of a part: Spark cannot cache parts of more than two gigabytes."""

Part = tuple[Words, Ints]
"""The records of one word engine, region by region, and where each region begins."""

Counts = tuple[Ints, Ints]
"""Occupied entries, ascending, and their counts: smaller than all counts."""

Encode = Callable[["RecordBatch"], tuple[Sequence[Codes], Codes]]
"""An Arrow batch as columns of codes and classes; runs on the workers."""


@dataclass(frozen=True)
class OfPersons:
    """Batches as rows with persons (cantle.trusted.bounding.persons), and how many of each person are used."""

    encode: Callable[[RecordBatch], Frame]
    max_records: int


Held = TypeVar("Held")
Result = TypeVar("Result")
Work = Callable[[Iterable[Held]], Iterator[Result]]
"""What a worker computes from a partition."""


def packer(encode: Encode, domain: Domain) -> Callable[[Iterator[RecordBatch]], Iterator[RecordBatch]]:
    """Arrow batches as parts of about BLOCK records, in one region."""

    def pack(batches: Iterator[RecordBatch]) -> Iterator[RecordBatch]:
        coded = map(encode, batches)
        for first in coded:  # each round takes as many batches as fit in a part
            yield pickled(_opened(chain([first], _up_to(BLOCK - len(first[1]), coded)), domain).part)

    return pack


def _up_to(records: int, batches: Iterator[tuple[Sequence[Codes], Codes]]) -> Iterator[tuple[Sequence[Codes], Codes]]:
    """Batches until they have this many records."""
    while records > 0 and (batch := next(batches, None)) is not None:
        records -= len(batch[1])
        yield batch


def _opened(batches: Iterable[tuple[Sequence[Codes], Codes]], domain: Domain) -> WordEngine:
    return WordEngine(batches, sizes=domain[0], class_count=domain[1], compiled=False)


def _engine(part: Part, domain: Domain) -> WordEngine:
    return WordEngine.of_part(part, sizes=domain[0], class_count=domain[1])


def each(make: Callable[[RecordBatch], object]) -> Callable[[Iterator[RecordBatch]], Iterator[RecordBatch]]:
    """What `make` makes of each batch, pickled."""
    return lambda batches: (pickled(make(batch)) for batch in batches)


def pickled(part: object) -> RecordBatch:
    """A part as an Arrow batch of one value."""
    import pyarrow

    return pyarrow.RecordBatch.from_arrays([pyarrow.array([pickle.dumps(part)], pyarrow.binary())], ["part"])


def unpickled(packed: DataFrame) -> RDD[Any]:
    """Such parts as they were."""
    return packed.rdd.map(lambda row: pickle.loads(row[0]))


# ---- rows that belong together: Claim 40 (cantle.trusted.bounding.persons) -----------------------------------------


def grouped(rows: RDD[Frame], key: str) -> RDD[list[Frame]]:
    """The rows in groups: all rows of the same key are in one of them."""
    number = max(1, rows.getNumPartitions())
    return rows.flatMap(lambda frame: divided(frame, key, number)).groupByKey(number).values().map(list)


def bounder(domain: Domain, max_records: int) -> Work[list[Frame], Part]:
    """The records that are used; a group holds all records of its persons."""
    return lambda groups: (_opened([bounded(group, domain[1], max_records)], domain).part for group in groups)


# ---- counts -------------------------------------------------------------------------------------------------------


def summed(domain: Domain, cells: int, count: Callable[[WordEngine], Ints]) -> Work[Part, Counts]:
    """The sum of `count` over the parts of a partition, without the entries that are 0."""

    def work(parts: Iterable[Part]) -> Iterator[Counts]:
        counts = np.zeros(cells, dtype=np.int64)
        for part in parts:
            counts += count(_engine(part, domain))
        at = np.flatnonzero(counts)
        yield at, counts[at]

    return work


def listed(domain: Domain, count: Callable[[WordEngine], Counts]) -> Work[Part, Counts]:
    """The same if `count` lists occupied entries."""
    return lambda parts: iter([merged([count(_engine(part, domain)) for part in parts])])


def sorter(number: int) -> Callable[[Part], list[tuple[int, Words]]]:
    """Divides a part by the words of its records, so that equal records go to the same group."""

    def sort(part: Part) -> list[tuple[int, Words]]:
        rows, _ = part
        place = np.zeros(len(rows), dtype=np.uint64)
        for word in rows.T:
            place = scramble(place ^ word)
        place %= np.uint64(number)
        return [(int(one), rows[place == one]) for one in np.unique(place)]

    return sort


def gathered(held: Iterable[Words]) -> Part:
    """A group as a part of one region, with all records that have the same words."""
    rows = np.concatenate(list(held))
    return rows, np.array([0, len(rows)], dtype=np.int64)


def moved(domain: Domain, positions: Ints, rule: BoxRule) -> Work[Part, Part]:
    """The records that stay, in the children of their regions."""

    def move(parts: Iterable[Part]) -> Iterator[Part]:
        for part in parts:
            engine = _engine(part, domain)
            engine.split(positions, rule)
            yield engine.part

    return move


MOST = 8
"""Partial counts that are added up at one place."""

Counted = TypeVar("Counted")


def collected(parts: RDD[Counted], add: Callable[[Counted, Counted], Counted]) -> list[Counted]:
    """The partial counts, one per partition, as at most MOST that have the same sum."""
    number = parts.getNumPartitions()
    while number > MOST:
        number = -(-number // MOST)
        parts = parts.mapPartitionsWithIndex(_sender(MOST)).reduceByKey(add, number).values()
    return parts.collect()


def _sender(most: int) -> Callable[[int, Iterable[Counted]], Iterator[tuple[int, Counted]]]:
    """Names the place at which a partition's counts are added up."""

    def send(partition: int, parts: Iterable[Counted]) -> Iterator[tuple[int, Counted]]:
        return ((partition // most, part) for part in parts)

    return send

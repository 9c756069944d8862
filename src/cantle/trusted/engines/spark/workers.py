"""The jobs of the Spark engine: what each worker does with its partitions."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np

from cantle.trusted.arrays import Codes, Ints, Words
from cantle.trusted.bounding.persons import person_numbers, places, within_bound
from cantle.trusted.engines.packing import GridTally, Layout, Sparse, Tally, add_bins, merged, occupied, split_words
from cantle.trusted.engines.table_counts import count_all_words, count_words
from cantle.trusted.geometry.boxes import Cuts
from cantle.trusted.geometry.grid import Grid
from cantle.trusted.geometry.subset import copy_numbers
from cantle.trusted.geometry.workloads import TableWorkload
from cantle.trusted.keys import CodeTable, GridBins, GridCells, TableKey
from cantle.trusted.mixing import scramble
from cantle.trusted.table_keys import LeafCounts, TableCounts

if TYPE_CHECKING:
    from polars import Series
    from pyarrow import RecordBatch

BLOCK = 1 << 18
"""Records of a part."""

Part = tuple[Words, Codes]
"""Words, and the number of each record's region."""

Group = tuple[int, Iterable[Words]]
"""The number of a group, and the words of its records."""

Counts = tuple[Ints, Ints]
"""Occupied entries, and their counts."""

Encode = Callable[["RecordBatch"], tuple[Sequence[Codes], Codes]]
"""An Arrow batch as columns of codes and classes; runs on the workers."""

WithPersons = tuple["Series", Words]
"""The person of each record (texts, none missing), and words."""


@dataclass(frozen=True)
class OfPersons:
    """Batches as persons (texts, none missing), codes and classes, and how many records of each person are used."""

    encode: Callable[[RecordBatch], tuple[Series, Sequence[Codes], Codes]]
    max_records: int


Asked = TypeVar("Asked", covariant=True)
Held = TypeVar("Held")
Result = TypeVar("Result")
Work = Callable[[Iterable[Held]], Iterator[Result]]
"""What a worker computes from a partition."""


class Sent(Protocol[Asked]):
    """A question that Spark has sent to each worker once."""

    @property
    def value(self) -> Asked: ...


def packer(encode: Encode, layout: Layout) -> Callable[[Iterator[RecordBatch]], Iterator[RecordBatch]]:
    """Arrow batches as parts of about BLOCK records, in regions numbered 0."""

    def pack(batches: Iterator[RecordBatch]) -> Iterator[RecordBatch]:
        for held in _blocks(layout.pack(*encode(batch)) for batch in batches):
            words = np.concatenate(held, axis=1)
            yield pickled((words, np.zeros(words.shape[1], dtype=np.uint32)))

    return pack


def _blocks(packs: Iterable[Words]) -> Iterator[list[Words]]:
    """Some words together, about BLOCK records."""
    held: list[Words] = []
    for words in packs:
        held.append(words)
        if sum(one.shape[1] for one in held) >= BLOCK:
            yield held
            held = []
    if held:
        yield held


def pickled(part: object) -> RecordBatch:
    """A part as an Arrow batch of one value."""
    import pyarrow

    return pyarrow.RecordBatch.from_arrays([pyarrow.array([pickle.dumps(part)], pyarrow.binary())], ["part"])


# ---- persons: Claim 40 (cantle.trusted.bounding.persons) ----------------------------------------------------------


def person_packer(
    encode: Callable[[RecordBatch], tuple[Series, Sequence[Codes], Codes]], layout: Layout
) -> Callable[[Iterator[RecordBatch]], Iterator[RecordBatch]]:
    """Arrow batches as persons and words."""

    def pack(batches: Iterator[RecordBatch]) -> Iterator[RecordBatch]:
        for batch in batches:
            ids, columns, classes = encode(batch)
            yield pickled((ids, layout.pack(columns, classes)))

    return pack


def person_sorter(number: int) -> Callable[[WithPersons], list[tuple[int, WithPersons]]]:
    """Divides a part by person, so that all records of a person go to the same group."""

    def sort(part: WithPersons) -> list[tuple[int, WithPersons]]:
        ids, words = part
        place = places(ids, number)
        return [(int(one), (ids.filter(place == one), words[:, place == one])) for one in np.unique(place)]

    return sort


def bounder(layout: Layout, max_records: int) -> Work[tuple[int, Iterable[WithPersons]], Part]:
    """The records that are used; a group holds all records of its persons."""

    def bound(groups: Iterable[tuple[int, Iterable[WithPersons]]]) -> Iterator[Part]:
        import polars as pl

        for _, group in groups:
            ids, held = zip(*group, strict=True)
            words: Words = np.concatenate(held, axis=1)
            columns = [layout.column(words, column) for column in range(len(layout.sizes) + (layout.classes > 1))]
            words = words[:, within_bound(person_numbers(pl.concat(ids)), columns, max_records)]
            yield words, np.zeros(words.shape[1], dtype=np.uint32)

    return bound


# ---- counts -------------------------------------------------------------------------------------------------------


def add_listed(one: Counts, two: Counts) -> Counts:
    """The occupied entries of two partitions together."""
    return merged([one, two])


def counter(question: Sent[tuple[Layout, TableKey, Ints, int]]) -> Work[Part, Sparse]:
    """The counts of a key in a partition."""

    def count(parts: Iterable[Part]) -> Iterator[Sparse]:
        layout, key, number, first = question.value
        tally = Tally(layout, key, int(number.max(initial=-1)) + 1, first)
        for words, node in parts:
            tally.add(words, number[node])
        yield tally.sparse()

    return count


def cell_counter(question: Sent[tuple[Layout, TableCounts | LeafCounts]]) -> Work[Part, Counts]:
    """The counts of cross tables or leaves in a partition."""

    def count(parts: Iterable[Part]) -> Iterator[Counts]:
        layout, key = question.value
        counts = count_words(layout, key, ((words, None) for words, _ in parts))
        at = np.flatnonzero(counts)
        yield at, counts[at]

    return count


def workload_counter(question: Sent[tuple[Layout, TableWorkload]]) -> Work[Part, Ints]:
    """The numbers of a workload in a partition."""

    def count(parts: Iterable[Part]) -> Iterator[Ints]:
        layout, workload = question.value
        yield count_all_words(layout, workload, (words for words, _ in parts))

    return count


def sorter(number: int) -> Callable[[Part], list[tuple[int, Words]]]:
    """Divides a part by the words of its records, so that equal records go to the same group."""

    def sort(part: Part) -> list[tuple[int, Words]]:
        words, _ = part
        place = np.zeros(words.shape[1], dtype=np.uint64)
        for row in words:
            place = scramble(place ^ row)
        place %= np.uint64(number)
        return [(int(one), words[:, place == one]) for one in np.unique(place)]

    return sort


def copy_counter(question: Sent[tuple[Layout, TableCounts | LeafCounts]]) -> Work[Group, Counts]:
    """The counts of cross tables over a subset; a group holds all records with the same words."""

    def count(groups: Iterable[Group]) -> Iterator[Counts]:
        layout, key = question.value
        joined = (np.concatenate(list(words), axis=1) for _, words in groups)
        counts = count_words(layout, key, ((words, copy_numbers(words)) for words in joined))
        at = np.flatnonzero(counts)
        yield at, counts[at]

    return count


def mover(rules: Sent[tuple[Layout, Ints, Cuts]]) -> Work[Part, Part]:
    """The records that stay, in the children of their regions."""

    def move(parts: Iterable[Part]) -> Iterator[Part]:
        layout, number, cuts = rules.value
        for words, node in parts:
            kept, child = split_words(layout, words, node, number, cuts)
            yield kept, child.astype(np.uint32)

    return move


def lister(question: Sent[tuple[Layout, GridCells | CodeTable]]) -> Work[Part, Counts]:
    """The occupied entries of a grid or of a table of codes in a partition."""

    def listed(parts: Iterable[Part]) -> Iterator[Counts]:
        layout, key = question.value
        if isinstance(key, GridCells):
            yield occupied([layout.locate(words, key.grid) for words, _ in parts])
        else:
            yield occupied([layout.entry(words, key.attribute, key.classes) for words, _ in parts])

    return listed


def grid_counter(question: Sent[tuple[Layout, Grid]]) -> Work[Part, Sparse]:
    """The counts of a grid by code in a partition."""

    def count(parts: Iterable[Part]) -> Iterator[Sparse]:
        tally = GridTally(*question.value)
        for words, _ in parts:
            tally.add(words)
        yield tally.sparse()

    return count


def binner(question: Sent[tuple[Layout, GridBins, Grid, int]]) -> Work[Part, Counts]:
    """The counts of a grid by bin of one attribute in a partition."""

    def count(parts: Iterable[Part]) -> Iterator[Counts]:
        layout, key, grid, cells = question.value
        counts = np.zeros(cells, dtype=np.int64)
        for words, _ in parts:
            add_bins(counts, layout, key, grid, words)
        at = np.flatnonzero(counts)
        yield at, counts[at]

    return count

"""The engine of sequences: a region is a span of lengths, and every question is a sum over the sequences in it.

Records are one ragged store of symbols, in memory, on disk or on Spark's workers (ragged.py); order and repeats are
kept. Sequences longer than the public domain says are in no region.

Each count maps every record by itself, by public functions of its content, so data sets that differ in one record
differ by that record's counts only: 1 in lengths and paths, at most PARTS in ends and strings.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import ClassVar

import numpy as np

from cantle.trusted.claims.sequence_queries import (
    MOST_CELLS,
    SEQUENCE_KEYS,
    EndSymbols,
    Lengths,
    ShortPaths,
    StringDistance,
    Strings,
)
from cantle.trusted.core.arrays import Codes
from cantle.trusted.core.private import Private
from cantle.trusted.counting.base import Chunk
from cantle.trusted.counting.basket_counts import count_sizes
from cantle.trusted.counting.ragged import Count, Records
from cantle.trusted.geometry.boxes import Cuts, Frontier, Ints, Slices
from cantle.trusted.geometry.sequence_strings import SequenceDomain, count_contained, merged, path_cells, string_parts
from cantle.trusted.geometry.workloads import SequenceWorkload


class SequenceEngine(Private):
    """Counts over ragged rows of symbols, no row empty."""

    kind: ClassVar[str] = "sequences"
    keys: ClassVar[tuple[type, ...]] = SEQUENCE_KEYS

    compiled: ClassVar[bool] = False  # there are no kernels for sequences

    def __init__(self, records: Records, domain: SequenceDomain) -> None:
        self._records, self.domain = records, domain
        self._regions = self.root()

    def root(self) -> Frontier:
        """All lengths; code c of the only attribute is length c + 1."""
        return Frontier.root((self.domain.longest,))

    def tally(
        self, positions: Ints, key: Lengths | ShortPaths | EndSymbols | Strings | StringDistance
    ) -> Iterator[Chunk]:
        for number, position in enumerate(positions.tolist()):
            if isinstance(key, StringDistance):
                counts = self._distance(position, key)
            else:
                counts = self._added(position, partial(count_sequences, key))
            yield number, number + 1, counts.reshape(1, -1)

    def strings(self, positions: Ints, order: int, classes: tuple[int, ...]) -> tuple[Ints, Ints]:
        """The cells of strings that occur in one region, ascending, and their parts (sequence_queries.Strings)."""
        (position,), key = positions.tolist(), Strings(self.domain.symbols, order, classes)
        if key.cells <= MOST_CELLS:
            counts = self._added(position, partial(count_sequences, key))
            cells = np.flatnonzero(counts)
            return cells, counts[cells]
        held = self._records.everything()
        rows = within(held.starts, held.codes, *self._span(position))
        return merged(*string_parts(*rows, key.symbols, order, classes))

    def split(self, positions: Ints, rule: Cuts | Slices) -> None:
        self._regions = rule.children(self._regions.take(positions), 0)

    def keep_all(self) -> None:
        """Records are kept until the engine is closed; closed regions are not counted."""

    def count_all(self, workload: SequenceWorkload) -> Ints:
        return self._records.added(lambda starts, codes: count_contained(workload, starts, codes))

    def close(self) -> None:
        self._records.close()

    def _span(self, position: int) -> tuple[int, int]:
        """The shortest and the longest length of a region."""
        return int(self._regions.lo[position, 0]) + 1, int(self._regions.hi[position, 0])

    def _added(self, position: int, count: Count) -> Ints:
        low, high = self._span(position)
        return self._records.added(lambda starts, codes: count(*within(starts, codes, low, high)))

    def _distance(self, position: int, key: StringDistance) -> Ints:
        cells, counts = self.strings(np.array([position]), key.order, ())
        at = np.searchsorted(key.places, cells)
        listed = np.append(key.places, -1)[at] == cells
        missing = np.ones(len(key.places), dtype=np.bool_)
        missing[at[listed]] = False
        off = np.abs(counts[listed] - key.expected[at[listed]]).sum()
        return np.array([off + counts[~listed].sum() + key.expected[missing].sum()], dtype=np.int64)


def within(starts: Ints, codes: Codes, low: int, high: int) -> tuple[Ints, Codes]:
    """The sequences of `low` to `high` symbols.

    >>> [one.tolist() for one in within(np.array([0, 1, 3, 6]), np.array([9, 1, 2, 3, 4, 5]), 2, 2)]
    [[0, 2], [1, 2]]
    """
    length = np.diff(starts)
    mine = (length >= low) & (length <= high)
    if mine.all():
        return starts, codes
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(length[mine])]), codes[np.repeat(mine, length)]


def count_sequences(key: Lengths | ShortPaths | EndSymbols | Strings, starts: Ints, codes: Codes) -> Ints:
    """The counts of a question over ragged rows."""
    if isinstance(key, Lengths):
        return count_sizes(starts, np.array(key.edges))
    counts = np.zeros(key.cells, dtype=np.int64)
    if isinstance(key, ShortPaths):
        np.add.at(counts, path_cells(starts, codes, key.symbols), 1)
    elif isinstance(key, EndSymbols):
        _add_ends(key, starts, codes, counts)
    else:
        np.add.at(counts, *string_parts(starts, codes, key.symbols, key.order, key.classes))
    return counts


def _add_ends(key: EndSymbols, starts: Ints, codes: Codes, counts: Ints) -> None:
    first, last, every = counts.reshape(3, -1)  # views
    length = np.diff(starts)
    at = np.searchsorted(key.classes, length, side="right") * key.symbols
    np.add.at(first, at + codes[starts[:-1]], key.weights[0])
    np.add.at(last, at + codes[starts[1:] - 1], key.weights[1])
    if key.weights[2]:
        np.add.at(every, np.repeat(at, length) + codes, np.repeat(key.weights[2] // length, length))

"""The engine of sequences: every question is a sum over all of them, which are one region.

Records are one ragged store of symbols, in memory, on disk or on Spark's workers (ragged.py); order and repeats are
kept.

Each count maps every record by itself, by public functions of its content, so data sets that differ in one record
differ by that record's counts only: 1 in lengths, at most PARTS in strings.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import ClassVar

import numpy as np

from cantle.trusted.claims.sequence_queries import MOST_CELLS, SEQUENCE_KEYS, Lengths, Strings
from cantle.trusted.core.arrays import Codes
from cantle.trusted.core.private import Private
from cantle.trusted.counting.base import Chunk
from cantle.trusted.counting.basket_counts import count_sizes
from cantle.trusted.counting.ragged import Records
from cantle.trusted.geometry.boxes import Frontier, Ints
from cantle.trusted.geometry.sequence_strings import SequenceDomain, Shares, count_contained, merged, string_parts
from cantle.trusted.geometry.workloads import SequenceWorkload


class SequenceEngine(Private):
    """Counts over ragged rows of symbols, no row empty."""

    kind: ClassVar[str] = "sequences"
    keys: ClassVar[tuple[type, ...]] = SEQUENCE_KEYS

    compiled: ClassVar[bool] = False  # there are no kernels for sequences

    def __init__(self, records: Records, domain: SequenceDomain) -> None:
        self._records, self.domain = records, domain

    def root(self) -> Frontier:
        """All sequences."""
        return Frontier.root(())

    def tally(self, positions: Ints, key: Lengths | Strings) -> Iterator[Chunk]:
        if len(positions):
            yield 0, 1, self._records.added(partial(count_sequences, key)).reshape(1, -1)

    def strings(self, order: int, shares: Shares) -> tuple[Ints, Ints]:
        """The cells of strings that occur, ascending, and their parts (sequence_queries.Strings)."""
        key = Strings(self.domain.symbols, order, shares)
        if key.cells <= MOST_CELLS:
            counts = self._records.added(partial(count_sequences, key))
            cells = np.flatnonzero(counts)
            return cells, counts[cells]
        held = self._records.everything()
        return merged(*string_parts(held.starts, held.codes, key.symbols, order, shares))

    def keep_all(self) -> None:
        """Sequences are never divided, so all of them are there until `close`."""

    def count_all(self, workload: SequenceWorkload) -> Ints:
        return self._records.added(lambda starts, codes: count_contained(workload, starts, codes))

    def close(self) -> None:
        self._records.close()


def count_sequences(key: Lengths | Strings, starts: Ints, codes: Codes) -> Ints:
    """The counts of a question over ragged rows."""
    if isinstance(key, Lengths):
        return count_sizes(starts, np.array(key.edges))
    counts = np.zeros(key.cells, dtype=np.int64)
    np.add.at(counts, *string_parts(starts, codes, key.symbols, key.order, key.shares))
    return counts

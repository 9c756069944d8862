"""The engine of sequences: a region is a span of lengths, and every question is a sum over the sequences in it.

Records are one ragged store of symbols, in memory, on disk or on Spark's workers (ragged.py); order and repeats are
kept. Sequences longer than the public domain says are in no region.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
from cantle.trusted.counting.ragged import Count, Records
from cantle.trusted.counting.sequence_counts import count_sequences, within
from cantle.trusted.geometry.boxes import Cuts, Frontier, Ints, Slices
from cantle.trusted.geometry.sequence_strings import SequenceDomain, count_contained, merged, string_parts
from cantle.trusted.geometry.workloads import SequenceWorkload


class SequenceEngine(Private):
    """Counts over ragged rows of symbols, no row empty."""

    kind: ClassVar[str] = "sequences"
    keys: ClassVar[tuple[type, ...]] = SEQUENCE_KEYS

    def __init__(self, records: Records, domain: SequenceDomain, *, compiled: bool = False) -> None:
        self._records, self.domain, self.compiled = records, domain, compiled
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
                counts = self._added(position, _counter(key))
            yield number, number + 1, counts.reshape(1, -1)

    def strings(self, positions: Ints, order: int, classes: tuple[int, ...]) -> tuple[Ints, Ints]:
        """The cells of strings that occur in one region, ascending, and their parts (sequence_queries.Strings)."""
        (position,), key = positions.tolist(), Strings(self.domain.symbols, order, classes)
        if key.cells <= MOST_CELLS:
            counts = self._added(position, _counter(key))
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


def _counter(key: Lengths | ShortPaths | EndSymbols | Strings) -> Callable[[Ints, Codes], Ints]:
    return lambda starts, codes: count_sequences(key, starts, codes)

"""Ragged records: the codes of all records one after the other, and where each record begins.

A store (stores.py) gives the room for the codes, in memory or on disk; either way they are counted some records at a
time. The codes of a record may come in any order and repeat: what they are is the business of the engine that counts
them (SetEngine wants them ascending, each once).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from cantle.trusted.core.arrays import Codes, Ints
from cantle.trusted.core.private import Private
from cantle.trusted.counting.stores import Store

BATCH = 1 << 22
"""Codes counted together."""

Packed = tuple[Ints, Codes]
"""The number of codes of each of some records, and these codes."""

Count = Callable[[Ints, Codes], Ints]
"""Counts of records, given where each begins and their codes; it may be sent to other processes."""


class Records(Protocol):
    """Ragged records, wherever they are."""

    def added(self, count: Count) -> Ints:
        """The sum of `count` over all records, some at a time."""

    def everything(self) -> Ragged:
        """All records on this machine."""

    def close(self) -> None: ...


@dataclass(frozen=True, eq=False, repr=False)
class Ragged(Private):
    """Records on this machine: record i holds codes[starts[i]:starts[i + 1]]."""

    starts: Ints
    codes: Codes

    @staticmethod
    def gathered(packs: Iterable[Packed], store: Store) -> Ragged:
        """Records that come in several parts."""
        lengths = [np.zeros(1, np.int64)]

        def codes() -> Iterator[Codes]:
            for some, part in packs:
                lengths.append(some)
                yield part

        held = store.gathered(codes(), (), np.int32)
        return Ragged(np.cumsum(np.concatenate(lengths)), held)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def added(self, count: Count) -> Ints:
        return sum_of(count(*rows) for rows in self._batches())

    def everything(self) -> Ragged:
        return self

    def close(self) -> None:
        """Nothing: a store's room is gone when nobody holds it."""

    def _batches(self) -> Iterator[tuple[Ints, Codes]]:
        """All records, about BATCH codes at a time; if there is no record, one batch without any."""
        first = 0
        while True:
            last = int(np.searchsorted(self.starts, self.starts[first] + BATCH, side="right")) - 1
            last = min(max(first + 1, last), len(self))
            span = self.starts[first : last + 1]
            yield span - span[0], self.codes[span[0] : span[-1]]
            if last == len(self):
                return
            first = last


NOTHING = Ragged(np.zeros(1, np.int64), np.zeros(0, np.int32))


def sum_of(counts: Iterable[Ints]) -> Ints:
    """The sum of at least one array of counts."""
    total, *others = counts
    for more in others:
        total = total + more
    return total

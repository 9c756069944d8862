"""The engine protocol: four verbs, and the contract in words.

* `open` happens in the constructor: records become codes of the public domain, once.
* `tally(positions, key)` counts: chunks of (first, last, counts), where counts are exact integers of shape
  (last - first, key.cells) for the regions positions[first:last]. The size and number of chunks must not matter.
* `split(positions, cuts)` moves on to the children of the listed regions, in order; the records of all others go.
* `occupied(key)` lists the occupied entries of a grid or table over the whole data, ascending, with their counts;
  `place(grid)` settles the cells of all records, `dense(key)` then gives all counts of that grid by bin.
* `close()` forgets the records.

Positions count the open regions in the order of the last split, from 0. Counts are secret: they may stay only
inside the curator call that asked. Trusted: a miscount costs privacy.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from cantle.grid import Grid
from cantle.regions import Cuts, Ints
from cantle.tally import CodeTable, GridBins, GridCells, Key

Chunk = tuple[int, int, Ints]


class Engine(Protocol):
    """Exact counts of records by region."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of codes of each attribute (public)."""

    @property
    def classes(self) -> int:
        """Number of classes, 1 without a target (public)."""

    def tally(self, positions: Ints, key: Key) -> Iterator[Chunk]: ...

    def split(self, positions: Ints, cuts: Cuts) -> None: ...

    def occupied(self, key: GridCells | CodeTable) -> tuple[Ints, Ints]: ...

    def place(self, grid: Grid) -> None: ...

    def dense(self, key: GridBins) -> Ints: ...

    def close(self) -> None: ...

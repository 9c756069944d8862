"""The engine protocol: the questions that a curator asks about records, and the rules that all engines follow.

Every engine declares the kind of data it holds, its public domain, its root region and the keys it can count:

* `open` happens in the constructor: records become codes of the public domain, once.
* `tally(positions, key)` counts: chunks of (first, last, counts), where counts are exact integers of shape
  (last - first, key.cells) for the regions positions[first:last]. The size and number of chunks must not matter.
* `keep_all()`, called before the first split, makes the engine keep all records until `close`, also those of regions
  that a split closes. `count_all(workload)` then counts a workload over all of them. Graphs have neither.
* `close()` discards the records.

Tables (`TableEngine`) and sets (`SetsEngine`) can be split:

* `split(positions, rule)` moves on to the children of the listed regions, in order; other records are dropped.
* tables can also be counted whole, before the first split: `occupied(key)` lists the occupied entries of a grid or
  table over the whole data, ascending, with their counts; `place(grid)` finds the cells of all records, and
  `dense(key)` then returns all counts of that grid by bin; `tally` counts many cross tables of the whole data at once
  (`CELL_KEYS` of words.py).
* graphs cannot be split; `as_table(theta)` makes their projected degrees a table.
* sets: `touched(positions)` lists for each partition the sets of children that its records touch, with their numbers;
  `pairs(items, most)` lists the pairs of these items that occur in any record, with their parts.
* sequences: `strings(order, shares)` lists the strings that occur, with their parts.

Positions count the open regions in the order of the last split, from 0. Counts are secret: they may stay only
inside the curator call that asked. A miscount costs privacy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeVar

from cantle.trusted.core.keys import CodeTable, Domain, GridBins, GridCells, PublicDomain
from cantle.trusted.geometry.boxes import BoxRule, Frontier, Ints
from cantle.trusted.geometry.grid import Grid
from cantle.trusted.geometry.item_partitions import Kept, Partitions
from cantle.trusted.geometry.sequence_strings import SequenceDomain, Shares
from cantle.trusted.geometry.workloads import SequenceWorkload, SetWorkload, TableWorkload

Chunk = tuple[int, int, Ints]

Counted = tuple[Ints, Ints]
"""Counts of several tables, one after the other, and where each begins."""


Nodes = TypeVar("Nodes", bound=Frontier | Partitions)


class Rule(Protocol[Nodes]):
    """A public rule by which regions are split; every record goes to one child, or is dropped."""

    def fits(self, nodes: Nodes) -> bool:
        """Whether the rule fits these regions."""

    def times(self, nodes: Nodes) -> Ints:
        """The number of children of each region."""

    def children(self, nodes: Nodes, first_id: int) -> Nodes:
        """The children, numbered from `first_id`."""


class Engine(Protocol):
    """Exact counts of records by region."""

    @property
    def kind(self) -> str:
        """tables, sets, sequences, graphs or families."""

    @property
    def keys(self) -> tuple[type, ...]:
        """What `tally` can count."""

    @property
    def compiled(self) -> bool:
        """Whether compiled kernels pay off for these records; the post-processing of its run then uses them too."""

    @property
    def domain(self) -> PublicDomain:
        """The public domain of the data."""

    def root(self) -> Frontier | Partitions:
        """All records as one region."""

    def tally(self, positions: Ints, key: Any) -> Iterator[Chunk]:
        """Exact counts by a key of one of the types in `keys`; the curator uses no others."""

    def close(self) -> None: ...


class SplitEngine(Engine, Protocol):
    """Records whose regions can be split."""

    def split(self, positions: Ints, rule: Any, /) -> None:
        """Moves on to the children of these regions under a rule for their kind of data."""

    def keep_all(self) -> None:
        """Keeps all records until `close`, wherever splits put them; before the first split."""

    def count_all(self, workload: Any, /) -> Ints:
        """The numbers of a workload for this kind of data, over all records."""


class TableEngine(SplitEngine, Protocol):
    """Records of codes."""

    @property
    def domain(self) -> Domain: ...

    def root(self) -> Frontier: ...

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of codes of each attribute (public)."""

    @property
    def classes(self) -> int:
        """Number of classes, 1 without a target (public)."""

    def split(self, positions: Ints, rule: BoxRule, /) -> None: ...

    def count_all(self, workload: TableWorkload, /) -> Ints: ...

    def occupied(self, key: GridCells | CodeTable) -> tuple[Ints, Ints]: ...

    def place(self, grid: Grid) -> None: ...

    def dense(self, key: GridBins) -> Ints: ...

    def kept(self, asked: object, count: Callable[[], Counted]) -> Counted:
        """The counts that `count` returned for this very object, kept since then; those of any other are dropped."""


class SetsEngine(SplitEngine, Protocol):
    """Records that are sets of items."""

    def touched(self, positions: Ints) -> tuple[Ints, Ints, Ints]:
        """(starts, masks, counts): partition positions[i] has those from starts[i] to starts[i + 1], masks
        ascending."""

    def pairs(self, items: tuple[int, ...], most: int) -> tuple[Ints, Ints]:
        """Cells of pairs of these items that occur, ascending, and their parts (set_queries.PairSupports); only before
        the first split."""

    def split(self, positions: Ints, kept: Kept, /) -> None: ...

    def count_all(self, workload: SetWorkload, /) -> Ints:
        """The numbers of a workload over all records as they were given, before any was cut."""


class SequencesEngine(Engine, Protocol):
    """Records that are sequences of symbols, which are one region."""

    @property
    def domain(self) -> SequenceDomain: ...

    def strings(self, order: int, shares: Shares) -> tuple[Ints, Ints]:
        """Cells of strings that occur, ascending, and their parts (sequence_queries.Strings)."""

    def count_all(self, workload: SequenceWorkload, /) -> Ints: ...


class FamiliesEngine(Engine, Protocol):
    """Parents with their children, which are one region."""

    def view(self, view: int) -> TableEngine:
        """The records of one view (geometry/views.py), whose counts are parts."""


class GraphsEngine(Engine, Protocol):
    """A graph, which is one region."""

    def kept(self, theta: int) -> int:
        """The number of edges that projection to theta keeps."""

    def can_project(self, theta: int) -> bool:
        """Whether theta is a sound bound and there are edges (public)."""

    def as_table(self, theta: int) -> TableEngine:
        """The projected degrees as records of one attribute; if nodes are not listed, only of nodes with kept edges."""

"""Queries: the counts that a method may request, each with its L1 sensitivity and a proof.

`sensitivity(unit)` bounds the change of the whole vector of a region's cells, in L1, when one unit (all the
records of one protected person) is added or removed. tests/laws checks every bound by brute force. Counts are 64-bit
integers that only add up records, so none overflows below 2^61 records, the limit of noise/base.py.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self, TypeVar

import numpy as np

from cantle.trusted.core.budget import Unit
from cantle.trusted.core.keys import (
    Counted,
    Domain,
    GridCells,
    MergedOneWays,
    OneWays,
)
from cantle.trusted.counting.base import SetsEngine, TableEngine
from cantle.trusted.geometry.boxes import Frontier, Ints
from cantle.trusted.geometry.grid import Grid
from cantle.trusted.geometry.item_partitions import ItemTree, Partitions, rank

MOST_LISTED = 22
"""Largest universe whose sets can all be listed."""

MOST_SPURIOUS = 10**7
"""Most empty cells that a question with thresholds may list in expectation."""

Nodes = TypeVar("Nodes", bound=Frontier | Partitions, contravariant=True)


class Query(Protocol):
    """Counts for the discrete Laplace mechanism, every cell listed."""

    @property
    def key(self) -> Counted:
        """The key that the engine counts."""

    def sensitivity(self, unit: Unit) -> int:
        """L1 bound for one unit."""


class SparseQuery(Protocol[Nodes]):
    """Counts of too many cells to list: only cells from a public threshold on are returned.

    `kind` is the kind of data it is for; domain and engine are those of this kind. `everyone` says that all records
    that the engine holds are counted, so that only the unsplit root may be asked, whose price every record pays.
    """

    kind: ClassVar[str]
    everyone: ClassVar[bool]

    def fits(self, nodes: Nodes, domain: Any) -> bool:
        """Whether it can be asked about these regions of this domain; decided without records."""

    def owners(self, nodes: Nodes) -> Ints:
        """The position of each segment's region (public); cells come in segments, each with a threshold of its own."""

    def totals(self, nodes: Nodes) -> Ints:
        """The number of cells of each segment (public)."""

    def occupied(self, engine: Any, positions: Ints, nodes: Nodes) -> tuple[Ints, Ints, Ints]:
        """Exact counts of the occupied cells, as (starts, cells, counts): segment i has those from starts[i] to
        starts[i + 1], cells ascending."""

    def sensitivity(self, unit: Unit) -> int:
        """L1 bound for one unit, over all cells."""


class OncePerRecord:
    """Counts of which one record moves one, and by 1; the claim of the class says why. The k records of a unit come one
    after the other, so they move the counts by at most k."""

    def sensitivity(self, unit: Unit) -> int:
        return unit.max_records


class OwnKey:
    """A query that is its own key."""

    @property
    def key(self) -> Self:
        return self


class OneSegment(ABC):
    """A query with thresholds whose cells are one segment per region."""

    @property
    @abstractmethod
    def cells(self) -> int:
        """The number of cells per region."""

    def owners(self, nodes: Frontier | Partitions) -> Ints:
        return np.arange(len(nodes))

    def totals(self, nodes: Frontier | Partitions) -> Ints:
        return np.full(len(nodes), self.cells, dtype=np.int64)


@dataclass(frozen=True)
class Size(OwnKey, OncePerRecord):
    """The number of records of a region.

    Claim 7. Sensitivity 1 per record: each record adds 1 to exactly one count, that of its region.
    """

    cells: ClassVar[int] = 1

    def fits(self, nodes: object, domain: object) -> bool:  # noqa: ARG002
        return True


@dataclass(frozen=True)
class Histogram(OwnKey, OncePerRecord):
    """The class histogram of a region (a single cell without a target).

    Claim 8. Sensitivity 1 per record, whatever the number of classes: the cells are disjoint, a record has one class.
    """

    classes: int

    @property
    def cells(self) -> int:
        return self.classes

    def fits(self, nodes: Frontier, domain: Domain) -> bool:  # noqa: ARG002
        return type(self.classes) is int and self.classes == domain[1]


@dataclass(frozen=True)
class Marginals:
    """One-way tables (code, class) of several attributes; or (group of codes), where `starts` merges neighbours.

    Claim 9. Sensitivity m per record for m tables: within a table the cells are disjoint, and a record is in one
    cell of each table. Groups of cells of one table are disjoint too.
    """

    tables: OneWays
    starts: tuple[int, ...] | None = None

    @property
    def key(self) -> OneWays | MergedOneWays:
        return self.tables if self.starts is None else MergedOneWays(self.tables, self.starts)

    def sensitivity(self, unit: Unit) -> int:
        return len(self.tables.attributes) * unit.max_records


@dataclass(frozen=True, eq=False)
class Cells(OneSegment, OncePerRecord):
    """The class histogram of every cell of a grid, empty cells included; cell * classes + class. If `together`, the
    number of records of every cell instead, all classes together.

    Claim 23. Sensitivity 1 per record: cells and classes are disjoint, a record is in one of each.
    """

    kind: ClassVar[str] = "tables"
    everyone: ClassVar[bool] = True

    grid: Grid
    classes: int
    together: bool = False

    @property
    def key(self) -> GridCells:
        return GridCells(self.grid, self.classes)

    @property
    def cells(self) -> int:
        return self.grid.cells if self.together else self.key.cells

    def fits(self, nodes: Frontier, domain: Domain) -> bool:  # noqa: ARG002
        return type(self.together) is bool and self.key.fits(domain)

    def occupied(self, engine: TableEngine, positions: Ints, nodes: Frontier) -> tuple[Ints, Ints, Ints]:  # noqa: ARG002
        exact_cells, exact_counts = engine.occupied(self.key)
        if self.together and len(exact_cells):
            cells = exact_cells // self.classes
            first = np.flatnonzero(np.diff(cells, prepend=-1))
            exact_cells, exact_counts = cells[first], np.add.reduceat(exact_counts, first)
        return np.array([0, len(exact_cells)]), exact_cells, exact_counts


@dataclass(frozen=True)
class ChildSets(OncePerRecord):
    """For each partition, the number of records that touch exactly each set of children of its next node, by `rank`.

    Claim 29. Sensitivity 1 per record: every record of a partition touches exactly one set of children, and sets are
    numbered one to one (Claim 26).
    """

    kind: ClassVar[str] = "sets"
    everyone: ClassVar[bool] = False

    def fits(self, nodes: Partitions, domain: object) -> bool:  # noqa: ARG002
        return True

    def owners(self, nodes: Partitions) -> Ints:
        return np.arange(len(nodes))

    def totals(self, nodes: Partitions) -> Ints:
        return nodes.patterns

    def occupied(self, engine: SetsEngine, positions: Ints, nodes: Partitions) -> tuple[Ints, Ints, Ints]:
        exact_starts, exact_masks, exact_counts = engine.touched(positions)
        owner = np.repeat(np.arange(len(nodes)), np.diff(exact_starts))
        exact_cells = rank(exact_masks, nodes.fan[owner], nodes.room[owner])
        order = np.lexsort((exact_cells, owner))
        return exact_starts, exact_cells[order], exact_counts[order]


@dataclass(frozen=True)
class ItemSets(OwnKey, OncePerRecord):
    """The number of records equal to each non-empty set of items, for a small universe: every set of children of the
    root of a taxonomy is cell mask - 1.

    Claim 30. Sensitivity 1 per record: a record is one set.
    """

    items: int

    @property
    def cells(self) -> int:
        return 2**self.items - 1

    def fits(self, nodes: Partitions, domain: ItemTree) -> bool:
        small = type(self.items) is int and 1 <= self.items <= MOST_LISTED and len(nodes) == 1 and nodes.depth == 0
        return small and domain.height == 1 and self.items == domain.size and nodes.most >= domain.size


TRUSTED_QUERIES = (Size, Histogram, Marginals, ItemSets)
SPARSE_QUERIES = (Cells, ChildSets)

"""Keys: what an engine can count. The counts are exact integers, one row of cells per region.

A key is a public value; `fits` checks, without records, whether it suits these regions and this domain, so that no
failure can depend on a record. The counts are secret and exist only inside one curator call.

Keys of mosaic (`CELL_KEYS`) count small tables of grouped columns. They count every record, so they fit only the
unsplit root, and only a domain without a separate class: here the target is a column like the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from cantle.trusted.geometry.boxes import Frontier, Ints, is_int64_array
from cantle.trusted.geometry.cross_tables import (
    MOST_COUNTS,
    ColumnCells,
    CrossTable,
    LabelTree,
    are_tables,
)
from cantle.trusted.geometry.grid import Grid
from cantle.trusted.geometry.item_partitions import MOST_COUNTED, ItemTree, Partitions
from cantle.trusted.geometry.sequence_strings import SequenceDomain
from cantle.trusted.geometry.subset import Subset
from cantle.trusted.geometry.views import FamilyDomain, is_view

Domain = tuple[tuple[int, ...], int]
"""Sizes of the attributes, and the number of classes."""


@dataclass(frozen=True)
class GraphDomain:
    """What is public about a graph: its number of nodes, unless that is private; whether nodes without edges are
    listed; whether there are edges to project, or only degrees."""

    nodes: int | None
    listed: bool
    edges: bool


PublicDomain = Domain | ItemTree | SequenceDomain | GraphDomain | FamilyDomain
"""What is public about the data: of a table, of sets, of sequences, of a graph, of families."""


MOST_LISTED = 22
"""Largest universe whose sets can all be listed."""


def are_ints(numbers: object) -> bool:
    """Whether this is a plain tuple of plain whole numbers; objects of other classes may change while they are used."""
    return type(numbers) is tuple and all(type(number) is int for number in numbers)


def are_rising(numbers: object, low: int, high: int) -> bool:
    """Whether this is a tuple of whole numbers from `low` to below `high`, each larger than the one before."""
    if not isinstance(numbers, tuple) or not are_ints(numbers) or not numbers:
        return False
    rising = all(a < b for a, b in zip(numbers, numbers[1:], strict=False))
    return rising and low <= numbers[0] and numbers[-1] < high


class Counted(Protocol):
    """The common part of all keys."""

    @property
    def cells(self) -> int:
        """The number of cells of each region."""

    def fits(self, nodes: Any, domain: Any) -> bool:
        """Whether it suits these regions of this domain, both of the kind of data it is for."""


@dataclass(frozen=True)
class Sizes:
    """The number of records: one cell."""

    cells: int = 1

    def fits(self, nodes: Frontier, domain: Domain) -> bool:  # noqa: ARG002
        return True


@dataclass(frozen=True)
class Classes:
    """The class histogram: one cell per class (a single cell without a target)."""

    classes: int

    @property
    def cells(self) -> int:
        return self.classes

    def fits(self, nodes: Frontier, domain: Domain) -> bool:  # noqa: ARG002
        return type(self.classes) is int and self.classes == domain[1]


@dataclass(frozen=True)
class OneWays:
    """One table (code, class) per listed attribute, side by side; `classes` = 1 leaves the class out."""

    attributes: tuple[int, ...]
    sizes: tuple[int, ...]
    classes: int

    @property
    def width(self) -> int:
        return sum(self.sizes)

    @property
    def offsets(self) -> Ints:
        return np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.int64)

    @property
    def cells(self) -> int:
        return self.width * self.classes

    def fits(self, nodes: Frontier, domain: Domain) -> bool:  # noqa: ARG002
        sizes, classes = domain
        if not (are_ints(self.attributes) and are_ints(self.sizes) and are_ints((self.classes,))):
            return False
        known = all(0 <= attribute < len(sizes) for attribute in self.attributes)
        named = known and self.sizes == tuple(sizes[attribute] for attribute in self.attributes)
        return named and len(self.sizes) > 0 and self.classes in (1, classes)


@dataclass(frozen=True)
class MergedOneWays:
    """One-way tables without classes in which neighbouring codes are counted together.

    `starts` are the first cells of the groups among the cells of all tables, side by side. Every table begins a group,
    so no group holds cells of two of them.
    """

    tables: OneWays
    starts: tuple[int, ...]

    @property
    def cells(self) -> int:
        return len(self.starts)

    def fits(self, nodes: Frontier, domain: Domain) -> bool:
        if type(self.tables) is not OneWays or not self.tables.fits(nodes, domain) or self.tables.classes != 1:
            return False
        rising = are_rising(self.starts, 0, self.tables.cells) and self.starts[0] == 0
        return rising and set(self.tables.offsets[:-1].tolist()) <= set(self.starts)

    def merged(self, exact_counts: Ints) -> Ints:
        """The counts of the groups, given those of the tables' cells, one row per region."""
        return np.add.reduceat(exact_counts, np.array(self.starts, dtype=np.int64), axis=1)


@dataclass(frozen=True, eq=False)
class OneWayEach:
    """For each region the table (code, class) of its own attribute, padded to `width` codes."""

    attribute: Ints
    width: int
    classes: int

    @property
    def cells(self) -> int:
        return self.width * self.classes

    def fits(self, nodes: Frontier, domain: Domain) -> bool:
        sizes, classes = domain
        if not (is_int64_array(self.attribute, len(nodes)) and sizes and are_ints((self.width, self.classes))):
            return False
        known = (self.attribute >= 0).all() and (self.attribute < len(sizes)).all()
        return bool(known) and self.width >= max(sizes) and self.classes in (1, classes)


@dataclass(frozen=True, eq=False)
class GridCells:
    """The cells of a grid by class: entry cell * classes + class. There are too many to list; only occupied ones
    are."""

    grid: Grid
    classes: int

    @property
    def cells(self) -> int:
        return self.grid.cells * self.classes

    def fits(self, domain: Domain) -> bool:
        sizes, classes = domain
        known = type(self.grid) is Grid and self.grid.fits(sizes)
        return known and are_ints((self.classes,)) and self.classes == classes and self.cells <= 2**61


@dataclass(frozen=True, eq=False)
class CodeTable:
    """The codes of one attribute by class: entry code * classes + class; occupied ones are listed."""

    attribute: int
    size: int
    classes: int


@dataclass(frozen=True, eq=False)
class GridBins:
    """Every cell of the placed grid by class and by bin of one attribute, all listed: shape (cells, classes, width).

    `starts` are the first codes of the bins, ascending from 0; `number` is each bin's place within its own cell's span.
    """

    attribute: int
    starts: Ints
    number: Ints
    width: int
    classes: int


@dataclass(frozen=True)
class PatternTable:
    """Every set of children of the root of a taxonomy: cell mask - 1. For small universes, all cells at once."""

    cells: int

    def fits(self, nodes: Partitions, domain: ItemTree) -> bool:
        small = type(self.cells) is int and 1 <= self.cells < 2**MOST_LISTED and len(nodes) == 1 and nodes.depth == 0
        return small and domain.height == 1 and self.cells == 2**domain.size - 1 and nodes.most >= domain.size


TableKey = Sizes | Classes | OneWays | OneWayEach
SetKey = Sizes | PatternTable
Key = TableKey | PatternTable
TABLE_KEYS = (Sizes, Classes, OneWays, OneWayEach)
SET_KEYS = (Sizes, PatternTable)
TRUSTED_KEYS = (*TABLE_KEYS, MergedOneWays, PatternTable)


def finest(key: Counted) -> Counted:
    """The key that an engine counts for this key; groups of cells are added up afterwards, inside the same question."""
    return key.tables if isinstance(key, MergedOneWays) else key


def is_whole(nodes: Frontier, domain: Domain) -> bool:
    """Whether the question is about all records at once, and the domain has no separate class."""
    return len(nodes) == 1 and nodes.depth == 0 and domain[1] == 1


def are_whole_cells(within: object, nodes: Frontier, domain: Domain) -> bool:
    """Whether these are the cells of all columns, for a question about all records."""
    return is_whole(nodes, domain) and type(within) is ColumnCells and within.fits(domain[0])


@dataclass(frozen=True, eq=False)
class TableCounts:
    """The counts of several cross tables, one after the other; if a subset is given, of its records only."""

    within: ColumnCells
    tables: tuple[CrossTable, ...]
    subset: Subset | None = None

    @property
    def cells(self) -> int:
        return sum(table.cells for table in self.tables)

    def fits(self, nodes: Frontier, domain: Domain) -> bool:
        if not are_whole_cells(self.within, nodes, domain):
            return False
        known = self.subset is None or (type(self.subset) is Subset and self.subset.fits())
        return known and are_tables(self.tables, self.within.shape)


@dataclass(frozen=True, eq=False)
class LeafCounts:
    """The counts of leaf x cell of one column for a public partition of the domain into leaves."""

    within: ColumnCells
    tree: LabelTree
    target: int

    @property
    def classes(self) -> int:
        return self.within.shape[self.target]

    @property
    def cells(self) -> int:
        return self.tree.leaves * self.classes

    def fits(self, nodes: Frontier, domain: Domain) -> bool:
        if not are_whole_cells(self.within, nodes, domain):
            return False
        if type(self.tree) is not LabelTree or not self.tree.fits(self.within.shape) or not are_ints((self.target,)):
            return False
        return 0 <= self.target < len(domain[0]) and self.cells <= MOST_COUNTS


@dataclass(frozen=True, eq=False)
class ViewCounts(TableCounts):
    """The parts by cell of cross tables of one view of families; of all of them, never of a subset."""

    view: int = 0

    def fits(self, nodes: Frontier, domain: object) -> bool:
        if type(domain) is not FamilyDomain or not is_view(self.view) or self.subset is not None:
            return False
        return super().fits(nodes, (domain.sizes(self.view), 1))


@dataclass(frozen=True, eq=False)
class ListKey:
    """Counts of the `items` of lists. An item is a column of two cells; records in the second one hold it."""

    within: ColumnCells
    items: tuple[int, ...]

    def fits(self, nodes: Frontier, domain: Domain) -> bool:
        if not are_whole_cells(self.within, nodes, domain):
            return False
        if not are_ints(self.items) or not self.items or len(set(self.items)) != len(self.items):
            return False
        shape = self.within.shape
        return all(0 <= item < len(domain[0]) and shape[item] == 2 for item in self.items)


@dataclass(frozen=True, eq=False)
class ListSizes(ListKey):
    """How many records hold so many of the items: cell b has the numbers from edges[b] to below edges[b + 1], the last
    one all larger numbers too."""

    edges: tuple[int, ...]

    @property
    def cells(self) -> int:
        return len(self.edges)

    def fits(self, nodes: Frontier, domain: Domain) -> bool:
        return super().fits(nodes, domain) and are_rising(self.edges, 0, len(self.items) + 1) and self.edges[0] == 0


@dataclass(frozen=True, eq=False)
class ItemParts(ListKey):
    """The parts of records (item_partitions.py) by item and by cell of the table `by`. Items of records with more than
    `most` of them count less. With `pairs`, by two items instead: the pair of places a < b in `items` comes in place
    b (b - 1) / 2 + a, and pairs of records with more than `most` of them count less."""

    by: CrossTable
    most: int
    pairs: bool = False

    @property
    def cells(self) -> int:
        number = len(self.items)
        return (number * (number - 1) // 2 if self.pairs else number) * self.by.cells

    def fits(self, nodes: Frontier, domain: Domain) -> bool:
        if not super().fits(nodes, domain) or not are_tables((self.by,), self.within.shape):
            return False
        known = type(self.most) is int and 1 <= self.most <= MOST_COUNTED and type(self.pairs) is bool
        return known and 0 < self.cells <= MOST_COUNTS


CELL_KEYS = (TableCounts, LeafCounts, ListSizes, ItemParts)
CellKey = TableCounts | LeafCounts | ListSizes | ItemParts

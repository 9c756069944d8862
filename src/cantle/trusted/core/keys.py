"""Keys: what an engine can count. The counts are exact integers, one row of cells per region.

A key is a public value; `fits` checks, without records, whether it suits these regions and this domain, so that no
failure can depend on a record. The counts are secret and exist only inside one curator call. Most queries are keys
themselves (claims/); here are those that several questions share.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from cantle.trusted.geometry.boxes import Frontier, Ints, is_int64_array
from cantle.trusted.geometry.cross_tables import (
    ColumnCells,
)
from cantle.trusted.geometry.grid import Grid
from cantle.trusted.geometry.item_partitions import ItemTree
from cantle.trusted.geometry.sequence_strings import SequenceDomain
from cantle.trusted.geometry.views import FamilyDomain

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


def finest(key: Counted) -> Counted:
    """The key that an engine counts for this key; groups of cells are added up afterwards, inside the same question."""
    return key.tables if isinstance(key, MergedOneWays) else key


def is_whole(nodes: Frontier, domain: Domain) -> bool:
    """Whether the question is about all records at once, and the domain has no separate class."""
    return len(nodes) == 1 and nodes.depth == 0 and domain[1] == 1


def are_whole_cells(within: object, nodes: Frontier, domain: Domain) -> bool:
    """Whether these are the cells of all columns, for a question about all records."""
    return is_whole(nodes, domain) and type(within) is ColumnCells and within.fits(domain[0])

"""Queries of `mosaic` about the items of lists in a table, each with its sensitivity and a proof.

Long lists count with all their items or pairs, each with a part of one count (geometry/item_partitions.py): a function
of the record alone, so that neither its position nor other records matter. tests/laws/test_list_queries.py checks all
bounds by brute force.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cantle.trusted.claims.queries import OncePerRecord, OwnKey
from cantle.trusted.claims.table_queries import counted
from cantle.trusted.core.budget import Unit
from cantle.trusted.core.keys import Domain, are_ints, are_rising, are_whole_cells
from cantle.trusted.counting.base import Counted
from cantle.trusted.geometry import item_partitions
from cantle.trusted.geometry.boxes import Frontier
from cantle.trusted.geometry.cross_tables import MOST_COUNTS, ColumnCells, CrossTable, are_tables


@dataclass(frozen=True, eq=False)
class _OfLists(OwnKey):
    """A query about the `items` of lists. An item is a column of two cells; records in the second one hold it."""

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
class SizesOfLists(_OfLists, OncePerRecord):
    """How many records hold so many of the items: cell b has the numbers from edges[b] to below edges[b + 1], the last
    one all larger numbers too.

    Claim 71. Sensitivity 1 per record: a record holds one number of these items, which are different columns, and a
    number lies in one span.
    """

    edges: tuple[int, ...]

    @property
    def cells(self) -> int:
        return len(self.edges)

    def fits(self, nodes: Frontier, domain: Domain) -> bool:
        return super().fits(nodes, domain) and are_rising(self.edges, 0, len(self.items) + 1) and self.edges[0] == 0


@dataclass(frozen=True, eq=False)
class PartsOfLists(_OfLists):
    """Parts of records by item and by cell of the table `by`, every cell. Items of records with more than `most` of
    them count less. With `pairs`, by two items instead: the pair of places a < b in `items` comes in place
    b (b - 1) / 2 + a, and pairs of records with more than `most` of them count less.

    Claim 72. Sensitivity most * PARTS per record. A record lies in one cell of `by` (Claim 41). If it holds t of the
    items, which are different columns, it adds floor(PARTS min(1, most / t)) to that cell of each of them, and
    t floor(PARTS min(1, most / t)) <= PARTS most. Likewise for its t (t - 1) / 2 pairs; one with more items than
    LONGEST_PAIRED adds nothing. How many items it holds is counted by the engine in the columns themselves.
    """

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
        known = type(self.most) is int and 1 <= self.most <= item_partitions.MOST_COUNTED and type(self.pairs) is bool
        return known and 0 < self.cells <= MOST_COUNTS

    @property
    def tables(self) -> tuple[Any, ...]:
        return (self,)

    @property
    def parts(self) -> int:
        """How much a record adds to the cells at most."""
        return self.most * item_partitions.PARTS

    def exact_counts(self, engine: Any) -> Counted:
        """The exact counts, counted anew for every choice. Counts kept from one with a larger `most` would exceed the
        range: a method holds this key, and could change it in between."""
        return counted(engine, self, self.tables)

    def sensitivity(self, unit: Unit) -> int:
        return self.parts * unit.max_records


LIST_QUERIES = (SizesOfLists, PartsOfLists)

"""Queries of `mosaic` about the items of a list in a table, each with its L1 sensitivity and a proof.

Long lists count with all their items or pairs, each with a part of one count (geometry/item_partitions.py): a function
of the record alone, so that neither its position nor other records matter. tests/laws/test_list_queries.py checks both
bounds by brute force.
"""

from __future__ import annotations

from dataclasses import dataclass

from cantle.trusted.claims.queries import OncePerRecord
from cantle.trusted.core.budget import Unit
from cantle.trusted.core.keys import ItemParts, ListSizes
from cantle.trusted.geometry import item_partitions
from cantle.trusted.geometry.cross_tables import ColumnCells, CrossTable


@dataclass(frozen=True, eq=False)
class SizesOfLists(OncePerRecord):
    """How many records hold 0, 1, 2, … of the items.

    Claim 71. Sensitivity 1 per record: a record holds one number of these items, which are different columns.
    """

    within: ColumnCells
    items: tuple[int, ...]

    @property
    def key(self) -> ListSizes:
        return ListSizes(self.within, self.items)


@dataclass(frozen=True, eq=False)
class PartsOfLists:
    """Parts of records by item, or by two items, and by cell of the table `by`, every cell.

    Claim 72. Sensitivity most * PARTS per record. A record lies in one cell of `by` (Claim 41). If it holds t of the
    items, which are different columns, it adds floor(PARTS min(1, most / t)) to that cell of each of them, and
    t floor(PARTS min(1, most / t)) <= PARTS most. Likewise for its t (t - 1) / 2 pairs; one with more items than
    LONGEST_PAIRED adds nothing. How many items it holds is counted by the engine in the columns themselves.
    """

    within: ColumnCells
    items: tuple[int, ...]
    by: CrossTable
    most: int
    pairs: bool = False

    @property
    def key(self) -> ItemParts:
        return ItemParts(self.within, self.items, self.by, self.most, self.pairs)

    def sensitivity(self, unit: Unit) -> int:
        return self.most * item_partitions.PARTS * unit.max_records


LIST_QUERIES = (SizesOfLists, PartsOfLists)

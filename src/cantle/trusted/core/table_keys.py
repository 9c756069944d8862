"""Keys of `mosaic`: many small tables of grouped columns, counted together over the whole data.

As in keys.py, a key is public, and `fits` checks it without records. All of these count every record, so they fit only
the unsplit root, and only a domain without a separate class: here the target is a column like the others.
"""

from __future__ import annotations

from dataclasses import dataclass

from cantle.trusted.core.keys import Domain, are_ints
from cantle.trusted.geometry.boxes import Frontier
from cantle.trusted.geometry.cross_tables import (
    MOST_COUNTS,
    ColumnCells,
    CrossTable,
    LabelTree,
    are_tables,
)
from cantle.trusted.geometry.subset import Subset
from cantle.trusted.geometry.views import FamilyDomain, is_view


def is_whole(nodes: Frontier, domain: Domain) -> bool:
    """Whether the question is about all records at once, and the domain has no separate class."""
    return len(nodes) == 1 and nodes.depth == 0 and domain[1] == 1


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
        if not is_whole(nodes, domain) or type(self.within) is not ColumnCells or not self.within.fits(domain[0]):
            return False
        known = self.subset is None or (type(self.subset) is Subset and self.subset.fits())
        return known and are_tables(self.tables, self.within.sizes)


@dataclass(frozen=True, eq=False)
class LeafCounts:
    """The counts of leaf x cell of one column for a public partition of the domain into leaves."""

    within: ColumnCells
    tree: LabelTree
    target: int

    @property
    def classes(self) -> int:
        return self.within.sizes[self.target]

    @property
    def cells(self) -> int:
        return self.tree.leaves * self.classes

    def fits(self, nodes: Frontier, domain: Domain) -> bool:
        if not is_whole(nodes, domain) or type(self.within) is not ColumnCells or not self.within.fits(domain[0]):
            return False
        if type(self.tree) is not LabelTree or not self.tree.fits(self.within.sizes) or not are_ints((self.target,)):
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


CELL_KEYS = (TableCounts, LeafCounts)

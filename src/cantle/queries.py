"""What may be counted, each with its L1 sensitivity and the proof of it. Trusted.

`sensitivity(unit)` bounds how far the whole vector of a region's cells moves, in L1, when one unit (all the
records of one protected person) is added or removed. tests/laws checks every bound by brute force. Counts are 64-bit
integers that only ever add up records, so none wraps around below 2^62 records, the limit of noise/verbs.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from cantle.budget import Unit
from cantle.grid import Grid
from cantle.regions import Cuts
from cantle.tally import MOST_LISTED, ChildSizes, Classes, GridCells, Key, OneWays, PatternTable, Sizes


class Query(Protocol):
    """Counts for the discrete Laplace mechanism."""

    @property
    def key(self) -> Any:
        """What the engine is to count."""

    def sensitivity(self, unit: Unit) -> int:
        """L1 bound for one unit."""


@dataclass(frozen=True)
class Size:
    """The number of records of a region.

    Claim 7. Sensitivity 1 a record: a record adds 1 to one count.
    """

    @property
    def key(self) -> Key:
        return Sizes()

    def sensitivity(self, unit: Unit) -> int:
        return unit.max_records


@dataclass(frozen=True)
class Histogram:
    """The class histogram of a region.

    Claim 8. Sensitivity 1 a record, whatever the number of classes: the cells are disjoint, a record has one class.
    """

    classes: int

    @property
    def key(self) -> Key:
        return Classes(self.classes)

    def sensitivity(self, unit: Unit) -> int:
        return unit.max_records


@dataclass(frozen=True)
class Marginals:
    """One-way tables (code, class) of several attributes.

    Claim 9. Sensitivity = number of tables a record: within a table the cells are disjoint, a record is in one
    cell of each.
    """

    tables: OneWays

    @property
    def key(self) -> Key:
        return self.tables

    def sensitivity(self, unit: Unit) -> int:
        return len(self.tables.attributes) * unit.max_records


@dataclass(frozen=True, eq=False)
class Children:
    """The numbers of records in the children of a cut.

    Claim 10. Sensitivity 1 a record: every record of the region has exactly one child.
    """

    cuts: Cuts

    @property
    def key(self) -> Key:
        return ChildSizes(self.cuts)

    def sensitivity(self, unit: Unit) -> int:
        return unit.max_records


@dataclass(frozen=True, eq=False)
class Cells:
    """The class histogram of every cell of a grid, empty cells included.

    Claim 23. Sensitivity 1 a record: cells and classes are disjoint, a record is in one of each.
    """

    grid: Grid
    classes: int

    @property
    def key(self) -> GridCells:
        return GridCells(self.grid, self.classes)

    def sensitivity(self, unit: Unit) -> int:
        return unit.max_records


@dataclass(frozen=True)
class ItemSets:
    """How many records are exactly each non-empty set of items, for a small universe.

    Claim 30. Sensitivity 1 a record: a record is one set.
    """

    items: int

    @property
    def key(self) -> Key:
        return PatternTable(2**self.items - 1 if self.items in range(1, MOST_LISTED + 1) else 0)

    def sensitivity(self, unit: Unit) -> int:
        return unit.max_records


TRUSTED_QUERIES = (Size, Histogram, Marginals, Children, ItemSets)

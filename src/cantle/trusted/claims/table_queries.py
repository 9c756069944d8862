"""Queries of `mosaic` about a table, each with its L1 sensitivity and a proof.

tests/laws/test_table_queries.py checks every bound by brute force.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cantle.trusted.claims.queries import OncePerRecord
from cantle.trusted.core.budget import Unit
from cantle.trusted.core.keys import CodeTable, Domain, LeafCounts, TableCounts, are_ints, is_whole
from cantle.trusted.counting.base import TableEngine
from cantle.trusted.geometry.boxes import Frontier, Ints
from cantle.trusted.geometry.cross_tables import ColumnCells, CrossTable, LabelTree
from cantle.trusted.geometry.value_classes import ValueClasses

MOST_VALUES = 1 << 53
"""Most values of a column that is searched for frequent ones."""


@dataclass(frozen=True, eq=False)
class CrossTables:
    """Several tables of grouped columns, every cell of each.

    Claim 41. Sensitivity = number of tables per record: a record has one code in each column, so it lies in one cell of
    each column, in one group (`CrossTable.fits`: a map gives every cell one group), and in one cell of each table.
    """

    within: ColumnCells
    tables: tuple[CrossTable, ...]

    @property
    def key(self) -> TableCounts:
        return TableCounts(self.within, self.tables)

    def sensitivity(self, unit: Unit) -> int:
        return len(self.tables) * unit.max_records


@dataclass(frozen=True, eq=False)
class LabelCounts(OncePerRecord):
    """How many records of each class lie in each leaf of a public partition of the domain.

    Claim 42. Sensitivity 1 per record: a record follows one path to one leaf (`LabelTree.fits`: every inner node has
    one rule for each cell, children come after their parents) and has one class. The tree is public: it is grown on
    drawn records, never on private ones.
    """

    within: ColumnCells
    tree: LabelTree
    target: int

    @property
    def key(self) -> LeafCounts:
        return LeafCounts(self.within, self.tree, self.target)


@dataclass(frozen=True)
class ValueSearch:
    """The values of one column by class; `skip` are ascending codes that may not be named (public)."""

    column: int
    values: int
    classes: ValueClasses
    skip: tuple[int, ...] = ()

    def fits(self, sizes: tuple[int, ...]) -> bool:
        """Whether these are values of such a column; null, which may be the last code, is not searched."""
        if not are_ints((self.column, self.values)) or not 0 <= self.column < len(sizes):
            return False
        size = sizes[self.column]
        if not are_ints(self.skip) or list(self.skip) != sorted(set(self.skip)):
            return False
        inside = all(0 <= code < self.values for code in self.skip)
        known = inside and type(self.classes) is ValueClasses and self.classes.fits()
        return known and size - 1 <= self.values <= size and 1 <= self.values <= MOST_VALUES

    def occupied(self, engine: TableEngine, size: int) -> tuple[Ints, Ints]:
        """Exact counts of the values that occur, by code."""
        exact_codes, exact_counts = engine.occupied(CodeTable(self.column, size, 1))
        inside = exact_codes < self.values
        return exact_codes[inside], exact_counts[inside]


def are_searches(searches: object, sizes: tuple[int, ...]) -> bool:
    """Whether these are searches of different columns."""
    if type(searches) is not tuple or not searches:
        return False
    if not all(type(search) is ValueSearch and search.fits(sizes) for search in searches):
        return False
    return len({search.column for search in searches}) == len(searches)


@dataclass(frozen=True)
class Spikes:
    """The values of several columns that hold many records; a segment is one class of values of one column.

    Segments are ordered by search and class, and cells number the codes of a class (`ValueClasses.code`).

    Claim 44. Sensitivity = number of columns per record: in each column a record has at most one value, every value has
    one class, so one cell of one segment per column counts it. All cells of a segment get noise, and a segment has one
    public threshold (Claim 25).
    """

    kind: ClassVar[str] = "tables"
    everyone: ClassVar[bool] = True

    searches: tuple[ValueSearch, ...]
    sizes: tuple[int, ...]

    def fits(self, nodes: Frontier, domain: Domain) -> bool:
        known = is_whole(nodes, domain) and are_ints(self.sizes) and self.sizes == domain[0]
        return known and are_searches(self.searches, self.sizes)

    def owners(self, nodes: Frontier) -> Ints:  # noqa: ARG002
        return np.zeros(sum(len(search.classes.periods) for search in self.searches), dtype=np.int64)

    def totals(self, nodes: Frontier) -> Ints:  # noqa: ARG002
        return np.concatenate([search.classes.sizes(0, search.values) for search in self.searches])

    def occupied(self, engine: TableEngine, positions: Ints, nodes: Frontier) -> tuple[Ints, Ints, Ints]:  # noqa: ARG002
        cells, counts, lengths = [], [], [0]
        for search in self.searches:
            exact_codes, exact_counts = search.occupied(engine, self.sizes[search.column])
            classes = search.classes.of(exact_codes)
            for number in range(len(search.classes.periods)):
                mine = classes == number
                cells.append(search.classes.rank(exact_codes[mine], number))
                counts.append(exact_counts[mine])
                lengths.append(int(mine.sum()))
        return np.cumsum(lengths), np.concatenate(cells), np.concatenate(counts)

    def sensitivity(self, unit: Unit) -> int:
        return len(self.searches) * unit.max_records

    def values(self, segment: Ints, cell: Ints) -> list[tuple[Ints, Ints]]:
        """For each search the codes behind (segment, cell), ascending, and the position of each in the given arrays."""
        by_search, first = [], 0
        for search in self.searches:
            codes, places = [], []
            for number in range(len(search.classes.periods)):
                at = np.flatnonzero(segment == first + number)
                codes.append(search.classes.code(cell[at], number))
                places.append(at)
            first += len(search.classes.periods)
            order = np.argsort(np.concatenate(codes))
            by_search.append((np.concatenate(codes)[order], np.concatenate(places)[order]))
        return by_search


CELL_QUERIES = (CrossTables, LabelCounts)

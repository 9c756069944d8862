"""Queries of `mosaic` about a table, each with its L1 sensitivity and a proof.

They count small tables of grouped columns. They count every record, so they fit only the unsplit root, and only a
domain without a separate class: here the target is a column like the others.
tests/laws/test_table_queries.py checks every bound by brute force.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cantle.trusted.claims.queries import OncePerRecord, OwnKey
from cantle.trusted.core.budget import Unit
from cantle.trusted.core.keys import CodeTable, Domain, are_ints, are_whole_cells, is_whole
from cantle.trusted.counting.base import Counted, TableEngine
from cantle.trusted.geometry.boxes import Frontier, Ints
from cantle.trusted.geometry.cross_tables import MOST_COUNTS, ColumnCells, CrossTable, LabelTree, are_tables
from cantle.trusted.geometry.subset import Subset
from cantle.trusted.geometry.value_classes import ValueClasses

MOST_VALUES = 1 << 53
"""Most values of a column that is searched for frequent ones."""


@dataclass(frozen=True, eq=False)
class CrossTables(OwnKey):
    """Several tables of grouped columns, every cell of each; if a subset is given, of its records only (Claim 46).

    Claim 41. Sensitivity = number of tables per record: a record has one code in each column, so it lies in one cell of
    each column, in one group (`CrossTable.fits`: a map gives every cell one group), and in one cell of each table.
    """

    within: ColumnCells
    tables: tuple[CrossTable, ...]
    subset: Subset | None = None

    @property
    def cells(self) -> int:
        return sum(table.cells for table in self.tables)

    def fits(self, nodes: Frontier, domain: Any) -> bool:
        known = self.subset is None or (type(self.subset) is Subset and self.subset.fits())
        return known and are_whole_cells(self.within, nodes, domain) and are_tables(self.tables, self.within.shape)

    @property
    def parts(self) -> int:
        """How much a record adds to the cells of one table."""
        return 1

    def exact_counts(self, engine: Any) -> Counted:
        """The counts of all tables, and where each begins. The engine keeps them until it is asked about others; their
        lengths are kept with them, because a method could change the maps of the tables in between."""
        return engine.kept(self, lambda: counted(engine, self, self.tables))

    def sensitivity(self, unit: Unit) -> int:
        return len(self.tables) * self.parts * unit.max_records


def counted(engine: TableEngine, key: object, tables: Sequence[Any]) -> Counted:
    """The exact counts of the tables of a key, and where each begins."""
    ((_, _, exact_counts),) = engine.tally(np.zeros(1, dtype=np.int64), key)
    return exact_counts[0], np.cumsum([0, *(table.cells for table in tables[:-1])], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class LabelCounts(OwnKey, OncePerRecord):
    """How many records of each class lie in each leaf of a public partition of the domain.

    Claim 42. Sensitivity 1 per record: a record follows one path to one leaf (`LabelTree.fits`: every inner node has
    one rule for each cell, children come after their parents) and has one class. The tree is public: it is grown on
    drawn records, never on private ones.
    """

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

"""The database engine: records stay in PostgreSQL or DuckDB, behind ibis. Needs the extra `database`.

The codes of the records are in a temporary table of the database, with the number of each record's region. Questions
are grouped counts, and only these leave the database. Expressions are written with ibis; temporary_tables.py runs them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, NoReturn, TypeVar, assert_never

import numpy as np

from cantle.errors import EngineError
from cantle.trusted.bounding.persons import marks_of_lists, postgres_mark
from cantle.trusted.engines.base import Chunk, Tables
from cantle.trusted.engines.packing import numbers
from cantle.trusted.engines.temporary_tables import TemporaryTables
from cantle.trusted.geometry.boxes import Cuts, Ints
from cantle.trusted.geometry.cross_tables import ColumnCells, CrossTable
from cantle.trusted.geometry.grid import Grid
from cantle.trusted.geometry.subset import PRIME, Subset
from cantle.trusted.geometry.workloads import Questions, TableWorkload
from cantle.trusted.keys import (
    ChildSizes,
    Classes,
    CodeTable,
    GridBins,
    GridCells,
    OneWayEach,
    OneWays,
    Sizes,
    TableKey,
)
from cantle.trusted.table_keys import LeafCounts, TableCounts

if TYPE_CHECKING:
    from ibis.expr.types import IntegerValue, Table

CHUNK_CELLS = 1 << 18
"""Most cells of counts held and returned together."""

LINES = 1000
"""Most rules sent in one statement."""

TABLES = 32
"""Most cross tables counted in one statement."""

QUESTIONS = 100
"""Most counting questions in one statement."""

Thing = TypeVar("Thing")

RULES = {"node": "int64", "child": "int64", "attribute": "int64", "point": "int64"}


class DatabaseEngine(Tables):
    """Counts over an ibis table of codes c0, c1, ... and classes `label`.

    If `max_records` of each person are used, the table has a column `who` as well, in which nothing is missing.
    """

    def __init__(
        self,
        codes: Table,
        *,
        sizes: tuple[int, ...],
        class_count: int,
        max_records: int | None = None,
        own: bool = False,
        chunk_cells: int = CHUNK_CELLS,
    ) -> None:
        self.sizes, self.classes = sizes, class_count
        self._store, self._own = TemporaryTables(codes.get_backend()), own
        self._ibis = self._store.ibis
        self._chunk_cells = chunk_cells
        self._all: Table | None = None
        self._grid: Grid | None = None
        self._placed: Table | None = None
        self._known: dict[int, tuple[Ints, Ints]] = {}
        with_node = codes.mutate(node=self._ibis.literal(0, type="int32"))
        self._codes = self._store.keep(with_node) if max_records is None else self._bounded(with_node, max_records)

    def __repr__(self) -> str:
        return "DatabaseEngine()"

    def __reduce__(self) -> NoReturn:
        raise TypeError("an engine holds private records and cannot be pickled")

    def close(self) -> None:
        held = [self._codes, self._placed, None if self._all is self._codes else self._all]
        del self._codes, self._placed, self._known, self._all
        self._kept = None
        with suppress(EngineError):  # a database that is gone has no temporary tables
            for table in held:
                self._store.drop(table)
        if self._own:
            with suppress(Exception):
                self._store.backend.disconnect()

    # ---- the protocol -------------------------------------------------------------------------------------

    def keep_all(self) -> None:
        self._all = self._codes

    def count_all(self, workload: TableWorkload) -> Ints:
        """Counts many questions in one statement, then tables of pairs like all cross tables."""
        assert self._all is not None
        asked = [self._answers(workload.within, family) for family in (workload.one_column, workload.more_columns)]
        return np.concatenate([*asked, self._tables_of(self._all, workload.within, workload.pairs)])

    def _tally(self, positions: Ints, key: TableKey) -> Iterator[Chunk]:
        step = max(1, self._chunk_cells // key.cells)
        for first in range(0, len(positions), step):
            asked = positions[first : first + step]
            low, high = int(asked[0]), int(asked[-1])
            with self._asking(asked, first, key) as cells:
                node, cell, times = self._store.fetch(cells).T
            local = numbers(asked - low, high - low + 1)[node - low]
            exact_counts = np.zeros((len(asked), key.cells), dtype=np.int64)
            exact_counts[local[local >= 0], cell[local >= 0]] = times[local >= 0]
            yield first, first + len(asked), exact_counts

    def split(self, positions: Ints, cuts: Cuts) -> None:
        with self._ruled(positions, cuts.attribute, cuts.point) as table:
            child = 2 * table.child + (self._own_code(table, cuts.attribute) >= table.point).ifelse(1, 0)
            names = [name for name in self._codes.columns if name != "node"]
            children = self._store.keep(table.select(*names, node=child.cast("int32")))
        if self._codes is not self._all:
            self._store.drop(self._codes)
        self._codes = children

    def occupied(self, key: GridCells | CodeTable) -> tuple[Ints, Ints]:
        """The occupied entries of a key, ascending, and their counts."""
        if isinstance(key, GridCells):
            self.place(key.grid)
            assert self._placed is not None
            return self._store.listed(self._placed, self._placed.entry)
        if key.attribute not in self._known:  # needed in every round, and never changes
            entry = self._entry(self._codes, key.attribute, key.classes)
            self._known[key.attribute] = self._store.listed(self._codes, entry)
        return self._known[key.attribute]

    def place(self, grid: Grid) -> None:
        """Keeps the entry of each record beside its codes; grids are compared by their edges."""
        if self._grid is not None and self._grid.same(grid):
            return
        self._store.drop(self._placed)
        self._grid, table = grid.copy(), self._codes
        cell: IntegerValue = self._ibis.literal(0, type="int64")
        for a, edge in enumerate(self._grid.edges):
            if len(edge) > 2:
                span = self._steps(table[f"c{a}"], edge[1:-1].tolist(), list(range(len(edge) - 1)))
                cell = cell * (len(edge) - 1) + span
        self._placed = self._store.keep(table.mutate(entry=(cell * self.classes + table.label).cast("int64")))

    def dense(self, key: GridBins) -> Ints:
        """All counts of the placed grid by bin, shape (cells, classes, width)."""
        assert self._grid is not None
        assert self._placed is not None
        table, cells = self._placed, self._grid.cells
        number = self._steps(table[f"c{key.attribute}"], key.starts[1:].tolist(), key.number.tolist())
        entry, times = self._store.listed(table, table.entry * key.width + number)
        counts = np.zeros(cells * key.classes * key.width, dtype=np.int64)
        counts[entry] = times
        return counts.reshape(cells, key.classes, key.width)

    def _cell_counts(self, key: TableCounts | LeafCounts) -> Ints:
        """Counts of cross tables or leaves, several tables in one statement; a subset is kept aside for them."""
        if isinstance(key, LeafCounts):
            label = self._group(self._codes, key.target, key.within.edges[key.target])
            return _spread(*self._store.listed(self._codes, self._leaf(key, 0) * key.classes + label), key.cells)
        table = self._codes if key.subset is None else self._store.keep(self._subset(key.subset))
        counts = self._tables_of(table, key.within, key.tables)
        if table is not self._codes:
            self._store.drop(table)
        return counts

    def _tables_of(self, table: Table, within: ColumnCells, tables: Sequence[CrossTable]) -> Ints:
        """The counts of cross tables, several in one statement."""
        counts, first = np.zeros(sum(one.cells for one in tables), dtype=np.int64), 0
        for some in _batched(tables, TABLES):
            parts = []
            for one in some:
                parts.append(self._cross_table(table, within, one, first))
                first += one.cells
            exact_rows = self._store.fetch(self._ibis.union(*parts) if len(parts) > 1 else parts[0])
            counts[exact_rows[:, 0]] = exact_rows[:, 1]
        return counts

    def _answers(self, within: ColumnCells, questions: Questions) -> Ints:
        """How many records satisfy each question."""
        assert self._all is not None
        table, edges = self._all, [edge.tolist() for edge in within.edges]
        conditions = []
        for column, lo, hi in zip(questions.column.tolist(), questions.lo.tolist(), questions.hi.tolist(), strict=True):
            code = self._column(table, column)
            conditions.append((code >= edges[column][lo]) & (code < edges[column][hi]))
        starts, exact_numbers = questions.starts.tolist(), [0] * len(questions)
        for some in _batched(range(len(questions)), QUESTIONS):
            every = {f"n{i}": reduce(and_, conditions[starts[i] : starts[i + 1]]) for i in some}
            sums = {name: condition.ifelse(1, 0).sum().fill_null(0).cast("int64") for name, condition in every.items()}
            for i, number in zip(some, self._store.fetch(table.aggregate(**sums))[0].tolist(), strict=True):
                exact_numbers[i] = number
        return np.array(exact_numbers, dtype=np.int64)

    def _column(self, table: Table, column: int) -> IntegerValue:
        """A column by its number; the one after the attributes is the class."""
        return table.label if column == len(self.sizes) else table[f"c{column}"]

    # ---- expressions --------------------------------------------------------------------------------------

    @contextmanager
    def _asking(self, asked: Ints, first: int, key: TableKey) -> Iterator[Table]:
        """The grouped counts (node, cell, n) of a key, for at least the given regions."""
        codes = self._codes
        table = codes.filter((codes.node >= int(asked[0])) & (codes.node <= int(asked[-1])))
        rows = slice(first, first + len(asked))
        match key:
            case Sizes():
                yield _grouped(table, self._ibis.literal(0, type="int64"))
            case Classes():
                yield _grouped(table, table.label.cast("int64"))
            case OneWays():
                parts = [
                    _grouped(table, self._entry(table, attribute, key.classes) + int(offset) * key.classes)
                    for attribute, offset in zip(key.attributes, key.offsets[:-1], strict=True)
                ]
                yield self._ibis.union(*parts) if len(parts) > 1 else parts[0]
            case OneWayEach():
                attribute = key.attribute[rows]
                with self._ruled(asked, attribute, attribute) as ruled:
                    code = self._own_code(ruled, attribute)
                    yield _grouped(ruled, code if key.classes == 1 else code * key.classes + ruled.label)
            case ChildSizes():
                attribute = key.cuts.attribute[rows]
                with self._ruled(asked, attribute, key.cuts.point[rows]) as ruled:
                    yield _grouped(ruled, (self._own_code(ruled, attribute) >= ruled.point).ifelse(1, 0))
            case _:
                assert_never(key)

    def _cross_table(self, table: Table, within: ColumnCells, one: CrossTable, first: int) -> Table:
        """The grouped counts (entry, n) of a cross table, entries from `first` on."""
        entry: IntegerValue = self._ibis.literal(0, type="int64")
        for column, map_, groups in zip(one.columns, one.maps, one.shape, strict=True):
            edges = within.edges[column]
            starts = np.flatnonzero(np.diff(map_.astype(np.int64), prepend=-1))
            entry = entry * groups + self._group(table, column, np.append(edges[starts], edges[-1]))
        entries = table.select(entry=(entry + first).cast("int64"))
        return entries.group_by("entry").agg(n=lambda grouped: grouped.count())

    def _group(self, table: Table, column: int, edges: Ints) -> IntegerValue:
        """The number of the span that a record's code is in."""
        return self._steps(self._column(table, column), edges[1:-1].tolist(), list(range(len(edges) - 1)))

    def _leaf(self, key: LeafCounts, node: int) -> IntegerValue:
        """The leaf that a record reaches from a node."""
        tree, column = key.tree, int(key.tree.column[node])
        if column < 0:
            return self._ibis.literal(int(tree.leaf[node]), type="int64")
        edges, goes = key.within.edges[column], tree.goes_left[node]
        ends = np.flatnonzero(np.diff(goes.astype(np.int64), prepend=-1))  # where runs of one side begin
        sides = goes[ends].astype(np.int64).tolist()
        left = self._steps(self._codes[f"c{column}"], edges[ends[1:]].tolist(), sides) == 1
        return left.ifelse(self._leaf(key, int(tree.left[node])), self._leaf(key, int(tree.right[node])))

    def _subset(self, subset: Subset) -> Table:
        """The records that take part, by the rule of geometry/subset.py as database expressions."""
        names = [f"c{column}" for column in range(len(self.sizes))]
        window = self._ibis.window(group_by=names, order_by=names[:1])
        table = self._codes.mutate(copy=self._ibis.row_number().over(window).cast("int64") + 1)
        *multipliers, last, added = subset.multipliers(len(names))
        hashed = (table.copy % PRIME * last + added) % PRIME
        for name, multiplier in zip(names, multipliers, strict=True):
            hashed = (hashed + table[name].cast("int64") % PRIME * multiplier) % PRIME
        table = table.mutate(hashed=hashed.cast("int64"))
        table = table.mutate(square=(table.hashed * table.hashed % PRIME).cast("int64"))
        table = table.mutate(fourth=(table.square * table.square % PRIME).cast("int64"))
        return table.filter(table.hashed * table.fourth % PRIME < subset.below).select(*names)

    def _bounded(self, codes: Table, max_records: int) -> Table:
        """Keeps at most `max_records` records per person (Claim 40): persons.within_bound in SQL."""
        if self._store.backend.name not in ("postgres", "duckdb"):  # the databases that are known to compute the hash
            raise EngineError("only PostgreSQL and DuckDB can bound the records of persons; use another engine")
        names = [*(f"c{column}" for column in range(len(self.sizes))), "label"]
        held, listed = self._store.keep(codes), ", ".join(names)
        part = self._store.new_name("part")
        with self._marking(names if self.classes > 1 else names[:-1]) as mark:
            marked = f"SELECT {listed}, node, who, {mark} AS mark FROM {held.get_name()}"
            place = f"row_number() OVER (PARTITION BY who ORDER BY mark, {', '.join(reversed(names))})"
            placed = f"SELECT {listed}, node, {place} AS place FROM ({marked}) AS marked"
            used = f"SELECT {listed}, node FROM ({placed}) AS placed WHERE place <= {max_records}"
            self._store.run(f"CREATE TEMPORARY TABLE {part} AS {used}")
        self._store.drop(held)
        return self._ibis.table(codes.drop("who").schema(), name=part)

    @contextmanager
    def _marking(self, names: Sequence[str]) -> Iterator[str]:
        """The hash of a record in SQL (persons.marks)."""
        name = self._store.new_name("mark")
        if self._store.backend.name == "postgres":
            self._store.run(postgres_mark(name))
            yield f"pg_temp.{name}(ARRAY[{', '.join(names)}]::bigint[])"
            self._store.run(f"DROP FUNCTION pg_temp.{name}(bigint[])")
            return
        # DuckDB calls this process. It must be a lambda, because DuckDB would resolve the annotated types of a
        # function.
        with self._store.guarded():
            of_lists = ["UBIGINT[]"], "UBIGINT"
            self._store.backend.con.create_function(name, lambda codes: marks_of_lists(codes), *of_lists, type="arrow")
        yield f"{name}([{', '.join(f'{column}::UBIGINT' for column in names)}])"
        self._store.backend.con.remove_function(name)

    def _entry(self, table: Table, attribute: int, classes: int) -> IntegerValue:
        """code * classes + class; the code alone when the class is left out."""
        code = table[f"c{attribute}"].cast("int64")
        return code if classes == 1 else code * classes + table.label

    def _own_code(self, table: Table, attributes: Ints) -> IntegerValue:
        """The code of the attribute that the rule of a record's region names."""
        used = np.unique(attributes).tolist()
        if not used:
            return self._ibis.literal(0, type="int64")
        return self._ibis.cases(*((table.attribute == a, table[f"c{a}"].cast("int64")) for a in used), else_=-1)

    def _steps(self, code: IntegerValue, starts: Sequence[int], numbers: Sequence[int]) -> IntegerValue:
        """numbers[i] for codes from starts[i - 1] to before starts[i]."""
        if not starts:
            return self._ibis.literal(int(numbers[0]), type="int64")
        pairs = [(code < start, int(number)) for start, number in zip(starts, numbers, strict=False)]
        return self._ibis.cases(*pairs, else_=int(numbers[-1])).cast("int64")

    # ---- the database -------------------------------------------------------------------------------------

    @contextmanager
    def _ruled(self, positions: Ints, attribute: Ints, point: Ints) -> Iterator[Table]:
        """The records of these regions, each beside the rule of its region."""
        name = self._store.new_name("rules")
        self._store.run(f"CREATE TEMPORARY TABLE {name} ({', '.join(f'{column} BIGINT' for column in RULES)})")
        rules = np.stack([positions, np.arange(len(positions)), attribute, point], axis=1).tolist()
        for first in range(0, len(rules), LINES):
            lines = ", ".join(str(tuple(rule)) for rule in rules[first : first + LINES])
            self._store.run(f"INSERT INTO {name} VALUES {lines}")
        sent = self._ibis.table(RULES, name=name)
        yield self._codes.join(sent.rename(of="node"), [("node", "of")])
        self._store.run(f"DROP TABLE {name}")


def _grouped(table: Table, cell: IntegerValue) -> Table:
    """The number of records per region and cell."""
    return table.select("node", cell=cell).group_by("node", "cell").agg(n=lambda grouped: grouped.count())


def _batched(things: Sequence[Thing], most: int) -> Iterator[Sequence[Thing]]:
    for first in range(0, len(things), most):
        yield things[first : first + most]


def _spread(entry: Ints, times: Ints, cells: int) -> Ints:
    """All counts, given those that are not 0."""
    counts = np.zeros(cells, dtype=np.int64)
    counts[entry] = times
    return counts

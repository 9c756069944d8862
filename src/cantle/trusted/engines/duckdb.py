"""The DuckDB engine: records in a private DuckDB database on disk, for tables larger than memory. Needs `duckdb`.

Records are packed into words (cantle.trusted.engines.packing) and stored in slabs: one table for consecutive regions
whose counts fit the cache. A slab is read in batches and counted by the kernel that all engines with parts share; a
split writes new slabs, so that the records of a region stay together however many regions there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from cantle.trusted.arrays import Codes
from cantle.trusted.bounding.persons import marks
from cantle.trusted.engines.base import Chunk, WholeTables
from cantle.trusted.engines.packing import GridTally, Layout, Tally, Words, add_bins, numbers, split_words
from cantle.trusted.engines.private_database import BATCH, MEMORY, PrivateDatabase
from cantle.trusted.engines.table_counts import count_all_words, count_words
from cantle.trusted.geometry.boxes import Cuts, Ints
from cantle.trusted.geometry.grid import Grid
from cantle.trusted.geometry.workloads import TableWorkload
from cantle.trusted.keys import CodeTable, GridBins, GridCells, TableKey
from cantle.trusted.table_keys import LeafCounts, TableCounts

if TYPE_CHECKING:
    from pyarrow import Array

CHUNK_CELLS = 1 << 18
"""Cells of counts returned together, as in memory."""

SLAB_CELLS = 1 << 22
"""Cells of counts of a slab: 32 MB."""

FAILURE = "the duckdb engine failed: the memory limit is too low, or the disk of temporary files (TMPDIR) is full"

Batch = tuple[Sequence[Codes], Codes]
"""Codes by column, and classes."""


@dataclass(frozen=True)
class OfPersons:
    """Batches of records with their persons (Arrow arrays of texts); at most `max_records` per person are used."""

    batches: Iterable[tuple[Array, Batch]]
    max_records: int


@dataclass(frozen=True)
class _Slab:
    """The table of the records of regions first, ..., last - 1, numbered from 0 inside the table."""

    table: str
    first: int
    last: int


class DuckEngine(WholeTables):
    """Counts over words in DuckDB; `memory` limits the total, half of it for DuckDB's own buffers."""

    def __init__(
        self,
        batches: Iterable[Batch] | OfPersons,
        *,
        sizes: tuple[int, ...],
        class_count: int,
        memory: int = MEMORY,
        slab_cells: int = SLAB_CELLS,
    ) -> None:
        self.sizes, self.classes = sizes, class_count
        self._layout, self._slab_cells = Layout(sizes, class_count), slab_cells
        self._columns = [f"w{i}" for i in range(self._layout.words)]
        self._base = PrivateDatabase(memory, FAILURE)
        self._tables = 0
        self._all: str | None = None
        self._grid: Grid | None = None
        self._cells: GridTally | None = None
        self._known: dict[int, tuple[Ints, Ints]] = {}
        try:
            self._slabs = [_Slab(self._new_table("node UINTEGER"), 0, 1)]
            if isinstance(batches, OfPersons):
                self._fill_bounded(batches)
            else:
                self._fill(batches)
        except BaseException:
            self._slabs = []
            self.close()  # the folder is deleted, whatever happened
            raise

    def __repr__(self) -> str:
        return "DuckEngine()"

    def __reduce__(self) -> NoReturn:
        raise TypeError("an engine holds private records and cannot be pickled")

    def close(self) -> None:
        self._base.close()
        del self._base, self._slabs, self._known, self._cells
        self._kept = None

    def _fill(self, batches: Iterable[Batch]) -> None:
        """Packs all records into the first slab, some at a time, whatever the size of the batches."""
        held: list[Words] = []
        for columns, classes in batches:
            for first in range(0, len(classes), BATCH):
                rows = slice(first, first + BATCH)
                held.append(self._layout.pack([column[rows] for column in columns], classes[rows]))
                if sum(words.shape[1] for words in held) >= BATCH:
                    self._insert_root(held)
                    held = []
        self._insert_root(held)

    def _insert_root(self, held: list[Words]) -> None:
        if held:
            words = np.concatenate(held, axis=1)
            self._insert(self._slabs[0].table, words, np.zeros(words.shape[1], dtype=np.int64))

    def _fill_bounded(self, records: OfPersons) -> None:
        """The same with at most `max_records` records per person (Claim 40): persons.within_bound in SQL.

        Later attributes are in later words and higher bits, so that words from the last to the first are in the order
        of the codes, the last column first. Identifiers are compared as bytes.
        """
        words, content = ", ".join(self._columns), ", ".join(reversed(self._columns))
        numbers = ", ".join(f"{name} UBIGINT" for name in (*self._columns, "mark"))
        self._base.run(f"CREATE TABLE people ({numbers}, who BLOB)")
        for ids, (columns, classes) in records.batches:
            mark = marks([*columns, classes] if self.classes > 1 else columns, len(classes))
            for first in range(0, len(classes), BATCH):
                rows = slice(first, first + BATCH)
                packed = self._layout.pack([column[rows] for column in columns], classes[rows])
                self._insert("people", np.stack([*packed, mark[rows]]), ids[rows].cast(self._base.arrow.large_binary()))
        place = f"row_number() OVER (PARTITION BY who ORDER BY mark, {content})"
        self._base.run(
            f"INSERT INTO {self._slabs[0].table} SELECT {words}, 0 FROM "
            f"(SELECT {words}, {place} AS place FROM people) WHERE place <= {records.max_records}"
        )
        self._base.run("DROP TABLE people")
        self._base.run("CHECKPOINT")

    # ---- the protocol -------------------------------------------------------------------------------------

    def keep_all(self) -> None:
        self._all = self._slabs[0].table

    def count_all(self, workload: TableWorkload) -> Ints:
        records = self._read(str(self._all), "node")
        return count_all_words(self._layout, workload, (words for words, _ in records))

    def _tally(self, positions: Ints, key: TableKey) -> Iterator[Chunk]:
        for slab, start, end in self._asked(positions, max(1, self._slab_cells // key.cells)):
            number = numbers(positions[start:end] - slab.first, slab.last - slab.first)
            tally = Tally(self._layout, key, end - start, start)
            for words, node in self._read(slab.table, "node"):
                tally.add(words, number[node])
            exact_counts = tally.table()
            step = max(1, CHUNK_CELLS // key.cells)
            for first in range(start, end, step):
                last = min(first + step, end)
                yield first, last, exact_counts[first - start : last - start]

    def split(self, positions: Ints, cuts: Cuts) -> None:
        slabs: list[_Slab] = []
        most = max(1, self._slab_cells // (2 * max(1, sum(self.sizes)) * self.classes))
        for slab, start, end in self._asked(positions, len(positions) + 1):
            number = numbers(positions[start:end] - slab.first, slab.last - slab.first)
            own = Cuts(cuts.attribute[start:end], cuts.point[start:end])
            edges = [*range(start, end, most), end]
            fresh = [_Slab(self._new_table("node UINTEGER"), 2 * a, 2 * b) for a, b in pairwise(edges)]
            for words, node in self._read(slab.table, "node"):
                words, child = split_words(self._layout, words, node, number, own)
                self._share_out(fresh, words, child + 2 * start)
            self._drop(slab.table)
            slabs += fresh
        for slab in self._slabs:
            self._drop(slab.table)
        self._slabs = slabs
        self._base.run("CHECKPOINT")  # so that the space of dropped tables is reused

    def occupied(self, key: GridCells | CodeTable) -> tuple[Ints, Ints]:
        """The occupied entries of a key, ascending, and their counts."""
        if isinstance(key, GridCells):
            return self._occupied(key.grid)
        if key.attribute not in self._known:  # needed in every round, and never changes
            entry = self._entry(key)
            query = f"SELECT {entry} AS entry, count(*) AS n FROM {self._slabs[0].table} GROUP BY entry ORDER BY entry"
            self._known[key.attribute] = self._base.two_columns(query)
        return self._known[key.attribute]

    def place(self, grid: Grid) -> None:
        """Sets the grid of the next questions; grids are compared by their edges."""
        if self._grid is None or not self._grid.same(grid):
            self._grid, self._cells = grid.copy(), None

    def dense(self, key: GridBins) -> Ints:
        """All counts of the placed grid by bin, shape (cells, classes, width)."""
        assert self._grid is not None
        if self._cells is None:
            self._cells = GridTally(self._layout, self._grid)
            for words, _ in self._read(self._slabs[0].table, "node"):
                self._cells.add(words)
        if self._cells.has(key.attribute):
            return self._cells.dense(key)
        counts = np.zeros(self._grid.cells * key.classes * key.width, dtype=np.int64)
        for words, _ in self._read(self._slabs[0].table, "node"):
            add_bins(counts, self._layout, key, self._grid, words)
        return counts.reshape(self._grid.cells, key.classes, key.width)

    def _cell_counts(self, key: TableCounts | LeafCounts) -> Ints:
        """Counts of cross tables or leaves, in one pass; for a subset DuckDB numbers equal records."""
        table = self._slabs[0].table
        if isinstance(key, LeafCounts) or key.subset is None:
            records = self._read(table, "node")
            return count_words(self._layout, key, ((words, None) for words, _ in records))
        words = ", ".join(self._columns)
        numbered = f"(SELECT {words}, row_number() OVER (PARTITION BY {words}) AS copy FROM {table})"
        return count_words(self._layout, key, self._read(numbered, "copy"))

    def _occupied(self, grid: Grid) -> tuple[Ints, Ints]:
        """The occupied entries of a grid, written to a table and grouped there, because there may be very many."""
        table = self._new_table("entry BIGINT", words=False)
        for words, _ in self._read(self._slabs[0].table, "node"):
            self._insert(table, words[:0], self._layout.locate(words, grid))
        entries = self._base.two_columns(f"SELECT entry, count(*) AS n FROM {table} GROUP BY entry ORDER BY entry")
        self._drop(table)
        return entries

    # ---- slabs --------------------------------------------------------------------------------------------

    def _asked(self, positions: Ints, most: int) -> Iterator[tuple[_Slab, int, int]]:
        """The slabs of the given regions, at most this many regions at a time: (slab, start, end) in the list."""
        for slab in self._slabs:
            start, end = np.searchsorted(positions, [slab.first, slab.last]).tolist()
            for first in range(start, end, most):
                yield slab, first, min(first + most, end)

    def _share_out(self, slabs: list[_Slab], words: Words, node: Ints) -> None:
        for slab in slabs:
            if len(slabs) == 1:
                self._insert(slab.table, words, node - slab.first)
            else:
                mine = (node >= slab.first) & (node < slab.last)
                self._insert(slab.table, words[:, mine], node[mine] - slab.first)

    def _entry(self, key: CodeTable) -> str:
        """code * classes + class in SQL."""
        code, label = (self._field(field) for field in (key.attribute, -1))
        return f"({code}) * {key.classes} + {label}"

    def _field(self, attribute: int) -> str:
        layout = self._layout
        word, shift, mask = (int(part[attribute]) for part in (layout.word, layout.shift, layout.mask))
        return f"((w{word} >> {shift}) & {mask})::BIGINT"

    # ---- the database -------------------------------------------------------------------------------------

    def _new_table(self, last: str, words: bool = True) -> str:
        """Makes an empty table of words (if requested) and one more number."""
        self._tables += 1
        name = f"part{self._tables}"
        columns = [f"{column} UBIGINT" for column in self._columns if words]
        self._base.run(f"CREATE TABLE {name} ({', '.join([*columns, last])})")
        return name

    def _drop(self, table: str) -> None:
        if table != self._all:
            self._base.run(f"DROP TABLE IF EXISTS {table}")

    def _insert(self, table: str, words: Words, last: Ints | Array) -> None:
        if len(last):
            names = [*(f"w{i}" for i in range(len(words))), "last"]
            self._base.insert(table, self._base.arrow.table([*words, last], names=names))

    def _read(self, table: str, last: str) -> Iterator[tuple[Words, Ints]]:
        """The records of a table with one more number each, a batch at a time."""
        for batch in self._base.batches(f"SELECT {', '.join([*self._columns, last])} FROM {table}"):
            *words, numbers = (column.to_numpy() for column in batch.columns)
            yield np.stack(words), numbers

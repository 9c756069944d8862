"""The engine of tables: records packed into 64-bit words, each region's records next to each other.

Every verb reads the records in batches and adds up the counts of batches, so it does not matter where they are kept: a
store (stores.py) gives the room, in memory or on disk. Kernels count the same, faster.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import ClassVar, assert_never

import numpy as np

from cantle import kernel_choice
from cantle.trusted.claims.list_queries import PartsOfLists, SizesOfLists
from cantle.trusted.claims.queries import Histogram, Size
from cantle.trusted.claims.table_queries import CrossTables, LabelCounts
from cantle.trusted.core.arrays import Codes, Words
from cantle.trusted.core.keys import CodeTable, Domain, GridBins, GridCells, OneWayEach, OneWays
from cantle.trusted.core.mixing import scramble
from cantle.trusted.core.private import Private
from cantle.trusted.counting.base import Chunk, Counted
from cantle.trusted.counting.list_counts import count_list
from cantle.trusted.counting.packing import Layout, add_counts, joint, merged
from cantle.trusted.counting.stores import InMemory, Store
from cantle.trusted.geometry.boxes import BoxRule, Cuts, Frontier, Ints
from cantle.trusted.geometry.cross_tables import ColumnCells, count_tables, pays
from cantle.trusted.geometry.grid import Grid, SpanValues
from cantle.trusted.geometry.subset import copy_numbers
from cantle.trusted.geometry.workloads import TableWorkload, count_table

CHUNK_CELLS = 1 << 17
"""Cells of counts held at once: one megabyte, about a core's cache."""

BATCH = 1 << 16
"""Records read together where nothing is prepared for a batch: their codes stay in the cache."""

MANY = 1 << 20
"""Records read together where tables are looked up, or joint tables added up, once per batch."""

SORTED = 1 << 22
"""Records that are sorted together."""

DENSE = 1 << 20
"""Tables of up to this many entries, or twice the records, are counted in an array of that size."""

Batch = tuple[Sequence[Codes], Codes]
"""Codes by column, and classes."""


TableKey = Size | Histogram | OneWays | OneWayEach
CellKey = CrossTables | LabelCounts | SizesOfLists | PartsOfLists
TABLE_KEYS = (Size, Histogram, OneWays, OneWayEach)
CELL_KEYS = (CrossTables, LabelCounts, SizesOfLists, PartsOfLists)
"""The keys that count regions, and those that count small tables of all records."""


class Tables(ABC):
    """The common part of all engines of tables."""

    kind: ClassVar[str] = "tables"
    keys: ClassVar[tuple[type, ...]] = (*TABLE_KEYS, *CELL_KEYS)
    compiled: bool = False
    sizes: tuple[int, ...]
    classes: int
    _kept: tuple[object, Counted] | None = None

    @property
    def domain(self) -> Domain:
        return self.sizes, self.classes

    def root(self) -> Frontier:
        return Frontier.root(self.sizes)

    def kept(self, asked: object, count: Callable[[], Counted]) -> Counted:
        """The counts that `count` returned for this very object, kept since then; those of any other are dropped."""
        if self._kept is None or self._kept[0] is not asked:
            self._kept = None
            self._kept = asked, count()
        return self._kept[1]

    def tally(self, positions: Ints, key: TableKey | CellKey) -> Iterator[Chunk]:
        """Exact counts; a question about whole tables is about one region, the root."""
        if isinstance(key, CELL_KEYS):
            yield 0, 1, self._cell_counts(key).reshape(1, -1)
        else:
            yield from self._tally(positions, key)

    @abstractmethod
    def occupied(self, key: GridCells | CodeTable) -> tuple[Ints, Ints]:
        """The occupied entries of a key, ascending, and their counts."""

    @abstractmethod
    def _tally(self, positions: Ints, key: TableKey) -> Iterator[Chunk]:
        """The counts of the listed regions."""

    @abstractmethod
    def _cell_counts(self, key: CellKey) -> Ints:
        """The counts of cross tables, leaves or items of lists."""


class WordEngine(Private, Tables):
    """Counts over words. Batches of codes may have any size; by default kernels are used if they pay off."""

    def __init__(
        self,
        batches: Iterable[Batch],
        *,
        sizes: tuple[int, ...],
        class_count: int,
        store: Store | None = None,
        compiled: bool | None = None,
        chunk_cells: int = CHUNK_CELLS,
    ) -> None:
        self.sizes, self.classes = sizes, class_count
        self._layout, self._store, self._chunk_cells = Layout(sizes, class_count), store or InMemory(), chunk_cells
        packed = (self._packed(batch) for batch in _together(batches))
        self._rows = self._store.gathered(packed, (self._layout.words,), np.uint64)
        self.compiled = kernel_choice.worth_loading(len(self._rows)) if compiled is None else compiled
        self._starts: Ints = np.array([0, len(self._rows)], dtype=np.int64)
        self._all: Words | None = self._rows
        self._keeps = False
        self._forget()

    @classmethod
    def of_part(cls, part: tuple[Words, Ints], *, sizes: tuple[int, ...], class_count: int) -> WordEngine:
        """The engine that such a part was taken from."""
        engine = cls([], sizes=sizes, class_count=class_count, compiled=False)
        engine._rows, engine._starts = part
        engine._all = engine._rows
        return engine

    @property
    def part(self) -> tuple[Words, Ints]:
        """The records, region by region, and where each region begins: what workers of a cluster keep of an engine."""
        return self._rows, self._starts

    def _packed(self, batch: Batch) -> Words:
        """Rows of words. A code that is too large would be read as a part of another one."""
        columns, classes = batch
        for codes, size in zip((*columns, classes), (*self.sizes, self.classes), strict=True):
            if len(codes) and not (int(codes.max()) < size and int(codes.min()) >= 0):
                raise ValueError("codes must be below the sizes of their attributes")
        return np.ascontiguousarray(self._layout.pack(columns, classes).T)

    def _forget(self) -> None:
        """Drops what was prepared for questions about the whole table, in the order of the records."""
        self._placed: tuple[Grid, Codes] | None = None
        self._located: tuple[ColumnCells, Codes] | None = None
        self._codes: dict[int, Codes] = {}
        self._copy: Codes | None = None
        self._tables: dict[int, tuple[Ints, Ints]] = {}
        self._kept = None

    def __len__(self) -> int:
        return len(self._rows)

    def close(self) -> None:
        self._forget()
        del self._rows, self._starts, self._all

    # ---- regions ------------------------------------------------------------------------------------------

    def keep_all(self) -> None:
        self._keeps = True

    def count_all(self, workload: TableWorkload) -> Ints:
        assert self._all is not None
        counts = np.zeros(workload.cells, dtype=np.int64)
        for here in slices(len(self._all), MANY):
            rows = self._all[here]
            columns = [*(self._unpacked(rows, a) for a in range(len(self.sizes))), self._layout.column(rows.T, -1)]
            counts += count_table(workload, columns[: len(workload.within.edges)], compiled=self.compiled)
        return counts

    def _tally(self, positions: Ints, key: TableKey) -> Iterator[Chunk]:
        step = max(1, self._chunk_cells // key.cells)
        for first in range(0, len(positions), step):
            last = min(first + step, len(positions))
            yield first, last, self.count(positions[first:last], first, key)

    def count(self, positions: Ints, first: int, key: TableKey) -> Ints:
        """Counts of the regions at these positions, which begin at place `first` of the question."""
        if isinstance(key, Size):
            return (self._starts[positions + 1] - self._starts[positions]).reshape(-1, 1)
        attribute, offset, classes = _tables(key, first, len(positions))
        if not self.compiled:
            return self._count_plainly(positions, attribute, np.diff(offset) * classes, classes)
        from cantle.trusted.counting import _word_kernels

        counts, fields = np.zeros((len(positions), key.cells), dtype=np.int64), self._layout.fields
        where = self._starts[positions], self._starts[positions + 1]
        _word_kernels.count(self._rows, *where, fields[attribute], fields[-1], offset, classes, counts)
        return counts

    def _count_plainly(self, positions: Ints, attribute: Ints, cells: Ints, classes: int) -> Ints:
        """The counts of such tables, each of which has so many cells per region."""
        counts = [np.zeros(len(positions) * number, dtype=np.int64) for number in cells.tolist()]
        for rows, local in self._read(positions):
            words, label = rows.T, self._layout.column(rows.T, -1)
            for table, number, mine in zip(counts, cells.tolist(), attribute.T, strict=True):
                alike = len(mine) == 1
                code = self._layout.column(words, mine[0]) if alike else self._layout.pick(words, mine[local])
                add_counts(table, local * number + joint(code, label, classes))
        return np.concatenate([table.reshape(len(positions), -1) for table in counts], axis=1)

    def _read(self, positions: Ints) -> Iterator[tuple[Words, Ints]]:
        """The records of the listed regions in batches, and for each its region's number within the list."""
        begin = self._starts[positions]
        lengths = self._starts[positions + 1] - begin
        ends = np.cumsum(lengths)
        before = ends - lengths
        neighbours = len(positions) and positions[-1] - positions[0] + 1 == len(positions)
        for here in slices(int(lengths.sum()), BATCH):
            first, last = np.searchsorted(ends, [here.start, here.stop - 1], side="right") + [0, 1]
            each = np.minimum(ends[first:last], here.stop) - np.maximum(before[first:last], here.start)
            local = np.repeat(np.arange(first, last), each)
            if neighbours:
                yield self._rows[begin[0] + here.start : begin[0] + here.stop], local
            else:
                yield self._rows.take(np.arange(here.start, here.stop) + (begin - before)[local], axis=0), local

    def split(self, positions: Ints, rule: BoxRule) -> None:
        if self.compiled and isinstance(rule, Cuts) and rule.left is None:
            rows, starts = self._split_compiled(positions, rule)
        else:
            rows, starts = self._split(positions, rule)
        self._rows, self._starts = rows, starts
        self._all = self._all if self._keeps else None
        self._forget()

    def _split(self, positions: Ints, rule: BoxRule) -> tuple[Words, Ints]:
        """Two passes, however many children there are: the first counts their records, the second moves these."""

        def child(rows: Words, local: Ints) -> Ints:
            return rule.child(local, self._layout.pick(rows.T, rule.attribute[local]))

        sizes = np.zeros(rule.number, dtype=np.int64)
        for rows, local in self._read(positions):
            sizes += np.bincount(child(rows, local), minlength=len(sizes))
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        room, free = self._store.room((int(starts[-1]), self._layout.words), np.uint64), starts[:-1].copy()
        for rows, local in self._read(positions):
            into = child(rows, local)
            near = into - into.min()  # small numbers are sorted faster
            order = np.argsort(near.astype(np.min_scalar_type(int(near.max()))), kind="stable")
            moved = np.bincount(into, minlength=len(sizes))
            first = np.cumsum(moved) - moved  # the first place of each child's records in this order
            room[np.arange(len(order)) + (free - first)[into[order]]] = rows[order]
            free += moved
        return room, starts

    def _split_compiled(self, positions: Ints, cuts: Cuts) -> tuple[Words, Ints]:
        """One pass: records below a cut fill the room of their region from its front, the others from its back."""
        from cantle.trusted.counting import _word_kernels

        ends = np.cumsum(self._starts[positions + 1] - self._starts[positions])
        room = self._store.room((int(ends[-1]) if len(ends) else 0, self._layout.words), np.uint64)
        free = np.repeat(np.concatenate([np.zeros(1, np.int64), ends]), 2)[1:-1]  # begin and end of each region
        where = self._starts[positions], self._starts[positions + 1]
        fields = self._layout.fields[cuts.attribute]
        _word_kernels.part(self._rows, *where, fields, np.ascontiguousarray(cuts.point), free, room)
        return room, np.concatenate([np.zeros(1, np.int64), np.stack([free[::2], ends], axis=1).reshape(-1)])

    # ---- the whole table ----------------------------------------------------------------------------------

    def _kind(self, attribute: int) -> type[np.integer]:
        """A narrow type for the codes of an attribute."""
        size = self.sizes[attribute]
        return np.min_scalar_type(size - 1).type if size <= 2**32 else np.int64

    def _unpacked(self, rows: Words, attribute: int) -> Codes:
        """The codes of these records, in a narrow type."""
        return self._layout.column(rows.T, attribute).astype(self._kind(attribute))

    def _column(self, attribute: int) -> Codes:
        """The codes of all records, which are kept until the first split: rounds of questions need them again."""
        if attribute not in self._codes:
            codes = self._store.room((len(self._rows),), self._kind(attribute))
            for here in slices(len(self._rows), BATCH):
                codes[here] = self._layout.column(self._rows[here].T, attribute)
            self._codes[attribute] = codes
        return self._codes[attribute]

    def _columns(self, here: slice) -> list[Codes]:
        """The codes of some records by attribute."""
        return [self._column(a)[here] for a in range(len(self.sizes))]

    def _cell_counts(self, key: CellKey) -> Ints:
        counts = np.zeros(key.cells, dtype=np.int64)
        for cells in self._cells_of(key):
            if isinstance(key, LabelCounts):
                leaf = key.tree.locate(list(cells))
                counts += np.bincount(leaf * key.classes + cells[key.target], minlength=key.cells)
            elif isinstance(key, SizesOfLists | PartsOfLists):
                counts += count_list(cells, key)
            else:
                compiled = self.compiled or pays(len(self._rows), len(key.tables))
                counts += count_tables(cells, key.tables, compiled=compiled)
        return counts

    def _cells_of(self, key: CellKey) -> Iterator[Codes]:
        """The cells of all records or of the key's subset, one row per column. Those of all records are kept, because
        they are needed many times; they are compared by their edges, never by identity."""
        records, locate = slices(len(self._rows), MANY), key.within.locator()
        if isinstance(key, CrossTables) and key.subset is not None:
            copy = self._copies()
            for here in records:
                columns = self._columns(here)
                used = np.flatnonzero(key.subset.takes_part(columns, copy[here]))
                yield locate([column[used] for column in columns])
            return
        if self._located is None or not self._located[0].same(key.within):
            self._located = None
            cells = self._store.room((len(self.sizes), len(self._rows)), key.within.kind)
            for here in slices(len(self._rows), MANY):
                cells[:, here] = locate(self._columns(here))
            self._located = key.within.copy(), cells
        for here in records:
            yield self._located[1][:, here]

    def _copies(self) -> Codes:
        """The copy number of each record; equal records are in the same part, and parts are sorted by themselves."""
        if self._copy is None:
            parts, records = -(-len(self._rows) // SORTED), list(slices(len(self._rows), MANY))
            copy = self._store.room((len(self._rows),), np.int64)
            for part in range(parts):
                places = [here.start + _of_part(self._rows[here], part, parts) for here in records]
                mine = np.concatenate(places)
                copy[mine] = copy_numbers(np.ascontiguousarray(self._rows.take(mine, axis=0).T))
            self._copy = copy
        return self._copy

    def occupied(self, key: GridCells | CodeTable) -> tuple[Ints, Ints]:
        """The occupied entries of a key, ascending, and their counts."""
        if isinstance(key, GridCells):
            entry = self._place(key.grid)
            return _occupied((entry[here] for here in slices(len(entry), MANY)), key.cells, len(entry))
        if key.attribute not in self._tables:  # needed in every round, and never changes
            words = (self._rows[here].T for here in slices(len(self._rows), BATCH))
            entries = (self._layout.entry(part, key.attribute, key.classes) for part in words)
            self._tables[key.attribute] = _occupied(entries, key.size * key.classes, len(self._rows))
        return self._tables[key.attribute]

    def place(self, grid: Grid) -> None:
        """Finds the cells of all records, for the counts of the next round."""
        self._place(grid)

    def _place(self, grid: Grid) -> Codes:
        """cell * classes + class of each record. Grids are compared by their edges, never by identity, because a grid
        could have been changed in between."""
        if self._placed is None or not self._placed[0].same(grid):
            self._placed = None
            kind = np.int32 if grid.cells * self.classes < 2**31 else np.int64
            entry = self._store.room((len(self._rows),), kind)
            addends = grid.addends(self.classes, kind)
            for here in slices(len(self._rows), BATCH):
                entry[here] = self._layout.column(self._rows[here].T, -1)
                for attribute, values in addends.items():
                    entry[here] += values.at(self._column(attribute)[here])
            self._placed = grid.copy(), entry
        return self._placed[1]

    def dense(self, key: GridBins) -> Ints:
        """All counts of the placed grid by bin, shape (cells, classes, width)."""
        assert self._placed is not None
        grid, entry = self._placed
        counts = np.zeros(grid.cells * key.classes * key.width, dtype=np.int64)  # at most 2^26 (JointSplits.fits)
        bins = SpanValues.of(np.append(key.starts, self.sizes[key.attribute]), key.number, np.int32)
        if self.compiled and bins.table is not None:
            from cantle.trusted.counting import _word_kernels

            _word_kernels.count_bins(self._column(key.attribute), entry, bins.table, key.width, counts)
        else:
            for here in slices(len(entry), max(BATCH, len(counts))):
                number = bins.at(self._column(key.attribute)[here])
                number += entry[here].astype(np.int32, copy=False) * np.int32(key.width)
                add_counts(counts, number)
        return counts.reshape(grid.cells, key.classes, key.width)


def _tables(key: Histogram | OneWays | OneWayEach, first: int, regions: int) -> tuple[Ints, Ints, int]:
    """The tables of a key for regions from `first` on: the attribute of each, one for all regions or one per region
    (regions, tables); where the codes of each begin and end; and the number of classes beside each code."""
    match key:
        case Histogram():  # the class itself is the code
            return np.array([[-1]]), np.array([0, key.classes]), 1
        case OneWays():
            return np.array([key.attributes]), key.offsets, key.classes
        case OneWayEach():
            return key.attribute[first : first + regions, None], np.array([0, key.width]), key.classes
        case _:
            assert_never(key)


def _together(batches: Iterable[Batch]) -> Iterator[Batch]:
    """The same records in batches of at least BATCH, because many small ones take longer to pack, and of at most about
    MANY, because packing takes room."""
    held, records = list[Batch](), 0
    for columns, classes in batches:
        for here in slices(len(classes), MANY):
            held.append(([column[here] for column in columns], classes[here]))
            records += len(held[-1][1])
            if records >= BATCH:
                yield _joined(held)
                held, records = [], 0
    if held:
        yield _joined(held)


def _joined(batches: list[Batch]) -> Batch:
    columns, classes = zip(*batches, strict=True)
    return [np.concatenate(parts) for parts in zip(*columns, strict=True)], np.concatenate(classes)


def slices(records: int, step: int) -> Iterator[slice]:
    """The records in slices of at most `step`."""
    return (slice(first, min(first + step, records)) for first in range(0, records, step))


def _of_part(rows: Words, part: int, parts: int) -> Ints:
    """Which records belong to a part: decided by a hash, so that equal records do to the same."""
    return np.flatnonzero(scramble(rows[:, 0].copy()) % np.uint64(parts) == part)


def _occupied(entries: Iterable[Codes], most: int, records: int) -> tuple[Ints, Ints]:
    if most > max(DENSE, 2 * records):
        return merged([np.unique(entry, return_counts=True) for entry in entries])
    counts = np.zeros(most, dtype=np.int64)
    for entry in entries:
        add_counts(counts, entry)
    listed = np.flatnonzero(counts)
    return listed, counts[listed]

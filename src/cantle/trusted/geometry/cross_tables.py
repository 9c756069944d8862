"""Shapes of the tables that `mosaic` counts, all public: cells of columns, cross tables of grouped cells, label trees.

*Cells* of a column are spans of codes, given by ascending `edges` from 0 to its number of codes. A *map* merges
neighbouring cells into groups. Every record has one code in each column, so one cell and one group.

`count_tables` counts many tables over the same records, given by their cells: private ones in engines, drafted ones in
post-processing. The compiled form makes one pass over blocks of records per table; the numpy form specifies it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from math import prod

import numpy as np

from cantle import kernel_choice
from cantle.trusted.core.arrays import Codes
from cantle.trusted.geometry.boxes import Bools, Ints, is_int64_array
from cantle.trusted.geometry.grid import Spans, SpanValues

Map = Codes
"""uint8 or uint16: the group of each cell."""

MOST_CELLS = 1 << 16
"""Most cells of a column."""

MOST_COUNTS = 1 << 26
"""Most counts of all tables of a question together."""


class ColumnCells(Spans):
    """The cells of every column."""

    def fits(self, sizes: tuple[int, ...]) -> bool:
        """Whether these are cells of columns with these numbers of codes."""
        return self.cover(sizes) and 0 < max(self.shape, default=0) <= MOST_CELLS

    @property
    def kind(self) -> type[np.uint8 | np.uint16]:
        """The type of cell numbers."""
        return np.uint8 if max(self.shape) <= 256 else np.uint16

    def locator(self) -> Callable[[Sequence[Codes]], Codes]:
        """A function that finds the cell of each record in each column, one row per column."""
        kind = self.kind
        numbers = [SpanValues.of(edge, np.arange(len(edge) - 1), kind) for edge in self.edges]

        def locate(columns: Sequence[Codes]) -> Codes:
            cells = np.empty((len(columns), len(columns[0])), dtype=kind)
            for row, number, codes in zip(cells, numbers, columns, strict=True):
                number.at(codes, out=row)
            return cells

        return locate

    def locate(self, columns: Sequence[Codes]) -> Codes:
        """The cells of these records."""
        return self.locator()(columns)


@dataclass(frozen=True, eq=False)
class CrossTable:
    """A table of several columns, each grouped by a map cell -> group; cells in mixed radix, first column slowest."""

    columns: tuple[int, ...]
    maps: tuple[Map, ...]

    @cached_property
    def shape(self) -> tuple[int, ...]:
        return tuple(int(map_[-1]) + 1 for map_ in self.maps)

    @cached_property
    def cells(self) -> int:
        return prod(self.shape)

    def fits(self, sizes: tuple[int, ...], known_maps: set[tuple[int, int]]) -> bool:
        """Whether this is a table over columns with these numbers of cells: each column once, each map onto 0 .. g - 1.

        `known_maps` lists maps that were checked already in the same question; tables share many of them.
        """
        if type(self.columns) is not tuple or type(self.maps) is not tuple or len(self.columns) != len(self.maps):
            return False
        shape, cells = list[int](), 1
        for column, map_ in zip(self.columns, self.maps, strict=True):
            if type(column) is not int or not 0 <= column < len(sizes):
                return False
            known = id(map_), sizes[column]
            if known not in known_maps:
                if not _is_map(map_, sizes[column]):
                    return False
                known_maps.add(known)
            shape.append(int(map_[-1]) + 1)
            cells *= shape[-1]
        # Shape and number of cells are cached, and a map may have been changed since.
        remembered = self.shape == tuple(shape) and self.cells == cells <= MOST_COUNTS
        return remembered and len(set(self.columns)) == len(self.columns) > 0


def _is_map(map_: object, cells: int) -> bool:
    if type(map_) is not np.ndarray or map_.dtype not in (np.uint8, np.uint16) or map_.shape != (cells,):
        return False
    steps = np.diff(map_.astype(np.int64))
    return bool(map_[0] == 0 and ((steps == 0) | (steps == 1)).all())


def are_tables(tables: object, sizes: tuple[int, ...]) -> bool:
    """Whether these are cross tables over columns with these numbers of cells, not too large together."""
    if type(tables) is not tuple or not tables:
        return False
    known_maps = set[tuple[int, int]]()
    good = all(type(table) is CrossTable and table.fits(sizes, known_maps) for table in tables)
    return good and sum(table.cells for table in tables) <= MOST_COUNTS


@dataclass(frozen=True, eq=False)
class LabelTree:
    """A public partition of the domain into leaves by a binary tree over cells of the columns.

    Node 0 is the root. A node with `column[v] >= 0` sends a record to `left[v]` if `goes_left[v][cell]`, else to
    `right[v]`; a node with `column[v] == -1` is the leaf number `leaf[v]`.
    """

    column: Ints
    goes_left: tuple[Bools, ...]
    left: Ints
    right: Ints
    leaf: Ints

    @property
    def leaves(self) -> int:
        return int((self.column < 0).sum())

    def fits(self, sizes: tuple[int, ...]) -> bool:
        """Whether every record reaches exactly one leaf: children come after their parents, leaves are numbered."""
        nodes = len(self.column) if type(self.column) is np.ndarray else 0
        if not nodes or not all(
            is_int64_array(part, nodes) for part in (self.column, self.left, self.right, self.leaf)
        ):
            return False
        if type(self.goes_left) is not tuple or len(self.goes_left) != nodes:
            return False
        inner = np.flatnonzero(self.column >= 0)
        if (self.column < -1).any() or (self.column >= len(sizes)).any():
            return False
        if not np.array_equal(np.sort(self.leaf[self.column < 0]), np.arange(self.leaves)):
            return False
        for child in (self.left[inner], self.right[inner]):
            if (child <= inner).any() or (child >= nodes).any():
                return False
        return all(_is_rule(self.goes_left[v], sizes[self.column[v]]) for v in inner.tolist())

    def locate(self, cells: Sequence[Codes]) -> Ints:
        """The leaf of each record, given its cells by column."""
        leaves = np.zeros(len(cells[0]), dtype=np.int64)
        waiting = [(0, np.arange(len(leaves)))]
        while waiting:
            node, rows = waiting.pop()
            if self.column[node] < 0:
                leaves[rows] = self.leaf[node]
                continue
            goes = self.goes_left[node][cells[self.column[node]][rows]]
            waiting.append((int(self.left[node]), rows[goes]))
            waiting.append((int(self.right[node]), rows[~goes]))
        return leaves


def _is_rule(rule: object, cells: int) -> bool:
    return type(rule) is np.ndarray and rule.dtype == np.bool_ and rule.shape == (cells,)


# ---- counts ---------------------------------------------------------------------------------------------------


class Axes:
    """The different axes of some tables, each a column and a map cell -> group. Tables share many of them."""

    def __init__(self, tables: Sequence[CrossTable]) -> None:
        self.columns: list[int] = []
        self.maps: list[Map] = []
        self._known: dict[tuple[int, bytes], int] = {}
        self.members = [list(map(self._number, table.columns, table.maps)) for table in tables]
        """The axes of each table."""

    def _number(self, column: int, map_: Map) -> int:
        number = self._known.setdefault((column, map_.tobytes()), len(self.maps))
        if number == len(self.maps):
            self.columns.append(column)
            self.maps.append(map_)
        return number


COMPILED_FROM = 2000
"""Records from which on kernels pay off, if there are many tables."""

MANY = 32
"""From this number on, tables count as many."""


def count_tables(cells: Codes, tables: Sequence[CrossTable], *, compiled: bool | None = None) -> Ints:
    """The counts of each table, one table after the other; `cells` has one row per column.

    Whether kernels count is decided here, unless the caller has decided it. The counts are the same either way.
    """
    if compiled is None:
        compiled = pays(cells.shape[1], len(tables))
    if tables and compiled:
        from cantle.trusted.geometry import _count_kernels

        return _count_kernels.count_tables(cells, tables)
    return count_tables_plainly(cells, tables)


def pays(records: int, tables: int) -> bool:
    """Whether kernels pay off for tables of which there will be more, as in the rounds of `mosaic`."""
    if kernel_choice.worth_loading(records):
        return True
    return records >= COMPILED_FROM and tables >= MANY and find_spec("numba") is not None


def count_tables_plainly(cells: Codes, tables: Sequence[CrossTable]) -> Ints:
    """The specification of `count_tables`."""
    counts = [np.zeros(0, dtype=np.int64)]
    for table in tables:
        counts.append(np.bincount(cells_in(table, cells), minlength=table.cells).astype(np.int64))
    return np.concatenate(counts)


def cells_in(table: CrossTable, cells: Codes) -> Ints:
    """The cell of a table in which each record lies."""
    entry = np.zeros(cells.shape[1], dtype=np.int64)
    for column, map_, groups in zip(table.columns, table.maps, table.shape, strict=True):
        entry *= groups
        entry += map_[cells[column]]
    return entry


def flatten(tables: Sequence[CrossTable]) -> tuple[Ints, Codes, Ints, Ints, Ints, Ints]:
    """Tables as arrays: the columns and the maps of their different axes; where the axes of each table begin, these
    axes and their numbers of groups; and where each table's counts begin."""
    axes = Axes(tables)
    most = max(map(len, axes.maps))
    maps = np.zeros((len(axes.maps), most), dtype=np.result_type(*axes.maps))
    for row, map_ in zip(maps, axes.maps, strict=True):
        row[: len(map_)] = map_
    begins = np.cumsum([0, *map(len, axes.members)], dtype=np.int64)
    members = np.array([axis for one in axes.members for axis in one], dtype=np.int64)
    groups = np.array([size for table in tables for size in table.shape], dtype=np.int64)
    starts = np.cumsum([0, *(table.cells for table in tables)], dtype=np.int64)
    return np.array(axes.columns, dtype=np.int64), maps, begins, members, groups, starts

"""The questions that `mosaic` asks the curator, and the noisy answers, which are released.

The codes of a column are 0 to values - 1; a missing value has the code `values`. Prices are exact fractions of epsilon,
which are rounded down to whole nano-units when they are charged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log

import numpy as np

from cantle.drawing.column_cells import Column
from cantle.methods.mosaic.model.answers import LIST_CHOICE, LIST_PAIRS, LIST_SIZES, CellsOf, NoisyAnswer, TreeNode
from cantle.trusted.claims.list_queries import PartsOfLists, SizesOfLists
from cantle.trusted.claims.queries import Size
from cantle.trusted.claims.table_candidates import (
    Dependence,
    Distance,
    Heaviest,
    HeavyValues,
    Hubs,
    TableSets,
)
from cantle.trusted.claims.table_queries import CrossTables, LabelCounts, Spikes, ValueSearch
from cantle.trusted.core.answers import Noisy
from cantle.trusted.core.budget import NANO
from cantle.trusted.core.curator import Curator
from cantle.trusted.geometry.boxes import Frontier, Ints
from cantle.trusted.geometry.cross_tables import ColumnCells, CrossTable, LabelTree
from cantle.trusted.geometry.subset import Subset
from cantle.trusted.geometry.value_classes import ValueClasses


@dataclass(frozen=True)
class SpikeSearch:
    """A search for frequent values of one column, with a public threshold for each class of values."""

    column: int
    values: int
    classes: ValueClasses
    thresholds: tuple[int, ...]
    skip: tuple[int, ...] = ()  # codes that `heaviest` must not return

    @property
    def search(self) -> ValueSearch:
        return ValueSearch(self.column, self.values, self.classes, self.skip)


def spike_search(column: Column, number: int, edges: Ints, scale: float) -> SpikeSearch:
    """The search for frequent values of a column; the scale of its noise determines the thresholds."""
    classes = column.classes
    sizes = classes.sizes(0, column.values)
    thresholds = [max(1, ceil(scale * log(max(2, size * len(sizes))))) for size in sizes.tolist()]
    single = edges[:-1][np.diff(edges) == 1]
    return SpikeSearch(number, column.values, classes, tuple(thresholds), tuple(single.tolist()))


@dataclass(frozen=True, eq=False)
class CandidateTables:
    """Candidate tables of one round with their public models and penalties; see `Distance` and `TableSets`."""

    tables: tuple[CrossTable, ...]
    models: tuple[Ints, ...]
    penalties: Ints
    share: Fraction = Fraction(1)
    seed: int = 0


class Questions:
    """Asks a curator questions about all records, and keeps the noisy answers, which are released."""

    view = 0
    of_what = ""
    """What the names of questions about cells end with."""

    def __init__(self, curator: Curator, items: Sequence[int] = ()) -> None:
        """`items` are the numbers of codes of the columns after those that are related: items of lists and groups."""
        self._curator, self._items = curator, [np.arange(codes + 1, dtype=np.int64) for codes in items]
        self._root: Frontier = curator.root()
        domain = curator.domain
        assert isinstance(domain, tuple), "mosaic asks about tables"
        self._sizes = domain[0]
        self._persons = curator.unit.max_records
        self._within: ColumnCells | None = None
        self._round: CrossTables | None = None
        self._bought = 0
        """The number of tables that were measured one by one, after the first tables."""
        self.answers: list[NoisyAnswer] = []

    @property
    def within(self) -> ColumnCells:
        """The cells of all columns; fixed by `set_cells`."""
        assert self._within is not None
        return self._within

    def left(self) -> Fraction:
        """The part of epsilon that is not spent yet."""
        return Fraction(int(self._curator.left(self._root)[0]), NANO)

    def size(self, price: Fraction, why: str = "number of records") -> int:
        """The noisy number of records."""
        noisy = self._curator.measure(self._root, Size(), nano(price), why=why)
        return int(self._keep(why, noisy, [1], [{"columns": [], "edges": []}])[0][0])

    def spikes(self, searches: Sequence[SpikeSearch], price: Fraction) -> list[tuple[Ints, Ints]]:
        """For each search the codes whose noisy count reaches the threshold of their class, ascending, with the
        counts."""
        query = self._spikes_query([search.search for search in searches])
        least = np.array([least for search in searches for least in search.thresholds], dtype=np.int64)
        why = f"frequent values{self.of_what}"
        noisy = self._curator.measure(self._root, query, nano(price), why=why, at_least=least)
        frequent = []
        for search, (codes, at) in zip(searches, query.values(noisy.rows, noisy.cells), strict=True):
            about: CellsOf = {
                "column": search.column,
                "at_least": list(search.thresholds),
                "origin": search.classes.origin,
                "periods": list(search.classes.periods),
            }
            rate = int(noisy.rate_num[0]), noisy.rate_den
            self.answers.append(NoisyAnswer(why, codes, noisy.value[at], *rate, about, self.view))
            frequent.append((codes, noisy.value[at]))
        return frequent

    def heaviest(self, searches: Sequence[SpikeSearch], none: int, price: Fraction) -> tuple[int, int] | None:
        """One (column, code) that many records have, chosen with noise, or None."""
        asked = HeavyValues(tuple(search.search for search in searches), self._sizes, none)
        return self._curator.choose(self._root, asked, Heaviest(), nano(price), why="one frequent value")

    def set_cells(self, edges: Sequence[Ints]) -> None:
        """Sets the cells of all columns, null included, to which all following questions refer; cells are public."""
        self._within = ColumnCells(tuple(edge.copy() for edge in (*edges, *self._items)))

    def hub(self, columns: Sequence[int], price: Fraction) -> int:
        """The one of these columns on which the others depend most, chosen with noise."""
        asked = Hubs(self.within, tuple(columns))
        return self._curator.choose(self._root, asked, Dependence(), nano(price), why="hub column")

    def next_table(self) -> None:
        """Begins the next of the tables that are measured one by one."""
        self._bought += 1

    def cross_tables(self, tables: Sequence[CrossTable], price: Fraction, why: str = "", part: str = "") -> list[Ints]:
        """The noisy counts of all cells of these tables, as one flat array per table.

        Without a name (`why`) they are a part of the table that was begun last.
        """
        why = why or f"table {self._bought}{part}"
        noisy = self._curator.measure(self._root, self._tables_query(tables), nano(price), why=why)
        about: list[CellsOf] = [
            {"columns": list(table.columns), "edges": group_edges(self.within, table)} for table in tables
        ]
        return self._keep(why, noisy, [table.cells for table in tables], about)

    def _tables_query(self, tables: Sequence[CrossTable]) -> CrossTables:
        return CrossTables(self.within, tuple(tables))

    def _spikes_query(self, searches: Sequence[ValueSearch]) -> Spikes:
        return Spikes(tuple(searches), self._sizes)

    def list_sizes(self, items: Sequence[int], edges: Sequence[int], price: Fraction) -> Ints:
        """The noisy numbers of records with so many of these items, by spans that begin at `edges`."""
        asked = SizesOfLists(self.within, tuple(items), tuple(edges))
        noisy = self._curator.measure(self._root, asked, nano(price), why=LIST_SIZES)
        return self._keep(LIST_SIZES, noisy, [len(edges)], [{"of": list(items), "sizes": list(edges)}])[0]

    def item_parts(
        self, items: Sequence[int], by: CrossTable | None, most: int, price: Fraction, why: str = LIST_PAIRS
    ) -> Ints:
        """The noisy parts of each of these items by the cells of a table of one column; without a name (`why`) of each
        two of them."""
        everyone = CrossTable((items[0],), (np.zeros(2, dtype=np.uint8),))
        asked = PartsOfLists(self.within, tuple(items), by or everyone, most, why == LIST_PAIRS)
        noisy = self._curator.measure(self._root, asked, nano(price), why=why)
        about: CellsOf = {"of": list(items), "most": most}
        if by is not None:
            about |= {"by": list(by.columns), "edges": group_edges(self.within, by)}
        return self._keep(why, noisy, [asked.cells], [about])[0]

    def choose_column(
        self,
        items: Sequence[int],
        by: Sequence[CrossTable],
        most: int,
        models: Sequence[Ints],
        penalties: Ints,
        price: Fraction,
    ) -> int:
        """The one of these tables by which the parts of items are farthest from their model, chosen with noise."""
        keys = tuple(PartsOfLists(self.within, tuple(items), one, most) for one in by)
        asked = TableSets(keys, tuple(models), penalties, np.arange(len(keys), dtype=np.int64))
        return self._curator.choose(self._root, asked, Distance(), nano(price), why=LIST_CHOICE)

    def choose_table(self, candidates: CandidateTables, surviving: Ints, price: Fraction) -> int:
        """The surviving candidate whose counts are farthest from its model, chosen with noise."""
        if self._round is None or self._round.tables is not candidates.tables:
            subset = None if candidates.share == 1 else Subset(candidates.seed, candidates.share)
            self._round = CrossTables(self.within, candidates.tables, subset)
        asked = TableSets((self._round,), candidates.models, candidates.penalties, surviving)
        why = f"choice of table {self._bought + 1}"
        return self._curator.choose(self._root, asked, Distance(), nano(price), why=why)

    def label_counts(self, tree: LabelTree, target: int, classes: int, price: Fraction) -> Ints:
        """Noisy counts by leaf of the tree and class of the target, of shape (leaves, classes)."""
        query = LabelCounts(self.within, tree, target)
        noisy = self._curator.measure(self._root, query, nano(price), why="leaves by class")
        about: CellsOf = {"column": target, "tree": _described(tree)}
        (counts,) = self._keep("leaves by class", noisy, [tree.leaves * classes], [about])
        return counts.reshape(tree.leaves, classes)

    def _keep(self, why: str, noisy: Noisy, sizes: Sequence[int], about: Sequence[CellsOf]) -> list[Ints]:
        """Keeps the noisy counts of several tables for the release, and returns them table by table."""
        counts = np.split(noisy.value[0], np.cumsum(sizes)[:-1])
        for values, words in zip(counts, about, strict=True):
            rate = int(noisy.rate_num[0]), noisy.rate_den
            self.answers.append(NoisyAnswer(why, np.arange(len(values)), values, *rate, words, self.view))
        return counts


def group_edges(within: ColumnCells, table: CrossTable) -> list[list[int]]:
    """The edges of the groups of each column of a table, as codes."""
    found = []
    for column, map_ in zip(table.columns, table.maps, strict=True):
        edges = within.edges[column]
        starts = np.flatnonzero(np.diff(map_.astype(np.int64), prepend=-1))
        found.append([*edges[starts].tolist(), int(edges[-1])])
    return found


def nano(price: Fraction) -> int:
    """The price in whole nano-units."""
    return price.numerator * NANO // price.denominator


def _described(tree: LabelTree) -> list[TreeNode]:
    """The nodes of a tree: a leaf has its number, another node its column, the cells that go left, and its children."""
    nodes: list[TreeNode] = []
    for node, column in enumerate(tree.column.tolist()):
        if column < 0:
            nodes.append({"leaf": int(tree.leaf[node])})
        else:
            goes = np.flatnonzero(tree.goes_left[node]).tolist()
            nodes.append(
                {"column": column, "cells": goes, "left": int(tree.left[node]), "right": int(tree.right[node])}
            )
    return nodes

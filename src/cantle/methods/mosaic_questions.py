"""The questions that `mosaic` asks the curator, and the noisy answers, which are released.

Codes of a column are 0 .. values - 1 and, for a missing value, `values`. Prices are exact fractions of epsilon, rounded
down to whole nano-units when they are charged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from cantle.postprocess.mosaic.answers import CellsOf, NoisyAnswer, TreeNode
from cantle.trusted.answers import Noisy
from cantle.trusted.budget import NANO
from cantle.trusted.curator import Curator
from cantle.trusted.geometry.boxes import Frontier, Ints
from cantle.trusted.geometry.cross_tables import ColumnCells, CrossTable, HeapTable, LabelTree
from cantle.trusted.geometry.value_classes import ValueClasses
from cantle.trusted.queries import Size
from cantle.trusted.stop_test import PrivTree
from cantle.trusted.table_candidates import (
    Dependence,
    Distance,
    Heaviest,
    HeavyValues,
    Hubs,
    TableRound,
    TableSets,
)
from cantle.trusted.table_queries import CrossTables, HeapTables, LabelCounts, Spikes, ValueSearch
from cantle.trusted.value_trees import ValueTrees


@dataclass(frozen=True)
class SpikeSearch:
    """A search for values of one column that hold many records: a public threshold for each class of values."""

    column: int
    values: int
    classes: ValueClasses
    thresholds: tuple[int, ...]
    skip: tuple[int, ...] = ()  # codes that `heaviest` may not name

    @property
    def search(self) -> ValueSearch:
        return ValueSearch(self.column, self.values, self.classes, self.skip)


@dataclass(frozen=True, eq=False)
class CandidateTables:
    """Candidate tables of one round with their public models and penalties; see `Distance` and `TableSets`."""

    tables: tuple[CrossTable, ...]
    models: tuple[Ints, ...]
    penalties: Ints
    share: Fraction = Fraction(1)
    seed: int = 0


class Questions:
    """Asks a curator about its root; keeps the noisy answers, which are released."""

    def __init__(self, curator: Curator) -> None:
        self._curator = curator
        self._root: Frontier = curator.root()
        domain = curator.domain
        assert isinstance(domain, tuple), "mosaic asks about tables"
        self._sizes = domain[0]
        self._persons = curator.unit.max_records
        self._within: ColumnCells | None = None
        self._round: TableRound | None = None
        self._bought = 0
        """Number of tables bought one by one, after the first tables."""
        self.answers: list[NoisyAnswer] = []

    @property
    def within(self) -> ColumnCells:
        """The cells of all columns; fixed by `set_cells`."""
        assert self._within is not None
        return self._within

    def left(self) -> Fraction:
        """The part of epsilon that is not spent yet."""
        return Fraction(int(self._curator.left(self._root)[0]), NANO)

    def size(self, price: Fraction) -> int:
        """Noisy number of records."""
        noisy = self._curator.measure(self._root, Size(), _nano(price), why="number of records")
        return int(self._keep("number of records", noisy, [1], [{"columns": [], "edges": []}])[0][0])

    def grow(self, roots: dict[int, Ints], theta: int, price: Fraction) -> dict[int, Ints]:
        """Refined edges of these columns, from trees grown below the given cells."""
        stop = PrivTree.within(_nano(price) // len(roots), theta, 2, self._persons)
        columns = tuple(sorted(roots))
        trees = ValueTrees(columns, tuple(roots[column] for column in columns), self._sizes)
        found = self._curator.grow(self._root, trees, stop, why="cells of wide columns")
        return dict(zip(columns, found, strict=True))

    def spikes(self, searches: Sequence[SpikeSearch], price: Fraction) -> list[tuple[Ints, Ints]]:
        """For each search the codes whose noisy count reaches their class's threshold, ascending, and these counts."""
        query = Spikes(tuple(search.search for search in searches), self._sizes)
        least = np.array([least for search in searches for least in search.thresholds], dtype=np.int64)
        noisy = self._curator.measure(self._root, query, _nano(price), why="frequent values", at_least=least)
        found = []
        for search, (codes, at) in zip(searches, query.values(noisy.rows, noisy.cells), strict=True):
            about: CellsOf = {
                "column": search.column,
                "at_least": list(search.thresholds),
                "origin": search.classes.origin,
                "periods": list(search.classes.periods),
            }
            rate = int(noisy.rate_num[0]), noisy.rate_den
            self.answers.append(NoisyAnswer("frequent values", codes, noisy.value[at], *rate, about))
            found.append((codes, noisy.value[at]))
        return found

    def heaviest(self, searches: Sequence[SpikeSearch], none: int, price: Fraction) -> tuple[int, int] | None:
        """One (column, code) that holds many records, or None."""
        asked = HeavyValues(tuple(search.search for search in searches), self._sizes, none)
        return self._curator.choose(self._root, asked, Heaviest(), _nano(price), why="one frequent value")

    def set_cells(self, edges: Sequence[Ints]) -> None:
        """Fixes the cells of all columns, null included: the following questions speak of cells. Public."""
        self._within = ColumnCells(tuple(edge.copy() for edge in edges))

    def hub(self, columns: Sequence[int], price: Fraction) -> int:
        """The column among these that the others depend on most, chosen with noise."""
        asked = Hubs(self.within, tuple(columns))
        return self._curator.choose(self._root, asked, Dependence(), _nano(price), why="hub column")

    def cross_tables(self, tables: Sequence[CrossTable], price: Fraction, why: str = "") -> list[Ints]:
        """Noisy counts of all cells of these tables, flat; without a name they are the next table that is bought."""
        if not why:
            self._bought += 1
            why = f"table {self._bought}"
        noisy = self._curator.measure(self._root, CrossTables(self.within, tuple(tables)), _nano(price), why=why)
        about: list[CellsOf] = [{"columns": list(table.columns), "edges": self._group_edges(table)} for table in tables]
        return self._keep(why, noisy, [table.cells for table in tables], about)

    def choose_table(self, candidates: CandidateTables, surviving: Ints, price: Fraction) -> int:
        """The surviving candidate farthest from its model, chosen with noise."""
        if self._round is None or self._round.tables is not candidates.tables:
            self._round = TableRound(self.within, candidates.tables, candidates.share, candidates.seed)
        asked = TableSets(self._round, candidates.models, candidates.penalties, surviving)
        why = f"choice of table {self._bought + 1}"
        return self._curator.choose(self._root, asked, Distance(), _nano(price), why=why)

    def heaps(self, tables: Sequence[HeapTable], price: Fraction) -> list[Ints]:
        """Noisy tables group x class of round values."""
        query = HeapTables(tuple(tables), self._sizes)
        noisy = self._curator.measure(self._root, query, _nano(price), why="round values")
        about: list[CellsOf] = [
            {
                "column": table.column,
                "edges": table.edges.tolist(),
                "group": table.group.tolist(),
                "origin": table.classes.origin,
                "periods": list(table.classes.periods),
            }
            for table in tables
        ]
        return self._keep("round values", noisy, [int(np.prod(table.shape)) for table in tables], about)

    def label_counts(self, tree: LabelTree, target: int, classes: int, price: Fraction) -> Ints:
        """Noisy leaf x class counts, shape (leaves, classes)."""
        query = LabelCounts(self.within, tree, target)
        noisy = self._curator.measure(self._root, query, _nano(price), why="leaves by class")
        about: CellsOf = {"column": target, "tree": _described(tree)}
        (found,) = self._keep("leaves by class", noisy, [tree.leaves * classes], [about])
        return found.reshape(tree.leaves, classes)

    def _keep(self, why: str, noisy: Noisy, sizes: Sequence[int], about: Sequence[CellsOf]) -> list[Ints]:
        """Notes the noisy counts of several tables and returns them table by table."""
        found = np.split(noisy.value[0], np.cumsum(sizes)[:-1])
        for values, words in zip(found, about, strict=True):
            rate = int(noisy.rate_num[0]), noisy.rate_den
            self.answers.append(NoisyAnswer(why, np.arange(len(values)), values, *rate, words))
        return found

    def _group_edges(self, table: CrossTable) -> list[list[int]]:
        """For each column of a table the edges of its groups, as codes."""
        found = []
        for column, map_ in zip(table.columns, table.maps, strict=True):
            edges = self.within.edges[column]
            starts = np.flatnonzero(np.diff(map_.astype(np.int64), prepend=-1))
            found.append([*edges[starts].tolist(), int(edges[-1])])
        return found


def _nano(price: Fraction) -> int:
    return price.numerator * NANO // price.denominator


def _described(tree: LabelTree) -> list[TreeNode]:
    """The nodes of a tree: a leaf by its number, another by its column and the cells that go left."""
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

"""The game of hostile.py with `mosaic`'s questions: tables, leaves, round and frequent values, choices, trees.

All of them look at every record, so only the unsplit root may be asked.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from hypothesis import strategies as st

from cantle.trusted.claims.table_candidates import Dependence, Distance, Heaviest, HeavyValues, Hubs, TableSets
from cantle.trusted.claims.table_queries import CrossTables, LabelCounts, Spikes, ValueSearch
from cantle.trusted.core.stop_test import PrivTree
from cantle.trusted.geometry.boxes import Frontier
from cantle.trusted.geometry.cross_tables import ColumnCells, CrossTable
from cantle.trusted.geometry.subset import Subset
from cantle.trusted.geometry.value_classes import ValueClasses
from tests.laws.hostile import Game
from tests.laws.tables_of_cells import ALL, ONE, PAIR, SIZES, TABLES, WITHIN, table, tree

RECORDS = ((0, 0, 0), (1, 0, 1), (1, 2, 1), (2, 1, 0), (2, 3, 1))
CLASSES = ValueClasses(0, (1, 2))
SEARCHES = (ValueSearch(0, 3, CLASSES), ValueSearch(1, 3, CLASSES, (1,)))  # the last code of column 1 is null
MODELS = tuple(np.full(table_.cells, 1) for table_ in TABLES)
SETS = TableSets((CrossTables(WITHIN, TABLES),), MODELS, np.zeros(len(TABLES), np.int64), np.arange(len(TABLES)))
HALF = replace(SETS, keys=(CrossTables(WITHIN, TABLES, Subset(7, Fraction(1, 2))),))


@cache
def tests_within(price: int, records: int) -> PrivTree:
    return PrivTree.within(price, 0, 2, records)


class MyTables(CrossTables):
    """A query that declares the sensitivity of one table, however many it has."""

    def sensitivity(self, unit: Any) -> int:
        return int(unit.max_records)


class MyDistance(Distance):
    """A subclass of a trusted score that declares another range and must not see exact counts."""

    range = 1

    def scores(self, counted: Any, models: Any, penalties: Any) -> np.ndarray:  # noqa: ARG002
        raise AssertionError("an unproved score saw exact counts")


def edges(*numbers: Any) -> Any:
    return np.array(numbers)


# Questions and the change by one record, which is written down here; None if the question is not allowed.
COUNTED: list[tuple[Any, int | None]] = [
    (CrossTables(WITHIN, (ONE,)), 1),
    (CrossTables(WITHIN, TABLES), 4),
    (CrossTables(WITHIN, (PAIR, PAIR, ALL)), 3),  # the same table twice is measured twice
    (LabelCounts(WITHIN, tree(), 2), 1),
    (MyTables(WITHIN, TABLES), None),
    (CrossTables(WITHIN, ()), None),
    (CrossTables(WITHIN, [ONE]), None),  # type: ignore[arg-type]
    (CrossTables(WITHIN, (table((1, (0, 1, 1)), (1, (0, 0, 1))),)), None),
    (CrossTables(WITHIN, (table((3, (0, 1))),)), None),
    (CrossTables(WITHIN, (CrossTable((1,), (np.array([0, 2, 1], np.uint8),)),)), None),
    (CrossTables(WITHIN, (CrossTable((1,), (np.array([0.0, 1.0, 2.0]),)),)), None),
    (CrossTables(ColumnCells((edges(0, 1, 3), edges(0, 4), edges(0, 3))), (ONE,)), None),
    (CrossTables(ColumnCells((edges(0, 2, 1, 3), edges(0, 4), edges(0, 2))), (ONE,)), None),
    (LabelCounts(WITHIN, replace(tree(), leaf=np.array([-1, 0, -1, 1, 1])), 2), None),
    (LabelCounts(WITHIN, replace(tree(), left=np.array([0, 0, 3, 0, 0])), 2), None),
    (LabelCounts(WITHIN, tree(), 3), None),
]
CHOSEN: list[tuple[Any, Any, int | None]] = [
    (SETS, Distance(), 2),
    (replace(SETS, left=np.array([0, 2])), Distance(), 2),
    (HALF, Distance(), 2),
    (HeavyValues(SEARCHES, SIZES, 3), Heaviest(), 1),
    (Hubs(WITHIN, (0, 1, 2)), Dependence(), 4096),
    (SETS, MyDistance(), None),
    (SETS, Heaviest(), None),
    (SETS, Dependence(), None),
    (HeavyValues(SEARCHES, SIZES, 3), Distance(), None),
    (Hubs(WITHIN, (0, 0)), Dependence(), None),
    (Hubs(WITHIN, (7,)), Dependence(), None),
    (replace(SETS, models=MODELS[:2]), Distance(), None),
    (replace(SETS, models=(MODELS[1], *MODELS[1:])), Distance(), None),
    (replace(SETS, models=tuple(-model for model in MODELS)), Distance(), None),
    (replace(SETS, penalties=np.full(len(TABLES), 2**62)), Distance(), None),
    (replace(SETS, left=np.array([2, 0])), Distance(), None),
    (replace(SETS, left=np.array([0, 9])), Distance(), None),
    (replace(HALF, keys=(CrossTables(WITHIN, TABLES, Subset(7, Fraction(3, 2))),)), Distance(), None),
    (replace(HALF, keys=(CrossTables(WITHIN, TABLES, Subset(7, 0.5)),)), Distance(), None),  # type: ignore[arg-type]
]
SOUGHT: list[tuple[Any, int | None]] = [
    (Spikes(SEARCHES, SIZES), 2),
    (Spikes(SEARCHES[1:], SIZES), 1),
    (Spikes((SEARCHES[0], SEARCHES[0]), SIZES), None),
    (Spikes((ValueSearch(0, 99, CLASSES),), SIZES), None),
    (Spikes(SEARCHES, (3, 3, 2)), None),
]


class TableGame(Game):
    """The moves of a method that asks for tables of columns."""

    def whole(self, nodes: Frontier, allowed: bool) -> bool:
        return allowed and nodes.ids.tolist() == [0]

    def measure_tables(self) -> None:
        nodes, allowed = self.regions()
        price, costs = self.price(len(nodes))
        query, change = self.draw(st.sampled_from(COUNTED))
        noisy = self.ask(
            lambda: self.curator.measure(nodes, query, price, why="t"),
            nodes, self.whole(nodes, allowed) and change is not None, costs, change or 0,
        )  # fmt: skip
        if noisy is not None:
            assert noisy.value.shape == (1, query.key.cells)

    def choose_table(self) -> None:
        nodes, allowed = self.regions()
        price, costs = self.price(len(nodes))
        candidates, quality, rho = self.draw(st.sampled_from(CHOSEN))
        self.ask(
            lambda: self.curator.choose(nodes, candidates, quality, price, why="c"),
            nodes, self.whole(nodes, allowed) and rho is not None, costs, rho or 0,
        )  # fmt: skip

    def search(self) -> None:
        nodes, allowed = self.regions()
        price, costs = self.price(len(nodes))
        query, change = self.draw(st.sampled_from(SOUGHT))
        self.ask(
            lambda: self.curator.measure(nodes, query, price, at_least=self.draw(st.integers(1, 9)), why="s"),
            nodes, self.whole(nodes, allowed) and change is not None, costs, change or 0,
        )  # fmt: skip


TABLE_MOVES = ["measure_tables", "measure_tables", "choose_table", "choose_table", "search", "seal"]

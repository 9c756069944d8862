"""Claims 41 to 44: the L1 sensitivities of `mosaic`'s queries hold and are attained, over all small data sets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest

from cantle.errors import ParameterError
from cantle.trusted.claims.table_queries import CELL_QUERIES, CrossTables, LabelCounts, Spikes, ValueSearch
from cantle.trusted.core.budget import NANO, Budget, Unit
from cantle.trusted.core.curator import Curator
from cantle.trusted.geometry.cross_tables import ColumnCells, CrossTable
from cantle.trusted.geometry.value_classes import ValueClasses
from cantle.trusted.noise import Seeded
from tests.laws.tables_of_cells import (
    ALL,
    COARSE,
    ONE,
    PAIR,
    POINTS,
    SIZES,
    WITHIN,
    Records,
    all_records,
    engine_of,
    map_of,
    table,
    tree,
)

EVENS = ValueClasses(1, (1, 2))
SEARCHES = (ValueSearch(1, 3, EVENS), ValueSearch(0, 3, ValueClasses(0, (1, 2))))
"""Code 3 of column 1 stands for null."""

QUERIES: list[tuple[Any, int]] = [
    (CrossTables(WITHIN, (ONE,)), 1),
    (CrossTables(WITHIN, (ALL,)), 1),
    (CrossTables(WITHIN, (PAIR, ALL, COARSE)), 3),
    (CrossTables(WITHIN, (ONE, ONE)), 2),
    (LabelCounts(WITHIN, tree(), 2), 1),
    (Spikes(SEARCHES[:1], SIZES), 1),
    (Spikes(SEARCHES, SIZES), 2),
]
NUMBERS = range(len(QUERIES))
DATA = list(all_records(2))


@cache
def counts(number: int, records: Records) -> np.ndarray:
    """All cells of a query, counted by the engine."""
    query, engine = QUERIES[number][0], engine_of(records)
    root = engine.root()
    if isinstance(query, Spikes):
        starts, cells, exact = query.occupied(engine, np.zeros(1, np.int64), root)
        totals = query.totals(root)
        dense = np.zeros(int(totals.sum()), dtype=np.int64)
        owner = np.repeat(np.arange(len(totals)), np.diff(starts))
        assert (cells < totals[owner]).all()
        dense[np.concatenate([[0], np.cumsum(totals)])[owner] + cells] = exact
        return dense
    assert query.key.fits(root, engine.domain)
    ((_, _, exact),) = engine.tally(np.zeros(1, np.int64), query.key)
    return exact[0]


@pytest.mark.parametrize(
    ("most", "added"), [(1, 1), (0, 2), *(pytest.param(*more, marks=pytest.mark.slow) for more in [(1, 2), (2, 1)])]
)
@pytest.mark.parametrize("number", NUMBERS)
def test_sensitivity_holds_and_is_attained(number: int, most: int, added: int) -> None:
    declared = QUERIES[number][0].sensitivity(Unit(added))
    assert declared == QUERIES[number][1] * added
    worst = 0
    for records in all_records(most):
        for more in combinations_with_replacement(POINTS, added):
            change = counts(number, tuple(sorted((*records, *more)))) - counts(number, records)
            worst = max(worst, int(np.abs(change).sum()))
    assert worst == declared


def test_all_queries_are_tried() -> None:
    assert {type(query) for query, _ in QUERIES} == {*CELL_QUERIES, Spikes}


@pytest.mark.parametrize("number", range(5))
def test_cross_tables_and_leaves_count_every_record_once_per_table(number: int) -> None:
    query, times = QUERIES[number]
    for records in DATA[::7]:
        exact = counts(number, records)
        assert len(exact) == query.key.cells
        assert exact.sum() == times * len(records)


def test_cross_tables_count_by_definition() -> None:
    records = POINTS[::2] + POINTS[::3]
    cell = ((0, 1, 1), (0, 1, 2, 2), (0, 1))
    by_hand = np.zeros(12, dtype=np.int64)
    for a, b, c in records:
        by_hand[(cell[2][c] * 2 + cell[0][a]) * 3 + cell[1][b]] += 1
    engine = engine_of(tuple(records))
    ((_, _, exact),) = engine.tally(np.zeros(1, np.int64), CrossTables(WITHIN, (ALL,)).key)
    assert exact[0].tolist() == by_hand.tolist()


def test_spikes_are_given_by_their_codes() -> None:
    records = ((0, 0, 0),) * 300 + ((2, 1, 0),) * 200 + ((1, 3, 1),) * 500
    query = Spikes(SEARCHES, SIZES)
    with Curator(engine_of(records), Budget(200 * NANO, Unit()), Seeded(1)) as curator:
        root = curator.root()
        noisy = curator.measure(root, query, 200 * NANO, why="spikes", at_least=np.array([150, 150, 150, 150]))
    values = query.values(noisy.rows, noisy.cells)
    assert [codes.tolist() for codes, _ in values] == [[0, 1], [0, 1, 2]]  # null (code 3) is never given
    assert [noisy.value[at].tolist() for _, at in values] == [[300, 200], [300, 500, 200]]


@pytest.mark.parametrize("origin", [-7, 0, 3, 10])
@pytest.mark.parametrize("periods", [(1,), (1, 5), (1, 5, 10), (1, 2, 4, 12)])
def test_ranks_and_codes_of_a_class_are_inverse(origin: int, periods: tuple[int, ...]) -> None:
    classes = ValueClasses(origin, periods)
    assert classes.fits()
    codes = np.arange(60)
    for number, size in enumerate(classes.sizes(0, 60).tolist()):
        mine = codes[classes.of(codes) == number]
        assert classes.rank(mine, number).tolist() == list(range(size))
        assert classes.code(np.arange(size), number).tolist() == mine.tolist()


def new_curator() -> Curator:
    return Curator(engine_of(((0, 0, 0),)), Budget(10 * NANO, Unit()), Seeded(1))


def test_only_the_unsplit_root_fits() -> None:
    engine = engine_of(((0, 0, 0),))
    root = engine.root()
    below = replace(root, depth=1)
    for query, _ in QUERIES:
        known = query if isinstance(query, Spikes) else query.key
        assert known.fits(root, engine.domain)
        assert not known.fits(below, engine.domain)
        assert not known.fits(root, (engine.sizes, 2))  # no column may be the class


BAD: dict[str, Callable[[], Any]] = {
    "no table": lambda: CrossTables(WITHIN, ()),
    "a list of tables": lambda: CrossTables(WITHIN, [ONE]),  # type: ignore[arg-type]
    "a column twice": lambda: CrossTables(WITHIN, (table((0, (0, 1)), (0, (0, 1))),)),
    "a map that jumps": lambda: CrossTables(WITHIN, (table((1, (0, 2, 2))),)),
    "a map that falls": lambda: CrossTables(WITHIN, (table((1, (0, 1, 0))),)),
    "a map of another length": lambda: CrossTables(WITHIN, (table((1, (0, 1))),)),
    "an unknown column": lambda: CrossTables(WITHIN, (table((3, (0, 1))),)),
    "a map written to": lambda: CrossTables(WITHIN, (_written(),)),
    "cells that leave codes out": lambda: CrossTables(ColumnCells((np.array([0, 2]), *WITHIN.edges[1:])), (COARSE,)),
    "cells of too few columns": lambda: CrossTables(ColumnCells(WITHIN.edges[:2]), (ONE,)),
    "a tree that turns back": lambda: LabelCounts(WITHIN, replace(tree(), left=np.array([1, 0, 0, 0, 0])), 2),
    "a rule of another length": lambda: LabelCounts(WITHIN, replace(tree(), column=np.array([1, -1, 1, -1, -1])), 2),
    "two leaves of one number": lambda: LabelCounts(WITHIN, replace(tree(), leaf=np.array([-1, 0, -1, 0, 1])), 2),
    "a target that is not there": lambda: LabelCounts(WITHIN, tree(), 3),
}


def _written() -> CrossTable:
    changed = table((1, (0, 1, 1)))
    assert changed.cells == 2
    changed.maps[0][:] = map_of(0, 1, 2)
    return changed


@pytest.mark.parametrize("name", BAD)
def test_queries_without_a_proof_are_refused_before_a_charge(name: str) -> None:
    with new_curator() as curator:
        root = curator.root()
        with pytest.raises(ParameterError):
            curator.measure(root, BAD[name](), NANO, why="bad")
        assert curator.left(root)[0] == 10 * NANO


@pytest.mark.parametrize("searches", [
    (),
    (SEARCHES[0], SEARCHES[0]),
    (ValueSearch(1, 2, EVENS),),
    (ValueSearch(1, 3, EVENS, (1, 0)),),
    (ValueSearch(5, 3, EVENS),),
])  # fmt: skip
def test_searches_without_a_proof_are_refused(searches: tuple[ValueSearch, ...]) -> None:
    with new_curator() as curator:
        root = curator.root()
        with pytest.raises(ParameterError):
            curator.measure(root, Spikes(searches, SIZES), NANO, why="bad", at_least=5)

"""Claims 71 to 73: sensitivities and ranges of questions about the items of lists hold and are attained."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations, combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest

from cantle.errors import ParameterError
from cantle.trusted.claims.list_queries import LIST_QUERIES, PartsOfLists, SizesOfLists
from cantle.trusted.claims.table_candidates import Distance, Heaviest, TableSets
from cantle.trusted.core.budget import NANO, Budget, Unit
from cantle.trusted.core.curator import Curator
from cantle.trusted.geometry.cross_tables import ColumnCells
from cantle.trusted.geometry.item_partitions import MOST_COUNTED, PARTS
from cantle.trusted.noise import Seeded
from tests.laws.tables_of_cells import Record, Records, all_records, engine_of, table

SIZES = (2, 3, 2, 2, 2)
"""Four items and, in the second place, a column of three values in two cells."""

ITEMS = (0, 2, 3, 4)
HALVES = np.array([0, 1, 2])
WITHIN = ColumnCells((HALVES, np.array([0, 1, 3]), HALVES, HALVES, HALVES))
POINTS: list[Record] = list(product(*(range(size) for size in SIZES)))
ALONE, BY = table((0, (0, 0))), table((1, (0, 1)))
BY_ITEM = table((2, (0, 1)))

QUERIES: list[tuple[Any, int]] = [
    (SizesOfLists(WITHIN, ITEMS, (0, 1, 2, 3, 4)), 1),
    (SizesOfLists(WITHIN, ITEMS[:1], (0, 1)), 1),
    (SizesOfLists(WITHIN, ITEMS, (0, 2, 3)), 1),
    *((PartsOfLists(WITHIN, ITEMS, by, most), most * PARTS) for by in (ALONE, BY, BY_ITEM) for most in (1, 2, 4)),
    *((PartsOfLists(WITHIN, ITEMS, BY, most, pairs=True), most * PARTS) for most in (1, 3, 6)),
    (PartsOfLists(WITHIN, ITEMS[1:], ALONE, 2, pairs=True), 2 * PARTS),
]
NUMBERS = range(len(QUERIES))


def counts(query: Any, records: Records) -> np.ndarray:
    """All cells of a query, counted by the engine."""
    engine = engine_of(records, SIZES)
    assert query.key.fits(engine.root(), engine.domain)
    ((_, _, exact),) = engine.tally(np.zeros(1, np.int64), query.key)
    assert len(exact[0]) == query.key.cells
    return exact[0]


@pytest.mark.parametrize("added", [1, 2])
@pytest.mark.parametrize("number", NUMBERS)
def test_sensitivity_holds_and_is_attained(number: int, added: int) -> None:
    query, expected = QUERIES[number]
    declared = query.sensitivity(Unit(added))
    assert declared == expected * added
    worst = 0
    for more in combinations_with_replacement(POINTS, added):
        worst = max(worst, int(np.abs(counts(query, more)).sum()))
    assert worst == declared


@pytest.mark.parametrize("number", NUMBERS)
def test_records_are_counted_by_themselves(number: int) -> None:
    """So what one record adds does not depend on the others."""
    query = QUERIES[number][0]
    alone = {point: counts(query, (point,)) for point in POINTS}
    for records in list(all_records(2, POINTS))[::13]:
        total = sum((alone[record] for record in records), np.zeros(query.key.cells, dtype=np.int64))
        assert counts(query, records).tolist() == total.tolist()


def by_hand(query: PartsOfLists, record: Record) -> np.ndarray:
    made = np.zeros(query.key.cells, dtype=np.int64)
    held = [place for place, item in enumerate(query.items) if record[item]]
    some = list(combinations(held, 2)) if query.pairs else [(one,) for one in held]
    for one in some:
        place = one[1] * (one[1] - 1) // 2 + one[0] if query.pairs else one[0]
        cell = query.by.maps[0][
            np.searchsorted(WITHIN.edges[query.by.columns[0]], record[query.by.columns[0]], "right") - 1
        ]
        made[place * query.by.cells + cell] += min(PARTS, PARTS * query.most // len(some))
    return made


@pytest.mark.parametrize("number", range(3, len(QUERIES)))
def test_parts_are_those_of_the_definition(number: int) -> None:
    query = QUERIES[number][0]
    for record in POINTS:
        assert counts(query, (record,)).tolist() == by_hand(query, record).tolist()


def test_sizes_are_numbers_of_items() -> None:
    for record in POINTS:
        held = sum(record[item] for item in ITEMS)
        assert counts(QUERIES[0][0], (record,)).tolist() == [int(size == held) for size in range(5)]
        assert counts(QUERIES[2][0], (record,)).tolist() == [int(held < 2), int(held == 2), int(held > 2)]


def test_all_queries_are_tried() -> None:
    assert {type(query) for query, _ in QUERIES} == {*LIST_QUERIES}


def candidates(most: int, left: list[int], models: list[int]) -> TableSets:
    """Two tables with models of one number each, in parts."""
    keys = tuple(PartsOfLists(WITHIN, ITEMS, by, most) for by in (BY, BY_ITEM))
    every = tuple(np.full(key.cells, one * PARTS) for key, one in zip(keys, models, strict=True))
    return TableSets(keys, every, np.array([5, 0]), np.array(left))


def scores(asked: TableSets, records: Records) -> np.ndarray:
    engine = engine_of(records, SIZES)
    assert asked.fits(engine.root(), engine.domain, Distance())
    (scored,) = asked.exact_scores(engine, np.zeros(1, np.int64), engine.root(), Distance())
    return scored.scores


@pytest.mark.parametrize("models", [[0, 0], [1, 0], [0, 2], [3, 3]])
@pytest.mark.parametrize("most", [1, 2, 4])
def test_ranges_of_scores_hold(most: int, models: list[int]) -> None:
    asked = candidates(most, [0, 1], models)
    bound, widest = Distance().range * asked.margin, 0
    assert bound == 2 * most * PARTS
    for records in [(), *((point,) for point in POINTS[::3])]:
        before = scores(asked, records)
        for point in POINTS:
            change = scores(asked, tuple(sorted((*records, point)))) - before
            widest = max(widest, int(np.abs(change).max()))
            assert change.max() - change.min() <= bound
    assert widest == most * PARTS


@pytest.mark.parametrize("tables", [1, 2])
def test_counts_of_another_margin_are_not_used_again(tables: int) -> None:
    """A method may change a question after a choice; parts that were counted with a larger `most` exceed the new
    range."""

    def first(most: int) -> TableSets:
        every = candidates(most, [*range(tables)], [1, 1])
        keys, models, penalties = (part[:tables] for part in (every.keys, every.models, every.penalties))
        return replace(every, keys=keys, models=models, penalties=penalties)

    engine, asked = engine_of(tuple(POINTS[5:30]), SIZES), first(4)
    root = engine.root()
    list(asked.exact_scores(engine, np.zeros(1, np.int64), root, Distance()))
    for key in asked.keys:
        object.__setattr__(key, "most", 1)
    assert asked.margin == PARTS
    (scored,) = asked.exact_scores(engine, np.zeros(1, np.int64), root, Distance())
    assert scored.scores.tolist() == scores(first(1), tuple(POINTS[5:30])).tolist()


def test_scores_are_distances_of_the_tables_that_are_left() -> None:
    records = tuple(POINTS[5:30])
    query = PartsOfLists(WITHIN, ITEMS, BY_ITEM, 2)
    by_definition = np.abs(sum((by_hand(query, record) for record in records), np.zeros(8)) - PARTS).sum()
    assert scores(candidates(2, [1], [1, 1]), records).tolist() == [by_definition]


@pytest.mark.parametrize(
    "change",
    [
        {"keys": ()},
        {"keys": (SizesOfLists(WITHIN, ITEMS, (0, 1)),) * 2},
        {"models": (np.zeros(8, np.int64),)},
        {"left": np.array([2])},
        {"left": np.array([1, 0])},
        {"penalties": np.array([0])},
    ],
)
def test_candidates_without_a_proof_are_refused(change: dict[str, Any]) -> None:
    with Curator(engine_of((POINTS[0],), SIZES), Budget(10 * NANO, Unit()), Seeded(1)) as curator:
        root = curator.root()
        with pytest.raises(ParameterError):
            curator.choose(root, replace(candidates(1, [0, 1], [0, 0]), **change), Distance(), NANO, why="bad")
        with pytest.raises(ParameterError):
            curator.choose(root, candidates(1, [0, 1], [0, 0]), Heaviest(), NANO, why="bad")
        assert curator.left(root)[0] == 10 * NANO


def test_only_the_unsplit_root_fits() -> None:
    engine = engine_of((POINTS[0],), SIZES)
    root = engine.root()
    for query, _ in QUERIES:
        assert not query.key.fits(replace(root, depth=1), engine.domain)
        assert not query.key.fits(root, (engine.sizes, 2))


BAD: dict[str, Callable[[], Any]] = {
    "an item twice": lambda: PartsOfLists(WITHIN, (0, 0), ALONE, 1),
    "an item twice in sizes": lambda: SizesOfLists(WITHIN, (2, 3, 2), (0, 1)),
    "no item": lambda: SizesOfLists(WITHIN, (), (0,)),
    "a list of items": lambda: SizesOfLists(WITHIN, [0, 2], (0, 1)),  # type: ignore[arg-type]
    "an unknown column": lambda: SizesOfLists(WITHIN, (0, 5), (0, 1)),
    "a column of one cell": lambda: SizesOfLists(replace_cells(0, [0, 2]), ITEMS, (0, 1)),
    "a column of three cells": lambda: SizesOfLists(replace_cells(1, [0, 1, 2, 3]), (0, 1), (0, 1)),
    "cells of another domain": lambda: SizesOfLists(ColumnCells(WITHIN.edges[:3]), (0, 2), (0, 1)),
    "sizes from 1 on": lambda: SizesOfLists(WITHIN, ITEMS, (1, 2)),
    "a size twice": lambda: SizesOfLists(WITHIN, ITEMS, (0, 1, 1)),
    "a size beyond the items": lambda: SizesOfLists(WITHIN, ITEMS, (0, 5)),
    "no size": lambda: SizesOfLists(WITHIN, ITEMS, ()),
    "a list of sizes": lambda: SizesOfLists(WITHIN, ITEMS, [0, 1]),  # type: ignore[arg-type]
    "no part at all": lambda: PartsOfLists(WITHIN, ITEMS, ALONE, 0),
    "a truth value of parts": lambda: PartsOfLists(WITHIN, ITEMS, ALONE, True),
    "too many parts": lambda: PartsOfLists(WITHIN, ITEMS, ALONE, MOST_COUNTED + 1),
    "a number as pairs": lambda: PartsOfLists(WITHIN, ITEMS, ALONE, 1, 2),  # type: ignore[arg-type]
    "pairs of one item": lambda: PartsOfLists(WITHIN, (0,), ALONE, 1, pairs=True),
    "a table of unknown columns": lambda: PartsOfLists(WITHIN, ITEMS, table((5, (0, 1))), 1),
    "a map that jumps": lambda: PartsOfLists(WITHIN, ITEMS, table((1, (0, 2))), 1),
}


def replace_cells(column: int, edges: list[int]) -> ColumnCells:
    every = [*WITHIN.edges]
    every[column] = np.array(edges, dtype=np.int64)
    return ColumnCells(tuple(every))


@pytest.mark.parametrize("name", BAD)
def test_queries_without_a_proof_are_refused_before_a_charge(name: str) -> None:
    with Curator(engine_of((POINTS[0],), SIZES), Budget(10 * NANO, Unit()), Seeded(1)) as curator:
        root = curator.root()
        with pytest.raises(ParameterError):
            curator.measure(root, BAD[name](), NANO, why="bad")
        assert curator.left(root)[0] == 10 * NANO

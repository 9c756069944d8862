"""The declared sensitivities of a release's own error hold and are attained (Claims 55 to 57), by brute force.

All small tables and sets are tried with all records added at either end, compared with several released counts,
through the real engines. Mutants exceed their bounds: a workload chosen from the data, a quantile charged at 1/Q, a
distance divided by the exact number of records, a sum of support errors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations, combinations_with_replacement, product
from math import ceil
from typing import Any

import numpy as np
import pytest

from cantle.trusted.budget import Unit
from cantle.trusted.engines.sets import SetEngine
from cantle.trusted.engines.words import WordEngine
from cantle.trusted.geometry.cross_tables import ColumnCells, CrossTable
from cantle.trusted.geometry.item_partitions import ItemTree
from cantle.trusted.geometry.workloads import Questions, SetWorkload, TableWorkload, count_sets, count_table
from cantle.trusted.own_error import OwnError, mean_distance, quantile_error
from tests.effort import one_in

Rows = tuple[tuple[int, ...], ...]
SIZES, CLASSES = (2, 3), 2
POINTS = list(product(range(2), range(3), range(CLASSES)))
WITHIN = ColumnCells((np.arange(3), np.arange(4), np.arange(3)))
ITEMS = 3
SETS = [record for size in range(1, ITEMS + 1) for record in combinations(range(ITEMS), size)]


def questions(*asked: tuple[tuple[int, int, int], ...]) -> Questions:
    """Questions given as conditions (column, lo, hi)."""
    flat = np.array([condition for question in asked for condition in question], dtype=np.int64).reshape(-1, 3)
    return Questions(np.cumsum([0, *map(len, asked)]), *(np.ascontiguousarray(part) for part in flat.T))


def identity(*columns: int) -> CrossTable:
    return CrossTable(columns, tuple(np.arange(WITHIN.sizes[column], dtype=np.uint8) for column in columns))


ONE = questions(((0, 0, 1),), ((1, 1, 3),), ((1, 0, 1),), ((2, 1, 2),))
MORE = questions(((0, 1, 2), (1, 0, 2)), ((0, 0, 1), (1, 2, 3), (2, 0, 1)), ((1, 0, 3), (2, 0, 2)))
PAIRS = (identity(0, 1), identity(1, 2), identity(2, 0))
NONE = questions()
WORKLOADS = {
    "all": TableWorkload(WITHIN, ONE, MORE, PAIRS),
    "one column": TableWorkload(WITHIN, ONE, NONE, ()),
    "more columns": TableWorkload(WITHIN, NONE, MORE, ()),
    "pairs": TableWorkload(WITHIN, NONE, NONE, PAIRS),
    "one question": TableWorkload(WITHIN, questions(((1, 0, 2),)), NONE, ()),
}
ABOUT_SETS = {
    "both": SetWorkload(np.array([0, 1, 2]), np.array([0, 2, 5]), np.array([0, 2, 0, 1, 2])),
    "items": SetWorkload(np.array([2, 0]), np.array([0]), np.zeros(0, np.int64)),
    "groups": SetWorkload(np.zeros(0, np.int64), np.array([0, 2]), np.array([1, 2])),
}


def columns(rows: Rows) -> list[np.ndarray]:
    return [np.array([row[j] for row in rows], dtype=np.int64) for j in range(3)]


def csr(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    return np.cumsum([0, *map(len, rows)]), np.array([item for row in rows for item in row], dtype=np.int32)


def engine_of(rows: Rows) -> Any:
    *codes, label = columns(rows)
    return WordEngine([(codes, label)], sizes=SIZES, class_count=CLASSES)


def sets_of(rows: Rows) -> SetEngine:
    return SetEngine(*csr(rows), tree=ItemTree.of(ITEMS, ITEMS, even=True), most=1)


def neighbours(points: list[tuple[int, ...]], held: int, added: int) -> Iterator[tuple[Rows, Rows]]:
    """Data sets of up to `held` records, each with and without `added` more records, at the start or at the end."""
    for rows in (rows for n in range(held + 1) for rows in combinations_with_replacement(points, n)):
        for more in combinations_with_replacement(points, added):
            for place in {0, len(rows)}:
                yield rows, rows[:place] + more + rows[place:]


def worst(answer: Callable[[Rows], Any], points: list[tuple[int, ...]], held: int = 1, added: int = 1) -> float:
    """The largest L1 change over all neighbours."""
    known: dict[Rows, np.ndarray] = {}

    def numbers(rows: Rows) -> np.ndarray:
        if rows not in known:
            known[rows] = np.asarray(answer(rows))
        return known[rows]

    return float(
        max(np.abs(numbers(before) - numbers(after)).sum() for before, after in neighbours(points, held, added))
    )


RELEASED: list[Rows] = [(), ((0, 0, 0),), ((1, 2, 1), (1, 2, 1), (0, 1, 0), (1, 0, 0))]
RELEASED_SETS: list[Rows] = [(), ((0, 2), (1,)), ((0, 1, 2),) * 3]
HELD_AND_ADDED = [(1, 1), (0, 2), *(pytest.param(*more, marks=pytest.mark.slow) for more in [(2, 1), (1, 2)])]
"""The numbers of records that there are at most, and that are added."""


@pytest.mark.parametrize("name", WORKLOADS)
@pytest.mark.parametrize("released", one_in(3, RELEASED[::-1]), ids=len)
@pytest.mark.parametrize(("held", "added"), HELD_AND_ADDED)
def test_numbers_of_tables_change_by_no_more_than_declared(name: str, released: Rows, held: int, added: int) -> None:
    workload = WORKLOADS[name]
    asked = OwnError(workload, count_table(workload, columns(released)))
    assert asked.fits("tables", (SIZES, CLASSES))
    moved = worst(lambda rows: asked.exact_numbers(engine_of(rows)), POINTS, held, added)
    assert moved <= asked.sensitivity(Unit(added)) == asked.numbers * added


@pytest.mark.parametrize("name", ABOUT_SETS)
@pytest.mark.parametrize("released", one_in(3, RELEASED_SETS[::-1]), ids=len)
@pytest.mark.parametrize(("held", "added"), HELD_AND_ADDED)
def test_numbers_of_sets_change_by_no_more_than_declared(name: str, released: Rows, held: int, added: int) -> None:
    workload = ABOUT_SETS[name]
    asked = OwnError(workload, count_sets(workload, *csr(released)))
    assert asked.fits("sets", sets_of(()).domain)
    moved = worst(lambda rows: asked.exact_numbers(sets_of(rows)), SETS, held, added)
    assert moved <= asked.sensitivity(Unit(added)) == asked.numbers * added


def test_bounds_are_attained() -> None:
    """All numbers change together, so one charge for three numbers would be too little."""
    every = questions(((1, 0, 3),))
    workload = TableWorkload(WITHIN, every, questions(((0, 0, 2), (1, 0, 3))), PAIRS)
    asked = OwnError(workload, np.zeros(workload.cells, dtype=np.int64))
    assert worst(lambda rows: asked.exact_numbers(engine_of(rows)), POINTS) == 3 == asked.sensitivity(Unit())
    about = ABOUT_SETS["both"]
    both = OwnError(about, np.zeros(about.cells, dtype=np.int64))
    assert worst(lambda rows: both.exact_numbers(sets_of(rows)), SETS) == 2 == both.sensitivity(Unit())


def test_the_workload_decides_how_many_numbers_are_asked() -> None:
    numbers = {
        name: OwnError(workload, np.zeros(workload.cells, np.int64)).numbers for name, workload in WORKLOADS.items()
    }
    assert numbers == {"all": 3, "one column": 1, "more columns": 1, "pairs": 1, "one question": 1}
    numbers = {
        name: OwnError(workload, np.zeros(workload.cells, np.int64)).numbers for name, workload in ABOUT_SETS.items()
    }
    assert numbers == {"both": 2, "items": 1, "groups": 1}


@pytest.mark.parametrize("q", [1, 2, 19, 20, 21, 500])
def test_the_quantile_is_an_order_statistic(q: int) -> None:
    dice = np.random.default_rng(q)
    exact, released = dice.integers(0, 1000, (2, q))
    rank = ceil(0.95 * q - 1e-9)
    assert quantile_error(exact, released) == sorted(abs(a - b) for a, b in zip(exact, released, strict=True))[rank - 1]


# ---- mutants ----------------------------------------------------------------------------------------------------


def test_a_workload_chosen_from_the_data_is_caught() -> None:
    """If only questions that some record fulfils were asked, one more record would change which ones are compared."""
    released = count_table(WORKLOADS["one column"], columns(((1, 1, 1),) * 9))

    def chosen(rows: Rows) -> int:
        exact = engine_of(rows).count_all(WORKLOADS["one column"])
        kept = exact > 0 if (exact > 0).any() else np.ones(len(exact), dtype=np.bool_)
        return quantile_error(exact[kept], released[kept])

    assert worst(chosen, POINTS) > 1


def test_a_quantile_charged_at_a_share_of_its_questions_is_caught() -> None:
    """One record can fulfil all Q questions, and then the quantile changes by 1, not by 1/Q."""
    same = TableWorkload(WITHIN, questions(*[((1, 0, 2),)] * 4), NONE, ())
    asked = OwnError(same, np.zeros(4, dtype=np.int64))
    assert worst(lambda rows: asked.exact_numbers(engine_of(rows)), POINTS) > 1 / len(same.one_column)


def test_a_distance_over_the_exact_number_of_records_is_caught() -> None:
    """If the distance were divided by the private n, one record could change the share by more than a whole."""
    released = count_table(WORKLOADS["pairs"], columns(((1, 1, 1),) * 9))

    def share(rows: Rows) -> int:
        exact = engine_of(rows).count_all(WORKLOADS["pairs"])
        return 1000 * mean_distance(exact, released, 3) // (2 * max(1, len(rows)))

    assert worst(share, POINTS) > 1000


def test_a_sum_of_support_errors_is_caught() -> None:
    """It changes by the number of items of a record, which is why sets have no third number."""
    asked = ABOUT_SETS["items"]

    def summed(rows: Rows) -> int:
        return int(np.abs(sets_of(rows).count_all(ABOUT_SETS["both"])[:3]).sum())

    assert worst(summed, SETS) == ITEMS > 1
    assert len(asked.items) > 1


def test_questions_that_do_not_fit_are_refused() -> None:
    good = WORKLOADS["all"]
    zero = np.zeros(good.cells, dtype=np.int64)
    assert OwnError(good, zero).fits("tables", (SIZES, CLASSES))
    wrong = [
        OwnError(good, zero[:-1]),
        OwnError(good, zero - 1),
        OwnError(good, zero + 2**41),
        OwnError(good, zero.astype(np.float64)),
        OwnError(TableWorkload(ColumnCells(WITHIN.edges[:2]), NONE, NONE, ()), zero[:0]),
        OwnError(TableWorkload(WITHIN, questions(((1, 2, 2),)), NONE, ()), zero[:1]),
        OwnError(TableWorkload(WITHIN, questions(((1, 0, 4),)), NONE, ()), zero[:1]),
        OwnError(TableWorkload(WITHIN, questions(((3, 0, 1),)), NONE, ()), zero[:1]),
        OwnError(TableWorkload(WITHIN, questions(((1, 0, 1),) * 4), NONE, ()), zero[:1]),
        OwnError(ABOUT_SETS["both"], zero[:5]),
    ]
    assert not any(query.fits("tables", (SIZES, CLASSES)) for query in wrong)
    taxonomy = sets_of(()).domain
    beyond = SetWorkload(np.array([ITEMS]), np.array([0]), np.zeros(0, np.int64))
    assert not OwnError(beyond, zero[:1]).fits("sets", taxonomy)
    assert not OwnError(good, zero).fits("sets", taxonomy)
    assert not OwnError(good, zero).fits("graphs", (SIZES, CLASSES))

"""The declared sensitivities of a release's own error hold and are attained (Claims 55a to 57), by brute force.

All small tables and sets are tried with all records added at either end, compared with several released counts,
through the real engines. Mutants exceed their bounds: a workload chosen from the data, a quantile charged at 1/Q, a
weight above 1, pairs classed by private counts, a number of answers from the exact count, a sum of support errors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product
from math import ceil
from typing import Any

import numpy as np
import pytest

from cantle.methods.own_error.accuracy import affordable
from cantle.trusted.claims.own_error import PERCENT, OwnError, error_level, ranked, weighted_errors
from cantle.trusted.core.budget import NANO, Unit
from cantle.trusted.counting.ragged import Ragged
from cantle.trusted.counting.sets import SetEngine
from cantle.trusted.counting.words import WordEngine
from cantle.trusted.geometry.cross_tables import ColumnCells, CrossTable
from cantle.trusted.geometry.item_partitions import ItemTree
from cantle.trusted.geometry.workloads import (
    APART,
    ONE_COLUMN,
    TOGETHER,
    WHOLE,
    Rectangles,
    SetWorkload,
    TableWorkload,
    count_sets,
    count_table,
)
from tests.effort import one_in

Rows = tuple[tuple[int, ...], ...]
SIZES, CLASSES = (2, 3), 2
POINTS = list(product(range(2), range(3), range(CLASSES)))
WITHIN = ColumnCells((np.arange(3), np.arange(4), np.arange(3)))
ITEMS = 3
SETS = [record for size in range(1, ITEMS + 1) for record in combinations(range(ITEMS), size)]


def table(*columns: int) -> CrossTable:
    return CrossTable(columns, tuple(np.arange(WITHIN.shape[column], dtype=np.uint8) for column in columns))


Asked = tuple[int, CrossTable, list[tuple[int, ...]]]
"""The class of a table, the table, and its rectangles: top, bottom, left, right, weight."""


def workload(*asked: Asked) -> TableWorkload:
    classes, tables, rectangles = zip(*asked, strict=True)
    starts = np.cumsum([0, *map(len, rectangles)])
    flat = np.array([one for some in rectangles for one in some], dtype=np.int64).T
    parts = (np.ascontiguousarray(part) for part in flat)
    return TableWorkload(WITHIN, tables, np.array(classes), Rectangles(starts, *parts))


FULL, HALF, LITTLE = WHOLE, WHOLE // 2, 7
ONE: list[Asked] = [
    (ONE_COLUMN, table(0), [(0, 1, 0, 1, FULL)]),
    (ONE_COLUMN, table(1), [(1, 3, 0, 1, FULL), (0, 1, 0, 1, HALF)]),
    (ONE_COLUMN, table(2), [(1, 2, 0, 1, FULL)]),
]
NEAR: list[Asked] = [
    (TOGETHER, table(0, 1), [(0, 1, 0, 2, FULL), (1, 2, 1, 3, HALF), (0, 2, 2, 3, LITTLE)]),
    (TOGETHER, table(2, 0), [(0, 2, 1, 2, FULL)]),
]
FAR: list[Asked] = [(APART, table(1, 2), [(0, 3, 0, 1, FULL), (2, 3, 0, 2, FULL), (0, 1, 1, 2, HALF)])]
WORKLOADS = {
    "all": workload(*ONE, *NEAR, *FAR),
    "one column": workload(*ONE),
    "together": workload(*NEAR),
    "apart": workload(*FAR, (APART, table(0, 1), [(0, 2, 0, 3, HALF), (1, 2, 1, 2, FULL)])),
    "one question": workload((ONE_COLUMN, table(1), [(0, 2, 0, 1, FULL)])),
}


def about_sets(bands: list[list[int]], near: list[tuple[int, ...]], far: list[tuple[int, ...]]) -> SetWorkload:
    """Questions about items in bands, and about groups that were and that were not counted together."""
    ends, groups = np.cumsum([0, *map(len, bands)]), [*near, *far]
    starts, flat = np.cumsum([0, *map(len, groups)]), np.array([i for one in groups for i in one], dtype=np.int64)
    return SetWorkload(np.array([i for one in bands for i in one], dtype=np.int64), ends, starts, flat, len(near))


ABOUT_SETS = {
    "all": about_sets([[0], [1, 2]], [(0, 2)], [(0, 1, 2), (1, 2)]),
    "items": about_sets([[2], [0]], [], []),
    "together": about_sets([], [(1, 2), (0, 1, 2)], []),
    "apart": about_sets([], [], [(0, 1), (0, 1, 2)]),
}


def counts(asked: TableWorkload, rows: Rows) -> Any:
    """The number of records in each rectangle."""
    return asked.rectangles.counts(asked.tables, count_table(asked, columns(rows)))


def columns(rows: Rows) -> list[np.ndarray]:
    return [np.array([row[j] for row in rows], dtype=np.int64) for j in range(3)]


def csr(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    return np.cumsum([0, *map(len, rows)]), np.array([item for row in rows for item in row], dtype=np.int32)


def engine_of(rows: Rows) -> Any:
    *codes, label = columns(rows)
    return WordEngine([(codes, label)], sizes=SIZES, class_count=CLASSES)


def sets_of(rows: Rows) -> SetEngine:
    return SetEngine(Ragged(*csr(rows)), tree=ItemTree.of(ITEMS, ITEMS, even=True), most=1)


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
    about = WORKLOADS[name]
    asked = OwnError(about, count_table(about, columns(released)))
    assert asked.fits("tables", (SIZES, CLASSES))
    moved = worst(lambda rows: asked.exact_numbers(engine_of(rows)), POINTS, held, added)
    assert moved <= asked.sensitivity(Unit(added)) == asked.numbers * added


@pytest.mark.parametrize("name", ABOUT_SETS)
@pytest.mark.parametrize("released", one_in(3, RELEASED_SETS[::-1]), ids=len)
@pytest.mark.parametrize(("held", "added"), HELD_AND_ADDED)
def test_numbers_of_sets_change_by_no_more_than_declared(name: str, released: Rows, held: int, added: int) -> None:
    about = ABOUT_SETS[name]
    asked = OwnError(about, count_sets(about, *csr(released)))
    assert asked.fits("sets", sets_of(()).domain)
    moved = worst(lambda rows: asked.exact_numbers(sets_of(rows)), SETS, held, added)
    assert moved <= asked.sensitivity(Unit(added)) == asked.numbers * added


def test_bounds_are_attained() -> None:
    """All numbers change together, so one charge for three numbers would be too little."""
    everything = [(0, 3, 0, 2, FULL)]
    every = workload(
        (ONE_COLUMN, table(1), [(0, 3, 0, 1, FULL)]),
        (TOGETHER, table(1, 0), everything),
        (APART, table(1, 2), everything),
    )
    asked = OwnError(every, np.zeros(every.cells, dtype=np.int64))
    assert worst(lambda rows: asked.exact_numbers(engine_of(rows)), POINTS) == 3 == asked.sensitivity(Unit())
    about = ABOUT_SETS["all"]
    both = OwnError(about, np.zeros(about.cells, dtype=np.int64))
    assert worst(lambda rows: both.exact_numbers(sets_of(rows)), SETS) == 3 == both.sensitivity(Unit())


def test_the_workload_decides_how_many_numbers_are_asked() -> None:
    numbers = {name: OwnError(about, np.zeros(about.cells, np.int64)).numbers for name, about in WORKLOADS.items()}
    assert numbers == {"all": 3, "one column": 1, "together": 1, "apart": 1, "one question": 1}
    numbers = {name: OwnError(about, np.zeros(about.cells, np.int64)).numbers for name, about in ABOUT_SETS.items()}
    assert numbers == {"all": 3, "items": 1, "together": 1, "apart": 1}


@pytest.mark.parametrize("q", [1, 2, 19, 20, 21, 500])
def test_the_quantile_is_an_order_statistic(q: int) -> None:
    numbers = np.random.default_rng(q).integers(0, 1000, q)
    rank = ceil(0.95 * q - 1e-9)
    assert ranked(numbers, PERCENT) == sorted(numbers.tolist())[rank - 1]
    assert ranked(numbers, 100) == numbers.max()


@pytest.mark.parametrize("seed", range(20))
def test_weighted_errors_are_exact_floors_up_to_2_to_the_52(seed: int) -> None:
    """Claim 55a, with whole numbers of any size as the specification."""
    dice = np.random.default_rng(seed)
    exact = np.array([0, 1, 2**47, 2**52, *dice.integers(0, 2**52, 200)])
    weights = np.append(dice.integers(0, WHOLE + 1, len(exact) - 4), [0, 1, WHOLE - 1, WHOLE])
    wanted = [
        abs(a - b) * w // WHOLE for b in (0, 2**40) for a, w in zip(exact.tolist(), weights.tolist(), strict=True)
    ]
    found = [weighted_errors(exact, np.full_like(exact, b), weights).tolist() for b in (0, 2**40)]
    assert [*found[0], *found[1]] == wanted
    moved = weighted_errors(exact + 1, np.zeros_like(exact), weights) - found[0]
    assert set(moved.tolist()) <= {0, 1}


@pytest.mark.parametrize("moved", [1, 2, 3])
def test_levels_move_by_at_most_what_every_entry_moves(moved: int) -> None:
    """Claim 55b: groups of any sizes, every entry moved by itself."""
    dice, largest = np.random.default_rng(moved), 0
    for _ in range(300):
        groups = [dice.integers(0, 30, dice.integers(1, 8)) for _ in range(dice.integers(1, 6))]
        others = [group + dice.integers(-moved, moved + 1, len(group)) for group in groups]
        for percent in (50, 95, 100):
            largest = max(largest, abs(error_level(groups, percent) - error_level(others, percent)))
    assert largest == moved


def test_the_three_numbers_by_hand() -> None:
    """One column: the 95 % quantile of all; together: 95 % over pairs of 95 % in a pair; apart: the worst pair."""
    records: Rows = ((0, 0, 0), (0, 0, 1), (0, 2, 0), (1, 1, 1), (1, 2, 1))
    asked = OwnError(WORKLOADS["all"], np.zeros(WORKLOADS["all"].cells, dtype=np.int64))
    one = [3, 3, 2 // 2, 3]  # x = 0; y >= 1; y = 0, half; z = 1
    near = [max(2, 2 // 2, 0), 3]  # (x = 0, y <= 1), half of (x = 1, y >= 1), hardly any of y = 2; x = 1 or 0 of z
    far = [max(2, 2, 1 // 2)]
    near[1] = sum(x == 1 for x, _, _ in records)
    assert asked.exact_numbers(engine_of(records)).tolist() == [max(one), max(near), max(far)]


# ---- mutants ----------------------------------------------------------------------------------------------------


def test_a_workload_chosen_from_the_data_is_caught() -> None:
    """If only questions that some record fulfils were asked, one more record would change which ones are compared."""
    asked = WORKLOADS["one column"]
    released = counts(asked, ((1, 1, 1),) * 9)

    def chosen(rows: Rows) -> int:
        exact = counts(asked, rows)
        kept = exact > 0 if (exact > 0).any() else np.ones(len(exact), dtype=np.bool_)
        return ranked(np.abs(exact - released)[kept], PERCENT)

    assert worst(chosen, POINTS) > 1


def test_a_quantile_charged_at_a_share_of_its_questions_is_caught() -> None:
    """One record can fulfil all Q questions, and then the quantile changes by 1, not by 1/Q."""
    same = workload((ONE_COLUMN, table(1), [(0, 2, 0, 1, FULL)] * 4))
    asked = OwnError(same, np.zeros(same.cells, dtype=np.int64))
    assert worst(lambda rows: asked.exact_numbers(engine_of(rows)), POINTS) > 1 / len(same.rectangles)


def test_a_weight_above_1_is_caught_and_refused() -> None:
    heavy = workload((APART, table(0, 1), [(0, 2, 0, 3, 2 * FULL)]))
    asked = OwnError(heavy, np.zeros(heavy.cells, dtype=np.int64))
    assert worst(lambda rows: asked.exact_numbers(engine_of(rows)), POINTS) > asked.sensitivity(Unit())
    assert not asked.fits("tables", (SIZES, CLASSES))


def test_a_mean_over_pairs_is_no_level() -> None:
    """A mean is as private, but it hides the worst pair, which the interval of that pair needs."""
    errors = [np.array([1, 2]), np.array([0, 0]), np.array([90, 70])]
    assert error_level(errors, 100) == 90 > np.mean([group.max() for group in errors])
    assert error_level(errors, PERCENT) == 90


def test_pairs_classed_by_private_counts_are_caught() -> None:
    """If related pairs were found in the records, one more record would move a pair from one class to the other."""
    pairs = (table(0, 1), table(1, 2))
    rectangles = [(0, 1, 0, 1, FULL), (1, 2, 1, 2, FULL)]
    released = np.array([9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])

    def classed(rows: Rows) -> Any:
        cells = count_table(workload(*((APART, one, rectangles) for one in pairs)), columns(rows))
        related = [bool(cells[:6].max() > 1), bool(cells[6:].max() > 1)]
        classes = [TOGETHER if one else APART for one in related]
        asked = OwnError(workload(*zip(classes, pairs, [rectangles] * 2, strict=True)), released)
        known = dict(zip(sorted(set(classes)), asked.exact_numbers(engine_of(rows)).tolist(), strict=True))
        return [known.get(one, 0) for one in (TOGETHER, APART)]

    assert worst(classed, POINTS) > 2


def test_a_number_of_answers_from_the_exact_count_is_caught() -> None:
    """K must follow from the noisy count: with the exact one, one more record would show by how many answers come."""

    def answers(rows: Rows) -> int:
        return affordable(Fraction(1, 25), 1250 * NANO, len(rows), 1, of_tables=True)

    assert {answers(before) for before, _ in neighbours(POINTS, 2, 1)} != {1}
    assert worst(answers, POINTS) > 0


def test_a_sum_of_support_errors_is_caught() -> None:
    """It changes by the number of items of a record, which is why sets have no third number."""
    asked = ABOUT_SETS["items"]

    def summed(rows: Rows) -> int:
        return int(np.abs(sets_of(rows).count_all(ABOUT_SETS["all"])[:3]).sum())

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
        OwnError(replace(good, within=ColumnCells(WITHIN.edges[:2])), zero),
        OwnError(replace(good, classes=good.classes[::-1].copy()), zero),
        OwnError(replace(good, classes=good.classes + 1), zero),
        OwnError(replace(good, tables=good.tables[:-1]), zero[: -good.tables[-1].cells]),
        *(OwnError(replace(good, rectangles=one), zero) for one in _bad(good.rectangles)),
        OwnError(ABOUT_SETS["all"], zero[:5]),
    ]
    assert not any(query.fits("tables", (SIZES, CLASSES)) for query in wrong)
    taxonomy = sets_of(()).domain
    beyond = about_sets([[ITEMS]], [], [])
    assert not OwnError(beyond, zero[:1]).fits("sets", taxonomy)
    assert not OwnError(good, zero).fits("sets", taxonomy)
    assert not OwnError(good, zero).fits("graphs", (SIZES, CLASSES))


def _bad(good: Rectangles) -> Iterator[Rectangles]:
    """Rectangles outside of their tables, without an inside, of other numbers, or with weights outside of 0 to 1."""
    yield replace(good, bottom=good.top)
    yield replace(good, right=good.right + 1)
    yield replace(good, left=good.left - 1)
    yield replace(good, starts=good.starts[:-1])
    yield replace(good, starts=np.array([0, 0, *good.starts[2:]]))
    yield replace(good, weights=good.weights + 1)
    yield replace(good, weights=-good.weights)
    yield replace(good, weights=good.weights.astype(np.float64))
    yield replace(good, top=good.top[:-1])

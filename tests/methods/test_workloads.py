"""Random questions about released records: their sizes and weights, their classes, and their seed."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from cantle.drawing.counts import workload_dice
from cantle.methods.own_error import set_workload, table_workload
from cantle.methods.own_error.accuracy import LARGE
from cantle.methods.own_error.table_workload import Column, coded
from cantle.schema.domain import Attribute, Labels, Steps
from cantle.trusted.geometry.item_partitions import ItemTree
from cantle.trusted.geometry.workloads import APART, ONE_COLUMN, TOGETHER, WHOLE, count_sets, count_table, fingerprint

AGE = Attribute("age", Steps(type="integer", first=0, step=1, grid=100), nullable=True)
TOWN = Attribute("town", Labels(type="string", labels=tuple("abcdefghijklmnopqrst")), nullable=False)
SEX = Attribute("sex", Labels(type="string", labels=("f", "m")), nullable=False)
ONE = Attribute("one", Labels(type="string", labels=("x",)), nullable=False)


def records(n: int = 3000) -> list[np.ndarray]:
    dice = np.random.default_rng(1)
    age = np.where(dice.random(n) < 0.1, 100, dice.integers(0, 100, n))
    return [age, (dice.random(n) ** 2 * 20).astype(int), dice.integers(0, 2, n), np.zeros(n, int)]


ATTRIBUTES = [AGE, TOWN, SEX, ONE]


def made(released: Any = None, attributes: Any = None, seed: int = 5, together: Any = (), numbers: int = 3) -> Any:
    released = records() if released is None else released
    named = [replace(one, name=f"{one.name} {i}") for i, one in enumerate(attributes or ATTRIBUTES)]
    asked = table_workload.table_workload(
        named, released, workload_dice(seed), together, numbers, {one.name for one in named}
    )
    if asked is None:
        return None
    workload, counts = asked
    assert np.array_equal(counts, count_table(workload, released))
    return workload


def of_class(workload: Any, number: int) -> list[Any]:
    return [table for table, one in zip(workload.tables, workload.classes, strict=True) if one == number]


def released_shares(workload: Any, released: list[np.ndarray]) -> np.ndarray:
    counts = workload.rectangles.counts(workload.tables, count_table(workload, released))
    return counts / len(released[0])


def test_questions_about_one_column_are_about_large_groups_nulls_intervals_and_values() -> None:
    released, workload = records(), made()
    assert workload.fits(((101, 20, 2, 1), 1))
    alone, rectangles = of_class(workload, ONE_COLUMN), workload.rectangles
    assert [table.columns for table in alone] == [(0,), (1,), (2,)]  # none about a column with one value
    number = rectangles.starts[len(alone)]
    assert number > 100
    assert (rectangles.weights[:number] == WHOLE).all()
    shares = released_shares(workload, released)[:number]
    assert np.sqrt(shares * (1 - shares)).min() >= 0.15
    spans = set()
    for place, table in enumerate(alone):
        here, edges = rectangles.of(place), workload.within.edges[table.columns[0]]
        spans |= {(table.columns[0], int(edges[a]), int(edges[b]))
                  for a, b in zip(rectangles.top[here], rectangles.bottom[here], strict=True)}  # fmt: skip
    assert (0, 100, 101) in spans
    assert any(column == 0 and hi - lo > 5 and hi <= 100 for column, lo, hi in spans)
    assert not any(column == 0 and lo < 100 < hi for column, lo, hi in spans)
    assert all(hi - lo == 1 for column, lo, hi in spans if column in (1, 2))


def test_pairs_have_at_most_sixteen_groups_and_null_is_separate() -> None:
    workload = made()
    pairs = of_class(workload, APART)
    assert [table.columns for table in pairs] == [(0, 1), (0, 2), (1, 2)]
    assert all(max(table.shape) <= 16 for table in pairs)
    edges, groups = workload.within.edges[0], pairs[0].maps[0]
    assert np.count_nonzero(groups == groups[-1]) == np.count_nonzero(edges[:-1] >= 100) == 1


def test_pairs_measured_together_are_a_class_of_their_own() -> None:
    together = {frozenset(("age 0", "sex 2")), frozenset(("town 1", "nobody"))}
    workload = made(together=together)
    assert [table.columns for table in of_class(workload, TOGETHER)] == [(0, 2)]
    assert [table.columns for table in of_class(workload, APART)] == [(0, 1), (1, 2)]


def test_one_number_is_about_all_pairs() -> None:
    workload = made(together={frozenset(("age 0", "sex 2"))}, numbers=1)
    assert set(workload.classes.tolist()) == {APART}
    assert len(workload.tables) == 3


def test_errors_of_questions_larger_than_the_stated_scale_count_less() -> None:
    released, workload = records(), made()
    shares, rectangles = released_shares(workload, released), workload.rectangles
    place = next(i for i, table in enumerate(workload.tables) if table.columns == (0, 2))
    here = rectangles.of(place)
    assert (rectangles.weights[here] < WHOLE).any()
    own = np.sqrt(shares[here] * (1 - shares[here]))
    assert (rectangles.weights[here] <= WHOLE * LARGE / (0.7 * own) + 1).all()


def test_many_columns_give_three_hundred_pairs_of_both_classes() -> None:
    released = [np.random.default_rng(i).integers(0, 2, 500) for i in range(40)]
    near = {frozenset((f"sex {a}", f"sex {b}")) for a in range(20) for b in range(a)}
    workload = made(released, [SEX] * 40, together=near)
    pairs = of_class(workload, TOGETHER), of_class(workload, APART)
    assert [len({table.columns for table in some}) for some in pairs] == [150, 150]
    assert len(of_class(made(released, [SEX] * 40), APART)) == 300


def test_questions_depend_on_the_seed_only() -> None:
    assert fingerprint(made()) == fingerprint(made())
    assert fingerprint(made(seed=6)) != fingerprint(made())
    other = records()
    other[1] = 19 - other[1]
    assert fingerprint(made(other)) != fingerprint(made())


def test_sorting_codes_gives_the_same_ranks_as_counting_them() -> None:
    codes, asked, ranks = records()[0], np.arange(102), np.arange(0, 3000, 7)
    for codes_declared in (101, 10**9):
        ordered = table_workload._Ordered(codes_declared, codes)
        assert ordered.below(asked).tolist() == [int((codes < code).sum()) for code in asked]
        assert ordered.at(ranks).tolist() == sorted(codes.tolist())[::7]


@pytest.mark.parametrize("n", [0, 1, 500])
def test_equal_records_or_none_make_a_workload_that_fits(n: int) -> None:
    workload = made([np.full(n, 3), np.full(n, 3), np.zeros(n, int), np.zeros(n, int)])
    assert workload.fits(((101, 20, 2, 1), 1))
    assert len(of_class(workload, APART)) == 3


def test_a_single_column_gives_no_questions_about_pairs() -> None:
    for numbers in (1, 3):
        workload = made([records()[0]], [AGE], numbers=numbers)
        assert set(workload.classes.tolist()) == {ONE_COLUMN}
    assert made([np.zeros(5, int)], [ONE]) is None


def test_bins_and_null_become_codes() -> None:
    binned = AGE.coarsen(12)
    assert (binned.width, binned.bins, binned.size) == (10, 10, 11)
    assert coded(binned, np.array([0, 9, 10, 99, 100])).tolist() == [0, 0, 1, 9, 10]
    uneven = AGE.coarsen(8)
    assert coded(uneven, np.array([99, 100])).tolist() == [uneven.bins - 1, uneven.bins]
    assert Column.of(uneven).null == uneven.bins


# ---- sets -----------------------------------------------------------------------------------------------------------


def sets(n: int) -> tuple[np.ndarray, np.ndarray]:
    dice = np.random.default_rng(n)
    rows = [dice.permutation(60)[: dice.integers(1, 7)] for _ in range(n)]
    return np.cumsum([0, *map(len, rows)]), np.concatenate([np.zeros(0, np.int64), *rows])


def given(universe: int, *pairs: tuple[int, int]) -> set_workload.CountedPairs:
    return set_workload.CountedPairs(universe, np.array(sorted(a * universe + b for a, b in pairs), dtype=np.int64))


def test_questions_about_sets_are_about_frequent_items_and_all_their_pairs() -> None:
    released = sets(2000)
    workload = set_workload.set_workload(released, given(60, (3, 7), (3, 9), (7, 9)))
    assert sorted(workload.items.tolist()) == list(range(60))
    assert workload.bands.tolist() == [0, 16, 60]
    groups = [tuple(one.tolist()) for one in np.split(workload.groups, workload.starts[1:-1])]
    assert len(set(groups)) == len(groups)
    assert all(list(group) == sorted(set(group)) for group in groups)
    assert set(combinations(range(60), 2)) < set(groups)
    assert {len(group) for group in groups} == {2, 3}
    near = set(groups[: workload.together])
    assert {(3, 7), (3, 9), (7, 9)} <= near <= {(3, 7), (3, 9), (7, 9), (3, 7, 9)}
    assert count_sets(workload, *released)[0] == np.bincount(released[1]).max()
    assert workload.fits(ItemTree.of(60, 60, even=True))


def test_counted_pairs_of_rare_items_are_asked_about_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(set_workload, "PAIRED", 4)
    monkeypatch.setattr(set_workload, "FURTHER", 2)
    released = sets(500)
    rare = np.argsort(np.bincount(released[1], minlength=60))[:3]
    pairs = [tuple(sorted(pair)) for pair in combinations(rare.tolist(), 2)]
    workload = set_workload.set_workload(released, given(60, *pairs))
    asked = [tuple(one.tolist()) for one in np.split(workload.groups, workload.starts[1:-1])][: workload.together]
    assert len(asked) == 2
    assert set(asked) < set(pairs)


def test_a_group_is_together_if_every_pair_in_it_was_counted() -> None:
    groups = [(0, 1), (1, 2), (2, 0), (0, 1, 2), (0, 1, 3), (4, 0, 1, 2)]
    assert given(5, (0, 1), (1, 2), (0, 2)).together(groups).tolist() == [True, True, True, True, False, False]
    assert set_workload.CountedPairs(5, None).together(groups).all()
    assert set_workload.CountedPairs(5, None).together([]).tolist() == []


@pytest.mark.parametrize(("n", "items"), [(0, 0), (1, 1)])
def test_there_are_no_questions_without_records(n: int, items: int) -> None:
    workload = set_workload.set_workload((np.arange(n + 1), np.zeros(n, np.int64)), given(5))
    assert (len(workload.items), len(workload.starts)) == (items, 1)
    assert workload.fits(ItemTree.of(5, 5, even=True))

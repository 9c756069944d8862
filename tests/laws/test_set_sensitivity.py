"""The declared L1 sensitivities of the questions of `baskets` hold and are attained (Claims 50 to 53), by brute force.

All data sets of one record over four items (with `-m slow` of two) are tried with all records added, through the real
engine. Mutants of the counts exceed their bounds: long records cut by the popularity of items in the data, or by the
position of the record; parts that are not divided, or are rounded up; pairs without the cap.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import combinations, combinations_with_replacement
from typing import Any

import numpy as np
import pytest

from cantle.trusted.claims.set_queries import BASKET_KEYS, HeadPatterns, ItemSupports, PairSupports, SetSizes
from cantle.trusted.core.budget import Unit
from cantle.trusted.counting import basket_counts
from cantle.trusted.counting.ragged import Ragged
from cantle.trusted.counting.sets import SetEngine
from cantle.trusted.geometry import item_partitions
from cantle.trusted.geometry.item_partitions import LONGEST_PAIRED, PARTS, ItemTree, item_parts, pair_parts
from tests.effort import slow

Rows = tuple[tuple[int, ...], ...]
ITEMS = 4
RECORDS = [record for size in range(1, ITEMS + 1) for record in combinations(range(ITEMS), size)]
DATA = [rows for number in range(3) for rows in combinations_with_replacement(RECORDS, number)]

QUERIES: list[tuple[Any, int]] = [
    (SetSizes((1,)), 1),
    (SetSizes((1, 2, 3, 4)), 1),
    (SetSizes((1, 3)), 1),
    *(
        (ItemSupports(ITEMS, most, strata, singles), most * PARTS)
        for most in (1, 2, 3)
        for strata in (False, True)
        for singles in (False, True)
    ),
    (HeadPatterns((2,)), 1),
    (HeadPatterns((0, 1, 3)), 1),
    (HeadPatterns((0, 1, 2, 3)), 1),
    *((PairSupports((0, 1, 2, 3), most), most * PARTS) for most in (1, 2, 3)),
    *((PairSupports((0, 1, 3), most), most * PARTS) for most in (1, 2, 3)),
]


def csr(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    return np.cumsum([0, *map(len, rows)]), np.array([item for row in rows for item in row], dtype=np.int32)


def engine_of(rows: Rows) -> SetEngine:
    return SetEngine(Ragged(*csr(rows)), tree=ItemTree.of(ITEMS, ITEMS, even=True), most=ITEMS)


def counted(query: Any, rows: Rows) -> np.ndarray:
    """All cells of a question, as the engine counts them."""
    engine = engine_of(rows)
    if isinstance(query, PairSupports):
        dense = np.zeros(query.cells, np.int64)
        _, cells, counts = query.occupied(engine, np.zeros(1, np.int64), engine.root())
        dense[cells] = counts
        return dense
    ((_, _, counts),) = engine.tally(np.zeros(1, np.int64), query.key)
    assert counts.shape == (1, query.key.cells)
    return counts[0]


def neighbours(records: int, added: int) -> Iterator[tuple[Rows, Rows]]:
    """Data sets of up to `records` records, each with and without `added` more, at the start or at the end."""
    for rows in (data for data in DATA if len(data) <= records):
        for more in combinations_with_replacement(RECORDS, added):
            for place in {0, len(rows)}:
                yield rows, rows[:place] + more + rows[place:]


def worst(count: Callable[[Rows], np.ndarray], records: int = 1, added: int = 1) -> int:
    """The largest L1 change of all cells over all neighbours."""
    known: dict[Rows, np.ndarray] = {}

    def cells(rows: Rows) -> np.ndarray:
        if rows not in known:
            known[rows] = count(rows)
        return known[rows]

    return max(int(np.abs(cells(before) - cells(after)).sum()) for before, after in neighbours(records, added))


@pytest.mark.parametrize("records", [1, pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("query", "one"), QUERIES, ids=lambda value: str(value)[:60])
def test_sensitivity_holds_and_is_attained(query: Any, one: int, records: int) -> None:
    root = engine_of(()).root()
    assert query.fits(root, engine_of(()).domain)
    assert [query.sensitivity(Unit(k)) for k in (1, 2, 5)] == [one, 2 * one, 5 * one]
    assert worst(lambda rows: counted(query, rows), records) == one


@pytest.mark.parametrize("query", [
    SetSizes((1, 3)), ItemSupports(4, 2, True), HeadPatterns((0, 3)),
    PairSupports((0, 1, 2, 3), 2),
], ids=lambda query: type(query).__name__)  # fmt: skip
@pytest.mark.parametrize("records", slow([0, 1], 1))
def test_two_records_of_a_person_change_twice_as_much(query: Any, records: int) -> None:
    assert worst(lambda rows: counted(query, rows), records, 2) == query.sensitivity(Unit(2))


@pytest.mark.parametrize("kind", [*BASKET_KEYS, PairSupports], ids=lambda kind: kind.__name__)
def test_every_question_is_tried_and_states_its_claim(kind: type) -> None:
    assert kind in {type(query) for query, _ in QUERIES}
    assert re.search(r"^ *Claim \d+\. Sensitivity ", kind.__doc__ or "", re.MULTILINE)


def test_parts_of_any_record_add_up_to_the_bound() -> None:
    sizes = np.arange(1, 5000)
    for most in (1, 2, 3, 7, 16, 64):
        sums = sizes * item_parts(sizes, most)
        assert sums.max() == most * PARTS
        assert (sums[:most] == sizes[:most] * PARTS).all()
        top = np.arange(2, LONGEST_PAIRED + 2)
        assert (top * (top - 1) // 2 * pair_parts(top, most)).max() == most * PARTS


# ---- mutants ----------------------------------------------------------------------------------------------------


def by_popularity(rows: Rows, most: int = 2) -> np.ndarray:
    """Long records cut to the items that are most popular in the data."""
    popular = np.bincount([item for row in rows for item in row], minlength=ITEMS)
    supports = np.zeros(ITEMS, np.int64)
    for row in rows:
        for item in sorted(row, key=lambda item: (-popular[item], item))[:most]:
            supports[item] += PARTS
    return supports


def by_position(rows: Rows, most: int = 2) -> np.ndarray:
    """Long records cut by a hash of their position."""
    supports = np.zeros(ITEMS, np.int64)
    for number, row in enumerate(rows):
        for item in sorted(row, key=lambda item: (item * 7 + number * 3) % 5)[:most]:
            supports[item] += PARTS
    return supports


@pytest.mark.parametrize("mutant", [by_popularity, by_position])
def test_a_cut_that_looks_at_other_records_is_caught(mutant: Callable[[Rows], np.ndarray]) -> None:
    assert worst(mutant) > 2 * PARTS


@pytest.mark.parametrize("parts", [
    lambda size, _most: np.full_like(size, PARTS),
    lambda size, most: np.minimum(PARTS, -(-PARTS * most // np.maximum(size, 1)) + (size > most)),
], ids=["not divided", "rounded up"])  # fmt: skip
def test_parts_that_add_up_to_more_are_caught(monkeypatch: pytest.MonkeyPatch, parts: Any) -> None:
    monkeypatch.setattr(basket_counts, "item_parts", parts)
    assert worst(lambda rows: counted(ItemSupports(ITEMS, 2, False), rows)) > 2 * PARTS


def test_records_of_one_or_two_items_that_count_twice_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """They would count `most` times in their own counts, and once more among the other records."""
    count_items = basket_counts.count_items

    def twice(starts: np.ndarray, items: np.ndarray, universe: int, most: int, *strata: bool) -> np.ndarray:
        own = count_items(starts, items, universe, most, *strata)
        return np.concatenate([own[:universe], own[universe:] + count_items(starts, items, universe, most, False)])

    starts, items = csr(((0,),))
    assert np.abs(twice(starts, items, ITEMS, 2, False, True)).sum() > 2 * PARTS
    monkeypatch.setattr("cantle.trusted.counting.sets.count_items", lambda *given, **_: twice(*given))
    assert worst(lambda rows: counted(ItemSupports(ITEMS, 2, False, True), rows)) > 2 * PARTS


def test_pairs_without_the_cap_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(basket_counts, "pair_parts", lambda top, _most: item_partitions.pair_parts(top, ITEMS * ITEMS))
    assert worst(lambda rows: counted(PairSupports((0, 1, 2, 3), 2), rows)) > 2 * PARTS

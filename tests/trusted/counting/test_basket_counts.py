"""Counts of sets: by hand, and one record changes no count by more than claimed."""

from itertools import chain, combinations

import numpy as np
import pytest

from cantle.trusted.counting import basket_counts
from cantle.trusted.geometry.item_partitions import LONGEST_PAIRED, PARTS, item_parts, pair_parts


def ragged(records):
    starts = np.cumsum([0, *map(len, records)]).astype(np.int64)
    return starts, np.array(list(chain.from_iterable(records)), dtype=np.int32)


def random_records(rng, number, universe, longest):
    sizes = rng.integers(1, longest, endpoint=True, size=number)
    return ragged([np.sort(rng.choice(universe, size, replace=False)).tolist() for size in sizes])


def all_sets(universe):
    items = range(universe)
    return [list(s) for size in range(1, universe + 1) for s in combinations(items, size)]


def counts_of(records, universe, most, top):
    starts, items = ragged(records)
    return (
        basket_counts.count_sizes(starts, np.array([1, 2, 4])),
        basket_counts.count_items(starts, items, universe, most, True),
        basket_counts.count_items(starts, items, universe, most, False),
        basket_counts.count_patterns(starts, items, universe, top),
        basket_counts.count_pairs(starts, items, universe, top, most),
    )


@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize("place", [0, 1, 3])
def test_one_record_anywhere_changes_the_counts_by_their_sensitivity_at_most(most, place):
    universe, top = 5, np.array([0, 1, 2, 4])
    others = [[0, 1, 2, 3, 4], [1, 2], [3]]
    before = counts_of(others, universe, most, top)
    reached = np.zeros(5, np.int64)
    for record in all_sets(universe):
        after = counts_of([*others[:place], record, *others[place:]], universe, most, top)
        moved = [np.abs(a - b).sum() for a, b in zip(after, before, strict=True)]
        reached = np.maximum(reached, moved)
    bounds = np.array([1, most * PARTS, most * PARTS, 1, most * PARTS])
    assert (reached <= bounds).all()
    assert (reached == bounds).all()  # every bound is reached, so none is too loose


def test_parts_never_exceed_the_bound_and_vanish_for_very_long_records():
    size = np.arange(1, 5000)
    for most in (1, 7, 16, 21):
        assert (size * item_parts(size, most) <= most * PARTS).all()
        pairs = size * (size - 1) // 2
        assert (pairs * pair_parts(size, most) <= most * PARTS).all()
    assert pair_parts(np.array([LONGEST_PAIRED, LONGEST_PAIRED + 1]), 21).tolist() == [3, 0]


def test_pairs_of_a_very_long_record_do_not_count_while_its_items_do():
    universe = LONGEST_PAIRED + 1
    starts, items = ragged([list(range(universe))])
    assert not basket_counts.count_pairs(starts, items, universe, np.arange(universe), 21).any()
    assert basket_counts.count_items(starts, items, universe, 16, True)[universe:].min() > 0


def test_records_of_one_item_have_their_own_counts_with_more_weight():
    starts, items = ragged([[1], [1], [0, 1], [0, 1, 2], [0, 2]])
    single, other = basket_counts.count_items(starts, items, 3, 2, False, True).reshape(2, 3) / PARTS
    assert single.tolist() == [0, 4, 0]
    assert np.allclose(other, [2 + 2 / 3, 1 + 2 / 3, 1 + 2 / 3])
    parts = basket_counts.count_pairs(starts, items, 3, np.arange(3), 2)
    assert parts.tolist() == [PARTS * 5 // 3, PARTS * 5 // 3, PARTS * 2 // 3]


def test_without_records_all_counts_are_zero():
    starts, items = ragged([])
    assert not basket_counts.count_sizes(starts, np.array([1, 2])).any()
    assert not basket_counts.count_items(starts, items, 3, 1, True).any()
    assert not basket_counts.count_patterns(starts, items, 3, np.array([0, 1])).any()
    assert not basket_counts.count_pairs(starts, items, 3, np.arange(3), 1).any()

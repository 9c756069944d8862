"""Claim 26: sets of children and their numbers are one to one, for all small fan-outs and at random for large ones."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cantle.trusted.geometry.item_partitions import BINOMIAL, MOST_CHILDREN, UP_TO, number, popcount, rank, unrank


def ints(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def all_masks(fan: int, most: int) -> np.ndarray:
    return ints(*(mask for mask in range(1, 2**fan) if mask.bit_count() <= most))


@pytest.mark.parametrize("fan", range(1, 9))
def test_numbers_are_one_to_one_for_all_small_fans(fan: int) -> None:
    for most in range(1, fan + 3):
        masks = all_masks(fan, most)
        fans, mosts = np.full(len(masks), fan), np.full(len(masks), most)
        numbers = rank(masks, fans, mosts)
        assert sorted(numbers.tolist()) == list(range(len(masks)))
        assert number(ints(fan), ints(most)).tolist() == [len(masks)]
        assert (unrank(numbers, fans, mosts) == masks).all()
        assert sorted(unrank(np.arange(len(masks)), fans, mosts).tolist()) == masks.tolist()


@pytest.mark.parametrize("fan", [1, 2, 5, 8])
def test_sets_are_numbered_by_size(fan: int) -> None:
    """Smaller sets have smaller numbers, unless every set may occur: then a set's number is its mask minus one."""
    for most in range(1, fan):
        sets = unrank(np.arange(UP_TO[fan, most]), np.full(UP_TO[fan, most], fan), np.full(UP_TO[fan, most], most))
        sizes = popcount(sets)
        assert (np.diff(sizes) >= 0).all()
        assert np.bincount(sizes)[1:].tolist() == [comb(fan, size) for size in range(1, most + 1)]
    every = np.arange(2**fan - 1)
    assert (unrank(every, np.full(len(every), fan), np.full(len(every), fan)) == every + 1).all()


@st.composite
def sets(draw: st.DrawFn) -> tuple[int, int, int]:
    """(mask, fan, most) with a set of at most `most` of `fan` children."""
    fan = draw(st.integers(1, MOST_CHILDREN))
    most = draw(st.integers(1, MOST_CHILDREN + 3))
    members = draw(st.sets(st.integers(0, fan - 1), min_size=1, max_size=min(most, fan)))
    return sum(1 << member for member in members), fan, most


@given(st.lists(sets(), min_size=1, max_size=20))
def test_a_set_is_recovered_from_its_number(asked: list[tuple[int, int, int]]) -> None:
    """Many fan-outs and bounds in one call, as the curator asks."""
    mask, fan, most = (ints(*column) for column in zip(*asked, strict=True))
    numbers = rank(mask, fan, most)
    assert (numbers >= 0).all()
    assert (numbers < number(fan, most)).all()
    assert unrank(numbers, fan, most).tolist() == mask.tolist()


@given(st.integers(1, MOST_CHILDREN), st.integers(1, MOST_CHILDREN), st.data())
def test_a_number_is_recovered_from_its_set(fan: int, most: int, data: st.DataObject) -> None:
    total = sum(comb(fan, size) for size in range(1, min(most, fan) + 1))
    assert number(ints(fan), ints(most)).tolist() == [total]
    places = ints(*data.draw(st.lists(st.integers(0, total - 1), min_size=1, max_size=8)), 0, total - 1)
    fans, mosts = np.full(len(places), fan), np.full(len(places), most)
    masks = unrank(places, fans, mosts)
    assert all(0 < mask < 2**fan and mask.bit_count() <= most for mask in masks.tolist())
    assert (rank(masks, fans, mosts) == places).all()


def test_the_numbering_is_that_of_the_combinatorial_number_system() -> None:
    """{0, 2, 3} of 6 children, at most 4: after 6 + 15 smaller sets, C(0, 1) + C(2, 2) + C(3, 3)."""
    assert rank(ints(0b1101), ints(6), ints(4)).tolist() == [6 + 15 + 0 + 1 + 1]
    assert unrank(ints(23), ints(6), ints(4)).tolist() == [0b1101]


def test_a_set_that_is_too_large_has_a_number_beyond_all_others() -> None:
    """A record that was not cut could otherwise be counted as another set."""
    for mask in range(1, 2**6):
        if mask.bit_count() > 2:
            assert rank(ints(mask), ints(6), ints(2))[0] >= number(ints(6), ints(2))[0]


def test_binomials_are_exact() -> None:
    for n in (0, 1, 30, MOST_CHILDREN):
        assert BINOMIAL[n].tolist() == [comb(n, k) for k in range(MOST_CHILDREN + 1)]
    assert number(ints(62), ints(62)).tolist() == [2**62 - 1]


@given(st.lists(st.integers(0, 2**63 - 1), min_size=1))
def test_popcount(masks: list[int]) -> None:
    assert popcount(ints(*masks)).tolist() == [mask.bit_count() for mask in masks]


def test_empty_arrays_give_empty_arrays() -> None:
    empty = ints()
    for answer in (rank(empty, empty, empty), unrank(empty, empty, empty), number(empty, empty), popcount(empty)):
        assert answer.shape == (0,)

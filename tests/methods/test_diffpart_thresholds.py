"""The expected number of empty sub-partitions: the bound compared with an enumeration of all sub-partitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cantle.methods.diffpart.method import chance, expected, smallest_constant, threshold
from cantle.trusted.geometry.item_partitions import ItemTree, Kept, Partitions, unrank
from tests.effort import examples


def all_of_them(tree: ItemTree, passes: list[float]) -> float:
    """The expected number of sub-partitions, including leaves, in a run without records. The chance of each is the
    product along its path; a node with one child passes without a test, unless its children are leaves."""
    parts, way, total = Partitions.root(tree, tree.size), np.ones(1), 0.0
    while len(parts):
        rows = np.repeat(np.arange(len(parts)), parts.patterns)
        place = np.concatenate([np.arange(n) for n in parts.patterns.tolist()])
        masks = unrank(place, parts.fan[rows], parts.room[rows])
        each = np.where((parts.fan == 1) & ~parts.ends, 1.0, np.array(passes)[parts.height - 1])
        reached = way[rows] * each[rows]
        total += float(reached.sum())
        inner = ~parts.ends[rows]
        order = np.lexsort((masks[inner], rows[inner]))
        kept = Kept(rows[inner][order], masks[inner][order])
        parts, way = kept.children(parts, 0), reached[inner][order]
    return total


@examples(16)
@given(st.integers(1, 6), st.integers(2, 6), st.booleans(), st.data())
def test_the_bound_holds_whatever_the_tree(size: int, fanout: int, even: bool, data: st.DataObject) -> None:
    tree = ItemTree.of(size, fanout, even=even)
    passes = [data.draw(st.floats(0.001, 0.5)) for _ in range(tree.height)]
    assert all_of_them(tree, passes) <= expected(tree, lambda h: passes[h - 1]) * (1 + 1e-9)


def test_one_height_is_counted_exactly() -> None:
    """All sets of seven children pass with the same probability."""
    tree = ItemTree.of(7, 7, even=True)
    assert expected(tree, lambda _: 0.25) == pytest.approx(0.25 * (2**7 - 1))
    assert all_of_them(tree, [0.25]) == pytest.approx(0.25 * (2**7 - 1))


def test_huge_trees_give_huge_numbers_and_no_error() -> None:
    assert expected(ItemTree.of(5000, 62, even=True), lambda _: 0.5) > 1e100


@given(st.floats(0.01, 5), st.integers(1, 6), st.floats(0.001, 5), st.floats(1, 3))
def test_an_empty_cell_passes_no_more_often_than_computed(
    constant: float, height: int, rate: float, factor: float
) -> None:
    """P[Z >= t] = a^t / (1 + a) at the threshold in use, for any rate up to the largest."""
    one = np.ones(1, np.int64)
    least = int(threshold(constant, np.array([rate]), one, None, height * one)[0])
    passes = math.exp(-rate * least) / (1 + math.exp(-rate))
    assert passes <= chance(constant, height, rate * factor) * (1 + 1e-9)


@given(st.floats(0.001, 5), st.integers(1, 2**40), st.sampled_from([0.05, 0.25, 0.5]))
def test_no_more_than_eta_empty_cells_pass_on_average(rate: float, patterns: int, eta: float) -> None:
    """The threshold is the least with this property."""
    rates, cells, one = np.array([rate]), np.array([patterns]), np.ones(1, np.int64)
    least = int(threshold(0.0, rates, cells, eta, one)[0])
    a = math.exp(-rate)
    assert least >= 1
    assert patterns * a**least / (1 + a) <= eta * (1 + 1e-9) or least * rate > 700
    if least > 1:
        assert patterns * a ** (least - 1) / (1 + a) > eta * (1 - 1e-9)


def test_thresholds_by_hand() -> None:
    """ceil(sqrt 2 * 1.2 * 2 / 0.5) = 7; ln(1023 / ((1 + e^-0.5) 0.25)) / 0.5 = 15.69, so 16."""
    rate, cells, height = np.array([0.5]), np.array([1023]), np.array([2])
    assert threshold(1.2, rate, cells, None, height).tolist() == [7]
    assert threshold(1.2, rate, cells, 0.25, height).tolist() == [16]
    assert threshold(0.0, rate, np.array([1]), None, height).tolist() == [1]


@pytest.mark.parametrize(("size", "fanout", "cells"), [(100, 10, 10**6), (1012, 10, 10**4), (300, 4, 10)])
def test_the_smallest_constant_fits_and_a_smaller_one_does_not(size: int, fanout: int, cells: int) -> None:
    tree = ItemTree.of(size, fanout, even=False)
    smallest = smallest_constant(tree, 0.5, cells)
    assert smallest is not None
    for constant, enough in ((smallest, True), (smallest - 0.01, False)):
        assert (expected(tree, lambda h, c=constant: chance(c, h, 0.5)) <= cells) == enough

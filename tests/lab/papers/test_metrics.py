"""Metrics compared with values computed by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from cantle.errors import ParameterError
from cantle_lab.papers.metrics import emd, locate, purity, tvd1, w1

samples = st.lists(st.integers(-20, 20), min_size=1, max_size=12)


def test_equal_sizes_pair_sorted_values() -> None:
    # sorted: 1 2 9 and 1 5 6, moved by 0, 3, 3
    assert emd([9, 1, 2], [5, 6, 1]) == pytest.approx(math.sqrt((0 + 9 + 9) / 3))
    assert w1([9, 1, 2], [5, 6, 1]) == pytest.approx((0 + 3 + 3) / 3)


def test_unequal_sizes_couple_quantiles() -> None:
    # 0 | 6 and 0 | 3 | 6: the middle third is shared, half of it moves 3 from each side
    assert w1([0, 6], [0, 3, 6]) == pytest.approx(3 / 3)
    assert emd([0, 6], [0, 3, 6]) == pytest.approx(math.sqrt(9 / 3))


def test_copies_of_all_values_do_not_change_the_distance() -> None:
    assert emd([1, 4, 7], [1, 1, 4, 4, 7, 7]) == 0


@given(samples, samples)
def test_w1_agrees_with_scipy(x: list[int], y: list[int]) -> None:
    assert w1(x, y) == pytest.approx(scipy.stats.wasserstein_distance(x, y))
    assert emd(x, y) >= w1(x, y) - 1e-9


def test_an_empty_release_is_infinitely_far() -> None:
    assert emd([1, 2], []) == math.inf
    with pytest.raises(ParameterError, match="empty"):
        emd([], [1])


def test_tvd1_by_hand() -> None:
    truth = np.array([[0, 0], [0, 1], [1, 2], [1, 3]])
    release = np.array([[0, 0], [0, 0]])
    # first attribute: 1/2 1/2 and 1 0 differ by 1/2; second: 1/4 each and all on one differ by 3/4
    assert tvd1(truth, release) == pytest.approx((0.5 + 0.75) / 2)
    assert tvd1(truth, truth[:0]) == 1
    assert tvd1(truth, truth) == 0


def test_purity_by_hand() -> None:
    # region 0: clusters 0 0 1; region 1: 2 2; region 5: 1 0 -> (2 + 2 + 1) / 7
    clusters, regions = np.array([0, 0, 1, 2, 2, 1, 0]), np.array([0, 0, 0, 1, 1, 5, 5])
    assert purity(clusters, regions) == pytest.approx(5 / 7)


def test_records_are_located_in_half_open_boxes() -> None:
    low, high = np.array([[0, 0], [0, 5], [4, 0]]), np.array([[4, 5], [4, 9], [9, 9]])
    points = np.array([[0, 0], [3, 5], [4, 4], [8, 8], [9, 1], [3, 4]])
    assert locate(points, low, high).tolist() == [0, 1, 2, 2, -1, 0]

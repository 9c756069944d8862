"""The quality functions of RPS, eq. (2) and eq. (3), worked out by hand; the integer scores of the code are 2q."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from cantle.trusted.claims.scores import BALANCE, CLASS_AWARE


def q(quality, left: list[int], right: list[int]) -> Fraction:
    """The paper's q; a side is given by its counts (plus, minus)."""
    return Fraction(int(quality.scores([np.array([left]), np.array([right])])[0]), 2)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        # eq. (2): (n - |r1 - r2|) / 4, which is min(r1, r2) / 2
        ([0, 0], [0, 0], Fraction(0)),
        ([0, 0], [5, 2], Fraction(0)),
        ([1, 0], [3, 3], Fraction(1, 2)),
        ([2, 3], [5, 0], Fraction(5, 2)),
        ([4, 4], [4, 5], Fraction(4)),
    ],
)
def test_equation_2_by_hand(left: list[int], right: list[int], expected: Fraction) -> None:
    assert q(BALANCE, left, right) == expected


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        # eq. (3): min(r1, r2) + max(x1 + y2, x2 + y1) / 2, where x counts plus and y minus
        ([0, 0], [0, 1], Fraction(1, 2)),  # min 0; max of 0+1 and 0+0
        ([1, 0], [0, 1], Fraction(2)),  # min 1; 1+1 = 2
        ([3, 1], [1, 3], Fraction(7)),  # min 4; 3+3 = 6
        ([2, 2], [2, 2], Fraction(6)),  # min 4; 2+2 = 4
        ([4, 0], [4, 0], Fraction(6)),  # min 4; 4+0 = 4
        ([0, 5], [0, 0], Fraction(5, 2)),  # min 0; 0+0 or 5+0
    ],
)
def test_equation_3_by_hand(left: list[int], right: list[int], expected: Fraction) -> None:
    assert q(CLASS_AWARE, left, right) == expected


def test_one_record_changes_equation_3_by_three_halves() -> None:
    """If R1 is empty and R2 = {-}, adding + to R1 changes q from 1/2 to 2, so the paper's exp(eps q) costs 1.5 eps."""
    before, after = q(CLASS_AWARE, [0, 0], [0, 1]), q(CLASS_AWARE, [1, 0], [0, 1])
    assert (before, after) == (Fraction(1, 2), Fraction(2))
    assert 2 * (after - before) == CLASS_AWARE.range == 3


def test_one_record_changes_equation_2_by_one_half() -> None:
    before, after = q(BALANCE, [1, 0], [1, 1]), q(BALANCE, [2, 0], [1, 1])
    assert (before, after) == (Fraction(1, 2), Fraction(1))
    assert 2 * (after - before) == BALANCE.range == 1


def test_three_classes_are_separated_by_the_best_pair() -> None:
    """Left is {a:5, b:4}, right {a:6, c:1}. Class a is largest on both; a left, c right is 6, b left, a right is 10."""
    left, right = np.array([[5, 4, 0]]), np.array([[6, 0, 1]])
    assert CLASS_AWARE.scores([left, right]).tolist() == [2 * 7 + 10]

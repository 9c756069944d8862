"""Far pieces of a column: emptied where they are noise, kept where they surely hold records."""

from __future__ import annotations

import numpy as np
import pytest

from cantle.drawing.counts import Floats
from cantle.drawing.smooth import smooth, trust_in_pieces

WIDTHS = np.full(20, 10.0)
STARTS = np.arange(20)
NOISE = np.full(20, 100.0)
"""Pieces of one cell each; the deviation of their noise is 10."""


def trusted(sums: dict[int, float], total: float = 10_000, noise: Floats = NOISE, widths: Floats = WIDTHS) -> Floats:
    counts = np.zeros(20)
    counts[list(sums)] = list(sums.values())
    found = trust_in_pieces(STARTS, counts, noise, widths, total, 2.0)
    return np.ones(20) if found is None else found


def test_pieces_near_the_strong_ones_are_always_believed() -> None:
    assert trusted({0: 5_000, 1: 5_000})[:3].tolist() == [1.0] * 3


def test_noise_far_outside_is_emptied_and_clear_records_stay() -> None:
    trust = trusted({0: 5_000, 1: 5_000, 6: 25, 9: 45, 12: 5_000}, total=15_000)
    assert trust[:16].tolist() == [1.0] * 16  # the span of strong pieces reaches to 12, so these are not far
    assert trusted({0: 5_000, 1: 5_000, 12: 40})[12] == 0.0  # one loud cell of many makes the span no longer
    trust = trusted({0: 5_000, 1: 5_000, 6: 25, 9: 29})
    assert trust[6] == pytest.approx(0.0)  # an emptied piece (5) lies before it, and it is not clear
    assert not trust[4:].any()
    trust = trusted({0: 5_000, 1: 5_000, 3: 28})
    assert trust[3] == pytest.approx(1 - 4 * 100 / 28**2)


def test_a_far_piece_beyond_an_emptied_one_must_be_clear() -> None:
    wide = np.concatenate([np.full(19, 10.0), [1_000.0]])
    assert trusted({0: 9_000, 1: 1_000, 19: 29}, widths=wide)[19] == 0.0


def test_the_low_side_is_treated_alike() -> None:
    assert trusted({19: 5_000, 18: 5_000, 10: 25})[:16].tolist() == [0.0] * 16


@pytest.mark.parametrize("why", ["noise hides the column", "nothing is strong", "one frequent value"])
def test_nothing_is_emptied_if(why: str) -> None:
    loud = np.full(20, 700.0**2)
    single = np.concatenate([[1.0], np.full(19, 10.0)])
    given = {
        "noise hides the column": lambda: trusted({0: 5_000, 19: 2_000}, noise=loud, total=7_000),
        "nothing is strong": lambda: trusted({0: 20}),
        "one frequent value": lambda: trusted({0: 10_000}, widths=single),
    }
    assert given[why]().tolist() == [1.0] * 20


def test_smoothing_without_doubt_empties_far_noise_but_no_null_cell() -> None:
    dice = np.random.default_rng(1)
    counts = np.concatenate([[4_000.0, 5_000.0, 1_000.0], np.zeros(40), [30.0]]) + dice.normal(0, 10, 44)
    found = smooth(counts, np.full(44, 100.0), np.full(43, 10.0), 10_030.0, 0.0)
    assert found.sum() == pytest.approx(10_030)
    assert not found[10:43].any()
    assert found[43] > 0

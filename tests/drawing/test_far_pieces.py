"""Cells far outside of where records surely are: a tail that falls, instead of the noise that was counted there."""

from __future__ import annotations

import numpy as np
import pytest

from cantle.drawing.counts import Floats
from cantle.drawing.smooth import project, segments, smooth, tail
from cantle.trusted.core.arrays import Bools

CELLS = 40
WIDTHS = np.full(CELLS, 10.0)
NOISE = np.full(CELLS, 100.0)
"""Pieces of one cell each; the deviation of their noise is 10."""


def far_and_expected(counts: dict[int, float], widths: Floats = WIDTHS) -> tuple[Bools, Floats]:
    noisy = np.zeros(CELLS)
    noisy[list(counts)] = list(counts.values())
    return tail(noisy, NOISE, widths, np.arange(CELLS))


def falling(rate: float, dice: np.random.Generator) -> tuple[Floats, Floats]:
    """True counts that fall by this rate per cell, and noisy ones."""
    true = 10_000 * np.exp(-rate * np.arange(CELLS))
    return true, true + dice.normal(0, 10, CELLS)


def test_what_is_near_the_strong_pieces_is_not_far() -> None:
    far, _ = far_and_expected({0: 5_000, 7: 5_000})
    assert np.flatnonzero(far)[0] == 10  # a quarter of the eight cells beyond them


def test_one_loud_cell_of_many_makes_the_span_no_longer() -> None:
    far, expected = far_and_expected({0: 5_000, 1: 5_000, 12: 40})
    assert far[3:].all()
    assert expected[12] < 1
    far, _ = far_and_expected({0: 5_000, 1: 5_000, 12: 5_000})
    assert not far[:16].any()


def test_the_last_cell_may_hold_what_lies_above_the_bound() -> None:
    known = {0: 5_000.0, 1: 5_000.0}
    believed = {noisy: far_and_expected({**known, CELLS - 1: noisy})[1][-1] for noisy in (15.0, 30.0, 45.0)}
    assert believed[15.0] < 1  # 1.5 deviations of its noise
    assert 10 < believed[30.0] < 25
    assert 44 < believed[45.0] < 46


@pytest.mark.parametrize("rate", [0.3, 0.6, 1.2])
def test_a_tail_that_noise_hides_is_continued(rate: float) -> None:
    ratios = []
    for seed in range(40):
        true, noisy = falling(rate, np.random.default_rng(seed))
        far, expected = tail(noisy, NOISE, WIDTHS, np.arange(CELLS))
        ratios.append(expected[far].sum() / true[far].sum())
    assert 0.5 < np.mean(ratios) < 2


def test_counts_that_stop_have_no_tail() -> None:
    counts = dict.fromkeys(range(10), 1_000.0)
    _, expected = far_and_expected(counts)
    assert expected[10:].sum() < 20


@pytest.mark.parametrize("why", ["nothing is strong", "one frequent value"])
def test_nothing_is_far_if(why: str) -> None:
    single = np.concatenate([[1.0], np.full(CELLS - 1, 10.0)])
    far, expected = far_and_expected({0: 20}) if why == "nothing is strong" else far_and_expected({0: 10_000}, single)
    assert not far.any()
    assert not expected.any()


def test_smoothing_replaces_far_noise_on_both_sides_but_no_null_cell() -> None:
    dice = np.random.default_rng(1)
    middle = [1_000.0, 4_000.0, 5_000.0, 1_000.0]
    counts = np.concatenate([np.zeros(40), middle, np.zeros(40), [30.0]]) + dice.normal(0, 10, 85)
    found = smooth(counts, np.full(85, 100.0), np.full(84, 10.0), 11_030.0)
    assert found.sum() == pytest.approx(11_030)
    assert found[:35].sum() + found[49:84].sum() < 20
    assert found[84] > 0


def test_a_column_without_any_positive_count_still_holds_all_records() -> None:
    assert smooth(np.full(CELLS, -3.0), NOISE, WIDTHS, 400.0) == pytest.approx(np.full(CELLS, 10.0))


def test_a_column_of_one_value_stays_one_whatever_the_noise() -> None:
    widths, held = np.concatenate([[1.0], np.full(CELLS - 1, 10.0)]), []
    for seed in range(100):
        noisy = np.concatenate([[3_000.0], np.zeros(CELLS - 1)]) + np.random.default_rng(seed).laplace(0, 7, CELLS)
        held.append(smooth(noisy, NOISE, widths, 3_000.0)[1:].sum())
    assert np.mean(held) < 10


def test_a_column_looked_at_backwards_is_smoothed_alike() -> None:
    _, noisy = falling(0.5, np.random.default_rng(2))
    found = [smooth(part, NOISE, WIDTHS, 20_000.0) for part in (noisy, noisy[::-1])]
    assert found[0] == pytest.approx(found[1][::-1])


def test_the_spread_of_a_falling_column_is_kept_where_emptying_shrinks_it_and_noise_widens_it() -> None:
    at, spreads = np.arange(CELLS) + 0.5, []
    for seed in range(40):
        true, noisy = falling(0.3, np.random.default_rng(seed))
        noisy, total = true + 10 * (noisy - true), float(true.sum())
        found = smooth(noisy, 100 * NOISE, WIDTHS, total)
        emptied = np.where(tail(noisy, 100 * NOISE, WIDTHS, segments(noisy, WIDTHS, 100 * NOISE))[0], 0.0, found)
        shapes = (true, found, emptied, project(noisy, total))
        spreads.append([np.sqrt(np.cov(at, aweights=shape)) for shape in shapes])
    real, kept, shrunk, widened = np.mean(spreads, axis=0)
    assert kept == pytest.approx(real, rel=0.03)
    assert shrunk < 0.95 * real
    assert widened > 1.2 * real


def test_no_cell_far_outside_holds_next_to_nothing() -> None:
    """A tail that falls fast in wide cells would end in counts of 1e-100; dividing by them gave infinite weights, and a
    column of a single value."""
    widths = np.array([1.0, 1, 3, 5, 10, 30, 50, 100, 300, 500, 1_000, 1_126, *[3_125.0] * 31])
    held = np.array([2_882.0, 1_208, 2_330, 2_616, 3_484, 6_755, 6_970, 7_938, 10_146, 4_411, 1_102, 21])
    noise = np.random.default_rng(1).normal(0, 70, (20, 31))
    for far in noise:
        found = smooth(np.concatenate([held, far]), np.full(43, 4_900.0), widths, 50_000.0)
        assert ((found == 0) | (found >= 1e-3)).all()
        assert found[:11].sum() > 49_000


def test_a_column_with_little_more_than_noise_is_not_put_into_its_strong_piece() -> None:
    true, off = np.repeat([10.0, 40.0, 60.0, 20.0], 10), []
    for seed in range(40):
        noisy = true + np.random.default_rng(seed).laplace(0, 28, CELLS)
        found = smooth(noisy, np.full(CELLS, 2 * 28.0**2), WIDTHS, 1_300.0)
        off.append(np.abs(found - true).sum() / 2_600)
    assert np.mean(off) < 0.255
    assert max(off) < 0.7


def test_many_categories_are_closer_than_projected_counts() -> None:
    true, off = np.zeros(100), []
    true[::10] = 200 * np.linspace(0.5, 1.5, 10)
    flat = np.full(100, 20.0)
    for seed in range(20):
        noise = np.random.default_rng(seed).laplace(0, 30, 100)
        for held in (true, flat):
            found = smooth(held + noise, np.full(100, 1_800.0), None, 2_000.0)
            off.append([np.abs(one - held).sum() / 4_000 for one in (found, project(held + noise, 2_000.0))])
    sparse, even = np.mean(off[::2], axis=0), np.mean(off[1::2], axis=0)
    assert sparse[0] < sparse[1]
    assert even[0] < 0.5 * even[1]

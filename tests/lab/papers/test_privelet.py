"""Privelet, worked by hand: coefficients, weights, sensitivity, and the noise of ranges."""

from __future__ import annotations

import numpy as np
import pytest

from cantle_lab.papers.baselines import (
    coefficients,
    counts_from,
    generalised_sensitivity,
    privelet,
    released_codes,
    weights,
)


def test_coefficients_by_hand() -> None:
    """The halves have means 5 and 6, and the quarters 6, 4, 6, 6."""
    base, levels = coefficients(np.array([9.0, 3.0, 6.0, 2.0, 8.0, 4.0, 5.0, 7.0]))
    assert base == 5.5  # 44 / 8
    assert [level.tolist() for level in levels] == [[-0.5], [1.0, 0.0], [3.0, 2.0, 2.0, -1.0]]


@pytest.mark.parametrize("size", [1, 2, 8, 64])
def test_counts_follow_from_their_coefficients(size: int) -> None:
    counts = np.random.default_rng(size).integers(0, 50, size).astype(float)
    assert counts_from(*coefficients(counts)) == pytest.approx(counts)


@pytest.mark.parametrize("size", [1, 2, 4, 16])
def test_every_record_changes_the_weighted_coefficients_by_the_generalised_sensitivity(size: int) -> None:
    """The change is exactly 1 + log2(size), whatever the value of the record."""
    counts = np.random.default_rng(1).integers(0, 9, size).astype(float)
    before_base, before = coefficients(counts)
    of_base, *of_levels = weights(size)
    for value in range(size):
        base, levels = coefficients(counts + np.eye(size)[value])
        moved = of_base * abs(base - before_base)
        moved += sum(w * np.abs(a - b).sum() for w, a, b in zip(of_levels, levels, before, strict=True))
        assert moved == pytest.approx(generalised_sensitivity(size))
        assert generalised_sensitivity(size) == 1 + np.log2(size)


def test_without_noise_the_release_equals_the_counts() -> None:
    counts = np.array([5, 0, 3, 7, 1])
    rng = np.random.default_rng(2)
    assert privelet(counts, 1e9, rng) == pytest.approx(counts, abs=1e-5)
    assert np.bincount(released_codes(counts, 1e9, rng), minlength=5).tolist() == counts.tolist()


@pytest.mark.slow
def test_the_noise_of_a_count_has_the_computed_variance() -> None:
    """For 8 counts and epsilon 1 the scale is 4 / weight. A count is the base +- one coefficient per level, so its
    variance is 2 * 16 * (1/64 + 1/64 + 1/16 + 1/4) = 11."""
    rng = np.random.default_rng(3)
    drawn = np.array([privelet(np.zeros(8, dtype=np.int64), 1.0, rng) for _ in range(20_000)])
    assert drawn.var(axis=0) == pytest.approx(np.full(8, 11.0), rel=0.1)


def test_wide_ranges_have_less_noise_than_the_sum_of_noisy_counts() -> None:
    """This is the purpose of Privelet: the error of a range grows with log^3 of the domain, not with the range."""
    rng = np.random.default_rng(4)
    drawn = np.array([privelet(np.zeros(1024, dtype=np.int64), 1.0, rng)[:512].sum() for _ in range(400)])
    assert drawn.var() < 2 * 512

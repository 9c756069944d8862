"""Every noise operation has its exact law at base e; most tests also show that they reject a slightly wrong law."""

from __future__ import annotations

import numpy as np
import pytest
import scipy

from cantle.trusted.noise import Lanes, Rate, Secure, Seeded
from tests.statistical import fit
from tests.statistical.constants import DRAWS, SEED, SEEDED_P, UNSEEDED_P

ALL = Lanes(1, np.arange(DRAWS))
RATES = [Rate(1, 50), Rate(1, 7), Rate(10**9, 2 * 10**9), Rate(1, 1), Rate(9, 4), Rate(4, 1)]
SCORES = [5, 0, 3, 5, 4, 4, -30]
INVERSE = [3, 1, 1, 7, 2, 5, 1]


def value(rate: Rate) -> float:
    return float(rate.floats())


def repeated(values: list[int]) -> np.ndarray:
    return np.tile(np.array(values), DRAWS)


STARTS = np.arange(0, DRAWS * len(SCORES) + 1, len(SCORES))


@pytest.mark.parametrize("rate", RATES)
def test_laplace_has_its_law(rate: Rate) -> None:
    draws = Seeded(SEED).laplace(ALL, np.full(DRAWS, 3), rate)
    assert fit.fit(draws, fit.laplace_law(value(rate), 3)) > SEEDED_P
    wrong = 1.1 if value(rate) >= 4 else 1.04
    assert fit.fit(draws, fit.laplace_law(value(rate) * wrong, 3)) < SEEDED_P
    assert fit.fit(draws, fit.laplace_law(value(rate), 4 + int(0.1 / value(rate)))) < SEEDED_P


@pytest.mark.parametrize("rate", [1e-9, 1e-6])
def test_laplace_with_a_tiny_rate_is_nearly_continuous(rate: float) -> None:
    """Scaled by the rate, the law is the continuous Laplace law up to a relative error of the rate."""
    many = 2 * DRAWS
    draws = Seeded(SEED).laplace(Lanes(1, np.arange(many)), np.zeros(many, np.int64), Rate(round(rate * 1e9), 10**9))
    assert scipy.stats.kstest(draws * rate, scipy.stats.laplace.cdf, method="asymp").pvalue > SEEDED_P
    assert scipy.stats.kstest(draws * rate * 1.03, scipy.stats.laplace.cdf, method="asymp").pvalue < SEEDED_P


def test_laplace_has_its_law_with_many_rates_at_once() -> None:
    nums = 1 + np.arange(DRAWS) % 4
    draws = Seeded(SEED).laplace(ALL, np.zeros(DRAWS, dtype=np.int64), Rate(nums, 3))
    for num in range(1, 5):
        assert fit.fit(draws[nums == num], fit.laplace_law(num / 3)) > SEEDED_P


def test_laplace_draws_of_neighbouring_keys_and_calls_are_independent() -> None:
    zeros = np.zeros(DRAWS, dtype=np.int64)
    signs = [np.sign(Seeded(SEED).laplace(Lanes(call, ALL.keys), zeros, Rate(1, 9))) + 1 for call in (1, 2)]
    for first, second in [(signs[0][1:], signs[0][:-1]), (signs[0], signs[1])]:
        table = np.bincount(3 * first + second, minlength=9).reshape(3, 3)
        assert scipy.stats.chi2_contingency(table).pvalue > SEEDED_P


@pytest.mark.parametrize("rate", RATES[2:])
def test_permute_and_flip_has_its_law(rate: Rate) -> None:
    draws = Seeded(SEED).select(ALL, repeated(SCORES), STARTS, rate)
    assert fit.fit(draws, fit.flip_law(SCORES, value(rate))) > SEEDED_P
    assert fit.fit(draws, fit.flip_law(SCORES, value(rate) * 1.1)) < SEEDED_P
    assert fit.fit(draws, fit.exponential_law(SCORES, value(rate), [1] * len(SCORES))) < SEEDED_P


@pytest.mark.parametrize("rate", RATES)
def test_the_exponential_mechanism_has_its_law(rate: Rate) -> None:
    draws = Seeded(SEED).select(ALL, repeated(SCORES), STARTS, rate, repeated(INVERSE))
    assert fit.fit(draws, fit.exponential_law(SCORES, value(rate), INVERSE)) > SEEDED_P
    assert fit.fit(draws, fit.exponential_law(SCORES, value(rate) * 1.3, INVERSE)) < SEEDED_P
    assert fit.fit(draws, fit.exponential_law(SCORES, value(rate), [1] * len(SCORES))) < SEEDED_P


def test_the_exponential_mechanism_has_its_law_over_many_candidates() -> None:
    """There are 5,000 candidates, merged into 50 cells of equal size."""
    size, times = 5000, 600
    scores = np.random.default_rng(0).integers(0, 12, size)
    starts = np.arange(0, size * times + 1, size)
    ones = np.ones(size * times, dtype=np.int64)
    draws = Seeded(SEED).select(Lanes(1, np.arange(times)), np.tile(scores, times), starts, Rate(1, 2), ones)
    law = fit.exponential_law(scores.tolist(), 0.5, [1] * size)
    merged = {cell: sum(law[i] for i in range(100 * cell, 100 * cell + 100)) for cell in range(50)}
    assert fit.fit(draws // 100, merged) > SEEDED_P
    by_score = {s: sum(p for i, p in law.items() if scores[i] == s) for s in range(12)}
    assert fit.fit(scores[draws], by_score) > SEEDED_P


def chance_above(gap: int, rate: float) -> float:
    a = np.exp(-rate)
    return float(a ** (gap + 1) / (1 + a) if gap >= 0 else 1 - a**-gap / (1 + a))


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("gap", [0, 1, -1, -2])
def test_above_has_its_law(rate: Rate, gap: int) -> None:
    yes = int(Seeded(SEED).above(ALL, np.full(DRAWS, 10), np.full(DRAWS, 10 + gap), rate).sum())
    assert scipy.stats.binomtest(yes, DRAWS, chance_above(gap, value(rate))).pvalue > SEEDED_P
    assert scipy.stats.binomtest(yes, DRAWS, chance_above(gap + 1, value(rate))).pvalue < SEEDED_P


@pytest.mark.parametrize("sides", [2, 3, 10, 1000])
def test_coins_are_fair(sides: int) -> None:
    draws = Seeded(SEED).coin(ALL, sides)
    assert fit.fit(draws, dict.fromkeys(range(sides), 1 / sides)) > SEEDED_P
    tilted = {k: (1 + 0.2 * (k < sides / 2)) / sides for k in range(sides)}
    assert fit.fit(draws, tilted) < SEEDED_P


def test_coins_that_reject_many_words_are_fair() -> None:
    """2**62 + 1 sides reject almost a quarter of the words, which is the most (2**63 + 1 sides are not allowed)."""
    draws = Seeded(SEED).coin(ALL, 2**62 + 1)
    assert scipy.stats.kstest(draws / (2**62 + 1), scipy.stats.uniform.cdf, method="asymp").pvalue > SEEDED_P


@pytest.mark.parametrize(("total", "rate", "at_least"), [(7, Rate(1, 2), 1), (7, Rate(1, 1), 5), (40, Rate(1, 2), 9)])
def test_sparse_has_the_law_of_noising_all_cells(total: int, rate: Rate, at_least: int) -> None:
    """Numbers, cells and values that are released have the same laws as if all cells were noised."""
    segments = 30_000
    lanes, zeros = Lanes(1, np.arange(segments)), np.zeros(segments * total, dtype=np.int64)
    occupied, count = [1, 4], [4, 1]
    starts, cells, values = Seeded(SEED).sparse(
        lanes, np.arange(0, 2 * segments + 1, 2), np.tile(occupied, segments), np.tile(count, segments),
        np.full(segments, total), rate, at_least,
    )  # fmt: skip
    dense = zeros.reshape(segments, total)
    dense[:, occupied] = count
    noisy = Seeded(SEED + 1).laplace(Lanes(1, np.arange(zeros.size)), dense.ravel(), rate).reshape(segments, total)
    kept = noisy >= at_least
    for ours, theirs, other in [
        (np.diff(starts), kept.sum(axis=1), (noisy >= at_least + 1).sum(axis=1)),
        (cells, np.nonzero(kept)[1], (np.nonzero(kept)[1] + 1) % total),
        (values, noisy[kept], noisy[kept] + 1),
    ]:
        assert fit.same(ours, theirs) > SEEDED_P
        assert fit.same(ours, other) < SEEDED_P


def test_sparse_releases_binomial_numbers_of_empty_cells() -> None:
    """Many segments in which 12.7 of 2**40 cells are expected to be released, and few segments with about 5,000."""
    a = np.exp(-0.5)
    segments = 15_000
    none = np.zeros(0, dtype=np.int64)
    for at_least, total, mean_cells in [(49, 2**40, segments), (25, 2**31, 60)]:
        p = a**at_least / (1 + a)
        starts, cells, values = Seeded(SEED).sparse(
            Lanes(1, np.arange(mean_cells)), np.zeros(mean_cells + 1, dtype=np.int64), none, none,
            np.full(mean_cells, total), Rate(1, 2), at_least,
        )  # fmt: skip
        numbers = np.diff(starts)
        assert (
            scipy.stats.norm.sf(abs(numbers.sum() - mean_cells * total * p) / np.sqrt(mean_cells * total * p))
            > SEEDED_P
        )
        if mean_cells == segments:
            law = {k: float(scipy.stats.poisson.pmf(k, total * p)) for k in range(80)}  # within p of the binomial law
            assert fit.fit(numbers, law) > SEEDED_P
            assert (
                fit.fit(numbers, {k: float(scipy.stats.poisson.pmf(k, total * p * 1.02)) for k in range(80)}) < SEEDED_P
            )
        assert scipy.stats.kstest(cells / total, scipy.stats.uniform.cdf, method="asymp").pvalue > SEEDED_P
        assert fit.fit(values, fit.geometric_law(0.5, at_least)) > SEEDED_P
        assert fit.fit(values, fit.geometric_law(0.51, at_least)) < SEEDED_P


@pytest.mark.real_entropy
def test_secure_noise_follows_the_same_laws() -> None:
    noise = Secure()
    assert fit.fit(noise.laplace(ALL, np.zeros(DRAWS, dtype=np.int64), Rate(1, 2)), fit.laplace_law(0.5)) > UNSEEDED_P
    assert fit.fit(noise.select(ALL, repeated(SCORES), STARTS, Rate(1, 2)), fit.flip_law(SCORES, 0.5)) > UNSEEDED_P
    draws = noise.select(ALL, repeated(SCORES), STARTS, Rate(1, 2), repeated(INVERSE))
    assert fit.fit(draws, fit.exponential_law(SCORES, 0.5, INVERSE)) > UNSEEDED_P
    assert fit.fit(noise.coin(ALL, 6), dict.fromkeys(range(6), 1 / 6)) > UNSEEDED_P

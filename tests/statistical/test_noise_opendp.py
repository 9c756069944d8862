"""The samplers have the same laws as those of OpenDP, which cannot be seeded."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from cantle.trusted.noise import Lanes, Rate, Seeded
from tests.statistical import fit
from tests.statistical.constants import SEED, SEEDED_P, UNSEEDED_P

SCORES = [5, 4, 4, 4, 0]
"""Scores on which permute-and-flip and the exponential mechanism differ much at rate 2."""


@pytest.fixture(scope="module")
def dp() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        prelude = pytest.importorskip("opendp.prelude")
        prelude.enable_features("contrib")
    return prelude


@pytest.mark.parametrize(
    ("num", "den"), [(1, 2), *(pytest.param(*one, marks=pytest.mark.slow) for one in [(1, 20), (2, 1)])]
)
def test_laplace_has_the_law_of_opendp(dp: Any, num: int, den: int) -> None:
    size = 20_000
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    theirs = (space >> dp.m.then_laplace(scale=den / num))([0] * size)
    zeros = np.zeros(size, dtype=np.int64)
    ours = Seeded(SEED).laplace(Lanes(1, np.arange(size)), zeros, Rate(num, den))
    assert fit.same(ours, theirs) > UNSEEDED_P
    wrong = Seeded(SEED).laplace(Lanes(1, np.arange(size)), zeros, Rate(num * 6, den * 5))
    assert fit.same(wrong, theirs) < SEEDED_P


def test_permute_and_flip_has_the_law_of_noisy_max(dp: Any) -> None:
    size = 5_000  # so many that the exponential mechanism passes at most once in 10**9 runs
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64", monotonic=True)
    pick = space >> dp.m.then_noisy_max(dp.max_divergence(), scale=0.5)
    theirs = [pick(SCORES) for _ in range(size)]
    lanes, starts = Lanes(1, np.arange(size)), np.arange(0, 5 * size + 1, 5)
    scores = np.tile(SCORES, size)
    assert fit.same(Seeded(SEED).select(lanes, scores, starts, Rate(2, 1)), theirs) > UNSEEDED_P
    ones = np.ones_like(scores)
    assert fit.same(Seeded(SEED).select(lanes, scores, starts, Rate(2, 1), ones), theirs) < SEEDED_P

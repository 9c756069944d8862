"""How the items of lists are estimated: from how many items records have, and from counts in parts."""

from __future__ import annotations

import numpy as np
import pytest

from cantle.methods.mosaic.model.generate import to_share
from cantle.methods.mosaic.model.lists import ListSizes, low_rank

SIZES = np.array([1000, 3000, 4000, 1500, 400, 100], dtype=np.int64)


def test_sizes_end_where_only_noise_follows() -> None:
    noisy = np.concatenate([SIZES, [3, -20, 15, 60, -40]])
    sizes = ListSizes.of(noisy, 30.0**2, 10_000.0, 10)
    assert len(sizes.records) == len(SIZES)
    assert sizes.records.sum() == pytest.approx(10_000)
    assert sizes.number() == pytest.approx((np.arange(6) * SIZES).sum(), rel=0.01)


def test_a_gap_before_the_most_frequent_size_is_no_end() -> None:
    noisy = np.array([0, 2, 1, 0, 5000, 0, 1], dtype=np.int64)
    assert ListSizes.of(noisy, 4.0, 5000.0, 6).number() == pytest.approx(20_000, rel=0.01)


@pytest.mark.parametrize("pairs", [False, True])
def test_parts_are_stretched_to_all_items(pairs: bool) -> None:
    sizes = ListSizes.of(SIZES, 1e-6, float(SIZES.sum()), 5)
    number = np.arange(6)
    each = number * (number - 1) // 2 if pairs else number
    for most in (1, 2, 3, 10):
        counted = (np.minimum(each, most) * SIZES).sum()
        assert sizes.stretch(most, pairs) * counted == pytest.approx((each * SIZES).sum())


def test_fewer_items_count_if_there_is_more_noise() -> None:
    sizes = ListSizes.of(SIZES, 100.0, float(SIZES.sum()), 5)
    chosen = [sizes.most(5, rate) for rate in (1e-3, 1e-2, 1.0)]
    assert chosen == sorted(chosen)
    assert chosen[0] == 1
    assert chosen[-1] == 5


def test_nobody_holds_an_item() -> None:
    sizes = ListSizes.of(np.array([-3, 0, 1], dtype=np.int64), 25.0, 1.0, 2)
    assert sizes.most(2, 0.1) >= 1
    assert sizes.usual() == sizes.usual(pairs=True) == 1


@pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.99])
def test_probabilities_are_moved_to_a_share(share: float) -> None:
    held = np.random.default_rng(1).random(5000)
    moved = to_share(held, share)
    assert moved.mean() == pytest.approx(share, abs=1e-4)
    assert (np.diff(moved[np.argsort(held)]) >= 0).all()


def test_noise_alone_has_no_rank() -> None:
    for seed in range(5):
        made, rank = low_rank(np.random.default_rng(seed).normal(0, 0.9, (24, 8)), 1.0)
        assert rank == 0
        assert not made.any()


@pytest.mark.parametrize("shape", [(24, 8), (3, 8)])
def test_what_items_have_in_common_is_kept(shape: tuple[int, int]) -> None:
    dice = np.random.default_rng(2)
    true = 20 * np.outer(dice.normal(0, 1, shape[0]), dice.normal(0, 1, shape[1]))
    noise = dice.normal(0, 1, shape)
    made, rank = low_rank(true + noise, 1.0)
    assert rank == 1
    assert ((made - true) ** 2).sum() <= (noise**2).sum() + 1e-9

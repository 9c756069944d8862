"""How the items of lists are estimated: from how many items records have, and from counts in parts."""

from __future__ import annotations

import numpy as np
import pytest

from cantle.methods.mosaic.model.generate import to_share
from cantle.methods.mosaic.model.lists import (
    MOST_RELATED,
    ListAnswers,
    Listed,
    ListSizes,
    PartTable,
    listed_of,
    low_rank,
    size_edges,
)
from cantle.methods.mosaic.model.rare_items import with_rare_items
from cantle.schema.table import TableSchema

SIZES = np.array([1000, 3000, 4000, 1500, 400, 100], dtype=np.int64)


def test_sizes_end_where_only_noise_follows() -> None:
    noisy = np.concatenate([SIZES, [3, -20, 15, 6]])
    sizes = ListSizes.of(noisy, 1 / 5, 10_000.0, 10)
    assert len(sizes.records) == len(SIZES)
    assert sizes.records.sum() == pytest.approx(10_000)
    assert sizes.number() == pytest.approx((np.arange(6) * SIZES).sum(), rel=0.01)


def test_a_gap_before_the_most_frequent_size_is_no_end() -> None:
    noisy = np.array([0, 2, 1, 0, 5000, 0, 1], dtype=np.int64)
    assert ListSizes.of(noisy, 0.7, 5000.0, 6).number() == pytest.approx(20_000, rel=0.01)


def test_records_that_no_size_has_are_in_longer_lists() -> None:
    """The number of records is known well, so those of sizes that drown in noise one by one are not lost."""
    true = np.rint(50_000 * 0.2 * 0.8 ** np.arange(200)).astype(np.int64)
    edges = size_edges(199)
    noisy = np.add.reduceat(true, edges) + np.random.default_rng(1).laplace(0, 100, len(edges)).astype(np.int64)
    sizes = ListSizes.of(noisy, 1 / 100, float(true.sum()), 199)
    assert sizes.number() == pytest.approx((np.arange(200) * true).sum(), rel=0.04)


@pytest.mark.parametrize("pairs", [False, True])
def test_parts_are_stretched_to_all_items(pairs: bool) -> None:
    sizes = ListSizes.of(SIZES, 50.0, float(SIZES.sum()), 5)
    number = np.arange(6)
    each = number * (number - 1) // 2 if pairs else number
    for most in (1, 2, 3, 10):
        counted = (np.minimum(each, most) * SIZES).sum()
        assert sizes.stretch(most, pairs) * counted == pytest.approx((each * SIZES).sum())


def test_fewer_items_count_if_there_is_more_noise() -> None:
    sizes = ListSizes.of(SIZES, 0.14, float(SIZES.sum()), 5)
    chosen = [sizes.most(5, rate) for rate in (1e-3, 1e-2, 1.0)]
    assert chosen == sorted(chosen)
    assert chosen[0] == 1
    assert chosen[-1] == 5


def test_nobody_holds_an_item() -> None:
    sizes = ListSizes.of(np.array([-3, 0, 1], dtype=np.int64), 0.3, 1.0, 2)
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


# ---- many items -----------------------------------------------------------------------------------------------------

MANY, RECORDS = 300, 4_000


def listed(**more: object) -> Listed:
    age = {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 9}}
    ill = {"name": "ill", "type": "list", "items": [f"i{number}" for number in range(MANY)], "max_items": 12, **more}
    rules = ["ill contains i299 -> age < 5"]
    found = listed_of(TableSchema.from_dict({"fields": [age, ill], "rules": rules}).domain().with_scores())
    assert found is not None
    return found


def answered(found: Listed) -> ListAnswers:
    """Answers without noise: most items are rare."""
    support = 2_500 / (np.arange(MANY) + 10.0)
    share = np.array([0.2, 0.2, 0.2, 0.1, 0.1, 0.1, 0.05, 0.05])
    share = share / (share * np.arange(8)).sum() * support.sum() / RECORDS
    share[0] += 1 - share.sum()
    items = PartTable(support[:, None], 1e-6, 7)
    sizes = ListSizes(share * RECORDS, 1e-6)
    return ListAnswers(sizes, items, found.related(items), [])


def test_sizes_of_lists_of_some_items_are_those_of_the_parts_that_are_left() -> None:
    half = ListSizes(np.array([10.0, 0.0, 40.0]), 1.0).of_some(0.5)
    assert half.records.tolist() == [20.0, 20.0, 10.0]
    assert answered(listed()).related_sizes.number() < answered(listed()).sizes.number()


def test_frequent_items_and_those_of_rules_are_related() -> None:
    found = listed()
    assert answered(found).related == [*range(MOST_RELATED - 1), 299]
    rules = found.rules(["age", "ill (missing)", "ill: i0", "ill: i299"])
    assert rules is not None
    assert {*rules.columns} == {"age", "ill (missing)", "ill: i0", "ill: i299"}


def test_rare_items_fill_lists_up_to_their_sizes() -> None:
    found, dice = listed(), np.random.default_rng(3)
    answers = answered(found)
    expected = answers.supports(RECORDS)
    age, missing = dice.integers(0, 10, RECORDS), (dice.random(RECORDS) < 0.1).astype(np.uint8)
    half = 0.5 * expected[answers.related] / RECORDS * (missing[:, None] == 0)
    drawn = [*(dice.random(half.shape) < half).astype(np.uint8).T]
    columns = with_rare_items([age, missing, *drawn], found, answers, RECORDS, dice)
    held = np.stack(columns[2:])
    assert len(held) == MANY
    assert np.array_equal(columns[0], age)
    assert np.array_equal(held[answers.related], np.stack(drawn))
    assert not held[:, missing == 1].any()
    assert held.sum(axis=0).max() <= 12
    rare = np.setdiff1d(np.arange(MANY), answers.related)
    assert np.abs(held[rare].sum(axis=1) - expected[rare]).mean() < 1.5


def test_no_released_list_is_longer_than_declared() -> None:
    found, dice = listed(max_items=1, constraints={"required": True}), np.random.default_rng(4)
    answers = answered(found)
    drawn = np.zeros((len(answers.related), RECORDS), dtype=np.uint8)
    drawn[0, :100] = 1
    columns = with_rare_items([np.zeros(RECORDS, dtype=np.uint8), *drawn], found, answers, RECORDS, dice)
    held = np.stack(columns[1:])
    assert held.sum(axis=0).max() == 1
    assert held.sum() > RECORDS / 2

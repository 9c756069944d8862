"""Intervals of answers about sets: they hold for bundles that nothing but a bundle brings together."""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np
import pytest

import cantle
from cantle.release.answers.estimates import Estimate
from cantle.release.answers.item_answers import SetAsker
from cantle_lab.papers import sets
from cantle_lab.papers.set_interval_coverage import SMALL, answer, related_groups, supports
from cantle_lab.papers.sets import Sets

(SHOP,) = SMALL.values()


@cache
def shop() -> tuple[Sets, list[tuple[int, ...]]]:
    return sets.make(SHOP)


@cache
def released(epsilon: float, method: str = "baskets", seed: int = 1) -> cantle.Release:
    data, _ = shop()
    return cantle.publish(data.frame, data.schema(), epsilon=epsilon, method=method, insecure_seed=seed)


def held(answers: list[Estimate], exact: np.ndarray) -> list[bool]:
    return [one.low <= number <= one.high for one, number in zip(answers, exact.tolist(), strict=True)]


SEEDS = range(1, 9)
"""Over 20 seeds, .97 to .99 of the bundles were covered, by both methods and at epsilon .4, 1 and 3. All bundles of a
release share its measured error, so that one release in ten misses one or two of the five. Fewer than .9 of these 40
would mean three such releases of eight, which happens with other seeds in about one case of thirty."""


@pytest.mark.parametrize("method", ["baskets"])
def test_intervals_hold_for_planted_bundles(method: str) -> None:
    data, bundles = shop()
    covered = list[bool]()
    for seed in SEEDS:
        asker = SetAsker(released(0.4, method, seed))
        answers = [answer(asker, bundle) for bundle in bundles]
        assert {one.covers for one in answers} == {"measured"}
        covered += held(answers, supports(data, bundles))
    assert np.mean(covered) >= 0.9


@pytest.mark.parametrize("method", ["baskets"])
@pytest.mark.parametrize("epsilon", [0.4, 1, 3])
def test_intervals_hold_for_related_items_and_single_items(method: str, epsilon: float) -> None:
    data, _ = shop()
    asker = SetAsker(released(epsilon, method))
    related = [group for groups in related_groups(data).values() for group in groups]
    for groups in (related, [(item,) for item in range(SHOP.products)]):
        answers = [answer(asker, group) for group in groups]
        assert {one.covers for one in answers} == {"measured"}
        assert np.mean(held(answers, supports(data, groups))) >= 0.93


def test_an_interval_ends_where_single_items_end() -> None:
    asker = SetAsker(released(1))
    for group in combinations(range(8), 2):
        known, singles = answer(asker, group), [answer(asker, (item,)) for item in group]
        assert known.high <= max(known.value, min(one.high for one in singles)) + 1e-9
        assert known.low >= 0


def test_pairs_that_were_not_counted_together_are_named() -> None:
    release = released(0.4)
    texts = [str(release.count(f"contains {a} and contains {b}")) for a, b in combinations(range(1, 8), 2)]
    assert any("were not counted together" in text for text in texts)
    assert "not counted together" not in str(release.count("contains 1"))


def test_without_a_measurement_there_are_limits_and_no_95_percent() -> None:
    data, bundles = shop()
    asker = SetAsker(released(0.1))
    answers = [answer(asker, group) for group in bundles]
    assert {(one.covers, one.confidence) for one in answers} == {("limits", None)}
    assert all(held(answers, supports(data, bundles)))
    assert "no 95 % interval exists" in str(answers[0])
    items = [(item,) for item in range(SHOP.products)]
    alone = [answer(asker, item) for item in items]
    assert {one.covers for one in alone} == {"limits"}
    assert np.mean(held(alone, supports(data, items))) >= 0.95


def test_sizes_were_not_compared_so_that_they_have_no_95_percent() -> None:
    release = released(3)
    assert release.count("size >= 3").covers == "noise only"
    assert release.count("size >= 3 and contains 1").covers == "limits"


def test_other_questions_add_up_errors() -> None:
    data, bundles = shop()
    release, (one, other) = released(1), bundles[0]
    alone = supports(data, [(one,), (other,)])
    both = supports(data, [(one, other)])[0]
    either = release.count(f"contains {one + 1} or contains {other + 1}")
    without = release.count(f"contains {one + 1} and not contains {other + 1}")
    assert either.low <= alone.sum() - both <= either.high
    assert without.low <= alone[0] - both <= without.high
    assert either.covers == without.covers == "measured"
    everything = release.count()
    assert everything.low <= len(data) <= everything.high

"""How RPS spends epsilon, worked out by hand and compared with the receipts of runs, in whole nano-units.

RPS, section 4.2: half is for the leaves, and the other half is divided evenly among levels and between stop tests and
splits; an early leaf takes what its path did not spend.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cantle.interfaces.publishing import run
from cantle.methods.rps.method import RPS
from cantle.trusted.core.budget import Unit
from cantle.trusted.noise import Seeded
from tests.laws.strategies import public_domain, word_engine

NANO = 10**9


def receipt(epsilon_nano: int, *, records: int = 400, seed: int = 3, **setting: Any) -> tuple[RPS, dict[str, Any]]:
    plan = RPS(public_domain(target=2), **setting)
    generator = np.random.default_rng(9)
    codes = np.stack([generator.integers(0, size, records) for size in plan.sizes], axis=1)
    store = word_engine(codes, generator.integers(0, 2, records), sizes=plan.sizes, class_count=2)
    return plan, run(plan, store, epsilon_nano=epsilon_nano, unit=Unit(), noise=Seeded(seed))


def charges(path: dict[str, Any]) -> list[tuple[str, int, int, int]]:
    return [(c["why"], c["depth"], c["epsilon_nano"], c["sensitivity"]) for c in path["charges"]]


def whole_path(depth: int, test: int, split: int, leaf: int) -> list[tuple[str, int, int, int]]:
    levels = [step for d in range(depth) for step in (("stop test", d, test, 1), ("split", d, split, 3))]
    return [*levels, ("leaf", depth, leaf, 1)]


def test_leaves_get_half_and_tests_and_splits_of_all_levels_share_the_rest_evenly() -> None:
    """With epsilon 1 and depth 4 a leaf gets 1/2, and each test and split of 4 levels 1/16."""
    plan, paid = receipt(NANO, preset="paper", depth=4, stop="count:0")
    full = [path for path in paid["paths"] if charges(path)[-1][1] == 4]
    assert full
    for path in full:
        assert charges(path) == whole_path(4, 62_500_000, 62_500_000, 500_000_000)


def test_an_early_leaf_takes_what_its_path_did_not_spend() -> None:
    """A leaf after the test at depth d has paid for d + 1 tests and d splits, and gets all the rest."""
    plan, paid = receipt(NANO, preset="paper", depth=4, stop="count:60")
    early = [charges(path) for path in paid["paths"] if charges(path)[-1][1] < 4]
    assert early
    for path in early:
        d = path[-1][1]
        step = 62_500_000
        asked = whole_path(d, step, step, 0)[:-1] + [("stop test", d, step, 1)]
        rest = NANO - (2 * d + 1) * step
        assert path == [*asked, ("leaf", d, rest, 1)]
        assert rest > 500_000_000
    assert {path["epsilon_nano"] for path in paid["paths"]} == {NANO}


def test_leaves_get_what_rounding_leaves_over() -> None:
    """Epsilon is one nano-unit below a round number and depth is 3: all prices are rounded down, and nothing is lost.

    Of 999999999 the leaf gets 499999999 and the levels 500000000: 250000000 for tests, 250000000 for splits, and a
    third of each is 83333333. A full path keeps 999999999 - 6 * 83333333 = 500000001 for its leaf.
    """
    _, paid = receipt(NANO - 1, preset="paper", depth=3, stop="count:0")
    full = [path for path in paid["paths"] if charges(path)[-1][1] == 3]
    assert full
    for path in full:
        assert charges(path) == whole_path(3, 83_333_333, 83_333_333, 500_000_001)
        assert path["epsilon_nano"] == NANO - 1


def test_without_stop_tests_the_splits_share_what_leaves_do_not_get() -> None:
    _, paid = receipt(NANO, preset="paper", depth=2, stop="none", stop_share=0)
    for path in paid["paths"]:
        assert charges(path) == [
            ("split", 0, 250_000_000, 3),
            ("split", 1, 250_000_000, 3),
            ("leaf", 2, 500_000_000, 1),
        ]


def test_the_default_pays_count_and_tables_before_the_tree() -> None:
    """Of epsilon 2 the count gets 1/100 and the tables 3/10; of the 1.38 left, leaves get half and two splits half."""
    _, paid = receipt(2 * NANO, preset="default", depth=2)
    assert len(paid["paths"]) == 1
    assert charges(paid["paths"][0]) == [
        ("number of records", 0, 20_000_000, 1),
        ("one-way tables", 0, 600_000_000, 3),
        ("split", 0, 345_000_000, 3),
        ("split", 1, 345_000_000, 3),
        ("leaf", 2, 690_000_000, 1),
    ]


def test_the_prices_of_geometric_levels_double_from_level_to_level() -> None:
    """The levels get 1/2, which is divided into 1 + 2 + 4 = 7 parts."""
    _, paid = receipt(NANO, preset="paper", depth=3, stop="none", stop_share=0, levels="geometric:2")
    splits = [price for why, _, price, _ in charges(paid["paths"][0]) if why == "split"]
    assert splits == [71_428_571, 142_857_142, 285_714_285]


def test_privtree_tests_cost_at_most_their_lifetime_bound() -> None:
    """All tests of a path together cost at most the quarter reserved for them, and the leaf gets the rest."""
    plan, paid = receipt(NANO, preset="paper", depth=8, stop="privtree:0", records=4000)
    deepest = max(paid["paths"], key=lambda path: len(path["charges"]))
    tests = [price for why, _, price, _ in charges(deepest) if why == "stop test"]
    splits = [price for why, _, price, _ in charges(deepest) if why == "split"]
    assert tests[:2] == [plan.privtree.epsilon_nano] * 2
    assert len(tests) >= 3
    assert sum(tests) <= 250_000_000
    assert sum(tests) + sum(splits) + charges(deepest)[-1][2] == NANO


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("stop", ["count:5", "count:100", "privtree:20", "narrow:4", "none"])
def test_every_path_spends_exactly_epsilon(stop: str, seed: int) -> None:
    _, paid = receipt(NANO + 1, preset="paper", depth=5, stop=stop, seed=seed)
    assert {path["epsilon_nano"] for path in paid["paths"]} == {NANO + 1}

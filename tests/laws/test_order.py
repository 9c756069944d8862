"""The order of records, the size of chunks and the width of integers are no channel: a seeded run does not change."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cantle.budget import Unit
from cantle.engines.memory import MemoryEngine
from cantle.errors import CantleError
from cantle.methods.rps import RPS
from cantle.noise import Seeded
from cantle.publishing import run
from tests.laws.strategies import public_domain

SETTINGS: list[dict[str, Any]] = [
    {"preset": "default", "depth": 4},
    {"preset": "paper", "depth": 5},
    {"preset": "paper", "depth": 4, "attributes": "all", "quality": "mix:1:1"},
    {"preset": "paper", "depth": 4, "stop": "privtree:2", "attributes": "random"},
    {"preset": "paper", "depth": 4, "stop": "privtree:2+narrow:3", "attributes": "midpoint"},
    {"preset": "default", "records": 60, "summary": "depth", "depth": 3},
]
RECORDS = 60


def records(plan: RPS, seed: int) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    codes = np.stack([generator.integers(0, size, RECORDS) for size in plan.sizes], axis=1)
    return codes.astype(np.uint8), generator.integers(0, plan.classes, RECORDS).astype(np.uint8)


def outcome(
    setting: dict[str, Any],
    *,
    order: np.ndarray | None = None,
    dtype: Any = None,
    target: int = 3,
    seed: int = 11,
    **engine: Any,
) -> list[Any]:
    """Everything a run gives away: receipt, regions, cuts, noisy counts."""
    plan = RPS(public_domain(target=target), **setting)
    codes, classes = records(plan, 4)
    if order is not None:
        codes, classes = codes[order], classes[order]
    if dtype is not None:
        codes, classes = codes.astype(dtype), classes.astype(dtype)
    store = MemoryEngine(codes, classes, sizes=plan.sizes, class_count=plan.classes, **engine)
    receipt = run(plan, store, epsilon_nano=3 * 10**9, unit=Unit(), noise=Seeded(seed))
    tree = plan.tree
    given_away: list[Any] = [receipt, plan.depth]
    given_away += [(a.ids.tolist(), a.lo.tolist(), a.hi.tolist()) for a in tree.levels]
    given_away += [(d, ids.tolist(), c.attribute.tolist(), c.point.tolist()) for d, (ids, c) in tree.cuts.items()]
    given_away += [(ids.tolist(), noisy.value.tolist(), noisy.rate_num.tolist()) for ids, noisy in tree.sizes]
    given_away += [
        (nodes.ids.tolist(), path.tolist(), None if noisy is None else (noisy.value.tolist(), noisy.rate_num.tolist()))
        for nodes, noisy, path in tree.leaves
    ]
    if plan.oneways is not None:
        given_away.append(plan.oneways.value.tolist())
    return given_away


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
@settings(max_examples=6)
@given(order=st.permutations(range(RECORDS)))
def test_shuffled_records_give_the_same_run(setting: dict[str, Any], order: list[int]) -> None:
    assert outcome(setting, order=np.array(order)) == outcome(setting)


@pytest.mark.parametrize("chunk_cells", [1, 7, 40, 1000])
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_the_size_of_chunks_gives_the_same_run(setting: dict[str, Any], chunk_cells: int) -> None:
    assert outcome(setting, chunk_cells=chunk_cells) == outcome(setting)


@pytest.mark.parametrize("dtype", [np.uint16, np.int32, np.int64])
@pytest.mark.parametrize("setting", SETTINGS[:3], ids=str)
def test_the_width_of_codes_gives_the_same_run(setting: dict[str, Any], dtype: Any) -> None:
    assert outcome(setting, dtype=dtype) == outcome(setting)


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_another_seed_gives_another_run(setting: dict[str, Any]) -> None:
    """Else the tests above would show nothing."""
    assert outcome(setting, seed=12) != outcome(setting)


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
@pytest.mark.parametrize("target", [0, 2])
def test_a_run_on_no_records_gives_answers_of_the_same_form(setting: dict[str, Any], target: int) -> None:
    """Every mechanism is defined on the empty data set (privacy.md 1.1)."""
    plan = RPS(public_domain(target=target), **setting)
    nothing = MemoryEngine(
        np.zeros((0, 3), np.uint8), np.zeros(0, np.uint8), sizes=plan.sizes, class_count=plan.classes
    )
    receipt = run(plan, nothing, epsilon_nano=10**9, unit=Unit(), noise=Seeded(2))
    assert all(path["epsilon_nano"] <= 10**9 for path in receipt["paths"])
    assert sum(len(nodes) for nodes, _, _ in plan.tree.leaves) >= 1


@pytest.mark.parametrize(
    ("setting", "epsilon_nano"),
    [({"preset": "paper"}, 50), ({"preset": "paper", "depth": 3, "stop": "privtree:2"}, 1)],
    ids=str,
)
def test_a_run_that_fails_says_nothing_of_the_records(setting: dict[str, Any], epsilon_nano: int) -> None:
    """The same words for the data with a canary value and for no data at all."""
    said = []
    for n in (0, 139):
        plan = RPS(public_domain(target=2), **setting)
        codes = np.tile(np.array([[13, 7, 2]], np.uint8), (n, 1))
        store = MemoryEngine(codes, np.ones(n, np.uint8), sizes=plan.sizes, class_count=2)
        with pytest.raises(CantleError) as caught:
            run(plan, store, epsilon_nano=epsilon_nano, unit=Unit(), noise=Seeded(2))
        said.append(repr(caught.value))
        assert "139" not in repr(caught.value) + repr(store) + repr(plan)
    assert said[0] == said[1]

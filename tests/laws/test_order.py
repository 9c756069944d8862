"""The order of records, the size of chunks and the width of integers reveal nothing: a seeded run stays the same."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cantle.drawing.counts import public_dice
from cantle.errors import CantleError
from cantle.interfaces.opening import open_data
from cantle.interfaces.publishing import run
from cantle.methods.degrees.method import DegreeSequence
from cantle.methods.diffpart.method import DiffPart
from cantle.methods.rps.method import RPS
from cantle.schema.graph import GraphSchema
from cantle.schema.sets import SetSchema
from cantle.trusted.core.budget import Unit
from cantle.trusted.noise import Seeded
from tests.effort import examples
from tests.laws.strategies import public_domain, word_engine

SETTINGS: list[dict[str, Any]] = [
    {"preset": "default", "depth": 4},
    {"preset": "paper", "depth": 5},
    {"preset": "paper", "depth": 4, "attributes": "all", "quality": "mix:1:1"},
    {"preset": "paper", "depth": 4, "stop": "privtree:2", "attributes": "random"},
    {"preset": "paper", "depth": 4, "stop": "privtree:2+narrow:3", "attributes": "midpoint"},
    {"preset": "default", "records": 60, "summary": "depth", "depth": 3},
]
RECORDS = 60
NUMBERS = range(len(SETTINGS))


def setting_name(number: int) -> str:
    return str(SETTINGS[number])


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
    """Everything that a run returns: receipt, regions, cuts, noisy counts."""
    plan = RPS(public_domain(target=target), **setting)
    codes, classes = records(plan, 4)
    if order is not None:
        codes, classes = codes[order], classes[order]
    if dtype is not None:
        codes, classes = codes.astype(dtype), classes.astype(dtype)
    store = word_engine(codes, classes, sizes=plan.sizes, class_count=plan.classes, **engine)
    receipt = run(plan, store, epsilon_nano=3 * 10**9, unit=Unit(), noise=Seeded(seed))
    tree = plan.tree
    returned: list[Any] = [receipt, plan.depth]
    returned += [(a.ids.tolist(), a.lo.tolist(), a.hi.tolist()) for a in tree.levels]
    returned += [(d, ids.tolist(), c.attribute.tolist(), c.point.tolist()) for d, (ids, c) in tree.cuts.items()]
    returned += [(ids.tolist(), noisy.value.tolist(), noisy.rate_num.tolist()) for ids, noisy in tree.sizes]
    returned += [
        (nodes.ids.tolist(), path.tolist(), None if noisy is None else (noisy.value.tolist(), noisy.rate_num.tolist()))
        for nodes, noisy, path in tree.leaves
    ]
    if plan.oneways is not None:
        returned.append(plan.oneways.value.tolist())
    return returned


def without_addresses(*things: Any) -> str:
    """The reprs of some objects, without memory addresses."""
    return re.sub(r"0x[0-9a-f]+", "", " ".join(map(repr, things)))


@cache
def usual_outcome(number: int) -> list[Any]:
    """The outcome of the run with which others are compared."""
    return outcome(SETTINGS[number])


@pytest.mark.parametrize("number", NUMBERS, ids=setting_name)
@examples(3)
@given(order=st.permutations(range(RECORDS)))
@example(order=list(reversed(range(RECORDS))))
def test_shuffled_records_give_the_same_run(number: int, order: list[int]) -> None:
    assert outcome(SETTINGS[number], order=np.array(order)) == usual_outcome(number)


@pytest.mark.parametrize("number", NUMBERS, ids=setting_name)
def test_the_size_of_chunks_gives_the_same_run(number: int) -> None:
    for chunk_cells in (1, 7, 40, 1000):
        assert outcome(SETTINGS[number], chunk_cells=chunk_cells) == usual_outcome(number), chunk_cells


@pytest.mark.parametrize("number", NUMBERS[:3], ids=setting_name)
def test_the_width_of_codes_gives_the_same_run(number: int) -> None:
    for dtype in (np.uint16, np.int32, np.int64):
        assert outcome(SETTINGS[number], dtype=dtype) == usual_outcome(number), dtype


@pytest.mark.parametrize("number", NUMBERS, ids=setting_name)
def test_another_seed_gives_another_run(number: int) -> None:
    """Otherwise the tests above would prove nothing."""
    assert outcome(SETTINGS[number], seed=12) != usual_outcome(number)


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
@pytest.mark.parametrize("target", [0, 2])
def test_a_run_on_no_records_gives_answers_of_the_same_form(setting: dict[str, Any], target: int) -> None:
    """Every mechanism is defined on the empty data set (docs/privacy.md)."""
    plan = RPS(public_domain(target=target), **setting)
    empty = word_engine(np.zeros((0, 3), np.uint8), np.zeros(0, np.uint8), sizes=plan.sizes, class_count=plan.classes)
    receipt = run(plan, empty, epsilon_nano=10**9, unit=Unit(), noise=Seeded(2))
    assert all(path["epsilon_nano"] <= 10**9 for path in receipt["paths"])
    assert sum(len(nodes) for nodes, _, _ in plan.tree.leaves) >= 1


@pytest.mark.parametrize(
    ("setting", "epsilon_nano"),
    [({"preset": "paper"}, 50), ({"preset": "paper", "depth": 3, "stop": "privtree:2"}, 1)],
    ids=str,
)
def test_the_message_of_a_failed_run_does_not_depend_on_the_records(setting: dict[str, Any], epsilon_nano: int) -> None:
    """The message is the same for data with a canary value and for no data."""
    messages = []
    for n in (0, 139):
        plan = RPS(public_domain(target=2), **setting)
        codes = np.tile(np.array([[13, 7, 2]], np.uint8), (n, 1))
        store = word_engine(codes, np.ones(n, np.uint8), sizes=plan.sizes, class_count=2)
        with pytest.raises(CantleError) as caught:
            run(plan, store, epsilon_nano=epsilon_nano, unit=Unit(), noise=Seeded(2))
        messages.append(repr(caught.value))
        assert "139" not in repr(caught.value) + without_addresses(store, plan)
    assert messages[0] == messages[1]


# ---- sets -----------------------------------------------------------------------------------------------------------

UNIVERSE = SetSchema.from_dict({"kind": "sets", "items": {"minimum": 1, "maximum": 30}})
SET_SETTINGS: list[dict[str, Any]] = [
    {"cells": "tree", "m": 3, "fanout": 4},
    {"preset": "paper", "fanout": 3},
    {"cells": "tree", "fanout": 10, "max_cells": 5},
    {"cells": "tree", "m": 2, "fanout": 30},
]


def sets(seed: int) -> list[list[int]]:
    generator = np.random.default_rng(seed)
    sizes = generator.integers(1, 7, RECORDS)
    return [
        generator.choice(8, size, replace=False).tolist() if size < 5 else list(range(1, 1 + size)) for size in sizes
    ]


def set_outcome(setting: dict[str, Any], records: list[Any], *, seed: int = 11) -> list[Any]:
    """Everything that a run returns and releases; every set occurs eight times."""
    plan = DiffPart(UNIVERSE, **setting)
    _, store = open_data(records * 8, UNIVERSE, plan)
    receipt = run(plan, store, epsilon_nano=10**9, unit=Unit(), noise=Seeded(seed))
    parts, leaves = plan.kept_partitions.parts(), plan.kept_partitions.leaves()
    results = plan.results(public_dice(5))
    returned = [receipt, results.summary, results.groups.to_dicts(), results.records.to_dicts()]
    for level in (parts, leaves):
        returned += [level.parent.tolist(), level.mask.tolist(), level.noisy.tolist(), level.rate_num.tolist()]
    return returned


@pytest.mark.parametrize("setting", SET_SETTINGS, ids=str)
@examples(3)
@given(order=st.permutations(range(RECORDS)))
def test_shuffled_sets_give_the_same_run(setting: dict[str, Any], order: list[int]) -> None:
    """Neither the order of records and items nor repeated or unknown items matter."""
    records = sets(4)
    shuffled = [[*reversed(records[i]), *records[i][:1], 99] for i in order]
    assert set_outcome(setting, shuffled) == set_outcome(setting, records)


@pytest.mark.parametrize("setting", SET_SETTINGS, ids=str)
def test_another_seed_gives_another_run_over_sets(setting: dict[str, Any]) -> None:
    assert set_outcome(setting, sets(4), seed=12) != set_outcome(setting, sets(4))


@pytest.mark.parametrize("setting", SET_SETTINGS, ids=str)
def test_released_sets_are_sorted_by_their_items(setting: dict[str, Any]) -> None:
    """They are sorted by size, then by items, so those that occur do not come first (docs/privacy.md, Sets)."""
    groups = set_outcome(setting, sets(4))[2]
    listed = [(len(group["items"]), group["items"]) for group in groups]
    assert len(listed) > 3
    assert listed == sorted(listed)


@pytest.mark.parametrize("setting", [*SET_SETTINGS, {"cells": "tree", "m": 1, "fanout": 2}], ids=str)
def test_a_run_over_no_sets_gives_answers_of_the_same_form(setting: dict[str, Any]) -> None:
    receipt, summary, groups, records, *_ = set_outcome(setting, [])
    assert all(path["epsilon_nano"] <= 10**9 for path in receipt["paths"])
    assert summary["leaves"] == len(groups)
    assert summary["records"] == len(records)


# ---- graphs ---------------------------------------------------------------------------------------------------------

GRAPH_SETTINGS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"unit": "node"}, {}),
    ({"unit": "node"}, {"preset": "paper", "theta": 5}),
    ({"unit": "node"}, {"preset": "paper"}),
    ({"unit": "node-isolate", "nodes": 40}, {}),
    ({"unit": "edge", "nodes": 40}, {}),
]


def edges(seed: int) -> list[tuple[int, int]]:
    generator = np.random.default_rng(seed)
    return [(int(a), int(b)) for a, b in generator.integers(0, 30, (RECORDS, 2))]


def graph_outcome(
    public: dict[str, Any], setting: dict[str, Any], pairs: Any, *, nodes: Any = None, seed: int = 11
) -> list[Any]:
    schema = GraphSchema.from_dict({"kind": "graph", **public})
    plan = DegreeSequence(schema, **setting)
    _, store = open_data(pairs, schema, plan, nodes)
    receipt = run(plan, store, epsilon_nano=9 * 10**9, unit=Unit(kind=schema.unit), noise=Seeded(seed))
    results = plan.results(public_dice(5))
    return [receipt, plan.answers.theta, results.summary, results.groups.to_dicts(), results.records.to_dicts()]


@pytest.mark.parametrize(("public", "setting"), GRAPH_SETTINGS, ids=str)
@examples(3)
@given(order=st.permutations(range(RECORDS)), turned=st.integers(0, 2**RECORDS - 1))
def test_shuffled_edges_give_the_same_run(
    public: dict[str, Any], setting: dict[str, Any], order: list[int], turned: int
) -> None:
    """Neither order, direction and repetition of lines nor the order of listed nodes matter."""
    pairs = edges(4)
    shuffled = [pairs[i][:: -1 if turned >> i & 1 else 1] for i in order]
    assert graph_outcome(public, setting, shuffled + shuffled[:9]) == graph_outcome(public, setting, pairs)
    if public["unit"] == "node":
        named = list(range(35))
        outcome = graph_outcome(public, setting, shuffled, nodes=[*reversed(named), 3])
        assert outcome == graph_outcome(public, setting, pairs, nodes=named)


@pytest.mark.parametrize(("public", "setting"), GRAPH_SETTINGS, ids=str)
def test_another_seed_gives_another_run_over_a_graph(public: dict[str, Any], setting: dict[str, Any]) -> None:
    assert graph_outcome(public, setting, edges(4), seed=12) != graph_outcome(public, setting, edges(4))


@pytest.mark.parametrize(("public", "setting"), GRAPH_SETTINGS, ids=str)
def test_a_run_over_no_edges_gives_answers_of_the_same_form(public: dict[str, Any], setting: dict[str, Any]) -> None:
    receipt, theta, summary, _, records = graph_outcome(public, setting, [])
    assert all(path["epsilon_nano"] == 9 * 10**9 for path in receipt["paths"])
    assert summary["records"] == len(records)
    assert theta == 0 if public["unit"] == "edge" else theta >= 1
    if public["unit"] == "node":
        graph_outcome(public, setting, [], nodes=[])


@pytest.mark.parametrize(
    ("public", "setting"),
    [({"unit": "node"}, {"theta_share": 0, "theta": "auto"}), ({"unit": "node"}, {"preset": "paper", "theta": 70000})],
    ids=str,
)
def test_the_message_of_a_failed_run_does_not_depend_on_the_graph(
    public: dict[str, Any], setting: dict[str, Any]
) -> None:
    messages = []
    for pairs in ([], [(0, leaf) for leaf in range(1, 140)]):
        with pytest.raises(CantleError) as caught:
            graph_outcome(public, setting, pairs)
        messages.append(repr(caught.value))
        assert "139" not in messages[-1]
    assert messages[0] == messages[1]


def test_the_message_of_a_failed_run_does_not_depend_on_the_sets() -> None:
    """The runs fail because thresholds let too much pass."""
    messages = []
    for records in ([], [[1, 2, 3]] * 139):
        plan = DiffPart(UNIVERSE, cells="tree", c1=0, c2=0, eta="off", m="off", fanout=30)
        _, store = open_data(records, UNIVERSE, plan)
        with pytest.raises(CantleError) as caught:
            run(plan, store, epsilon_nano=10**9, unit=Unit(), noise=Seeded(2))
        messages.append(repr(caught.value))
        assert "139" not in messages[-1] + without_addresses(store, plan)
    assert messages[0] == messages[1]

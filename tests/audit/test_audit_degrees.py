"""The exact audit of degree sequences: all graphs of up to three nodes, all removals, through the shipped code.

With `-m slow` it is all graphs of up to five nodes.
It covers the counts of a projection and the choice of its bound: Claims 31 to 39.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from cantle.audit import degrees
from cantle.audit.degrees import DEGREE_CONFIGS, Drawing, GraphConfig
from cantle.audit.exact import TOLERANCE, Audit, Breakage
from cantle.trusted.counting import graph as engine_module
from cantle_lab.mutants.degrees import DEGREE_BREAKAGES, SQUARE, WITH_HUB
from tests.audit.family import check, check_family, check_search, check_small_tables
from tests.audit.test_audit_breakages import check_flaw
from tests.effort import slow

USED_UP_LATER = frozenset({"degrees: node, edges and nodes"})


@pytest.mark.parametrize("config", DEGREE_CONFIGS, ids=lambda config: config.name)
def test_no_pair_loses_more_than_claimed(config: GraphConfig) -> None:
    check_small_tables(config, USED_UP_LATER)


@pytest.mark.slow
@pytest.mark.parametrize("config", DEGREE_CONFIGS, ids=lambda config: config.name)
def test_no_pair_of_the_whole_family_loses_more_than_claimed(config: GraphConfig) -> None:
    check_family(config)


@pytest.mark.parametrize("breakage", DEGREE_BREAKAGES, ids=lambda breakage: breakage.name)
def test_flaws_are_caught(breakage: Breakage) -> None:
    check_flaw(breakage)


def test_the_pairs_of_the_flaws_are_neighbours() -> None:
    for flaw in DEGREE_BREAKAGES:
        assert flaw.before in set(flaw.config.without(flaw.after)), flaw.name


def test_the_family_has_all_small_graphs_and_removals() -> None:
    """There are 1 + 1 + 2 + 8 graphs of up to 3 nodes, and each node of each is removed once."""
    assert {config.records for config in DEGREE_CONFIGS} == {5}
    assert sum(1 for _ in degrees.NODE.tables(5)) == 1 + 1 + 2 + 8 + 64 + 1024
    node = list(degrees.NODE.pairs(3))
    assert len(node) == 0 + 1 + 2 * 2 + 8 * 3
    assert ((), ()) in [before for before, _ in node]
    assert all(len(after[0]) == len(before[0]) + 1 for before, after in node)
    isolate = list(degrees.ISOLATE.pairs(3))
    assert len(isolate) == 8 * 3
    assert all(before[0] == after[0] for before, after in isolate)
    edge = list(degrees.EDGE.pairs(3))
    assert len(edge) == 3 * 4
    assert all(len(after[1]) == len(before[1]) + 1 for before, after in edge)


def test_the_audit_covers_every_unit_and_preset() -> None:
    seen = {(config.relation, config.preset) for config in DEGREE_CONFIGS}
    assert seen == {("node", "default"), ("node", "paper"), ("node-isolate", "default"), ("node-isolate", "paper"),
                    ("edge", "default")}  # fmt: skip
    assert {config.listed for config in DEGREE_CONFIGS} == {True, False}
    assert {config.settings.get("theta") for config in DEGREE_CONFIGS} >= {1, 2, "auto", None}


def test_full_enumeration_agrees_with_recorded_leaves() -> None:
    recorded, full = Audit(degrees.CYCLE), Audit(degrees.CYCLE, enumerate_leaves=True)
    bodies = {body: outcome.probability for (body, _), outcome in recorded.law(SQUARE).items()}
    sums: dict[tuple[str, ...], object] = {}
    for (body, _), outcome in full.law(SQUARE).items():
        known = tuple(line for line in body if not line.startswith("leaf:"))
        sums[known] = sums.get(known, 0) + outcome.probability
    assert sums == bodies


def test_every_bound_can_be_chosen() -> None:
    """The enumeration reaches every bound, whatever the graph."""
    for graph in (((), ()), SQUARE, WITH_HUB):
        thetas = {line for body, _ in Audit(degrees.CHOICE).law(graph) for line in body if line.startswith("theta")}
        assert thetas == {"theta 1", "theta 2", "theta 4"}


@pytest.mark.parametrize("number", [0, 1, 2, 3, 5, 7])
def test_a_search_over_all_pairs_finds_the_flaws(number: int) -> None:
    flaw = DEGREE_BREAKAGES[number]
    check_search(flaw, flaw.config, flaw.config.pairs(4))


@pytest.mark.parametrize("nodes", slow([3, 4], 4))
@pytest.mark.parametrize("number", [4, 6])
def test_some_flaws_do_not_show_on_small_graphs(number: int, nodes: int) -> None:
    """Their pairs are given, as an order by degree needs two paths to be reversed, and large bounds large degrees."""
    flaw = DEGREE_BREAKAGES[number]
    assert len(flaw.after[0]) > 5
    with flaw.patch():
        assert Audit(flaw.config).worst(flaw.config.pairs(nodes)).loss <= flaw.config.units + TOLERANCE


def greedy(graph: Drawing, order: list[tuple[int, int]], theta: int) -> dict[int, int]:
    degrees_so_far = dict.fromkeys(graph[0], 0)
    for a, b in order:
        if (a, b) in graph[1] and degrees_so_far[a] < theta and degrees_so_far[b] < theta:
            degrees_so_far[a] += 1
            degrees_so_far[b] += 1
    return degrees_so_far


@pytest.mark.parametrize("orders", [range(2), pytest.param(range(2, 8), marks=pytest.mark.slow)], ids=len)
def test_any_public_order_keeps_the_claim(monkeypatch: pytest.MonkeyPatch, orders: range) -> None:
    """Claim 32 does not depend on the hash: other orders of all pairs are tried, through the shipped engine."""
    pairs = list(combinations(range(4), 2))
    label = {int(key): name for name, key in enumerate(degrees.NODE.engine((tuple(range(4)), ()))._held().keys)}
    for seed in orders:
        places = np.random.default_rng(seed).permutation(len(pairs))
        rank = {pair: int(place) for pair, place in zip(pairs, places, strict=True)}

        def order(graph, rank=rank):
            names = [label[int(key)] for key in graph.keys]  # keys identify the nodes
            return np.argsort([rank[names[a], names[b]] for a, b in graph.ends.tolist()], kind="stable")

        monkeypatch.setattr(engine_module, "order", order)
        for theta in (1, 2):
            config = GraphConfig("another order", (), {**degrees.NODE.settings, "theta": theta}, theta + 1, tight=True)
            check(config, Audit(config).worst(config.pairs(4)), tight=True)
        graph = (0, 1, 2, 3), ((0, 1), (0, 2), (1, 2), (2, 3))
        expected = sorted(greedy(graph, sorted(pairs, key=rank.__getitem__), 1).values())
        assert degrees.NODE.engine(graph).degrees(1).tolist() == expected

"""Degree sequences: scores of bounds by hand, questions and prices for each unit, and fits of noisy counts."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cantle.drawing.counts import public_dice
from cantle.errors import ParameterError
from cantle.interfaces.opening import open_data
from cantle.interfaces.publishing import run
from cantle.methods.degrees.method import LADDER, MOST_BINS, DegreeSequence
from cantle.methods.degrees.results import fit_at_most, fit_edge, isotonic, sequence, smooth
from cantle.schema.graph import GraphSchema
from cantle.trusted.claims.degree_queries import MOST_DEGREE, SCALE, Bounds
from cantle.trusted.core.budget import MOST, NANO, Unit
from cantle.trusted.core.curator import Curator
from cantle.trusted.noise import Seeded

EDGES = [(0, leaf) for leaf in range(1, 12)] + [(a, b) for a, b in combinations(range(1, 6), 2)] + [(20, 21)]
NODES = list(range(25))
TRUE = sorted([11] + [5] * 5 + [1] * 6 + [1, 1])
"""A star of eleven nodes, five leaves of which form a clique, and a separate edge."""
MUCH = MOST // 10


def schema(**given: Any) -> GraphSchema:
    return GraphSchema.from_dict({"kind": "graph", **given})


def ran(
    public: dict[str, Any],
    *,
    edges: Any = EDGES,
    nodes: Any = None,
    epsilon_nano: int = NANO,
    seed: int = 5,
    **given: Any,
) -> tuple[DegreeSequence, dict[str, Any]]:
    plan = DegreeSequence(schema(**public), **given)
    _, store = open_data(edges, plan.schema, plan, nodes)
    return plan, run(plan, store, epsilon_nano=epsilon_nano, unit=Unit(kind=plan.schema.unit), noise=Seeded(seed))


def charges(receipt: dict[str, Any]) -> list[tuple[str, int, int]]:
    [path] = receipt["paths"]
    return [(charge["why"], charge["epsilon_nano"], charge["sensitivity"]) for charge in path["charges"]]


# ---- bounds ---------------------------------------------------------------------------------------------------------


def test_scores_of_bounds_by_hand() -> None:
    """Bounds 1, 2, 4 keep 3, 5, 6 edges, with penalties 0, 1, 4: g = 3, 4, 2.

    Bound 1 is worse than 2 by (4 - 3)/2; bound 2 is best; bound 4 is worse than 2 by (4 - 2)/4, than 1 by (3 - 2)/4.
    """
    assert Bounds((1, 2, 4), (0, 1, 4)).scores([3, 5, 6]) == [-SCALE // 2, 0, -SCALE // 2]
    assert Bounds((1, 2), (0, 0)).scores([7, 7]) == [0, 0]
    assert Bounds((3,), (5,)).scores([2]) == [0]


def test_scores_are_rounded_away_from_zero() -> None:
    """floor(2^10 * -(1/3)) = -342."""
    assert Bounds((1, 3), (0, 0)).scores([0, 1]) == [-342, 0]


def test_scores_beyond_64_bits_are_clamped() -> None:
    assert Bounds((1, 2), (0, 2**60)).scores([0, 0]) == [0, -(2**62)]


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=6), st.data())
def test_the_best_bound_has_score_zero(kept: list[int], data: st.DataObject) -> None:
    thetas = tuple(sorted(data.draw(st.sets(st.integers(1, 99), min_size=len(kept), max_size=len(kept)))))
    penalties = tuple(data.draw(st.integers(0, 10**6)) for _ in kept)
    scores = Bounds(thetas, penalties).scores(kept)
    g = [f - p for f, p in zip(kept, penalties, strict=True)]
    assert max(scores) == 0 == scores[int(np.argmax(g))]
    for i, score in enumerate(scores):
        behind = max(SCALE * (g[j] - g[i]) / max(thetas[i], thetas[j]) for j in range(len(g)))
        assert -score == pytest.approx(np.ceil(behind - 1e-6), abs=1)


def offered(public: dict[str, Any], monkeypatch: pytest.MonkeyPatch, **given: Any) -> list[Bounds]:
    seen: list[Bounds] = []
    ask = Curator.choose
    monkeypatch.setattr(Curator, "choose", lambda self, root, bounds, lag, price, *, why: seen.append(bounds)
                        or ask(self, root, bounds, lag, price, why=why))  # fmt: skip
    ran(public, **given)
    return seen


@pytest.mark.parametrize(
    ("public", "most"),
    [
        ({}, LADDER),
        ({"max_degree": 100}, 64),
        ({"max_degree": 10**9}, MOST_DEGREE),
        ({"unit": "node-isolate", "nodes": 30}, 16),
        ({"unit": "node-isolate", "nodes": 30, "max_degree": 5}, 4),
        ({"unit": "node-isolate", "nodes": 2**31 - 1, "max_degree": 2**31 - 1}, MOST_DEGREE),
    ],
    ids=str,
)
def test_bounds_are_powers_of_two_from_public_values(
    public: dict[str, Any], most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bounds do not depend on the nodes and degrees of the graph."""
    given = {"edges": [], "edges_share": 0, "epsilon_nano": MUCH}
    if public.get("nodes", 0) > 10**6:  # otherwise the answer would have as many numbers as there are nodes
        plan = DegreeSequence(schema(**public))
        assert min(plan.schema.max_degree or LADDER, plan._largest()) == most
        return
    if most == MOST_DEGREE:
        monkeypatch.setattr(DegreeSequence, "_keep", lambda *_: None)
        monkeypatch.setattr(Curator, "measure", lambda *_, **__: None)
    for edges in ([], EDGES):
        [bounds] = offered(public, monkeypatch, **(given | {"edges": edges}))[:1]
        assert bounds.thetas == tuple(2**i for i in range(most.bit_length()))
        assert list(bounds.penalties) == sorted(bounds.penalties)


def test_a_single_bound_is_not_paid_for() -> None:
    plan, receipt = ran({"max_degree": 1}, nodes=NODES)
    assert plan.answers.theta == 1
    assert "bound on degrees" not in {why for why, _, _ in charges(receipt)}
    assert sum(price for _, price, _ in charges(receipt)) == NANO


def test_with_a_large_budget_the_bound_keeps_all_edges() -> None:
    """Penalties are negligible, and 16 is the least power of two above the largest degree."""
    plan, _ = ran({}, nodes=NODES, epsilon_nano=MUCH)
    assert plan.answers.theta >= 16


# ---- questions and prices -------------------------------------------------------------------------------------------


def test_the_questions_for_unit_node_and_their_prices() -> None:
    """1/5 for the bound, 1/10 for kept edges, 3/100 for the nodes, the rest for the counts."""
    plan, receipt = ran({}, nodes=NODES)
    theta = plan.answers.theta
    edges = plan.answers.first("kept edges")
    assert charges(receipt) == [
        ("bound on degrees", 200_000_000, 2 * (SCALE + 1)),
        ("kept edges", 100_000_000, edges),
        ("number of nodes", 30_000_000, 1),
        ("degrees at most k", 670_000_000, theta + 1),
    ]


def test_the_number_of_nodes_is_not_measured_if_nodes_are_not_listed() -> None:
    plan, receipt = ran({}, theta=3, nodes_share="1/2", edges_share="1/4")
    assert charges(receipt) == [
        ("kept edges", 250_000_000, plan.answers.first("kept edges")),
        ("degrees at least k", 750_000_000, 6),
    ]


def test_the_questions_for_unit_node_isolate() -> None:
    _, receipt = ran({"unit": "node-isolate", "nodes": 25}, theta=3, edges_share=0)
    assert charges(receipt) == [("degrees at least k", NANO, 6)]


def test_the_questions_for_unit_edge_share_the_budget() -> None:
    plan, receipt = ran({"unit": "edge", "nodes": 25}, epsilon_nano=NANO + 1)
    assert charges(receipt) == [("sorted degrees", NANO // 2, 2), ("degrees at least k", NANO // 2 + 1, 2)]
    assert len(plan.answers.values("sorted")) == 25
    assert len(plan.answers.values("at least")) == 24


def test_the_published_partition_pays_for_all_records_of_a_node() -> None:
    plan, receipt = ran({}, nodes=NODES, preset="paper", theta=4)
    questions = {charge["why"] for path in receipt["paths"] for charge in path["charges"]}
    assert questions >= {"split", "leaf"}
    charged = {(charge["why"], charge["sensitivity"]) for path in receipt["paths"] for charge in path["charges"]}
    assert charged == {("number of nodes", 1), ("split", 9), ("leaf", 9)}
    assert all(path["epsilon_nano"] == NANO for path in receipt["paths"])
    assert plan.inner is not None


def test_the_bound_of_the_published_partition_is_not_too_small_for_few_nodes() -> None:
    """600 nodes of degree 40: with the noise of the ranges as the penalty of a bound, bounds of 16 and less were drawn,
    though 32 or 64 give the better sequence."""
    ring = [(node, (node + step) % 600) for node in range(600) for step in range(1, 21)]
    chosen = [
        ran({"unit": "node-isolate", "nodes": 600}, edges=ring, preset="paper", epsilon_nano=NANO // 2, seed=seed)[0]
        for seed in range(5)
    ]
    assert {plan.answers.theta for plan in chosen} <= {32, 64}
    degrees = [plan.results(public_dice(1)).records["degree"].to_numpy() for plan in chosen]
    assert all(len(some) == 600 for some in degrees)


@pytest.mark.parametrize(
    ("public", "given", "said"),
    [
        ({}, {"theta_share": "1/2", "edges_share": "1/2"}, "leave nothing for the counts"),
        ({"unit": "edge", "nodes": 9}, {"preset": "paper"}, "nothing is projected"),
        ({"unit": "edge", "nodes": 9}, {"theta": 3}, "nothing is projected"),
        ({}, {"theta": 0}, "degrees parameter theta"),
        ({}, {"theta": MOST_DEGREE + 1}, "degrees parameter theta"),
        ({}, {"depth": 3}, "degrees has no parameter 'depth'"),
    ],
)
def test_settings_that_make_no_sense_are_refused(public: dict[str, Any], given: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        DegreeSequence(schema(**public), **given)


def test_impossible_bounds_are_refused_before_the_charge() -> None:
    with pytest.raises(ParameterError, match="theta_share"):
        DegreeSequence(schema(), theta_share=0).refuse_budget(NANO, 1)
    with pytest.raises(ParameterError, match=f"needs a bound below {MOST_BINS}"):
        ran({}, preset="paper", theta=MOST_BINS)


# ---- releases -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("public", "nodes", "given", "want"),
    [
        ({"unit": "edge", "nodes": 25}, None, {}, [0] * (25 - len(TRUE)) + TRUE),
        ({"unit": "edge", "nodes": len(TRUE)}, None, {}, TRUE),
    ],
    ids=["edge", "edge, no isolated nodes"],
)
def test_with_a_large_budget_an_edge_release_has_the_true_degrees(
    public: dict[str, Any], nodes: Any, given: dict[str, Any], want: list[int]
) -> None:
    plan, _ = ran(public, nodes=nodes, epsilon_nano=MUCH, **given)
    assert plan.results(public_dice(1)).records["degree"].to_list() == want


@pytest.mark.parametrize(
    ("public", "nodes"),
    [({}, NODES), ({}, None), ({"unit": "node-isolate", "nodes": 25}, None)],
    ids=["listed", "not listed", "isolate"],
)
def test_with_a_large_budget_a_node_release_has_nearly_the_true_degrees(public: dict[str, Any], nodes: Any) -> None:
    """The answers are exact, but smoothing spreads adjacent degrees a little."""
    plan, _ = ran(public, nodes=nodes, epsilon_nano=MUCH, theta=20)
    degrees = plan.results(public_dice(1)).records["degree"].to_list()
    want = TRUE if public == {} and nodes is None else [0] * (25 - len(TRUE)) + TRUE
    assert len(degrees) == len(want)
    assert np.abs(np.array(degrees) - np.array(want)).max() <= 2
    asked = "at most" if nodes else "at least"
    counts = (
        [sum(d <= k for d in want) for k in range(21)] if nodes else [sum(d >= k for d in want) for k in range(1, 21)]
    )
    assert plan.answers.values(asked).tolist() == counts


def test_the_empty_graph_has_a_release_too() -> None:
    for public, nodes in (
        ({}, []),
        ({}, None),
        ({"unit": "node-isolate", "nodes": 3}, None),
        ({"unit": "edge", "nodes": 3}, None),
    ):
        plan, _ = ran(public, edges=[], nodes=nodes, epsilon_nano=MUCH)
        degrees = plan.results(public_dice(1)).records["degree"].to_list()
        assert degrees == [0] * (public.get("nodes", 0))


# ---- fits -----------------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(-50, 50), max_size=30))
def test_isotonic_fits_pool_adjacent_violators(values: list[int]) -> None:
    """Compares with the textbook algorithm, which pools one violator at a time."""
    blocks: list[list[int]] = []
    for value in values:
        blocks.append([value])
        while len(blocks) > 1 and np.mean(blocks[-1]) < np.mean(blocks[-2]):
            blocks[-2:] = [blocks[-2] + blocks[-1]]
    want = [float(np.mean(block)) for block in blocks for _ in block]
    assert np.allclose(isotonic(np.array(values, dtype=float)), want)


@given(st.lists(st.floats(0, 100), min_size=1, max_size=60))
def test_smoothing_keeps_numbers_and_means(counts: list[float]) -> None:
    given_, smoothed = np.array(counts), smooth(np.array(counts))
    degree = np.arange(len(counts))
    assert (smoothed >= 0).all()
    assert smoothed.sum() == pytest.approx(given_.sum(), abs=1e-6)
    assert (smoothed * degree).sum() == pytest.approx((given_ * degree).sum(), abs=1e-5)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=20))
def test_a_sequence_has_each_degree_as_often_as_counted(counts: list[int]) -> None:
    degrees = sequence(np.array(counts, dtype=float), sum(counts))
    assert np.bincount(degrees, minlength=len(counts)).tolist() == counts


@given(st.lists(st.integers(-9, 60), min_size=1, max_size=20), st.integers(0, 50))
def test_fitted_counts_are_numbers_of_nodes(noisy: list[int], nodes: int) -> None:
    counts = fit_at_most(np.array(noisy, dtype=float), nodes)
    assert len(counts) == len(noisy) + 1
    assert (counts >= -1e-9).all()
    assert counts.sum() == pytest.approx(nodes)


def test_nodes_that_noise_puts_at_the_largest_degree_are_corrected() -> None:
    """All counts of nodes above a degree are three too high, as if nodes had 99 edges, which none has."""
    true = np.sort(np.concatenate([np.repeat([3, 4, 5], 30), np.arange(6, 16)]))
    above = np.array([(true >= k).sum() for k in range(1, 100)])
    fitted = fit_edge(true.astype(float), np.minimum(above + 3.0, 100), 100)
    assert len(fitted) == 100
    assert fitted.max() == 15
    assert fit_edge(true.astype(float), above.astype(float), 100).tolist() == true.tolist()

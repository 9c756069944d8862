"""The graph engine: exact degrees, true or projected, in lists whose length is the number of nodes."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cantle.data.graphs import read_graph
from cantle.errors import ParameterError
from cantle.schema.graph import GraphSchema
from cantle.trusted.bounding.graph_pairs import Degrees, Pairs
from cantle.trusted.bounding.node_ids import identifier
from cantle.trusted.bounding.projection import Projector, order
from cantle.trusted.claims.degree_queries import Nodes
from cantle.trusted.counting.graph import GraphEngine

EDGES = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=25)


def engine(edges: Any, private: Any = None, /, **keys: Any) -> GraphEngine:
    schema = GraphSchema.from_dict({"kind": "graph", **keys})
    return GraphEngine(read_graph(np.array(edges).reshape(-1, 2), schema, private))


@given(edges=EDGES, theta=st.integers(1, 5))
def test_projected_degrees_and_kept_edges_agree(edges: list[Any], theta: int) -> None:
    store = engine(edges)
    degrees = store.degrees(theta)
    assert len(degrees) == store.nodes
    assert (np.diff(degrees) >= 0).all()
    assert degrees.max(initial=0) <= theta
    assert degrees.sum() == 2 * store.kept(theta)
    graph = read_graph(np.array(edges).reshape(-1, 2), GraphSchema())
    want, _ = Projector(graph.ends[order(graph)], graph.nodes).project(theta)  # type: ignore[union-attr, arg-type]
    assert degrees.tolist() == sorted(want.tolist())


@given(edges=EDGES)
def test_a_large_theta_keeps_the_graph(edges: list[Any]) -> None:
    store = engine(edges)
    assert store.degrees(9).tolist() == store.true_degrees().tolist()
    assert store.kept(9) == len({frozenset(pair) for pair in edges if len(set(pair)) == 2})


def test_bounds_may_be_asked_for_in_any_order() -> None:
    edges = [(a, b) for a in range(8) for b in range(a)]
    asked = engine(edges)
    want = {theta: (engine(edges).kept(theta), engine(edges).degrees(theta).tolist()) for theta in (1, 2, 4, 8)}
    for theta in (4, 1, 1, 8, 4, 2, 1):
        assert asked.kept(theta) == want[theta][0]
        assert asked.degrees(theta).tolist() == want[theta][1]


@pytest.mark.parametrize("unit", ["node-isolate", "edge"])
@pytest.mark.parametrize(("nodes", "want"), [(6, [0, 0, 1, 1, 1, 3]), (4, [1, 1, 1, 3]), (2, [1, 3]), (1, [3])])
def test_lists_have_the_public_length(unit: str, nodes: int, want: list[int]) -> None:
    """Nodes that were not named have no edges; if too many were named, the largest degrees count."""
    star = engine([(9, 1), (9, 2), (9, 3)], unit=unit, nodes=nodes)
    assert star.nodes == nodes
    assert star.true_degrees().tolist() == want
    assert star.degrees(3).tolist() == want
    assert star.degrees(1).tolist() == sorted([0, 0, 0, 0, 1, 1])[6 - nodes :]
    assert star.kept(1) == 1


@given(edges=EDGES, one=st.tuples(st.integers(0, 8), st.integers(0, 8)), nodes=st.integers(1, 12))
def test_with_too_many_nodes_an_edge_still_changes_the_sorted_list_by_two(
    edges: list[Any], one: tuple[int, int], nodes: int
) -> None:
    before, after = (engine(e, unit="edge", nodes=nodes).true_degrees() for e in (edges, [*edges, one]))
    assert np.abs(after - before).sum() <= 2


@given(edges=EDGES, v=st.integers(0, 8), nodes=st.integers(1, 12), theta=st.integers(1, 4))
def test_with_too_many_nodes_the_edges_of_a_node_still_change_counts_by_two_theta(
    edges: list[Any], v: int, nodes: int, theta: int
) -> None:
    def counts(found: list[Any]) -> np.ndarray:
        degrees = engine(found, unit="node-isolate", nodes=nodes).degrees(theta)
        return np.array([(degrees >= k).sum() for k in range(1, theta + 1)])

    assert np.abs(counts(edges) - counts([pair for pair in edges if v not in pair])).sum() <= 2 * theta


def test_nodes_without_edges_have_degree_zero() -> None:
    for nodes in ([], [7]):
        store = engine([], nodes)
        assert store.nodes == len(nodes)
        assert (store.kept(3), store.degrees(3).tolist(), store.true_degrees().tolist()) == (
            0,
            [0] * len(nodes),
            [0] * len(nodes),
        )


def test_a_star_of_a_hundred_thousand_leaves_keeps_theta_edges() -> None:
    leaves = 100_000
    star = engine(np.stack([np.zeros(leaves, np.int64), np.arange(1, leaves + 1)], axis=1))
    for theta in (1, 7, 1024):
        degrees = star.degrees(theta)
        assert (len(degrees), int(degrees[-1]), int(degrees[:-1].sum())) == (leaves + 1, theta, theta)
        assert star.kept(theta) == theta
    assert star.kept(leaves) == leaves


def test_a_degree_list_has_no_edges_to_project() -> None:
    store = GraphEngine(Degrees(np.array([0, 1, 1])))
    assert (store.nodes, store.true_degrees().tolist(), store.listed) == (3, [0, 1, 1], True)
    for ask in (store.kept, store.degrees):
        with pytest.raises(ParameterError, match="cannot be projected"):
            ask(1)


def test_an_edge_list_does_not_list_its_nodes() -> None:
    assert not engine([(1, 2)]).listed
    assert engine([(1, 2)], [3]).listed


def test_a_closed_engine_answers_nothing() -> None:
    store = engine([(1, 2)])
    store.kept(1)
    store.close()
    for ask in (
        lambda: store.nodes,
        lambda: store.listed,
        store.true_degrees,
        lambda: store.degrees(1),
        lambda: store.kept(1),
    ):
        with pytest.raises(ParameterError, match="closed"):
            ask()


def test_an_engine_shows_nothing_and_cannot_be_pickled() -> None:
    store = engine([(1, 2)])
    assert repr(store) == "GraphEngine(private)"
    with pytest.raises(TypeError, match="private"):
        pickle.dumps(store)


def test_the_arrays_of_a_graph_show_nothing_and_cannot_be_pickled() -> None:
    graph = read_graph(np.array([(1, 2)]), GraphSchema.from_dict({"kind": "graph"}))
    held: tuple[object, ...] = (graph, Degrees(np.array([7, 7])))
    assert [repr(arrays) for arrays in held] == ["Graph(private)", "Degrees(private)"]
    for arrays in held:
        with pytest.raises(TypeError, match="private"):
            pickle.dumps(arrays)
    assert repr(Pairs()) == "Pairs(private)"


def test_no_regions_give_no_counts() -> None:
    assert list(engine([(1, 2)]).tally(np.zeros(0, np.int64), Nodes())) == []


def test_numbers_of_more_than_64_bits_are_texts() -> None:
    """A number too long to be written in digits is no identifier."""
    assert [identifier(number) for number in (2**63 - 1, 2**63, -(2**63) - 1)] == [
        2**63 - 1,
        b"9223372036854775808",
        b"-9223372036854775809",
    ]
    assert identifier(str(2**63)) == identifier(2**63)
    assert identifier(10**5000) is None

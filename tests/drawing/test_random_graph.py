"""Graphs from degrees: the nearest graphical sequence, the random graph, the file."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cantle.drawing.random_graph import graphical, regenerate, write_edges
from cantle.errors import MissingExtra, OutputError, ParameterError


def is_graphical(degrees: list[int]) -> bool:
    """The criterion of Erdos and Gallai, as they state it."""
    d = sorted(degrees, reverse=True)
    enough = all(sum(d[:k]) <= k * (k - 1) + sum(min(x, k) for x in d[k:]) for k in range(1, len(d) + 1))
    return sum(d) % 2 == 0 and min(d, default=0) >= 0 and enough


@pytest.mark.parametrize("nodes", range(6))
def test_all_short_sequences_become_a_nearest_graphical_one(nodes: int) -> None:
    possible = itertools.combinations_with_replacement(range(max(nodes, 1)), nodes)
    graphical_ones = [one for one in possible if is_graphical(list(one))]
    all_graphical = np.array(graphical_ones, dtype=np.int64).reshape(len(graphical_ones), nodes)
    for one in itertools.combinations_with_replacement(range(-1, nodes + 2), nodes):
        degrees = np.array(one, dtype=np.int64)
        nearest = graphical(degrees)
        assert is_graphical(nearest.tolist()), one
        # matching sorted values is the cheapest way to match two multisets
        assert np.abs(nearest - degrees).sum() == np.abs(all_graphical - degrees).sum(axis=1).min(), one
        assert (np.diff(nearest) >= 0).all()


@given(st.lists(st.integers(-3, 60), max_size=40))
def test_any_sequence_becomes_graphical_and_stays_so(degrees: list[int]) -> None:
    nearest = graphical(np.array(degrees, dtype=np.int64))
    assert is_graphical(nearest.tolist())
    np.testing.assert_array_equal(graphical(nearest), nearest)
    if is_graphical(degrees):
        assert nearest.tolist() == degrees


@given(st.integers(0, 30), st.integers(0, 2**31), st.floats(0, 1))
def test_degrees_of_a_graph_are_unchanged(nodes: int, seed: int, density: float) -> None:
    joined = np.triu(np.random.default_rng(seed).random((nodes, nodes)) < density, 1)
    degrees = (joined | joined.T).sum(axis=0)
    np.testing.assert_array_equal(graphical(degrees), degrees)


EXTREME = {
    "empty": [],
    "one node": [0],
    "one node with too much": [7],
    "all zero": [0] * 9,
    "complete": [8] * 9,
    "beyond complete": [100] * 9,
    "one huge": [0] * 8 + [10**15],
    "one huge among ones": [1] * 8 + [10**15],
    "odd": [1, 1, 1],
    "negative": [-5, -5, 2, 2],
    "two hubs": [1] * 10 + [11, 11],
}


@pytest.mark.parametrize("degrees", EXTREME.values(), ids=EXTREME)
def test_extreme_sequences_become_graphical(degrees: list[int]) -> None:
    nearest = graphical(np.array(degrees, dtype=np.int64))
    assert is_graphical(nearest.tolist())
    edges = regenerate(degrees, 1)
    np.testing.assert_array_equal(np.bincount(edges.ravel(), minlength=len(degrees)), nearest)


def test_extreme_sequences_by_hand() -> None:
    assert graphical(EXTREME["complete"]).tolist() == [8] * 9
    assert graphical(EXTREME["beyond complete"]).tolist() == [8] * 9
    assert graphical(EXTREME["one huge among ones"]).tolist() == [1] * 8 + [8]
    assert graphical(EXTREME["two hubs"]).tolist() == [1] * 10 + [6, 6]
    assert graphical([9, 1, 1, 1]).tolist() == [3, 1, 1, 1]  # order is kept


@pytest.mark.parametrize("degrees", [[1.0, 1.0], [[1, 1]], ["1", "1"], 3])
def test_only_lists_of_whole_numbers_are_accepted(degrees: Any) -> None:
    with pytest.raises(ParameterError, match="one list of whole numbers"):
        graphical(degrees)


@pytest.mark.parametrize("far_off", [False, True])
def test_many_nodes_become_graphical(far_off: bool) -> None:
    rng = np.random.default_rng(1)
    degrees = rng.integers(0, 10**5, 10**5) if far_off else rng.zipf(1.9, 10**5)
    nearest = graphical(degrees)
    assert int(nearest.sum()) % 2 == 0
    np.testing.assert_array_equal(graphical(nearest), nearest)


def test_the_graph_is_simple_has_the_degrees_and_follows_the_seed() -> None:
    degrees = np.sort(np.clip(np.random.default_rng(2).zipf(2.0, 400), 1, 60))
    edges = regenerate(degrees, 5)
    np.testing.assert_array_equal(np.bincount(edges.ravel(), minlength=400), graphical(degrees))
    assert (edges[:, 0] < edges[:, 1]).all()
    assert len(np.unique(edges, axis=0)) == len(edges)
    np.testing.assert_array_equal(regenerate(degrees, 5), edges)
    assert not np.array_equal(regenerate(degrees, 6), edges)
    assert not np.array_equal(regenerate(degrees), regenerate(degrees))


def test_swaps_reach_every_graph_about_equally_often() -> None:
    """Five nodes of degree 2 form one of 12 rings; without swaps it would always be the same ring."""
    drawn = [regenerate([2] * 5, seed).tobytes() for seed in range(1_200)]
    counts = np.unique(drawn, return_counts=True)[1]
    assert len(counts) == 12
    assert ((counts - 100) ** 2 / 100).sum() < 37.4  # chi-square, 11 degrees of freedom, p = 1e-4


def test_the_generator_of_igraph_is_restored() -> None:
    """A program that seeds `random` for its own igraph graphs is not affected."""
    igraph, random = pytest.importorskip("igraph"), __import__("random")
    drawn = []
    for between in (lambda: None, lambda: regenerate([1, 1, 2, 2], 3)):
        random.seed(9)
        between()
        drawn.append(igraph.Graph.Erdos_Renyi(n=30, m=60).get_edgelist())
    assert drawn[0] == drawn[1]


def test_without_igraph_the_message_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "igraph", None)
    with pytest.raises(MissingExtra, match=r"igraph, .*\.\[graph\]"):
        regenerate([1, 1], 1)
    assert graphical([1, 1]).tolist() == [1, 1]  # making a sequence graphical needs no igraph


def test_the_file_is_an_edge_list_that_says_what_it_is(tmp_path: Path) -> None:
    edges = np.array([[0, 1], [1, 4]])
    path = write_edges(edges, tmp_path / "graph.txt", nodes=6)
    lines = path.read_text(encoding="ascii").splitlines()
    assert "degrees are those of the release" in lines[0]
    assert "clustering and all else is random" in lines[0]
    assert lines[1:] == ["# Nodes: 6 Edges: 2", "# FromNodeId\tToNodeId", "0\t1", "1\t4"]
    np.testing.assert_array_equal(np.loadtxt(path, dtype=np.int64), edges)
    with pytest.raises(OutputError, match="exists already"):
        write_edges(edges, path)
    with pytest.raises(OutputError, match="cannot write"):
        write_edges(edges, tmp_path / "nowhere" / "graph.txt")


def test_a_graph_without_edges_is_a_file_of_comments(tmp_path: Path) -> None:
    path = write_edges(regenerate([0, 0, 0], 1), tmp_path / "empty.txt", nodes=3)
    assert path.read_text(encoding="ascii").splitlines()[1:] == ["# Nodes: 3 Edges: 0", "# FromNodeId\tToNodeId"]

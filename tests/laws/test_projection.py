"""The projection equals its definition, its order is public, and one node changes no more than is claimed.

The bounds are checked on all graphs of up to four nodes (with `-m slow` of five), all removals of a node, and all
bounds that a degree can reach, through the real order and projection. Nodes keep their identifiers, so the edges that
two neighbours share come in the same order.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cantle.errors import ParameterError
from cantle.trusted.bounding.graph_pairs import Graph
from cantle.trusted.bounding.node_ids import number_keys
from cantle.trusted.bounding.projection import Projector, order
from tests.effort import examples, one_in

FEW, MANY = 4, 5
Labels = tuple[int, ...]
Edges = tuple[tuple[int, int], ...]


def graph_of(labels: Labels, edges: Edges) -> Graph:
    """The graph on these identifiers (in ascending order), as the reader would build it."""
    number = {label: place for place, label in enumerate(labels)}
    ends = sorted((number[a], number[b]) for a, b in edges)
    return Graph(len(labels), np.array(ends, dtype=np.int32).reshape(-1, 2), number_keys(np.array(labels)))


def by_definition(ends: list[tuple[int, int]], nodes: int, theta: int) -> tuple[list[int], list[bool]]:
    """Keep (a, b) iff both current degrees are below theta."""
    degrees, kept = [0] * nodes, []
    for a, b in ends:
        kept.append(degrees[a] < theta and degrees[b] < theta)
        degrees[a] += kept[-1]
        degrees[b] += kept[-1]
    return degrees, kept


@cache
def projected(labels: Labels, edges: Edges, theta: int) -> tuple[dict[int, int], int]:
    """Projected degrees by identifier, and the number of kept edges."""
    graph = graph_of(labels, edges)
    degrees, kept = Projector(graph.ends[order(graph)], graph.nodes).project(theta)
    return dict(zip(labels, degrees.tolist(), strict=True)), int(kept.sum())


def all_graphs(labels: Labels) -> list[Edges]:
    pairs = list(combinations(labels, 2))
    return [tuple(pair for i, pair in enumerate(pairs) if number >> i & 1) for number in range(2 ** len(pairs))]


@cache
def neighbours(theta: int, most: int) -> list[tuple[dict[int, int], dict[int, int], int, int, int, bool]]:
    """(degrees with v, without v, v, edges kept with v, without v, whether a node loses its last edge without v)."""
    pairs = []
    for size in range(1, most + 1):
        labels = tuple(range(size))
        for edges in all_graphs(labels):
            for v in labels:
                others, rest = tuple(u for u in labels if u != v), tuple(edge for edge in edges if v not in edge)
                ends, left = {u for edge in edges for u in edge}, {u for edge in rest for u in edge}
                more, fewer = projected(labels, edges, theta), projected(others, rest, theta)
                pairs.append((more[0], fewer[0], v, more[1], fewer[1], bool(ends - left - {v})))
    return pairs


def at_most(degrees: dict[int, int], theta: int) -> np.ndarray:
    return np.array([sum(d <= k for d in degrees.values()) for k in range(theta + 1)])


def at_least(degrees: dict[int, int], theta: int) -> np.ndarray:
    return np.array([sum(d >= k for d in degrees.values()) for k in range(1, theta + 1)])


def histogram(degrees: dict[int, int], theta: int) -> np.ndarray:
    return np.bincount(list(degrees.values()), minlength=theta + 1)


def l1_change(one: np.ndarray, other: np.ndarray) -> int:
    return int(np.abs(one - other).sum())


def isolated(fewer: dict[int, int], v: int) -> dict[int, int]:
    """The neighbour in which v stays, but without its edges."""
    return {**fewer, v: 0}


# ------------------------------------------------------------------------------------------------- the lemma

every_bound = pytest.mark.parametrize(
    ("theta", "most"),
    [
        *((theta, FEW) for theta in range(1, FEW)),
        *(pytest.param(theta, MANY, marks=pytest.mark.slow) for theta in range(1, MANY)),
    ],
)


@every_bound
def test_other_degrees_change_by_at_most_the_kept_edges_of_the_node(theta: int, most: int) -> None:
    worst = 0
    for more, fewer, v, *_ in neighbours(theta, most):
        change = sum(abs(more[u] - d) for u, d in fewer.items())
        assert change <= more[v] <= theta
        worst = max(worst, change)
    assert worst == theta


@every_bound
def test_counts_of_degrees_at_most_k_change_by_their_sensitivity(theta: int, most: int) -> None:
    """By theta + 1 under node, and by 2 theta under node-isolate, where the last count is public."""
    pairs = neighbours(theta, most)
    assert max(l1_change(at_most(more, theta), at_most(fewer, theta)) for more, fewer, *_ in pairs) == theta + 1
    stays = [l1_change(at_most(more, theta), at_most(isolated(fewer, v), theta)) for more, fewer, v, *_ in pairs]
    assert max(stays) == 2 * theta


@every_bound
def test_counts_of_degrees_at_least_k_change_by_two_theta(theta: int, most: int) -> None:
    """Whether v goes or stays does not matter: a node without kept edges is in none of these counts."""
    pairs = neighbours(theta, most)
    assert max(l1_change(at_least(more, theta), at_least(fewer, theta)) for more, fewer, *_ in pairs) == 2 * theta
    for more, fewer, v, *_ in pairs:
        assert (at_least(fewer, theta) == at_least(isolated(fewer, v), theta)).all()
        assert l1_change(at_least(more, theta), at_least(fewer, theta)) <= 2 * more[v]


@every_bound
def test_histograms_of_degrees_change_by_their_sensitivity(theta: int, most: int) -> None:
    """By 2 theta + 1 under node, 2 theta + 2 under node-isolate, and 2 theta + 1 under both from degree 1 on."""
    goes, stays, positive = [], [], []
    for more, fewer, v, *_ in neighbours(theta, most):
        before, without, isolate = (histogram(d, theta) for d in (more, fewer, isolated(fewer, v)))
        goes.append(l1_change(before, without))
        stays.append(l1_change(before, isolate))
        positive.append(l1_change(before[1:], without[1:]))
        assert positive[-1] == l1_change(before[1:], isolate[1:])
    assert (max(goes), max(stays)) == (2 * theta + 1, 2 * theta + 2)
    assert max(positive) == (2 if theta == 1 else 2 * theta + 1)  # for theta = 1 there is one cell


@every_bound
def test_at_most_two_theta_plus_one_degrees_are_inserted_or_deleted(theta: int, most: int) -> None:
    """The multiset of degrees changes like the histogram; here degrees are matched one at a time."""
    worst = 0
    for more, fewer, *_ in neighbours(theta, most):
        one, other = list(more.values()), list(fewer.values())
        for degree in tuple(one):
            if degree in other:
                one.remove(degree)
                other.remove(degree)
        worst = max(worst, len(one) + len(other))
    assert worst == 2 * theta + 1


@every_bound
def test_kept_edges_grow_by_at_most_theta(theta: int, most: int) -> None:
    changes = [(with_v - without, more[v]) for more, _, v, with_v, without, _ in neighbours(theta, most)]
    assert all(0 <= change <= degree for change, degree in changes)
    assert {change for change, _ in changes} == set(range(theta + 1))


@pytest.mark.parametrize(
    ("theta", "most"), [(1, FEW), (2, FEW), *(pytest.param(theta, MANY, marks=pytest.mark.slow) for theta in (1, 2, 3))]
)
def test_counts_below_the_edges_of_bins_change_by_their_sensitivity(theta: int, most: int) -> None:
    """#{d < e} for the e of a set changes by max over d of d + #{e > d}; by 1 for {theta + 1}, which counts nodes."""
    edges = range(1, theta + 2)
    for size in range(1, theta + 2):
        for chosen in combinations(edges, size):
            counts = [
                sum(abs(sum(d < e for d in more.values()) - sum(d < e for d in fewer.values())) for e in chosen)
                for more, fewer, *_ in neighbours(theta, most)
            ]
            bound = max(d + sum(e > d for e in chosen) for d in range(theta + 1))
            assert max(counts) == (1 if chosen == (theta + 1,) else bound)


def test_if_nodes_are_not_listed_their_number_has_no_bound() -> None:
    """A star without the edges of its centre has no nodes left in its edge list; counts of d >= 1 change by 2 theta."""
    for leaves in (3, 30, 300):
        labels = tuple(range(leaves + 1))
        degrees, _ = projected(labels, tuple((0, leaf) for leaf in labels[1:]), 2)
        assert l1_change(at_most(degrees, 2), np.zeros(3, dtype=np.int64)) > leaves
        assert l1_change(at_least(degrees, 2), np.zeros(2, dtype=np.int64)) == 4


@every_bound
def test_if_nodes_are_not_listed_counts_of_degrees_at_least_k_keep_their_bound(theta: int, most: int) -> None:
    """Nodes that lost their last edge are gone as well, but counts of d >= 1 and of edges do not change by that."""
    lost = [pair for pair in neighbours(theta, most) if pair[-1]]
    assert lost
    for more, fewer, *_ in lost:
        named = {u: d for u, d in fewer.items() if d > 0}
        assert l1_change(at_least(more, theta), at_least(named, theta)) <= 2 * theta
        assert l1_change(histogram(more, theta)[1:], histogram(named, theta)[1:]) <= 2 * theta + 1


# ------------------------------------------------------------------------------------------------- the order


def pairs_in_order(graph: Graph, labels: Labels) -> list[tuple[int, int]]:
    return [(labels[a], labels[b]) for a, b in graph.ends[order(graph)].tolist()]


@given(st.sets(st.integers(-(2**63), 2**63 - 1), min_size=2, max_size=8), st.data())
def test_the_order_of_two_edges_does_not_depend_on_other_edges(names: set[int], data: st.DataObject) -> None:
    labels = tuple(sorted(names))
    pairs = list(combinations(labels, 2))
    everything = pairs_in_order(graph_of(labels, tuple(pairs)), labels)
    some = data.draw(st.sets(st.sampled_from(pairs)))
    fewer = tuple(sorted({a for pair in some for a in pair}))
    ordered = pairs_in_order(graph_of(fewer, tuple(some)), fewer)
    assert ordered == [pair for pair in everything if pair in some]


def test_the_order_is_not_that_of_identifiers() -> None:
    labels = tuple(range(40))
    ordered = pairs_in_order(graph_of(labels, tuple(combinations(labels, 2))), labels)
    first = [min(pair) for pair in ordered[:100]]
    assert first != sorted(first)
    assert 5 < np.mean(first) < 21  # low identifiers are not favoured: the mean over all pairs is 13


@pytest.mark.parametrize("keys", [np.zeros(6, np.uint64), np.array([7, 7, 7, 9, 9, 9], np.uint64)])
def test_equal_hashes_leave_a_total_order(keys: np.ndarray) -> None:
    """If hashes are equal, identifiers decide, whatever the order of the edges."""
    pairs = np.array(list(combinations(range(6), 2)), dtype=np.int32)
    want = pairs[order(Graph(6, pairs, keys))].tolist()
    for seed in range(20):
        shuffled = np.random.default_rng(seed).permutation(pairs)
        assert shuffled[order(Graph(6, shuffled, keys))].tolist() == want
        some = shuffled[::2]
        assert some[order(Graph(6, some, keys))].tolist() == [pair for pair in want if pair in some.tolist()]
    if not keys.any():
        assert want == pairs.tolist()


# -------------------------------------------------------------------------------------------- the projection


@st.composite
def scans(draw: st.DrawFn) -> tuple[np.ndarray, int]:
    """Edges in any order, often with many in a row at one node, or in chains."""
    nodes = draw(st.integers(1, 12))
    pairs = list(combinations(range(nodes), 2))
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return np.array(chosen, dtype=np.int32).reshape(-1, 2), nodes


def assert_same(ends: np.ndarray, nodes: int, theta: int) -> None:
    degrees, kept = by_definition(ends.tolist(), nodes, theta)
    projected = Projector(ends, nodes).project(theta)
    assert projected[0].tolist() == degrees
    assert projected[1].tolist() == kept
    assert (projected[0].dtype, projected[1].dtype) == (np.int64, np.bool_)


@examples(15)
@given(scans(), st.integers(1, 6))
def test_the_projection_equals_its_definition(scan: tuple[np.ndarray, int], theta: int) -> None:
    assert_same(*scan, theta)


@pytest.mark.parametrize("theta", one_in(2, [1, 2, 3, 8, 64]))
def test_the_projection_equals_its_definition_on_larger_graphs(theta: int) -> None:
    """With many blocks, hubs, and an order in which every edge depends on the one before it."""
    rng = np.random.default_rng(theta)
    weights = 1.0 / np.arange(1, 2001)
    ends = np.unique(np.sort(rng.choice(2000, size=(30_000, 2), p=weights / weights.sum()), axis=1), axis=0)
    ends = rng.permutation(ends[ends[:, 0] < ends[:, 1]]).astype(np.int32)
    assert_same(ends, 2000, theta)
    chain = np.stack([np.arange(9000), np.arange(1, 9001)], axis=1).astype(np.int32)
    assert_same(chain, 9001, theta)
    assert_same(np.concatenate([chain, chain[:-1] + np.array([0, 1], np.int32)]), 9001, theta)


def test_a_star_keeps_its_first_theta_edges() -> None:
    leaves = 100_000
    star = np.stack([np.zeros(leaves), np.arange(1, leaves + 1)], axis=1).astype(np.int32)
    degrees, kept = Projector(star, leaves + 1).project(7)
    assert (int(degrees[0]), int(degrees[1:].sum()), int(kept.sum())) == (7, 7, 7)
    assert kept[:7].all()


@pytest.mark.parametrize("nodes", [0, 1, 3])
def test_a_graph_may_have_no_edges(nodes: int) -> None:
    assert_same(np.empty((0, 2), dtype=np.int32), nodes, 1)


def test_several_bounds_at_once_keep_the_same_numbers_of_edges() -> None:
    rng = np.random.default_rng(3)
    ends = np.unique(np.sort(rng.integers(0, 60, size=(900, 2)), axis=1), axis=0)
    ends = rng.permutation(ends[ends[:, 0] < ends[:, 1]]).astype(np.int32)
    thetas = [2**k for k in range(8)]
    projector = Projector(ends, 60)
    for theta in thetas:
        assert projector.project(theta)[1].sum() == sum(by_definition(ends.tolist(), 60, theta)[1])
    assert projector.project(10**6)[1].all()


@pytest.mark.parametrize("theta", [0, -1, True, 1.0, None])
def test_theta_must_be_a_positive_whole_number(theta: object) -> None:
    with pytest.raises(ParameterError, match="theta"):
        Projector(np.empty((0, 2), dtype=np.int32), 1).project(theta)  # type: ignore[arg-type]


def test_a_projector_shows_nothing() -> None:
    assert repr(Projector(np.array([[0, 1]], dtype=np.int32), 2)) == "Projector(private)"

"""The projection of a graph to one whose degrees are at most theta, and how much of it one node can change.

The order of edges is public: by a hash of the unordered pair of the hashes of its ends
(cantle.trusted.bounding.node_ids.pair_keys), ties by the ends themselves in the public order of identifiers. So it is a
total order on all pairs that could be an edge, and neither the file's order nor other edges or nodes can change it. The
projection pi_theta scans the edges in that order and keeps (a, b) if both ends have fewer than theta kept edges so far.

Identifiers must belong to their nodes: if the other nodes were renumbered when a node leaves, they would be different
nodes, and nothing here would hold between the two graphs.

Lemma. Let G' be G and one more node v with its edges, d'(v) the degree of v in pi_theta(G'), and delta_u the change of
the projected degree of another node u. Then sum |delta_u| <= d'(v) <= theta.

Proof. Scan both graphs together; the edges they share come in the same order. An edge at v that G' keeps raises d'(v)
by one and sum |delta| by at most one. Another edge (a, b) changes something only if exactly one graph keeps it. Say G
keeps it and G' does not: then an end, say a, is full in G' and not in G, so delta_a > 0 just before. Now delta_a and
delta_b drop by one each: |delta_a| falls by one, |delta_b| rises by at most one, the sum does not grow. If only G'
keeps it, the same holds with signs reversed. So in the end sum |delta| is at most the number of kept edges at v. ∎

What follows for exact answers, as L1 sensitivity (d are projected degrees; tests/laws/test_projection.py tries all
graphs of up to five nodes):

    answer                                              node                         node-isolate    nodes not listed
    #{d <= k} for k = 0 … theta                          theta + 1                    2 theta         unbounded
    #{d < e} for e of a set E, 0 < e <= theta + 1        max over d: d + #{e > d}     -               unbounded
    #{d >= k} for k = 1 … theta                          2 theta                      2 theta         2 theta
    histogram over 0 … theta, or any coarser one         2 theta + 1                  2 theta + 2     unbounded
    histogram over 1 … theta                             2 theta + 1                  2 theta + 1     2 theta + 1
    number of kept edges (never falls when v comes)      theta                        theta           theta

The degrees as a multiset change by as many insertions and deletions as the histogram.

`node`. In #{d <= k}, v adds one for each k >= d'(v), theta + 1 - d'(v) in all; the others move sum |delta| <= d'(v). In
#{d >= k} v adds d'(v). In a histogram v adds one, and the at most theta nodes that move count twice each. Kept edges
are half the sum of degrees, so their number changes by (d'(v) + sum delta) / 2, which is between 0 and d'(v).

`node-isolate`. v stays and loses its edges: the others move as before, and v itself by d'(v), to 0.

Nodes not listed. Removing the lines of v from an edge list also removes all nodes whose only edges led to v, so
#{d <= k} and the number of nodes have no bound. Without v these nodes have no edge anyway: whether they are present
changes no #{d >= k} with k >= 1 and no kept edge, and only such questions are allowed for this input.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cantle.errors import ParameterError
from cantle.trusted.bounding.graph_pairs import Ends, Graph
from cantle.trusted.bounding.node_ids import Ints, pair_keys
from cantle.trusted.core.private import Private

Bools = NDArray[np.bool_]

_HASHED = 1 << 20  # edges hashed together
_STEP = 4096


def order(graph: Graph) -> Ints:
    """The positions of the edges in their public order.

    >>> from cantle.trusted.bounding.node_ids import number_keys
    >>> path = Graph(3, np.array([[0, 1], [1, 2]], dtype=np.int32), number_keys(np.array([5, 7, 9])))
    >>> sorted(order(path).tolist())
    [0, 1]
    """
    ends, hashes = graph.ends, np.empty(len(graph.ends), dtype=np.uint64)
    for at in range(0, len(ends), _HASHED):
        block = ends[at : at + _HASHED]
        hashes[at : at + _HASHED] = pair_keys(graph.keys[block[:, 0]], graph.keys[block[:, 1]])
    places = np.argsort(hashes)
    hashes = hashes[places]
    if (hashes[1:] == hashes[:-1]).any():
        # nodes are numbered in the order of identifiers, so this rule does not depend on other edges either
        low, high = ends.min(axis=1)[places], ends.max(axis=1)[places]
        places = places[np.lexsort((high, low, hashes))]
    return places


class Projector(Private):
    """Edges (edges, 2) in their public order, to be projected several times."""

    def __init__(self, ends: Ends, nodes: int) -> None:
        self._ends, self._nodes = np.ascontiguousarray(ends), nodes
        self._degrees: Ints = np.bincount(self._ends.reshape(-1), minlength=nodes)
        self._most = int(self._degrees.max(initial=0))
        self._larger: Ints | None = None

    def project(self, theta: int) -> tuple[Ints, Bools]:
        """Projected degrees (nodes,), and which edges are kept (edges,)."""
        if type(theta) is not int or theta < 1:
            raise ParameterError("theta is a whole number of at least 1")
        if theta >= self._most:  # no node is ever full
            return self._degrees.copy(), np.ones(len(self._ends), dtype=np.bool_)
        kept = self._larger_ends() <= theta  # neither end can be full when such an edge comes
        left = theta - np.bincount(self._ends[kept].reshape(-1), minlength=self._nodes)
        rest, step = np.flatnonzero(~kept), self._nodes // 2 + _STEP
        for at in range(0, len(rest), step):  # with few edges per node, most are decided in one round
            part = rest[at : at + step]
            kept[part] = _decide(self._ends[part], left)
        return theta - left, kept

    def _larger_ends(self) -> Ints:
        """The larger degree at the ends of each edge."""
        if self._larger is None:
            self._larger = np.maximum(self._degrees[self._ends[:, 0]], self._degrees[self._ends[:, 1]])
        return self._larger


def _decide(ends: Ends, left: Ints) -> Bools:
    """Which of these edges the scan keeps; subtracts them from `left`, the number of edges each node can still take.

    All earlier edges are decided; some later ones may be, and are already subtracted. It works in rounds over all
    undecided edges at once: an undecided edge has at each end a rank, the number of undecided edges there that come
    before it. In a round,
    (1) an edge at an end with nothing left is dropped,
    (2) an edge whose rank at both ends is below what that end has left is kept.
    Every decision agrees with the scan if all earlier ones do. (1) The scan keeps theta edges of that end, which are
    known already, and never more. (2) When the scan reaches the edge, each end has at most the edges known to be kept
    and the undecided ones before it: fewer than theta. And every round decides the first undecided edge: its ranks are
    0, so it is kept unless an end has nothing left, and then it is dropped. So all are decided as by the scan.

    When a round decides less than half, the scan itself processes the rest, so that no order of edges takes long.
    """
    kept = np.zeros(len(ends), dtype=np.bool_)
    undecided = np.flatnonzero((left[ends] > 0).all(axis=1))  # (1)
    while len(undecided):
        now = ends[undecided]
        sure = (_ranks(now.reshape(-1)).reshape(-1, 2) < left[now]).all(axis=1)  # (2)
        kept[undecided[sure]] = True
        np.subtract.at(left, now[sure].reshape(-1), 1)
        before, undecided = len(undecided), undecided[~sure & (left[now] > 0).all(axis=1)]  # (1)
        if 2 * len(undecided) > before:
            _scan(ends, undecided, left, kept)
            break
    return kept


def _ranks(nodes: NDArray[np.int32]) -> Ints:
    """For each entry, the number of earlier entries of the same node."""
    places = np.arange(len(nodes))
    entries = (nodes.astype(np.int64) << 32) | places
    entries.sort()  # by node, then by place
    same = entries >> 32
    starts = np.zeros(len(nodes), dtype=np.int64)
    starts[1:] = np.where(same[1:] != same[:-1], places[1:], 0)
    ranks = np.empty(len(nodes), dtype=np.int64)
    ranks[entries & 0xFFFFFFFF] = places - np.maximum.accumulate(starts)
    return ranks


def _scan(ends: Ends, edges: Ints, left: Ints, kept: Bools) -> None:
    """The definition itself, over some edges in order."""
    chosen = []
    for edge, one, other in zip(edges.tolist(), ends[edges, 0].tolist(), ends[edges, 1].tolist(), strict=True):
        if left[one] > 0 and left[other] > 0:
            left[one] -= 1
            left[other] -= 1
            chosen.append(edge)
    kept[chosen] = True

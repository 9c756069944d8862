"""The degree scheme of the RPS paper (section 5.1), as printed. It is NOT node-private, and for comparison only.

The paper charges sibling regions in parallel, as if removing a node changed only one region. But it lowers the degrees
of all neighbours of the node, which may be in as many regions, and the losses of their counts add up. There are exact
counterexamples:

* A wheel of 4 spokes loses its hub, so degrees (4, 3, 3, 3, 3) become (2, 2, 2, 2). The noise is Laplace noise for the
  sensitivity 5 of one bin. Each bin alone is epsilon-private; together they lose 9/5 epsilon (instance I13 of
  `cantle_lab.mutants`).
* `hub_loss`: smooth sensitivity and Cauchy noise in each leaf, as here. For a node with 20 neighbours whose degrees are
  in 20 leaves the loss is 22.6 for a claimed 12; with 60 neighbours it is 3.9 for 2, with 130 neighbours 2.6 for 1.
* `removal_loss`: the same for a node of a real graph.

Besides, a maximum degree taken from the graph is published without noise. The noise is floating point, and `publish`
never uses this module. The paper prints neither its smooth sensitivity nor what it does with negative counts; our
interpretation is in `smooth_sensitivity` and `release`.
"""

from __future__ import annotations

import numpy as np

from cantle.drawing.counts import round_rows
from cantle.errors import ParameterError
from cantle_lab.papers.coding import Floats, Ints
from cantle_lab.papers.graphs import Graph

DEPTH = 15  # section 5.1: "We use a depth of 15 in our experiments"


def release(degrees: Ints, epsilon: float, maximum: int, rng: np.random.Generator, depth: int = DEPTH) -> Ints:
    """An ascending sequence of as many degrees: half of epsilon cuts 0..maximum into leaves, half counts them.

    All nodes of a leaf get the degree at its lower end (section 5.1). Negative counts become 0, and the others are
    scaled to the number of nodes: "we release a sorted sequence of size n".
    """
    if not epsilon > 0 or not 0 <= degrees.max(initial=0) <= maximum:
        raise ParameterError("epsilon must be positive and no degree above the maximum")
    counts = np.bincount(degrees, minlength=maximum + 1).astype(np.int64)
    edges = partition(counts, epsilon / 2, depth, rng)
    exact, scale = leaf_law(counts, edges, epsilon)
    noisy = np.maximum(0.0, exact + scale * rng.standard_cauchy(len(exact)))
    if not noisy.any():
        noisy += 1.0
    share = noisy * (len(degrees) / noisy.sum())
    return np.repeat(edges[:-1], round_rows(share[None, :], np.array([len(degrees)]))[0])


def partition(counts: Ints, epsilon: float, depth: int, rng: np.random.Generator) -> Ints:
    """The edges of the leaves, from 0 to len(counts), after `depth` levels of the exponential mechanism with eq. (4).

    Each level gets epsilon / depth. The weight exp(epsilon / depth * min(r1, r2) / (2n + 1)) is nearly the same for all
    cuts, because the exponent is at most epsilon / (4 depth).
    """
    below = _below(counts)
    weight = epsilon / depth / (2 * int(below[-1]) + 1)
    edges = np.array([0, len(counts)])
    for _ in range(depth):
        cut = np.setdiff1d(np.arange(len(counts)), edges, assume_unique=True)
        if not len(cut):
            break
        region = np.searchsorted(edges, cut) - 1
        smaller = np.minimum(below[cut] - below[edges[region]], below[edges[region + 1]] - below[cut])
        score = weight * smaller + rng.gumbel(size=len(cut))  # the largest is a draw of the exponential mechanism
        order = np.lexsort((score, region))
        last = np.append(np.diff(region[order]) > 0, True)
        edges = np.sort(np.concatenate([edges, cut[order[last]]]))
    return edges


def leaf_law(counts: Ints, edges: Ints, epsilon: float) -> tuple[Ints, Floats]:
    """The exact count of each leaf, and the scale 6 S / (epsilon / 2) of its Cauchy noise.

    By Nissim, Raskhodnikova and Smith 2007, the scale 6 S / e with an (e / 6)-smooth S is e-private for one count.
    """
    spend = epsilon / 2
    below = _below(counts)
    exact = np.diff(below[np.clip(edges, 0, len(counts))])
    return exact, 6 * smooth_sensitivity(counts, edges, spend / 6) / spend


def smooth_sensitivity(counts: Ints, edges: Ints, beta: float) -> Floats:
    """The smooth sensitivity of each leaf: the maximum over j >= 0 of e^(-beta j) (near + j + 1).

    Here `near` is the number of nodes whose degree is within j + 1 steps of crossing an end of the leaf: "only the
    nodes with degrees at the region boundaries will affect the count" (section 5.1). Removing or adding one node
    changes the degrees of others by one step, and adds or removes its own; j further nodes make it j + 1. The ends of a
    leaf [a, b) are between a - 1 and a, and between b - 1 and b.
    """
    below, nodes = _below(counts), int(counts.sum())
    best, open_leaves, j = np.zeros(len(edges) - 1), np.arange(len(edges) - 1), 0
    while len(open_leaves):
        near = _within(below, edges[open_leaves], edges[open_leaves + 1], j) + j + 1
        best[open_leaves] = np.maximum(best[open_leaves], np.exp(-beta * j) * near)
        j += 1
        if nodes + j + 1 >= 1 / beta:  # from here on the bound falls with j, so a leaf above it has its maximum
            bound = np.exp(-beta * j) * (nodes + j + 1)
            open_leaves = open_leaves[best[open_leaves] < bound]
    return best


def _within(below: Ints, low: Ints, high: Ints, j: int) -> Ints:
    """The number of nodes with degrees in [a-1-j, a+j] or [b-1-j, b+j] for each leaf [a, b), by prefix sums."""

    def at(degree: Ints) -> Ints:
        return below[np.clip(degree, 0, len(below) - 1)]

    around = at(high + j + 1) - at(low - 1 - j)
    between = at(high - 1 - j) - at(low + j + 1)  # nodes near neither end; negative if the two intervals overlap
    return around - np.maximum(between, 0)


def _below(counts: Ints) -> Ints:
    """below[x]: the number of degrees less than x."""
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


# ---------------------------------------------------------------------------------------------- what it loses


def cauchy_loss(place: Floats, scale: Floats, other_place: Floats, other_scale: Floats) -> Floats:
    """The largest |log ratio| of two Cauchy densities, over all outputs.

    The densities are Poisson kernels of the points (place, scale) of the upper half plane, so it is the hyperbolic
    distance of these points. With equal scales this is 2 asinh(shift / (2 scale)).
    """
    apart = (place - other_place) ** 2 + (scale - other_scale) ** 2
    return np.asarray(2 * np.arcsinh(np.sqrt(apart / (scale * other_scale)) / 2))


def leaves_loss(before: Ints, after: Ints, edges: Ints, epsilon: float) -> float:
    """The loss of all leaf counts together, each at its worst output; the paper claims epsilon / 2.

    The counts are independent given the edges of the leaves, so the worst outputs can occur together, and the losses
    add up.
    """
    size = int(max(before.max(initial=0), after.max(initial=0), edges[-1])) + 1
    laws = [leaf_law(np.bincount(d, minlength=size).astype(np.int64), edges, epsilon) for d in (before, after)]
    (one, scale), (two, other) = laws
    return float(cauchy_loss(one.astype(np.float64), scale, two.astype(np.float64), other).sum())


def hub_loss(epsilon: float, neighbours: int, base: int) -> float:
    """The loss if a node is removed whose neighbours have the degrees base + 2, base + 4, ...

    All other neighbours of these neighbours have one edge each. The leaves are the single degrees from base + 1 to
    base + 2 * neighbours.
    """
    joined = base + 2 * np.arange(1, neighbours + 1)
    pendant = np.ones(int((joined - 1).sum()), dtype=np.int64)
    before = np.concatenate([[neighbours], joined, pendant])
    after = np.concatenate([joined - 1, pendant])
    return leaves_loss(before, after, np.arange(base + 1, base + 2 * neighbours + 2), epsilon)


def removal_loss(graph: Graph, node: int, epsilon: float) -> float:
    """The loss if a node of a real graph is removed and every degree is a leaf.

    Depth 15 comes close to that if the maximum degree is known, because eq. (4) cuts nearly at random.
    """
    degrees = graph.degrees
    after = degrees.copy()
    after[graph.neighbours(node)] -= 1
    edges = np.arange(int(degrees.max()) + 2)
    return leaves_loss(degrees, np.delete(after, node), edges, epsilon)


def worst_removal(graph: Graph, epsilon: float, tried: int = 40) -> float:
    """The largest `removal_loss` among the nodes of highest degree."""
    highest = np.argsort(-graph.degrees, kind="stable")[:tried]
    return max(removal_loss(graph, int(node), epsilon) for node in highest)

"""Fitting of a degree sequence to noisy counts of degrees. Post-processing."""

from __future__ import annotations

import numpy as np

from cantle.drawing.counts import Floats
from cantle.trusted.geometry.boxes import Ints

WINDOW = 0.15
"""Degrees within this share of each other are smoothed together: sparse tails say little about a single degree."""


def isotonic(values: Floats, weights: Floats | None = None) -> Floats:
    """The non-decreasing sequence nearest to the values in (weighted) least squares.

    The pool-adjacent-violators algorithm, in rounds that average all falling runs at once, until none is left.

    >>> isotonic(np.array([3.0, 1.0, 2.0, 5.0])).tolist()
    [2.0, 2.0, 2.0, 5.0]
    """
    mean = np.asarray(values, dtype=float)
    weight = np.ones(len(mean)) if weights is None else np.asarray(weights, dtype=float)
    size = np.ones(len(mean), dtype=np.int64)
    while len(mean) > 1 and (falls := mean[1:] < mean[:-1]).any():
        first = np.flatnonzero(np.concatenate([[True], ~falls]))
        total = np.add.reduceat(mean * weight, first)
        weight, size = np.add.reduceat(weight, first), np.add.reduceat(size, first)
        mean = total / weight
    return np.repeat(mean, size)


def smooth(counts: Floats) -> Floats:
    """Spreads each degree's nodes evenly over nearby degrees; the number of nodes and the mean degree do not change."""
    degree = np.arange(len(counts))
    half = np.minimum(np.floor(WINDOW * degree).astype(np.int64), len(counts) - 1 - degree)
    share = counts / (2 * half + 1)
    edge = np.bincount(degree - half, share, len(counts) + 1) - np.bincount(degree + half + 1, share, len(counts) + 1)
    return np.asarray(np.maximum(0.0, np.cumsum(edge)[:-1]))


def sequence(counts: Floats, nodes: int) -> Ints:
    """This many degrees in ascending order, in proportion to the counts: each node gets the middle of its share."""
    below = np.cumsum(np.maximum(counts, 0.0))
    if nodes < 1 or not len(below):
        return np.zeros(max(0, nodes), dtype=np.int64)
    if below[-1] <= 0:
        return np.zeros(nodes, dtype=np.int64)
    place = (np.arange(nodes) + 0.5) * (below[-1] / nodes)
    return np.minimum(np.searchsorted(below, place), len(counts) - 1).astype(np.int64)


def fit_at_most(noisy: Floats, nodes: int) -> Floats:
    """Numbers of nodes of each degree 0 .. theta from noisy numbers of nodes of degree at most 0 .. theta - 1."""
    below = np.append(np.clip(isotonic(noisy), 0.0, nodes), nodes)
    return np.diff(below, prepend=0.0)


def fit_at_least(noisy: Floats, weights: Floats | None = None) -> Floats:
    """Numbers of nodes of each degree 0 .. theta from noisy numbers of nodes of degree at least 1 .. theta; degree 0
    gets no nodes."""
    above = np.maximum(0.0, isotonic(noisy[::-1], None if weights is None else weights[::-1])[::-1])
    return np.concatenate([[0.0], above - np.append(above[1:], 0.0)])


def with_lost_edges(counts: Floats, nodes: int, theta: int, edges: float, *, both_ends: bool) -> Ints:
    """Degrees, ascending, from numbers of nodes of each degree, with the edges restored that projection removed.

    A removed edge had one end at a node of more than theta edges, which keeps theta edges or a few less. Those ends are
    restored as an exponential tail over the largest degrees. The other ends may be anywhere: with `both_ends`, they are
    restored evenly over all nodes, including nodes that lost their only edge. If nodes without edges are not counted,
    most of the other ends belong to such nodes; then all restored ends go to the tail.
    """
    degrees = sequence(counts, nodes)
    lost = edges - float(degrees.sum()) / 2
    if lost <= 0 or not nodes:
        return degrees
    whole, part = divmod(min(lost / nodes, float(theta)) if both_ends else 0.0, 1.0)
    shifted = np.concatenate([np.zeros(int(whole)), counts, [0.0]])
    shifted = shifted * (1 - part) + np.append(0.0, shifted[:-1]) * part
    fitted = sequence(shifted, nodes).astype(float)
    top = np.flatnonzero(fitted >= 0.9 * theta)
    if len(top):
        fitted[top] -= (lost if both_ends else 2 * lost) / len(top) * np.log1p(-(np.arange(len(top)) + 0.5) / len(top))
    return np.minimum(np.sort(np.rint(fitted).astype(np.int64)), nodes - 1)


def fit_edge(ordered: Floats, above: Floats, nodes: int) -> Ints:
    """Degrees, ascending, from the noisy sorted degrees and the noisy numbers of nodes of degree at least 1 .. most.

    Where many nodes share a degree, the numbers of nodes are more precise; in the tail, the sorted degrees are. With
    `rho` nodes per degree, the errors of the two isotonic fits are about rho^(-2/3) and rho^(-1/3) degrees, which are
    equal at one node per degree. Noise may leave nodes at the largest possible degree; they do not count as dense,
    because the dense degrees end at the largest of the sorted degrees.
    """
    counts = fit_at_most(nodes - above, nodes)
    by_counts = sequence(counts, nodes)
    by_order = np.clip(np.rint(isotonic(ordered)), 0, max(0, nodes - 1)).astype(np.int64)
    density = smooth(counts)[: int(by_order.max(initial=0)) + 1]
    dense = np.flatnonzero(density >= 1.0)
    tail = int(dense[-1]) + 1 if len(dense) else 0
    first = int(np.searchsorted(by_counts, tail))
    degrees = np.concatenate([by_counts[:first], np.maximum(by_order[first:], tail)])
    return np.sort(degrees)

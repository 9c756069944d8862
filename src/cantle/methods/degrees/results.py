"""From noisy answers about a graph to what is released: degrees and groups. Post-processing."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cantle.drawing.counts import Floats, dot, variance
from cantle.drawing.records import MOST_DRAWN, Results
from cantle.trusted.core.answers import Noisy
from cantle.trusted.core.arrays import Codes
from cantle.trusted.geometry.boxes import Ints

WINDOWS = (0.0, 0.05, 0.1, 0.15, 0.25)
"""Degrees within such a share of each other may be smoothed together: sparse tails say little about a single degree,
but a graph in which nearly all nodes have the same degree would be blurred. The noisy counts decide (`smoothed`)."""

USUAL = 0.15

EVENLY = 0.2
"""The part of the removed edges whose other ends are spread over all nodes alike; those of the rest are spread in
proportion to degrees. Chosen on 21 graphs, real and made up."""


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


def smooth(counts: Floats, window: float = USUAL) -> Floats:
    """Spreads each degree's nodes evenly over nearby degrees; the number of nodes and the mean degree do not change."""
    degree = np.arange(len(counts))
    half = np.minimum(np.floor(window * degree).astype(np.int64), len(counts) - 1 - degree)
    share = counts / (2 * half + 1)
    edge = np.bincount(degree - half, share, len(counts) + 1) - np.bincount(degree + half + 1, share, len(counts) + 1)
    return np.asarray(np.maximum(0.0, np.cumsum(edge)[:-1]))


def smoothed(counts: Floats, above: Floats, spread: float) -> Floats:
    """The counts smoothed by the window that is expected to be closest to the truth: to the numbers of nodes of degree
    at least 1, 2, …, whose noisy values are `above`, with noise of this variance.

    An estimate without bias of the squared error is, up to a constant, the squared distance from the noisy numbers plus
    twice their variance for each number that is free to follow the noise: one per run of equal numbers, less if windows
    are wider than the runs.
    """
    degree = np.arange(1, len(counts))
    runs = np.flatnonzero(np.append(True, counts[1:-1] > 0)) if len(degree) else degree
    length, first = np.diff(np.append(runs, len(degree))), degree[runs]

    def error(window: float) -> float:
        reach = 2 * np.minimum(np.floor(window * first), len(counts) - 1 - first) + 1
        shown = np.cumsum(smooth(counts, window)[:0:-1])[::-1]
        return float(((shown - above) ** 2).sum() + 2 * spread * np.minimum(1.0, length / reach).sum())

    return smooth(counts, min(reversed(WINDOWS), key=error))


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


def with_lost_edges(counts: Floats, nodes: int, edges: float, evenly: float = EVENLY) -> Ints:
    """Degrees, ascending, from numbers of nodes of each degree, with the edges restored that projection removed.

    A removed edge had one end at a node of more than theta edges, which keeps theta edges or a few less. Those ends are
    restored as an exponential tail over the largest degrees. The other ends were at any node, likelier at one with more
    edges: they are restored in proportion to degrees, but some evenly, because nodes that keep no edge had some too.
    """
    degree, theta = np.arange(len(counts)), len(counts) - 1
    kept = dot(counts, degree)
    lost = edges - kept / 2
    if lost <= 0 or nodes < 1:
        return sequence(counts, nodes)
    longer = degree + lost * (evenly / max(1.0, counts.sum()) + (1 - evenly) * degree / max(1.0, kept))
    low = np.minimum(longer, theta).astype(np.int64)
    part = np.where(low < theta, longer - low, 0.0)
    places, weights = np.append(low, np.minimum(low + 1, theta)), np.append(counts * (1 - part), counts * part)
    spread: Floats = np.bincount(places, weights, theta + 1).astype(float)
    fitted = sequence(spread, nodes).astype(float)
    top = np.flatnonzero(fitted >= 0.9 * theta)
    if len(top):
        missing = max(0.0, 2 * edges - float(fitted.sum()))
        fitted[top] -= missing / len(top) * np.log1p(-(np.arange(len(top)) + 0.5) / len(top))
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


PAID = {
    "kept edges": "kept edges",
    "nodes": "number of nodes",
    "nodes with edges": "nodes with edges",
    "at most": "degrees at most k",
    "at least": "degrees at least k",
    "sorted": "sorted degrees",
}
"""The questions, and the name of each one's charge in the receipt."""


CONFIDENT = 2.2
"""19 of 20 draws of Laplace noise, or of a mean of two such draws, are below this many standard deviations."""


FEW_EDGES = 4
"""Edges that nodes keep while nodes with edges are counted, if nodes are not listed. Few edges mean little noise, and
most nodes keep one: 93 to 96 % in the paper's graphs and four others, 67 % in one with many nodes at few hubs."""

LOST = 0.07
"""Share of nodes that may lose all their edges then: how far, besides noise, the number of nodes may be off."""


def edges_bound(theta: int, most: int) -> int:
    """The bound on degrees below which edges are counted: 1.5 theta, at most `most`. Edges between the two bounds help
    to restore the tail of the degrees. Beyond that, noise grows faster than the tail."""
    return min(3 * theta // 2, most)


class Answers:
    """The noisy answers by question, each with the degree k that its first number is about."""

    def __init__(self, unit: str, nodes: int | None, most: int | None = None) -> None:
        """`most` is the public bound on degrees, if one is declared."""
        self.unit, self.nodes, self.most = unit, nodes, most
        self.theta = 0
        self.path = 0
        self.listed = False
        """Whether nodes without edges may be among the records."""
        self.nodes_wanted = 0
        """The number of nodes by the noisy counts; if it is too large, fewer are drawn."""
        self._held: dict[str, tuple[Noisy, int]] = {}

    def add(self, question: str, noisy: Noisy, first: int) -> None:
        self._held[question] = (noisy, first)

    def has(self, question: str) -> bool:
        return question in self._held

    def values(self, question: str) -> Floats:
        return self._held[question][0].value[0].astype(float)

    def first(self, question: str) -> int:
        return self._held[question][1]

    def variance(self, question: str) -> float:
        noisy = self._held[question][0]
        return float(variance(int(noisy.rate_num[0]) / noisy.rate_den))

    def frame(self, estimates: dict[str, Floats]) -> pl.DataFrame:
        """One row per noisy number: question, k, the number, its rate, and the estimate after fitting."""
        parts = []
        for question, (noisy, first) in self._held.items():
            value = noisy.value[0]
            columns: dict[str, Codes | Floats | NDArray[np.str_]] = {
                "question": np.full(len(value), question),
                "path": np.full(len(value), self.path),
                "k": np.arange(first, first + len(value)),
                "noisy": value,
                "rate_num": np.full(len(value), noisy.rate_num[0]),
                "rate_den": np.full(len(value), noisy.rate_den),
                "estimate": estimates[question],
            }
            parts.append(pl.DataFrame(columns))
        return pl.concat(parts)


def degree_results(answers: Answers, inner: Results | None) -> Results:
    """Everything a release of degrees holds; `inner` is the result of RPS on projected degrees, if that was run."""
    if inner is not None:
        degrees = np.sort(inner.records["degree"].to_numpy())
        summary = inner.summary | {"theta": answers.theta, "nodes_listed": int(answers.listed)}
        if known_nodes(answers) is not None:
            summary["nodes_error"] = nodes_error(answers)
        return Results(pl.DataFrame({"degree": degrees}), inner.groups, inner.frames, summary, inner.structure)
    degrees = _edge_degrees(answers) if answers.unit == "edge" else _node_degrees(answers)
    degrees = np.minimum(degrees, max(0, len(degrees) - 1))  # no node has more neighbours than there are other nodes
    if answers.most is not None:
        degrees = np.minimum(degrees, answers.most)
    summary = {"records": len(degrees), "edges": int(degrees.sum()) // 2, "theta": answers.theta}
    if answers.unit == "node":
        above = len(degrees) - int(np.searchsorted(degrees, answers.theta, side="right"))
        summary |= {"nodes_listed": int(answers.listed), "nodes_error": nodes_error(answers), "guessed": above}
    estimates = _estimates(answers, degrees)
    if answers.nodes_wanted > len(degrees):
        summary["nodes_wanted"] = answers.nodes_wanted
        estimates = {question: value * (answers.nodes_wanted / len(degrees)) for question, value in estimates.items()}
    return Results(pl.DataFrame({"degree": degrees}), answers.frame(estimates), {}, summary)


def _edge_degrees(answers: Answers) -> Ints:
    assert answers.nodes is not None
    return fit_edge(answers.values("sorted"), answers.values("at least"), answers.nodes)


def _node_degrees(answers: Answers) -> Ints:
    """Degrees under node privacy: the number of nodes, smoothed counts of degrees up to the bound, restored edges."""
    question = "at most" if answers.has("at most") else "at least"
    spread = answers.variance(question)
    if question == "at least" and answers.nodes is None:  # nodes without edges are not listed: no node has degree 0
        above, weights = _weighted(answers)
        counts = fit_at_least(above, weights)
        nodes = round(float(counts.sum()))
    else:
        nodes = _nodes(answers) if answers.nodes is None else answers.nodes
        above = nodes - answers.values(question)[:-1] if question == "at most" else answers.values(question)
        counts = fit_at_most(nodes - above, nodes)
    counts = smoothed(counts, above, spread)
    answers.nodes_wanted = nodes
    share = min(1.0, MOST_DRAWN / max(1, nodes))  # noise alone may call for billions of nodes
    edges = float(answers.values("kept edges")[0]) if answers.has("kept edges") else 0.0
    return with_lost_edges(counts * share, round(nodes * share), edges * share)


def known_nodes(answers: Answers) -> int | None:
    """The public number of nodes, or the noisy one; None if it was not measured by itself."""
    if answers.nodes is not None:
        return answers.nodes
    return _nodes(answers) if answers.has("nodes") or answers.has("nodes with edges") else None


def _nodes(answers: Answers) -> int:
    """The number of nodes: the mean of its measurements, weighted by precision."""
    value, weight = _measured_nodes(answers)
    return max(0, round(dot(value, weight) / float(weight.sum())))


def _weighted(answers: Answers) -> tuple[Floats, Floats]:
    """Noisy numbers of nodes of degree at least 1, 2, ... and their weights; the first may be measured twice."""
    above = answers.values("at least")
    weight, (value, precision) = np.ones(len(above)), _measured_nodes(answers)
    above[0], weight[0] = dot(value, precision) / precision.sum(), precision.sum() / precision[0]
    return above, weight


def nodes_error(answers: Answers) -> int:
    """A bound on the error of the number of nodes that holds in about 19 of 20 releases; 0 if the number is public."""
    if answers.nodes is not None:
        return 0
    return math.ceil(CONFIDENT / math.sqrt(float(_measured_nodes(answers)[1].sum())))


def _measured_nodes(answers: Answers) -> tuple[Floats, Floats]:
    """Every noisy number of nodes, and its precision."""
    places = {"at most": -1, "nodes": 0, "at least": 0, "nodes with edges": 0}  # a run asks the first two or the others
    asked = [question for question in places if answers.has(question)]
    value = np.array([answers.values(question)[places[question]] for question in asked])
    spread = np.array([max(answers.variance(question), 1e-300) for question in asked])  # never 0
    if "nodes with edges" in asked:
        spread[asked.index("nodes with edges")] += (LOST * value[asked.index("nodes with edges")]) ** 2
    return value, 1 / spread


def _estimates(answers: Answers, degrees: Ints) -> dict[str, Floats]:
    """The answers that the released degrees give to each question; degrees are cut at the bound as the graph was."""
    shown: dict[str, Floats] = {}
    cut = degrees if answers.unit == "edge" else np.minimum(degrees, answers.theta)
    for question in PAID:
        if not answers.has(question):
            continue
        k = answers.first(question) + np.arange(len(answers.values(question)))
        match question:
            case "kept edges":
                shown[question] = np.array([np.minimum(degrees, answers.first(question)).sum() / 2])
            case "nodes":
                shown[question] = np.array([float(len(degrees))])
            case "at most":
                shown[question] = np.searchsorted(cut, k, side="right").astype(float)
            case "nodes with edges":
                few = np.minimum(degrees, len(k))
                shown[question] = (len(few) - np.searchsorted(few, k, side="left")).astype(float)
            case "at least":
                shown[question] = (len(cut) - np.searchsorted(cut, k, side="left")).astype(float)
            case _:
                shown[question] = cut.astype(float)
    return shown

"""From noisy answers about a graph to what is released: degrees and groups. Post-processing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cantle.drawing.counts import Floats, variance
from cantle.drawing.records import MOST_DRAWN
from cantle.drawing.results import Results
from cantle.drawing.sums import dot
from cantle.methods.degrees.fit import fit_at_least, fit_at_most, fit_edge, sequence, smooth, with_lost_edges
from cantle.trusted.core.answers import Noisy
from cantle.trusted.core.arrays import Codes
from cantle.trusted.geometry.boxes import Ints

if TYPE_CHECKING:
    import polars as pl


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
        import polars as pl

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
    import polars as pl

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
    if answers.has("at most"):
        nodes = _nodes(answers)
        counts = fit_at_most(answers.values("at most")[:-1], nodes)
    elif answers.nodes is not None:
        nodes = answers.nodes
        counts = fit_at_most(nodes - answers.values("at least"), nodes)
    else:  # nodes without edges are not listed: all listed nodes have degree 1 or more
        counts = fit_at_least(*_weighted(answers))
        nodes = round(float(counts.sum()))
    answers.nodes_wanted, drawn = nodes, min(nodes, MOST_DRAWN)  # noise alone may call for billions of nodes
    counts = smooth(counts)
    if answers.has("kept edges"):
        edges, known = float(answers.values("kept edges")[0]), answers.has("at most") or answers.nodes is not None
        return with_lost_edges(counts, drawn, answers.theta, edges * (drawn / max(1, nodes)), both_ends=known)
    return sequence(counts, drawn)


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

"""Release of noisy answers about a graph: its degree sequence and the groups behind it. Post-processing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cantle._arrays import Codes
from cantle.postprocess.counts import Floats, variance
from cantle.postprocess.degree_fit import fit_at_least, fit_at_most, fit_edge, sequence, smooth, with_lost_edges
from cantle.postprocess.records import require_drawable
from cantle.postprocess.results import Results
from cantle.trusted.answers import Noisy
from cantle.trusted.geometry.boxes import Ints

if TYPE_CHECKING:
    import polars as pl


PAID = {
    "kept edges": "kept edges",
    "nodes": "number of nodes",
    "at most": "degrees at most k",
    "at least": "degrees at least k",
    "sorted": "sorted degrees",
}
"""The questions, and the name of each one's charge in the receipt."""


class Answers:
    """The noisy answers by question, each with the k of its first number."""

    def __init__(self, unit: str, nodes: int | None, most: int | None = None) -> None:
        """`most` is the public bound on degrees, if one is declared."""
        self.unit, self.nodes, self.most = unit, nodes, most
        self.theta = 0
        self.path = 0
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
    """The release of a degree sequence; `inner` is the release of RPS on projected degrees, if that was run."""
    import polars as pl

    if inner is not None:
        degrees = np.sort(inner.records["degree"].to_numpy())
        summary = inner.summary | {"theta": answers.theta}
        return Results(pl.DataFrame({"degree": degrees}), inner.groups, inner.frames, summary, inner.structure)
    degrees = _edge_degrees(answers) if answers.unit == "edge" else _node_degrees(answers)
    degrees = np.minimum(degrees, max(0, len(degrees) - 1))  # no node has more neighbours than there are other nodes
    if answers.most is not None:
        degrees = np.minimum(degrees, answers.most)
    summary = {"records": len(degrees), "edges": int(degrees.sum()) // 2, "theta": answers.theta}
    return Results(pl.DataFrame({"degree": degrees}), answers.frame(_estimates(answers, degrees)), {}, summary)


def _edge_degrees(answers: Answers) -> Ints:
    assert answers.nodes is not None
    return fit_edge(answers.values("sorted"), answers.values("at least"), answers.nodes)


def _node_degrees(answers: Answers) -> Ints:
    """Degrees from counts under the bound: number of nodes, smoothed counts per degree, and restored edges."""
    if answers.has("at most"):
        nodes = _nodes(answers)
        counts = fit_at_most(answers.values("at most")[:-1], nodes)
    elif answers.nodes is not None:
        nodes = answers.nodes
        counts = fit_at_most(nodes - answers.values("at least"), nodes)
    else:  # nodes without edges are not listed: all listed nodes have degree 1 or more
        counts = fit_at_least(answers.values("at least"))
        nodes = round(float(counts.sum()))
    require_drawable(nodes, "nodes")
    counts = smooth(counts)
    if answers.has("kept edges"):
        edges, known = float(answers.values("kept edges")[0]), answers.has("at most") or answers.nodes is not None
        return with_lost_edges(counts, nodes, answers.theta, edges, both_ends=known)
    return sequence(counts, nodes)


def _nodes(answers: Answers) -> int:
    """The number of nodes: the mean of its two measurements, weighted by precision."""
    last, spread = float(answers.values("at most")[-1]), answers.variance("at most")
    if answers.has("nodes"):
        other, other_spread = float(answers.values("nodes")[0]), answers.variance("nodes")
        last += (other - last) * spread / max(spread + other_spread, 1e-300)  # no noise at all at a huge epsilon
    return max(0, round(last))


def _estimates(answers: Answers, degrees: Ints) -> dict[str, Floats]:
    """The answers of the released sequence to each question; for projected questions, cut at the bound."""
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
            case "at least":
                shown[question] = (len(cut) - np.searchsorted(cut, k, side="left")).astype(float)
            case _:
                shown[question] = cut.astype(float)
    return shown

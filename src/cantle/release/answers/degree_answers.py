"""The degrees at which a release counted nodes, what they leave open of a question, and the mean of degrees.

A release of a graph counts nodes of degree at least k, for k up to a bound. Degrees above the bound are a guess: of
them only the noisy number of edges is known. So neither can be said how many nodes have a degree above some number
beyond the bound, except that they are among those that reach the bound.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, replace
from functools import cached_property
from math import log2, nan
from typing import Any, NoReturn

import numpy as np
import polars as pl

from cantle.errors import ParameterError, VerifyError
from cantle.release.answers.asking import Asker, check_confidence, no_numbers
from cantle.release.answers.estimates import LIMITS, NOISE_ONLY, Estimate, Noise
from cantle.release.answers.noise import variances
from cantle.release.schemas import schema_as
from cantle.release.storage import as_polars
from cantle.schema.code_sets import AnySet, CodeSet, Key, Question, edges_of, holds
from cantle.schema.graph import GraphSchema
from cantle.schema.question_columns import MOST_COUNTED
from cantle.trusted.core.arrays import Codes, Floats, Ints

DEGREE = "degree"


@dataclass(frozen=True)
class Thresholds:
    """The degrees k, ascending, for which nodes of degree at least k were counted.

    >>> some = Thresholds((1, 2, 8))
    >>> some.whole(CodeSet((2, 9), 100)).edges, some.touched(CodeSet((2, 9), 100)).edges
    ((2, 8), (2, 100))
    """

    at: tuple[int, ...]

    def whole(self, codes: AnySet) -> CodeSet:
        """The degrees of a set whose nodes were counted: it is cut to thresholds."""
        assert isinstance(codes, CodeSet)
        known = (0, *self.at, codes.size)
        spans = (
            CodeSet.span(known[bisect_left(known, first)], known[bisect_right(known, end) - 1], codes.size)
            for first, end in codes.spans()
        )
        return CodeSet(tuple(edge for span in spans for edge in span.edges), codes.size)

    def touched(self, codes: AnySet) -> CodeSet:
        """The degrees between the nearest thresholds around a set."""
        return self.whole(codes.complement()).complement()


class DegreeAsker(Asker):
    """Answers questions about one release of the degrees of a graph."""

    def read(self, key: Key) -> Codes:  # noqa: ARG002
        return as_polars(self._release.records, self._release.manifest)[DEGREE].to_numpy()

    @cached_property
    def counted(self) -> dict[Key, Thresholds]:
        """The thresholds; none if every degree was measured."""
        groups = self._release.groups
        if _has(groups, "sorted"):
            return {}
        if "question" not in groups.columns:  # ranges of degrees; no node exceeds the bound
            ends = {*groups[f"{DEGREE}.lo"].to_list(), *groups[f"{DEGREE}.hi"].to_list()}
            most = self._release.manifest.summary["theta"]
            return {DEGREE: Thresholds(tuple(sorted(k for k in ends if 0 < k <= most)))}
        return {DEGREE: Thresholds(tuple(_counted(groups)[0].tolist()))}

    def workload(self, seed: int) -> NoReturn:  # noqa: ARG002
        raise VerifyError("release.json states an accuracy, which is not measured for graphs")

    def estimate(self, question: Question, drawn: int, confidence: float) -> Estimate:
        """The answer, whose interval also allows for nodes that seem to have fewer edges, because the bound removed
        some: their number is a guess."""
        made = super().estimate(question, drawn, confidence)
        inside, around = self.ends(question)
        fewer = min(0, *(_number(inside, degrees) - self.drawn(inside) for degrees in self._restored))
        more = max(0, *(_number(around, degrees) - self.drawn(around) for degrees in self._restored))
        return replace(
            made, low=max(0.0, made.low + fewer / self.share_drawn), high=made.high + more / self.share_drawn
        )

    @cached_property
    def _restored(self) -> list[Codes]:
        """The degrees if as many more edges had been removed as the counts let expect."""
        groups, degrees = self._release.groups, self.codes(DEGREE)
        if "question" not in groups.columns or _has(groups, "sorted"):
            return [degrees]
        opened: Any = self.opened
        restored: list[Codes] = opened.restored(_lost_edges(groups, degrees, deviations=0.0))
        return restored

    def mean(self, column: str, question: Question, confidence: float) -> Estimate:
        """The mean degree of the released nodes that a question holds for, with an interval for the noise of the
        counts.

        Over these nodes, the sum of (degree - mean) is 0. The noisy counts estimate the same sum, with noise of known
        law. The interval is that of this noise around the mean of the released degrees and the mean by the noisy
        counts. If degrees beyond the bound count, its upper end also allows for the edges that the bound removed.
        """
        check_confidence(confidence)
        if column != DEGREE:
            raise no_numbers(column, [DEGREE])
        groups, degrees = self._release.groups, self.codes(DEGREE)
        if "question" not in groups.columns:
            raise ParameterError(
                "this release counted ranges of degrees, which do not say the mean; publish with preset default, or "
                "ask for counts"
            )
        inside = self.inside(question)
        if not inside.any():
            return Estimate(nan, nan, nan, confidence, NOISE_ONLY)
        mean, nodes = float(degrees[inside].mean()), int(inside.sum())
        of_nodes = schema_as(self._release.manifest, GraphSchema).unit == "node"
        total, noise = _sum_of_distances(groups, degrees, question, mean, of_nodes)
        shifted, margin = mean + total / nodes, noise.margin(confidence) / nodes
        low, high = max(0.0, min(mean, shifted) - margin), max(mean, shifted) + margin
        beyond = not _has(groups, "sorted") and _beyond(question, int(_counted(groups)[0][-1]), False)
        lost = _lost_edges(groups, degrees) if beyond else 0.0
        if not lost:
            return Estimate(mean, low, high, confidence, NOISE_ONLY)
        note = "the upper end allows for edges that the bound on degrees removed"
        return Estimate(mean, low, high + 2 * lost / nodes, confidence, LIMITS, note)


def _number(question: Question, degrees: Codes) -> int:
    """How many of these degrees a question holds for."""
    return int(np.broadcast_to(holds(question, lambda _: degrees), len(degrees)).sum())


FLATTEST, STEEPEST = 1.3, 3.0
"""The powers by which numbers of nodes of high degree are taken to fall at least, and at most."""


def _lost_edges(groups: pl.DataFrame, degrees: Codes, deviations: float = 1.0) -> float:
    """How many edges the bound may have removed that nothing measured.

    If the numbers of nodes of degree at least k go on beyond the bound as a power of k, as they fell before it, then
    the edges found between the bound and the bound for counting edges say how many lie beyond both. Real degrees end
    more steeply, so that this is an upper end. So many deviations are added for the noise.
    """
    k, noisy, spread = _counted(groups)
    bound = int(k[-1])
    half, full = (int((degrees >= at).sum()) for at in (bound / 2, bound))
    power = min(STEEPEST, max(FLATTEST, log2(half / full))) if full else STEEPEST
    edges = groups.filter(groups["question"] == "kept edges")
    above, unsure = noisy.astype(float), spread
    if _has(groups, "at most"):
        number, uncertain = _number_of_nodes(groups)
        above, unsure = number - above, spread + uncertain
    if not len(edges) or edges["k"][0] == bound:
        return float(max(0.0, above[-1] + deviations * unsure[-1] ** 0.5)) * bound / (power - 1)
    between = float(edges["noisy"][0] - above.sum() / 2)
    deviation = (float(variances(edges)[0]) + float(unsure.sum()) / 4) ** 0.5
    return max(0.0, between + deviations * deviation) / ((edges["k"][0] / bound) ** (power - 1) - 1)


def _sum_of_distances(
    groups: pl.DataFrame, degrees: Codes, question: Question, mean: float, of_nodes: bool
) -> tuple[float, Noise]:
    """The sum of (degree - mean) over the nodes in question, by the noisy counts, and its noise.

    It is a weighted sum of the numbers of nodes of degree at least 1, 2, … up to the bound. What lies beyond the bound
    follows from the number of edges, if that was measured, and otherwise from the released degrees.
    """
    k, noisy, spread = _counted(groups)
    bound = int(k[-1])
    beyond = _beyond(question, bound, _has(groups, "sorted"))
    asked = np.broadcast_to(holds(question, lambda _: np.arange(bound + 1)), bound + 1)
    distance = np.where(asked, np.arange(bound + 1) - mean, 0.0)
    weight, total, noise = np.diff(distance), 0.0, Noise()
    edges = groups.filter(groups["question"] == "kept edges")
    if beyond and len(edges):  # each edge adds 2 to the sum of all degrees
        total, noise = 2.0 * edges["noisy"][0], Noise.of(float(variances(edges)[0]), 2.0)
        weight = weight - 1
    elif beyond:
        total = float(np.maximum(degrees - bound, 0).sum())
    if _has(groups, "at most"):  # nodes of degree at least k are all nodes but those below
        each, number, uncertain = float(distance[0] + weight.sum()), *_number_of_nodes(groups)
        total, noise, weight = total + each * number, noise + Noise.of(uncertain, each), -weight
    elif of_nodes:  # all nodes have degree 1 or more
        weight[0] += distance[0]
    else:  # the number of nodes is public
        total += float(distance[0]) * len(degrees)
    own = weight**2 * spread
    return total + float(weight @ noisy), noise + Noise(float(own.sum()), float(3 * (own**2).sum()))


def _beyond(question: Question, bound: int, every_degree: bool) -> bool:
    """Whether a question holds for degrees beyond the bound; refused if it holds for some of them only."""
    above = {edge for edge in edges_of(question, DEGREE) if edge > bound}
    ends = np.array(sorted({bound, MOST_COUNTED - 1} | above))
    holding = np.broadcast_to(holds(question, lambda _: ends), len(ends))
    if not every_degree and holding.any() != holding.all():
        raise ParameterError(
            f"degrees above {bound} are a guess, so that the mean of some of them is unknown; "
            f"ask for degree < {bound}, degree >= {bound}, or all nodes"
        )
    return bool(holding.all())


def _counted(groups: pl.DataFrame) -> tuple[Ints, Ints, Floats]:
    """Degrees k from 1 on, and noisy numbers of nodes of degree at least k (or below k) with their variances."""
    rows = groups.filter(groups["question"] == "at least")
    if len(rows):
        return rows["k"].to_numpy(), rows["noisy"].to_numpy(), variances(rows)
    rows = groups.filter(groups["question"] == "at most")[:-1]  # the last one counts all nodes
    return rows["k"].to_numpy() + 1, rows["noisy"].to_numpy(), variances(rows)


def _number_of_nodes(groups: pl.DataFrame) -> tuple[float, float]:
    """The better one of the noisy numbers of nodes, and its variance."""
    rows = pl.concat(
        [groups.filter(groups["question"] == "nodes"), groups.filter(groups["question"] == "at most")[-1:]]
    )
    best = int(variances(rows).argmin())
    return float(rows["noisy"][best]), float(variances(rows)[best])


def _has(groups: pl.DataFrame, question: str) -> bool:
    return "question" in groups.columns and question in groups["question"]

"""Candidate sets of noisy choices, and the candidate cuts of regions.

A candidate set is public. It gets the exact scores of its members from an engine (`exact_scores`), and turns the chosen
rows into an answer (`answer`). Cuts are the grid points strictly inside each region, never observed values, because the
set must not depend on the data.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np

from cantle.trusted.claims.scores import CUT_QUALITIES, Quality, Score
from cantle.trusted.claims.terms import TermScore
from cantle.trusted.core.keys import Domain, OneWayEach, OneWays
from cantle.trusted.counting.base import TableEngine
from cantle.trusted.geometry.boxes import Cuts, Frontier, Ints, cut_counts
from cantle.trusted.geometry.item_partitions import Partitions
from cantle.trusted.noise import Runs


@dataclass(frozen=True, eq=False)
class Scored:
    """Candidates of the regions nodes[first:last] with exact scores: one selection per segment of `starts`. Private.

    One region may hold several selections (`selections`, numbered from 0; None: one per region). With weights the
    exponential mechanism chooses, otherwise permute-and-flip. `many` is the number of candidates of the same score that
    a row stands for; the curator then draws one of them uniformly.
    """

    first: int
    last: int
    scores: Ints
    starts: Ints
    selections: Ints | None = None
    inverse_weights: Ints | Runs | None = None
    many: Ints | None = None


AnyScored = TypeVar("AnyScored", bound=Scored)
Nodes = TypeVar("Nodes", bound=Frontier | Partitions, contravariant=True)
Judge = TypeVar("Judge", bound=Score, contravariant=True)
Answer = TypeVar("Answer", covariant=True)


@dataclass(frozen=True, eq=False)
class Chosen(Generic[AnyScored]):
    """The chosen candidates: for each selection the row within its segment, and which of the `many` of that row."""

    scored: AnyScored
    row: Ints
    within: Ints

    @property
    def place(self) -> Ints:
        """The rows as positions in the arrays of the scored candidates."""
        return self.scored.starts[:-1] + self.row


class Candidates(Protocol[Nodes, Judge, AnyScored, Answer]):
    """The candidates of a noisy choice among regions of one kind, judged by one kind of score.

    `kind` is the kind of data it is for; domain and engine are those of this kind. `everyone` says that the scores
    depend on all records that the engine holds, so that only the unsplit root may be asked, whose price every record
    pays. `margin` divides the rate at which it chooses: 1 uses all that was paid; 2 is the rate that papers print,
    exp(epsilon q / (2 Delta)).
    """

    kind: ClassVar[str]
    everyone: ClassVar[bool]

    @property
    def margin(self) -> int:
        """1 or more; the choice loses at most this part of its price."""

    def fits(self, nodes: Nodes, domain: Any, quality: Judge) -> bool:
        """Whether these are candidates for these regions of this domain, and the score has a proof for them; decided
        without records."""

    def exact_scores(self, engine: Any, positions: Ints, nodes: Nodes, quality: Judge) -> Iterator[AnyScored]:
        """Exact scores of all candidates, some regions at a time."""

    def answer(self, nodes: Nodes, chosen: Sequence[Chosen[AnyScored]]) -> Answer:
        """The answer for the method: the candidates of the chosen rows."""


def ranges(start: Ints, length: Ints) -> Ints:
    """start, start + 1, ... of each length, one range after the other.

    >>> ranges(np.array([5, 9]), np.array([3, 1])).tolist()
    [5, 6, 7, 9]
    """
    return np.repeat(start - (np.cumsum(length) - length), length) + np.arange(int(length.sum()))


class _CutCandidates(ABC):
    """The base of all candidate sets of cuts, which have one selection per region."""

    kind: ClassVar[str] = "tables"
    everyone: ClassVar[bool] = False
    classes: int
    literal: bool

    @property
    def margin(self) -> int:
        return 2 if self.literal else 1

    def exact_scores(self, engine: TableEngine, positions: Ints, nodes: Frontier, quality: Quality) -> Iterator[Scored]:
        counts = self.counts(nodes)
        for first, last, exact_counts in engine.tally(positions, self.key):
            exact_scores = quality.scores(self.sides(nodes, first, exact_counts))
            starts = np.concatenate([[0], np.cumsum(counts[first:last])])
            some = counts[first:last]
            alike = Runs(np.ones(len(some), dtype=np.int64), some)  # the exponential mechanism as it is printed
            weights_of = alike if self.literal else self.inverse_weights(nodes.take(slice(first, last)))
            yield Scored(first, last, exact_scores, starts, inverse_weights=weights_of)

    def answer(self, nodes: Frontier, chosen: Sequence[Chosen[Scored]]) -> Cuts:
        return self.cuts(nodes, np.concatenate([np.zeros(0, np.int64), *(one.row for one in chosen)]))

    @property
    @abstractmethod
    def key(self) -> OneWays | OneWayEach:
        """The key of the counts that all candidates need."""

    @abstractmethod
    def counts(self, nodes: Frontier) -> Ints:
        """How many candidates each region has."""

    @abstractmethod
    def sides(self, nodes: Frontier, first: int, exact_counts: Ints) -> tuple[Ints, Ints]:
        """Counts (candidates, classes) left and right of every candidate of nodes[first:...], region by region."""

    @abstractmethod
    def inverse_weights(self, nodes: Frontier) -> Runs | None:
        """Public weights 1/w of the candidates of these regions, unless they are literal; None if all are the same."""

    @abstractmethod
    def cuts(self, nodes: Frontier, choice: Ints) -> Cuts:
        """The cut with each region's chosen number."""

    def _all_have_some(self, nodes: Frontier, quality: Quality) -> bool:
        known = type(quality) in (*CUT_QUALITIES, TermScore) and type(self.literal) is bool
        return known and not (self.counts(nodes) < 1).any()


@dataclass(frozen=True)
class AllCuts(_CutCandidates):
    """The cuts of all attributes at once, each attribute with the same total weight (RPS 3.2); if `literal`, each cut
    with the same weight, which is the plain union that the paper describes.

    A region's candidates are ordered by attribute, then by point.
    """

    sizes: tuple[int, ...]
    classes: int
    literal: bool = False

    @property
    def key(self) -> OneWays:
        return OneWays(tuple(range(len(self.sizes))), self.sizes, self.classes)

    def fits(self, nodes: Frontier, domain: Domain, quality: Quality) -> bool:
        known = type(self.sizes) is tuple and self.sizes == domain[0] and self.key.fits(nodes, domain)
        return known and self._all_have_some(nodes, quality)

    def counts(self, nodes: Frontier) -> Ints:
        return cut_counts(nodes).sum(axis=1)

    def sides(self, nodes: Frontier, first: int, exact_counts: Ints) -> tuple[Ints, Ints]:
        here, width = nodes.take(slice(first, first + len(exact_counts))), sum(self.sizes)
        # With classes first, sums over the few classes are sums of long contiguous arrays.
        table = np.ascontiguousarray(exact_counts.reshape(len(exact_counts), width, self.classes).transpose(2, 0, 1))
        total = table[:, :, : self.sizes[0]].sum(axis=2)
        ends = np.cumsum([0, *self.sizes])
        for begin, end in pairwise(ends.tolist()):
            np.cumsum(table[:, :, begin:end], axis=2, out=table[:, :, begin:end])
        each = cut_counts(here)
        start = np.arange(len(here))[:, None] * width + ends[:-1] + here.lo
        candidate = ranges(start.reshape(-1), each.reshape(-1))
        left = np.take(table.reshape(self.classes, -1), candidate, axis=1)
        right = np.repeat(total, each.sum(axis=1), axis=1) - left
        return left.T, right.T

    def inverse_weights(self, nodes: Frontier) -> Runs:
        each = cut_counts(nodes).reshape(-1)
        each = each[each > 0]
        return Runs(each, each)

    def cuts(self, nodes: Frontier, choice: Ints) -> Cuts:
        each = cut_counts(nodes)
        ends = np.cumsum(each, axis=1)
        attribute = (choice[:, None] >= ends).sum(axis=1)
        rows = np.arange(len(nodes))
        within = choice - (ends[rows, attribute] - each[rows, attribute])
        return Cuts(attribute, nodes.lo[rows, attribute] + 1 + within)


@dataclass(frozen=True, eq=False)
class CutsOf(_CutCandidates):
    """The cuts of one attribute in each region, all of the same weight: by permute-and-flip, or if `literal` by the
    exponential mechanism."""

    attribute: Ints
    width: int
    classes: int
    literal: bool = False

    @property
    def key(self) -> OneWayEach:
        return OneWayEach(self.attribute, self.width, self.classes)

    def fits(self, nodes: Frontier, domain: Domain, quality: Quality) -> bool:
        return self.key.fits(nodes, domain) and self._all_have_some(nodes, quality)

    def counts(self, nodes: Frontier) -> Ints:
        return cut_counts(nodes)[np.arange(len(nodes)), self.attribute]

    def sides(self, nodes: Frontier, first: int, exact_counts: Ints) -> tuple[Ints, Ints]:
        last = first + len(exact_counts)
        below = np.cumsum(exact_counts.reshape(len(exact_counts), self.width, self.classes), axis=1)
        rows, code = np.arange(first, last), np.arange(self.width)
        lo, hi = (ends[rows, self.attribute[first:last]][:, None] for ends in (nodes.lo, nodes.hi))
        region, column = np.nonzero((code >= lo) & (code < hi - 1))
        left = below[region, column]
        return left, below[region, -1] - left

    def inverse_weights(self, nodes: Frontier) -> None:  # noqa: ARG002
        return None

    def cuts(self, nodes: Frontier, choice: Ints) -> Cuts:
        return Cuts(self.attribute, nodes.lo[np.arange(len(nodes)), self.attribute] + 1 + choice)


CUT_CANDIDATES = (AllCuts, CutsOf)

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
from cantle.trusted.geometry import value_sets
from cantle.trusted.geometry.boxes import Cuts, Frontier, Ints, cut_counts
from cantle.trusted.geometry.item_partitions import Partitions


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
    inverse_weights: Ints | None = None
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
    """The base of all candidate sets of cuts, which have one selection per region.

    `sets` says for each attribute whether its candidates are all ways to divide a region's codes in two, instead of the
    points between them; it is empty if there is no such attribute.
    """

    kind: ClassVar[str] = "tables"
    everyone: ClassVar[bool] = False
    classes: int
    literal: bool
    sets: tuple[bool, ...]

    @property
    def margin(self) -> int:
        return 2 if self.literal else 1

    def exact_scores(self, engine: TableEngine, positions: Ints, nodes: Frontier, quality: Quality) -> Iterator[Scored]:
        counts = self.counts(nodes)
        for first, last, exact_counts in engine.tally(positions, self.key):
            exact_scores = quality.scores(self.sides(nodes, first, exact_counts))
            starts = np.concatenate([[0], np.cumsum(counts[first:last])])
            alike = np.ones(starts[-1], dtype=np.int64)  # the exponential mechanism as it is printed
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
    def inverse_weights(self, nodes: Frontier) -> Ints | None:
        """Public weights 1/w of the candidates of these regions, unless they are literal; None if all are the same."""

    @abstractmethod
    def cuts(self, nodes: Frontier, choice: Ints) -> Cuts:
        """The cut with each region's chosen number."""

    def _each(self, nodes: Frontier) -> Ints:
        """How many candidates each attribute of each region has: points inside, or 2^(codes - 1) - 1 ways to divide."""
        points = cut_counts(nodes)
        return np.where(self.sets, (1 << np.minimum(points, value_sets.MOST)) - 1, points) if any(self.sets) else points

    def _first(self, nodes: Frontier) -> Ints:
        """The number of the first candidate of each attribute of each region: a code, or a place in HALVES."""
        if not any(self.sets):
            return nodes.lo
        return np.where(self.sets, value_sets.FIRST[value_sets.sets_of(nodes.lo, nodes.hi)], nodes.lo)

    def _places(self, before: Ints, first: Ints, each: Ints, attribute: Ints) -> Ints:
        """Where the counts left of each candidate are: behind so many others, at a code or at the number of a set."""
        many = each.reshape(-1)
        if not any(self.sets):
            return ranges((before + first).reshape(-1), many)
        place, divided = ranges(first.reshape(-1), many), np.broadcast_to(np.array(self.sets)[attribute], each.shape)
        by_set = np.repeat(divided.reshape(-1), many)
        place[by_set] = value_sets.HALVES[place[by_set]]
        return place + np.repeat(before.reshape(-1), many)

    def _cuts(self, nodes: Frontier, attribute: Ints, within: Ints) -> Cuts:
        """The cuts with these numbers among those of an attribute."""
        number = self._first(nodes)[np.arange(len(nodes)), attribute] + within
        if not any(self.sets):
            return Cuts(attribute, number + 1)
        divided = np.array(self.sets)[attribute]
        left = value_sets.HALVES[np.where(divided, number, 0)]
        return Cuts(attribute, np.where(divided, 0, number + 1), np.where(divided, left, 0))

    def _all_have_some(self, nodes: Frontier, domain: Domain, quality: Quality) -> bool:
        known = type(quality) in (*CUT_QUALITIES, TermScore) and type(self.literal) is bool
        return known and self._knows_sets(nodes, domain[0]) and not (self.counts(nodes) < 1).any()

    def _knows_sets(self, nodes: Frontier, sizes: tuple[int, ...]) -> bool:
        """Whether regions are sets of codes where `sets` says so, and elsewhere spans of codes."""
        if type(self.sets) is not tuple or not all(type(one) is bool for one in self.sets):
            return False
        divided, small = np.array(self.sets or [False] * len(sizes)), np.array(sizes) <= value_sets.MOST
        if divided.shape != small.shape or (divided & ~small).any() or (nodes.hi > sizes)[:, ~divided].any():
            return False
        return bool((value_sets.sets_of(nodes.lo, nodes.hi)[:, divided] > 0).all())


def _sums(counts: Ints, axis: int) -> Ints:
    """The sums of the counts of codes over every set of them, by the number of the set."""
    sums = np.zeros_like(counts.take([0], axis))
    for code in range(counts.shape[axis]):
        sums = np.concatenate([sums, sums + counts.take([code], axis)], axis)
    return sums


@dataclass(frozen=True)
class AllCuts(_CutCandidates):
    """The cuts of all attributes at once, each attribute with the same total weight (RPS 3.2); if `literal`, each cut
    with the same weight, which is the plain union that the paper describes.

    A region's candidates are ordered by attribute, then by point.
    """

    sizes: tuple[int, ...]
    classes: int
    literal: bool = False
    sets: tuple[bool, ...] = ()

    @property
    def key(self) -> OneWays:
        return OneWays(tuple(range(len(self.sizes))), self.sizes, self.classes)

    def fits(self, nodes: Frontier, domain: Domain, quality: Quality) -> bool:
        known = type(self.sizes) is tuple and self.sizes == domain[0] and self.key.fits(nodes, domain)
        return known and self._all_have_some(nodes, domain, quality)

    def counts(self, nodes: Frontier) -> Ints:
        return self._each(nodes).sum(axis=1)

    def sides(self, nodes: Frontier, first: int, exact_counts: Ints) -> tuple[Ints, Ints]:
        here, width = nodes.take(slice(first, first + len(exact_counts))), sum(self.sizes)
        # With classes first, sums over the few classes are sums of long contiguous arrays.
        table = np.ascontiguousarray(exact_counts.reshape(len(exact_counts), width, self.classes).transpose(2, 0, 1))
        total = table[:, :, : self.sizes[0]].sum(axis=2)
        ends = np.cumsum([0, *self.sizes])
        columns = [table[:, :, begin:end] for begin, end in pairwise(ends.tolist())]
        if any(self.sets):
            some = zip(self.sets, columns, strict=True)
            columns = [_sums(one, 2) if divided else np.cumsum(one, axis=2) for divided, one in some]
            table, ends = np.concatenate(columns, axis=2), np.cumsum([0, *(one.shape[2] for one in columns)])
        else:
            for one in columns:
                np.cumsum(one, axis=2, out=one)
        each = self._each(here)
        before = np.arange(len(here))[:, None] * table.shape[2] + ends[:-1]
        candidate = self._places(before, self._first(here), each, np.arange(len(self.sizes)))
        left = np.take(table.reshape(self.classes, -1), candidate, axis=1)
        right = np.repeat(total, each.sum(axis=1), axis=1) - left
        return left.T, right.T

    def inverse_weights(self, nodes: Frontier) -> Ints:
        each = self._each(nodes).reshape(-1)
        return np.repeat(each, each)

    def cuts(self, nodes: Frontier, choice: Ints) -> Cuts:
        each = self._each(nodes)
        ends = np.cumsum(each, axis=1)
        attribute = (choice[:, None] >= ends).sum(axis=1)
        rows = np.arange(len(nodes))
        return self._cuts(nodes, attribute, choice - (ends[rows, attribute] - each[rows, attribute]))


@dataclass(frozen=True, eq=False)
class CutsOf(_CutCandidates):
    """The cuts of one attribute in each region, all of the same weight: by permute-and-flip, or if `literal` by the
    exponential mechanism."""

    attribute: Ints
    width: int
    classes: int
    literal: bool = False
    sets: tuple[bool, ...] = ()

    @property
    def key(self) -> OneWayEach:
        return OneWayEach(self.attribute, self.width, self.classes)

    def fits(self, nodes: Frontier, domain: Domain, quality: Quality) -> bool:
        return self.key.fits(nodes, domain) and self._all_have_some(nodes, domain, quality)

    def counts(self, nodes: Frontier) -> Ints:
        return self._each(nodes)[np.arange(len(nodes)), self.attribute]

    def sides(self, nodes: Frontier, first: int, exact_counts: Ints) -> tuple[Ints, Ints]:
        here = nodes.take(slice(first, first + len(exact_counts)))
        table = exact_counts.reshape(len(exact_counts), self.width, self.classes)
        below, rows, attribute = np.cumsum(table, axis=1), np.arange(len(here)), self.attribute[first:][: len(here)]
        each, first_of = (numbers[rows, attribute] for numbers in (self._each(here), self._first(here)))
        before, total = rows * self.width, np.repeat(below[:, -1], each, axis=0)
        if any(self.sets):  # sums over sets come after those over the codes below a point
            below = np.concatenate([below, _sums(table[:, : value_sets.MOST], 1)], axis=1)
            before = rows * below.shape[1] + np.where(np.array(self.sets)[attribute], self.width, 0)
        left = below.reshape(-1, self.classes)[self._places(before, first_of, each, attribute)]
        return left, total - left

    def inverse_weights(self, nodes: Frontier) -> None:  # noqa: ARG002
        return None

    def cuts(self, nodes: Frontier, choice: Ints) -> Cuts:
        return self._cuts(nodes, self.attribute, choice)


CUT_CANDIDATES = (AllCuts, CutsOf)

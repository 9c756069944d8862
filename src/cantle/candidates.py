"""Which cuts compete: public candidate sets, and how their counts are read off a tally.

Candidates are the grid points strictly inside each region, never observed values: the set must not depend on the
data. Trusted, together with quality.py: it hands the scores the counts of both sides.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np

from cantle.regions import Cuts, Frontier, Ints, cut_counts
from cantle.tally import Domain, Key, OneWayEach, OneWays


class Candidates(Protocol):
    """Cuts competing in each region, numbered from 0 within the region."""

    @property
    def key(self) -> Key:
        """The tally that holds the counts of all candidates."""

    def fits(self, nodes: Frontier, domain: Domain) -> bool:
        """Whether these are candidates for these regions of this domain; judged without records."""

    def counts(self, nodes: Frontier) -> Ints:
        """How many candidates each region has."""

    def sides(self, nodes: Frontier, first: int, exact_counts: Ints) -> tuple[Ints, Ints]:
        """Counts (candidates, classes) left and right of every candidate of nodes[first:...], region by region."""

    def inverse_weights(self, nodes: Frontier) -> tuple[Ints, Ints] | None:
        """Public weights 1/w of the candidates of these regions, and how many candidates in a row have each; None: all
        weigh the same."""

    def cuts(self, nodes: Frontier, choice: Ints) -> Cuts:
        """The cut behind each region's chosen number."""


def ranges(start: Ints, length: Ints) -> Ints:
    """start, start + 1, ... of each length, one range after the other.

    >>> ranges(np.array([5, 9]), np.array([3, 1])).tolist()
    [5, 6, 7, 9]
    """
    return np.repeat(start - (np.cumsum(length) - length), length) + np.arange(int(length.sum()))


@dataclass(frozen=True)
class AllCuts:
    """The cuts of all attributes at once, each attribute with the same total weight (RPS 3.2).

    A region's candidates are ordered by attribute, then by point.
    """

    sizes: tuple[int, ...]
    classes: int

    @property
    def key(self) -> OneWays:
        return OneWays(tuple(range(len(self.sizes))), self.sizes, self.classes)

    def fits(self, nodes: Frontier, domain: Domain) -> bool:
        return type(self.sizes) is tuple and self.sizes == domain[0] and self.key.fits(nodes, domain)

    def counts(self, nodes: Frontier) -> Ints:
        return cut_counts(nodes).sum(axis=1)

    def sides(self, nodes: Frontier, first: int, exact_counts: Ints) -> tuple[Ints, Ints]:
        here, width = nodes.take(slice(first, first + len(exact_counts))), sum(self.sizes)
        # Class by class, each in one piece: sums over few classes are then sums of long arrays.
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

    def inverse_weights(self, nodes: Frontier) -> tuple[Ints, Ints]:
        each = cut_counts(nodes).reshape(-1)
        each = each[each > 0]
        return each, each

    def cuts(self, nodes: Frontier, choice: Ints) -> Cuts:
        each = cut_counts(nodes)
        ends = np.cumsum(each, axis=1)
        attribute = (choice[:, None] >= ends).sum(axis=1)
        rows = np.arange(len(nodes))
        within = choice - (ends[rows, attribute] - each[rows, attribute])
        return Cuts(attribute, nodes.lo[rows, attribute] + 1 + within)


@dataclass(frozen=True, eq=False)
class CutsOf:
    """The cuts of one attribute in each region, all of the same weight (permute-and-flip)."""

    attribute: Ints
    width: int
    classes: int

    @property
    def key(self) -> OneWayEach:
        return OneWayEach(self.attribute, self.width, self.classes)

    def fits(self, nodes: Frontier, domain: Domain) -> bool:
        return self.key.fits(nodes, domain)

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


TRUSTED_CANDIDATES = (AllCuts, CutsOf)

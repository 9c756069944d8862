"""Which cuts compete: public candidate sets, and how their counts are read off a tally.

Candidates are the grid points strictly inside each region, never observed values: the set must not depend on the
data. Trusted, together with quality.py: it hands the scores the counts of both sides.
"""

from __future__ import annotations

from dataclasses import dataclass
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

    def inverse_weights(self, nodes: Frontier) -> Ints | None:
        """Public weights 1/w of the candidates of these regions; None: all weigh the same."""

    def cuts(self, nodes: Frontier, choice: Ints) -> Cuts:
        """The cut behind each region's chosen number."""


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

    def _mask(self, nodes: Frontier) -> tuple[Ints, Ints]:
        """Region and tally column of the last code left of every candidate cut."""
        attribute = np.repeat(np.arange(len(self.sizes)), self.sizes)
        code = np.concatenate([np.arange(size) for size in self.sizes])
        inside = (code >= nodes.lo[:, attribute]) & (code < nodes.hi[:, attribute] - 1)
        region, column = np.nonzero(inside)
        return region, column

    def sides(self, nodes: Frontier, first: int, exact_counts: Ints) -> tuple[Ints, Ints]:
        table = exact_counts.reshape(len(exact_counts), sum(self.sizes), self.classes)
        below = np.cumsum(table, axis=1)
        total = table[:, : self.sizes[0]].sum(axis=1)
        region, column = self._mask(nodes.take(slice(first, first + len(exact_counts))))
        # The running sum has passed every record once for each attribute before this one.
        passed = np.repeat(np.arange(len(self.sizes)), self.sizes)[column]
        left = below[region, column] - passed[:, None] * total[region]
        return left, total[region] - left

    def inverse_weights(self, nodes: Frontier) -> Ints:
        each = cut_counts(nodes)
        return np.repeat(each.reshape(-1), each.reshape(-1))

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

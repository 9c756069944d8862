"""Segments: the groups of cells of a query with thresholds, each with its price, its noise and its threshold.

A segment is a region, or one of several parts of the root's cells, as the query says. All of this is public.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from cantle.errors import ParameterError
from cantle.trusted.claims.queries import MOST_SPURIOUS, SparseQuery
from cantle.trusted.claims.sequence_queries import ListedStrings
from cantle.trusted.claims.set_queries import PairSupports, SetApart
from cantle.trusted.core.answers import NoisyCells
from cantle.trusted.core.budget import NANO
from cantle.trusted.geometry.boxes import Frontier, Ints, is_int64_array
from cantle.trusted.geometry.item_partitions import Partitions
from cantle.trusted.noise.base import MOST_VALUE, Rate

Nodes = TypeVar("Nodes", bound=Frontier | Partitions)


@dataclass(frozen=True, eq=False)
class Segments:
    """For each segment: the number of its region, its own number if regions have several, the number of its cells, the
    rate of their noise, and the threshold from which on counts are released. The cells `apart` are always released."""

    ids: Ints
    numbers: Ints | None
    total: Ints
    rate: Rate
    at_least: Ints
    apart: SetApart | None

    @staticmethod
    def of(query: SparseQuery[Nodes], nodes: Nodes, cost: Ints, sensitivity: int, at_least: int | Ints) -> Segments:
        """The segments of a query about these regions, at a price per region."""
        total, owner = query.totals(nodes), query.owners(nodes)
        rate = Rate(cost[owner], sensitivity * NANO)
        least = _thresholds(at_least, total, rate)
        several = len(owner) > len(nodes)  # segments of one region have random numbers of their own
        apart = SetApart(query.always.copy()) if isinstance(query, PairSupports | ListedStrings) else None
        return Segments(nodes.ids[owner], np.arange(len(owner)) if several else None, total, rate, least, apart)

    def answer(self, starts: Ints, cells: Ints, values: Ints) -> NoisyCells:
        """The noisy counts as an answer to the method; segment i has those from starts[i] to starts[i + 1]."""
        rows = np.repeat(np.arange(len(self.ids)), np.diff(starts))
        return NoisyCells(rows, cells, values, np.asarray(self.rate.num), self.rate.den, self.at_least)


def _thresholds(at_least: int | Ints, total: Ints, rate: Rate) -> Ints:
    """One threshold per segment; refuses thresholds that would let too many empty cells pass."""
    least = np.full(len(total), at_least, dtype=np.int64) if type(at_least) is int else at_least
    if not is_int64_array(least, len(total)) or (least < 1).any() or (least > MOST_VALUE).any():
        raise ParameterError("the threshold of counts is a whole number of at least 1, for all regions or for each")
    if float((total * np.exp(-rate.floats() * least)).sum()) > MOST_SPURIOUS:
        raise ParameterError("the thresholds let too many empty cells pass; raise them or ask about fewer cells")
    return least

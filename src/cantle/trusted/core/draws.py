"""Noisy draws: the steps in which exact numbers become noisy answers.

Every draw has the address (number, region, cell), so that neither the order of records nor the size of chunks nor the
engine can change a seeded run. Each question has a number of its own; a question that draws twice has two.

Segments are the groups of cells of a query with thresholds: each is a region, or one of several parts of the root's
cells, as the query says, with its price, its noise and its threshold. All of this is public.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from cantle.errors import ParameterError
from cantle.trusted.claims.cut_candidates import AnyScored, Chosen
from cantle.trusted.claims.queries import MOST_SPURIOUS, SparseQuery
from cantle.trusted.claims.sequence_queries import ListedStrings
from cantle.trusted.claims.set_queries import PairSupports, SetApart
from cantle.trusted.claims.value_trees import MOST_DEPTH, Test
from cantle.trusted.core.answers import NoisyCells
from cantle.trusted.core.budget import NANO
from cantle.trusted.core.stop_test import PrivTree
from cantle.trusted.geometry.boxes import Bools, Frontier, Ints, is_int64_array
from cantle.trusted.geometry.item_partitions import Partitions
from cantle.trusted.noise import Lanes, Noise, Rate
from cantle.trusted.noise.base import MOST_VALUE

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


class Draws:
    """The noise source and the number of the current draw."""

    __slots__ = ("noise", "number")

    def __init__(self, noise: Noise) -> None:
        self.noise, self.number = noise, 0

    def choice(self, exact: AnyScored, nodes: Frontier | Partitions, cost: Ints, rho: int) -> Chosen[AnyScored]:
        """One row per selection, and one of the candidates that the row stands for."""
        here = slice(exact.first, exact.last)
        keys, rate = nodes.ids[here], Rate(cost[here], rho * NANO)
        if exact.selections is not None:  # several selections in one region, each at the region's price
            keys, rate = np.repeat(keys, len(exact.selections)), Rate(int(cost[exact.first]), rho * NANO)
        lanes = Lanes(self.number, keys, exact.selections)
        row = self.noise.select(lanes, exact.scores, exact.starts, rate, exact.inverse_weights, exact.many)
        within = np.zeros_like(row)
        if exact.many is not None:
            self.number += 1  # the candidate inside the row is another draw
            many = exact.many[exact.starts[:-1] + row]
            within = self.noise.coin(Lanes(self.number, keys, exact.selections), many)
        return Chosen(exact, row, within)

    def counts(self, exact_counts: Ints, ids: Ints, cost: Ints, sensitivity: int) -> Ints:
        """Noisy counts (regions, cells), at a price per region."""
        regions, cells = exact_counts.shape
        lanes = Lanes(self.number, np.repeat(ids, cells), np.tile(np.arange(cells), regions))
        rate = Rate(np.repeat(cost, cells), sensitivity * NANO)
        return self.noise.laplace(lanes, exact_counts.reshape(-1), rate).reshape(regions, cells)

    def cells(self, exact_occupied: tuple[Ints, Ints, Ints], segments: Segments) -> NoisyCells:
        """The noisy counts of all cells that reach the threshold of their segment, given the occupied ones."""
        if segments.apart is not None:
            return self._cells_apart(exact_occupied, segments, segments.apart)
        lanes = Lanes(self.number, segments.ids, segments.numbers)
        noisy = self.noise.sparse(lanes, *exact_occupied, segments.total, segments.rate, segments.at_least)
        return segments.answer(*noisy)

    def _cells_apart(self, exact_occupied: tuple[Ints, Ints, Ints], segments: Segments, apart: SetApart) -> NoisyCells:
        """The same for a single segment of which some cells are always given.

        Claim 54. As private as without a list (Claim 25): the list is public, and the public rule withholds small
        values of the other cells only. Listed cells leave the sparse draw, so that each cell is drawn once.
        """
        _, exact_cells, exact_counts = exact_occupied
        other_cells, other_counts, exact_listed = apart.divide(exact_cells, exact_counts)
        starts, total = np.array([0, len(other_cells)]), segments.total - len(apart.always)
        _, cells, values = self.noise.sparse(
            Lanes(self.number, segments.ids), starts, other_cells, other_counts, total, segments.rate, segments.at_least
        )
        self.number += 1  # the listed cells are another draw
        lanes = Lanes(self.number, np.repeat(segments.ids, len(apart.always)), apart.always)
        listed = self.noise.laplace(lanes, exact_listed, Rate(*segments.rate.exact(0)))
        cells, values = apart.join(cells, values, listed)
        return segments.answer(np.array([0, len(cells)]), cells, values)

    def tests(self, ids: Ints, exact_counts: Ints, tests: Ints, stop: PrivTree, records: int) -> Bools:
        """Whether each region passes its stop test; `tests` is the number of tests on its path before this one."""
        return self._above(Lanes(self.number, ids), stop.biased(exact_counts, tests), stop, records)

    def tree_test(self, stop: PrivTree, records: int) -> Test:
        """The stop tests of trees over values; the address of a test is its column, its depth and its cell's first
        code."""

        def goes_on(column: int, depth: int, first_code: Ints, exact_counts: Ints) -> Bools:
            lanes = Lanes(self.number, np.full(len(first_code), column * MOST_DEPTH + depth), first_code)
            return self._above(lanes, stop.biased(exact_counts, np.full(len(exact_counts), depth)), stop, records)

        return goes_on

    def _above(self, lanes: Lanes, exact_biased: Ints, stop: PrivTree, records: int) -> Bools:
        thresholds = np.full(len(exact_biased), stop.theta, dtype=np.int64)
        return self.noise.above(lanes, exact_biased, thresholds, Rate(stop.epsilon_nano, records * NANO))

    def coin(self, ids: Ints, sides: Ints) -> Ints:
        """Public dice, 0 to sides - 1."""
        return self.noise.coin(Lanes(self.number, ids), sides)

"""Noisy draws: the steps in which exact numbers become noisy answers.

Every draw has the address (number, region, cell), so that neither the order of records nor the size of chunks nor the
engine can change a seeded run. Each question has a number of its own; a question that draws twice has two.
"""

from __future__ import annotations

import numpy as np

from cantle.trusted.claims.cut_candidates import AnyScored, Chosen
from cantle.trusted.claims.set_queries import SetApart
from cantle.trusted.core.answers import NoisyCells
from cantle.trusted.core.budget import NANO
from cantle.trusted.core.segments import Segments
from cantle.trusted.core.stop_test import PrivTree
from cantle.trusted.geometry.boxes import Bools, Frontier, Ints
from cantle.trusted.geometry.item_partitions import Partitions
from cantle.trusted.noise import Lanes, Noise, Rate


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
        thresholds = np.full(len(ids), stop.theta, dtype=np.int64)
        rate = Rate(stop.epsilon_nano, records * NANO)
        return self.noise.above(Lanes(self.number, ids), stop.biased(exact_counts, tests), thresholds, rate)

    def coin(self, ids: Ints, sides: Ints) -> Ints:
        """Public dice, 0 to sides - 1."""
        return self.noise.coin(Lanes(self.number, ids), sides)

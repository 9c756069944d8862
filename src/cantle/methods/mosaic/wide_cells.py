"""The cells of wide columns of numbers: which cells are split, and which values become cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np

from cantle.drawing.column_cells import (
    LOW_WIDTHS,
    RICH_VALUES,
    RICH_WIDTHS,
    WIDTHS,
    Column,
    largest_spikes,
    split_edges,
    starting_edges,
    with_null,
    with_single_values,
)
from cantle.methods.mosaic.model.noisy_tables import whole_table
from cantle.methods.mosaic.plan import ONE_SPIKE, SPIKES, SPLIT, Opening
from cantle.methods.mosaic.plan import price as price_of
from cantle.methods.mosaic.questions import Questions, spike_search
from cantle.trusted.geometry.boxes import Ints


@dataclass(frozen=True)
class WideCells:
    """Refines the edges of the `wide` columns among those of all `columns`, as far as the budget allows."""

    questions: Questions
    columns: Sequence[Column]
    wide: Sequence[int]
    edges: list[Ints]
    start: Opening
    epsilon: Fraction
    persons: int

    def refine(self) -> None:
        """Replaces the edges of wide columns."""
        if not self.wide:
            return
        roots = {number: self._starting_edges(self.columns[number]) for number in self.wide}
        roots = self._split(roots) if self.start.gate else roots
        roots = self._with_spikes(roots) if self.start.spikes else self._with_heaviest(roots)
        self._set(roots)

    def _price(self, share: Fraction) -> Fraction:
        return price_of(share, self.epsilon)

    def _set(self, roots: dict[int, Ints]) -> None:
        for number, edges in roots.items():
            self.edges[number] = with_null(self.columns[number], edges)

    def _starting_edges(self, column: Column) -> Ints:
        """The edges of a wide column before it is refined."""
        if self.start.rich and column.values <= RICH_VALUES:
            return np.arange(column.values + 1, dtype=np.int64)
        widths = RICH_WIDTHS if self.start.rich else LOW_WIDTHS if self.start.low else WIDTHS
        return starting_edges(column, widths)

    def _split(self, roots: dict[int, Ints]) -> dict[int, Ints]:
        """The cells, those with many records split into parts of equal width, about as many as noisy counts justify."""
        self._set(roots)
        self.questions.set_cells(self.edges)
        price, why = self._price(SPLIT), f"cells of wide columns{self.questions.of_what}"
        asked = [whole_table(number, len(self.edges[number]) - 1) for number in roots]
        counts = self.questions.cross_tables(asked, price, why)
        rate = float(price) / (len(roots) * self.persons)
        found = zip(roots.items(), counts, strict=True)
        return {number: split_edges(edges, noisy[: len(edges) - 1], rate) for (number, edges), noisy in found}

    def _with_spikes(self, roots: dict[int, Ints]) -> dict[int, Ints]:
        """The cells, where frequent values become cells of their own."""
        price = self._price(SPIKES)
        scale = self.persons * len(self.wide) / float(price)
        searches = [spike_search(self.columns[number], number, roots[number], scale) for number in self.wide]
        found = zip(self.wide, self.questions.spikes(searches, price), strict=True)
        return {number: with_single_values(roots[number], largest_spikes(*answer)) for number, answer in found}

    def _with_heaviest(self, roots: dict[int, Ints]) -> dict[int, Ints]:
        """The cells, where one frequent value of one column becomes a cell of its own, if there is one."""
        searches = [spike_search(self.columns[number], number, roots[number], 1.0) for number in self.wide]
        price = self._price(ONE_SPIKE)
        none = max(0.1 * self.start.n0, 3 * self.persons / float(price))
        heaviest = self.questions.heaviest(searches, ceil(none), price)
        if heaviest is None:
            return roots
        column, code = heaviest
        return {**roots, column: with_single_values(roots[column], np.array([code]))}

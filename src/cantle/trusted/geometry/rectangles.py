"""Rectangles of tables of one or two columns: counting questions about neighbouring groups, with public weights.

A question about one column is a rectangle of a table of that column, whose second side has one group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cantle.trusted.geometry.boxes import Ints, is_int64_array
from cantle.trusted.geometry.cross_tables import CrossTable

WHOLE = 1 << 16
"""The weight 1; weights are whole numbers of 1/WHOLE, from 0 to WHOLE."""

MOST_RECTANGLES = 100_000
"""Most rectangles of a workload."""


@dataclass(frozen=True, eq=False)
class Rectangles:
    """Rectangles starts[t] to starts[t + 1] - 1 are those of table t: rows from `top` to below `bottom`, columns from
    `left` to below `right`. The error of each is multiplied by weight / 2^16."""

    starts: Ints
    top: Ints
    bottom: Ints
    left: Ints
    right: Ints
    weights: Ints

    def __len__(self) -> int:
        return len(self.top)

    def copy(self) -> Rectangles:
        """The same in arrays of their own."""
        return Rectangles(*(part.copy() for part in vars(self).values()))

    def fits(self, tables: Sequence[CrossTable]) -> bool:
        """Whether each of these tables has a rectangle, all of them lie in their tables, and weights are at most 1."""
        number = np.size(self.top)
        parts = (self.top, self.bottom, self.left, self.right, self.weights)
        if number > MOST_RECTANGLES or not all(is_int64_array(part, number) for part in parts):
            return False
        if not is_int64_array(self.starts, len(tables) + 1) or self.starts[0] or self.starts[-1] != number:
            return False
        each = np.diff(self.starts)
        if (each < 1).any() or (self.weights < 0).any() or (self.weights > WHOLE).any():
            return False
        rows, columns = np.repeat(np.array([_sides(table) for table in tables]), each, axis=0).T
        inside = (self.top >= 0) & (self.top < self.bottom) & (self.bottom <= rows)
        return bool((inside & (self.left >= 0) & (self.left < self.right) & (self.right <= columns)).all())

    def of(self, table: int) -> slice:
        """The places of the rectangles of a table."""
        return slice(int(self.starts[table]), int(self.starts[table + 1]))

    def counts(self, tables: Sequence[CrossTable], cells: Ints) -> Ints:
        """The number of records in each rectangle, given the counts of the cells of all tables.

        Claim 55c. A record changes each of these numbers by 0 or 1, however many rectangles there are: it is in one
        cell of each table, and a cell is in a rectangle or not.
        """
        counts, first = np.zeros(len(self), dtype=np.int64), 0
        for number, table in enumerate(tables):
            rows, columns = _sides(table)
            below = np.zeros((rows + 1, columns + 1), dtype=np.int64)
            below[1:, 1:] = cells[first : first + table.cells].reshape(rows, columns).cumsum(axis=0).cumsum(axis=1)
            first += table.cells
            here = self.of(number)
            top, bottom, left, right = self.top[here], self.bottom[here], self.left[here], self.right[here]
            counts[here] = below[bottom, right] - below[top, right] - below[bottom, left] + below[top, left]
        return counts


def _sides(table: CrossTable) -> tuple[int, int]:
    rows, *more = table.shape
    return rows, more[0] if more else 1

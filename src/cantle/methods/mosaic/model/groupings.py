"""Groupings of a column's cells: neighbours are merged to nearly equal noisy mass, and groupings are nested.

Because they are nested, tables over different sets of columns can be compared: their coarse forms have the same groups
and can be averaged.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property

import numpy as np

from cantle.drawing.column_cells import Column
from cantle.drawing.counts import Floats
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.cross_tables import Map

MOST_GROUPS = 16
FINEST = 256
"""Most groups of a column in a table of two columns that is measured finely."""

_QUARTERED = 8
"""How many levels of quarters of a map are boundaries."""

_BOUNDARY = 4.0
"""Factor on the mass of a merge, for each level of a taxonomy that it crosses, and for a merge with the null cell."""


class Groupings:
    """The groupings of one column by number of groups: 1 to 256 groups, and the cells themselves."""

    def __init__(self, masses: Floats, barriers: Floats) -> None:
        """`masses` are those of the cells; `barriers[i]` is the weight of the boundary between cells i and i + 1 (1:
        none)."""
        self.cells = len(masses)
        self._merged = _merge_sequence(np.maximum(masses, 0.0), barriers)
        self._edges: dict[int, Ints] = {}
        self._maps: dict[int, Map] = {}
        self._coarser: dict[tuple[int, int], Ints] = {}

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        few = min(self.cells, FINEST)
        return (*range(1, few + 1), *([self.cells] if self.cells > few else []))

    def at_most(self, groups: int) -> int:
        """The largest available number of groups up to this one."""
        return self.sizes[bisect_right(self.sizes, max(1, groups)) - 1]

    def edges(self, groups: int) -> Ints:
        """The cells at which groups begin, and the number of cells."""
        if groups not in self._edges:
            gone = self._merged[: self.cells - groups]
            self._edges[groups] = np.delete(np.arange(self.cells + 1, dtype=np.int64), gone)
        return self._edges[groups]

    def map(self, groups: int) -> Map:
        """For each cell its group."""
        if groups not in self._maps:
            group_of_cell = np.repeat(np.arange(groups), np.diff(self.edges(groups)))
            self._maps[groups] = group_of_cell.astype(np.uint8 if groups <= 256 else np.uint16)
        return self._maps[groups]

    def starts(self, groups: int) -> Ints:
        """The first cell of each group."""
        return self.edges(groups)[:-1]

    def coarsen(self, fine: int, coarse: int) -> Ints:
        """For each group of the finer grouping its group in the coarser one."""
        if (fine, coarse) not in self._coarser:
            group_of_group = np.searchsorted(self.edges(coarse), self.edges(fine)[:-1], side="right") - 1
            self._coarser[fine, coarse] = group_of_group.astype(np.int64)
        return self._coarser[fine, coarse]

    def coarse_starts(self, fine: int, coarse: int) -> Ints:
        """The first group of the finer grouping in each group of the coarser one."""
        return np.searchsorted(self.edges(fine), self.edges(coarse)[:-1])


def barriers(column: Column, edges: Ints) -> Floats:
    """The weights of the boundaries between neighbouring cells: taxonomy levels, the quarters of a map and their own
    quarters, and the null cell."""
    inner = edges[1:-1]
    weight = np.ones(len(inner))
    bits = column.values.bit_length() - 1 if column.place else 0
    for width in range(bits - 2, max(0, bits - 2 * _QUARTERED), -2):
        weight[inner % (1 << width) == 0] *= _BOUNDARY
    for level in column.levels:
        weight[np.isin(inner, np.array(level, dtype=np.int64))] *= _BOUNDARY
    if column.null and len(inner):
        weight[-1] *= _BOUNDARY**2
    return weight


def _merge_sequence(masses: Floats, barriers: Floats) -> Ints:
    """The boundaries in the order in which they go, each as the cell that began there; each step merges the two
    neighbours of least weighted joint mass."""
    mass, weight, begins = masses + 1e-9, barriers.copy(), np.arange(1, len(masses), dtype=np.int64)
    merged = np.zeros(len(begins), dtype=np.int64)
    for step in range(len(merged)):
        at = int(np.argmin((mass[:-1] + mass[1:]) * weight))
        merged[step] = begins[at]
        mass[at] += mass[at + 1]
        mass, weight, begins = np.delete(mass, at + 1), np.delete(weight, at), np.delete(begins, at)
    return merged

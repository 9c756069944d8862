"""Binary trees over the values of wide columns, grown inside the curator (`Curator.grow`) to place their cells.

Each tree starts from public cells, a stop test decides whether a cell is halved, and only the leaves are returned. This
is PrivTree (stop_test.py) on one column at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cantle.trusted.core.keys import CodeTable, Domain, are_ints, is_whole
from cantle.trusted.counting.base import TableEngine
from cantle.trusted.geometry.boxes import Bools, Frontier, Ints
from cantle.trusted.geometry.grid import are_edges

MOST_DEPTH = 64
"""Most levels of a tree; halving a span of 64-bit numbers ends earlier."""

Test = Callable[[int, int, Ints, Ints], Bools]
"""A function of a column, a depth, the first codes of cells and their exact counts: whether to halve each cell."""


@dataclass(frozen=True, eq=False)
class ValueTrees:
    """Columns, each listed once, and the edges of the cells that their trees start from. If the last code is null, no
    cell holds it."""

    kind: ClassVar[str] = "tables"
    everyone: ClassVar[bool] = True

    columns: tuple[int, ...]
    roots: tuple[Ints, ...]
    sizes: tuple[int, ...]

    def fits(self, nodes: Frontier, domain: Domain) -> bool:
        """Whether these are cells of columns of this domain; decided without records."""
        if not is_whole(nodes, domain) or not are_ints(self.sizes) or self.sizes != domain[0]:
            return False
        if not are_ints(self.columns) or not self.columns or len(set(self.columns)) < len(self.columns):
            return False
        if type(self.roots) is not tuple or len(self.roots) != len(self.columns):
            return False
        if not all(0 <= column < len(self.sizes) for column in self.columns):
            return False
        pairs = zip(self.columns, self.roots, strict=True)
        return all(any(are_edges(root, self.sizes[c] - null) for null in (0, 1)) for c, root in pairs)

    @property
    def parts(self) -> int:
        """By how much one record can change the count of a cell."""
        return 1

    def leaves(self, engine: TableEngine, number: int, goes_on: Test) -> Ints:
        """The edges of the leaves of one tree. Cells of one value are never tested."""
        column, root = self.columns[number], self.roots[number]
        exact_codes, exact_counts = engine.occupied(CodeTable(column, self.sizes[column], 1))
        below = np.concatenate([np.zeros(1, np.int64), np.cumsum(exact_counts)])
        edges, lo, hi, depth = [root], root[:-1], root[1:], 0
        while len(lo):
            wide = hi - lo > 1
            lo, hi = lo[wide], hi[wide]
            ends = np.searchsorted(exact_codes, np.stack([lo, hi]))
            halved = goes_on(column, depth, lo, below[ends[1]] - below[ends[0]])
            lo, hi = lo[halved], hi[halved]
            middle = lo + (hi - lo) // 2
            edges.append(middle)
            lo, hi = np.stack([lo, middle], axis=1).reshape(-1), np.stack([middle, hi], axis=1).reshape(-1)
            depth += 1
        return np.sort(np.concatenate(edges))

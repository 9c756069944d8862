"""A public tree over drafted records, whose leaves separate records by their fitted probability of the target."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np

from cantle.drawing.counts import Floats, each_dot, mix
from cantle.trusted.core.arrays import Bools, Codes
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.cross_tables import LabelTree

Cut = tuple[float, int, Ints, int, Bools]
"""A cut on the heap: minus its gain, the node, its records, the column, and which cells go left."""

FEWEST = 10
"""Fewest drafted records in a leaf."""

POWERS = 20
"""Steps of the power iteration that finds the main direction of several classes."""


def label_tree(
    cells: Sequence[Codes], sizes: Sequence[int], ordered: Sequence[bool], soft: Floats, leaves: int
) -> LabelTree:
    """A best-first Gini tree with soft labels.

    `cells` are those of the drafted records by column. `soft` has a row for each class. Columns that are not `ordered`
    are cut along the main direction of their mean labels.
    """
    grower = _Grower(cells, sizes, ordered, soft)
    return grower.grow(leaves)


class _Grower:
    def __init__(self, cells: Sequence[Codes], sizes: Sequence[int], ordered: Sequence[bool], soft: Floats) -> None:
        self.starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self.owner = np.repeat(np.arange(len(sizes)), sizes)
        self.place = np.concatenate([np.arange(size) for size in sizes]).astype(np.float64)
        self.sorted_by_place = np.repeat(np.array(ordered, dtype=bool), sizes)
        self.units = np.stack([np.asarray(c, dtype=np.int64) + s for c, s in zip(cells, self.starts, strict=False)], 1)
        self.soft, self.sizes = soft, sizes

    def grow(self, leaves: int) -> LabelTree:
        """Splits the node with the largest gain until there are this many leaves, or no cut gains anything."""
        column, goes_left, left, right, leaf = [-1], [np.zeros(0, dtype=bool)], [-1], [-1], [0]
        leaves_so_far = 1
        waiting: list[Cut] = []
        self._offer(waiting, 0, np.arange(self.soft.shape[1]))
        while waiting and leaves_so_far < leaves:
            _, node, rows, at, mask = heapq.heappop(waiting)
            goes = mask[self.units[rows, at] - self.starts[at]]
            column[node], goes_left[node] = at, mask
            left[node], right[node] = len(column), len(column) + 1
            column += [-1, -1]
            goes_left += [np.zeros(0, dtype=bool)] * 2
            left += [-1, -1]
            right += [-1, -1]
            leaf += [leaf[node], leaves_so_far]
            leaves_so_far += 1
            leaf[node] = -1
            self._offer(waiting, left[node], rows[goes])
            self._offer(waiting, right[node], rows[~goes])
        arrays = [np.array(part, dtype=np.int64) for part in (column, left, right, leaf)]
        return LabelTree(arrays[0], tuple(goes_left), arrays[1], arrays[2], arrays[3])

    def _offer(self, waiting: list[Cut], node: int, rows: Ints) -> None:
        """Puts the best cut of a node on the heap, if there is one."""
        if len(rows) < 2 * FEWEST:
            return
        units = self.units[rows].ravel()
        length = int(self.starts[-1])
        count = np.bincount(units, minlength=length).astype(np.float64)
        soft = self.soft[:, rows]
        mass = np.stack([np.bincount(units, np.repeat(one, self.units.shape[1]), minlength=length) for one in soft])
        everyone, total = float(len(rows)), soft.sum(axis=1)
        along = _along(mass / np.maximum(count, 1e-9), count, total / everyone)
        score = np.where(self.sorted_by_place, self.place, along)
        order = np.lexsort((score, self.owner))
        before = np.repeat(np.arange(len(self.sizes)), self.sizes)
        n = np.cumsum(count[order]) - before * everyone
        s = np.cumsum(mass[:, order], axis=1) - before * total[:, None]
        allowed = (n >= FEWEST) & (everyone - n >= FEWEST)
        rest = np.maximum(everyone - n, 1e-9)
        purity = (s**2 / np.maximum(n, 1e-9) + (total[:, None] - s) ** 2 / rest).sum(axis=0)
        gain = np.where(allowed, purity, -1.0)
        at = int(np.argmax(gain))
        value = gain[at] - float((total**2 / everyone).sum())
        if not allowed[at] or value <= 1e-9:
            return
        column = int(self.owner[at])
        mask = np.zeros(self.sizes[column], dtype=bool)
        mask[order[self.starts[column] : at + 1] - self.starts[column]] = True
        heapq.heappush(waiting, (-value, node, rows, column, mask))


def _along(mean: Floats, count: Floats, centre: Floats) -> Floats:
    """The place of each cell along the direction in which the mean labels of cells differ most: the first eigenvector
    of their covariance, by power iteration."""
    off = (mean - centre[:, None]) * np.sqrt(count)
    spread = (off[:, None, :] * off[None, :, :]).sum(axis=2)
    way = spread[np.argmax(np.diag(spread))]
    for _ in range(POWERS):
        way = each_dot(spread, way / max(float(np.abs(way).max()), 1e-30))
    return mix(way, mean)

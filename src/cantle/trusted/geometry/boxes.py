"""Public geometry of tables: a frontier of boxes of codes, and the cuts that split them.

Every attribute is a range of integer codes (cantle.schema.domain), so a region is one half-open span per attribute.
A level of the tree is a `Frontier`: parallel arrays, never one object per region.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeGuard

import numpy as np

from cantle.trusted.core.arrays import Bools as Bools
from cantle.trusted.core.arrays import Codes, Index
from cantle.trusted.core.arrays import Ints as Ints


def is_int64_array(array: object, length: int) -> TypeGuard[Ints]:
    """Whether this is a plain array of that many 64-bit integers; objects of other classes could do anything."""
    return type(array) is np.ndarray and array.dtype == np.int64 and array.shape == (length,)


@dataclass(frozen=True, eq=False)
class Frontier:
    """The regions of one level. Public: no records, no exact counts.

    `ids` number the nodes of the whole tree from 0 (the root), ascending; `lo` and `hi` are (nodes, attributes).
    """

    ids: Ints
    parent: Ints
    depth: int
    lo: Ints
    hi: Ints

    def __post_init__(self) -> None:
        # Code that holds a frontier must not change it for others.
        for array in (self.ids, self.parent, self.lo, self.hi):
            array.setflags(write=False)

    def __len__(self) -> int:
        return len(self.ids)

    def copy(self) -> Frontier:
        """The same regions in arrays of their own."""
        return Frontier(self.ids.copy(), self.parent.copy(), self.depth, self.lo.copy(), self.hi.copy())

    def take(self, which: Index) -> Frontier:
        """The regions picked by a mask, by ascending positions or by a slice."""
        if isinstance(which, slice):
            return Frontier(self.ids[which], self.parent[which], self.depth, self.lo[which], self.hi[which])
        at = np.arange(len(self))[which]  # `take` moves whole rows, an index moves value by value
        ids, parent, lo, hi = (array.take(at, axis=0) for array in (self.ids, self.parent, self.lo, self.hi))
        return Frontier(ids, parent, self.depth, lo, hi)

    @staticmethod
    def root(sizes: tuple[int, ...]) -> Frontier:
        """The whole public domain as one region."""
        hi = np.array([sizes], dtype=np.int64).reshape(1, len(sizes))
        return Frontier(np.zeros(1, np.int64), np.full(1, -1, np.int64), 0, np.zeros_like(hi), hi)


@dataclass(frozen=True, eq=False)
class Cuts:
    """One binary cut per node: records with code < point on `attribute` go to child 0, the others to child 1.

    Law: every record of a region has exactly one child, since `code < point` is true or false.
    """

    attribute: Ints
    point: Ints

    def label(self, codes: Codes, node: Ints) -> Bools:
        """Which child each record falls into; `node` is the position of the record's region."""
        value = codes[np.arange(len(codes)), self.attribute[node]]
        return np.asarray(value >= self.point[node], dtype=np.bool_)

    def children(self, nodes: Frontier, first_id: int) -> Frontier:
        """Both children of every node, in node order, numbered from `first_id`."""
        count, rows = len(nodes), np.arange(len(nodes))
        lo, hi = np.repeat(nodes.lo, 2, axis=0), np.repeat(nodes.hi, 2, axis=0)
        hi[2 * rows, self.attribute] = self.point
        lo[2 * rows + 1, self.attribute] = self.point
        ids = np.arange(first_id, first_id + 2 * count, dtype=np.int64)
        return Frontier(ids, np.repeat(nodes.ids, 2), nodes.depth + 1, lo, hi)

    def times(self, nodes: Frontier) -> Ints:
        """The number of children of each node."""
        return np.full(len(nodes), 2, dtype=np.int64)

    def fits(self, nodes: Frontier) -> bool:
        """Whether there is exactly one cut per region, strictly inside it; end points split nothing."""
        count, attributes = nodes.lo.shape
        if not (is_int64_array(self.attribute, count) and is_int64_array(self.point, count)):
            return False
        if (self.attribute < 0).any() or (self.attribute >= attributes).any():
            return False
        rows = np.arange(count)
        lo, hi = nodes.lo[rows, self.attribute], nodes.hi[rows, self.attribute]
        return bool(((lo < self.point) & (self.point < hi)).all())


def cut_counts(nodes: Frontier) -> Ints:
    """The number of cuts that each attribute of each region still has: the grid points strictly inside it."""
    return np.maximum(nodes.hi - nodes.lo - 1, 0)

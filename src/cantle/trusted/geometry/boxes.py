"""Public geometry of tables: a frontier of boxes of codes, and the rules that split them.

Every attribute is a range of integer codes (cantle.schema.domain), so a region is one half-open span per attribute. A
span beyond the codes of a small attribute stands for a set of them (value_sets.py).
A level of the tree is a `Frontier`: parallel arrays, never one object per region.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeGuard

import numpy as np

from cantle.trusted.core.arrays import Bools as Bools
from cantle.trusted.core.arrays import Codes, Index
from cantle.trusted.core.arrays import Ints as Ints
from cantle.trusted.geometry import value_sets


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
    """One cut per node, at a point or (where `left` is not 0) of a set of codes in two: records with code < point, or
    with a code in the set `left` (value_sets.py), go to child 0, all others to child 1.

    Claim 70. Every record of a region has exactly one child. Its code is in the set `left` or not, or below the point
    or not, and nothing else decides (`child`). A set is cut into `left`, which is a part of the region's set, and the
    rest of it; neither is empty (`fits`). So the two children's sets are disjoint and cover the region's, and the
    record goes to the one that has its code. `left` is public, as points are, so Claims 11 and 12 hold.
    """

    attribute: Ints
    point: Ints
    left: Ints | None = None
    """None if no set is cut."""

    @property
    def number(self) -> int:
        """The number of children of all nodes together."""
        return 2 * len(self.attribute)

    def times(self, nodes: Frontier) -> Ints:
        """The number of children of each node."""
        return np.full(len(nodes), 2, dtype=np.int64)

    def child(self, node: Ints, codes: Codes) -> Ints:
        """The position of each record's child among all children, given the position of its region and its code of the
        cut attribute."""
        right = codes >= self.point[node]
        if self.left is not None:
            left, code = self.left[node], np.minimum(codes, value_sets.MOST).astype(np.int64)  # no set has code MOST
            right = np.where(left > 0, (left >> code) & 1 == 0, right)
        return 2 * node + right

    def children(self, nodes: Frontier, first_id: int) -> Frontier:
        """Both children of every node, in node order, numbered from `first_id`."""
        count, rows = len(nodes), np.arange(len(nodes))
        lo, hi = np.repeat(nodes.lo, 2, axis=0), np.repeat(nodes.hi, 2, axis=0)
        hi[2 * rows, self.attribute] = self.point
        lo[2 * rows + 1, self.attribute] = self.point
        if self.left is not None:
            some = np.flatnonzero(self.left)
            for side, part in enumerate((self.left, self._sets(nodes) & ~self.left)):
                at = 2 * some + side, self.attribute[some]
                lo[at], hi[at] = value_sets.spans_of(part[some])
        ids = np.arange(first_id, first_id + 2 * count, dtype=np.int64)
        return Frontier(ids, np.repeat(nodes.ids, 2), nodes.depth + 1, lo, hi)

    def divides_small(self, domain: object) -> bool:
        """Whether this is the domain of a table, whose attributes of which sets are divided have few enough codes."""
        if self.left is None:
            return True
        divided = self.attribute[self.left > 0]
        return type(domain) is tuple and bool((np.array(domain[0])[divided] <= value_sets.MOST).all())

    def _sets(self, nodes: Frontier) -> Ints:
        rows = np.arange(len(nodes))
        return value_sets.sets_of(nodes.lo[rows, self.attribute], nodes.hi[rows, self.attribute])

    def fits(self, nodes: Frontier) -> bool:
        """Whether there is exactly one cut per region, strictly inside it: each leaves codes to both children."""
        if not (_are_attributes(self.attribute, nodes) and is_int64_array(self.point, len(nodes))):
            return False
        rows = np.arange(len(nodes))
        inside = (nodes.lo[rows, self.attribute] < self.point) & (self.point < nodes.hi[rows, self.attribute])
        if self.left is not None:
            if not is_int64_array(self.left, len(nodes)):
                return False
            whole = self._sets(nodes)
            part = (self.left > 0) & (self.left < whole) & (self.left & ~whole == 0)
            inside = np.where(self.left == 0, inside, part)
        return bool(inside.all())


@dataclass(frozen=True, eq=False)
class Slices:
    """One or more cuts of one attribute per node, at points[starts[i]:starts[i + 1]]; children are the spans between.

    Claim 59. Every record of a region has exactly one child. The points of a region ascend and lie strictly inside it
    (`fits`), so a code has a certain number j of them at or below it, from none to all, and the record goes to child
    number j alone (`child`). That child is the box in which the code lies from point j - 1 on and below point j
    (`children`): the boxes of a region are disjoint, not empty, and cover it. Points are public, as those of `Cuts`, so
    Claims 11 and 12 hold for any number of children.
    """

    attribute: Ints
    starts: Ints
    points: Ints

    def child(self, node: Ints, codes: Codes) -> Ints:
        """The position of each record's child among all children, given the position of its region and its code of the
        cut attribute."""
        # Points of all regions as one ascending list: each region's are in a span of their own.
        top = int(self.points.max(initial=0))
        listed = self._owner * (top + 1) + self.points
        return np.searchsorted(listed, node * (top + 1) + np.minimum(codes, top), side="right") + node

    def children(self, nodes: Frontier, first_id: int) -> Frontier:
        """The children of every node, in node order, from the lowest codes up, numbered from `first_id`."""
        times = self.times(nodes)
        lo, hi = np.repeat(nodes.lo, times, axis=0), np.repeat(nodes.hi, times, axis=0)
        below = np.arange(len(self.points)) + self._owner  # the child below each point; the next one is above it
        attribute = self.attribute[self._owner]
        hi[below, attribute], lo[below + 1, attribute] = self.points, self.points
        ids = np.arange(first_id, first_id + len(lo), dtype=np.int64)
        return Frontier(ids, np.repeat(nodes.ids, times), nodes.depth + 1, lo, hi)

    @property
    def _owner(self) -> Ints:
        """The node of each point."""
        return np.repeat(np.arange(len(self.attribute)), np.diff(self.starts))

    @property
    def number(self) -> int:
        """The number of children of all nodes together."""
        return len(self.points) + len(self.attribute)

    def times(self, nodes: Frontier) -> Ints:  # noqa: ARG002
        """The number of children of each node."""
        return np.diff(self.starts) + 1

    def fits(self, nodes: Frontier) -> bool:
        """Whether each region has at least one point, and its points ascend strictly inside it."""
        total = np.size(self.points)
        if not (_are_attributes(self.attribute, nodes) and is_int64_array(self.points, total)):
            return False
        if not is_int64_array(self.starts, len(nodes) + 1) or self.starts[0] != 0 or self.starts[-1] != total:
            return False
        if (np.diff(self.starts) < 1).any():
            return False
        owner = self._owner
        lo, hi = nodes.lo[owner, self.attribute[owner]], nodes.hi[owner, self.attribute[owner]]
        ascends = (np.diff(self.points) > 0) | (np.diff(owner) > 0)
        return bool(((lo < self.points) & (self.points < hi)).all() and ascends.all())


BoxRule = Cuts | Slices
BOX_RULES = (Cuts, Slices)
"""The rules by which boxes are split."""


def _are_attributes(numbers: Ints, nodes: Frontier) -> bool:
    """Whether there is one number of an attribute per region."""
    known = is_int64_array(numbers, len(nodes))
    return known and not ((numbers < 0) | (numbers >= nodes.lo.shape[1])).any()


def cut_counts(nodes: Frontier) -> Ints:
    """The number of cuts that each attribute of each region still has: the grid points strictly inside it."""
    return np.maximum(nodes.hi - nodes.lo - 1, 0)

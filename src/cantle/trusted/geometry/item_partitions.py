"""Public geometry of set-valued data: the taxonomy of items, and the partitions of one round of DiffPart.

Items are numbered 0, 1, ... in the public order, and nodes of a height by position, so a node's children are a span
of the height below it. A partition is given by its hierarchy cut: every record in it has an item under each node of
the cut and none elsewhere. Nodes of the greatest height are expanded first, from left to right, so a partition is a
height, the nodes touched at that height (of which `taken` are expanded) and the nodes touched below the expanded ones.

**Numbers for subsets.** A subset of up to 62 children is a 64-bit mask. If every subset may occur, mask - 1 is its
number. If the number of items of a record is bounded, only subsets of at most `most` children can occur; they are
numbered by size, and within a size by the combinatorial number system: the subset {p1 < p2 < ...} has number
C(p1, 1) + C(p2, 2) + ...

Claim 26. `rank` is a bijection between the subsets of 1 to `most` of `fan` children and 0 .. number - 1, and `unrank`
is its inverse. Sizes have disjoint ranges of numbers; within size j, C(p1, 1) + ... + C(pj, j) takes each of
0 .. C(fan, j) - 1 once, because the subsets with largest element p take exactly C(p, j) .. C(p + 1, j) - 1.
tests/trusted/geometry/test_subsets.py lists all subsets of small sets.

**Parts of long records.** Every item or pair of a record counts equally, in whole parts of one count. A record that may
count with `most` of its items counts with all of them, each with the part most / size, in units of 1 / PARTS and
rounded down. The L1 bound is that of cutting a record to `most` items, and the expectation that of a random cut, but
nothing is random: no row number and no hash decides which items count, and databases sum the same whole numbers. A
record of t items adds t * floor(PARTS * min(1, most / t)) <= most * PARTS in all; one with c pairs of top items adds
c * floor(PARTS * min(1, most / c)) <= most * PARTS.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from cantle.trusted.core.arrays import Index, Words
from cantle.trusted.core.mixing import scramble
from cantle.trusted.geometry.boxes import Bools, Ints, is_int64_array

MOST_CHILDREN = 62


def _binomials() -> Ints:
    table = np.zeros((MOST_CHILDREN + 1, MOST_CHILDREN + 1), dtype=np.int64)
    table[:, 0] = 1
    for n in range(1, MOST_CHILDREN + 1):
        table[n, 1:] = table[n - 1, 1:] + table[n - 1, :-1]
    return table


BINOMIAL = _binomials()
UP_TO = np.cumsum(BINOMIAL, axis=1) - 1
"""UP_TO[n, j]: how many subsets of n children have 1 to j of them; at most 2^62 - 1."""


def number(fan: Ints, most: Ints) -> Ints:
    """How many subsets there are of each number of children."""
    return np.asarray(UP_TO[fan, np.minimum(most, fan)])


def popcount(mask: Ints | Words) -> Ints:
    """How many bits each number has, for a subset the number of children: bits, pairs, fours and bytes are added up."""
    word = mask.astype(np.uint64)
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return ((word * np.uint64(0x0101010101010101)) >> np.uint64(56)).astype(np.int64)


def rank(mask: Ints, fan: Ints, most: Ints) -> Ints:
    """The number of each subset, given its own fan and bound."""
    numbers = mask - 1
    few = np.flatnonzero(most < fan)
    if len(few):
        left, seen, inside = mask[few], np.zeros(len(few), np.int64), np.zeros(len(few), np.int64)
        for bit in range(int(fan[few].max())):
            here = (left >> bit) & 1
            seen += here
            inside += here * BINOMIAL[bit, np.minimum(seen, MOST_CHILDREN)]
        numbers[few] = inside + UP_TO[fan[few], seen - 1]
    return numbers


def unrank(place: Ints, fan: Ints, most: Ints) -> Ints:
    """The subset of each number."""
    mask = place + 1
    few = np.flatnonzero(most < fan)
    if len(few):
        size = (place[few, None] >= UP_TO[fan[few]][:, 1:]).sum(axis=1) + 1
        left, subset = place[few] - UP_TO[fan[few], size - 1], np.zeros(len(few), np.int64)
        for bit in range(int(fan[few].max()) - 1, -1, -1):
            here = (size > 0) & (bit < fan[few]) & (left >= BINOMIAL[bit, size])
            left -= here * BINOMIAL[bit, size]
            subset |= here.astype(np.int64) << bit
            size = size - here
        mask[few] = subset
    return mask


Kind = TypeVar("Kind", bound=np.integer)

_BLOCK = 1 << 14  # rows put together at once, so that their arrays stay in the cache

PARTS = 5040
"""Units of a whole count; divisible by 1 to 10, so that few parts are rounded."""

MOST_COUNTED = 64
"""Most items or pairs of a record that may count in full."""

LONGEST_PAIRED = 256
"""The pairs of a record with more top items do not count: there would be many, each with a tiny part."""


def item_parts(size: Ints, most: int) -> Ints:
    """The part with which each item of records of these sizes counts.

    >>> item_parts(np.array([1, 4, 5]), 4).tolist()
    [5040, 5040, 4032]
    """
    return np.minimum(PARTS, PARTS * most // np.maximum(size, 1))


def pair_parts(top: Ints, most: int) -> Ints:
    """The part with which each pair of a record with this many top items counts.

    >>> pair_parts(np.array([1, 2, 4, 257]), 3).tolist()
    [5040, 5040, 2520, 0]
    """
    pairs = np.maximum(top * (top - 1) // 2, 1)
    return np.where(top > LONGEST_PAIRED, 0, np.minimum(PARTS, PARTS * most // pairs))


def gather(starts: Ints, values: NDArray[Kind], rows: Ints) -> tuple[Ints, NDArray[Kind]]:
    """The listed rows of a ragged table, in this order; row r has values[starts[r]:starts[r + 1]]."""
    sizes = np.diff(starts)[rows]
    picked_starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    picked = np.empty(picked_starts[-1], values.dtype)
    for first in range(0, len(rows), _BLOCK):
        some = slice(first, first + _BLOCK)
        begin = picked_starts[:-1][some]
        end = int(begin[-1] + sizes[some][-1])
        place = np.repeat(starts[rows[some]] - begin, sizes[some])
        place += np.arange(begin[0], end)
        picked[begin[0] : end] = values[place]
    return picked_starts, picked


def append(starts: Ints, values: Ints, more_starts: Ints, more: Ints) -> tuple[Ints, Ints]:
    """Each row of a ragged table followed by the same row of another."""
    rows = len(starts) - 1
    both_starts, both = np.concatenate([starts, more_starts[1:] + starts[-1]]), np.concatenate([values, more])
    order = np.stack([np.arange(rows), np.arange(rows, 2 * rows)], axis=1).reshape(-1)
    row_starts, joined = gather(both_starts, both, order)
    return row_starts[::2], joined


def bits_of(mask: Ints, first: Ints) -> tuple[Ints, Ints]:
    """The members of each mask, numbered from `first`, as a ragged table."""
    starts, members = [], []
    for bit in range(int(mask.max()).bit_length() if len(mask) else 0):
        rows = np.flatnonzero((mask >> bit) & 1)
        starts.append(rows)
        members.append(first[rows] + bit)
    if not members:
        return np.zeros(len(mask) + 1, np.int64), np.zeros(0, np.int64)
    owner, member = np.concatenate(starts), np.concatenate(members)
    order = np.lexsort((member, owner))
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(owner, minlength=len(mask)))]), member[order]


def find_pairs(part: Ints, mask: Ints, rows: Ints, masks: Ints) -> Ints:
    """The position of each (row, mask) in the sorted list of pairs (part, mask); the list's length if it is not
    there."""
    width = max(int(mask.max(initial=0)), int(masks.max(initial=0))).bit_length()
    if max(int(part.max(initial=0)), int(rows.max(initial=0))).bit_length() + width > 63:
        seen, place = np.unique(np.append(mask, masks), return_inverse=True)  # numbers masks in their order
        mask, masks, width = place[: len(mask)], place[len(mask) :], len(seen).bit_length()
    listed, asked = (part << width) | mask, (rows << width) | masks
    places = np.searchsorted(listed, asked)
    return np.where(np.append(listed, -1)[places] == asked, places, len(listed))


@dataclass(frozen=True, eq=False)
class ItemTree:
    """A context-free taxonomy: the children of node j of height h are the nodes edges[h - 1][j] .. edges[h - 1][j + 1]
    of height h - 1; items have height 0, and the greatest height has one node (Definition 3.1). Nodes of one height are
    expanded from left to right, or with `dice` the next one is drawn by a hash of the cut and this public number."""

    edges: tuple[Ints, ...]
    dice: int | None = None

    def __post_init__(self) -> None:
        for edge in self.edges:
            edge.setflags(write=False)

    @staticmethod
    def of(size: int, fanout: int, *, even: bool, dice: int | None = None) -> ItemTree:
        """Groups of `fanout` nodes, level by level, until one is left; the last group of a level may be smaller, or the
        groups of a level are made as even as possible."""
        edges: list[Ints] = []
        nodes = size
        while nodes > 1 or not edges:
            groups = -(-nodes // fanout)
            ends = (np.arange(groups + 1) * nodes) // groups if even else np.arange(groups + 1) * fanout
            edges.append(np.minimum(ends, nodes).astype(np.int64))
            nodes = groups
        return ItemTree(tuple(edges), dice)

    def copy(self) -> ItemTree:
        """A copy of the tree, so that changing it does not change ours."""
        return ItemTree(tuple(edge.copy() for edge in self.edges), self.dice)

    @property
    def size(self) -> int:
        """Number of items."""
        return int(self.edges[0][-1])

    @property
    def height(self) -> int:
        return len(self.edges)

    def is_sound(self) -> bool:
        """Whether this is such a tree, with at most 62 children per node."""
        below = self.edges[0][-1] if self.edges and np.size(self.edges[0]) else 0
        for edge in self.edges:
            if not is_int64_array(edge, np.size(edge)) or len(edge) < 2 or edge[0] != 0 or edge[-1] != below:
                return False
            fans = np.diff(edge)
            if (fans < 1).any() or (fans > MOST_CHILDREN).any():
                return False
            below = len(edge) - 1
        return bool(self.edges) and below == 1 and (self.dice is None or type(self.dice) is int)


@dataclass(frozen=True, eq=False)
class Partitions:
    """The partitions of one round. Public: no records, no exact counts. `most` is the most items of a record."""

    tree: ItemTree
    most: int
    ids: Ints
    parent: Ints
    depth: int
    height: Ints
    taken: Ints
    level_starts: Ints
    level: Ints
    below_starts: Ints
    below: Ints

    def __post_init__(self) -> None:
        for array in self._arrays():
            array.setflags(write=False)

    def _arrays(self) -> tuple[Ints, ...]:
        lists = (self.level_starts, self.level, self.below_starts, self.below)
        return (self.ids, self.parent, self.height, self.taken, *lists)

    def __len__(self) -> int:
        return len(self.ids)

    @staticmethod
    def root(tree: ItemTree, most: int) -> Partitions:
        """All records under the root of the taxonomy."""
        zero, one = np.zeros(1, np.int64), np.array([0, 1], np.int64)
        level, below = (one, zero.copy()), (np.zeros(2, np.int64), np.zeros(0, np.int64))
        height = np.full(1, tree.height, np.int64)
        return Partitions(tree, most, zero, zero - 1, 0, height, zero.copy(), *level, *below)

    def copy(self) -> Partitions:
        """The same partitions in arrays of their own."""
        return replace(self.take(np.arange(len(self))), tree=self.tree.copy())

    def take(self, which: Index) -> Partitions:
        """The partitions picked by a mask or by ascending positions."""
        rows = np.arange(len(self))[which]
        level, below = gather(self.level_starts, self.level, rows), gather(self.below_starts, self.below, rows)
        own = (self.ids[rows], self.parent[rows], self.depth, self.height[rows], self.taken[rows])
        return Partitions(self.tree, self.most, *own, *level, *below)

    @property
    def node(self) -> Ints:
        """The node each partition expands next."""
        return self.level[self.level_starts[:-1] + self.taken]

    @property
    def place(self) -> Ints:
        """Where that node stands among the nodes touched at its height, from left to right: records hold them so."""
        if self.tree.dice is None:
            return self.taken
        owner = np.repeat(np.arange(len(self)), np.diff(self.level_starts))
        return np.bincount(owner[self.level < self.node[owner]], minlength=len(self)).astype(np.int64)

    @property
    def _spans(self) -> tuple[Ints, Ints]:
        first, last = np.zeros(len(self), np.int64), np.zeros(len(self), np.int64)
        node = self.node
        for height in np.unique(self.height).tolist():
            here, edge = self.height == height, self.tree.edges[height - 1]
            first[here], last[here] = edge[node[here]], edge[node[here] + 1]
        return first, last

    @property
    def fan(self) -> Ints:
        """How many children that node has."""
        first, last = self._spans
        return last - first

    @property
    def size(self) -> Ints:
        """How many nodes the cut has."""
        return np.diff(self.level_starts) - self.taken + np.diff(self.below_starts)

    @property
    def room(self) -> Ints:
        """How many children of the node a record can touch: it has an item under every other node of the cut."""
        return np.asarray(self.most - self.size + 1)

    @property
    def patterns(self) -> Ints:
        """How many non-empty sets of children a record can touch."""
        return number(self.fan, self.room)

    def children(self, rows: Ints, cells: Ints) -> Ints:
        """The sets of children, as masks, behind cells of these partitions (Claim 26)."""
        return unrank(cells, self.fan[rows], self.room[rows])

    @property
    def ends(self) -> Bools:
        """Whether expanding the node makes leaf partitions: only items are left in the cut."""
        return np.asarray((self.height == 1) & (self.taken == np.diff(self.level_starts) - 1))

    def cut_items(self, rows: Ints, mask: Ints) -> tuple[Ints, Ints]:
        """The item sets of leaf partitions, as a ragged table, after the last expansion."""
        more = bits_of(mask, self._spans[0][rows])
        starts, items = append(*gather(self.below_starts, self.below, rows), *more)
        if self.tree.dice is not None:
            items = items[np.lexsort((items, np.repeat(np.arange(len(rows)), np.diff(starts))))]
        return starts, items

    def reshuffled(self, dice: int) -> Partitions:
        """The same with the waiting nodes of each in the order of a hash of its cut and this number."""
        owner = np.repeat(np.arange(len(self)), np.diff(self.level_starts))
        here = np.arange(len(owner)) - self.level_starts[owner]
        words = scramble(self.level)
        waiting = np.concatenate([np.zeros(1, np.uint64), np.cumsum(np.where(here < self.taken[owner], 0, words))])
        lower = np.concatenate([np.zeros(1, np.uint64), np.cumsum(scramble(self.below + (1 << 40)))])
        cut = (
            waiting[self.level_starts[1:]]
            - waiting[self.level_starts[:-1]]
            + self.height.astype(np.uint64)
            + np.uint64(dice % 2**64)
        )
        cut += lower[self.below_starts[1:]] - lower[self.below_starts[:-1]]
        keys = np.where(here < self.taken[owner], here.astype(np.uint64), scramble(words ^ scramble(cut)[owner]))
        order = np.lexsort((keys, here >= self.taken[owner], owner))
        return replace(self, level=self.level[order])


@dataclass(frozen=True, eq=False)
class Kept:
    """The kept sub-partitions: for each, the position of its parent among the nodes, and its set of children.

    Claim 27. Every record of a partition is in exactly one of its sub-partitions, that of the children it touches, or
    its sub-partition is not kept and it is dropped; listed sub-partitions are distinct (`fits`), hence disjoint.
    """

    rows: Ints
    mask: Ints

    def fits(self, nodes: Partitions) -> bool:
        """Whether they are sub-partitions of these, each listed once, in order, and none a leaf."""
        count = np.size(self.rows)
        if not (is_int64_array(self.rows, count) and is_int64_array(self.mask, count)):
            return False
        if not count:
            return True
        if self.rows[0] < 0 or self.rows[-1] >= len(nodes) or (self.mask < 1).any():
            return False
        step = np.diff(self.rows)
        if not ((step > 0) | ((step == 0) & (np.diff(self.mask) > 0))).all():
            return False
        fan, room = nodes.fan[self.rows], nodes.room[self.rows]
        inside = (self.mask >> fan == 0) & (popcount(self.mask) <= room)
        return bool(inside.all() and not nodes.ends[self.rows].any())

    def times(self, nodes: Partitions) -> Ints:
        """How many of them each partition has."""
        return np.bincount(self.rows, minlength=len(nodes))

    def children(self, nodes: Partitions, first_id: int) -> Partitions:
        """The sub-partitions, numbered from `first_id`: new nodes are below, or become the level when it is done."""
        rows = self.rows
        level = gather(nodes.level_starts, nodes.level, rows)
        more = bits_of(self.mask, nodes._spans[0][rows])
        below = append(*gather(nodes.below_starts, nodes.below, rows), *more)
        taken = nodes.taken[rows] + 1
        done = taken == np.diff(level[0])
        keep, drop = np.flatnonzero(~done), np.flatnonzero(done)
        order = np.argsort(np.concatenate([keep, drop]))
        nothing = (np.zeros(len(drop) + 1, np.int64), np.zeros(0, np.int64))
        new_level = gather(*_stack(gather(*level, keep), gather(*below, drop)), order)
        new_below = gather(*_stack(gather(*below, keep), nothing), order)
        ids = np.arange(first_id, first_id + len(rows), dtype=np.int64)
        own = (ids, nodes.ids[rows], nodes.depth + 1, nodes.height[rows] - done, np.where(done, 0, taken))
        made = Partitions(nodes.tree, nodes.most, *own, *new_level, *new_below)
        return made.reshuffled(nodes.tree.dice) if nodes.tree.dice is not None else made


def _stack(first: tuple[Ints, Ints], second: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
    """Two ragged tables, one under the other."""
    return np.concatenate([first[0], second[0][1:] + first[0][-1]]), np.concatenate([first[1], second[1]])

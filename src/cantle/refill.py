"""Records for pruned mass: a partition's records that are in none of its kept sub-partitions. Post-processing.

Publishing only leaves loses whatever was pruned on the way, half of the records of sparse data. Yet the release says
under which nodes those records have items: the cut of the last partition that kept them. Below the cut, a record is
drawn with what the kept leaves show: how many children of a node a record touches, and which ones are popular.
"""

from __future__ import annotations

import numpy as np

from cantle.partitions import ItemTree, Partitions, append, bits_of, find_pairs, gather
from cantle.postprocess import Dice, Floats
from cantle.regions import Ints
from cantle.setcounts import Counted

SMOOTHING = 0.1
"""Popularity every child has at least, as a share of the average of its height."""

ATTEMPTS = 8
"""Draws before a record may repeat a sub-partition that was kept (whose records are counted already)."""

Ragged = tuple[Ints, Ints]


class Shape:
    """What the kept leaves show about each height: how many children a record touches, and their popularity."""

    def __init__(self, tree: ItemTree, item_sets: Ragged, weight: Floats) -> None:
        self.tree = tree
        self.sizes: list[Floats] = []
        self.below: list[Floats] = []
        starts, node = item_sets
        owner = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        for edge in tree.edges:
            mass = np.bincount(node, weight[owner], int(edge[-1]))
            mass += SMOOTHING * mass.mean() + 1e-9
            self.below.append(np.concatenate([np.zeros(1), np.cumsum(mass)]))
            above = np.repeat(np.arange(len(edge) - 1), np.diff(edge))[node]
            pairs, numbers = np.unique(owner * len(edge) + above, return_counts=True)
            owner, node = np.divmod(pairs, len(edge))
            shown = np.bincount(numbers, weight[owner], 2)[1:]
            self.sizes.append(np.cumsum(shown) / max(float(shown.sum()), 1e-300))

    def draw(self, height: int, node: Ints, most: Ints, dice: Dice) -> Ints:
        """A non-empty set of children for each node, as a mask: so many draws by popularity, repeats collapsing."""
        edge, below = self.tree.edges[height - 1], self.below[height - 1]
        first, last = edge[node], edge[node + 1]
        number = np.searchsorted(self.sizes[height - 1], dice.random(len(node)), side="right") + 1
        number = np.minimum(number, np.maximum(1, np.minimum(most, last - first)))
        row = np.repeat(np.arange(len(node)), number)
        lo, hi = below[first], below[last]
        child = np.searchsorted(below, lo[row] + dice.random(len(row)) * (hi - lo)[row], side="right") - 1
        bit = np.int64(1) << (np.clip(child, first[row], last[row] - 1) - first[row])
        return np.bitwise_or.reduceat(bit, np.cumsum(number) - number) if len(row) else np.zeros(0, np.int64)


def refill(shape: Shape, rounds: list[Partitions], kept: Counted, missing: Ints, dice: Dice) -> Ragged:
    """`missing[p]` records for each partition p, as a ragged table of items; `kept`: what was kept of partitions."""
    made = [_of_round(shape, nodes, kept, missing[nodes.ids], dice) for nodes in rounds]
    sizes = np.concatenate([np.diff(starts) for starts, _ in made])
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)]), np.concatenate([items for _, items in made])


def _of_round(shape: Shape, nodes: Partitions, kept: Counted, missing: Ints, dice: Dice) -> Ragged:
    """The records of the partitions of one round, height by height; all partitions of a height together."""
    rows = np.flatnonzero((missing > 0) & (nodes.height > 0))
    parts = []
    for height in np.unique(nodes.height[rows]).tolist():
        here = rows[nodes.height[rows] == height]
        parts.append(_of_height(shape, nodes.take(here), kept, missing[here], dice))
    sizes = np.concatenate([np.zeros(0, np.int64), *(np.diff(starts) for starts, _ in parts)])
    items = np.concatenate([np.zeros(0, np.int64), *(items for _, items in parts)])
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)]), items


def _of_height(shape: Shape, nodes: Partitions, kept: Counted, missing: Ints, dice: Dice) -> Ragged:
    """Records of partitions of one height: their next node first, then the others of the height, then down."""
    rows = np.repeat(np.arange(len(nodes)), missing)
    height = int(nodes.height[0])
    mask = _first(shape, height, nodes, kept, rows, dice)
    first = shape.tree.edges[height - 1][nodes.node[rows]]
    below = append(*gather(nodes.below_starts, nodes.below, rows), *bits_of(mask, first))
    waiting = _after(nodes, rows)
    below = append(*below, *_expand(shape, height, waiting, nodes.most, dice))
    for lower in range(height - 1, 0, -1):
        below = _expand(shape, lower, below, nodes.most, dice)
    return below


def _first(shape: Shape, height: int, nodes: Partitions, kept: Counted, rows: Ints, dice: Dice) -> Ints:
    """Sets of children of the next node, avoiding those that were kept and are counted already."""
    node, room, ids = nodes.node[rows], nodes.room[rows], nodes.ids[rows]
    order = np.lexsort((kept.mask, kept.parent))
    parents, masks = kept.parent[order], kept.mask[order]
    mask = shape.draw(height, node, room, dice)
    for _ in range(ATTEMPTS):
        again = np.flatnonzero(find_pairs(parents, masks, ids, mask) < len(order))
        if not len(again):
            break
        mask[again] = shape.draw(height, node[again], room[again], dice)
    return mask


def _after(nodes: Partitions, rows: Ints) -> Ragged:
    """The nodes of each row's height that wait behind the next one."""
    starts, level = gather(nodes.level_starts, nodes.level, rows)
    sizes = np.diff(starts)
    inside = np.arange(len(level)) - np.repeat(starts[:-1], sizes)
    wait = inside > np.repeat(nodes.taken[rows], sizes)
    owner = np.repeat(np.arange(len(rows)), sizes)[wait]
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(owner, minlength=len(rows)))]), level[wait]


def _expand(shape: Shape, height: int, cut: Ragged, most: int, dice: Dice) -> Ragged:
    """Every node of each row replaced by a set of its children; a row has room for `most` nodes in all."""
    starts, node = cut
    sizes = np.diff(starts)
    room = most - np.repeat(sizes, sizes) + 1
    member_starts, members = bits_of(shape.draw(height, node, room, dice), shape.tree.edges[height - 1][node])
    return member_starts[starts], members

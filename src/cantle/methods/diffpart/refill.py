"""Filled-in records for pruned mass: the records of a partition that are in none of its kept sub-partitions.

A release of the leaves alone would lose whatever was pruned, which is half of the records of sparse data. But the noisy
counts show under which nodes those records have items: the cut of the last partition that kept them. Below that cut,
records are drawn like those in the kept leaves: with as many children per node, and with children as frequent as there.

diffpart also counts records that were cut to a few items. Without correction, long records would stay short and their
items too rare. A noisy histogram of sizes shows how many items are missing. So every synthetic record that has as many
items as a cut record gets a size from the histogram, and more items, drawn by their frequency among such records.
Post-processing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from cantle.drawing.counts import Dice, Floats, dot
from cantle.methods.baskets.model.sizes import SizeModel
from cantle.methods.diffpart.tree import CountedParts
from cantle.schema.items import Codes
from cantle.trusted.core.answers import Noisy
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.item_partitions import ItemTree, Partitions, append, bits_of, find_pairs, gather

ATTEMPTS = 8
"""Draws per missing item, after which a record may stay shorter than its size; and draws after which a record may fall
into a kept sub-partition, whose records are counted already."""


FEWEST_KEPT, MOST_KEPT = 2, 4


@dataclass(frozen=True, eq=False)
class Cut:
    """The number of items that records were cut to (`most`), and the sizes estimated from the noisy histogram."""

    most: int
    sizes: SizeModel


def items_kept(sizes: SizeModel) -> int:
    """How many items records are cut to: the median size, but at least 2, so that pairs can be seen, and at most 4,
    because each further item divides the budget. Chosen on retail, webview-2, tags, kosarak and email-eu."""
    below = np.cumsum(sizes.count)
    median = int(sizes.size[np.searchsorted(below, below[-1] / 2)])
    return min(max(median, FEWEST_KEPT), MOST_KEPT)


def longer_size(cut: Cut) -> float:
    """The mean size of records of at least `most` items."""
    able = cut.sizes.size >= cut.most
    records = float(cut.sizes.count[able].sum())
    return dot(cut.sizes.count[able], cut.sizes.size[able]) / records if records > 0 else float(cut.most)


def lengthen(starts: Ints, items: Codes, universe: int, cut: Cut, dice: Dice) -> tuple[Ints, Codes]:
    """Lengthens the records of `most` items: their sizes are drawn from the sizes of at least `most`."""
    lengths = np.diff(starts)
    rows = np.flatnonzero(lengths == cut.most)
    wanted = _sizes(len(rows), cut, dice)
    rows, wanted = rows[wanted > cut.most], wanted[wanted > cut.most]
    if not len(rows):
        return starts, items
    codes = items.astype(np.int64)
    _, held = gather(starts, codes, rows)
    popular = np.cumsum(np.bincount(held, minlength=universe))
    keys = np.repeat(np.arange(len(rows)), cut.most) * universe + held
    missing = wanted - cut.most
    for _ in range(ATTEMPTS):
        again = np.repeat(np.arange(len(rows)), missing)
        drawn = np.searchsorted(popular, dice.random(len(again)) * popular[-1], side="right")
        keys = np.sort(np.concatenate([keys, again * universe + drawn]))
        keys = keys[np.diff(keys, prepend=-1) != 0]
        missing = wanted - np.bincount(keys // universe)
        if not missing.any():
            break
    owner, longer = np.divmod(keys, universe)
    kept = np.ones(len(lengths), np.bool_)
    kept[rows] = False
    others = np.flatnonzero(kept)
    short_starts, short = gather(starts, codes, others)
    ends = np.append(short_starts, short_starts[-1] + np.searchsorted(owner, np.arange(1, len(rows) + 1)))
    order = np.argsort(np.concatenate([others, rows]))
    longer_starts, lengthened = gather(ends, np.concatenate([short, longer]), order)
    return longer_starts, lengthened.astype(np.int32)


def _sizes(number: int, cut: Cut, dice: Dice) -> Ints:
    """Sizes of at least `most`, in proportion to their estimated numbers of records."""
    able = cut.sizes.size >= cut.most
    below = np.cumsum(cut.sizes.count[able])
    if not len(below) or below[-1] <= 0:
        return np.full(number, cut.most)
    return cut.sizes.size[able][np.searchsorted(below, dice.random(number) * below[-1], side="right")]


def sizes_frame(edges: Ints, noisy: Noisy, sizes: SizeModel) -> pl.DataFrame:
    """One row per bin of the histogram: its smallest size, the noisy number of records, its rate, and an estimate."""
    estimate = np.bincount(np.searchsorted(edges, sizes.size, side="right") - 1, sizes.count, len(edges))
    numbers = {"rate_num": int(noisy.rate_num[0]), "rate_den": noisy.rate_den}
    return pl.DataFrame(
        {
            "size": edges,
            "noisy": noisy.value[0],
            **{name: np.full(len(edges), value, dtype=np.int64) for name, value in numbers.items()},
            "estimate": np.round(estimate.astype(float), 3) + 0.0,  # further digits may vary with the machine
        }
    )


SMOOTHING = 0.1
"""Mass that is added to each child, as a share of the average mass at its height."""

Ragged = tuple[Ints, Ints]
Pairs = tuple[Ints, Ints]
"""Partitions and their kept sets of children, sorted."""


class _Level:
    """The nodes of one height: the mass below each child, and the shares of records that touch 1, 2, ... children."""

    def __init__(self, edge: Ints, mass: Floats, shown: Floats) -> None:
        self.first, self._last, self.fan = edge[:-1], edge[1:], np.diff(edge)
        self._below = np.concatenate([np.zeros(1), np.cumsum(mass)])
        self._base = self._below[self.first]
        self._mass = self._below[self._last] - self._base
        self._shares = np.cumsum(shown) / max(float(shown.sum()), 1e-300)
        self._bit = np.int64(1) << (np.arange(len(mass)) - np.repeat(self.first, self.fan))

    def draw(self, node: Ints, most: Ints, dice: Dice) -> Ints:
        """A non-empty set of children for each node, as a mask: several draws by mass, repeats merged."""
        if not len(node):
            return np.zeros(0, np.int64)
        number = self._numbers(node, most, dice.random(len(node)))
        owner = np.repeat(node, number)
        return np.bitwise_or.reduceat(self._bit[self._children(owner, dice)], np.cumsum(number) - number)

    def _numbers(self, node: Ints, most: Ints, random: Floats) -> Ints:
        """How many children to draw for each node."""
        limit = np.maximum(1, np.minimum(most, self.fan[node]))
        return np.minimum(np.searchsorted(self._shares, random, side="right") + 1, limit)

    def _children(self, node: Ints, dice: Dice) -> Ints:
        """A random child of each node, drawn by mass."""
        at = dice.random(len(node)) * self._mass[node]
        at += self._base[node]
        return np.clip(np.searchsorted(self._below, at, side="right") - 1, self.first[node], self._last[node] - 1)


class ItemFrequencies:
    """Statistics of the records in the kept leaves, by height: how many children they touch, and which."""

    def __init__(self, tree: ItemTree, item_sets: Ragged, weight: Floats) -> None:
        self.levels: list[_Level] = []
        starts, node = item_sets
        owner = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        for edge in tree.edges:
            mass = np.bincount(node, weight[owner], int(edge[-1])).astype(float)
            mass += SMOOTHING * mass.mean() + 1e-9
            above = np.repeat(np.arange(len(edge) - 1), np.diff(edge))[node]
            pairs, numbers = np.unique(owner * len(edge) + above, return_counts=True)
            owner, node = np.divmod(pairs, len(edge))
            self.levels.append(_Level(edge, mass, np.bincount(numbers, weight[owner], 2)[1:].astype(float)))


def refill(
    frequencies: ItemFrequencies, rounds: list[Partitions], kept: CountedParts, missing: Ints, dice: Dice
) -> list[Ragged]:
    """Draws `missing[p]` records for each partition p, as ragged tables of ascending items.

    `kept` lists the kept sets of children of all partitions.
    """
    order = np.lexsort((kept.mask, kept.parent))
    sorted_kept = kept.parent[order], kept.mask[order]
    tables = []
    for nodes in rounds:
        number = missing[nodes.ids]
        rows = np.flatnonzero((number > 0) & (nodes.height > 0))
        for height in np.unique(nodes.height[rows]).tolist():
            here = rows[nodes.height[rows] == height]
            tables.append(_of_height(frequencies, nodes.take(here), sorted_kept, number[here], dice))
    return tables


def _of_height(frequencies: ItemFrequencies, nodes: Partitions, kept: Pairs, missing: Ints, dice: Dice) -> Ragged:
    """Records of the partitions of one height: first their next node is expanded, then the other nodes of this height,
    then the heights below.

    Cuts are ascending, and children are in the order of their nodes, so each record's items are ascending too.
    """
    rows = np.repeat(np.arange(len(nodes)), missing)
    height = int(nodes.height[0])
    level = frequencies.levels[height - 1]
    cut = _Cut(nodes, level)
    starts, place = gather(cut.starts, np.arange(cut.starts[-1]), rows)
    mask = np.ones(len(place), np.int64)
    mask[starts[:-1] + cut.next[rows]] = _first(level, nodes, kept, rows, dice)
    wait = np.flatnonzero(cut.waits[place])
    mask[wait] = level.draw(cut.node[place[wait]], cut.room[place[wait]], dice)
    member_starts, members = bits_of(mask, cut.first[place])
    below = member_starts[starts], members
    for lower in range(height - 1, 0, -1):
        below = _expand(frequencies, lower, below, nodes.most, dice)
    return below


class _Cut:
    """The cuts of the partitions of one height, as ragged tables: lower nodes, the next node, and nodes that wait.

    `first` is the first child of each node (a lower node counts as its own only child), `next` the position of the next
    node in its row. For nodes of this height there are `node`, whether it `waits`, and the `room` of one that waits.
    """

    def __init__(self, nodes: Partitions, level: _Level) -> None:
        sizes = np.diff(nodes.level_starts) - nodes.taken
        left = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        inside = np.arange(left[-1]) - np.repeat(left[:-1], sizes)
        node = nodes.level[np.repeat(nodes.level_starts[:-1] + nodes.taken, sizes) + inside]
        lower = (nodes.below_starts, nodes.below)
        nothing = (nodes.below_starts, np.zeros_like(nodes.below))
        self.starts, self.first = append(*lower, left, level.first[node])
        self.node = append(*nothing, left, node)[1]
        self.waits = append(*nothing, left, inside)[1] > 0
        waiting = sizes - 1
        self.room = append(*nothing, left, np.repeat(nodes.most - waiting + 1, sizes))[1]
        self.next = np.diff(nodes.below_starts)


def _first(level: _Level, nodes: Partitions, kept: Pairs, rows: Ints, dice: Dice) -> Ints:
    """Sets of children of the next node, avoiding the kept ones, whose records are counted already."""
    ids, node, room = nodes.ids[rows], nodes.node[rows], nodes.room[rows]
    mask = level.draw(node, room, dice)
    again = _known(kept, ids, mask)
    for _ in range(ATTEMPTS):
        if not len(again):
            break
        drawn = level.draw(node[again], room[again], dice)
        mask[again] = drawn
        again = again[_known(kept, ids[again], drawn)]
    return mask


def _known(kept: Pairs, ids: Ints, mask: Ints) -> Ints:
    """The positions of those sets of children of these partitions that were kept."""
    return np.flatnonzero(find_pairs(*kept, ids, mask) < len(kept[0]))


def _expand(frequencies: ItemFrequencies, height: int, cut: Ragged, most: int, dice: Dice) -> Ragged:
    """Replaces every node of each row by a set of its children; a row has room for `most` nodes in all."""
    starts, node = cut
    sizes = np.diff(starts)
    room = most - np.repeat(sizes, sizes) + 1
    level = frequencies.levels[height - 1]
    member_starts, members = bits_of(level.draw(node, room, dice), level.first[node])
    return member_starts[starts], members

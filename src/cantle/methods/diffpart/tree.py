"""The tree of noisy counts of sets: kept partitions, and counts made consistent. Post-processing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cantle.drawing.counts import Floats, variance
from cantle.trusted.core.answers import NoisyCells
from cantle.trusted.core.budget import NANO
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.item_partitions import Partitions


@dataclass(frozen=True, eq=False)
class CountedParts:
    """Released sub-partitions or leaves: for each its partition, its set of children, the noisy count and the rate;
    rate_num is 0 if it was not counted."""

    parent: Ints
    mask: Ints
    noisy: Ints
    rate_num: Ints
    rate_den: int

    @staticmethod
    def join(parts: list[CountedParts]) -> CountedParts:
        """All of them, one after the other."""
        names = ("parent", "mask", "noisy", "rate_num")
        parent, mask, noisy, rate_num = (np.concatenate([getattr(part, name) for part in parts]) for name in names)
        return CountedParts(parent, mask, noisy, rate_num, parts[0].rate_den)

    def __len__(self) -> int:
        return len(self.parent)


class KeptPartitions:
    """The answers of a run of DiffPart: partitions by round, with the curator's numbers, and leaves."""

    def __init__(self) -> None:
        self.rounds: list[Partitions] = []
        self._kept: list[CountedParts] = []
        self._leaves: list[CountedParts] = []
        self._paths: list[Ints] = []
        self._item_sets: list[tuple[Ints, Ints]] = []

    def add_round(self, nodes: Partitions, mask: Ints, noisy: Ints, rate_num: Ints, rate_den: int) -> None:
        """Adds the partitions that are expanded further; the root has no noisy count."""
        self.rounds.append(nodes)
        self._kept.append(CountedParts(nodes.parent, mask, noisy, rate_num, rate_den))

    def add_leaves(self, nodes: Partitions, noisy: NoisyCells, path: Ints) -> None:
        """Adds the leaves of some partitions."""
        rows, mask = noisy.rows, nodes.children(noisy.rows, noisy.cells)
        self._leaves.append(CountedParts(nodes.ids[rows], mask, noisy.value, noisy.rate_num[rows], noisy.rate_den))
        self._paths.append(path[rows])
        self._item_sets.append(nodes.cut_items(rows, mask))

    def parts(self) -> CountedParts:
        """One row per partition, by number."""
        return CountedParts.join(self._kept)

    def leaves(self) -> CountedParts:
        none = np.zeros(0, np.int64)
        return CountedParts.join(self._leaves) if self._leaves else CountedParts(none, none, none, none, NANO)

    def paths(self) -> Ints:
        """The kind of path of each leaf."""
        return np.concatenate([np.zeros(0, np.int64), *self._paths])

    def item_sets(self) -> tuple[Ints, Ints]:
        """The items of each leaf, as a ragged table."""
        sizes = np.concatenate([np.zeros(0, np.int64), *(np.diff(starts) for starts, _ in self._item_sets)])
        items = np.concatenate([np.zeros(0, np.int64), *(items for _, items in self._item_sets)])
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)]), items


def agree(parts: CountedParts, leaves: CountedParts, levels: list[Ints]) -> tuple[Floats, Floats]:
    """Estimates of all leaves, and of how many records of each partition are in none of its kept sub-partitions.

    The kept sub-partitions of a partition hold at most its records. Where their noisy counts sum to more, both sides
    change in proportion to their variances: from the leaves up, the sum raises the partition's count; from the root
    down, the count lowers the sum.
    """
    count, spread = len(parts), np.zeros(len(parts))
    known = parts.rate_num > 0
    spread[known] = variance(parts.rate_num[known] / parts.rate_den)
    z, leaf = parts.noisy.astype(float), leaves.noisy.astype(float)
    leaf_spread = variance(leaves.rate_num / leaves.rate_den)
    sums: Floats = np.bincount(leaves.parent, leaf, count).astype(float)
    sum_spread: Floats = np.bincount(leaves.parent, leaf_spread, count).astype(float)
    for ids in reversed(levels):
        over = ids[known[ids] & (sums[ids] > z[ids])]
        gain = spread[over] / (spread[over] + sum_spread[over])
        z[over] += gain * (sums[over] - z[over])
        spread[over] *= 1 - gain
        silent = ids[~known[ids]]
        z[silent], spread[silent] = sums[silent], sum_spread[silent]
        above = parts.parent[ids]
        if len(ids) and ids[0]:
            sums += np.bincount(above, z[ids], count)
            sum_spread += np.bincount(above, spread[ids], count)
    for ids in levels[1:]:
        z[ids] = _fit(z[ids], spread[ids], parts.parent[ids], z, sums)
    leaf = _fit(leaf, leaf_spread, leaves.parent, z, sums)
    inside = np.bincount(leaves.parent, leaf, count) + np.bincount(parts.parent[1:], z[1:], count)
    return leaf, np.maximum(0.0, z - inside)


def _fit(x: Floats, spread: Floats, parent: Ints, z: Floats, sums: Floats) -> Floats:
    """Lowers children whose sum exceeds their parent's count, each by its share of the variance."""
    over = np.maximum(0.0, sums - np.maximum(z, 0.0))[parent]
    whole = np.bincount(parent, spread, len(z))[parent]
    return np.maximum(0.0, x - over * spread / np.maximum(whole, 1e-300))

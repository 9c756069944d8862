"""The answers of a run of DiffPart: partitions that were kept, and leaves. Post-processing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

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

"""The public tree of a run as flat arrays (regions, cuts, noisy counts), and its leaves with their estimates."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from cantle.drawing.counts import Floats
from cantle.trusted.core.answers import Noisy
from cantle.trusted.geometry.boxes import Cuts, Frontier, Ints, Slices


@dataclass
class Tree:
    """A tree that grows level by level. Ids number nodes from 0; siblings follow each other, as their parents do."""

    attributes: int
    classes: int
    levels: list[Frontier] = field(default_factory=list)
    cuts: dict[int, tuple[Ints, Cuts | Slices]] = field(default_factory=dict)
    sizes: list[tuple[Ints, Noisy]] = field(default_factory=list)
    leaves: list[tuple[Frontier, Noisy | None, Ints]] = field(default_factory=list)
    declared: int | None = None

    def declare(self, records: int) -> None:
        """Records the declared, public number of records."""
        self.declared = records

    def add_level(self, nodes: Frontier) -> None:
        self.levels.append(nodes)

    def note_sizes(self, nodes: Frontier, noisy: Noisy) -> None:
        """Records a noisy size of each region."""
        self.sizes.append((nodes.ids, noisy))

    def note_cuts(self, nodes: Frontier, cuts: Cuts | Slices) -> None:
        self.cuts[nodes.depth] = (nodes.ids, cuts)

    def note_leaves(self, nodes: Frontier, noisy: Noisy | None, path: Ints) -> None:
        """Records the noisy class histograms of leaves, and the number of each leaf's kind of path in the receipt."""
        self.leaves.append((nodes, noisy, path))

    def __len__(self) -> int:
        return sum(len(level) for level in self.levels)

    def by_level(self) -> list[tuple[Ints, Ints]]:
        """The ids of the nodes of each level, and of their parents."""
        return [(level.ids, level.parent) for level in self.levels]

    def leaf_frontier(self) -> Frontier:
        """All leaves, ascending by id (depth is that of the deepest; see `leaf_depth`)."""
        parts = [nodes for nodes, _, _ in self.leaves]
        return Frontier(
            np.concatenate([part.ids for part in parts]),
            np.concatenate([part.parent for part in parts]),
            max(part.depth for part in parts),
            np.concatenate([part.lo for part in parts]),
            np.concatenate([part.hi for part in parts]),
        )

    def leaf_depth(self) -> Ints:
        return np.concatenate([np.full(len(nodes), nodes.depth) for nodes, _, _ in self.leaves])

    def leaf_path(self) -> Ints:
        return np.concatenate([path for _, _, path in self.leaves])


@dataclass(frozen=True, eq=False)
class Leaves:
    """The leaves of a table with their estimates, ascending by id. `noisy` and `rate_num` are empty if no leaf was
    counted."""

    ids: Ints
    parent: Ints
    depth: Ints
    path: Ints
    lo: Ints
    hi: Ints
    noisy: Ints
    rate_num: Ints
    rate_den: int
    estimate: Floats
    count: Ints

"""The public tree of a run as flat arrays (regions, cuts, noisy counts), its leaves, and counts made consistent.

Consistent counts are estimates by least squares, and whole numbers that add up; this is post-processing. A tree is then
given level by level: the ids of nodes and of their parents (-1 for the root), where the children of a node follow each
other and come in the order of their parents. A node has any number of children, or none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from cantle.drawing.counts import Floats, project_rows, round_rows
from cantle.trusted.core.answers import Noisy
from cantle.trusted.core.arrays import Bools
from cantle.trusted.geometry.boxes import BoxRule, Frontier, Ints


@dataclass
class Tree:
    """A tree that grows level by level. Ids number nodes from 0; siblings follow each other, as their parents do."""

    attributes: int
    classes: int
    levels: list[Frontier] = field(default_factory=list)
    cuts: dict[int, tuple[Ints, BoxRule]] = field(default_factory=dict)
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

    def note_cuts(self, nodes: Frontier, cuts: BoxRule) -> None:
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


Level = tuple[Ints, Ints]
"""The ids of the nodes of one level, and of their parents."""

Family = tuple[Ints, Ints]
"""The ids of parents with equally many children, and those of their children (parents, children)."""

_NEVER = -1e15
"""The estimate of a cell that no record can be in, so that it gets no records."""


def families(level: Level) -> list[Family]:
    """The nodes of one level with their parents, those with equally many siblings together."""
    ids, parent = level
    first = np.flatnonzero(np.diff(parent, prepend=-2))
    many = np.diff(first, append=len(ids))
    if (many == many[:1]).all():
        return [(parent[first], ids.reshape(len(first), -1))] if len(ids) else []
    groups = ((size, first[many == size]) for size in np.unique(many))
    return [(parent[heads], ids[heads[:, None] + np.arange(size)]) for size, heads in groups]


def consistent(
    levels: Sequence[Level], cells: dict[str, Floats], size: Floats, size_variance: Floats, may: Bools | None = None
) -> Floats:
    """Weighted least squares on a tree: estimates of every leaf's cells, consistent with all measurements.

    `cells` holds the `ids` of leaves, their noisy `value` (leaves, cells), and the `variance` of a cell. `size` and
    `size_variance` are direct measurements of nodes; the variance is inf where there is none. Where `may` is given and
    false, a cell is known to be empty. The method is that of Hay et al. 2010, generalised to unequal variances and
    families.
    """
    leaf, value = cells["ids"].astype(np.int64), cells["value"]
    number: Ints | int = value.shape[1]
    if may is not None:
        value, number = np.where(may, value, 0.0), may.sum(axis=1)
    z, v = np.zeros(len(size)), np.zeros(len(size))
    z[leaf], v[leaf] = value.sum(axis=1), cells["variance"] * number
    below = [families(level) for level in levels[1:]]
    for depth in reversed(range(len(levels))):
        for parents, kids in below[depth] if depth < len(below) else ():
            z[parents], v[parents] = z[kids].sum(axis=1), v[kids].sum(axis=1)
        ids = levels[depth][0]
        known = np.isfinite(size_variance[ids])
        weigh = ids[known]
        gain = v[weigh] / (v[weigh] + size_variance[weigh])
        z[weigh] += gain * (size[weigh] - z[weigh])
        v[weigh] *= 1 - gain
    x = z.copy()
    for parents, kids in (family for level in below for family in level):
        spread = v[kids] / np.maximum(v[kids].sum(axis=1, keepdims=True), 1e-300)
        x[kids] = z[kids] + spread * (x[parents] - z[kids].sum(axis=1))[:, None]
    off = x[leaf] - value.sum(axis=1)
    if may is None:
        return value + off[:, None] / value.shape[1]
    return np.where(may, value + (off / np.maximum(1, number))[:, None], 0.0)


def integers(levels: Sequence[Level], leaf: Ints, cells: Floats, may: Bools | None = None) -> Ints:
    """Leaf cells as non-negative integers, class by class from the root down.

    Each class is a tree of its own: its total is rounded at the root, where it is most accurate, and then divided among
    the children of every node. Clipping leaf by leaf instead would inflate rare classes. Where `may` is given and
    false, a cell gets nothing.
    """
    x = np.zeros((sum(len(ids) for ids, _ in levels), cells.shape[1]))
    x[leaf] = cells
    below = [families(level) for level in levels[1:]]
    for parents, kids in (family for level in reversed(below) for family in level):
        x[parents] = x[kids].sum(axis=1)
    total = np.maximum(0, np.rint(x[:1].sum(axis=1))).astype(np.int64)
    if may is not None:
        x[~_anywhere(below, leaf, may, len(x))] = _NEVER
    count = np.zeros(x.shape, dtype=np.int64)
    count[:1] = round_rows(project_rows(x[:1], total.astype(float)), total)
    for parents, kids in (family for level in below for family in level):
        whole, many = count[parents].reshape(-1), kids.shape[1]
        parts = x[kids].transpose(0, 2, 1).reshape(-1, many)
        shared = round_rows(project_rows(parts, whole.astype(float)), whole)
        count[kids] = shared.reshape(len(kids), -1, many).transpose(0, 2, 1)
    return count[leaf]


def _anywhere(below: list[list[Family]], leaf: Ints, may: Bools, nodes: int) -> Bools:
    """For each node and class whether a leaf below it may hold records."""
    some: Bools = np.zeros((nodes, may.shape[1]), dtype=np.bool_)
    some[leaf] = may
    for parents, kids in (family for level in reversed(below) for family in level):
        some[parents] = some[kids].any(axis=1)
    return some

"""DiffP-C4.5, the private interactive decision tree of Friedman and Schuster (KDD 2010): a classifier to compare with.

It is a baseline for the figures only: its noise is floating-point noise of numpy's generator, it keeps no ledger, it
cannot be reached from `cantle.publish`, and its trees must not be given to anyone.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from cantle.errors import ParameterError
from cantle_lab.papers.coding import Coded, Coder, Floats, Ints

Bools = npt.NDArray[np.bool_]


class DiffPC45:
    """A tree that is grown top-down by noisy questions, each of which gets the same share of epsilon.

    A node asks for its noisy number of records. It is a leaf at `depth`, if no attribute is left, or if its noisy
    number divided by the branches and classes that it might have is below the noise's standard deviation, sqrt(2) /
    share. A leaf asks for noisy class counts. Any other node chooses an attribute by the exponential mechanism with
    weight exp(share Max / 2), where the score Max is the number of records of the majority class, summed over the
    children (sensitivity 1).

    A category is split into all its values and cannot be used again. A number is split in two at a threshold of its
    public grid; all thresholds between two neighbouring values have the same score, and are weighted by their number.
    Nodes of one level hold different records, so only the questions on one path add up.

    If `joint`, thresholds and categories compete in one mechanism, in which every number has total base weight 1, so
    that a path asks 2 (depth + 1) questions. Otherwise the threshold of each of the n numbers is first drawn by a
    mechanism of its own, and the attributes compete with these thresholds: (2 + n) depth + 2 questions. The paper can
    be read either way. The noisy tree is not pruned.
    """

    def __init__(
        self, coder: Coder, *, epsilon: float, depth: int = 5, joint: bool = True, rng: np.random.Generator
    ) -> None:
        if not epsilon > 0 or depth < 0:
            raise ParameterError(f"epsilon is {epsilon:g}, depth {depth}; epsilon must be positive, depth 0 or more")
        self.coder, self.depth, self.joint, self.rng = coder, depth, joint, rng
        numbers = 0 if joint else sum(grid.kind == "number" for grid in coder.attributes)
        self.share = epsilon / ((2 + numbers) * depth + 2)

    def fit(self, table: Coded) -> None:
        """Grows the tree."""
        grids = self.coder.attributes
        number = np.array([grid.kind == "number" for grid in grids], dtype=bool)
        self._tree = _Tree(number, self.coder.classes)
        bounds = np.array([(0, grid.size) for grid in grids], dtype=np.int64).reshape(-1, 2)
        stack = [_Open(self._tree.add(), np.arange(len(table)), bounds, self.depth)]
        while stack:
            stack += self._grow(stack.pop(), table)
        self._tree.close()

    def proba(self, codes: Ints) -> Floats:
        """Class shares from the noisy counts in the leaf of each record.

        Negative counts are shifted up together with the others, so that the largest count stays the largest.
        """
        counts = self._tree.counts[self._tree.apply(codes)]
        counts = counts - np.minimum(counts.min(axis=1, keepdims=True), 0) + 1
        return np.asarray(counts / counts.sum(axis=1, keepdims=True))

    @property
    def leaves(self) -> int:
        """The number of leaves of the tree."""
        return int((self._tree.attribute < 0).sum())

    def _grow(self, node: _Open, table: Coded) -> list[_Open]:
        """Asks for the size of a node, and makes it a leaf or splits it; returns its children."""
        labels = table.labels[node.rows]
        noisy = len(node.rows) + self.rng.laplace(scale=1 / self.share)
        width = node.bounds[:, 1] - node.bounds[:, 0]
        usable, branches = width > 1, np.where(self._tree.number, 2, width)
        cells = int(branches[usable].max(initial=1)) * self.coder.classes
        if node.depth == 0 or not usable.any() or noisy / cells < np.sqrt(2) / self.share:
            exact = np.bincount(labels, minlength=self.coder.classes)
            self._tree.finish(node.at, exact + self.rng.laplace(scale=1 / self.share, size=len(exact)))
            return []
        return self._split(node, *self._choose(node, table.codes, labels, np.flatnonzero(usable)), table.codes)

    def _choose(self, node: _Open, codes: Ints, labels: Ints, usable: Ints) -> tuple[int, int]:
        """(attribute, threshold); the threshold is -1 for a category."""
        logs, offers = [], []
        for i in usable:
            values = codes[node.rows, i]
            if self._tree.number[i]:
                score, first, wide = threshold_scores(values, labels, self.coder.classes, *node.bounds[i])
                mine = self.share * score / 2 + np.log(wide / wide.sum())
                if not self.joint:
                    one = self._draw(mine)
                    mine, first, wide = self.share * score[one : one + 1] / 2, first[one : one + 1], wide[one : one + 1]
            else:
                cells = np.zeros((self.coder.attributes[i].size, self.coder.classes), dtype=np.int64)
                np.add.at(cells, (values, labels), 1)
                mine, first, wide = np.array([self.share * cells.max(axis=1).sum() / 2]), np.array([-1]), np.array([1])
            logs.append(mine)
            offers += [(int(i), int(a), int(w)) for a, w in zip(first, wide, strict=True)]
        i, start, width = offers[self._draw(np.concatenate(logs))]
        return i, start + int(self.rng.integers(width))

    def _draw(self, logs: Floats) -> int:
        """A position with probability proportional to exp(logs)."""
        return int((logs + self.rng.gumbel(size=len(logs))).argmax())

    def _split(self, node: _Open, i: int, threshold: int, codes: Ints) -> list[_Open]:
        """Splits a node at an attribute (numbers at the threshold) and returns its children."""
        values, (low, high) = codes[node.rows, i], node.bounds[i]
        if self._tree.number[i]:
            parts, spans = (values >= threshold).astype(np.int64), [(low, threshold), (threshold, high)]
        else:
            parts, spans = values, [(code, code + 1) for code in range(low, high)]
        first = self._tree.split(node.at, i, threshold, len(spans))
        children = []
        for number, span in enumerate(spans):
            bounds = node.bounds.copy()
            bounds[i] = span
            children.append(_Open(first + number, node.rows[parts == number], bounds, node.depth - 1))
        return children


def threshold_scores(values: Ints, labels: Ints, classes: int, low: int, high: int) -> tuple[Ints, Ints, Ints]:
    """The Max score of every threshold t (left: value < t) with low < t < high, as runs of equal score.

    Returns for each run its score, its first threshold and its number of thresholds. The runs below the smallest and
    above the largest value are included, because without them the choice would reveal those values.

    >>> [a.tolist() for a in threshold_scores(np.array([2, 2, 5]), np.array([0, 0, 1]), 2, 0, 10)]
    [[2, 3, 2], [1, 3, 6], [2, 3, 4]]
    """
    present, place = np.unique(values, return_inverse=True)
    cells = np.bincount(place * classes + labels, minlength=len(present) * classes).reshape(-1, classes)
    left = np.vstack([np.zeros((1, classes), dtype=np.int64), np.cumsum(cells, axis=0)])
    score = left.max(axis=1) + (left[-1] - left).max(axis=1)
    first = np.concatenate([[low], present]) + 1
    wide = np.append(first[1:], high) - first
    some = wide > 0
    return score[some], first[some], wide[some]


@dataclass(frozen=True)
class _Open:
    """A node that is not grown yet: its records, and the half-open range of codes that each attribute may have."""

    at: int
    rows: Ints
    bounds: Ints
    depth: int


@dataclass
class _Tree:
    """The tree as flat arrays: attribute (-1 at a leaf), threshold, first child, noisy class counts."""

    number: Bools
    classes: int
    nodes: list[tuple[int, int, int]] = field(default_factory=list)
    noisy: dict[int, Floats] = field(default_factory=dict)

    def add(self, many: int = 1) -> int:
        """Adds this many nodes, and returns the number of the first."""
        self.nodes += [(-1, 0, 0)] * many
        return len(self.nodes) - many

    def split(self, at: int, attribute: int, threshold: int, many: int) -> int:
        first = self.add(many)
        self.nodes[at] = (attribute, threshold, first)
        return first

    def finish(self, at: int, noisy: Floats) -> None:
        self.noisy[at] = noisy

    def close(self) -> None:
        self.attribute, self.threshold, self.first = np.array(self.nodes, dtype=np.int64).T
        self.counts = np.zeros((len(self.nodes), self.classes))
        for at, noisy in self.noisy.items():
            self.counts[at] = noisy

    def apply(self, codes: Ints) -> Ints:
        """The leaf of each record."""
        node = np.zeros(len(codes), dtype=np.int64)
        active = np.flatnonzero(self.attribute[node] >= 0)
        while len(active):
            here = node[active]
            i = self.attribute[here]
            value = codes[active, i]
            branch = np.where(self.number[i], value >= self.threshold[here], value)
            node[active] = self.first[here] + branch
            active = active[self.attribute[node[active]] >= 0]
        return node

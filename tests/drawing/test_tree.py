"""The public tree of a run: levels and counts that were added are returned, with leaves in their order."""

from __future__ import annotations

import numpy as np

from cantle.drawing.tree import Tree
from cantle.trusted.core.curator import Noisy
from cantle.trusted.geometry.boxes import Cuts, Frontier


def noisy(*rows: list[int]) -> Noisy:
    return Noisy(np.array(rows), np.full(len(rows), 5), 10)


def test_leaves_of_several_levels_are_joined() -> None:
    tree, root = Tree(2, 2), Frontier.root((4, 3))
    tree.add_level(root)
    cut = Cuts(np.array([0]), np.array([2]))
    tree.note_cuts(root, cut)
    level = cut.children(root, 1)
    tree.add_level(level)
    tree.note_leaves(level.take([0]), noisy([1, 2]), np.array([4]))
    below = Cuts(np.array([1]), np.array([1])).children(level.take([1]), 3)
    tree.add_level(below)
    tree.note_leaves(below, noisy([3, 4], [5, 6]), np.array([7, 7]))
    leaves = tree.leaf_frontier()
    assert len(tree) == 5
    assert [(ids.tolist(), up.tolist()) for ids, up in tree.by_level()] == [
        ([0], [-1]),
        ([1, 2], [0, 0]),
        ([3, 4], [2, 2]),
    ]
    assert leaves.ids.tolist() == [1, 3, 4]
    assert leaves.parent.tolist() == [0, 2, 2]
    assert leaves.lo.tolist() == [[0, 0], [2, 0], [2, 1]]
    assert leaves.hi.tolist() == [[2, 3], [4, 1], [4, 3]]
    assert tree.leaf_depth().tolist() == [1, 2, 2]
    assert tree.leaf_path().tolist() == [4, 7, 7]
    assert tree.cuts[0][1] is cut


def test_two_trees_are_independent() -> None:
    one, two = Tree(1, 1), Tree(1, 1)
    one.add_level(Frontier.root((2,)))
    one.declare(5)
    assert len(two) == 0
    assert two.declared is None

"""Frontiers and cuts by hand; their laws are in laws/test_partition.py."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from cantle.trusted.geometry.boxes import Cuts, Frontier, cut_counts


def test_the_root_is_the_whole_domain() -> None:
    root = Frontier.root((4, 1, 7))
    assert (root.ids.tolist(), root.parent.tolist(), root.depth) == ([0], [-1], 0)
    assert (root.lo.tolist(), root.hi.tolist()) == ([[0, 0, 0]], [[4, 1, 7]])
    assert len(root) == 1
    assert cut_counts(root).tolist() == [[3, 0, 6]]


def test_a_domain_without_attributes_has_a_root_that_cannot_be_cut() -> None:
    root = Frontier.root(())
    assert root.lo.shape == (1, 0)
    assert cut_counts(root).sum(axis=1).tolist() == [0]


def test_children_come_in_pairs_in_the_order_of_their_parents() -> None:
    root = Frontier.root((4, 3))
    level = Cuts(np.array([0]), np.array([3])).children(root, 1)
    assert (level.lo.tolist(), level.hi.tolist()) == ([[0, 0], [3, 0]], [[3, 3], [4, 3]])
    below = Cuts(np.array([0, 1]), np.array([1, 2])).children(level, 3)
    assert below.ids.tolist() == [3, 4, 5, 6]
    assert below.parent.tolist() == [1, 1, 2, 2]
    assert below.lo.tolist() == [[0, 0], [1, 0], [3, 0], [3, 2]]
    assert below.hi.tolist() == [[1, 3], [3, 3], [4, 2], [4, 3]]
    assert below.depth == 2
    assert level.hi.tolist() == [[3, 3], [4, 3]]  # the parents are unchanged


def test_take_selects_the_same_regions_in_every_array() -> None:
    level = Cuts(np.array([0]), np.array([3])).children(Frontier.root((4, 3)), 1)
    for which in ([1], np.array([False, True]), slice(1, 2)):
        part = level.take(which)
        assert (part.ids.tolist(), part.parent.tolist(), part.depth) == ([2], [0], 1)
        assert (part.lo.tolist(), part.hi.tolist()) == ([[3, 0]], [[4, 3]])
    assert len(level.take([])) == 0


def test_a_record_on_the_point_goes_right() -> None:
    cuts = Cuts(np.array([0, 1]), np.array([2, 1]))
    codes = np.array([1, 2, 3, 0, 1], dtype=np.uint8)
    assert cuts.child(np.array([0, 0, 0, 1, 1]), codes).tolist() == [0, 1, 1, 2, 3]


def test_frontiers_and_cuts_are_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Frontier.root((2,)).ids = np.array([5])  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        Cuts(np.array([0]), np.array([1])).point = np.array([5])  # type: ignore[misc]

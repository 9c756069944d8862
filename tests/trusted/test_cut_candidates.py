"""Candidate cuts by hand; their laws are in laws/test_partition.py."""

from __future__ import annotations

import numpy as np

from cantle.trusted.claims.cut_candidates import CUT_CANDIDATES, AllCuts, CutsOf
from cantle.trusted.core.keys import OneWayEach, OneWays
from cantle.trusted.geometry.boxes import Cuts, Frontier


def test_all_cuts_run_over_attributes_then_points() -> None:
    root, all_cuts = Frontier.root((3, 1, 4)), AllCuts((3, 1, 4), 2)
    assert all_cuts.key == OneWays((0, 1, 2), (3, 1, 4), 2)
    assert all_cuts.counts(root).tolist() == [5]
    cuts = [all_cuts.cuts(root, np.array([i])) for i in range(5)]
    assert [(int(c.attribute[0]), int(c.point[0])) for c in cuts] == [(0, 1), (0, 2), (2, 1), (2, 2), (2, 3)]
    assert all_cuts.inverse_weights(root).tolist() == [2, 2, 3, 3, 3]


def test_sides_of_all_cuts_by_hand() -> None:
    """Records (code, code, class): (0, 0, a), (0, 1, b), (2, 1, b)."""
    counts = np.array(
        [[1, 1, 0, 0, 0, 1, 1, 0, 0, 2]]
    )  # by class: codes 0, 1, 2 of the first attribute, 0, 1 of the second
    left, right = AllCuts((3, 2), 2).sides(Frontier.root((3, 2)), 0, counts)
    assert left.tolist() == [[1, 1], [1, 1], [1, 0]]
    assert right.tolist() == [[0, 1], [0, 1], [0, 2]]


def test_cuts_of_one_attribute_per_region() -> None:
    nodes = Cuts(np.array([0]), np.array([2])).children(Frontier.root((5, 3)), 1)
    each = CutsOf(np.array([0, 1]), 5, 1)
    assert isinstance(each.key, OneWayEach)
    assert each.key.cells == 5
    assert each.counts(nodes).tolist() == [1, 2]
    assert each.inverse_weights(nodes) is None
    cuts = each.cuts(nodes, np.array([0, 1]))
    assert (cuts.attribute.tolist(), cuts.point.tolist()) == ([0, 1], [1, 2])
    # Region 0 has 3, 1 records of codes 0, 1 of attribute 0; region 1 has 2, 0, 4 of codes 0, 1, 2 of attribute 1.
    left, right = each.sides(nodes, 0, np.array([[3, 1, 0, 0, 0], [2, 0, 4, 0, 0]]))
    assert (left.tolist(), right.tolist()) == ([[3], [2], [2]], [[1], [4], [4]])


def test_the_counts_of_a_chunk_start_at_its_first_region() -> None:
    nodes = Cuts(np.array([0]), np.array([2])).children(Frontier.root((5, 3)), 1)
    left, _ = CutsOf(np.array([0, 1]), 5, 1).sides(nodes, 1, np.array([[2, 0, 4, 0, 0]]))
    assert left.tolist() == [[2], [2]]
    left, right = AllCuts((5, 3), 1).sides(nodes, 1, np.array([[0, 0, 1, 2, 3, 6, 0, 0]]))
    assert left.tolist() == [[1], [3], [6], [6]]
    assert right.tolist() == [[5], [3], [0], [0]]


def test_both_kinds_of_candidates_are_listed() -> None:
    assert set(CUT_CANDIDATES) == {AllCuts, CutsOf}

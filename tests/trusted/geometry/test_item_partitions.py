"""Trees, cuts, sub-partitions and ragged tables of set-valued data, by hand; tests/laws/test_partition.py has laws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cantle.trusted.geometry.item_partitions import ItemTree, Kept, Partitions, append, bits_of, find_pairs, gather


def ints(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def edges(size: int, fanout: int, *, even: bool) -> list[list[int]]:
    return [edge.tolist() for edge in ItemTree.of(size, fanout, even=even).edges]


# ---- trees ----------------------------------------------------------------------------------------------------------


def test_each_level_groups_up_to_fanout_nodes_of_the_level_below() -> None:
    assert edges(4, 2, even=False) == [[0, 2, 4], [0, 2]]
    assert edges(7, 3, even=False) == [[0, 3, 6, 7], [0, 3]]
    assert edges(7, 3, even=True) == [[0, 2, 4, 7], [0, 3]]
    assert edges(10, 10, even=False) == [[0, 10]]


def test_one_item_has_a_root_of_its_own() -> None:
    for even in (False, True):
        tree = ItemTree.of(1, 2, even=even)
        assert (edges(1, 2, even=even), tree.size, tree.height, tree.is_sound()) == ([[0, 1]], 1, 1, True)


@given(st.integers(1, 400), st.integers(2, 62), st.booleans())
def test_every_tree_is_sound(size: int, fanout: int, even: bool) -> None:
    tree = ItemTree.of(size, fanout, even=even)
    assert tree.is_sound()
    assert tree.size == size
    for edge in tree.edges:
        fans = np.diff(edge)
        assert fans.max() <= fanout
        if even:
            assert fans.max() - fans.min() <= 1


@pytest.mark.parametrize(
    "broken",
    [
        (),
        (ints(0, 2, 4),),  # two roots
        (ints(0, 2, 4), ints(0, 3)),  # a child that does not exist
        (ints(0, 2, 4), ints(0, 1)),  # a node without a parent
        (ints(1, 2, 4), ints(0, 2)),
        (ints(0, 2, 2, 4), ints(0, 3)),  # a node without children
        (ints(0, 3, 2, 4), ints(0, 3)),
        (ints(0, 63),),  # more children than a mask has bits
        (ints(0),),
        (ints(),),
        (np.array([0.0, 2.0]),),
        (np.array([0, 2], dtype=np.int32),),
        (ints(0, 2, 4).reshape(1, 3),),
    ],
)
def test_unsound_trees_are_recognised(broken: tuple[Any, ...]) -> None:
    assert not ItemTree(broken).is_sound()


def test_a_copy_shares_no_array() -> None:
    tree = ItemTree.of(6, 2, even=True)
    twin = tree.copy()
    assert all(not np.shares_memory(a, b) for a, b in zip(tree.edges, twin.edges, strict=True))
    parts = Partitions.root(tree, 6)
    assert not any(np.shares_memory(a, b) for a in parts.copy().tree.edges for b in tree.edges)
    assert not any(
        np.shares_memory(a, b) for a, b in zip(parts._arrays(), parts.copy()._arrays(), strict=True) if len(a)
    )


# ---- partitions -----------------------------------------------------------------------------------------------------


TREE = ItemTree.of(4, 2, even=False)


def cuts(parts: Partitions) -> list[tuple[int, list[int], list[int]]]:
    """For each partition: its height, the nodes of its level still to be expanded, and its nodes of the level below."""
    listed = []
    for i in range(len(parts)):
        level = parts.level[parts.level_starts[i] : parts.level_starts[i + 1]].tolist()
        below = parts.below[parts.below_starts[i] : parts.below_starts[i + 1]].tolist()
        listed.append((int(parts.height[i]), level[int(parts.taken[i]) :], below))
    return listed


def test_the_walk_of_example_c1() -> None:
    """Root; {I12}, {I34}, {I12, I34}; the last, expanded at I12: {I1, I34}, {I2, I34}, {I1, I2, I34}; then leaves."""
    root = Partitions.root(TREE, 4)
    assert cuts(root) == [(2, [0], [])]
    assert (root.fan.tolist(), root.patterns.tolist(), root.ends.tolist()) == ([2], [3], [False])
    first = Kept(ints(0, 0, 0), ints(1, 2, 3)).children(root, 1)
    assert cuts(first) == [(1, [0], []), (1, [1], []), (1, [0, 1], [])]
    assert (first.ids.tolist(), first.parent.tolist(), first.depth) == ([1, 2, 3], [0, 0, 0], 1)
    assert (first.ends.tolist(), first.size.tolist()) == ([True, True, False], [1, 1, 2])
    both = first.take([2])
    second = Kept(ints(0, 0, 0), ints(1, 2, 3)).children(both, 4)
    assert cuts(second) == [(1, [1], [0]), (1, [1], [1]), (1, [1], [0, 1])]
    assert (second.ends.tolist(), second.node.tolist(), second.size.tolist()) == ([True] * 3, [1] * 3, [2, 2, 3])
    starts, items = second.cut_items(ints(0, 2, 2), ints(1, 2, 3))
    assert [items[a:b].tolist() for a, b in zip(starts[:-1], starts[1:], strict=True)] == [
        [0, 2],
        [0, 1, 3],
        [0, 1, 2, 3],
    ]


def test_room_is_what_the_other_nodes_leave() -> None:
    """A record of at most three items with two nodes in its cut touches at most two children of one of them."""
    root = Partitions.root(TREE, 3)
    both = Kept(ints(0), ints(3)).children(root, 1)
    assert (root.room.tolist(), both.room.tolist(), both.patterns.tolist()) == ([3], [2], [3])
    full = Kept(ints(0), ints(3)).children(both, 2)
    assert (full.room.tolist(), full.patterns.tolist()) == ([1], [2])
    assert Partitions.root(TREE, 1).patterns.tolist() == [2]


def test_a_round_may_have_no_partitions() -> None:
    none = Partitions.root(TREE, 4).take(np.zeros(0, np.int64))
    assert (len(none), none.fan.tolist(), none.patterns.tolist(), none.ends.tolist()) == (0, [], [], [])
    empty = Kept(ints(), ints())
    assert empty.fits(none)
    assert empty.times(none).tolist() == []
    assert len(empty.children(none, 5)) == 0
    assert len(empty.children(Partitions.root(TREE, 4), 5)) == 0
    assert empty.times(Partitions.root(TREE, 4)).tolist() == [0]


ROOT = Partitions.root(TREE, 3)
PAIR = Kept(ints(0, 0, 0), ints(1, 2, 3)).children(ROOT, 1)


@pytest.mark.parametrize(
    ("nodes", "kept"),
    [
        (ROOT, Kept(ints(0, 0), ints(1, 1))),  # listed twice
        (ROOT, Kept(ints(0, 0), ints(2, 1))),  # not in order
        (ROOT, Kept(ints(1), ints(1))),
        (ROOT, Kept(ints(-1), ints(1))),
        (ROOT, Kept(ints(0, 9, 0), ints(1, 1, 2))),  # an unknown partition in the middle
        (ROOT, Kept(ints(0), ints(0))),
        (ROOT, Kept(ints(0), ints(-1))),
        (ROOT, Kept(ints(0), ints(4))),  # a child that does not exist
        (ROOT, Kept(ints(0), ints(2**62))),
        (ROOT, Kept(ints(0), ints(1, 2))),
        (ROOT, Kept(np.zeros(1), ints(1))),
        (ROOT, Kept(ints(0), np.ones(1, np.int32))),
        (ROOT, Kept([0], [1])),
        (ROOT, Kept(None, None)),
        (PAIR, Kept(ints(0), ints(1))),  # a leaf
        (PAIR, Kept(ints(2, 1), ints(1, 1))),
        (Partitions.root(TREE, 1), Kept(ints(0), ints(3))),  # more children than records have items
        (ROOT.take(np.zeros(0, np.int64)), Kept(ints(0), ints(1))),
    ],
)
def test_unsound_lists_of_sub_partitions_do_not_fit(nodes: Partitions, kept: Kept) -> None:
    assert not kept.fits(nodes)


def test_sound_lists_of_sub_partitions_fit() -> None:
    assert Kept(ints(0, 0, 0), ints(1, 2, 3)).fits(ROOT)
    assert Kept(ints(2), ints(3)).fits(PAIR)


def test_the_arrays_of_partitions_are_frozen() -> None:
    for array in PAIR._arrays():
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0


# ---- ragged tables --------------------------------------------------------------------------------------------------

ROWS = st.lists(st.lists(st.integers(0, 9), max_size=4), max_size=6)


def ragged(rows: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    return np.cumsum([0, *map(len, rows)]), ints(*(value for row in rows for value in row))


def plain(starts: np.ndarray, values: np.ndarray) -> list[list[int]]:
    return [values[a:b].tolist() for a, b in zip(starts[:-1], starts[1:], strict=True)]


@given(ROWS, st.data())
def test_gathering_rows(rows: list[list[int]], data: st.DataObject) -> None:
    asked = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=8)) if rows else []
    assert plain(*gather(*ragged(rows), ints(*asked))) == [rows[i] for i in asked]


@given(
    st.lists(st.tuples(st.lists(st.integers(0, 9), max_size=3), st.lists(st.integers(0, 9), max_size=3)), max_size=6)
)
def test_appending_rows(rows: list[tuple[list[int], list[int]]]) -> None:
    first, second = [row for row, _ in rows], [row for _, row in rows]
    assert plain(*append(*ragged(first), *ragged(second))) == [a + b for a, b in rows]


@given(st.lists(st.tuples(st.integers(0, 2**62 - 1), st.integers(0, 100)), max_size=8))
def test_members_of_masks(asked: list[tuple[int, int]]) -> None:
    masks, first = ints(*(mask for mask, _ in asked)), ints(*(start for _, start in asked))
    want = [[start + bit for bit in range(62) if mask >> bit & 1] for mask, start in asked]
    assert plain(*bits_of(masks, first)) == want


@given(
    st.sets(st.tuples(st.integers(0, 4), st.integers(1, 7))), st.lists(st.tuples(st.integers(0, 5), st.integers(1, 8)))
)
def test_finding_pairs(listed: set[tuple[int, int]], asked: list[tuple[int, int]]) -> None:
    known = sorted(listed)
    found = find_pairs(ints(*(a for a, _ in known)), ints(*(b for _, b in known)),
                       ints(*(a for a, _ in asked)), ints(*(b for _, b in asked)))  # fmt: skip
    assert found.tolist() == [known.index(pair) if pair in listed else len(known) for pair in asked]


def test_finding_pairs_of_wide_masks_in_many_parts() -> None:
    """Partition and mask together do not fit into 64 bits, so masks are numbered first."""
    part, mask = ints(0, 0, 2**40, 2**40), ints(1, 2**61, 1, 2**61 + 1)
    rows, masks = ints(2**40, 0, 2**40, 0, 1), ints(2**61 + 1, 2**61, 2**61, 3, 1)
    assert find_pairs(part, mask, rows, masks).tolist() == [3, 1, 4, 4, 4]

"""The engine of sets in memory, compared with a reference engine that looks at records one by one."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cantle.errors import ParameterError
from cantle.trusted.claims.queries import ItemSets, Size
from cantle.trusted.counting.ragged import Ragged
from cantle.trusted.counting.sets import WIDE, SetEngine, _cut
from cantle.trusted.geometry.item_partitions import ItemTree, Kept, Partitions
from tests.effort import examples

Sets = list[list[int]]


def arrays(records: Sets, dtype: Any = np.int32) -> tuple[np.ndarray, np.ndarray]:
    starts = np.cumsum([0, *map(len, records)], dtype=np.int64)
    return starts, np.array([item for record in records for item in sorted(record)], dtype=dtype)


def engine(records: Sets, tree: ItemTree, most: int | None = None) -> SetEngine:
    return SetEngine(Ragged(*arrays(records)), tree=tree, most=tree.size if most is None else most)


def cut_alone(record: list[int], most: int, size: int) -> list[int]:
    """The items that are kept of a record if it is the only one."""
    return _cut(Ragged(*arrays([record])), most, size).codes.tolist()


class Naive:
    """The reference engine: a list of records per partition."""

    def __init__(self, records: Sets, tree: ItemTree, most: int) -> None:
        self.tree = tree
        self.held = [[cut_alone(record, most, tree.size) for record in records]]
        self.parts = Partitions.root(tree, most)

    def mask(self, i: int, record: list[int]) -> int:
        """The children of partition i's next node that the record touches, by climbing from each item."""
        height, node = int(self.parts.height[i]), int(self.parts.node[i])
        first, touched = int(self.tree.edges[height - 1][node]), 0
        for item in record:
            at = item
            for edge in self.tree.edges[: height - 1]:
                at = int(np.searchsorted(edge, at, side="right")) - 1
            if int(np.searchsorted(self.tree.edges[height - 1], at, side="right")) - 1 == node:
                touched |= 1 << (at - first)
        return touched

    def touched(self, positions: list[int]) -> list[dict[int, int]]:
        counts: list[dict[int, int]] = []
        for i in positions:
            masks = [self.mask(i, record) for record in self.held[i]]
            counts.append({mask: masks.count(mask) for mask in sorted(set(masks))})
        return counts

    def split(self, positions: list[int], kept: Kept) -> None:
        pairs = zip(kept.rows.tolist(), kept.mask.tolist(), strict=True)
        self.held = [
            [r for r in self.held[positions[row]] if self.mask(positions[row], r) == mask] for row, mask in pairs
        ]
        self.parts = kept.children(self.parts.take(positions), 0)


def listed(starts: np.ndarray, masks: np.ndarray, counts: np.ndarray) -> list[dict[int, int]]:
    tables = []
    for a, b in zip(starts[:-1], starts[1:], strict=True):
        assert (np.diff(masks[a:b]) > 0).all()
        tables.append(dict(zip(masks[a:b].tolist(), counts[a:b].tolist(), strict=True)))
    return tables


@st.composite
def data(draw: st.DrawFn) -> tuple[Sets, ItemTree, int]:
    """Records over trees of all fan-outs; no records, a single item and wide nodes are likely."""
    size = draw(st.sampled_from([1, 2, 3, 5, 8, 13, 30, 62, 64, 130]))
    fanout = draw(st.sampled_from([2, 3, 4, 10, 24, 26, 62]))
    tree = ItemTree.of(size, fanout, even=draw(st.booleans()), dice=draw(st.none() | st.integers(0, 99)))
    record = st.sets(st.integers(0, size - 1), min_size=1, max_size=min(size, 12)).map(sorted)
    everything = st.just(list(range(size)))
    records = draw(st.lists(record | everything if size <= 62 else record, max_size=12))
    return records, tree, draw(st.integers(1, size))


def kept_of(draw: st.DrawFn, parts: Partitions, occupied: list[dict[int, int]]) -> Kept:
    """Some sub-partitions that occur and some that do not, of partitions that can be split further."""
    pairs: set[tuple[int, int]] = set()
    for row, (fan, room, end) in enumerate(zip(parts.fan, parts.room, parts.ends, strict=True)):
        if end:
            continue
        members = st.sets(st.integers(0, int(fan) - 1), min_size=1, max_size=min(int(room), int(fan)))
        drawn_masks = members.map(lambda bits: sum(1 << bit for bit in bits))
        pairs |= {(row, mask) for mask in draw(st.lists(drawn_masks, max_size=2))}
        pairs |= {(row, mask) for mask in occupied[row] if draw(st.integers(0, 3))}
    order = sorted(pairs)
    rows, masks = (np.array([pair[k] for pair in order], dtype=np.int64) for k in (0, 1))
    return Kept(rows, masks)


@examples(24)
@given(data(), st.data())
def test_the_engine_counts_and_splits_as_the_definition_says(case: tuple[Sets, ItemTree, int], more: Any) -> None:
    records, tree, most = case
    fast, slow = engine(records, tree, most), Naive(records, tree, most)
    positions = np.zeros(1, np.int64)
    for _ in range(more.draw(st.integers(1, 8))):
        parts = slow.parts.take(positions)
        occupied = slow.touched(positions.tolist())
        assert listed(*fast.touched(positions)) == occupied
        ((first, last, sizes),) = fast.tally(positions, Size())
        assert (first, last) == (0, len(positions))
        assert sizes[:, 0].tolist() == [len(slow.held[i]) for i in positions.tolist()]
        kept = kept_of(more.draw, parts, occupied)
        assert kept.fits(parts)
        fast.split(positions, kept)
        slow.split(positions.tolist(), kept)
        every = np.arange(len(slow.parts))
        positions = every[[bool(more.draw(st.booleans())) for _ in every]] if more.draw(st.booleans()) else every
        if not len(positions):
            break


def test_nodes_of_many_children_are_split_as_the_definition_says() -> None:
    """Their masks are too wide to be numbered together with the partition."""
    tree = ItemTree.of(900, 30, even=False)
    records = [[0, 899], [1, 898], [0, 35, 870], [31], [899]]
    fast, slow, root = engine(records, tree, 900), Naive(records, tree, 900), np.zeros(1, np.int64)
    masks = sorted([*slow.touched([0])[0]][1:] + [1 << 5])
    assert max(masks).bit_length() > WIDE
    kept = Kept(np.zeros(len(masks), np.int64), np.array(masks))
    assert kept.fits(slow.parts)
    fast.split(root, kept)
    slow.split([0], kept)
    every = np.arange(len(masks))
    assert listed(*fast.touched(every)) == slow.touched(every.tolist())
    assert 0 < sum(map(len, slow.held)) < len(records)


@given(data())
def test_no_record_touches_more_children_than_a_partition_has_room_for(case: tuple[Sets, ItemTree, int]) -> None:
    """So the number of every set of children is within its range."""
    records, tree, most = case
    store, parts = engine(records, tree, most), Partitions.root(tree, most)
    while len(parts):
        _, masks, _ = found = store.touched(np.arange(len(parts)))
        owner = np.repeat(np.arange(len(parts)), np.diff(found[0]))
        assert all(mask.bit_count() <= room for mask, room in zip(masks.tolist(), parts.room[owner], strict=True))
        assert all(mask >> int(fan) == 0 for mask, fan in zip(masks.tolist(), parts.fan[owner], strict=True))
        go = ~parts.ends[owner]
        kept = Kept(owner[go], masks[go])
        store.split(np.arange(len(parts)), kept)
        parts = kept.children(parts, 0)


def test_all_sets_of_a_small_universe_are_counted() -> None:
    records = [[0], [0, 2], [1, 2], [0, 2], [0, 1, 2]]
    store = engine(records, ItemTree.of(3, 3, even=True))
    ((_, _, counts),) = store.tally(np.zeros(1, np.int64), ItemSets(3))
    assert counts.tolist() == [[1, 0, 0, 0, 2, 1, 1]]  # masks 1 to 7


@pytest.mark.parametrize("fanout", [2, 10, 62])
def test_without_records_all_counts_are_empty(fanout: int) -> None:
    tree = ItemTree.of(70, fanout, even=True)
    store = engine([], tree)
    root = np.zeros(1, np.int64)
    assert listed(*store.touched(root)) == [{}]
    store.split(root, Kept(np.zeros(2, np.int64), np.array([1, 3])))
    assert listed(*store.touched(np.arange(2))) == [{}, {}]
    ((_, _, sizes),) = store.tally(np.arange(2), Size())
    assert sizes.tolist() == [[0], [0]]
    store.split(np.arange(2), Kept(np.zeros(0, np.int64), np.zeros(0, np.int64)))
    assert listed(*store.touched(np.zeros(0, np.int64))) == []


def test_masks_may_have_62_bits() -> None:
    store = engine([list(range(62)), [61], [0, 61]], ItemTree.of(62, 62, even=True))
    assert listed(*store.touched(np.zeros(1, np.int64))) == [{1 << 61: 1, (1 << 61) | 1: 1, 2**62 - 1: 1}]


def test_partitions_may_be_asked_in_part_or_twice() -> None:
    """Masks that were computed for one question are not used for another."""
    records = [[0], [1], [2], [0, 2], [1, 3], [0, 1, 2, 3]]
    tree = ItemTree.of(4, 2, even=True)
    store, slow = engine(records, tree), Naive(records, tree, 4)
    kept = Kept(np.zeros(3, np.int64), np.array([1, 2, 3]))
    store.split(np.zeros(1, np.int64), kept)
    slow.split([0], kept)
    for asked in ([0, 1, 2], [2], [0, 2], [1], [1], [0, 1, 2]):
        assert listed(*store.touched(np.array(asked))) == slow.touched(asked)


# ---- the cut of long records ----------------------------------------------------------------------------------------

RECORDS = st.lists(st.sets(st.integers(0, 199), min_size=1, max_size=40).map(sorted), max_size=10)


@given(RECORDS, st.integers(1, 6), st.randoms(use_true_random=False))
def test_a_record_is_cut_by_itself(records: Sets, most: int, random: Any) -> None:
    """Claim 28: among other records, in any order, each is cut to the same items as alone."""
    alone = [cut_alone(record, most, 200) for record in records]
    order = list(range(len(records)))
    random.shuffle(order)
    cut = _cut(Ragged(*arrays([records[i] for i in order])), most, 200)
    starts, items = cut.starts, cut.codes
    together = [items[a:b].tolist() for a, b in zip(starts[:-1], starts[1:], strict=True)]
    assert together == [alone[i] for i in order]
    for record, left in zip(records, alone, strict=True):
        assert set(left) <= set(record)
        assert len(left) == min(len(record), most)
        assert left == sorted(left)


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint16])
def test_the_width_of_codes_does_not_matter(dtype: Any) -> None:
    records = [list(range(i, 150, i + 1)) for i in range(30)]
    want = _cut(Ragged(*arrays(records)), 4, 200).codes.tolist()
    assert _cut(Ragged(*arrays(records, dtype)), 4, 200).codes.tolist() == want


def test_no_item_is_favoured_by_the_cut() -> None:
    """Four of forty items are kept per record: over many records, every position is kept about a tenth of the time."""
    records = [list(range(i, i + 40)) for i in range(0, 4000, 2)]
    cut = _cut(Ragged(*arrays(records)), 4, 5000)
    starts, items = cut.starts, cut.codes
    place = items - np.repeat(np.array([record[0] for record in records]), np.diff(starts))
    share = np.bincount(place, minlength=40) / len(records)
    assert share.min() > 0.06
    assert share.max() < 0.14


def test_very_long_records_are_cut_too() -> None:
    """Positions of more than twelve binary digits need more of the hash."""
    cut = _cut(Ragged(*arrays([list(range(9000)), list(range(3))])), 2, 9000)
    starts, items = cut.starts, cut.codes
    assert starts.tolist() == [0, 2, 4]
    assert items[2:].tolist() == cut_alone([0, 1, 2], 2, 9000)


# ---- refusals, and what the engine shows ----------------------------------------------------------------------------


@pytest.mark.parametrize("most", [0, -1, 5])
def test_unsound_bounds_are_refused(most: int) -> None:
    with pytest.raises(ParameterError):
        engine([[0]], ItemTree.of(4, 2, even=True), most)


def test_unsound_trees_are_refused() -> None:
    with pytest.raises(ParameterError):
        SetEngine(Ragged(*arrays([[0]])), tree=ItemTree((np.array([0, 2, 4]),)), most=1)


def test_an_engine_shows_no_record_and_cannot_be_copied() -> None:
    store = engine([[0, 3]], ItemTree.of(4, 2, even=True))
    assert repr(store) == "SetEngine(private)"
    for duplicate in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError):
            duplicate(store)
    store.close()
    assert not {"_masks", "_offsets", "_records", "_starts"} & vars(store).keys()


def test_an_engine_has_its_own_copy_of_the_tree() -> None:
    tree = ItemTree.of(4, 2, even=True)
    store = engine([[0, 3]], tree)
    for outside in (tree, store.domain):
        for edge in outside.edges:
            edge.setflags(write=True)
            edge[:] = 0
    assert store.root().fan.tolist() == [2]

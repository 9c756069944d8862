"""The set engine: for every height of the taxonomy, the nodes that a record touches, and which of their children.

All records of a partition share its cut, so the k-th node of a height is at offset k for all of them, and the children
that a record touches below it are one load (a mask). Expanding a node takes that load and one count of (partition,
mask); one radix sort divides the records that are kept. Records are never moved, only their numbers. The questions of
`baskets` are sums over records (basket_counts.py), so they are counted wherever the records are (ragged.py): in memory,
on disk or on workers. For partitions all records are brought to this machine, when they are first needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, assert_never

import numpy as np

from cantle.errors import ParameterError
from cantle.trusted.claims.queries import ItemSets, Size
from cantle.trusted.claims.set_queries import BASKET_KEYS, HeadPatterns, ItemSupports, SetSizes
from cantle.trusted.core.arrays import Codes
from cantle.trusted.core.mixing import scramble
from cantle.trusted.core.private import Private
from cantle.trusted.counting.base import Chunk
from cantle.trusted.counting.basket_counts import count_items, count_pairs, count_patterns, count_sizes
from cantle.trusted.counting.ragged import NOTHING, Ragged, Records
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.item_partitions import ItemTree, Kept, Partitions, gather
from cantle.trusted.geometry.workloads import SetWorkload, count_sets

WIDE = 24
"""If masks are at least this many bits wide, only those that occur are numbered."""
_ODD = np.uint64(0x9E3779B97F4A7C15)


class SetEngine(Private):
    """Counts over records of item codes, ascending in each, none twice, no record empty.

    Claim 28. A record of more than `most` items is cut to the `most` of smallest hash (of the record and the item, by a
    public function), before anything is counted: a map from records to records, so data sets that differ in one record
    still differ in at most one.
    """

    kind: ClassVar[str] = "sets"
    keys: ClassVar[tuple[type, ...]] = (Size, ItemSets, *BASKET_KEYS)

    def __init__(self, records: Records, *, tree: ItemTree, most: int, compiled: bool = False) -> None:
        if not tree.is_sound() or not 1 <= most <= tree.size:
            raise ParameterError("the taxonomy or the bound on items of a record is not sound")
        self._tree, self._most, self.compiled = tree.copy(), most, compiled
        self._all: Records = records  # as they were given; `keep_all` keeps them after the first split
        self._keeps = False
        self._used = records if most == tree.size else _cut(records.everything(), most, tree.size)
        self._touched: tuple[list[Codes], list[Codes]] | None = None
        self._placed: tuple[Ints, Ints, _Cells] | None = None
        self._regions: tuple[Ints, Ints, Partitions] | None = None

    def close(self) -> None:
        self._all.close()
        self._all = self._used = NOTHING
        self._touched = self._placed = self._regions = None

    def keep_all(self) -> None:
        self._keeps = True

    def count_all(self, workload: SetWorkload) -> Ints:
        """The numbers of a workload over the records as they were given, before any was cut to `most` items."""
        return self._all.added(lambda starts, items: count_sets(workload, starts, items))

    @property
    def domain(self) -> ItemTree:
        """A copy of the taxonomy, because a method may hold it."""
        return self._tree.copy()

    def root(self) -> Partitions:
        return Partitions.root(self._tree, self._most)

    def tally(self, positions: Ints, key: Size | ItemSets | SetSizes | ItemSupports | HeadPatterns) -> Iterator[Chunk]:
        if isinstance(key, SetSizes | ItemSupports | HeadPatterns):
            size = self._tree.size
            exact = self._used.added(lambda starts, items: count_key(key, starts, items, size))
            yield 0, 1, exact.reshape(1, -1)
        elif isinstance(key, ItemSets):
            counts = np.zeros((1, key.cells), dtype=np.int64)
            _, mask, number = self.touched(positions)
            counts[0, mask - 1] = number
            yield 0, 1, counts
        else:
            starts, _, _ = self._divided()
            yield 0, len(positions), (starts[positions + 1] - starts[positions]).reshape(-1, 1)

    def pairs(self, items: tuple[int, ...], most: int) -> tuple[Ints, Ints]:
        size, top = self._tree.size, np.array(items)
        counts = self._used.added(lambda starts, codes: count_pairs(starts, codes, size, top, most))
        cells = np.flatnonzero(counts)
        return cells, counts[cells]

    def touched(self, positions: Ints) -> tuple[Ints, Ints, Ints]:
        _, cells = self._place(positions)
        if cells.dense:
            number = np.bincount(cells.cell, minlength=cells.total)
            cell = np.flatnonzero(number)
            counts = number[cell]
        else:
            cell, counts = np.unique(cells.cell, return_counts=True)
        part, mask = cells.split(cell)
        return np.searchsorted(part, np.arange(len(positions) + 1)), mask, counts

    def split(self, positions: Ints, kept: Kept) -> None:
        records, cells = self._place(positions)
        child = cells.find(kept.rows, kept.mask)
        there = child >= 0
        child, records = child[there], records[there]
        # In almost all rounds there are few enough children for a radix sort of 16 bits.
        order = np.argsort(child.astype(np.uint16 if len(kept.rows) < 1 << 16 else np.int64), kind="stable")
        lengths = np.bincount(child, minlength=len(kept.rows))
        parts = kept.children(self._divided()[2].take(positions), 0)
        self._regions = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)]), records[order], parts
        self._placed, self._used = None, NOTHING
        if not self._keeps:
            self._all.close()
            self._all = NOTHING

    def _divided(self) -> tuple[Ints, Ints, Partitions]:
        """Where the records of each partition begin, their numbers, and the partitions."""
        if self._regions is None:
            number = len(self._levels()[1][0]) - 1
            self._regions = np.array([0, number], dtype=np.int64), np.arange(number, dtype=np.int64), self.root()
        return self._regions

    def _place(self, positions: Ints) -> tuple[Ints, _Cells]:
        """The records of the listed partitions, and the cell of each: its partition and the children it touches. Kept
        until the next split, because an expansion counts first and then splits."""
        if self._placed is None or not np.array_equal(self._placed[0], positions):
            starts, records, _ = self._divided()
            starts, records = gather(starts, records, positions)
            part = np.repeat(np.arange(len(positions)), np.diff(starts))
            cells = _Cells.of(part, self._mask(positions, records, starts), len(positions))
            self._placed = positions.copy(), records, cells
        return self._placed[1:]

    def _levels(self) -> tuple[list[Codes], list[Codes]]:
        """The nodes that all records touch, height by height."""
        if self._touched is None:
            self._touched = _levels(self._used.everything(), self._tree)
        return self._touched

    def _mask(self, positions: Ints, records: Ints, starts: Ints) -> Codes:
        """The children of its partition's next node that each record touches."""
        masks, offsets = self._levels()
        _, _, parts = self._divided()
        heights, taken = parts.height[positions], parts.place[positions]
        if len(positions) and (heights == heights[0]).all() and (taken == taken[0]).all():
            height = int(heights[0])
            return masks[height - 1][offsets[height - 1][records] + taken[0]]
        mask = np.empty(len(records), dtype=np.int64)
        for height in np.unique(heights).tolist():
            rows = np.flatnonzero(heights == height)
            spans, where = gather(starts, np.arange(len(records)), rows)
            offset = offsets[height - 1][records[where]] + np.repeat(taken[rows], np.diff(spans))
            mask[where] = masks[height - 1][offset]
        return mask


def count_key(key: SetSizes | ItemSupports | HeadPatterns, starts: Ints, items: Codes, size: int) -> Ints:
    """The counts of a question of `baskets` over ragged rows."""
    match key:
        case SetSizes():
            return count_sizes(starts, np.array(key.edges))
        case ItemSupports():
            return count_items(starts, items, key.items, key.most, key.strata, key.singles)
        case HeadPatterns():
            return count_patterns(starts, items, size, np.array(key.items))
        case _:
            assert_never(key)


@dataclass(frozen=True, eq=False)
class _Cells:
    """The cell of each record as one number: its partition, then its mask; if masks are too wide, the position of the
    mask among `masks`, all that occur."""

    cell: Ints
    bits: int
    total: int
    masks: Codes | None

    @staticmethod
    def of(part: Ints, mask: Codes, parts: int) -> _Cells:
        masks = None
        width = int(mask.max(initial=0)).bit_length()
        if width > WIDE:
            masks, mask = np.unique(mask, return_inverse=True)
            width = len(masks).bit_length()
        return _Cells((part << width) | mask, width, parts << width, masks)

    @property
    def dense(self) -> bool:
        """Whether a table of all cells is not much larger than the records."""
        return self.total <= 4 * len(self.cell) + (1 << 16)

    def split(self, cell: Ints) -> tuple[Ints, Ints]:
        """Partition and mask of cells."""
        place = cell & ((1 << self.bits) - 1)
        return cell >> self.bits, place if self.masks is None else self.masks[place]

    def find(self, rows: Ints, masks: Ints) -> Ints:
        """For each record the position of its (partition, mask) in the list; -1 if it is not listed."""
        known, place = np.flatnonzero(masks >> self.bits == 0), masks
        if self.masks is not None:
            place = np.searchsorted(self.masks, masks)
            known = np.flatnonzero(np.append(self.masks, -1)[place] == masks)
        wanted = (rows[known] << self.bits) | place[known]
        if self.dense:
            table = np.full(self.total, -1, dtype=np.int64)
            table[wanted] = known
            return table[self.cell]
        if not len(wanted):
            return np.full(len(self.cell), -1, dtype=np.int64)
        near = np.minimum(np.searchsorted(wanted, self.cell), len(wanted) - 1)
        return np.where(wanted[near] == self.cell, known[near], -1)


def _levels(records: Ragged, tree: ItemTree) -> tuple[list[Codes], list[Codes]]:
    """For each height from 1 on: masks of the children touched, by record and node, and where each record's masks
    begin. Codes ascend within a record without repeats, so a node's children are next to each other at every height."""
    masks, offsets = list[Codes](), list[Codes]()
    child: Codes = np.asarray(records.codes, dtype=np.int32)
    begins: Codes = records.starts
    for edge in tree.edges:
        node_of = np.repeat(np.arange(len(edge) - 1, dtype=np.int32), np.diff(edge))
        small = int(np.diff(edge).max())
        kind: type[np.integer] = np.uint16 if small <= 16 else np.uint32 if small <= 32 else np.int64
        bit_of = (np.ones(1, np.int64) << (np.arange(len(node_of)) - edge[node_of])).astype(kind)
        node = node_of[child]
        new = np.empty(len(child), dtype=np.bool_)
        new[:1] = True
        np.not_equal(node[1:], node[:-1], out=new[1:])
        new[begins[:-1]] = True
        first = np.flatnonzero(new)
        masks.append(_sums(bit_of[child], first))
        before: Codes = np.zeros(len(child) + 1, dtype=np.int32 if len(child) < 1 << 31 else np.int64)
        np.cumsum(new, out=before[1:])
        begins = before[begins]
        offsets.append(begins)
        child = node[first]
    return masks, offsets


def _sums(values: Codes, first: Ints) -> Codes:
    """The sum of the values of each stretch that begins at `first`; for distinct bits this is their union. Running sums
    may overflow, but their differences are still right."""
    running = np.cumsum(values, dtype=values.dtype)[np.append(first[1:], len(values)) - 1] if len(first) else values
    running[1:] -= running[:-1].copy()
    return running


def _cut(records: Ragged, most: int, size: int) -> Ragged:
    """Records of more than `most` items cut to those of smallest hash; a public function of each record alone.

    A record's hash is the sum of its items' hashes (so their order does not matter); an item's mark is the hash of both
    together, and its last digits are the item's place, which breaks ties.
    """
    starts, items, sizes = records.starts, records.codes, np.diff(records.starts)
    keep = np.ones(len(items), dtype=np.bool_)
    hashes = scramble(np.arange(1, size + 1))
    for length, rows in _by_length(starts[:-1], sizes, most):
        mark = hashes[np.lib.stride_tricks.sliding_window_view(items, length)[rows]]
        mark ^= scramble(mark.sum(axis=1, dtype=np.uint64))[:, None]
        mark *= _ODD
        digits = (length - 1).bit_length()
        short: Codes = (mark >> np.uint64(32)).astype(np.uint32) if digits <= 12 else mark
        step = short.dtype.type(digits)
        short = (short >> step << step) | np.arange(length).astype(short.dtype)
        short.sort(axis=1)
        dropped = (short[:, most:] & short.dtype.type((1 << digits) - 1)).astype(np.int64)
        keep[(rows[:, None] + dropped).reshape(-1)] = False
    return Ragged(np.concatenate([np.zeros(1, np.int64), np.cumsum(np.minimum(sizes, most))]), items[keep])


def _by_length(begins: Ints, sizes: Ints, most: int) -> Iterator[tuple[int, Ints]]:
    """The lengths above `most` that occur, each with the position of its first record."""
    longer = np.flatnonzero(sizes > most)
    lengths = sizes[longer]
    kind = np.uint16 if int(lengths.max(initial=0)) < 1 << 16 else np.int64  # numpy sorts 16 bits by radix
    order = np.argsort(lengths.astype(kind), kind="stable")
    known, first = np.unique(lengths[order], return_index=True)
    yield from zip(known.tolist(), np.split(begins[longer[order]], first[1:]), strict=False)

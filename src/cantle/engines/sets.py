"""Sets of items in memory: for every height of the taxonomy, the nodes a record touches and which of their children.

All records of a partition share its cut, so the k-th node of a height is at offset k for every one of them, and what
a record touches below it is one load (a mask of children). Expanding a node is that load, a sort of (partition, mask)
with the record, and slices. Records are never moved, only their numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from cantle.engines.base import Chunk
from cantle.errors import ParameterError
from cantle.mixing import scramble
from cantle.partitions import ItemTree, Kept, Partitions, find_pairs, gather
from cantle.regions import Ints
from cantle.tally import SET_KEYS, Key, PatternTable, Sizes


class SetEngine:
    """Counts over records given as ragged rows of item codes, ascending within a row, no row empty.

    Claim 28. A record of more than `most` items is cut to the `most` of smallest hash (of the record and the item, by a
    public function), before anything is counted: a map from records to records, so data sets that differ in one record
    still do.
    """

    kind: ClassVar[str] = "sets"
    keys: ClassVar[tuple[type, ...]] = SET_KEYS

    def __init__(self, starts: Ints, items: npt.NDArray[Any], *, tree: ItemTree, most: int) -> None:
        if not tree.is_sound() or not 1 <= most <= tree.size:
            raise ParameterError("the taxonomy or the bound on items of a record is not sound")
        self._tree, self._most = tree.copy(), most
        starts, items = _cut(starts, items, most)
        self._masks, self._offsets = _levels(starts, items, self._tree)
        self._records = np.arange(len(starts) - 1, dtype=np.int64)
        self._starts: Ints = np.array([0, len(starts) - 1], dtype=np.int64)
        self._parts = self.root()
        self._sorted: tuple[Ints, Ints, Ints, Ints, Ints] | None = None

    def __repr__(self) -> str:
        return "SetEngine()"

    def __reduce__(self) -> Any:
        raise TypeError("an engine holds private records and cannot be pickled")

    def close(self) -> None:
        del self._masks, self._offsets, self._records, self._starts, self._sorted

    @property
    def domain(self) -> ItemTree:
        """The taxonomy, in arrays of its own: a method may hold it."""
        return self._tree.copy()

    def root(self) -> Partitions:
        return Partitions.root(self._tree, self._most)

    def tally(self, positions: Ints, key: Key) -> Iterator[Chunk]:
        if isinstance(key, PatternTable):
            counts = np.zeros((1, key.cells), dtype=np.int64)
            _, mask, number = self.touched(positions)
            counts[0, mask - 1] = number
            yield 0, 1, counts
        elif isinstance(key, Sizes):
            sizes = self._starts[positions + 1] - self._starts[positions]
            yield 0, len(positions), sizes.reshape(-1, 1)

    def touched(self, positions: Ints) -> tuple[Ints, Ints, Ints]:
        _, part, mask, first, _ = self._sort(positions)
        counts = np.diff(first)
        return np.searchsorted(part, np.arange(len(positions) + 1)), mask, counts

    def split(self, positions: Ints, kept: Kept) -> None:
        records, part, mask, first, _ = self._sort(positions)
        # Where each kept sub-partition stands among the occupied ones, if it does.
        found = find_pairs(part, mask, kept.rows, kept.mask)
        there = found < len(part)
        lengths = np.zeros(len(found), dtype=np.int64)
        lengths[there] = np.diff(first)[found[there]]
        _, self._records = gather(first, records, found[there])
        self._starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        self._parts = kept.children(self._parts.take(positions), 0)
        self._sorted = None

    def _sort(self, positions: Ints) -> tuple[Ints, Ints, Ints, Ints, Ints]:
        """Records of the listed partitions by (partition, mask), and for each such pair the number of the partition in
        the list, the mask, and where its records begin. Kept until the next split: expanding asks, then splits."""
        if self._sorted is not None and np.array_equal(self._sorted[4], positions):
            return self._sorted
        starts, records = gather(self._starts, self._records, positions)
        part = np.repeat(np.arange(len(positions)), np.diff(starts))
        mask = self._mask(positions, records, starts)
        records, part, mask = _order(records, part, mask)
        new = np.ones(len(records), dtype=np.bool_)
        new[1:] = (part[1:] != part[:-1]) | (mask[1:] != mask[:-1])
        first = np.flatnonzero(new)
        self._sorted = records, part[first], mask[first], np.append(first, len(records)), positions.copy()
        return self._sorted

    def _mask(self, positions: Ints, records: Ints, starts: Ints) -> Ints:
        """The children of its partition's next node that each record touches."""
        parts = self._parts
        mask = np.empty(len(records), dtype=np.int64)
        heights = parts.height[positions]
        for height in np.unique(heights).tolist():
            rows = np.flatnonzero(heights == height)
            spans, where = gather(starts, np.arange(len(records)), rows)
            owner = np.repeat(rows, np.diff(spans))
            offset = self._offsets[height - 1][records[where]] + parts.taken[positions][owner]
            mask[where] = self._masks[height - 1][offset]
        return mask


def _order(records: Ints, part: Ints, mask: Ints) -> tuple[Ints, Ints, Ints]:
    """By partition, mask and record: one sort of packed words where they fit 63 bits."""
    if not len(records):
        return records, part, mask
    bits = [int(column.max()).bit_length() for column in (part, mask, records)]
    if sum(bits) > 63:
        order = np.lexsort((records, mask, part))
        return records[order], part[order], mask[order]
    packed = (((part << bits[1]) | mask) << bits[2]) | records
    packed.sort()
    pair = packed >> bits[2]
    return packed & ((1 << bits[2]) - 1), pair >> bits[1], pair & ((1 << bits[1]) - 1)


def _levels(starts: Ints, items: npt.NDArray[Any], tree: ItemTree) -> tuple[list[npt.NDArray[Any]], list[Ints]]:
    """For each height from 1 on: masks of the children touched, record by record and node by node, and where each
    record's begin. Codes ascend within a record, so a node's children are neighbours at every height."""
    masks, offsets = [], []
    child: npt.NDArray[Any] = np.asarray(items, dtype=np.int32)
    begins = starts
    for edge in tree.edges:
        node_of = np.repeat(np.arange(len(edge) - 1, dtype=np.int32), np.diff(edge))
        small = int(np.diff(edge).max())
        kind = np.uint16 if small <= 16 else np.uint32 if small <= 32 else np.int64
        bit_of = (np.ones(1, np.int64) << (np.arange(len(node_of)) - edge[node_of])).astype(kind)
        node = node_of[child]
        new = np.empty(len(child), dtype=np.bool_)
        new[:1] = True
        np.not_equal(node[1:], node[:-1], out=new[1:])
        new[begins[:-1]] = True
        first = np.flatnonzero(new)
        masks.append(np.bitwise_or.reduceat(bit_of[child], first) if len(first) else np.zeros(0, kind))
        begins = np.concatenate([np.zeros(1, np.int64), np.cumsum(new)])[begins]
        offsets.append(begins)
        child = node[first]
    return masks, offsets


def _cut(starts: Ints, items: npt.NDArray[Any], most: int) -> tuple[Ints, npt.NDArray[Any]]:
    """Records of more than `most` items cut to those of smallest hash; a public function of each record alone."""
    sizes = np.diff(starts)
    keep = np.ones(len(items), dtype=np.bool_)
    for size in np.unique(sizes[sizes > most]).tolist():
        rows = np.flatnonzero(sizes == size)
        places = starts[rows, None] + np.arange(size)
        item = items[places].astype(np.uint64)
        record = scramble(scramble(item + np.uint64(1)).sum(axis=1, dtype=np.uint64))
        digits = np.uint64(max(1, (size - 1).bit_length()))
        mark = scramble(record[:, None] ^ item) >> digits << digits | np.arange(size, dtype=np.uint64)
        mark.sort(axis=1)
        dropped = (mark[:, most:] & ((np.uint64(1) << digits) - np.uint64(1))).astype(np.int64)
        keep[(starts[rows, None] + dropped).reshape(-1)] = False
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(np.minimum(sizes, most))]), items[keep]

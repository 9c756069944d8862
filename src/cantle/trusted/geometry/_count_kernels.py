"""Compiled twins of count_tables.py and of LabelTree.locate."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cantle.trusted.arrays import Bytes, Codes, Ints
from cantle.trusted.geometry.count_tables import flatten
from cantle.trusted.geometry.cross_tables import CrossTable, LabelTree
from cantle.trusted.jit import compiled

_BLOCK = 4096


@compiled
def _count(
    cells: Codes, begins: Ints, columns: Ints, offsets: NDArray[np.uint32], starts: Ints, counts: Ints, most: int
) -> None:
    records = cells.shape[1]
    index = np.empty(_BLOCK, dtype=np.uint32)
    even, odd = np.zeros(most, dtype=np.int64), np.zeros(most, dtype=np.int64)
    for table in range(len(begins) - 1):
        begin, end, base = begins[table], begins[table + 1], starts[table]
        size = starts[table + 1] - base
        even[:size] = 0
        odd[:size] = 0
        for first in range(0, records, _BLOCK):
            last = min(first + _BLOCK, records)
            part = index[: last - first]
            part[:] = 0
            for at in range(begin, end):
                row, column = offsets[at], cells[columns[at], first:last]
                for u in range(len(part)):
                    part[u] += row[column[u]]
            # Neighbouring records often share a cell. With two tables of counts, their additions do not wait for each
            # other.
            for u in range(0, len(part) - 1, 2):
                even[part[u]] += 1
                odd[part[u + 1]] += 1
            if len(part) % 2:
                even[part[len(part) - 1]] += 1
        for cell in range(size):
            counts[base + cell] = even[cell] + odd[cell]


def count_tables(cells: Codes, tables: Sequence[CrossTable]) -> Ints:
    """See count_tables.count_tables."""
    begins, columns, offsets, starts = flatten(tables)
    counts = np.zeros(starts[-1], dtype=np.int64)
    _count(cells, begins, columns, offsets, starts, counts, int(np.diff(starts).max()))
    return counts


@compiled
def _descend(cells: Codes, column: Ints, side: Bytes, child: Ints, leaf: Ints, leaves: Ints) -> None:
    for u in range(len(leaves)):
        node = 0
        while column[node] >= 0:
            node = child[node, side[node, cells[column[node], u]]]
        leaves[u] = leaf[node]


def locate_leaves(tree: LabelTree, cells: Sequence[Codes]) -> Ints:
    """See cross_tables.LabelTree.locate."""
    side = np.zeros((len(tree.column), max(map(len, tree.goes_left), default=1)), dtype=np.uint8)
    for row, goes_left in zip(side, tree.goes_left, strict=True):
        row[: len(goes_left)] = ~goes_left
    leaves = np.empty(len(cells[0]), dtype=np.int64)
    _descend(np.stack(cells), tree.column, side, np.stack([tree.left, tree.right], axis=1), tree.leaf, leaves)
    return leaves

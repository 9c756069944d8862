"""Compiled twin of `cross_tables.count_tables`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cantle.jit import compiled
from cantle.trusted.core.arrays import Codes, Ints
from cantle.trusted.geometry.cross_tables import CrossTable, flatten

_BLOCK = 4096
_SLICE = 1 << 18  # records whose groups are found together


@compiled
def _regroup(cells: Codes, columns: Ints, maps: Codes, groups: Codes) -> None:
    """The group of each record on each axis."""
    for axis in range(len(columns)):
        row, map_, out = cells[columns[axis]], maps[axis], groups[axis]
        for u in range(len(row)):
            out[u] = map_[row[u]]


@compiled
def _count(groups: Codes, begins: Ints, members: Ints, sizes: Codes, starts: Ints, index: Codes, counts: Ints) -> None:
    """Adds the counts of each table t, whose axes are members[begins[t]:begins[t + 1]]. `index` is room for the cell
    numbers of a block; two bytes each, if they suffice, take half the time of four."""
    records, block = groups.shape[1], len(index)
    most = np.max(starts[1:] - starts[:-1])
    even, odd = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)
    for table in range(len(begins) - 1):
        base, size = starts[table], starts[table + 1] - starts[table]
        even[:size] = 0
        odd[:size] = 0
        for first in range(0, records, block):
            last = min(first + block, records)
            part = index[: last - first]
            part[:] = 0
            for at in range(begins[table], begins[table + 1]):
                width, row = sizes[at], groups[members[at], first:last]
                for u in range(len(part)):
                    part[u] = part[u] * width + row[u]
            # Neighbouring records often share a cell. With two tables of counts, their additions do not wait for each
            # other.
            for u in range(0, len(part) - 1, 2):
                even[part[u]] += 1
                odd[part[u + 1]] += 1
            if len(part) % 2:
                even[part[len(part) - 1]] += 1
        for cell in range(size):
            counts[base + cell] += even[cell] + odd[cell]


def count_tables(cells: Codes, tables: Sequence[CrossTable]) -> Ints:
    """See cross_tables.count_tables."""
    columns, maps, begins, members, sizes, starts = flatten(tables)
    counts = np.zeros(starts[-1], dtype=np.int64)
    few = np.diff(starts).max() <= 1 << 16
    index: Codes = np.empty(_BLOCK, np.uint16) if few else np.empty(_BLOCK, np.uint32)
    for first in range(0, cells.shape[1], _SLICE):
        part = cells[:, first : first + _SLICE]
        groups = np.empty((len(columns), part.shape[1]), dtype=maps.dtype)
        _regroup(part, columns, maps, groups)
        _count(groups, begins, members, sizes.astype(index.dtype), starts, index, counts)
    return counts

"""Counts of the items of a list in a table: how many of them records hold, and parts by item or by two items.

Each count maps every record by itself, by public functions of its cells, so data sets that differ in one record differ
by that record's counts only (Claims 71 and 72).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cantle.trusted.claims.list_queries import PartsOfLists, SizesOfLists
from cantle.trusted.core.arrays import Bools, Codes
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.cross_tables import cells_in
from cantle.trusted.geometry.item_partitions import item_parts, pair_parts


def count_list(cells: Codes, key: SizesOfLists | PartsOfLists) -> Ints:
    """The counts of a key; `cells` has one row per column."""
    held = cells[list(key.items)] == 1
    size = held.sum(axis=0)
    if isinstance(key, SizesOfLists):
        return np.bincount(np.searchsorted(key.edges, size, "right") - 1, minlength=key.cells).astype(np.int64)
    parts, cell = (pair_parts if key.pairs else item_parts)(size, key.most), cells_in(key.by, cells)
    counts = np.zeros(key.cells, dtype=np.int64)
    for rows, records in _pairs(held) if key.pairs else _items(held):
        np.add.at(counts, rows * key.by.cells + cell[records], parts[records])
    return counts


def _items(held: Bools) -> Iterator[tuple[Ints, Ints]]:
    """Items and the records that hold them."""
    rows, records = np.nonzero(held)
    yield rows, records


def _pairs(held: Bools) -> Iterator[tuple[Ints, Ints]]:
    """Pairs of items, by their numbers, and the records that hold both."""
    for second in range(1, len(held)):
        records = np.flatnonzero(held[second])
        first, at = np.nonzero(held[:second, records])
        yield second * (second - 1) // 2 + first, records[at]

"""Counts of the keys of `mosaic`, and of workloads, over records given by their codes or cells.

All engines that hold records as arrays, whole or in parts, count by these functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from cantle.trusted.arrays import Codes, Words
from cantle.trusted.engines.packing import SLICE, Layout
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.count_tables import count_tables
from cantle.trusted.geometry.workloads import TableWorkload, count_table
from cantle.trusted.table_keys import LeafCounts, TableCounts

SLICES = 4 * SLICE
"""Records whose codes are unpacked together."""


def count_key(key: TableCounts | LeafCounts, columns: Sequence[Codes]) -> Ints:
    """All counts of a key over records given by their codes; callers apply the key's subset themselves."""
    return count_cells(key, key.within.locate(columns))


def count_cells(key: TableCounts | LeafCounts, cells: Codes, *, compiled: bool | None = None) -> Ints:
    """All counts of a key over records given by their cells, one row per column."""
    if isinstance(key, LeafCounts):
        entry = key.tree.locate(list(cells), compiled=compiled) * key.classes + cells[key.target]
        return np.bincount(entry, minlength=key.cells).astype(np.int64)
    return count_tables(cells, key.tables, compiled=compiled)


def count_words(layout: Layout, key: TableCounts | LeafCounts, parts: Iterable[tuple[Words, Codes | None]]) -> Ints:
    """All counts of a key over parts of the records as words; with copy numbers, of the key's subset of them."""
    counts = np.zeros(key.cells, dtype=np.int64)
    for words, copy in parts:
        for first in range(0, words.shape[1], SLICES):
            here = words[:, first : first + SLICES]
            columns = [layout.column(here, attribute) for attribute in range(len(layout.sizes))]
            if copy is not None and isinstance(key, TableCounts) and key.subset is not None:
                used = np.flatnonzero(key.subset.takes_part(columns, copy[first : first + SLICES]))
                columns = [column[used] for column in columns]
            counts += count_key(key, columns)
    return counts


def count_columns(
    workload: TableWorkload, columns: Sequence[Codes], classes: Codes, *, compiled: bool | None = None
) -> Ints:
    """All numbers of a workload; the class is one more column, if the cells have it."""
    return count_table(workload, [*columns, classes][: len(workload.within.edges)], compiled=compiled)


def count_all_words(layout: Layout, workload: TableWorkload, parts: Iterable[Words]) -> Ints:
    """The same over parts of the records as words."""
    counts = np.zeros(workload.cells, dtype=np.int64)
    for words in parts:
        columns = [layout.column(words, attribute) for attribute in range(len(layout.sizes))]
        counts += count_columns(workload, columns, layout.column(words, -1))
    return counts

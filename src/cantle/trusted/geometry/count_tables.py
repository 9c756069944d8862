"""Counts of many cross tables over the same records, given by their cells: private ones in engines, drafted ones in
post-processing.

The compiled form makes one pass over blocks of records per table; the numpy form here specifies it.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from cantle.trusted import kernel_choice
from cantle.trusted.arrays import Codes
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.cross_tables import CrossTable

COMPILED_FROM = 2000
"""Records from which on kernels pay off, if there are many tables."""

MANY = 32
"""From this number on, tables count as many."""


def count_tables(cells: Codes, tables: Sequence[CrossTable]) -> Ints:
    """The counts of each table, one table after the other; `cells` has one row per column."""
    if tables and _pays(cells.shape[1], len(tables)):
        from cantle.trusted.geometry import _count_kernels

        return _count_kernels.count_tables(cells, tables)
    return count_tables_plainly(cells, tables)


def _pays(records: int, tables: int) -> bool:
    """Whether kernels pay off. Both ways return the same counts, so the choice does not show in a result."""
    if kernel_choice.worth_loading(records):
        return find_spec("numba") is not None
    return records >= COMPILED_FROM and tables >= MANY and find_spec("numba") is not None


def count_tables_plainly(cells: Codes, tables: Sequence[CrossTable]) -> Ints:
    """The specification of `count_tables`."""
    counts = [np.zeros(0, dtype=np.int64)]
    for table in tables:
        entry = np.zeros(cells.shape[1], dtype=np.int64)
        for column, map_, groups in zip(table.columns, table.maps, table.shape, strict=True):
            entry *= groups
            entry += map_[cells[column]]
        counts.append(np.bincount(entry, minlength=table.cells).astype(np.int64))
    return np.concatenate(counts)


def flatten(tables: Sequence[CrossTable]) -> tuple[Ints, Ints, NDArray[np.uint32], Ints]:
    """Tables as arrays: where each one's columns begin, these columns, their maps times their strides, and where each
    one's counts begin."""
    most = max(len(map_) for table in tables for map_ in table.maps)
    begins = np.cumsum([0, *(len(table.columns) for table in tables)], dtype=np.int64)
    columns = np.array([column for table in tables for column in table.columns], dtype=np.int64)
    offsets = np.zeros((len(columns), most), dtype=np.uint32)
    starts = np.cumsum([0, *(table.cells for table in tables)], dtype=np.int64)
    for number, table in enumerate(tables):
        stride = table.cells
        for at, (map_, groups) in enumerate(zip(table.maps, table.shape, strict=True), int(begins[number])):
            stride //= groups
            offsets[at, : len(map_)] = map_.astype(np.uint32) * np.uint32(stride)
    return begins, columns, offsets, starts

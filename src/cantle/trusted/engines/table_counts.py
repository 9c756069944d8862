"""Counts of the keys of `mosaic` over records given by their codes or cells.

All engines that hold records as arrays, whole or in parts, count by these functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.count_tables import count_tables
from cantle.trusted.table_keys import LeafCounts, TableCounts


def count_key(key: TableCounts | LeafCounts, columns: Sequence[npt.NDArray[Any]]) -> Ints:
    """All counts of a key over records given by their codes; a subset is the business of who calls."""
    return count_cells(key, key.within.locate(columns))


def count_cells(key: TableCounts | LeafCounts, cells: npt.NDArray[Any]) -> Ints:
    """All counts of a key over records given by their cells, one row per column."""
    if isinstance(key, LeafCounts):
        entry = key.tree.locate(list(cells)) * key.classes + cells[key.target]
        return np.bincount(entry, minlength=key.cells).astype(np.int64)
    return count_tables(cells, key.tables)

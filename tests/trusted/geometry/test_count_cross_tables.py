"""Counts of cross tables by kernels."""

from __future__ import annotations

import numpy as np
import pytest

from cantle.trusted.geometry.cross_tables import CrossTable, count_tables_plainly


def test_kernels_count_tables_with_more_cells_than_two_bytes_can_number() -> None:
    kernels = pytest.importorskip("cantle.trusted.geometry._count_kernels", reason="numba is not installed")
    cells = np.random.default_rng(1).integers(0, 300, (2, 100)).astype(np.uint16)
    wide = [CrossTable((1, 0), (np.arange(300, dtype=np.uint16),) * 2)]
    assert np.array_equal(kernels.count_tables(cells, wide), count_tables_plainly(cells, wide))

"""Joint tables: the sums of a few larger tables are the counts of all wanted ones."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from cantle.trusted.geometry import count_tables
from cantle.trusted.geometry.count_tables import count_tables_plainly, joined
from cantle.trusted.geometry.cross_tables import CrossTable, Map

CELLS = (5, 2, 7, 3, 6)


def records(n: int = 500) -> np.ndarray:
    return np.random.default_rng(n).integers(0, np.array(CELLS)[:, None], (len(CELLS), n)).astype(np.uint8)


def map_of(column: int, groups: int) -> Map:
    return (np.arange(CELLS[column]) * groups // CELLS[column]).astype(np.uint8)


def table(*axes: tuple[int, int]) -> CrossTable:
    """A table of columns with these numbers of groups."""
    return CrossTable(tuple(column for column, _ in axes), tuple(map_of(*axis) for axis in axes))


PAIRS = [table((a, CELLS[a]), (b, CELLS[b])) for a, b in combinations(range(len(CELLS)), 2)]
MIXED = [
    table((2, 7), (0, 5)), table((0, 5), (1, 2)), table((1, 2), (2, 7)), table((3, 3)), table((0, 2), (2, 7)),
    table((4, 6), (0, 5), (3, 3)), table((2, 7), (0, 5)), table((0, 5), (2, 7)),
]  # fmt: skip
"""Among others: columns in either order, a table twice, one of three columns, and two maps of one column."""


@pytest.mark.parametrize("wanted", [PAIRS, MIXED, PAIRS[:1], []])
@pytest.mark.parametrize("most", [1, 75, 4096])
def test_sums_are_the_wanted_counts(wanted: list[CrossTable], most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(count_tables, "MOST_CELLS", most)
    cells, joint = records(), joined(wanted)
    added_up = joint.add_up(count_tables_plainly(cells, joint.tables))
    assert added_up.tolist() == count_tables_plainly(cells, wanted).tolist()


def test_all_pairs_of_small_columns_are_sums_of_one_table() -> None:
    assert [one.cells for one in joined(PAIRS).tables] == [5 * 2 * 7 * 3 * 6]


def test_joint_tables_stay_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(count_tables, "MOST_CELLS", 75)
    tables = joined(PAIRS).tables
    assert len(tables) < len(PAIRS)
    assert max(one.cells for one in tables) <= 75


@pytest.mark.parametrize("compiled", [False, True])
def test_tables_of_many_records_are_joined(compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if compiled:
        pytest.importorskip("numba", reason="numba is not installed")
    cells = records()
    want = count_tables_plainly(cells, PAIRS).tolist()
    counted: list[int] = []
    count = count_tables._count
    monkeypatch.setattr(count_tables, "_count", lambda *given: counted.append(len(given[1])) or count(*given))
    for least in (500, 501):
        monkeypatch.setattr(count_tables, "JOINED_FROM", least)
        assert count_tables.count_tables(cells, PAIRS, compiled=compiled).tolist() == want
    assert counted == [1, len(PAIRS)]


def test_kernels_count_tables_with_more_cells_than_two_bytes_can_number() -> None:
    kernels = pytest.importorskip("cantle.trusted.geometry._count_kernels", reason="numba is not installed")
    cells = np.random.default_rng(1).integers(0, 300, (2, 100)).astype(np.uint16)
    wide = [CrossTable((1, 0), (np.arange(300, dtype=np.uint16),) * 2)]
    assert np.array_equal(kernels.count_tables(cells, wide), count_tables_plainly(cells, wide))

"""Workloads of a release's own error: every engine counts what a loop over all records counts, also after splits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cantle import kernel_choice
from cantle.trusted.claims.queries import Size
from cantle.trusted.counting.ragged import Ragged
from cantle.trusted.counting.sets import SetEngine
from cantle.trusted.geometry import cross_tables, workloads
from cantle.trusted.geometry.boxes import Cuts
from cantle.trusted.geometry.cross_tables import ColumnCells, CrossTable
from cantle.trusted.geometry.item_partitions import ItemTree, Kept
from cantle.trusted.geometry.workloads import WHOLE, Rectangles, SetWorkload, TableWorkload, count_sets
from tests.laws.strategies import Table
from tests.trusted.counting.naive import NaiveEngine
from tests.trusted.counting.word_engines import WORD_ENGINES, batches_of

pytestmark = pytest.mark.filterwarnings(
    "ignore:PySpark does not yet fully support pandas:FutureWarning", "ignore:.*is deprecated:DeprecationWarning"
)

SIZES, CLASSES = (2, 300, 9), 3
EDGES = (np.arange(3), np.array([0, 1, 50, 51, 280, 300]), np.arange(10), np.arange(CLASSES + 1))
WITHIN = ColumnCells(EDGES)


def records(n: int, seed: int = 1) -> Table:
    dice = np.random.default_rng(seed)
    return Table(SIZES, CLASSES, tuple(map(tuple, dice.integers(0, (*SIZES, CLASSES), (n, 4)).tolist())))


PAIRS = (
    CrossTable((3, 1), (np.arange(3, dtype=np.uint8), np.array([0, 0, 1, 1, 2], dtype=np.uint8))),
    CrossTable((0, 2), (np.arange(2, dtype=np.uint8), np.array([0, 0, 0, 0, 1, 1, 2, 2, 2], dtype=np.uint8))),
)
ALONE = tuple(CrossTable((one,), (np.arange(WITHIN.shape[one], dtype=np.uint16),)) for one in range(4))
ASKED = Rectangles(np.arange(7), *(np.full(6, fill) for fill in (0, 1, 0, 1, WHOLE)))
WORKLOAD = TableWorkload(WITHIN, (*ALONE, *PAIRS), np.array([0, 0, 0, 0, 1, 2]), ASKED)


def by_hand(table: Table) -> list[int]:
    naive = NaiveEngine(table.codes, table.labels, sizes=SIZES, class_count=CLASSES)
    counts: list[int] = naive.count_all(WORKLOAD).tolist()
    return counts


def check(engine: Any, table: Table) -> None:
    """Checks the counts of all records before the first split, and after two splits that closed regions."""
    want = by_hand(table)
    assert WORKLOAD.fits(engine.domain)
    engine.keep_all()
    assert engine.count_all(WORKLOAD).tolist() == want
    engine.split(np.array([0]), Cuts(np.array([1]), np.array([100])))
    engine.split(np.array([1]), Cuts(np.array([2]), np.array([4])))
    assert engine.count_all(WORKLOAD).tolist() == want
    kept = sum(counts.sum() for _, _, counts in engine.tally(np.arange(2), Size()))
    assert kept < len(table.records) or len(table.records) < 2  # regions were closed, but all records are counted
    engine.close()


@pytest.mark.parametrize("name", WORD_ENGINES)
@pytest.mark.parametrize("n", [0, 1, 300])
def test_counts_of_words(name: str, n: int) -> None:
    table = records(n)
    with batches_of(100):
        check(WORD_ENGINES[name](table.codes, table.labels, sizes=SIZES, class_count=CLASSES), table)


def test_a_table_keeps_all_records_only_if_it_was_asked_to() -> None:
    engine = records(30).engine()
    assert engine.count_all(WORKLOAD).tolist() == by_hand(records(30))
    engine.split(np.array([0]), Cuts(np.array([1]), np.array([100])))
    with pytest.raises(AssertionError):
        engine.count_all(WORKLOAD)


def test_counts_of_spark(spark: Any, tmp_path: Path) -> None:
    from tests.trusted.counting.test_spark import opened

    table = records(300)
    check(opened(spark, table, tmp_path), table)


def test_the_sizes_of_blocks_change_no_count(monkeypatch: pytest.MonkeyPatch) -> None:
    table = records(300)
    columns = [*table.codes.T, table.labels]
    whole = workloads.count_table(WORKLOAD, columns)
    monkeypatch.setattr(workloads, "_SLICE", 41)
    assert np.array_equal(workloads.count_table(WORKLOAD, columns), whole)


def test_kernels_count_workloads_of_many_records(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba", reason="numba is not installed")
    table = records(300)
    monkeypatch.setattr(kernel_choice, "FROM", 300)
    monkeypatch.setattr(cross_tables, "count_tables_plainly", lambda *_: pytest.fail("it was counted without kernels"))
    assert workloads.count_table(WORKLOAD, [*table.codes.T, table.labels]).tolist() == by_hand(table)


# ---- sets -----------------------------------------------------------------------------------------------------------


def sets(n: int, universe: int) -> list[list[int]]:
    dice = np.random.default_rng(n)
    return [sorted(dice.permutation(universe)[: dice.integers(1, universe + 1)].tolist()) for _ in range(n)]


ABOUT = SetWorkload(
    np.array([0, 4, 5]), np.array([0, 1, 3]), np.array([0, 2, 5, 7]), np.array([1, 0, 2, 3, 4, 4, 5]), 1
)


@pytest.mark.parametrize("n", [0, 1, 200])
def test_sets_are_counted_uncut(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = sets(n, 6)
    groups = [[0], [4], [5], [1, 0], [2, 3, 4], [4, 5]]
    want = [sum(set(group) <= set(row) for row in rows) for group in groups]
    starts, items = np.cumsum([0, *map(len, rows)]), np.array([i for row in rows for i in row], dtype=np.int32)
    engine = SetEngine(Ragged(starts, items), tree=ItemTree.of(6, 6, even=True), most=2)
    engine.keep_all()
    assert engine.count_all(ABOUT).tolist() == want
    engine.split(np.array([0]), Kept(np.array([0]), np.array([1])))  # only records that hold item 0 alone stay
    assert engine.count_all(ABOUT).tolist() == want
    monkeypatch.setattr(workloads, "_PACKED", 64)
    assert count_sets(ABOUT, starts, items).tolist() == want
    engine.close()


def test_a_split_drops_records_unless_all_are_to_be_kept() -> None:
    engine = SetEngine(Ragged(np.array([0, 2, 3]), np.array([0, 1, 2])), tree=ItemTree.of(3, 3, even=True), most=3)
    engine.split(np.array([0]), Kept(np.array([0]), np.array([4])))
    assert len(engine._all.everything()) == 0

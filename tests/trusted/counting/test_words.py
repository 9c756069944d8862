"""The word engine by itself: tables counted by hand, chunks, refusals, and what it shows and keeps."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from typing import Any

import numpy as np
import pytest

from cantle import kernel_choice
from cantle.trusted.claims.queries import Histogram, Size
from cantle.trusted.core.keys import CodeTable, GridBins, GridCells, OneWays
from cantle.trusted.counting.words import WordEngine
from cantle.trusted.geometry.boxes import Cuts
from cantle.trusted.geometry.grid import Grid
from tests.laws.strategies import Table, word_engine
from tests.trusted.counting.walks import whole
from tests.trusted.counting.word_engines import WORD_ENGINES

CODES = np.array([[0, 1], [2, 0], [1, 1], [2, 2], [0, 0]], dtype=np.uint8)
CLASSES = np.array([0, 1, 1, 0, 1], dtype=np.uint8)
ROOT = np.array([0])


def engine(**options: Any) -> WordEngine:
    return word_engine(CODES, CLASSES, sizes=(3, 3), class_count=2, **options)


def test_one_way_tables_by_hand() -> None:
    ((_, _, counts),) = engine().tally(ROOT, OneWays((0, 1), (3, 3), 2))
    # attribute 0: code 0 has classes {0, 1}, code 1 {1}, code 2 {1, 0}; attribute 1: 0 {1, 1}, 1 {0, 1}, 2 {0}
    assert counts.tolist() == [[1, 1, 0, 1, 1, 1, 0, 2, 1, 1, 1, 0]]


@pytest.mark.parametrize(("cells", "chunks"), [(1, 4), (2, 4), (4, 2), (8, 1), (10**6, 1)])
def test_chunks_hold_as_many_cells_as_allowed(cells: int, chunks: int) -> None:
    store = engine(chunk_cells=cells)
    store.split(ROOT, Cuts(np.array([0]), np.array([1])))
    store.split(np.arange(2), Cuts(np.array([1, 1]), np.array([1, 1])))
    assert len(list(store.tally(np.arange(4), Histogram(2)))) == chunks


def test_the_callers_arrays_are_never_written() -> None:
    before = CODES.copy(), CLASSES.copy()
    store = engine()
    store.split(ROOT, Cuts(np.array([1]), np.array([1])))
    store.split(np.array([1]), Cuts(np.array([0]), np.array([1])))
    assert (before[0] == CODES).all()
    assert (before[1] == CLASSES).all()


@pytest.mark.parametrize("name", WORD_ENGINES)
def test_records_are_read_in_batches_of_any_size(name: str) -> None:
    """More records than one batch, in regions of very different sizes, some of them empty."""
    dice = np.random.default_rng(3)
    codes = np.stack([dice.integers(0, 40, 150_000) ** 2 // 40, dice.integers(0, 5, 150_000)], axis=1)
    store = WORD_ENGINES[name](codes, np.zeros(len(codes), np.uint8), sizes=(50, 5), class_count=1)
    store.split(ROOT, Cuts(np.array([0]), np.array([1])))
    store.split(np.arange(2), Cuts(np.array([0, 0]), np.array([1, 30])))  # code 1 and above: nobody of the first
    store.split(np.array([0, 1, 3]), Cuts(np.array([1, 1, 1]), np.array([2, 2, 2])))
    first, second = codes[:, 0], codes[:, 1] < 2
    sides = [part for side in (first < 1, first < 0, first >= 30) for part in (side & second, side & ~second)]
    assert whole(store, np.arange(6), Size()) == [[int(side.sum())] for side in sides]
    tables = [np.bincount(codes[side, 1], minlength=5).tolist() for side in sides]
    assert whole(store, np.arange(6), OneWays((1,), (5,), 1)) == tables
    store.close()


def test_a_domain_without_attributes_has_one_region() -> None:
    store = word_engine(np.zeros((4, 0), np.uint8), np.array([0, 1, 1, 1]), sizes=(), class_count=2)
    ((_, _, counts),) = store.tally(ROOT, Histogram(2))
    assert counts.tolist() == [[1, 3]]
    assert store.occupied(GridCells(Grid(()), 2))[1].tolist() == [1, 3]


def test_no_batches_are_no_records() -> None:
    assert whole(WordEngine([], sizes=(4,), class_count=1), ROOT, Size()) == [[0]]


@pytest.mark.parametrize("codes", [[0, 3], [-1, 0], [0, 256]], ids=str)
def test_codes_outside_the_domain_are_refused(codes: list[int]) -> None:
    """They would be read as other codes, or lie outside the arrays of kernels."""
    with pytest.raises(ValueError, match="codes must be below"):
        WordEngine([([np.array(codes)], np.zeros(2, np.int64))], sizes=(3,), class_count=1)


def test_another_grid_is_counted_anew() -> None:
    store = Table((4,), 1, ((0, 0), (3, 0))).engine()
    for grid, expected in ((Grid.top((4,)), [2]), (Grid.top((4,)).refine(0, (2,)), [1, 1]), (Grid.top((4,)), [2])):
        assert store.occupied(GridCells(grid, 1))[1].tolist() == expected


@pytest.mark.parametrize("name", WORD_ENGINES)
def test_cells_of_columns_of_very_many_codes_are_searched(name: str) -> None:
    sizes, dice = (2**53, 3), np.random.default_rng(4)
    codes = np.stack([dice.integers(0, size, 200) for size in sizes], axis=1)
    codes[:2, 0] = 2**53 - 1, 2**52
    store = WORD_ENGINES[name](codes, np.arange(200) % 2, sizes=sizes, class_count=2)
    grid = Grid.top(sizes).refine(0, (5, 2**52, 2**53 - 1)).refine(1, (1,))
    cell = np.searchsorted([5, 2**52, 2**53 - 1], codes[:, 0], side="right") * 2 + (codes[:, 1] >= 1)
    entries, counts = np.unique(cell * 2 + np.arange(200) % 2, return_counts=True)
    assert [part.tolist() for part in store.occupied(GridCells(grid, 2))] == [entries.tolist(), counts.tolist()]


def test_kernels_are_chosen_by_the_number_of_records(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    assert not engine().compiled
    monkeypatch.setattr(kernel_choice, "FROM", 5)
    assert engine().compiled
    assert not engine(compiled=False).compiled
    monkeypatch.setattr(kernel_choice, "find_spec", lambda _: None)  # as if numba were not installed
    assert not engine().compiled


@pytest.mark.parametrize("duplicate", [pickle.dumps, copy.copy, copy.deepcopy])
def test_the_engine_cannot_be_pickled_or_copied(duplicate: Any) -> None:
    with pytest.raises(TypeError, match="private"):
        duplicate(engine())
    assert repr(engine()) == "WordEngine(private)"


@pytest.mark.parametrize("name", ["memory", "disk"])
def test_a_closed_engine_holds_no_records(name: str) -> None:
    """The counts that it kept are discarded as well."""
    gc.freeze()  # the collector then looks only at objects made from here on
    column, label = np.full((1000, 1), 2, dtype=np.uint8), np.zeros(1000, dtype=np.uint8)
    store = WORD_ENGINES[name](column, label, sizes=(4,), class_count=1)
    store.occupied(GridCells(Grid.top((4,)).refine(0, (1, 2)), 1))
    store.dense(GridBins(0, np.array([0, 1, 2]), np.zeros(3, np.int64), 1, 1))
    kept, counts = store.occupied(CodeTable(0, 4, 1))
    references = [weakref.ref(array) for array in (column, label, kept, counts, store._rows, store._placed[1])]
    store.close()
    assert not [name for name, value in vars(store).items() if isinstance(value, np.ndarray)]
    del column, label, kept, counts
    gc.collect()
    assert [reference() for reference in references] == [None] * 6
    with pytest.raises(AttributeError):
        list(store.tally(ROOT, Size()))
    with pytest.raises(AttributeError):
        store.occupied(CodeTable(0, 4, 1))


def test_a_part_holds_an_engine_between_two_splits() -> None:
    """Workers of a cluster keep parts, and make an engine of one whenever they are asked."""
    first = engine()
    first.split(ROOT, Cuts(np.array([0]), np.array([1])))
    second = WordEngine.of_part(first.part, sizes=(3, 3), class_count=2)
    for store in (first, second):
        store.split(np.array([1]), Cuts(np.array([1]), np.array([1])))
    for key in (Size(), Histogram(2), OneWays((0, 1), (3, 3), 2)):
        assert whole(second, np.arange(2), key) == whole(first, np.arange(2), key)
    assert whole(second, np.arange(2), Size()) == [[1], [2]]

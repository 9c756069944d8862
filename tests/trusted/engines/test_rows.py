"""The engine of rows in memory: chunks, copies and what it shows; test_contract.py and tests/laws test its counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from cantle.errors import ParameterError
from cantle.trusted.budget import NANO, Budget, Unit
from cantle.trusted.curator import Curator
from cantle.trusted.engines.rows import MemoryEngine, open_rows
from cantle.trusted.geometry.boxes import Cuts
from cantle.trusted.geometry.cross_tables import ColumnCells, CrossTable
from cantle.trusted.geometry.grid import Grid
from cantle.trusted.keys import Classes, OneWays, Sizes
from cantle.trusted.noise import Seeded
from cantle.trusted.queries import Cells
from cantle.trusted.scores import Max
from cantle.trusted.specialisations import OneValue, Value
from cantle.trusted.stop_test import PrivTree
from cantle.trusted.table_queries import CrossTables
from cantle.trusted.value_trees import ValueTrees

CODES = np.array([[0, 1], [2, 0], [1, 1], [2, 2], [0, 0]], dtype=np.uint8)
CLASSES = np.array([0, 1, 1, 0, 1], dtype=np.uint8)


def engine(**options: int) -> MemoryEngine:
    return MemoryEngine(CODES, CLASSES, sizes=(3, 3), class_count=2, **options)


def test_one_way_tables_by_hand() -> None:
    ((_, _, counts),) = engine().tally(np.array([0]), OneWays((0, 1), (3, 3), 2))
    # attribute 0: code 0 has classes {0, 1}, code 1 {1}, code 2 {1, 0}; attribute 1: 0 {1, 1}, 1 {0, 1}, 2 {0}
    assert counts.tolist() == [[1, 1, 0, 1, 1, 1, 0, 2, 1, 1, 1, 0]]


@pytest.mark.parametrize(("cells", "chunks"), [(1, 4), (2, 4), (4, 2), (8, 1), (10**6, 1)])
def test_chunks_hold_as_many_cells_as_allowed(cells: int, chunks: int) -> None:
    store = engine(chunk_cells=cells)
    store.split(np.array([0]), Cuts(np.array([0]), np.array([1])))
    store.split(np.arange(2), Cuts(np.array([1, 1]), np.array([1, 1])))
    assert len(list(store.tally(np.arange(4), Classes(2)))) == chunks


def test_the_callers_arrays_are_never_written() -> None:
    before = CODES.copy(), CLASSES.copy()
    store = engine()
    store.split(np.array([0]), Cuts(np.array([1]), np.array([1])))
    store.split(np.array([1]), Cuts(np.array([0]), np.array([1])))
    assert (before[0] == CODES).all()
    assert (before[1] == CLASSES).all()


def test_columns_in_any_memory_order_are_the_same_records() -> None:
    fortran_order = MemoryEngine(np.asfortranarray(CODES), CLASSES[::1], sizes=(3, 3), class_count=2)
    for key in (Sizes(), Classes(2), OneWays((1,), (3,), 1)):
        ((_, _, ours),), ((_, _, theirs),) = engine().tally(np.array([0]), key), fortran_order.tally(np.array([0]), key)
        assert ours.tolist() == theirs.tolist()


def test_a_closed_engine_shows_and_keeps_nothing() -> None:
    store = engine()
    assert repr(store) == "MemoryEngine()"
    store.close()
    assert {name for name in vars(store) if isinstance(getattr(store, name), np.ndarray)} == set()


def test_a_domain_without_attributes_has_one_region() -> None:
    store = MemoryEngine(np.zeros((4, 0), np.uint8), np.array([0, 1, 1, 1]), sizes=(), class_count=2)
    ((_, _, counts),) = store.tally(np.array([0]), Classes(2))
    assert counts.tolist() == [[1, 3]]


WITHIN = ColumnCells((np.arange(4), np.arange(4)))
TABLE = CrossTable((0,), (np.arange(3).astype(np.uint8),))
HALVED = Value(0, (0, 3), ((0, 1), (1, 3)))
WHOLE: dict[str, Callable[[Curator, Any], object]] = {
    "cross tables": lambda c, root: c.measure(root, CrossTables(WITHIN, (TABLE,)), 1, why="a table"),
    "cells of a grid": lambda c, root: c.measure(root, Cells(Grid.top((3, 3)), 1), 1, why="cells", at_least=1),
    "specialisations": lambda c, root: c.choose(root, OneValue((HALVED,), (3, 3), 1), Max(), 1, why="a value"),
    "trees over values": lambda c, root: c.grow(
        root, ValueTrees((0,), (np.array([0, 3]),), (3, 3)), PrivTree(1, 1, 1), why="a tree"
    ),
}


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("ask", WHOLE.values(), ids=WHOLE.keys())
def test_questions_about_whole_tables_are_refused_before_they_are_paid_for(ask: Any, compiled: bool) -> None:
    if compiled:
        pytest.importorskip("numba")
    store = open_rows(CODES, np.zeros(5, np.uint8), sizes=(3, 3), class_count=1, compiled=compiled)
    curator = Curator(store, Budget(NANO, Unit()), Seeded(1))
    root = curator.root()
    with pytest.raises(ParameterError, match="regions"):
        ask(curator, root)
    assert curator.left(root).tolist() == [NANO]

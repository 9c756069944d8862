"""The column engine: counts compared with a recount record by record, and what it must not reveal."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cantle.errors import ParameterError
from cantle.trusted.budget import Budget, Unit
from cantle.trusted.curator import Curator
from cantle.trusted.cut_candidates import CutsOf
from cantle.trusted.engines import columns as module
from cantle.trusted.engines.columns import ColumnEngine
from cantle.trusted.geometry.boxes import Cuts
from cantle.trusted.geometry.grid import Grid
from cantle.trusted.keys import ChildSizes, Classes, CodeTable, GridBins, GridCells, OneWays, Sizes
from cantle.trusted.noise import Seeded
from cantle.trusted.scores import BALANCE
from tests.effort import examples
from tests.laws.strategies import Table, tables

ROOT = np.array([0])


def opened(table: Table, dtype: Any = np.uint8) -> ColumnEngine:
    columns = [column.astype(dtype) for column in table.codes.T]
    return ColumnEngine(columns, table.labels, sizes=table.sizes, class_count=table.classes)


def cell_of(grid: Grid, codes: tuple[int, ...]) -> int:
    cell = 0
    for edge, code in zip(grid.edges, codes, strict=True):
        cell = cell * (len(edge) - 1) + sum(1 for e in edge.tolist()[1:] if e <= code)
    return cell


@st.composite
def questions(draw: st.DrawFn) -> tuple[Table, Grid]:
    table = draw(tables(max_records=15))
    grid = Grid.top(table.sizes)
    for attribute, size in enumerate(table.sizes):
        grid = grid.refine(attribute, tuple(draw(st.sets(st.integers(0, size)))))
    return table, grid


def listed(counter: Counter[int]) -> list[list[int]]:
    return [sorted(counter), [counter[entry] for entry in sorted(counter)]]


@pytest.mark.parametrize("dense", [1 << 20, 0], ids=["dense", "sorted"])
@examples(14)
@given(asked=questions(), dtype=st.sampled_from([np.uint8, np.uint64, np.int64]))
def test_occupied_entries_are_those_of_a_recount(asked: tuple[Table, Grid], dtype: Any, dense: int) -> None:
    table, grid = asked
    engine = opened(table, dtype)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "DENSE", dense)
        cells = engine.occupied(GridCells(grid, table.classes))
        expected = Counter(cell_of(grid, r[:-1]) * table.classes + r[-1] for r in table.records)
        assert [part.tolist() for part in cells] == listed(expected)
        for attribute, size in enumerate(table.sizes):
            for _ in range(2):  # counted at first, then kept
                entries = engine.occupied(CodeTable(attribute, size, table.classes))
                counted = Counter(r[attribute] * table.classes + r[-1] for r in table.records)
                assert [part.tolist() for part in entries] == listed(counted)


@pytest.mark.parametrize("looked_up", [1 << 22, 0], ids=["by table", "by search"])
@examples(14)
@given(asked=questions(), data=st.data())
def test_binned_grids_are_those_of_a_recount(asked: tuple[Table, Grid], data, looked_up: int) -> None:
    table, grid = asked
    engine = opened(table)
    for attribute in range(len(table.sizes)):  # one grid for all, as in a round
        spans = grid.spans(attribute)
        inner = [sorted(data.draw(st.sets(st.integers(lo + 1, hi - 1)))) if hi - lo > 1 else [] for lo, hi in spans]
        starts = [start for (lo, _), points in zip(spans, inner, strict=True) for start in [lo, *points]]
        number = [i for points in inner for i in range(len(points) + 1)]
        width = max(number) + 1
        engine.place(grid)
        key = GridBins(attribute, np.array(starts), np.array(number), width, table.classes)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "LOOKED_UP", looked_up)
            counts = engine.dense(key)
        expected = np.zeros((grid.cells, table.classes, width), dtype=np.int64)
        for record in table.records:
            place = max(i for i, start in enumerate(starts) if start <= record[attribute])
            expected[cell_of(grid, record[:-1]), record[-1], number[place]] += 1
        assert counts.tolist() == expected.tolist()


@examples(16)
@given(table=tables(max_records=15), dtype=st.sampled_from([np.uint8, np.int64]))
def test_tallies_are_those_of_a_recount(table: Table, dtype: Any) -> None:
    engine = opened(table, dtype)
    every = tuple(range(len(table.sizes)))

    def tallied(key: Any) -> list[int]:
        [(first, last, counts)] = engine.tally(ROOT, key)
        assert (first, last) == (0, 1)
        assert counts.shape == (1, key.cells)
        return counts[0].tolist()

    assert tallied(Sizes()) == [len(table.records)]
    assert tallied(Classes(table.classes)) == [sum(r[-1] == c for r in table.records) for c in range(table.classes)]
    assert tallied(OneWays(every, table.sizes, table.classes)) == [
        sum(r[a] == code and r[-1] == c for r in table.records)
        for a in every
        for code in range(table.sizes[a])
        for c in range(table.classes)
    ]
    assert tallied(OneWays(every, table.sizes, 1)) == [
        sum(r[a] == code for r in table.records) for a in every for code in range(table.sizes[a])
    ]


def test_another_grid_is_counted_anew() -> None:
    engine = opened(Table((4,), 1, ((0, 0), (3, 0))))
    for grid, expected in ((Grid.top((4,)), [2]), (Grid.top((4,)).refine(0, (2,)), [1, 1]), (Grid.top((4,)), [2])):
        assert engine.occupied(GridCells(grid, 1))[1].tolist() == expected


def test_kernels_find_the_cells_of_wide_columns() -> None:
    """If a column has too many codes for a lookup table, its cells are found by search."""
    pytest.importorskip("numba")
    sizes, dice = (module.LOOKED_UP + 10, 3), np.random.default_rng(4)
    columns = [dice.integers(0, size, 200) for size in sizes]
    grid = Grid.top(sizes).refine(0, (5, sizes[0] // 2, sizes[0] - 1)).refine(1, (1,))
    plain, compiled = (
        ColumnEngine(columns, np.arange(200) % 2, sizes=sizes, class_count=2, compiled=kernels).occupied(
            GridCells(grid, 2)
        )
        for kernels in (False, True)
    )
    assert [part.tolist() for part in compiled] == [part.tolist() for part in plain]


@pytest.mark.parametrize("codes", [[0, 4], [-1, 0]], ids=str)
def test_codes_outside_the_domain_are_refused_before_kernels_see_them(codes: list[int]) -> None:
    with pytest.raises(ValueError, match="codes must be below"):
        ColumnEngine([np.array(codes)], np.zeros(2, np.int64), sizes=(4,), class_count=1, compiled=True)


def test_no_regions_give_no_counts() -> None:
    assert list(opened(Table((4,), 1, ())).tally(np.zeros(0, np.int64), Sizes())) == []


def test_the_only_region_cannot_be_split() -> None:
    engine = opened(Table((4,), 1, ((0, 0),)))
    cut = Cuts(np.array([0]), np.array([2]))
    with pytest.raises(NotImplementedError):
        engine.split(ROOT, cut)
    with pytest.raises(NotImplementedError):
        list(engine.tally(ROOT, ChildSizes(cut)))


def test_cuts_of_one_column_per_region_are_refused_before_they_are_charged() -> None:
    """The engine cannot count them, and the refused question costs nothing."""
    engine = opened(Table((4,), 1, ((0, 0),)))
    with Curator(engine, Budget(10, Unit()), Seeded(1)) as curator:
        with pytest.raises(ParameterError, match="open the table by rows"):
            curator.choose(curator.root(), CutsOf(np.array([0]), 4, 1), BALANCE, 5, why="cut")
        assert curator.left(curator.root()).tolist() == [10]


@pytest.mark.parametrize("duplicate", [pickle.dumps, copy.copy, copy.deepcopy])
def test_the_engine_cannot_be_pickled_or_copied(duplicate: Any) -> None:
    engine = opened(Table((4,), 1, ((0, 0),)))
    with pytest.raises(TypeError, match="private"):
        duplicate(engine)
    assert repr(engine) == "ColumnEngine()"


def test_a_closed_engine_holds_no_records() -> None:
    """The counts that it kept are discarded as well."""
    gc.freeze()  # the collector then looks only at objects made from here on
    column, label = np.full(1000, 2, dtype=np.uint8), np.zeros(1000, dtype=np.uint8)
    engine = ColumnEngine([column], label, sizes=(4,), class_count=1)
    grid = Grid.top((4,)).refine(0, (1, 2))
    engine.occupied(GridCells(grid, 1))
    engine.dense(GridBins(0, np.array([0, 1, 2]), np.zeros(3, np.int64), 1, 1))
    kept, counts = engine.occupied(CodeTable(0, 4, 1))
    references = [weakref.ref(array) for array in (column, label, kept, counts)]
    engine.close()
    assert not [name for name, value in vars(engine).items() if isinstance(value, np.ndarray | list | dict)]
    del column, label, kept, counts
    gc.collect()
    assert [reference() for reference in references] == [None] * 4
    with pytest.raises(AttributeError):
        list(engine.tally(ROOT, Sizes()))
    with pytest.raises(AttributeError):
        engine.occupied(CodeTable(0, 4, 1))

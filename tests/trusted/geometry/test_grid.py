"""Grids of cells, the product of one list of edges per attribute, checked by brute force."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cantle.trusted.geometry import grid as module
from cantle.trusted.geometry.grid import MOST_CELLS, Grid


def edges(*lists: list[int]) -> Grid:
    return Grid(tuple(np.array(edge, dtype=np.int64) for edge in lists))


@st.composite
def grids(draw: st.DrawFn) -> tuple[Grid, tuple[int, ...]]:
    sizes = tuple(draw(st.lists(st.integers(1, 7), min_size=1, max_size=3)))
    inner = [sorted(draw(st.sets(st.integers(1, size - 1)))) if size > 1 else [] for size in sizes]
    return edges(*([0, *points, size] for points, size in zip(inner, sizes, strict=True))), sizes


@pytest.mark.parametrize("looked_up", [1 << 22, 0], ids=["by table", "by search"])
@given(case=grids())
def test_cells_are_numbered_in_mixed_radix_first_attribute_slowest(case, looked_up: int) -> None:
    grid, sizes = case
    records = list(product(*(range(size) for size in sizes)))
    columns = [np.array(column, dtype=np.uint8) for column in zip(*records, strict=True)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "LOOKED_UP", looked_up)
        located = grid.locate(columns)
    cells = list(product(*(grid.spans(a) for a in range(len(sizes)))))
    assert len(cells) == grid.cells
    for record, cell in zip(records, located.tolist(), strict=True):
        assert all(lo <= code < hi for code, (lo, hi) in zip(record, cells[cell], strict=True))


@given(case=grids())
def test_unravel_gives_the_spans_of_a_cell(case) -> None:
    grid, _ = case
    numbers = grid.unravel(np.arange(grid.cells)).tolist()
    assert numbers == [list(cell) for cell in product(*(range(n) for n in grid.shape))]


@given(case=grids(), data=st.data())
def test_refining_adds_edges_and_changes_nothing_else(case, data) -> None:
    grid, sizes = case
    attribute = data.draw(st.integers(0, len(sizes) - 1))
    points = tuple(data.draw(st.sets(st.integers(0, sizes[attribute]))))
    finer = grid.refine(attribute, points)
    assert finer.fits(sizes)
    for a, (old, new) in enumerate(zip(grid.edges, finer.edges, strict=True)):
        expected = sorted({*old.tolist(), *(points if a == attribute else ())})
        assert new.tolist() == expected


def test_the_coarsest_grid_has_one_cell() -> None:
    top = Grid.top((5, 1, 9))
    assert (top.cells, top.shape, top.spans(2)) == (1, (1, 1, 1), [(0, 9)])
    assert top.fits((5, 1, 9))
    assert top.locate([np.array([4, 0]), np.array([0, 0]), np.array([8, 3])]).tolist() == [0, 0]


def test_a_table_without_attributes_has_one_cell() -> None:
    grid = Grid.top(())
    assert grid.cells == 1
    assert grid.unravel(np.array([0, 0])).shape == (2, 0)


@pytest.mark.parametrize(
    "wrong",
    [
        edges([0, 4]),
        edges([0, 4], [0, 3], [0, 2]),
        edges([0, 5], [0, 3]),
        edges([1, 4], [0, 3]),
        edges([0, 2, 2, 4], [0, 3]),
        edges([0, 3, 2, 4], [0, 3]),
        edges([4], [0, 3]),
        Grid((np.array([0.0, 4.0]), np.array([0, 3]))),
        Grid((np.array([0, 4], dtype=np.int32), np.array([0, 3]))),
        Grid((np.array([[0, 4]]), np.array([0, 3]))),
    ],
    ids=lambda grid: str([edge.tolist() for edge in grid.edges]),
)
def test_edges_of_another_domain_do_not_fit(wrong: Grid) -> None:
    assert edges([0, 4], [0, 3]).fits((4, 3))
    assert not wrong.fits((4, 3))


def test_more_cells_than_can_be_numbered_do_not_fit() -> None:
    assert edges(*([[0, 1, 2]] * 60)).fits((2,) * 60)
    assert edges(*([[0, 1, 2]] * 60)).cells == MOST_CELLS
    assert not edges(*([[0, 1, 2]] * 61)).fits((2,) * 61)


def test_edges_cannot_be_written() -> None:
    grid = Grid.top((4,))
    with pytest.raises(ValueError, match="read-only"):
        grid.edges[0][0] = 1


def test_a_cell_of_many_attributes_has_its_spans() -> None:
    """Numpy arrays have at most 64 dimensions, but tables may have more columns."""
    grid = Grid.top((2,) * 70).refine(69, (1,))
    assert grid.unravel(np.array([0, 1]))[:, 69].tolist() == [0, 1]

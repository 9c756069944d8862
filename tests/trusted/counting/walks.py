"""Random walks down trees of regions, which ask an engine and a reference engine every kind of question."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from cantle.trusted.claims.queries import Histogram, Size
from cantle.trusted.core.keys import CodeTable, GridBins, GridCells, OneWayEach, OneWays
from cantle.trusted.counting.words import TableKey
from cantle.trusted.geometry.boxes import Frontier
from cantle.trusted.geometry.grid import Grid
from tests.laws.strategies import Table, able, rule_of
from tests.trusted.counting.naive import NaiveEngine


def whole(engine: Any, positions: np.ndarray, key: TableKey) -> list[list[int]]:
    """All chunks together; they must come in order and leave nothing out."""
    parts, at = [], 0
    for first, last, counts in engine.tally(positions, key):
        assert first == at < last
        assert counts.shape == (last - first, key.cells)
        assert counts.dtype == np.int64
        parts += counts.tolist()
        at = last
    assert at == len(positions)
    return parts


def keys(draw: st.DrawFn, table: Table, n: int) -> list[TableKey]:
    """Every kind of question about `n` regions."""
    attributes = len(table.sizes)
    picked = tuple(draw(st.lists(st.integers(0, attributes - 1), min_size=1, max_size=4)))
    each = np.array([draw(st.integers(0, attributes - 1)) for _ in range(n)], dtype=np.int64)
    classes = draw(st.sampled_from(sorted({1, table.classes})))
    return [
        Size(),
        Histogram(table.classes),
        OneWays(picked, tuple(table.sizes[a] for a in picked), classes),
        OneWayEach(each, max(table.sizes), classes),
    ]


def walk(draw: st.DrawFn, table: Table, engine: Any, depth: int = 4) -> None:
    """Splits regions at random, leaves some out, and compares the engine with the naive one at every level."""
    naive = NaiveEngine(table.codes, table.labels, sizes=table.sizes, class_count=table.classes)
    nodes, first = Frontier.root(table.sizes), 1
    for _ in range(depth):
        asked = np.flatnonzero([draw(st.booleans()) for _ in range(len(nodes))])  # with gaps, or nothing at all
        for key in keys(draw, table, len(asked)):
            assert whole(engine, asked, key) == whole(naive, asked, key)
        positions = np.flatnonzero(able(nodes) & np.array([draw(st.booleans()) for _ in range(len(nodes))], bool))
        if not len(positions):
            return
        nodes = nodes.take(positions)
        rule = rule_of(draw, nodes, table.sizes)
        for store in (naive, engine):
            store.split(positions, rule)
        nodes, first = rule.children(nodes, first), first + rule.number


def grids(draw: st.DrawFn, table: Table, engine: Any) -> None:
    """Compares an engine with the naive one on grids, tables of codes and binned grids."""
    plain = NaiveEngine(table.codes, table.labels, sizes=table.sizes, class_count=table.classes)
    for _ in range(2):
        grid = Grid.top(table.sizes)
        for attribute, size in enumerate(table.sizes):
            grid = grid.refine(attribute, tuple(draw(st.sets(st.integers(0, size)))))
        asked: list[Any] = [CodeTable(a, size, table.classes) for a, size in enumerate(table.sizes)]
        for key in (GridCells(grid, table.classes), *asked):
            for _ in range(2):  # counted at first, then kept
                found, expected = engine.occupied(key), plain.occupied(key)
                assert [part.tolist() for part in found] == [part.tolist() for part in expected]
        for attribute in range(len(table.sizes)):
            spans = grid.spans(attribute)
            inner = [sorted(draw(st.sets(st.integers(lo + 1, hi - 1)))) if hi - lo > 1 else [] for lo, hi in spans]
            starts = [start for (lo, _), points in zip(spans, inner, strict=True) for start in [lo, *points]]
            number = [i for points in inner for i in range(len(points) + 1)]
            bins = GridBins(attribute, np.array(starts), np.array(number), max(number) + 1, table.classes)
            for store in (engine, plain):
                store.place(grid)
            assert engine.dense(bins).tolist() == plain.dense(bins).tolist()

"""Every declared L1 sensitivity holds and is attained, over all small data sets, through the real engine."""

from __future__ import annotations

import re
from functools import cache
from itertools import combinations_with_replacement

import numpy as np
import pytest

from cantle.budget import Unit
from cantle.engines.columns import ColumnEngine
from cantle.grid import Grid
from cantle.queries import TRUSTED_QUERIES, Cells, Children, Histogram, Marginals, Size
from cantle.regions import Cuts
from cantle.tally import GridCells, OneWays
from tests.laws.strategies import Table, all_records, all_tables

SIZES, CLASSES, MOST = (2, 3), 2, 2
CUT = Cuts(np.array([1]), np.array([1]))


def cuts(attribute: int, point: int, regions: int) -> Cuts:
    return Cuts(np.full(regions, attribute), np.full(regions, point))


# Query by number of regions (Children needs a cut for each), and its L1 sensitivity for one record.
INSTANCES = {
    Size: [(lambda _: Size(), 1)],
    Histogram: [(lambda _: Histogram(CLASSES), 1)],
    Marginals: [
        (lambda _: Marginals(OneWays((0,), (2,), 1)), 1),
        (lambda _: Marginals(OneWays((1,), (3,), CLASSES)), 1),
        (lambda _: Marginals(OneWays((0, 1), SIZES, 1)), 2),
        (lambda _: Marginals(OneWays((0, 1), SIZES, CLASSES)), 2),
        (lambda _: Marginals(OneWays((1, 0, 1), (3, 2, 3), 1)), 3),
    ],
    Children: [(lambda n: Children(cuts(0, 1, n)), 1), (lambda n: Children(cuts(1, 2, n)), 1)],
}
CASES = [(kind, i) for kind in TRUSTED_QUERIES for i in range(len(INSTANCES.get(kind, [None])))]
DATA = list(all_tables(SIZES, CLASSES, MOST))


@cache
def tally(kind: type, number: int, records: tuple[tuple[int, ...], ...], split: bool) -> np.ndarray:
    """All cells of all regions, as the engine counts them: of the root, or of both children of CUT."""
    engine = Table(SIZES, CLASSES, records).engine()
    if split:
        engine.split(np.array([0]), CUT)
    regions = np.arange(2 if split else 1)
    key = INSTANCES[kind][number][0](len(regions)).key
    return np.concatenate([counts.reshape(-1) for _, _, counts in engine.tally(regions, key)])


def worst(kind: type, number: int, added: int, split: bool) -> int:
    """The largest L1 change of the whole tally over all data sets and all records that may come."""
    most = 0
    for more in combinations_with_replacement(all_records(SIZES, CLASSES), added):
        for table in DATA:
            before = tally(kind, number, table.records, split)
            after = tally(kind, number, tuple(sorted(table.records + more)), split)
            most = max(most, int(np.abs(after - before).sum()))
    return most


def test_every_trusted_query_is_tried() -> None:
    assert set(TRUSTED_QUERIES) == set(INSTANCES), "a query was added: give it instances here"


@pytest.mark.parametrize("split", [False, True], ids=["root", "two regions"])
@pytest.mark.parametrize("records", [1, 2])
@pytest.mark.parametrize(("kind", "number"), CASES, ids=lambda value: getattr(value, "__name__", value))
def test_sensitivity_holds_and_is_attained(kind: type, number: int, records: int, split: bool) -> None:
    """With two regions too: a record moves the cells of one of them, so all together move no further."""
    build, one = INSTANCES[kind][number]
    declared = build(2 if split else 1).sensitivity(Unit(records))
    assert declared == one * records
    assert worst(kind, number, records, split) == declared


@pytest.mark.parametrize(("kind", "number"), CASES, ids=lambda value: getattr(value, "__name__", value))
def test_fewer_records_than_the_unit_move_no_further(kind: type, number: int) -> None:
    assert worst(kind, number, 1, False) <= INSTANCES[kind][number][0](1).sensitivity(Unit(2))


@pytest.mark.parametrize(("kind", "number"), CASES, ids=lambda value: getattr(value, "__name__", value))
def test_cells_are_as_many_as_the_key_says(kind: type, number: int) -> None:
    for table in DATA[:20]:
        assert len(tally(kind, number, table.records, False)) == INSTANCES[kind][number][0](1).key.cells


@pytest.mark.parametrize("kind", TRUSTED_QUERIES, ids=lambda kind: kind.__name__)
def test_every_trusted_query_states_its_claim(kind: type) -> None:
    assert re.search(r"^ *Claim \d+\. Sensitivity ", kind.__doc__ or "", re.MULTILINE)


def test_the_cells_of_a_grid_move_by_one_in_all() -> None:
    """Claim 23, through the column engine: a record is in one cell of one class, whatever the cut."""
    for grid in (Grid.top(SIZES), Grid.top(SIZES).refine(1, (1,)), Grid.top(SIZES).refine(0, (1,)).refine(1, (1, 2))):
        query = Cells(grid, CLASSES)
        assert [query.sensitivity(Unit(k)) for k in (1, 2)] == [1, 2]

        def cells(records: tuple[tuple[int, ...], ...], key: GridCells = query.key) -> np.ndarray:
            table = Table(SIZES, CLASSES, records)
            engine = ColumnEngine(list(table.codes.T.copy()), table.labels, sizes=SIZES, class_count=CLASSES)
            entries, counts = engine.occupied(key)
            found = np.zeros(key.cells, dtype=np.int64)
            found[entries] = counts
            return found

        for table in DATA:
            before = cells(table.records)
            assert before.sum() == len(table.records)
            for record in all_records(SIZES, CLASSES):
                assert np.abs(cells((*table.records, record)) - before).sum() == 1

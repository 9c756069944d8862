"""Cross tables, subsets, leaves and round values: every engine counts what a loop over the records counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cantle.errors import BudgetExceeded, ParameterError
from cantle.trusted.budget import NANO, Budget, Unit
from cantle.trusted.curator import Curator
from cantle.trusted.engines.columns import ColumnEngine
from cantle.trusted.geometry import count_tables
from cantle.trusted.geometry.boxes import Cuts
from cantle.trusted.geometry.cross_tables import ColumnCells, CrossTable, HeapTable, LabelTree
from cantle.trusted.geometry.subset import PRIME, Subset
from cantle.trusted.geometry.value_classes import ValueClasses
from cantle.trusted.noise import Seeded
from cantle.trusted.stop_test import PrivTree
from cantle.trusted.table_candidates import (
    Dependence,
    Distance,
    Heaviest,
    HeavyValues,
    Hubs,
    TableRound,
    TableSets,
)
from cantle.trusted.table_keys import HeapCounts, LeafCounts, TableCounts
from cantle.trusted.table_queries import CrossTables, HeapTables, LabelCounts, Spikes, ValueSearch
from cantle.trusted.value_trees import ValueTrees
from tests.laws.strategies import Table

pytestmark = pytest.mark.filterwarnings(
    "ignore:PySpark does not yet fully support pandas:FutureWarning", "ignore:.*is deprecated:DeprecationWarning"
)

SIZES = (2, 200, 3, 9)
AT = np.zeros(1, dtype=np.int64)


def records(n: int, seed: int = 1) -> Table:
    """Records, many of them equal."""
    dice = np.random.default_rng(seed)
    points = [tuple(dice.integers(0, SIZES).tolist()) for _ in range(max(1, n // 3))]
    return Table(SIZES, 1, tuple((*points[i], 0) for i in dice.integers(0, len(points), n)))


WITHIN = ColumnCells((np.array([0, 1, 2]), np.array([0, 1, 50, 51, 199, 200]), np.array([0, 3]), np.arange(10)))


def maps(*groups: list[int]) -> tuple[Any, ...]:
    return tuple(np.array(group, dtype=np.uint8) for group in groups)


TABLES = (
    CrossTable((1,), maps([0, 1, 2, 3, 4])),
    CrossTable((3, 0), maps([0, 0, 0, 1, 1, 1, 1, 2, 2], [0, 1])),
    CrossTable((2, 1, 3), maps([0], [0, 0, 1, 1, 1], [0, 1, 2, 3, 4, 5, 6, 7, 8])),
)
NOTHING = np.zeros(0, dtype=np.bool_)
TREE = LabelTree(
    np.array([3, -1, 1, -1, -1]),
    (np.array([True, False, True] * 3), NOTHING, np.array([False, True, True, False, True]), NOTHING, NOTHING),
    np.array([1, -1, 3, -1, -1]),
    np.array([2, -1, 4, -1, -1]),
    np.array([-1, 2, -1, 0, 1]),
)
HEAPS = (
    HeapTable(1, np.array([0, 20, 150, 200]), np.array([1, -1, 0]), ValueClasses(-7, (1, 5, 10))),
    HeapTable(3, np.array([0, 9]), np.array([0]), ValueClasses(0, (1, 2))),
)
KEYS: dict[str, Any] = {
    "tables": TableCounts(WITHIN, TABLES),
    "many tables": TableCounts(WITHIN, TABLES * 14),
    "half of the records": TableCounts(WITHIN, TABLES, Subset(3, Fraction(1, 2))),
    "a tenth of the records": TableCounts(WITHIN, TABLES, Subset(2**62 + 5, Fraction(1, 10))),
    "leaves": LeafCounts(WITHIN, TREE, 0),
    "round values": HeapCounts(HEAPS, SIZES),
}


def cell(column: int, code: int) -> int:
    return int((WITHIN.edges[column][1:] <= code).sum())


def hashed(subset: Subset, codes: tuple[int, ...], copy: int) -> int:
    """The hash H of geometry/subset.py, computed with Python integers."""
    *multipliers, last, added = subset.multipliers(len(codes))
    linear = (added + last * copy + sum(a * code for a, code in zip(multipliers, codes, strict=True))) % PRIME
    return pow(linear, 5, PRIME)


def by_hand(key: Any, table: Table) -> list[int]:
    """The counts of a key, by its definition."""
    counts, seen = [0] * key.cells, dict[tuple[int, ...], int]()
    for *codes, _ in table.records:
        x = tuple(codes)
        seen[x] = seen.get(x, 0) + 1
        first = 0
        if isinstance(key, TableCounts):
            if key.subset is not None and hashed(key.subset, x, seen[x]) >= key.subset.below:
                continue
            for cross in key.tables:
                entry = 0
                for column, map_, groups in zip(cross.columns, cross.maps, cross.shape, strict=True):
                    entry = entry * groups + int(map_[cell(column, x[column])])
                counts[first + entry] += 1
                first += cross.cells
        elif isinstance(key, LeafCounts):
            node = 0
            while key.tree.column[node] >= 0:
                column = int(key.tree.column[node])
                left = key.tree.goes_left[node][cell(column, x[column])]
                node = int((key.tree.left if left else key.tree.right)[node])
            counts[int(key.tree.leaf[node]) * key.classes + cell(key.target, x[key.target])] += 1
        else:
            for heaps in key.tables:
                groups, classes = heaps.shape
                group = int(heaps.group[int((heaps.edges[1:] <= x[heaps.column]).sum())])
                if group >= 0:
                    number = int(heaps.classes.of(np.array([x[heaps.column]]))[0])
                    counts[first + group * classes + number] += 1
                first += groups * classes
    return counts


def tallied(engine: Any, key: Any) -> list[int]:
    assert key.fits(engine.root(), engine.domain)
    assert type(key) in engine.keys
    ((first, last, counts),) = engine.tally(AT, key)
    assert (first, last) == (0, 1)
    return counts[0].tolist()


def columns_of(table: Table) -> tuple[list[Any], Any]:
    return [np.ascontiguousarray(column) for column in table.codes.T], table.labels


def check(engine: Any, table: Table) -> None:
    for name, key in KEYS.items():
        assert tallied(engine, key) == by_hand(key, table), name
    engine.close()


@pytest.mark.parametrize("n", [0, 1, 300])
def test_counts_in_memory(n: int) -> None:
    table = records(n)
    columns, classes = columns_of(table)
    check(ColumnEngine(columns, classes, sizes=SIZES, class_count=1), table)


@pytest.mark.parametrize("n", [0, 300])
def test_counts_of_duckdb(n: int) -> None:
    duckdb = pytest.importorskip("cantle.trusted.engines.duckdb")
    pytest.importorskip("duckdb", reason="DuckDB is not installed (extra duckdb)")
    table = records(n)
    columns, classes = columns_of(table)
    halves = [([column[part] for column in columns], classes[part]) for part in (slice(0, 99), slice(99, None))]
    check(duckdb.DuckEngine(halves, sizes=SIZES, class_count=1), table)


@pytest.mark.parametrize("n", [0, 300])
def test_counts_of_a_database(n: int) -> None:
    ibis = pytest.importorskip("ibis", reason="ibis is not installed (extra database)")
    from tests.trusted.engines.test_database import opened

    table = records(n)
    check(opened(ibis.duckdb.connect(), table), table)


def test_counts_of_postgresql(server: str) -> None:
    ibis = pytest.importorskip("ibis", reason="ibis is not installed (extra database)")
    from tests.trusted.engines.test_database import opened

    table = records(200)
    check(opened(ibis.connect(server), table, own=True), table)


def test_counts_of_spark(spark: Any, tmp_path: Path) -> None:
    from tests.trusted.engines.test_spark import opened

    table = records(300)
    check(opened(spark, table, tmp_path), table)


def test_the_kernel_counts_tables_like_the_plain_code() -> None:
    kernels = pytest.importorskip("cantle.trusted.geometry._count_kernels", reason="numba is not installed")
    for n in (0, 1, 4095, 9000):
        cells = WITHIN.locate(columns_of(records(n, seed=n))[0])
        want = count_tables.count_tables_plainly(cells, TABLES)
        assert np.array_equal(kernels.count_tables(cells, TABLES), want)
        assert np.array_equal(kernels.count_tables(cells.astype(np.uint16), TABLES), want)


def test_tables_of_many_records_are_counted_by_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba", reason="numba is not installed")
    cells = WITHIN.locate(columns_of(records(50))[0])
    expected = count_tables.count_tables(cells, TABLES).tolist()
    monkeypatch.setattr("cantle.trusted.kernel_choice.FROM", 50)
    monkeypatch.setattr(count_tables, "count_tables_plainly", lambda *_: pytest.fail("it was counted without kernels"))
    assert count_tables.count_tables(cells, TABLES).tolist() == expected


def test_the_kernel_finds_leaves_like_the_plain_code() -> None:
    kernels = pytest.importorskip("cantle.trusted.geometry._count_kernels", reason="numba is not installed")
    for n in (1, 500):
        cells = list(WITHIN.locate(columns_of(records(n, seed=n))[0]))
        assert np.array_equal(kernels.locate_leaves(TREE, cells), TREE.locate_plainly(cells))


def test_cells_of_very_many_codes_are_searched() -> None:
    within = ColumnCells((np.array([0, 5, 10**9, 2**40]),))
    codes = np.array([0, 4, 5, 10**9 - 1, 10**9, 2**40 - 1])
    assert within.locate([codes])[0].tolist() == [0, 0, 1, 1, 2, 2]


# ---- only the unsplit root may be asked -----------------------------------------------------------------------------


def questions(curator: Curator, nodes: Any) -> dict[str, Callable[[], Any]]:
    """Every question that engines answer from all records, each for the whole budget."""
    search = ValueSearch(1, 200, ValueClasses(0, (1, 10)))
    sets = TableSets(TableRound(WITHIN, TABLES[:1]), (np.zeros(5, np.int64),), AT, AT)
    trees = ValueTrees((1,), (np.array([0, 200]),), SIZES)
    heavy = HeavyValues((search,), SIZES, 1)
    ask, choose = curator.measure, curator.choose
    return {
        "tables": lambda: ask(nodes, CrossTables(WITHIN, TABLES), NANO, why="m"),
        "leaves": lambda: ask(nodes, LabelCounts(WITHIN, TREE, 0), NANO, why="m"),
        "heaps": lambda: ask(nodes, HeapTables(HEAPS, SIZES), NANO, why="m"),
        "spikes": lambda: ask(nodes, Spikes((search,), SIZES), NANO, why="m", at_least=99),
        "sets": lambda: choose(nodes, sets, Distance(), NANO, why="c"),
        "values": lambda: choose(nodes, heavy, Heaviest(), NANO, why="c"),
        "hubs": lambda: choose(nodes, Hubs(WITHIN, (0, 3)), Dependence(), NANO, why="c"),
        "trees": lambda: curator.grow(nodes, trees, PrivTree(5, 6, NANO // 8), why="g"),
    }


@contextmanager
def curated(kind: str) -> Iterator[Curator]:
    table = records(50)
    columns, classes = columns_of(table)
    if kind == "memory":
        engine: Any = ColumnEngine(columns, classes, sizes=SIZES, class_count=1)
    elif kind == "duckdb":
        pytest.importorskip("duckdb", reason="DuckDB is not installed (extra duckdb)")
        from cantle.trusted.engines.duckdb import DuckEngine

        engine = DuckEngine([(columns, classes)], sizes=SIZES, class_count=1)
    else:
        ibis = pytest.importorskip("ibis", reason="ibis is not installed (extra database)")
        from tests.trusted.engines.test_database import opened

        engine = opened(ibis.duckdb.connect(), table)
    with Curator(engine, Budget(NANO, Unit()), Seeded(1)) as curator:
        yield curator


NAMES = ("tables", "leaves", "heaps", "spikes", "sets", "values", "hubs", "trees")


@pytest.mark.parametrize("kind", ["duckdb", "database"])
def test_no_region_below_the_root_is_answered_from_all_records(kind: str) -> None:
    """A split is free and these engines count all records, so each child could spend the full budget on them."""
    with curated(kind) as curator:
        children = curator.split(curator.root(), Cuts(np.array([1]), np.array([100])))
        for nodes in (children.take(slice(0, 1)), children):
            asked = questions(curator, nodes)
            assert tuple(asked) == NAMES
            for ask in asked.values():
                with pytest.raises(ParameterError):
                    ask()
        assert curator.left(children).tolist() == [NANO, NANO]


@pytest.mark.parametrize("name", NAMES)
def test_each_of_these_questions_is_charged_before_it_is_answered(name: str) -> None:
    """A further question that the budget cannot pay for is refused."""
    for kind in ("memory", "duckdb"):
        with curated(kind) as curator:
            root = curator.root()
            questions(curator, root)[name]()
            assert curator.left(root)[0] < NANO
            with pytest.raises(BudgetExceeded):
                questions(curator, root)["tables"]()


def test_leaves_of_many_records_are_found_by_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    cells = WITHIN.locate(list(records(300).codes.T))
    expected = TREE.locate(list(cells)).tolist()
    monkeypatch.setattr("cantle.trusted.kernel_choice.worth_loading", lambda _: True)
    assert TREE.locate(list(cells)).tolist() == expected
    assert set(expected) == {0, 1, 2}


def test_hubs_counted_in_batches_have_the_same_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    table = records(200)
    engine = ColumnEngine(list(table.codes.T), table.labels, sizes=SIZES, class_count=1)
    hubs = Hubs(WITHIN, (0, 1, 3))

    def scores() -> list[int]:
        (scored,) = hubs.exact_scores(engine, AT, engine.root(), Dependence())
        return scored.scores.tolist()

    together = scores()
    monkeypatch.setattr("cantle.trusted.table_candidates.MOST_TOGETHER", 90)
    assert [len(batch) for batch in hubs._together()] == [2, 1]
    assert scores() == together


def test_a_class_without_values_has_no_row() -> None:
    """None of the values 1, 2 and 3 is a multiple of 10."""
    engine = ColumnEngine([np.array([0, 2, 2])], np.zeros(3, np.int64), sizes=(3,), class_count=1)
    heavy = HeavyValues((ValueSearch(0, 3, ValueClasses(1, (1, 10))),), (3,), 5)
    assert heavy.fits(engine.root(), engine.domain, Heaviest())
    (scored,) = heavy.exact_scores(engine, AT, engine.root(), Heaviest())
    assert scored.number.tolist() == [-1, 0, 0, 0]
    assert scored.scores.tolist() == [5, 1, 2, 0]
    assert scored.many.tolist() == [1, 1, 1, 1]

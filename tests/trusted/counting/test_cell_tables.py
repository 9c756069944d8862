"""Cross tables, subsets and leaves: every engine counts what a loop over the records counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cantle.errors import BudgetExceeded, ParameterError
from cantle.trusted.claims.list_queries import PartsOfLists, SizesOfLists
from cantle.trusted.claims.table_candidates import Dependence, Distance, Heaviest, HeavyValues, Hubs, TableSets
from cantle.trusted.claims.table_queries import CrossTables, LabelCounts, Spikes, ValueSearch
from cantle.trusted.core.budget import NANO, Budget, Unit
from cantle.trusted.core.curator import Curator
from cantle.trusted.counting.words import WordEngine
from cantle.trusted.geometry import cross_tables
from cantle.trusted.geometry.boxes import Cuts
from cantle.trusted.geometry.cross_tables import ColumnCells, CrossTable, LabelTree
from cantle.trusted.geometry.subset import Subset
from cantle.trusted.geometry.value_classes import ValueClasses
from cantle.trusted.noise import Seeded
from tests.effort import slow
from tests.laws.strategies import Table
from tests.trusted.counting.naive import NaiveEngine
from tests.trusted.counting.word_engines import WORD_ENGINES, batches_of

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
HALVED = ColumnCells((np.array([0, 1, 2]), np.array([0, 50, 200]), np.array([0, 1, 3]), np.array([0, 4, 9])))
"""Cells in which every column may be an item of a list."""

NOTHING = np.zeros(0, dtype=np.bool_)
TREE = LabelTree(
    np.array([3, -1, 1, -1, -1]),
    (np.array([True, False, True] * 3), NOTHING, np.array([False, True, True, False, True]), NOTHING, NOTHING),
    np.array([1, -1, 3, -1, -1]),
    np.array([2, -1, 4, -1, -1]),
    np.array([-1, 2, -1, 0, 1]),
)
KEYS: dict[str, Any] = {
    "tables": CrossTables(WITHIN, TABLES),
    "many tables": CrossTables(WITHIN, TABLES * 14),
    "half of the records": CrossTables(WITHIN, TABLES, Subset(3, Fraction(1, 2))),
    "a tenth of the records": CrossTables(WITHIN, TABLES, Subset(2**62 + 5, Fraction(1, 10))),
    "leaves": LabelCounts(WITHIN, TREE, 0),
    "sizes of lists": SizesOfLists(HALVED, (3, 1, 0), (0, 1, 2, 3)),
    "spans of sizes": SizesOfLists(HALVED, (0, 2, 3), (0, 2)),
    "items of lists": PartsOfLists(HALVED, (0, 3, 1), CrossTable((2,), maps([0, 1])), 2),
    "pairs of items": PartsOfLists(HALVED, (2, 0, 3, 1), CrossTable((1,), maps([0, 0])), 4, pairs=True),
}


def tallied(engine: Any, key: Any) -> list[int]:
    assert key.fits(engine.root(), engine.domain)
    assert type(key) in engine.keys
    ((first, last, counts),) = engine.tally(AT, key)
    assert (first, last) == (0, 1)
    return counts[0].tolist()


def columns_of(table: Table) -> tuple[list[Any], Any]:
    return [np.ascontiguousarray(column) for column in table.codes.T], table.labels


def check(engine: Any, table: Table) -> None:
    naive = NaiveEngine(table.codes, table.labels, sizes=SIZES, class_count=1)
    for name, key in KEYS.items():
        assert tallied(engine, key) == tallied(naive, key), name
    engine.close()


@pytest.mark.parametrize("batch", slow([1 << 16, 50], 50))
@pytest.mark.parametrize("name", WORD_ENGINES)
@pytest.mark.parametrize("n", [0, 1, 300])
def test_counts_of_words(name: str, n: int, batch: int) -> None:
    table = records(n)
    with batches_of(batch):
        check(WORD_ENGINES[name](table.codes, table.labels, sizes=SIZES, class_count=1), table)


@pytest.mark.parametrize("name", ["memory", "disk"])
def test_copies_of_equal_records_are_numbered_part_by_part(name: str) -> None:
    """The subset of a table depends on how many equal records there are, never on where they are."""
    table = records(300)
    engine = WORD_ENGINES[name](table.codes, table.labels, sizes=SIZES, class_count=1)
    naive = NaiveEngine(table.codes, table.labels, sizes=SIZES, class_count=1)
    key = KEYS["half of the records"]
    with batches_of(7):  # 43 parts
        assert tallied(engine, key) == tallied(naive, key)
    numbered = sorted(zip(map(tuple, engine._rows.tolist()), engine._copies().tolist(), strict=True))
    expected = [
        (row, copy + 1) for row, times in Counter(map(tuple, engine._rows.tolist())).items() for copy in range(times)
    ]
    assert numbered == sorted(expected)


def test_counts_of_spark(spark: Any, tmp_path: Path) -> None:
    from tests.trusted.counting.test_spark import opened

    table = records(300)
    check(opened(spark, table, tmp_path), table)


def test_the_kernel_counts_tables_like_the_plain_code() -> None:
    kernels = pytest.importorskip("cantle.trusted.geometry._count_kernels", reason="numba is not installed")
    for n in (0, 1, 4095, 9000):
        cells = WITHIN.locate(columns_of(records(n, seed=n))[0])
        want = cross_tables.count_tables_plainly(cells, TABLES)
        assert np.array_equal(kernels.count_tables(cells, TABLES), want)
        assert np.array_equal(kernels.count_tables(cells.astype(np.uint16), TABLES), want)


def test_tables_of_many_records_are_counted_by_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba", reason="numba is not installed")
    cells = WITHIN.locate(columns_of(records(50))[0])
    expected = cross_tables.count_tables(cells, TABLES).tolist()
    monkeypatch.setattr("cantle.kernel_choice.FROM", 50)
    monkeypatch.setattr(cross_tables, "count_tables_plainly", lambda *_: pytest.fail("it was counted without kernels"))
    assert cross_tables.count_tables(cells, TABLES).tolist() == expected


def test_cells_of_very_many_codes_are_searched() -> None:
    within = ColumnCells((np.array([0, 5, 10**9, 2**40]),))
    codes = np.array([0, 4, 5, 10**9 - 1, 10**9, 2**40 - 1])
    assert within.locate([codes])[0].tolist() == [0, 0, 1, 1, 2, 2]


# ---- only the unsplit root may be asked -----------------------------------------------------------------------------


def questions(curator: Curator, nodes: Any) -> dict[str, Callable[[], Any]]:
    """Every question that engines answer from all records, each for the whole budget."""
    search = ValueSearch(1, 200, ValueClasses(0, (1, 10)))
    sets = TableSets((CrossTables(WITHIN, TABLES[:1]),), (np.zeros(5, np.int64),), AT, AT)
    heavy = HeavyValues((search,), SIZES, 1)
    ask, choose = curator.measure, curator.choose
    return {
        "tables": lambda: ask(nodes, CrossTables(WITHIN, TABLES), NANO, why="m"),
        "leaves": lambda: ask(nodes, LabelCounts(WITHIN, TREE, 0), NANO, why="m"),
        "spikes": lambda: ask(nodes, Spikes((search,), SIZES), NANO, why="m", at_least=99),
        "sets": lambda: choose(nodes, sets, Distance(), NANO, why="c"),
        "values": lambda: choose(nodes, heavy, Heaviest(), NANO, why="c"),
        "hubs": lambda: choose(nodes, Hubs(WITHIN, (0, 3)), Dependence(), NANO, why="c"),
    }


@contextmanager
def curated(kind: str) -> Iterator[Curator]:
    table = records(50)
    engine = WORD_ENGINES[kind](table.codes, table.labels, sizes=SIZES, class_count=1)
    with Curator(engine, Budget(NANO, Unit()), Seeded(1)) as curator:
        yield curator


NAMES = ("tables", "leaves", "spikes", "sets", "values", "hubs")


@pytest.mark.parametrize("kind", ["memory", "disk"])
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
    for kind in ("memory", "disk"):
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
    monkeypatch.setattr("cantle.kernel_choice.worth_loading", lambda _: True)
    assert TREE.locate(list(cells)).tolist() == expected
    assert set(expected) == {0, 1, 2}


def test_hubs_counted_in_batches_have_the_same_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    table = records(200)
    engine = table.engine()
    hubs = Hubs(WITHIN, (0, 1, 3))

    def scores() -> list[int]:
        (scored,) = hubs.exact_scores(engine, AT, engine.root(), Dependence())
        return scored.scores.tolist()

    together = scores()
    monkeypatch.setattr("cantle.trusted.claims.table_candidates.MOST_TOGETHER", 90)
    assert [len(batch) for batch in hubs._together()] == [2, 1]
    assert scores() == together


def test_a_class_without_values_has_no_row() -> None:
    """None of the values 1, 2 and 3 is a multiple of 10."""
    engine = WordEngine([([np.array([0, 2, 2])], np.zeros(3, np.int64))], sizes=(3,), class_count=1)
    heavy = HeavyValues((ValueSearch(0, 3, ValueClasses(1, (1, 10))),), (3,), 5)
    assert heavy.fits(engine.root(), engine.domain, Heaviest())
    (scored,) = heavy.exact_scores(engine, AT, engine.root(), Heaviest())
    assert scored.number.tolist() == [-1, 0, 0, 0]
    assert scored.scores.tolist() == [5, 1, 2, 0]
    assert scored.many.tolist() == [1, 1, 1, 1]

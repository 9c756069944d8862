"""The game of a hostile method on every engine: no engine lets a path lose more than epsilon."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cantle.errors import CantleError, ParameterError
from cantle.trusted.claims.queries import Cells
from cantle.trusted.core.budget import NANO, Budget, Unit
from cantle.trusted.core.curator import Curator
from cantle.trusted.core.keys import CodeTable
from cantle.trusted.counting.base import Engine
from cantle.trusted.geometry.boxes import Cuts, Frontier
from cantle.trusted.noise import Seeded
from tests.effort import examples, slow
from tests.laws import tables_of_cells
from tests.laws.hostile import CLASSES, DATA, GRID_MOVES, MOVES, SIZES, SPECIALISATIONS, TOP, Game
from tests.laws.hostile_tables import RECORDS, TABLE_MOVES, TableGame
from tests.laws.strategies import Table
from tests.trusted.counting.word_engines import WORD_ENGINES

pytestmark = pytest.mark.filterwarnings(
    "ignore:PySpark does not yet fully support pandas:FutureWarning", "ignore:.*is deprecated:DeprecationWarning"
)

Open = Callable[[Table], Engine]


def words(name: str) -> Callable[[pytest.FixtureRequest], Open]:
    build = WORD_ENGINES[name]
    return lambda _request: lambda table: build(table.codes, table.labels, sizes=table.sizes, class_count=table.classes)


def spark(request: pytest.FixtureRequest) -> Open:
    cluster = request.getfixturevalue("spark")
    folder: Path = request.getfixturevalue("tmp_path")
    from tests.trusted.counting.test_spark import opened

    return lambda table: opened(cluster, table, folder)


ENGINES: dict[str, tuple[Callable[[pytest.FixtureRequest], Open], int]] = {
    **{name: (words(name), 12) for name in ("memory", "small chunks, kernels")},
    **{name: (words(name), 6) for name in ("disk", "disk, kernels")},
    "spark": (spark, 2),
}
"""For each engine how it is opened, and how many games."""


@contextmanager
def curated(engine: Engine) -> Iterator[Curator]:
    with Curator(engine, Budget(NANO, Unit()), Seeded(1)) as curator:
        yield curator


@pytest.mark.parametrize("name", slow(list(ENGINES), "spark"))
def test_no_hostile_method_makes_a_path_lose_more_than_epsilon(name: str, request: pytest.FixtureRequest) -> None:
    opener, games = ENGINES[name]
    opened = opener(request)

    @examples(games)
    @given(data=st.data())
    def check(data: Any) -> None:
        unit = Unit(data.draw(st.integers(1, 2)))
        Game(data.draw, opened(DATA), unit).play(MOVES + GRID_MOVES)

    check()


TABLE = Table(tables_of_cells.SIZES, 1, tuple((*record, 0) for record in RECORDS))


@pytest.mark.parametrize("name", slow(list(ENGINES), "spark"))
def test_no_hostile_method_gains_from_tables_of_columns(name: str, request: pytest.FixtureRequest) -> None:
    """The moves are mosaic's questions; after a split, tables of all records are refused."""
    opener, games = ENGINES[name]
    opened = opener(request)

    @examples(games)
    @given(data=st.data())
    def check(data: Any) -> None:
        TableGame(data.draw, opened(TABLE), Unit(data.draw(st.integers(1, 2)))).play([*TABLE_MOVES, "split"])

    check()


def grid_questions(curator: Curator, nodes: Frontier) -> list[Callable[[], Any]]:
    """Every question that engines answer from all records, each for the whole budget."""
    ask: list[Callable[[], Any]] = [
        lambda s=one: curator.choose(nodes, s[0], s[1], NANO, why="s") for one in SPECIALISATIONS
    ]
    return [*ask, lambda: curator.measure(nodes, Cells(TOP, CLASSES), NANO, at_least=1, why="m")]


@pytest.mark.parametrize("name", slow(list(ENGINES), "spark"))
def test_grids_of_all_records_are_refused_after_a_split(name: str, request: pytest.FixtureRequest) -> None:
    """A split is free and a grid counts all records, so each child could spend the full budget on them."""
    opened = ENGINES[name][0](request)
    with curated(opened(DATA)) as curator:
        children = curator.split(curator.root(), Cuts(np.array([0]), np.array([2])))
        for child in (children.take(slice(0, 1)), children.take(slice(1, 2)), children):
            for ask in grid_questions(curator, child):
                with pytest.raises(ParameterError, match="before the first split"):
                    ask()
        assert curator.left(children).tolist() == [NANO, NANO]


@pytest.mark.parametrize("name", slow(list(ENGINES), "spark"))
def test_grids_are_counted_over_all_records(name: str, request: pytest.FixtureRequest) -> None:
    """Why the rule above is needed: below the root, the engine would still answer from records outside the region."""
    engine: Any = ENGINES[name][0](request)(DATA)
    engine.split(np.array([0]), Cuts(np.array([0]), np.array([2])))
    _, counts = engine.occupied(CodeTable(0, SIZES[0], CLASSES))
    assert counts.sum() == len(DATA.records)
    engine.close()


@pytest.mark.parametrize("name", slow(list(ENGINES), "spark"))
def test_refusals_are_the_same_whatever_the_data(name: str, request: pytest.FixtureRequest) -> None:
    """An error message is an output too: an empty table gets exactly the same ones, and they cost nothing."""
    opened, refusals = ENGINES[name][0](request), []
    for table in (DATA, Table(SIZES, CLASSES, ())):
        with curated(opened(table)) as curator:
            root = curator.root()
            wrong = Frontier(np.array([0, 1]), root.parent, 0, root.lo, root.hi)
            for nodes in (wrong, root.take(slice(0, 0))):
                for ask in grid_questions(curator, nodes):
                    with pytest.raises(CantleError) as caught:
                        ask()
                    refusals.append((type(caught.value), str(caught.value)))
            assert curator.left(root).tolist() == [NANO]
    assert refusals[: len(refusals) // 2] == refusals[len(refusals) // 2 :]

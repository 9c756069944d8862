"""No object inside of a question may have a method of its own: it would be called with exact codes or counts.

A frozen dataclass can still be changed from outside. test_hostile.py adds methods to questions; here they are added to
an object inside of one, or hidden behind a comparison.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cantle.errors import ParameterError
from cantle.trusted.claims.queries import Cells
from cantle.trusted.claims.sequence_queries import ListedStrings, Strings
from cantle.trusted.claims.table_candidates import Distance, TableSets
from cantle.trusted.claims.table_queries import CrossTables
from cantle.trusted.claims.views import ViewTables
from cantle.trusted.core.budget import NANO, Budget, Unit
from cantle.trusted.core.curator import Curator
from cantle.trusted.geometry.cross_tables import ColumnCells, CrossTable
from cantle.trusted.geometry.grid import Grid
from cantle.trusted.geometry.sequence_strings import Shares
from cantle.trusted.geometry.views import FIRST, LATER
from cantle.trusted.noise import Seeded
from tests.laws import test_sequence_sensitivity as journeys
from tests.laws import test_views as families
from tests.laws.strategies import Table
from tests.laws.test_own_error import WORKLOADS

TABLE = Table((4, 3), 1, tuple((i % 4, i % 3, 0) for i in range(12)))
SEQUENCES = ((0, 1), (2, 2, 0), (1,), (0, 1, 2, 0))


def table_curator() -> Curator:
    return TABLE.curator(NANO)


def family_curator() -> Curator:
    engine = families.engine_of(families.joined([("a", (0,)), ("b", (1,))], [("a", (0, 0)), ("a", (1, 1))]))
    return Curator(engine, Budget(NANO, families.FAMILY), Seeded(1))


def sequence_curator() -> Curator:
    return Curator(journeys.engine_of(SEQUENCES), Budget(NANO, Unit()), Seeded(1))


def spied(inner: Any, method: str, seen: list[object]) -> Any:
    """The same object, with a method of its own that keeps what it is given and then does the right thing."""
    own = getattr(inner, method)

    def look(*given: object, **named: object) -> Any:
        seen.append((given, named))
        return own(*given, **named)

    object.__setattr__(inner, method, look)
    return inner


def edges() -> ColumnCells:
    return ColumnCells((np.arange(5), np.arange(4)))


def pair() -> CrossTable:
    return CrossTable((0, 1), (np.arange(4, dtype=np.uint8), np.arange(3, dtype=np.uint8)))


def of_grid(asked: Curator, seen: list[object]) -> None:
    grid = spied(Grid((np.array([0, 2, 4]), np.array([0, 3]))), "addends", seen)
    asked.measure(asked.root(), Cells(grid, 1), 5, at_least=1, why="m")


def of_cells(asked: Curator, seen: list[object]) -> None:
    asked.measure(asked.root(), CrossTables(spied(edges(), "locator", seen), (pair(),)), 5, why="m")


def of_a_table(asked: Curator, seen: list[object]) -> None:
    asked.measure(asked.root(), CrossTables(edges(), (spied(pair(), "fits", seen),)), 5, why="m")


def of_a_round(asked: Curator, seen: list[object]) -> None:
    key = spied(CrossTables(edges(), (pair(),)), "fits", seen)
    candidates = TableSets((key,), (np.zeros(12, np.int64),), np.zeros(1, np.int64), np.zeros(1, np.int64))
    asked.choose(asked.root(), candidates, Distance(), 5, why="c")


def of_a_view(asked: Curator, seen: list[object]) -> None:
    cells = spied(families.within(LATER), "locator", seen)
    asked.measure(asked.root(), ViewTables(cells, (families.table(LATER, 0),), view=LATER), 5, why="m")


def of_a_round_of_views(asked: Curator, seen: list[object]) -> None:
    candidates = families.sets(1)
    (first, *others) = candidates.keys
    assert first.view == FIRST
    keys = (spied(first, "fits", seen), *others)
    asked.choose(asked.root(), replace(candidates, keys=keys), Distance(), 5, why="c")


@pytest.mark.parametrize(("ask", "opened"), [
    (of_grid, table_curator), (of_cells, table_curator), (of_a_table, table_curator), (of_a_round, table_curator),
    (of_a_view, family_curator), (of_a_round_of_views, family_curator),
])  # fmt: skip
def test_an_inner_object_with_a_method_of_its_own_is_refused(
    ask: Callable[[Curator, list[object]], None], opened: Callable[[], Curator]
) -> None:
    seen: list[object] = []
    with opened() as asked:
        with pytest.raises(ParameterError, match="has no proof"):
            ask(asked, seen)
        assert asked.left(asked.root()).tolist() == [NANO]
    assert not seen


def test_what_a_table_remembers_about_itself_is_no_such_method() -> None:
    """A cross table keeps its shape once it was computed, and admission compares it."""
    table = pair()
    assert table.cells == 12
    with table_curator() as asked:
        asked.measure(asked.root(), CrossTables(edges(), (table,)), 5, why="m")


@pytest.mark.parametrize("method", ["copy", "fits"])
def test_a_workload_with_a_method_of_its_own_is_refused(method: str) -> None:
    seen: list[object] = []
    workload = spied(replace(WORKLOADS["all"]), method, seen)
    with Table((2, 3), 3, ((0, 1, 2),)).curator(NANO) as asked:
        asked.reserve(asked.root(), 5, why="accuracy")
        with pytest.raises(ParameterError, match="has no proof"):
            asked.own_error(workload, np.zeros(workload.cells, np.int64))
    assert not seen


class Whole:
    """Claims to be whatever it is compared with, and looks at what it is divided by."""

    def __init__(self, seen: list[object]) -> None:
        self.seen = seen

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]

    def __radd__(self, other: object) -> int:
        return 0

    def __floordiv__(self, length: np.ndarray) -> np.ndarray:
        self.seen.append(length)
        return np.zeros(len(length), np.int64)


def test_shares_of_strings_that_are_no_plain_numbers_are_refused() -> None:
    seen: list[object] = []
    shares = Shares(2, 0, 0, Whole(seen))  # type: ignore[arg-type]
    with sequence_curator() as asked, pytest.raises(ParameterError):
        asked.measure(asked.root(), Strings(journeys.SYMBOLS, 2, shares), 5, why="m")
    listed = ListedStrings(journeys.SYMBOLS, 2, shares, np.zeros(0, np.int64))
    with sequence_curator() as asked, pytest.raises(ParameterError):
        asked.measure(asked.root(), listed, 5, at_least=1, why="m")
    assert not seen

"""Checks of the questions that methods ask the curator: a sound question fits, and every single flaw is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cantle.trusted.claims.degree_queries import Bounds, Lag
from cantle.trusted.claims.scores import Max, Mix
from cantle.trusted.claims.specialisations import OneValue, SplitPoints, Value
from cantle.trusted.claims.table_candidates import Dependence, Distance, Hubs, TableSets
from cantle.trusted.claims.table_queries import CrossTables, ValueSearch, are_searches
from cantle.trusted.core.keys import GraphDomain, MergedOneWays, OneWayEach, OneWays
from cantle.trusted.geometry.boxes import Cuts, Frontier
from cantle.trusted.geometry.cross_tables import ColumnCells, CrossTable, LabelTree, are_tables
from cantle.trusted.geometry.value_classes import ValueClasses
from cantle.trusted.geometry.workloads import Rectangles, SetWorkload, TableWorkload

SIZES, CLASSES = (4, 2), 3
DOMAIN = (SIZES, CLASSES)
ROOT = Frontier.root(SIZES)
FLOATS = np.zeros(1)


def ints(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.int64)


def groups(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.uint8)


CLASSES_OF_VALUES = ValueClasses(0, (1, 2))
ASKED = Rectangles(ints(0, 1), ints(0), ints(1), ints(0), ints(2), ints(65_536))
TABLE = CrossTable((0, 1), (groups(0, 0, 1, 1), groups(0, 1)))
WITHIN = ColumnCells((ints(0, 1, 2, 3, 4), ints(0, 1, 2), ints(0, 1, 2, 3)))
TREE = LabelTree(
    ints(0, -1, -1), (np.array([True, True, False, False]), *([np.zeros(0, bool)] * 2)),
    ints(1, -1, -1), ints(2, -1, -1), ints(-1, 0, 1),
)  # fmt: skip
TABLES = OneWays((0, 1), SIZES, 1)
COLUMNS, WHOLE = ColumnCells((ints(0, 1, 2, 3, 4), ints(0, 1, 2))), (SIZES, 1)
SPLIT, FIXED = Value(0, (0, 4), None), Value(0, (0, 4), ((0, 2), (2, 4)))


class Taxonomy:
    size = 3


Fits = Callable[[Any], bool]
SOUND: dict[str, tuple[Any, Fits, list[dict[str, Any]]]] = {
    "cuts": (
        Cuts(ints(0), ints(2)),
        lambda query: query.fits(ROOT),
        [
            {"attribute": FLOATS}, {"attribute": ints(0, 0)}, {"point": FLOATS}, {"attribute": ints(-1)},
            {"attribute": ints(2)}, {"point": ints(0)}, {"point": ints(4)},
        ],
    ),
    "classes of values": (
        CLASSES_OF_VALUES,
        lambda query: query.fits(),
        [
            {"periods": [1, 2]}, {"periods": ()}, {"periods": (2,)}, {"periods": (1, 2.0)}, {"origin": 2**70},
            {"periods": (1, 2, 3)}, {"periods": (1, 1)},
        ],
    ),
    "rectangles": (
        ASKED,
        lambda query: query.fits((TABLE,)),
        [
            {"starts": (0, 1)}, {"starts": ints(1, 1)}, {"starts": ints(0, 2)}, {"starts": ints(0, 0, 1)},
            {"left": FLOATS}, {"top": ints(-1)}, {"bottom": ints(3)}, {"top": ints(1)}, {"right": ints(3)},
            {"weights": ints(65_537)}, {"weights": ints(-1)},
        ],
    ),
    "a workload": (
        TableWorkload(WITHIN, (TABLE,), ints(2), ASKED),
        lambda query: query.fits(DOMAIN),
        [
            {"within": None}, {"within": ColumnCells((ints(0, 4), ints(0, 2)))}, {"rectangles": None},
            {"classes": ints(0)}, {"classes": ints(3)}, {"classes": ints(2, 2)}, {"tables": [TABLE]}, {"tables": ()},
        ],
    ),
    "a workload of sets": (
        SetWorkload(ints(0, 2), ints(0, 1, 2), ints(0, 2), ints(0, 1), 1),
        lambda query: query.fits(Taxonomy),
        [{"items": FLOATS}, {"groups": FLOATS}, {"starts": ints(0, 1)}, {"starts": (0, 2)}, {"items": ints(3)},
         {"groups": ints(-1, 0)},
         {"bands": ints(0, 1)}, {"bands": ints(0, 0, 2)}, {"bands": ints(1, 2)}, {"bands": ints()}, {"bands": [0, 2]},
         {"together": 2}, {"together": -1}, {"together": True}],
    ),
    "a cross table": (
        TABLE,
        lambda query: are_tables((query,), SIZES),
        [
            {"columns": [0, 1]}, {"columns": (0,)}, {"columns": (0, 2)}, {"columns": (0, 0)},
            {"maps": (groups(0, 0, 1), groups(0, 1))}, {"maps": (groups(0, 2, 2, 2), groups(0, 1))},
            {"maps": (ints(0, 0, 1, 1), groups(0, 1))}, {"columns": (), "maps": ()},
        ],
    ),
    "a label tree": (
        TREE,
        lambda query: query.fits(SIZES),
        [
            {"column": None}, {"left": FLOATS}, {"goes_left": list(TREE.goes_left)}, {"goes_left": TREE.goes_left[:2]},
            {"column": ints(2, -1, -1)}, {"column": ints(0, -2, -1)}, {"leaf": ints(-1, 0, 0)},
            {"left": ints(0, -1, -1)}, {"right": ints(3, -1, -1)},
            {"goes_left": (np.array([True]), *TREE.goes_left[1:])},
        ],
    ),
    "a search": (
        ValueSearch(0, 4, CLASSES_OF_VALUES, (1,)),
        lambda query: are_searches((query,), SIZES),
        [
            {"column": 2}, {"values": 4.0}, {"values": 2}, {"skip": [1]}, {"skip": (2, 1)}, {"skip": (4,)},
            {"classes": ValueClasses(0, ())},
        ],
    ),
    "one-way tables": (
        TABLES,
        lambda query: query.fits(ROOT, DOMAIN),
        [{"attributes": [0, 1]}, {"attributes": (0, 2)}, {"sizes": (4, 3)}, {"classes": 2}, {"classes": 1.0}],
    ),
    "merged tables": (
        MergedOneWays(TABLES, (0, 2, 4)),
        lambda query: query.fits(ROOT, DOMAIN),
        [
            {"tables": None}, {"tables": replace(TABLES, classes=3)}, {"starts": [0, 4]}, {"starts": ()},
            {"starts": (1, 4)}, {"starts": (0, 4, 2)}, {"starts": (0, 4, 6)}, {"starts": (0, 2)},
        ],
    ),
    "a table for each region": (
        OneWayEach(ints(0), 4, 3),
        lambda query: query.fits(ROOT, DOMAIN),
        [{"attribute": FLOATS}, {"attribute": ints(2)}, {"width": 3}, {"width": 4.0}, {"classes": 2}],
    ),
    "split points": (
        SplitPoints((SPLIT,), 4, 3),
        lambda query: query.fits(ROOT, DOMAIN, Max()),
        [
            {"size": 4.0}, {"classes": 2}, {"values": [SPLIT]}, {"values": (Value(0, (0, 9), None),)},
            {"values": (SPLIT, SPLIT)}, {"values": (FIXED,)}, {"literal": 1},
        ],
    ),
    "one value": (
        OneValue((FIXED,), SIZES, 3),
        lambda query: query.fits(ROOT, DOMAIN, Max()),
        [
            {"values": ()}, {"classes": 3.0}, {"sizes": (4, 3)}, {"values": (SPLIT,)},
            {"values": (replace(FIXED, children=((0, 2),)),)}, {"values": (replace(FIXED, children=[(0, 2), (2, 4)]),)},
        ],
    ),
    "hubs": (
        Hubs(COLUMNS, (0, 1)),
        lambda query: query.fits(ROOT, WHOLE, Dependence()),
        [{"within": WITHIN}, {"columns": ()}, {"columns": (1, 0)}, {"columns": (0, 2)}, {"columns": [0, 1]}],
    ),
    "sets of tables": (
        TableSets((CrossTables(COLUMNS, (TABLE,)),), (ints(1, 2, 3, 4),), ints(-(2**60)), ints(0)),
        lambda query: query.fits(ROOT, WHOLE, Distance()),
        [
            {"penalties": ints(-(2**63))}, {"penalties": ints(2**60 + 1)}, {"penalties": FLOATS}, {"left": ints(1)},
            {"models": (ints(1, 2, 3),)}, {"models": (ints(1, 2, 3, -4),)}, {"models": ()}, {"left": ints()},
        ],
    ),
    "bounds on degrees": (
        Bounds((1, 2), (0, 0)),
        lambda query: query.fits(ROOT, GraphDomain(None, False, True), Lag()),
        [{"thetas": (2, 1)}, {"thetas": (0, 1)}, {"penalties": (0,)}, {"penalties": (0, -1)}, {"penalties": (0, 0.0)}],
    ),
}  # fmt: skip
"""By name: a sound question, the check that decides whether it fits, and changes each of which makes it unsound."""


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_question_fits_and_each_flaw_is_refused(name: str) -> None:
    sound, fits, flaws = SOUND[name]
    assert fits(sound)
    assert [flaw for flaw in flaws if fits(replace(sound, **flaw))] == []


def test_several_questions_must_be_a_tuple_without_repeats() -> None:
    search = SOUND["a search"][0]
    assert not are_searches([search], SIZES)
    assert not are_searches((), SIZES)
    assert not are_searches((search, search), SIZES)
    assert not are_tables([TABLE], SIZES)
    assert not are_tables((), SIZES)


def test_a_map_changed_after_its_shape_was_read_is_refused() -> None:
    table = CrossTable((0,), (groups(0, 0, 1, 1),))
    assert table.shape == (2,)
    table.maps[0][:] = [0, 1, 2, 3]
    assert not are_tables((table,), SIZES)


def test_scores_that_no_claim_covers_are_refused() -> None:
    for name in ("split points", "one value"):
        assert not SOUND[name][0].fits(ROOT, DOMAIN, Mix(even=1, apart=1))
    for name in ("hubs", "sets of tables"):
        assert not SOUND[name][0].fits(ROOT, WHOLE, Max())
    assert not SOUND["bounds on degrees"][0].fits(ROOT, GraphDomain(None, False, True), Max())

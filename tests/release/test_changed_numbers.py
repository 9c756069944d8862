"""`verify` computes again whatever follows from noisy numbers: it notices a change of any such number in any table.

The releases are in memory, so that no hash shows the change.
"""

from __future__ import annotations

from datetime import timedelta
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest

import cantle
from cantle.release.structures import STRUCTURES, structure_of
from cantle.release.verify import problems
from cantle_lab.papers.made_families import CLINIC, clinic
from tests.release.changes import with_parts
from tests.release.kinds import EDGE, GRAPH, ISOLATE, NUMBERS, baskets, edges
from tests.release.people import SCHEMA, people

TABLES: dict[str, dict[str, Any]] = {
    "tree": {"method": "rps", "depth": 4},
    "tree, halved": {"method": "rps", "attributes": "midpoint", "stop": "privtree:2", "stop_share": "1/2"},
    "tree, paper": {"method": "rps", "preset": "paper", "depth": 4},
    "tree, counted regions": {"method": "rps", "stop": "count:5", "stop_share": "1/3", "depth": 4},
    "tree, declared": {"method": "rps", "records": 400, "count_share": 0, "summary": "depth", "depth": 4},
    "tree, subsets": {"method": "rps", "cuts": "subsets", "depth": 4},
    "tree, subsets, tested": {"method": "rps", "cuts": "subsets", "depth": 4, "stop": "count:5", "stop_share": "1/3"},
    "tree, own error unknown": {"method": "rps", "accuracy_share": 0, "depth": 4},
    "cells": {"method": "diffgen"},
    "cells, paper": {"method": "diffgen", "preset": "paper", "rounds": 4},
    "tables": {"method": "mosaic"},
}
SETS: dict[str, dict[str, Any]] = {
    "sets": {"method": "diffpart", "cells": "tree"},
    "sets, as counted": {"method": "diffpart", "preset": "paper"},
    "sets, all of them": {"method": "diffpart", "schema": {"kind": "sets", "items": {"minimum": 1, "maximum": 6}}},
    "patterns": {"method": "baskets", "epsilon": 30},
}
GRAPHS: dict[str, dict[str, Any]] = {
    "degrees": {"schema": GRAPH},
    "degrees, public nodes": {"schema": ISOLATE},
    "degrees, edges": {"schema": EDGE},
    "degrees, ranges": {"schema": GRAPH, "preset": "paper"},
}
OTHERS: dict[str, dict[str, Any]] = {
    "sequences": {"schema": NUMBERS | {"kind": "sequences", "max_length": 30}, "data": lambda: baskets(NUMBERS)},
    "families": {"schema": CLINIC, "data": lambda: clinic(400, 3)},
}
ALL = TABLES | SETS | GRAPHS | OTHERS
ROWS = 3
"""Rows of a table in which each column is changed."""

ONLY_ROUGHLY = {
    ("tree", "marginals", "noisy"): "records are drawn again, but so small a change need not move any",
    ("cells", "marginals", "noisy"): "the same",
    ("tables", "tables", "noisy"): "records are drawn again, but last digits vary with the machine",
    ("sets", "groups", "noisy"): "the counts of larger groups, by which they are corrected, are not released",
    ("sets", "groups", "estimate"): "the same",
    ("sets", "sizes", "noisy"): "the sizes of few records follow from all of them together",
    ("patterns", "groups", "noisy"): "they count in small parts of a record",
    ("degrees", "groups", "noisy"): "degrees are whole numbers",
    ("sequences", "groups", "noisy"): "sequences are drawn again, but a share of 1 % may differ, as last digits vary",
    ("families", "tables", "noisy"): "families are drawn again, but a share of 2 % may differ, as last digits vary",
}
"""Numbers that are not noticed if they are changed by 1, and why."""

ALL_FOLLOWS = ("sets, as counted", "sets, all of them", "degrees, ranges")
"""Releases in which these numbers are noticed too."""


@cache
def release(name: str) -> cantle.Release:
    given = {"epsilon": 5, "insecure_seed": 3} | ALL[name]
    schema: Any = given.pop("schema", SCHEMA if name in TABLES else NUMBERS)
    if name in OTHERS:
        return cantle.publish(given.pop("data")(), schema, **given)
    if name in TABLES:
        return cantle.publish(people(), schema, **given)
    if name in SETS:
        return cantle.publish(baskets(schema) if schema is NUMBERS else few_items(), schema, **given)
    return cantle.publish(edges(), schema, **given)


def few_items() -> list[list[int]]:
    return [sorted({one % 6 + 1 for one in held}) for held in baskets(NUMBERS)]


def changed(values: pl.Series, row: int) -> pl.Series:
    """The column with another value in this row: 1 more, a later time, or the value of another row."""
    old, kind = values[row], values.dtype
    if kind.is_numeric() or kind == pl.Boolean:
        new = 7 if old is None else not old if kind == pl.Boolean else old + 1
    elif kind.is_temporal():
        new = old + timedelta(days=1)
    elif kind == pl.String:
        new = next((value for value in values.unique(maintain_order=True) if value != old), "another")
    else:
        new = [*old.to_list(), 1]
    return pl.Series(values.name, [*values[:row].to_list(), new, *values[row + 1 :].to_list()], dtype=kind)


def test_every_structure_is_tried() -> None:
    assert {structure_of(release(name).manifest) for name in ALL} == set(STRUCTURES)
    assert all(problems(release(name)) == [] for name in ALL)


@pytest.mark.parametrize("name", ALL)
def test_every_changed_number_is_noticed(name: str) -> None:
    mine, missed = release(name), []
    for table, frame in {"groups": mine.groups, **mine.frames}.items():
        for column in frame.columns:
            if (structure_of(mine.manifest), table, column) in ONLY_ROUGHLY and name not in ALL_FOLLOWS:
                continue
            for row in np.linspace(0, len(frame) - 1, ROWS).astype(int).tolist() if len(frame) else []:
                other = frame.with_columns(changed(frame[column], row))
                parts = {"groups": other} if table == "groups" else {"frames": mine.frames | {table: other}}
                if not problems(with_parts(mine, **parts)):
                    missed.append((table, column, row))
    assert missed == []


@pytest.mark.parametrize("name", ["tree", "tree, subsets", "cells"])
def test_a_clear_change_of_any_cell_of_a_one_way_table_is_noticed(name: str) -> None:
    mine = release(name)
    tables = mine.frames["marginals"]
    for row in range(len(tables)):
        more = np.where(np.arange(len(tables)) == row, 200, 0)
        other = tables.with_columns(noisy=tables["noisy"] + pl.Series(more))
        found = list(problems(with_parts(mine, frames=mine.frames | {"marginals": other})))
        assert found == ["the records are not those that the noisy numbers make with the stated seed"]

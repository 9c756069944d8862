"""Python lists of sets and edges: no record in them is taken for a path, whatever the other records are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import cantle
from cantle.errors import CantleError

SETS: dict[str, Any] = {"kind": "sets", "items": ["x", "y"]}
EDGES: dict[str, Any] = {"kind": "graph", "unit": "edge", "nodes": 9}
TABLE: dict[str, Any] = {"fields": [{"name": "a", "type": "string", "categories": ["x"]}]}


def said(data: object, schema: dict[str, Any], engine: str) -> str:
    try:
        cantle.publish(data, schema, epsilon=1, engine=engine, insecure_seed=1)  # type: ignore[arg-type]
    except CantleError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("schema", [SETS, EDGES], ids=["sets", "edges"])
def test_all_lists_get_the_same_answer(schema: dict[str, Any], engine: str) -> None:
    lists: list[object] = [[], ["canary"], [["canary", "x"]], [["x", "canary"], [1, 2]], [("canary", "x")], [3], [None]]
    answers = {said(data, schema, engine) for data in lists}
    assert len(answers) == 1
    assert "canary" not in answers.pop()


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_rows_of_a_table_are_not_taken_for_paths(engine: str) -> None:
    lists: list[object] = [[], [["canary"]], [{"a": "canary"}], [("canary", 1)]]
    answers = {said(data, TABLE, engine) for data in lists}
    assert len(answers) == 1
    assert "canary" not in answers.pop()


def test_a_set_that_names_a_file_does_not_open_it(tmp_path: Path) -> None:
    path = tmp_path / "x.dat"
    path.write_text("x y\n" * 50)
    lists: list[list[str]] = [[], [str(path)]]
    nothing, named = (cantle.publish(one, SETS, epsilon=9, engine="duckdb", insecure_seed=1) for one in lists)
    assert len(nothing.records) == len(named.records) < 50

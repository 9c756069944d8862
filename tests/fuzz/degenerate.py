"""Schemas and data of degenerate shape: one category, one column, bounds of one value, all null, no records.

Nothing is wrong with these inputs, so a run may end only in a release that verifies, or in one of our own errors before
anything is charged.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import polars as pl

import cantle
from cantle.errors import CantleError
from cantle.interfaces.opening import Order, preflight
from cantle.interfaces.publishing import carry_out
from cantle.release.report.page import render
from cantle.release.show import sections
from cantle.release.verify import verify_folder
from cantle.schema import Schema
from tests.fuzz.case import Target

EPSILONS = ("0.01", "0.1", "1", "1", "9", "500")
ROWS = (0, 1, 2, 2, 3, 30, 300)
TREE = {"hierarchy": {"x": ["a"], "y": ["b", "c"]}}
COLUMNS: tuple[tuple[dict[str, Any], tuple[Any, ...]], ...] = (
    ({"type": "string", "categories": ["a"]}, ("a",)),
    ({"type": "string", "categories": ["a"]}, ("a",)),
    ({"type": "string", "categories": ["a", "b"]}, ("a", "b")),
    ({"type": "string", "categories": ["a", "b", "c"]} | TREE, ("a", "b", "c")),
    ({"type": "string", "categories": ["a"], "hierarchy": {"x": ["a"]}}, ("a",)),
    ({"type": "string", "categories": [f"c{n}" for n in range(40)]}, ("c0", "c39")),
    ({"type": "boolean"}, (True, False)),
    ({"type": "integer", "constraints": {"minimum": 7, "maximum": 7}}, (7, 8)),
    ({"type": "integer", "constraints": {"minimum": 0, "maximum": 1}}, (0, 1)),
    ({"type": "integer", "constraints": {"minimum": -5, "maximum": 9000}}, (0, 50, 8999)),
    ({"type": "number", "step": 0.5, "constraints": {"minimum": 2, "maximum": 2}}, (2.0, -1.0)),
    ({"type": "number", "step": 0.1, "constraints": {"minimum": 0, "maximum": 0.1}}, (0.0, 0.1)),
    ({"type": "date", "constraints": {"minimum": "2020-02-29", "maximum": "2020-02-29"}}, ("2020-02-29",)),
    ({"type": "datetime", "step": "1d", "constraints": {"minimum": "2020-01-01", "maximum": "2020-01-03"}},
     ("2020-01-01T05:00:00",)),
)  # fmt: skip
"""Columns of a table, and values that their records have."""

METHODS: Mapping[str, tuple[dict[str, Any], ...]] = {
    "auto": ({},),
    "mosaic": ({},),
    "rps": (
        {}, {}, {"preset": "paper", "depth": 4}, {"preset": "paper", "depth": 6, "stop": "narrow:2"}, {"values": "set"},
        {"values": "low", "label": "majority"}, {"values": "midpoint", "stop": "privtree:2"}, {"attributes": "random"},
        {"depth": 0}, {"summary": "depth", "records": 2}, {"records": 0}, {"stop": "count:3+narrow:1", "skip": 1},
        {"levels": "geometric:2", "consistency": False}, {"quality": "class", "order": "random", "bins": 2},
    ),
    "diffgen": (
        {}, {}, {}, {"preset": "paper"}, {"rounds": 0}, {"rounds": 2, "objective": "balanced"}, {"records": 0},
        {"preset": "paper", "score": "infogain"}, {"preset": "paper", "score": "purity"}, {"score": "gini"},
        {"cells": 1},
    ),
}  # fmt: skip
SET_METHODS: Mapping[str, tuple[dict[str, Any], ...]] = {
    "auto": ({},),
    "baskets": ({},),
    "diffpart": ({}, {"preset": "paper"}, {"cells": "tree", "fanout": 2}),
}
ITEMS = ([1], ["a"], [1, 2], {"minimum": 1, "maximum": 1}, {"minimum": 0, "maximum": 70})
SETS: tuple[Any, ...] = ([], [1], ["a"], [1, 2], [1, 2, 3, 70], [99], [None])
GRAPHS: tuple[dict[str, Any], ...] = (
    {}, {"max_degree": 1}, {"nodes": ["a"]}, {"unit": "edge", "nodes": 1}, {"unit": "edge", "nodes": 2},
    {"unit": "node-isolate", "nodes": {"minimum": 1, "maximum": 1}}, {"unit": "node-isolate", "nodes": 3},
    {"unit": "edge", "nodes": {"minimum": 0, "maximum": 40}},
)  # fmt: skip
EDGES = ((), ((1, 1),), ((0, 1),), (("a", "a"), ("a", "b")), tuple((0, node) for node in range(1, 30)))


def use(path: Path, dice: Random) -> None:
    """Publishes once, and reads the release in every way."""
    make = one_of(dice, (table, table, table, sets, graph))
    data, document, options = make(dice)
    schema, epsilon, seed = Schema.from_dict(document), one_of(dice, EPSILONS), dice.randrange(99)
    method, preset = options.pop("method"), options.pop("preset", "default")
    order = preflight(
        data, schema, epsilon=epsilon, method=method, preset=preset, insecure_seed=seed, parameters=options
    )
    folder = paid(order).save(path.parent / "out")
    assert verify_folder(folder) == []
    if dice.randrange(4) == 0:
        options.pop("records", None)  # `plan` has an argument of this name
        cantle.plan(schema, epsilon=epsilon, records=1 + len(data), method=method, preset=preset, **options)
        look(cantle.Release.load(folder))


def paid(order: Order) -> cantle.Release:
    """The release of an order that passed all checks: once epsilon is charged, not even our own errors may end it."""
    try:
        return carry_out(order)
    except CantleError as error:
        raise AssertionError(f"after the charge: {error}") from error


def look(release: cantle.Release) -> None:
    """Prints, draws and asks all that there is."""
    render(release)
    list(sections(release))
    repr(release)
    assert "<table>" in release._repr_html_()
    if release.manifest.kind != "graph":
        release.sample(3, seed=1)
    release.count()


def table(dice: Random) -> tuple[pl.DataFrame, dict[str, Any], dict[str, Any]]:
    """A table of one to four columns; a list of values for all its records, or null for all of them."""
    rows, chosen = one_of(dice, ROWS), [one_of(dice, COLUMNS) for _ in range(dice.choice((1, 1, 2, 2, 3, 4)))]
    fields, columns = [], {}
    for number, (kind, values) in enumerate(chosen):
        field = {"name": f"n{number}", **kind}
        if dice.randrange(2):
            field["constraints"] = {**kind.get("constraints", {}), "required": True}
        fields.append(field)
        known = [*values, *one_of(dice, ([], [None], [None, None, None]))] if dice.randrange(8) else [None]
        texts = [None if one is None else str(one).lower() for one in known]
        columns[field["name"]] = pl.Series([dice.choice(texts) for _ in range(rows)], dtype=pl.String)
    labels = [field for field in fields if "categories" in field or field["type"] == "boolean"]
    if labels and dice.randrange(4):
        one_of(dice, labels)["role"] = "target"
    schema: dict[str, Any] = {"fields": fields}
    if dice.randrange(4) == 0:
        columns["who"] = pl.Series([str(dice.randrange(3)) for _ in range(rows)], dtype=pl.String)
        fields.append({"name": "who", "role": "identifier"})
        schema["unit"] = {"person": "who", "max_records": dice.choice((1, 2, 100))}
    if len(chosen) > 1 and dice.randrange(6) == 0:
        schema["rules"] = ["n0 is null -> n1 is null"]
    method = one_of(dice, tuple(METHODS))
    return pl.DataFrame(columns), schema, {"method": method} | one_of(dice, METHODS[method])


def sets(dice: Random) -> tuple[list[Any], dict[str, Any], dict[str, Any]]:
    """Few sets over few items."""
    method, one = one_of(dice, tuple(SET_METHODS)), one_of(dice, SETS)
    data = [one if dice.randrange(2) else one_of(dice, SETS) for _ in range(one_of(dice, ROWS))]
    schema = {"kind": "sets", "items": one_of(dice, ITEMS), "form": "list"}
    return data, schema, {"method": method} | one_of(dice, SET_METHODS[method])


def graph(dice: Random) -> tuple[list[Any], dict[str, Any], dict[str, Any]]:
    """A graph with few nodes or edges, or with none."""
    how = one_of(dice, ({}, {}, {"preset": "paper"}, {"preset": "paper", "theta": 1}))
    return list(one_of(dice, EDGES)), {"kind": "graph"} | one_of(dice, GRAPHS), {"method": "degrees"} | how


def one_of(dice: Random, choices: Any) -> Any:
    return choices[dice.randrange(len(choices))]


SHAPES = Target("degenerate shapes", "nothing", (b"",), use)

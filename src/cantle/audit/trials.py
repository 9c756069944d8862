"""Trials of the black-box audit: every method and preset through `publish`.

Data sets are tiny, so that one unit weighs as much as it can. A run shows all noisy numbers of a release and its whole
shape: records are drawn from these, and say no more.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import nullcontext

import polars as pl

from cantle._open import preflight
from cantle._publish import carry_out
from cantle.audit.black_box import Draw, Outcome, Trial
from cantle.audit.exact import Patch
from cantle.release import Release
from cantle.schema import Schema

Observation = Callable[[Release], Outcome]
Rows = Sequence[int | tuple[int | str, ...]]
NUMBERS = {"noisy", "estimate", "count", "leaf", "parent", "path", "node"}
"""Columns that name no region: noisy numbers, what is computed of them, and numbers of nodes."""


# ---- what a release shows -------------------------------------------------------------------------------------------


def by_region(release: Release) -> Outcome:
    """A tree: its regions, cuts and rates are the shape."""
    names, values = _numbered(release.groups)
    numbers = dict(zip(names, values, strict=True))
    if "marginals" in release.frames:
        codes, more = _numbered(release.frames["marginals"])
        numbers |= dict(zip(codes, more, strict=True))
    tree = tuple(release.frames["tree"].rows()) if "tree" in release.frames else ()
    return Outcome((names, tree, *_stated(release)), numbers)


def by_cell(release: Release) -> Outcome:
    """Cells or sets that may be listed or not: only what is public about all of them is the shape."""
    names, values = _numbered(release.groups)
    cuts = str(release.manifest.structure)
    return Outcome((cuts, *_stated(release)), dict(zip(names, values, strict=True)))


def by_table(release: Release) -> Outcome:
    """Noisy tables: which were asked, and at which rates, is the shape."""
    names, values = _numbered(release.frames["tables"])
    return Outcome((names, str(release.manifest.structure)), dict(zip(names, values, strict=True)))


def by_total(release: Release) -> Outcome:
    """Only how many records there are."""
    return Outcome(None, {"records": release.manifest.summary["records"]})


def _numbered(frame: pl.DataFrame) -> tuple[tuple[Hashable, ...], list[int]]:
    """What every row is about, and its noisy number."""
    about = [tuple(map(str, row)) for row in frame.drop(NUMBERS & set(frame.columns)).rows()]
    return tuple(about), [value or 0 for value in frame["noisy"].to_list()]


def _stated(release: Release) -> tuple[Hashable, ...]:
    """The facts of a release that show how it was planned."""
    return tuple(release.manifest.summary.get(fact) for fact in ("depth", "rounds", "theta", "at_least"))


# ---- runs -----------------------------------------------------------------------------------------------------------


def published(
    schema: Mapping[str, object],
    smaller: object,
    larger: object,
    observe: Observation,
    options: Mapping[str, object],
    *,
    epsilon: float,
    patch: Patch | None = None,
) -> Draw:
    """Runs of `publish` on two neighbours, with a flaw if one is given; options are method, preset and parameters."""
    declared = Schema.from_dict(schema)
    method, preset = str(options.get("method", "auto")), str(options.get("preset", "default"))
    parameters = {name: value for name, value in options.items() if name not in ("method", "preset")}

    def release(data: object) -> Release:
        order = preflight(data, declared, epsilon=epsilon, method=method, preset=preset, parameters=parameters)
        return carry_out(order)

    def draw(joined: bool, runs: int) -> list[Outcome]:
        data = larger if joined else smaller
        with patch() if patch else nullcontext():
            return [observe(release(data)) for _ in range(runs)]

    return draw


def table(rows: Rows, names: Sequence[str] = ("a",)) -> pl.DataFrame:
    """A table of whole numbers, and of texts in a column y."""
    kinds = {name: pl.String if name == "y" else pl.Int64 for name in names}
    return pl.DataFrame([row if isinstance(row, tuple) else (row,) for row in rows], schema=kinds, orient="row")


def schema_of(size: int, *, classes: bool = False, person: bool = False) -> dict[str, object]:
    """One numeric column with this many values, with two classes or with a column of persons."""
    fields: list[dict[str, object]] = [
        {"name": "a", "type": "integer", "constraints": {"required": True, "minimum": 0, "maximum": size - 1}}
    ]
    if classes:
        fields.append({"name": "y", "type": "string", "categories": ["n", "p"], "role": "target"})
    unit = {"unit": {"person": "who", "max_records": 2}} if person else {}
    return {"fields": fields, **unit}


SETS: dict[str, object] = {"kind": "sets", "items": [1, 2, 3]}
GRAPH: dict[str, object] = {"kind": "graph", "unit": "node"}
STAR = [(0, 1), (0, 2), (0, 3)]
LABELLED, NAMED = ("a", "y"), ("who", "a")
APART = [(1, "n"), (2, "p")]
"""Classes separated at 2: another record at 0 raises only the scores of other points."""
LOW: dict[str, object] = {"fanout": 2, "c1": 0, "c2": 0}
"""Thresholds that tiny data can reach."""


LOWER = ("rps", "rps, a person of two records", "diffgen", "mosaic", "baskets", "diffpart")
"""Methods that are tried at epsilon 1; the others at 2."""


def methods() -> list[Trial]:
    """Every method in both presets; what they claim is the epsilon they are given.

    It is at most 2, so that a claim that is wrong by half can be seen in few runs.
    """
    one, two, classes = schema_of(3), schema_of(2), schema_of(4, classes=True)
    apart, stranger = table(APART, LABELLED), table([*APART, (0, "p")], LABELLED)
    found: list[tuple[str, dict[str, object], object, object, Observation, dict[str, object]]] = [
        ("rps", one, table([]), table([0]), by_region, {"method": "rps"}),
        ("rps, all cuts", one, table([0, 1]), table([0, 1, 2]), by_region,
         {"method": "rps", "attributes": "all", "depth": 1}),
        ("rps, stop tests of any depth", one, table([0, 0]), table([0, 0, 0]), by_region,
         {"method": "rps", "stop": "privtree:1", "stop_share": "1/2", "depth": 2}),
        ("rps, one-way tables", two, table([]), table([0]), by_region, {"method": "rps", "oneway_share": "1/2"}),
        ("rps, a person of two records", schema_of(3, person=True), table([], NAMED),
         table([(7, 0), (7, 0)], NAMED), by_region, {"method": "rps"}),
        ("rps paper", one, table([]), table([0]), by_region,
         {"method": "rps", "preset": "paper", "depth": 2, "stop": "count:1"}),
        ("rps paper, two classes", classes, apart, stranger, by_region,
         {"method": "rps", "preset": "paper", "depth": 1, "stop": "none", "stop_share": 0}),
        ("diffgen", classes, table([], LABELLED), table([(0, "n")], LABELLED), by_cell,
         {"method": "diffgen"}),
        ("diffgen, one round", classes, apart, stranger, by_cell,
         {"method": "diffgen", "rounds": 1, "records": 3, "count_share": 0, "cells": 9}),
        ("diffgen paper", classes, apart, stranger, by_cell, {"method": "diffgen", "preset": "paper", "rounds": 1}),
        ("mosaic", one, table([]), table([0]), by_table, {"method": "mosaic"}),
        ("mosaic, two classes", classes, apart, stranger, by_table, {"method": "mosaic"}),
        ("baskets", SETS, [], [[1, 2]], by_cell, {"method": "baskets"}),
        ("diffpart", SETS, [], [[1]], by_cell, {"method": "diffpart"}),
        ("diffpart, a tree", SETS, [], [[1]], by_cell, LOW | {"cells": "tree", "eta": "off", "m": "off"}),
        ("diffpart paper", SETS, [], [[1, 2]], by_cell, LOW | {"preset": "paper"}),
        ("degrees, unit node", GRAPH, [], STAR, by_cell, {"theta": 1}),
        ("degrees, unit node, a chosen bound", GRAPH | {"max_degree": 2}, [], STAR, by_cell, {}),
        ("degrees, unit node-isolate", GRAPH | {"unit": "node-isolate", "nodes": 4}, [], STAR, by_cell, {"theta": 1}),
        ("degrees, unit edge", GRAPH | {"unit": "edge", "nodes": 2}, [], [(0, 1)], by_cell, {}),
        ("degrees, mode rps", GRAPH, [], STAR, by_region, {"mode": "rps", "theta": 1}),
        ("degrees paper", GRAPH, [], STAR, by_region, {"preset": "paper", "theta": 1}),
    ]  # fmt: skip
    trials = []
    for name, schema, less, more, observe, options in found:
        epsilon = 1 if name in LOWER else 2
        trials.append(Trial(name, epsilon, published(schema, less, more, observe, options, epsilon=epsilon)))
    return trials

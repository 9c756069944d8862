"""Trials of the black-box audit: every method and preset, run as `publish` runs it.

Data sets are tiny, so that one unit makes as much of a difference as it can. The outcome of a run is all noisy numbers
of the release and its whole shape. Synthetic records are left out: they are drawn from these, and reveal no more.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import nullcontext

import polars as pl

from cantle.audit.black_box import Draw, Outcome, Trial, sampled_instances
from cantle.audit.exact import Patch
from cantle.interfaces.opening import preflight
from cantle.interfaces.publishing import carry_out
from cantle.release import Release
from cantle.schema import Schema

Observation = Callable[[Release], Outcome]
Rows = Sequence[int | tuple[int | str, ...]]
NUMBERS = {"noisy", "estimate", "count", "leaf", "parent", "path", "node"}
"""Columns that do not describe a region: noisy numbers, what is computed from them, and node numbers."""


# ---- what a release shows -------------------------------------------------------------------------------------------


def by_region(release: Release) -> Outcome:
    """The outcome of a release with a tree: regions, cuts and rates are the shape."""
    names, values = _numbered(release.groups)
    numbers = dict(zip(names, values, strict=True))
    if "marginals" in release.frames:
        codes, more = _numbered(release.frames["marginals"])
        numbers |= dict(zip(codes, more, strict=True))
    tree = tuple(release.frames["tree"].rows()) if "tree" in release.frames else ()
    return Outcome((names, tree, *_stated(release)), numbers)


def by_cell(release: Release) -> Outcome:
    """The outcome of a release that lists some cells or sets: only what holds for all of them is the shape."""
    names, values = _numbered(release.groups)
    cuts = str(release.manifest.structure)
    return Outcome((cuts, *_stated(release)), dict(zip(names, values, strict=True)))


def by_table(release: Release) -> Outcome:
    """The outcome of a release of noisy tables: the shape is which tables were asked for, and at which rates."""
    names, values = _numbered(release.frames["tables"])
    return Outcome((names, str(release.manifest.structure)), dict(zip(names, values, strict=True)))


def by_total(release: Release) -> Outcome:
    """The outcome that consists of the number of records alone."""
    return Outcome(None, {"records": release.manifest.summary["records"]})


def _numbered(frame: pl.DataFrame) -> tuple[tuple[Hashable, ...], list[int]]:
    """What each row describes, and its noisy number (0 if it has none)."""
    about = [tuple(map(str, row)) for row in frame.drop(NUMBERS & set(frame.columns)).rows()]
    return tuple(about), [value or 0 for value in frame["noisy"].to_list()]


def _stated(release: Release) -> tuple[Hashable, ...]:
    """Facts of a release that show how it was planned."""
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
    """Draws releases of two neighbours as outcomes; `options` are method, preset and parameters, and `patch` puts a
    flaw into the code."""
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
    """A frame of these rows; the column y holds texts, all others whole numbers."""
    kinds = {name: pl.String if name == "y" else pl.Int64 for name in names}
    return pl.DataFrame([row if isinstance(row, tuple) else (row,) for row in rows], schema=kinds, orient="row")


def families(children: int | None) -> dict[str, pl.DataFrame]:
    """Both tables of one family with this many children, or of none."""
    up, down = ([], []) if children is None else ([(7, 1)], [(7, 1)] * children)
    return {"up": table(up, ("who", "a")), "down": table(down, ("who", "b"))}


def _numeric(name: str, size: int) -> dict[str, object]:
    return {"name": name, "type": "integer", "constraints": {"required": True, "minimum": 0, "maximum": size - 1}}


def schema_of(size: int, *, classes: bool = False, person: bool = False) -> dict[str, object]:
    """The schema of one numeric column with `size` values; `classes` adds a target, `person` a column of persons."""
    fields = [_numeric("a", size)]
    if classes:
        fields.append({"name": "y", "type": "string", "categories": ["n", "p"], "role": "target"})
    unit = {"unit": {"person": "who", "max_records": 2}} if person else {}
    return {"fields": fields, **unit}


SETS: dict[str, object] = {"kind": "sets", "items": [1, 2, 3]}
GRAPH: dict[str, object] = {"kind": "graph", "unit": "node"}
STAR = [(0, 1), (0, 2), (0, 3)]
_KEY = {"name": "who", "type": "integer", "role": "identifier"}
_LINK = {"fields": "who", "reference": {"resource": "up", "fields": "who"}}
FAMILIES: dict[str, object] = {
    "resources": [
        {"name": "up", "path": "up.csv", "schema": {"fields": [_KEY, _numeric("a", 2)], "primaryKey": "who"}},
        {"name": "down", "path": "down.csv", "schema": {"fields": [_KEY, _numeric("b", 2)], "foreignKeys": [_LINK]}},
    ],
    "unit": {"family": "up", "max_children": 2},
}
LABELLED, NAMED = ("a", "y"), ("who", "a")
APART = [(1, "n"), (2, "p")]
"""Classes that are separated at 2. A third record at 0 raises only the scores of other points."""
LOW: dict[str, object] = {"fanout": 2, "c1": 0, "c2": 0}
"""Thresholds that tiny data can reach."""


LOWER = ("rps", "rps, a person of two records", "diffgen", "mosaic", "baskets", "diffpart")
"""The trials that run at epsilon 1; the others run at 2."""


def all_trials(broken: Iterable[Trial] = ()) -> list[Trial]:
    """All trials of the black-box audit: known instances, every method, and the given methods with deliberate flaws."""
    return [*sampled_instances(), *methods(), *broken]


def methods() -> list[Trial]:
    """Trials of every method in both presets; each claims the epsilon that it is given.

    Epsilon is at most 2, so that few runs can show that a claim is half as large as it should be.
    """
    one, two, classes = schema_of(3), schema_of(2), schema_of(4, classes=True)
    apart, stranger = table(APART, LABELLED), table([*APART, (0, "p")], LABELLED)
    cases: list[tuple[str, dict[str, object], object, object, Observation, dict[str, object]]] = [
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
        ("journeys", SETS | {"kind": "sequences"}, [], [[1]], by_cell, {"method": "journeys"}),
        ("families", FAMILIES, families(None), families(2), by_table, {"method": "families"}),
        ("diffpart", SETS, [], [[1]], by_cell, {"method": "diffpart"}),
        ("diffpart, a tree", SETS, [], [[1]], by_cell, LOW | {"cells": "tree", "eta": "off", "m": "off"}),
        ("diffpart paper", SETS, [], [[1, 2]], by_cell, LOW | {"preset": "paper"}),
        ("degrees, unit node", GRAPH, [], STAR, by_cell, {"theta": 1}),
        ("degrees, unit node, a chosen bound", GRAPH | {"max_degree": 2}, [], STAR, by_cell, {}),
        ("degrees, unit node-isolate", GRAPH | {"unit": "node-isolate", "nodes": 4}, [], STAR, by_cell, {"theta": 1}),
        ("degrees, unit edge", GRAPH | {"unit": "edge", "nodes": 2}, [], [(0, 1)], by_cell, {}),
        ("degrees paper", GRAPH, [], STAR, by_region, {"preset": "paper", "theta": 1}),
    ]  # fmt: skip
    trials = []
    for name, schema, less, more, observe, options in cases:
        epsilon = 1 if name in LOWER else 2
        trials.append(Trial(name, epsilon, published(schema, less, more, observe, options, epsilon=epsilon)))
    return trials

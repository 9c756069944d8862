"""Seeded releases and their hashes: a change that is not meant to change releases must keep all of them.

    python -m tests.golden.same_bytes --write

writes the hashes again, after a change that is meant to change releases. The hashes cover the bytes of the data file;
the names, types and values of the other tables (Parquet's own bytes vary with the version of polars); and release.json
without the versions of the software and the hashes of the other files.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import tempfile
from collections.abc import Callable, Iterable, Set
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

import cantle
from tests.release.kinds import (
    DEGREES,
    EDGE,
    GRAPH,
    ISOLATE,
    LOG,
    NUMBERS,
    SEQUENCES,
    WORDS,
    as_log,
    as_source,
    baskets,
    edge_file,
    edges,
    journeys,
)
from tests.release.people import SCHEMA, people

HASHES = Path(__file__).with_name("same_bytes.json")
SEED = 11
TABLES: dict[str, dict[str, Any]] = {
    "rps": {"method": "rps"},
    "rps, paper": {"method": "rps", "preset": "paper", "depth": 7},
    "rps, paper, mixed score": {
        "method": "rps",
        "preset": "paper",
        "depth": 5,
        "attributes": "all",
        "quality": "mix:1:1",
    },
    "rps, balance": {"method": "rps", "quality": "balance", "label": "counts", "depth": 6},
    "rps, midpoints": {"method": "rps", "attributes": "midpoint", "stop": "privtree:2+narrow:2", "stop_share": "1/2"},
    "rps, count stop": {"method": "rps", "stop": "count:5", "stop_share": "1/3", "levels": "geometric:1.3", "skip": 1},
    "rps, declared number": {"method": "rps", "records": 400, "count_share": 0, "summary": "depth", "bins": 16},
    "rps, no one-way tables": {"method": "rps", "oneway_share": 0, "values": "midpoint", "consistency": False},
    "rps, subsets": {"method": "rps", "cuts": "subsets", "quality": "class"},
    "rps, paper, subsets": {"method": "rps", "preset": "paper", "cuts": "subsets", "depth": 7},
    "rps, random order": {"method": "rps", "order": "random", "order_seed": 3, "values": "uniform", "depth": 4},
    "mosaic": {"method": "mosaic"},
    "diffgen": {"method": "diffgen"},
    "diffgen, balanced": {"method": "diffgen", "objective": "balanced", "score": "weighted", "rounds": 6},
    "diffgen, gini": {"method": "diffgen", "score": "gini", "cells": 50, "records": 400, "count_share": 0},
    "diffgen, paper": {"method": "diffgen", "preset": "paper"},
    "diffgen, paper, infogain": {"method": "diffgen", "preset": "paper", "score": "infogain", "rounds": 4},
    "diffgen, paper, purity": {"method": "diffgen", "preset": "paper", "score": "purity", "rounds": 3},
}
SETS: dict[str, dict[str, Any]] = {
    "diffpart": {"method": "diffpart", "cells": "tree"},
    "diffpart, paper": {"preset": "paper"},
    "diffpart, fanout 3": {"cells": "tree", "fanout": 3, "m": 6, "eta": "1/10"},
    "baskets": {"method": "baskets"},
    "baskets, pairs": {"method": "baskets", "epsilon": 100},
}
FEW: dict[str, Any] = {"kind": "sets", "items": {"minimum": 1, "maximum": 6}}
FIFTEEN: dict[str, Any] = {"kind": "sets", "items": {"minimum": 1, "maximum": 15}}
PERSONS: dict[str, Any] = SCHEMA | {"unit": {"person": "id", "max_records": 2}}
MULTIPLES: dict[str, Any] = {
    "fields": [
        {"name": "age", "type": "integer", "step": 20, "constraints": {"minimum": 0, "maximum": 99}},
        {
            "name": "weight",
            "type": "number",
            "step": 5,
            "constraints": {"minimum": 30, "maximum": 150, "multipleOf": 0.5},
        },
        {
            "name": "seen",
            "type": "datetime",
            "constraints": {"minimum": "2020-01-01", "maximum": "2020-01-31", "multipleOf": "1h"},
        },
        SCHEMA["fields"][8],
    ],
    "rules": ["age < 20 -> ill == 'no'"],
}
"""Steps in which a rule begins, multiples, and both."""
GRAPHS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "degrees, node": (GRAPH, {}),
    "degrees, node, theta 5": (GRAPH, {"theta": 5}),
    "degrees, node, paper": (GRAPH, {"preset": "paper"}),
    "degrees, isolate": (ISOLATE, {}),
    "degrees, edge": (EDGE, {}),
}


def table_file(folder: Path, ending: str) -> Path:
    """The table of people as a CSV or Parquet file."""
    path = folder / f"people.{ending}"
    people().write_csv(path) if ending == "csv" else people().write_parquet(path)
    return path


def hashes_of(release: cantle.Release, form: str | None, folder: Path) -> dict[str, str]:
    """Saves a release, and returns the hashes of its data file, its other tables and its release.json."""
    saved = release.save(folder, data=form)
    tables, hashes = hashlib.sha256(), {}
    for path in sorted(saved.iterdir()):
        name = path.name.removeprefix("NOT-PRIVATE.")
        if name.startswith("data.") and path.suffix != ".parquet":
            hashes["data"] = hashlib.sha256(path.read_bytes()).hexdigest()
        elif name == "release.json":
            hashes["manifest"] = hash_of_manifest(path)
        elif name == "data.parquet":
            hashes["data"] = hashlib.sha256(table_bytes(path)).hexdigest()
        elif path.suffix == ".parquet":
            tables.update(name.encode() + table_bytes(path))
    return hashes | {"tables": tables.hexdigest()}


def table_bytes(path: Path) -> bytes:
    """The names, types and values of a Parquet file."""
    frame = pl.read_parquet(path)
    return f"{list(frame.schema.items())}\n{frame.write_ndjson()}".encode()


def hash_of_manifest(path: Path) -> str:
    """The hash of release.json without the fields that vary between machines."""
    manifest = json.loads(path.read_bytes())
    kept = {key: value for key, value in manifest.items() if key not in ("software", "files", "sha256", "created")}
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()


def all_hashes(folder: Path, wanted: Set[str] | None = None) -> dict[str, dict[str, str]]:
    """The hashes of all releases, or of those whose names are wanted; tables are counted in memory."""
    calls = {name: table_call(folder, options) for name, options in TABLES.items()} | other_calls(folder)
    return {name: hashes_of(*calls[name](), folder / name) for name in calls if wanted is None or name in wanted}


Call = Callable[[], tuple[cantle.Release, str | None]]
"""A function that makes a release and returns it with the form of its data file."""


def call(data: Any, schema: dict[str, Any], form: str | None = None, **options: Any) -> Call:
    """A call of `publish`; if `data` is a function, it is called only then."""

    def publish() -> tuple[cantle.Release, str | None]:
        source = data() if callable(data) else data
        return cantle.publish(source, schema, insecure_seed=SEED, **({"epsilon": 2} | options)), form

    return publish


def table_call(folder: Path, options: dict[str, Any], **where: Any) -> Call:
    """A release of the table of people, read from a CSV file; `where` names the engine."""
    return call(partial(table_file, folder, "csv"), SCHEMA, **options, **where)


def other_calls(folder: Path) -> dict[str, Call]:
    """Releases of other tables, of sets and of graphs, by name."""
    calls: dict[str, Call] = {}
    table, numbers = partial(table_file, folder, "parquet"), partial(baskets, NUMBERS)
    for method in ("rps", "diffgen", "mosaic"):
        calls[f"{method}, parquet"] = call(table, SCHEMA, "parquet", method=method)
        calls[f"{method}, persons"] = call(persons, PERSONS, method=method)
        calls[f"{method}, small epsilon"] = call(people, SCHEMA, method=method, epsilon="0.05")
        calls[f"{method}, own error"] = call(partial(people, 2_000), SCHEMA, method=method, epsilon=4)
        calls[f"{method}, multiples"] = call(partial(people, 2_000), MULTIPLES, method=method)
    for method in ("diffpart", "baskets"):
        calls[f"{method}, own error"] = call(numbers, NUMBERS, **SETS[method], epsilon=40)
        calls[f"{method}, words"] = call(partial(baskets, WORDS), WORDS, **SETS[method])
    for method in ("rps", "mosaic", "diffgen"):
        calls[f"{method}, schema version 1"] = call(table, {"schemaVersion": 1, **SCHEMA}, "parquet", method=method)
    calls["rps, pandas"] = call(lambda: people().to_pandas(), SCHEMA, method="rps")
    no_target = {"fields": [field for field in SCHEMA["fields"] if field.get("role") != "target"]}
    calls["mosaic, no target"] = call(people, no_target)
    calls["mosaic, more records"] = call(partial(people, 6_000), SCHEMA)
    for method in ("rps", "mosaic"):
        one_field = {"fields": [SCHEMA["fields"][1]]}
        calls[f"{method}, one column"] = call(lambda: people().select("age"), one_field, method=method)
    for form in ("fimi", "long.csv", "list.parquet"):
        for name in SETS if form == "fimi" else ("diffpart", "baskets"):
            calls[f"{name}, {form}"] = call(partial(as_source, baskets(NUMBERS), form, folder), NUMBERS, **SETS[name])
    calls["baskets, pairs off"] = call(partial(baskets, WORDS), WORDS, epsilon=100, pairs="off")
    calls["baskets, by sizes"] = call(partial(few_items, 15), FIFTEEN, epsilon=10)
    calls["diffpart, few items"] = call(partial(few_items, 6), FEW)
    for name, (schema, options) in GRAPHS.items():
        calls[name] = call(partial(edge_file, folder), schema, **options)
    calls["journeys"] = call(journeys, SEQUENCES)
    calls["journeys, small epsilon"] = call(journeys, SEQUENCES, epsilon="0.05")
    calls["journeys, long"] = call(as_log, LOG)
    calls["journeys, xes"] = call(journeys, SEQUENCES, "xes", epsilon=20)
    calls["degrees, parquet"] = call(edges, GRAPH, "parquet")
    calls["degrees, listed nodes"] = call(edges, GRAPH, nodes=list(range(320)))
    calls["degrees, degrees"] = call(lambda: [len(basket) for basket in baskets(NUMBERS)], DEGREES)
    return calls


def persons() -> pl.DataFrame:
    """The table of people, with three records per person."""
    return people().with_columns(id=pl.Series(range(400)) // 3)


def few_items(number: int) -> list[list[int]]:
    """Baskets of `number` different items."""
    return [[1 + item % number for item in basket] for basket in baskets(NUMBERS)]


def table_hashes(folder: Path, wanted: Iterable[str], **where: Any) -> dict[str, dict[str, str]]:
    """The hashes of releases of the table of people; `where` names the engine."""
    return {name: hashes_of(*table_call(folder, TABLES[name], **where)(), folder / name) for name in wanted}


def main() -> None:
    parser = argparse.ArgumentParser(description="Hashes of seeded releases.")
    parser.add_argument("--write", action="store_true", help="keep the hashes of this tree as the expected ones")
    write = parser.parse_args().write
    with tempfile.TemporaryDirectory() as folder:
        hashes = all_hashes(Path(folder))
    known = json.loads(HASHES.read_text(encoding="utf-8")) if HASHES.exists() else {}
    if write:
        HASHES.write_text(json.dumps(hashes, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    changed = sorted(name for name in hashes.keys() | known.keys() if hashes.get(name) != known.get(name))
    print(f"{len(hashes)} releases, {len(changed)} of them changed", *changed, sep="\n")


if __name__ == "__main__":
    main()

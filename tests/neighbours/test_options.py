"""Every option of reading is tested by a form of the law: `OPTIONS` lists which. A new option without one fails here.

An option is a key of a field, of the dialect or of a schema of sets, an ending of a file, or a property of its content.
A form tests an option if one of the pairs that it builds has it.
"""

from __future__ import annotations

import codecs
import gzip
import os
import tempfile
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, cast

import polars as pl
import pytest

from cantle.data.file_forms import ARROW, CSV, JSON_LINES, PARQUET, SHEETS, STATISTICS, TABLES, ending
from cantle.schema import Schema
from cantle.schema.dialect import DIALECT_KEYS
from cantle.schema.fields import CONSTRAINT_KEYS, FIELD_KEYS, WRITING
from cantle.schema.file_bytes import UNPACKED
from cantle.schema.sets import SetSchema
from tests.neighbours.engines import duckdb_forms, spark_forms
from tests.neighbours.forms import IN_PROCESS
from tests.neighbours.law import SEED, Form, Pair, built
from tests.neighbours.values import ANY, FIELDS, MARKS

TRIED = 60
"""The number of pairs of a form in which an option is searched for."""

MEMORY = "memory"
OPTIONS: dict[str, list[tuple[str, str]]] = {
    **{f"field: {key}": [("CSV", MEMORY)] for key in FIELD_KEYS if key != "role"},
    "field: role": [("persons, CSV", MEMORY)],
    **{f"constraint: {key}": [("CSV", MEMORY)] for key in CONSTRAINT_KEYS if key != "step"},
    **{f"dialect: {key}": [("CSV", MEMORY)] for key in DIALECT_KEYS if key != "sheetName"},
    "dialect: headerRow": [("CSV", MEMORY), ("Excel", MEMORY), ("ODS", MEMORY)],
    "dialect: sheetName": [("Excel", MEMORY), ("ODS", MEMORY)],
    "ending: .gz": [("CSV, packed", MEMORY), ("graph, edge list", MEMORY)],
    "ending: .zst": [("CSV, packed", MEMORY)],
    "ending: .xz": [("CSV, packed", MEMORY)],
    "ending: .bz2": [("CSV, packed", MEMORY)],
    "ending: .csv": [("CSV", MEMORY), ("CSV", "duckdb")],
    "ending: .tsv": [("CSV", MEMORY)],
    "ending: .parquet": [("Parquet, by pyarrow", MEMORY), ("Parquet", "duckdb")],
    "ending: .feather": [("Arrow", MEMORY)],
    "ending: .arrow": [("Arrow, in batches", MEMORY)],
    "ending: .jsonl": [("JSON Lines", MEMORY)],
    "ending: .xlsx": [("Excel", MEMORY)],
    "ending: .ods": [("ODS", MEMORY)],
    "ending: .sav": [("SPSS", MEMORY)],
    "ending: .dta": [("Stata", MEMORY)],
    "ending: .xpt": [("SAS", MEMORY)],
    "several files": [("CSV, several files", MEMORY)],
    "pattern": [("CSV, several files", MEMORY)],
    "folder": [("CSV, several files", MEMORY), ("sets, several files", "duckdb")],
    "CR line ends": [("CSV", MEMORY), ("JSON Lines", MEMORY), ("sets, FIMI", MEMORY), ("graph, edge list", MEMORY)],
    "UTF-16": [("CSV, UTF-16", MEMORY)],
    "byte order mark": [("CSV", MEMORY), ("CSV, UTF-16", MEMORY)],
    "several formats": [("CSV", MEMORY)],
    "sets: items": [("sets, FIMI", MEMORY)],
    "sets: form": [("sets, FIMI", MEMORY), ("sets, long CSV", MEMORY)],
    "sets: missingValues": [("sets, long CSV", MEMORY)],
    "sets: dialect": [("sets, FIMI", MEMORY)],
    "sets: id": [("sets, long CSV in batches", name) for name in (MEMORY, "duckdb")] + [("sets, long", "spark")],
    "sets: item": [("sets, long CSV in batches", name) for name in (MEMORY, "duckdb")] + [("sets, long", "spark")],
    "sets: column": [("sets, pandas objects", MEMORY), ("sets, lists in batches", "duckdb"), ("sets, lists", "spark")],
    "sets: unit": [("sets, persons, CSV", MEMORY), ("sets, persons, Parquet", "duckdb"), ("sets, persons", "spark")],
    "persons of tables": [("persons, CSV", MEMORY), ("persons, in batches", "duckdb"), ("persons", "spark")],
    "graph: nodes, number": [("graph, edge list", MEMORY), ("graph, edge list", "duckdb")],
    "graph: nodes, bounds": [("graph, edge list", MEMORY), ("graph, edge list", "duckdb")],
    "graph: nodes, list": [("graph, edge list", MEMORY), ("graph, edge list", "duckdb")],
}
SAME_READER = {
    ".txt": CSV,
    ".data": CSV,
    ".test": CSV,
    ".pq": PARQUET,
    ".ipc": ARROW,
    ".ndjson": JSON_LINES,
    ".xlsm": SHEETS,
    ".zsav": STATISTICS,
    ".por": STATISTICS,
    ".sas7bdat": STATISTICS,
}
"""File endings that are read like another ending in OPTIONS."""


def options_of(pair: Pair) -> Iterator[str]:
    """The options that a pair has."""
    schema = pair.schema
    if schema.get("kind") == "sets":
        yield from (f"sets: {key}" for key in schema if key != "kind")
    elif schema.get("kind") == "graph":
        kinds = {int: "number", dict: "bounds", list: "list", type(None): "none"}
        yield f"graph: nodes, {kinds[type(schema.get('nodes'))]}"
    elif "unit" in schema:
        yield "persons of tables"
    for field in schema.get("fields", []):
        yield from (f"field: {key}" for key in field)
        yield from (f"constraint: {key}" for key in field.get("constraints", {}))
        if isinstance(field.get("format"), list):
            yield "several formats"
    yield from (f"dialect: {key}" for key in schema.get("dialect", {}))
    yield from _of_data(pair.after)


def _of_data(data: Any) -> Iterator[str]:
    if isinstance(data, list) and data and isinstance(data[0], Path):
        yield "several files"
        data = data[0]
    if isinstance(data, str) and "*" in data:
        yield "pattern"
    elif isinstance(data, Path) and data.is_dir():
        yield "folder"
    elif isinstance(data, Path):
        yield f"ending: {ending(data)}"
        yield f"ending: {data.suffix}"
        yield from _of_bytes(gzip.decompress(data.read_bytes()) if data.suffix == ".gz" else data.read_bytes())


def _of_bytes(held: bytes) -> Iterator[str]:
    if held.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        yield "UTF-16"
    if held.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        yield "byte order mark"
    if b"\r" in held and b"\n" not in held:
        yield "CR line ends"


@cache
def tried(name: str, engine: str) -> set[str]:
    """The options of the first pairs of a form, up to the pair that completes those of OPTIONS."""
    wanted = {option for option, forms in OPTIONS.items() if (name, engine) in forms}
    forms: list[Form] = [*IN_PROCESS, *duckdb_forms(), *spark_forms(_Session())]
    form = next(one for one in forms if (one.name, one.engine) == (name, engine))
    options = set[str]()
    with tempfile.TemporaryDirectory() as place:
        for case in range(min(TRIED, form.cases)):
            pair = built(form, Random(f"{SEED} {form.name} {form.engine} {case}"), Path(place))
            options.update(options_of(pair))
            if wanted <= options:
                break
    return options


class _Session:
    """A stand-in for a session of Spark, with what is needed to build a frame."""

    @property
    def read(self) -> _Session:
        return self

    def parquet(self, path: str) -> _Session:
        assert os.path.exists(path)
        return self

    def repartition(self, _parts: int) -> _Session:
        return self


def test_every_option_has_a_form() -> None:
    """A new key of a field, of the dialect, or of sets, or a new ending of files needs a line in OPTIONS."""
    endings = {*TABLES, *UNPACKED} - set(SAME_READER)
    assert {f"ending: {one}" for one in endings} <= set(OPTIONS)
    assert all(f"ending: {one}" in OPTIONS for kind in SAME_READER.values() for one in kind if one not in SAME_READER)
    of_sets = [one.name for one in fields(cast(SetSchema, Schema.from_dict({"kind": "sets", "items": [1, 2]})))]
    names = {"universe": "items", "person": "unit", "missing_values": "missingValues"}
    of_reading = {names.get(key, key) for key in of_sets} - {"kind", "hierarchy", "inferred", "extra", "max_records"}
    assert of_reading == {one.removeprefix("sets: ") for one in OPTIONS if one.startswith("sets: ")}
    assert set(WRITING) <= set(FIELD_KEYS)


@pytest.mark.parametrize("option", OPTIONS)
def test_a_form_of_an_option_has_pairs_with_it(option: str) -> None:
    missing = [form for form in OPTIONS[option] if option not in tried(*form)]
    assert not missing


@pytest.mark.parametrize("key", [*WRITING, "missingValues", "unknown", "step"])
def test_an_option_changes_the_codes_of_some_value(key: str) -> None:
    """Otherwise the pairs would not test it."""
    fields = [(name, field) for name, field in FIELDS.items() if key in field]
    assert any(_codes(name, field) != _codes(name, _without(field, key)) for name, field in fields)


def _without(field: dict[str, Any], key: str) -> dict[str, Any]:
    instead = {"step": {"step": 1}, "decimalChar": {"groupChar": ","}}.get(
        key, {}
    )  # without such a replacement the schema is refused
    return {one: value for one, value in field.items() if one != key} | instead


def _codes(name: str, field: dict[str, Any]) -> list[int]:
    words = [one for one in ANY if isinstance(one, str) and one.isprintable()]
    domain = Schema.from_dict({"fields": [{"name": name, **field}], "missingValues": MARKS}).domain()  # type: ignore[attr-defined]
    codes: list[int] = domain.read.attributes[0].encode(pl.Series(name, words)).tolist()
    return codes

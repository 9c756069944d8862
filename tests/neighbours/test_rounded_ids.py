"""Identifiers that were rounded or damaged: no two persons, sets or nodes become one by it.

A spreadsheet rounds numbers, texts of moments have no nanoseconds, and bytes that cannot be decoded all become U+FFFD.
"""

from __future__ import annotations

import zipfile
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xlsxwriter

from cantle.data.engine_choice import IN_MEMORY, EngineChoice
from cantle.data.graphs import read_graph
from cantle.data.sets import read_baskets
from cantle.schema.graph import GraphSchema
from cantle.schema.sets import SetSchema
from tests.neighbours.reading import table

FIELDS = [
    {"name": "who", "type": "string", "role": "identifier"},
    {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 9, "required": True}},
]
PERSONS: dict[str, Any] = {"fields": FIELDS, "unit": {"person": "who", "max_records": 1}}
SETS: dict[str, Any] = {
    "kind": "sets",
    "items": {"minimum": 1, "maximum": 9},
    "form": "long",
    "id": "who",
    "item": "age",
}
PAIRS = [("9007199254740992", "9007199254740993"), ("0", "1e-12"), ("1", "1.0000000000000002")]
"""Numbers as the cells of a file spell them, whose texts are alike after rounding."""


def sheet(path: Path, rows: list[tuple[str, int]], *, as_text: bool = False) -> Path:
    """A spreadsheet with these identifiers, as texts or as numbers in exactly this spelling."""
    with xlsxwriter.Workbook(path) as book:
        page = book.add_worksheet()
        page.write_row(0, 0, ["who", "age"])
        for place, (who, age) in enumerate(rows):
            page.write_string(place + 1, 0, who) if as_text else page.write_number(place + 1, 0, 10**6 + place)
            page.write_number(place + 1, 1, age)
    with zipfile.ZipFile(path) as book:
        parts = {name: book.read(name) for name in book.namelist()}
    for place, (who, _) in enumerate(rows):
        cell = b"<v>%d</v>" % (10**6 + place)
        name = "xl/worksheets/sheet1.xml"
        parts[name] = parts[name].replace(cell, b"<v>%b</v>" % who.encode())
    with zipfile.ZipFile(path, "w") as book:
        for name, part in parts.items():
            book.writestr(name, part)
    return path


@pytest.mark.parametrize(("pair", "engine"), [*((pair, "memory") for pair in PAIRS), (PAIRS[0], "duckdb")])
def test_persons_with_rounded_numbers_do_not_share_a_bound(pair: tuple[str, str], engine: str, tmp_path: Path) -> None:
    if engine == "duckdb":
        pytest.importorskip("duckdb", reason="DuckDB is not installed (extra duckdb)")
    choice = IN_MEMORY if engine == "memory" else EngineChoice.of(engine, None, None)
    for stays, leaves in (pair, pair[::-1]):
        for age in (3, 4):
            before = sheet(tmp_path / "data.xlsx", [(stays, 7)])
            one = table(choice=choice)(PERSONS, before)
            two = table(choice=choice)(PERSONS, sheet(before, [(leaves, age), (stays, 7)]))
            assert not one - two
            assert (two - one).total() <= 1


def test_sets_with_rounded_numbers_are_not_joined(tmp_path: Path) -> None:
    path = sheet(tmp_path / "data.xlsx", [("9007199254740992", 1), ("9007199254740993", 2), ("7", 3)])
    assert read_baskets(path, SetSchema.from_dict(SETS)).starts.tolist() == [0, 1]


def test_long_texts_are_identifiers(tmp_path: Path) -> None:
    """Only those that a rounded number would have as its text are not."""
    path = sheet(tmp_path / "data.xlsx", [("123456789012345678", 1), ("123456789012345679", 2)], as_text=True)
    assert read_baskets(path, SetSchema.from_dict(SETS)).starts.tolist() == [0, 1, 2]


def bounded(data: Any, choice: EngineChoice = IN_MEMORY, **more: Any) -> int:
    """How many records are used, one per person."""
    return table(choice=choice)({**PERSONS, **more}, data).total()


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_persons_with_damaged_names_are_nobody(ending: str, tmp_path: Path) -> None:
    """Two names that differ in the damaged letter, and one that is whole."""
    path = tmp_path / f"data.{ending}"
    names = [b"M\xfcller", b"M\xe4ller", b"M\xe4ller", b"Mole"]
    if ending == "csv":
        path.write_bytes(b"who,age\n" + b"".join(b"%b,5\n" % name for name in names))
    else:
        path.write_bytes(b"".join(b'{"who": "%b", "age": 5}\n' % name for name in names))
    assert bounded(path) == 1
    assert bounded(path, dialect={"encoding": "latin-1"}) == 3


def test_damaged_names_in_arrow() -> None:
    held = pa.array([b"M\xfc", b"M\xe4", b"Mole", "\ufffd".encode()], pa.binary())
    made = pa.table({"who": pa.Array.from_buffers(pa.string(), len(held), held.buffers()), "age": ["5"] * 4})
    assert bounded(made) == 1
    edges = made.select(["who"]).append_column("to", made["who"])
    graph: Any = read_graph(edges, GraphSchema.from_dict({"kind": "graph"}), nodes=[])
    assert len(graph.keys) == 1


@pytest.mark.filterwarnings("ignore:.*is deprecated:DeprecationWarning")
def test_damaged_names_in_a_database() -> None:
    ibis: Any = pytest.importorskip("ibis", reason="ibis is not installed (extra database)")
    base = ibis.duckdb.connect()
    base.raw_sql("CREATE TABLE t AS SELECT 'M' || chr(65533) AS who, 5 AS age UNION ALL SELECT 'Mole', 5")
    assert bounded(base.table("t"), EngineChoice.of("database", None, None)) == 1


def test_moments_with_nanoseconds_are_no_identifiers() -> None:
    moments = np.array(["2020-01-03T00:00:00.000000001", "2020-01-01", "2020-01-02", "NaT"], dtype="datetime64[ns]")
    one = pd.Series(moments)
    forms = [
        one,
        one.astype(object),
        one.astype("category"),
        one.dt.tz_localize("UTC"),
        pd.Series(list(moments), dtype=object),
    ]
    forms.append(one.astype(pd.ArrowDtype(pa.timestamp("ns"))))
    for who in forms:
        assert bounded(pd.DataFrame({"who": who, "age": [5] * 4})) == 2, who.dtype
    for frame in (pl.DataFrame({"who": moments, "age": [5] * 4}), pa.table({"who": moments, "age": [5] * 4})):
        assert bounded(frame) == 2


def test_numbers_between_floats_are_no_identifiers() -> None:
    near = [
        Fraction(10**20 + 1, 10**20),
        Decimal("2.00000000000000000001"),
        Decimal("4503599627370496.4"),
        Decimal(3),
        1,
    ]
    for frame in (pd.DataFrame({"who": near, "age": [5] * 5}), pl.DataFrame({"who": pl.Series(near, dtype=pl.Object)})):
        data = frame if isinstance(frame, pd.DataFrame) else frame.with_columns(age=pl.lit(5))
        assert bounded(data) == 2

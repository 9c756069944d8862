"""Tables whose unit is a person: D' also has all records of one more person, at any positions, or records of nobody."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa

from tests.neighbours.frames import arrow_table, polars_frame, write_parquet
from tests.neighbours.identifiers import INFERRED, NO_TEXT, NOBODY, ODD_TEXT, TEXT, TYPED, Spellings, cast
from tests.neighbours.law import Form, Pair, Unbuildable, adds_at_most, files, inserted
from tests.neighbours.reading import table
from tests.neighbours.values import FIELDS, MARKS

BOUND = 2
Rows = list[tuple[Any, Any]]


def _schema(kind: str) -> dict[str, Any]:
    fields = [{"name": "who", "type": kind, "role": "identifier"}, {"name": "whole", **FIELDS["whole"]}]
    return {"fields": fields, "missingValues": MARKS, "unit": {"person": "who", "max_records": BOUND}}


def _rows(dice: Random, known: Spellings, nobody: list[Any]) -> tuple[Rows, Rows]:
    """The records (who, whole) of D and of D'."""
    people, newcomer = cast(dice, known, 4)

    def records(spellings: list[Any]) -> Rows:
        return [(dice.choice(spellings), dice.randint(0, 12)) for _ in range(dice.randint(1, 4))]

    rows = [record for person in people for record in records(person)]
    if nobody and dice.random() < 0.3:
        rows = inserted(dice, rows, records(nobody))
    dice.shuffle(rows)
    more = records(nobody if nobody and dice.random() < 0.4 else newcomer)
    return rows, inserted(dice, rows, more)


def _pair(one: Any, two: Any, kind: str, rows: tuple[Rows, Rows]) -> Pair:
    return Pair(_schema(kind), one, two, adds_at_most(BOUND), f"{kind} {rows[0]} {rows[1]}")


def _columns(rows: Rows) -> dict[str, list[Any]]:
    return {"who": [row[0] for row in rows], "whole": [row[1] for row in rows]}


def csv(dice: Random, folder: Path) -> Pair:
    rows = _rows(dice, TEXT, NO_TEXT)
    end = dice.choice(["\n", "\r\n", "\r"])
    texts = [end.join(["who,whole", *(f"{who},{whole}" for who, whole in part), ""]) for part in rows]
    return _pair(
        *files(folder, "data.csv", *(text.encode() for text in texts)), dice.choice(["string", "integer"]), rows
    )


def inferred(*, concat: bool) -> Callable[[Random, Path], Pair]:
    """pandas chooses the types of D' from all values, or with `concat` from two parts that are then joined."""

    def pair(dice: Random, _folder: Path) -> Pair:
        rows = _rows(dice, INFERRED, [*NOBODY, *ODD_TEXT])
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                one, two = (pd.DataFrame(_columns(part)) for part in rows)
                if concat:
                    at = dice.randint(0, len(rows[1]))
                    halves = [pd.DataFrame(_columns(part)) for part in (rows[1][:at], rows[1][at:]) if part]
                    two = pd.concat(halves, ignore_index=True)
        except Exception as error:
            raise Unbuildable from error
        built = _pair(one, two, dice.choice(["string", "integer"]), rows)
        return Pair(built.schema, one, two, built.rule, f"{built.shown} {one.dtypes['who']} {two.dtypes['who']}")

    return pair


KINDS: list[tuple[str, Any, Any, Any]] = [
    ("integers", pl.Int64, pa.int64(), "Int64"), ("texts", pl.String, pa.string(), "string"),
    ("texts", pl.Categorical, pa.large_string(), "str"), ("floats", pl.Float64, pa.float64(), "Float64"),
    ("booleans", pl.Boolean, pa.bool_(), "boolean"), ("days", pl.Date, pa.date32(), pd.ArrowDtype(pa.date32())),
    ("texts", pl.Object, pa.dictionary(pa.int8(), pa.string()), pd.ArrowDtype(pa.string())),
]  # fmt: skip


def typed(library: str) -> Callable[[Random, Path], Pair]:
    """Pairs of frames in which the column of persons has a declared type."""

    def pair(dice: Random, folder: Path) -> Pair:
        pool, *kinds = dice.choice(KINDS)
        rows = _rows(dice, TYPED[pool], [None])
        inputs = [_frame(library, kinds, part) for part in rows]
        if library == "Parquet":
            paths = files(folder, "data.parquet", b"", b"")
            for frame, path in zip(inputs, paths, strict=True):
                try:
                    write_parquet(frame, path)
                except pl.exceptions.PolarsError as error:  # polars cannot write objects
                    raise Unbuildable from error
            inputs = list(paths)
        return _pair(*inputs, dice.choice(["string", "integer"]), rows)

    return pair


def _frame(library: str, kinds: list[Any], rows: Rows) -> Any:
    of_polars, of_arrow, of_pandas = kinds
    columns = _columns(rows)
    if library == "pyarrow":
        return arrow_table(columns, {"who": of_arrow, "whole": pa.int64()})
    if library == "pandas":
        who = pd.Series(columns["who"], dtype=of_pandas)
        return pd.DataFrame({"who": who, "whole": pd.Series(columns["whole"], dtype="int64")})
    if library == "Parquet" and of_polars == pl.Object:
        raise Unbuildable
    return polars_frame(columns, {"who": of_polars, "whole": pl.Int64})


FORMS = [
    Form("persons, CSV", "memory", csv, table(), 100, "persons"),
    Form("persons, pandas from lists", "memory", inferred(concat=False), table(), 150, "persons"),
    Form("persons, pandas pd.concat", "memory", inferred(concat=True), table(), 150, "persons"),
    *(
        Form(f"persons, {kind} declared", "memory", typed(kind), table(), 100, "persons")
        for kind in ("pandas", "polars", "pyarrow", "Parquet")
    ),
]

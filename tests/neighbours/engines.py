"""Tables in engines that keep records elsewhere: DuckDB, databases behind ibis, Spark.

Servers are slow to ask, so pairs go to databases and to Spark in batches: a field `pair` says which one a record
belongs to, and the codes are compared pair by pair. The types of such tables are declared, so that neither a pair nor a
record can change them; a batch of one is tried as well.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import polars as pl

from cantle.sources import Place
from tests.neighbours.csvfiles import csv_pair
from tests.neighbours.frames import POLARS, WRITABLE, declared, in_parquet, polars_frame
from tests.neighbours.law import Codes, Form, Pair, adds_at_most
from tests.neighbours.reading import table
from tests.neighbours.values import FIELDS, MARKS, TIMES, WORDS

# ---- DuckDB ---------------------------------------------------------------------------------------------------


def duckdb_database(dice: Random, folder: Path) -> Pair:
    """Two databases, from Parquet files of the same types."""
    import duckdb

    made, paths = in_parquet(WRITABLE[:7], polars_frame)(dice, folder), []
    for source in (made.before, made.after):
        path = source.with_suffix(".duckdb")
        path.unlink(missing_ok=True)
        with duckdb.connect(str(path)) as base:
            base.execute(f"CREATE TABLE t AS FROM read_parquet('{source}')")
        paths.append(path)
    return Pair(made.schema, *paths, made.rule, made.shown)


def duckdb_forms() -> list[Form]:
    read = table(place=Place("duckdb"))
    return [
        Form("CSV", "duckdb", csv_pair(["utf-8", "latin-1", "cp1252"]), read, 200),
        Form("Parquet, by polars", "duckdb", in_parquet(WRITABLE, polars_frame), read, 150),
        Form("polars", "duckdb", declared(POLARS, polars_frame), read, 150),
        Form("DuckDB table", "duckdb", duckdb_database, table(place=Place("duckdb", table="t")), 30),
    ]


# ---- batches of pairs -----------------------------------------------------------------------------------------

COLUMNS: dict[str, tuple[str, Any, list[Any]]] = {
    "whole": ("BIGINT", pl.Int64, [0, 1, -1, 7, -999, 2**53 + 1, 2**63 - 1, -(2**63), None]),
    "real": ("DOUBLE PRECISION", pl.Float64, [0.0, -0.0, 0.1, -999.0, 1e300, 5e-324, float("nan"), float("inf"), None]),
    "word": ("TEXT", pl.String, [*(word for word in WORDS if "\x00" not in word), None]),
    "coded": ("INTEGER", pl.Int32, [0, 1, 2, -1, 7, -999, None]),
    "flag": ("BOOLEAN", pl.Boolean, [True, False, None]),
    "day": ("DATE", pl.Date, [*(one.date() for one in TIMES[:4]), None]),
    "hour": ("TIMESTAMP", pl.Datetime("us"), [*TIMES[:4], None]),
}
PAIRS = 25

NUMBER = {"name": "pair", "type": "integer", "constraints": {"minimum": 0, "maximum": PAIRS - 1, "required": True}}
SCHEMA = {"fields": [NUMBER, *({"name": name, **FIELDS[name]} for name in COLUMNS)], "missingValues": MARKS}
TYPES = {"pair": pl.Int64} | {name: kind for name, (_, kind, _) in COLUMNS.items()}
Records = list[tuple[Any, ...]]


def batch(dice: Random, pairs: int) -> tuple[Records, Records]:
    """The records of so many pairs, the number of the pair first."""

    def record(pair: int) -> tuple[Any, ...]:
        return (pair, *(dice.choice(values) for _, _, values in COLUMNS.values()))

    one, two = [], []
    for pair in range(pairs):
        records = [record(pair) for _ in range(dice.randint(0, 4))]
        at = dice.randint(0, len(records))
        one += records
        two += [*records[:at], record(pair), *records[at:]]
    order = dice.getstate()
    for part in (one, two):
        dice.setstate(order)
        dice.shuffle(part)
    return one, two


def each_adds_at_most_one(one: Codes, two: Codes) -> bool:
    """The rule for every pair of a batch by itself; the code of a pair's number is that number."""
    rule = adds_at_most(1)
    parts: list[list[Codes]] = [[Counter(), Counter()] for _ in range(PAIRS)]
    for side, codes in enumerate((one, two)):
        for code, count in codes.items():
            parts[code[0]][side][code] = count  # type: ignore[index]
    return all(rule(*both) for both in parts)


def batched(make: Callable[[Records, Path], Any], pairs: int) -> Callable[[Random, Path], Pair]:
    def pair(dice: Random, folder: Path) -> Pair:
        both, made = batch(dice, dice.choice([1, pairs]) if pairs > 1 else 1), []
        for part, records in zip(("one", "two"), both, strict=True):
            (folder / part).mkdir(exist_ok=True)
            made.append(make(records, folder / part))
        return Pair(SCHEMA, *made, each_adds_at_most_one, repr(both))

    return pair


def frame_of(records: Records) -> pl.DataFrame:
    return pl.DataFrame(records, schema=TYPES, orient="row")


# ---- databases ------------------------------------------------------------------------------------------------


@contextmanager
def database_forms(url: str | None = None) -> Iterator[list[Form]]:
    """Forms for a database: PostgreSQL at a URL, else one of DuckDB in memory, both behind ibis."""
    import ibis

    backend = ibis.connect(url) if url else ibis.duckdb.connect()
    kinds = ", ".join(["pair BIGINT", *(f"{name} {kind}" for name, (kind, _, _) in COLUMNS.items())])

    def make(records: Records, folder: Path) -> Any:
        name = f"data_{folder.name}"
        _run(backend, f"DROP TABLE IF EXISTS {name}")
        _run(backend, f"CREATE TABLE {name} ({kinds})")
        if records:
            _run(backend, f"INSERT INTO {name} VALUES " + ", ".join(map(_row, records)))
        return backend.table(name)

    try:
        where = "PostgreSQL" if url else "DuckDB"
        yield [Form(f"{where} table", "database", batched(make, PAIRS), table(place=Place("database")), 40)]
    finally:
        backend.disconnect()


def _run(backend: Any, statement: str) -> None:
    cursor = backend.raw_sql(statement)
    if cursor is not backend.con:
        cursor.close()


def _row(record: tuple[Any, ...]) -> str:
    return "(" + ", ".join(map(_literal, record)) + ")"


def _literal(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool | int):
        return f"({value})"
    return "'" + str(value).replace("'", "''") + "'"


# ---- Spark ----------------------------------------------------------------------------------------------------


def spark_forms(session: Any) -> list[Form]:
    """Parquet, JSON and CSV read by Spark's own readers, and a Spark data frame."""

    def parquet(records: Records, folder: Path) -> str:
        frame_of(records).write_parquet(folder / "data.parquet")
        return str(folder / "data.parquet")

    def frame(records: Records, folder: Path) -> Any:
        return session.read.parquet(parquet(records, folder)).repartition(2)

    def lines(records: Records, folder: Path) -> str:
        rows = [dict(zip(TYPES, map(_plain, record), strict=True)) for record in records]
        odd = [json.dumps({name: value for name, value in row.items() if value is not None}) for row in rows]
        (folder / "data.json").write_text("".join(f"{line}\n" for line in odd))
        return str(folder / "data.json")

    def csv(records: Records, folder: Path) -> str:
        rows = [",".join("" if value is None else _word(value) for value in record) for record in records]
        (folder / "data.csv").write_text("\n".join([",".join(TYPES), *rows, ""]))
        return str(folder / "data.csv")

    read = table(place=Place("spark"))
    makers = {"Parquet": parquet, "Spark data frame": frame, "JSON": lines, "CSV": csv}
    return [Form(name, "spark", batched(make, PAIRS), read, 2) for name, make in makers.items()]


def _plain(value: Any) -> Any:
    """A value of JSON: as another writer may put it, a number as text or a text as a number."""
    if isinstance(value, float) and not abs(value) < 1e308:
        return None
    return value if value is None or isinstance(value, bool | int | float | str) else value.isoformat()


def _word(value: Any) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(_plain(value))
    return text.replace(",", ";").replace('"', "'")

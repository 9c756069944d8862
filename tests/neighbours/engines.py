"""Tables in engines that keep records elsewhere: DuckDB, databases behind ibis, Spark.

Servers are slow, so databases and Spark get pairs in batches: the field `pair` is the number of each record's pair, and
codes are compared pair by pair. The types of such tables are declared, so that neither a pair nor a record can
change them. A batch of one pair is tested as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import polars as pl

from cantle.data.engine_choice import EngineChoice
from tests.neighbours import families, filed_sets, graphs, sequences
from tests.neighbours.batches import (
    COLUMNS,
    NUMBER,
    PAIRS,
    Records,
    batched,
    each_adds_at_most,
    hand_over,
    write_csv,
    write_json,
    write_parquet,
)
from tests.neighbours.csvfiles import SAFE, csv_pair
from tests.neighbours.frames import POLARS, WRITABLE, declared, in_parquet, polars_frame
from tests.neighbours.identifiers import AWKWARD
from tests.neighbours.law import Form, Pair, inserted
from tests.neighbours.reading import table
from tests.neighbours.values import FIELDS, MARKS

# ---- DuckDB ---------------------------------------------------------------------------------------------------


def duckdb_database(dice: Random, folder: Path) -> Pair:
    """Two databases, made from Parquet files with the same types."""
    import duckdb

    in_files, paths = in_parquet(WRITABLE[:7], polars_frame)(dice, folder), []
    for source in (in_files.before, in_files.after):
        path = source.with_suffix(".duckdb")
        path.unlink(missing_ok=True)
        with duckdb.connect(str(path)) as base:
            base.execute(f"CREATE TABLE t AS FROM read_parquet('{source}')")
        paths.append(path)
    return Pair(in_files.schema, *paths, in_files.rule, in_files.shown)


def duckdb_forms() -> list[Form]:
    read = table(choice=EngineChoice("duckdb"))
    return [
        Form("CSV", "duckdb", csv_pair(SAFE), read, 10),
        Form("CSV, in batches", "duckdb", batched(write_csv, PAIRS), read, 200, "CSV", PAIRS),
        Form("Parquet", "duckdb", in_parquet(WRITABLE, polars_frame), read, 10),
        Form("Parquet, in batches", "duckdb", batched(write_parquet, PAIRS), read, 200, "Parquet", PAIRS),
        Form("polars", "duckdb", declared(POLARS, polars_frame), read, 10),
        Form("polars, in batches", "duckdb", batched(hand_over, PAIRS), read, 200, "polars", PAIRS),
        Form("DuckDB table", "duckdb", duckdb_database, table(choice=EngineChoice("duckdb", table="t")), 4),
        Form("persons, in batches", "duckdb", persons_batched(hand_over_visits), read, 300, "persons", PAIRS),
        *filed_sets.duckdb_forms(),
        *sequences.duckdb_forms(),
        *(form for form in families.FORMS if form.engine == "duckdb"),
        *graphs.IN_DUCKDB,
    ]


# ---- persons --------------------------------------------------------------------------------------------------

BOUND = 2
PERSONS = {
    "fields": [NUMBER, {"name": "whole", **FIELDS["whole"]}],
    "missingValues": MARKS,
    "unit": {"person": "who", "max_records": BOUND},
}
Visits = list[tuple[int, int, str | None]]


def visits(dice: Random, pairs: int) -> tuple[Visits, Visits]:
    """Records (pair, whole, who) of D and D'; D' also has all records of one more person, or some records of nobody.

    Each identifier starts with the number of its pair, so that no person is in two pairs.
    """
    one: Visits = []
    more: Visits = []
    for pair in range(pairs):
        newcomer, *others = dice.sample(AWKWARD, 4)
        for who in others:
            one += [(pair, dice.randint(0, 12), f"{pair}.{who}") for _ in range(dice.randint(1, 4))]
        added = dice.choice([f"{pair}.{newcomer}", f"{pair}.{newcomer}", None, "", MARKS[-1]])
        more += [(pair, dice.randint(0, 12), added) for _ in range(dice.randint(1, 4))]
    dice.shuffle(one)
    return one, inserted(dice, one, more)


def persons_batched(make: Callable[[Visits, Path], Any], pairs: int = PAIRS) -> Callable[[Random, Path], Pair]:
    def pair(dice: Random, folder: Path) -> Pair:
        both, inputs = visits(dice, pairs), []
        for part, records in zip(("one", "two"), both, strict=True):
            (folder / part).mkdir(exist_ok=True)
            inputs.append(make(records, folder / part))
        return Pair(PERSONS, *inputs, lambda one, two: each_adds_at_most(BOUND, one, two), repr(both))

    return pair


def hand_over_visits(records: Visits, _folder: Path) -> pl.DataFrame:
    return pl.DataFrame(records, schema={"pair": pl.Int64, "whole": pl.Int64, "who": pl.String}, orient="row")


def write_visits(records: Visits, folder: Path) -> Path:
    hand_over_visits(records, folder).write_parquet(folder / "data.parquet")
    return folder / "data.parquet"


# ---- databases ------------------------------------------------------------------------------------------------


@contextmanager
def database_forms(url: str | None = None) -> Iterator[list[Form]]:
    """Forms for a database behind ibis: PostgreSQL at a URL, otherwise DuckDB in memory."""
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

    def make_visits(records: Visits, folder: Path) -> Any:
        name = f"visits_{folder.name}"
        _run(backend, f"DROP TABLE IF EXISTS {name}")
        _run(backend, f"CREATE TABLE {name} (pair BIGINT, whole BIGINT, who TEXT)")
        _run(backend, f"INSERT INTO {name} VALUES " + ", ".join(map(_row, records)))
        return backend.table(name)

    try:
        where = "PostgreSQL" if url else "DuckDB"
        read = table(choice=EngineChoice("database"))
        yield [
            Form(f"{where} table", "database", batched(make, 1), read, 2),
            Form(f"{where} table, in batches", "database", batched(make, PAIRS), read, 500, f"{where} table", PAIRS),
            Form(f"{where} table, persons", "database", persons_batched(make_visits), read, 300, "persons", PAIRS),
        ]
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
    """Forms for Spark: Parquet, JSON and CSV files that Spark reads, and data frames of Spark."""

    def frame(records: Records, folder: Path) -> Any:
        return session.read.parquet(str(write_parquet(records, folder))).repartition(2)

    read = table(choice=EngineChoice("spark"))
    makers = {"Parquet": write_parquet, "Spark data frame": frame, "JSON": write_json, "CSV": write_csv}
    return [
        Form("persons", "spark", persons_batched(write_visits), read, PAIRS, "persons", PAIRS),
        *(Form(name, "spark", batched(make, 50), read, 50, name, 50) for name, make in makers.items()),
        Form("CSV, one pair", "spark", csv_pair(["utf-8"], multiline=False), read, 2, "CSV"),
        *filed_sets.spark_forms(session),
        *sequences.spark_forms(),
    ]

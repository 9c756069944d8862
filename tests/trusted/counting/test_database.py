"""Tables in databases: values like those of a frame, read in batches, and a database that is left as it was."""

from __future__ import annotations

import datetime as dt
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import cantle
from cantle.data.engine_choice import EngineChoice
from cantle.errors import CantleError, DataError, EngineError, MissingExtra, ParameterError
from cantle.schema import Schema
from tests.release.people import SCHEMA
from tests.trusted.counting.awkward import awkward
from tests.trusted.counting.test_all import fill

ibis = pytest.importorskip("ibis", reason="ibis is not installed (extra database)")
pytest.importorskip("duckdb", reason="DuckDB is not installed (extra duckdb)")

from cantle.data import database_tables as module  # noqa: E402
from cantle.data.arrow_batches import polars_of  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:.*is deprecated:DeprecationWarning")

CANARY = "CanaryQx7"


@pytest.fixture(scope="module", params=["DuckDB", "PostgreSQL"])
def backend(request: pytest.FixtureRequest) -> Any:
    """A connection by ibis, which the tests of this module share."""
    connection = ibis.duckdb.connect() if request.param == "DuckDB" else ibis.connect(request.getfixturevalue("server"))
    yield connection
    connection.disconnect()


def run(backend: Any, statement: str) -> list[Any]:
    cursor = backend.raw_sql(statement)
    rows = cursor.fetchall() if getattr(cursor, "description", None) else []
    if cursor is not backend.con:
        cursor.close()
    return rows


def rows_of(table: Any, schema: Schema) -> pl.DataFrame:
    """The declared columns as the engine reads them."""
    names = [field.name for field in schema.fields]  # type: ignore[attr-defined]
    return pl.concat([polars_of(batch) for batch in module.read_rows(table, names, None)])


# ---- values ---------------------------------------------------------------------------------------------------

INTEGER = {"type": "integer", "constraints": {"minimum": -3, "maximum": 40}}
EVEN = {"type": "integer", "step": 4, "constraints": {"minimum": -10, "maximum": 33}}
TENTHS = {"type": "number", "step": 0.1, "constraints": {"minimum": -0.5, "maximum": 2}}
TENS = {"type": "number", "step": 10, "constraints": {"minimum": 0, "maximum": 90}}
DATES = {"type": "date", "step": 3, "constraints": {"minimum": "1969-12-30", "maximum": "2020-02-29"}}
HOURS = {"type": "datetime", "step": "90min", "constraints": {"minimum": "1969-12-31", "maximum": "1970-01-03"}}
FOURS = {"type": "integer", "constraints": {"minimum": -12, "maximum": 33, "multipleOf": 4}}
NEAREST = {"type": "number", "constraints": {"minimum": -0.5, "maximum": 2, "multipleOf": 0.1}}
BOTH = {"type": "number", "step": 5, "constraints": {"minimum": -5, "maximum": 90, "multipleOf": 0.5}}
THIRDS = {"type": "date", "constraints": {"minimum": "1969-12-30", "maximum": "2020-02-29", "multipleOf": 3}}
QUARTERS = {"type": "datetime", "step": "1h"} | {
    "constraints": {"minimum": "1969-12-31", "maximum": "1970-01-03", "multipleOf": "15min"}
}
TOWNS = {"type": "string", "categories": ["Ash", "It's", '"', "é"]}
FOLDED = {
    "type": "string",
    "categories": ["Ash", " É ", "k9"],
    "ignoreCase": True,
    "replace": {"true": "Ash", "2": "k9"},
}
NUMBERED = {"type": "integer", "categories": [3, -1, 7]}
WORDS = {"type": "string", "categories": ["1", "true", "02"]}
FLAG = {"type": "boolean"}
SPELT = {"type": "boolean", "trueValues": ["ja"], "falseValues": ["nein", "true"]}

WHOLE = [None, 0, 1, -1, -3, -4, 2, 3, 7, 39, 40, 41, 32, 33, -999, 30_000, -30_000]
REALS = [None, 0.0, -0.0, 0.1, 0.3, 0.7, 1.9999999999, 2.0, 2.1, -0.5, -0.6, 89.9, 90.0, 1e300, -1e300, 5e-324, -5e-324]
REALS += [float("nan"), float("inf"), float("-inf"), -999.0, 0.30000000000000004, 0.1 + 0.2, 9.999999999999999]
DAYS = [None, dt.date(1, 1, 1), dt.date(9999, 12, 31), dt.date(1969, 12, 29), dt.date(1969, 12, 30)]
DAYS += [dt.date(1970, 1, day) for day in (1, 2, 3, 4, 5)] + [dt.date(2020, 2, 29), dt.date(2020, 3, 1)]
TIMES = [None, *(dt.datetime(d.year, d.month, d.day, h, 59, 59, 999_999) for d in DAYS[1:] for h in (0, 11, 23))]
SINGLES = [None, 0.5, 1.5, float("nan"), 3e38, -3e38, 1e-45]
CENTS = [Decimal(text) for text in ("0.10", "1.99", "39.99", "-3.01", "99999999.99")]
TEXTS = [None, "", "Ash", "ash", "Ash ", "It's", '"', "é", "?", "1", "02", "2", "true", "false", "ja", "nein", "True"]
TEXTS += ["\u3000ash\t", " é ", "é ", " É ", "\u212a9", "K9", " ? ", "TRUE", "\xa0", "It's\n"]

COLUMNS: dict[str, tuple[str, Any, list[Any], list[dict[str, Any]]]] = {
    "smallint": ("SMALLINT", pl.Int16, WHOLE, [FOURS, INTEGER, EVEN, TENTHS, TENS, NUMBERED, WORDS, FLAG]),
    "integer": ("INTEGER", pl.Int32, [*WHOLE, 2**31 - 1, -(2**31)], [INTEGER, EVEN, TENTHS, TENS, NUMBERED, WORDS]),
    "bigint": ("BIGINT", pl.Int64, [*WHOLE, 2**63 - 1, -(2**63)], [INTEGER, EVEN, TENTHS, TENS, NUMBERED, WORDS]),
    "real": ("REAL", pl.Float32, SINGLES, [INTEGER, EVEN, TENTHS, BOTH, TENS]),
    "double": ("DOUBLE PRECISION", pl.Float64, REALS, [INTEGER, EVEN, TENTHS, TENS, NEAREST, BOTH, FOURS]),
    "decimal": ("NUMERIC(10, 2)", pl.Decimal(10, 2), CENTS, [INTEGER, NEAREST, EVEN, TENTHS, TENS]),
    "boolean": ("BOOLEAN", pl.Boolean, [None, True, False], [INTEGER, TENTHS, FLAG, SPELT, WORDS, NUMBERED]),
    "text": ("TEXT", pl.String, TEXTS, [TOWNS, FOLDED, WORDS, FLAG, SPELT]),
    "date": ("DATE", pl.Date, DAYS, [DATES, HOURS, THIRDS]),
    "timestamp": ("TIMESTAMP", pl.Datetime("us"), TIMES, [DATES, QUARTERS, HOURS, THIRDS]),
}  # fmt: skip
CASES = [
    pytest.param(kind, i, marks=[] if i == place % len(fields) else [pytest.mark.slow])
    for place, (kind, (_, _, _, fields)) in enumerate(COLUMNS.items())
    for i in range(len(fields))
]
"""By default each column type is tried with one field, which differs from type to type."""


def written(value: Any) -> str:
    """A value as an SQL literal."""
    if value is None:
        return "NULL"
    if isinstance(value, float):
        return f"'{value!r}'"
    if isinstance(value, str | dt.date):
        return "'" + str(value).replace("'", "''") + "'"
    return str(value)


@pytest.mark.parametrize(("kind", "which"), CASES)
def test_codes_are_those_of_a_frame(backend: Any, kind: str, which: int) -> None:
    """Every value of every supported type gets the code that it has in a frame."""
    name, dtype, values, fields = COLUMNS[kind]
    run(backend, "DROP TABLE IF EXISTS given")
    run(backend, f"CREATE TABLE given (n INTEGER, x {name})")
    run(backend, "INSERT INTO given VALUES " + ", ".join(f"({i}, {written(v)})" for i, v in enumerate(values)))
    frame = pl.DataFrame({"n": range(len(values)), "x": pl.Series(values, dtype=dtype)})
    number = {"name": "n", "type": "integer", "constraints": {"minimum": 0, "maximum": 99}}
    schema = Schema.from_dict({"fields": [number, fields[which] | {"name": "x"}]})
    codes, _ = schema.domain().encode_columns(rows_of(backend.table("given").order_by("n"), schema))
    columns, _ = schema.domain().encode_columns(frame)
    assert [column.tolist() for column in codes] == [column.tolist() for column in columns]


def test_blanks_that_fill_up_a_text_are_no_part_of_it(backend: Any) -> None:
    run(backend, "DROP TABLE IF EXISTS given")
    run(backend, "CREATE TABLE given (x CHAR(9))")
    run(backend, "INSERT INTO given VALUES ('Ash')")
    field = TOWNS | {"name": "x", "trim": False}
    assert rows_of(backend.table("given"), Schema.from_dict({"fields": [field]}))["x"].to_list() == ["Ash"]


def test_columns_of_other_types_are_refused_by_type(backend: Any) -> None:
    run(backend, "DROP TABLE IF EXISTS given")
    run(backend, "CREATE TABLE given (x TIME)")
    given, call = backend.table("given"), {"epsilon": 1, "engine": "database", "method": "rps"}
    with pytest.raises(DataError, match="column 'x' has type time in the database"):
        cantle.publish(given, {"fields": [HOURS | {"name": "x"}]}, **call)
    with pytest.raises(DataError, match="the table has no column 'z'"):
        cantle.publish(given, {"fields": [HOURS | {"name": "z"}]}, **call)


# ---- PostgreSQL alone -----------------------------------------------------------------------------------------


def test_values_that_only_postgresql_has_are_clamped(server: str) -> None:
    """Infinite dates, dates before Christ, time zones: no value can make a query fail."""
    backend = ibis.connect(server)
    run(backend, "DROP TABLE IF EXISTS given")
    run(backend, "CREATE TABLE given (n INTEGER, d DATE, t TIMESTAMP, z TIMESTAMPTZ, u NUMERIC)")
    for i, (day, time) in enumerate(
        [("infinity", "infinity"), ("-infinity", "-infinity"), ("5874897-12-31", "294276-12-31 23:59:59.9"),
         ("4713-01-01 BC", "4713-01-01 BC"), ("1970-01-02", "1970-01-02 00:00:00")]
    ):  # fmt: skip
        run(backend, f"INSERT INTO given VALUES ({i}, '{day}', '{time}', '{time}+02', 'NaN')")
    number = {"name": "n", "type": "integer", "constraints": {"minimum": 0, "maximum": 9}}
    fields = [number, {"name": "d", **DATES}, {"name": "t", **HOURS}, {"name": "z", **HOURS}]
    schema = Schema.from_dict({"fields": fields})
    (_, day, time, zoned), _ = schema.domain().encode_columns(rows_of(backend.table("given").order_by("n"), schema))
    last = schema.domain().attributes[1].bins - 1
    assert day.tolist() == [last, 0, last, 0, 1]
    assert time.tolist() == [48, 0, 48, 0, 32]
    assert zoned.tolist() == [48, 0, 48, 0, 30]  # two hours earlier in UTC
    with pytest.raises(DataError, match="column 'u' has type decimal"):
        rows_of(backend.table("given"), Schema.from_dict({"fields": [{"name": "u", **TENS}]}))
    backend.disconnect()


def test_the_database_is_read_by_one_statement_and_nothing_is_made_in_it(server: str) -> None:
    fill(server, "kept", awkward())
    backend = ibis.connect(server)
    run(backend, "SET default_transaction_read_only = on")
    cantle.publish(backend.table("kept"), SCHEMA, epsilon=1, engine="database", method="rps", depth=3)
    assert run(backend, "SELECT count(*) FROM kept") == [(624,)]
    backend.disconnect()


def test_a_role_needs_only_to_read(server: str) -> None:
    import psycopg

    fill(server, "kept", awkward())
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("CREATE ROLE reader LOGIN")
        connection.execute("REVOKE TEMPORARY ON DATABASE postgres FROM PUBLIC")
    url = server.replace("user=curator", "user=reader")
    call: dict[str, Any] = {"epsilon": 1, "engine": "database", "method": "rps", "depth": 2}
    try:
        assert refused(url, table="public.kept").startswith("EngineError: the database failed")
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute("GRANT SELECT ON kept TO reader")
        cantle.publish(url, SCHEMA, table="public.kept", **call)
        with psycopg.connect(server) as connection:
            open_ = connection.execute("SELECT count(*) FROM pg_stat_activity WHERE usename = 'reader'").fetchone()
        assert open_ == (0,)  # the connection was closed
    finally:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute("GRANT TEMPORARY ON DATABASE postgres TO PUBLIC")


def test_a_database_is_read_in_batches(backend: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_ROWS", 7)
    run(backend, "DROP TABLE IF EXISTS given")
    run(backend, "CREATE TABLE given (x INTEGER)")
    run(backend, "INSERT INTO given VALUES " + ", ".join(f"({i % 5})" for i in range(40)))
    fields = [{"name": "x", "type": "integer", "constraints": {"minimum": 0, "maximum": 4}}]
    schema = Schema.from_dict({"fields": fields})
    batches = list(module.read_rows(backend.table("given"), [field.name for field in schema.fields], None))
    assert len(batches) > 2 or backend.name == "duckdb"  # DuckDB chooses the size of its batches
    assert sorted(pl.concat(map(polars_of, batches))["x"].to_list()) == sorted(i % 5 for i in range(40))


# ---- errors ---------------------------------------------------------------------------------------------------


def refused(data: Any, **source: Any) -> str:
    """The error message; it must quote no value, and the error must not carry another exception."""
    with pytest.raises(CantleError) as caught:
        cantle.publish(data, SCHEMA, epsilon=1, engine="database", **source)
    error = caught.value
    assert error.__cause__ is None
    assert error.__suppress_context__ or error.__context__ is None
    assert CANARY not in str(error)
    return f"{type(error).__name__}: {error}"


def test_an_unreachable_database_is_reported_without_its_password(tmp_path: Path) -> None:
    url = f"postgresql://curator:{CANARY}@/nowhere?host={tmp_path}"
    assert refused(url, table="people").startswith("EngineError: the database cannot be reached")
    assert refused(url) == ("ParameterError: the database engine must know which table; name it with --table NAME")
    assert refused("people.csv", table="people").startswith("ParameterError: the database engine takes the URL")


def test_an_encoding_that_does_not_hold_all_texts_is_refused_before_the_charge(server: str, tmp_path: Path) -> None:
    import psycopg

    ledger = cantle.Ledger(tmp_path / "ledger.db")
    ledger.cap("people", 1)
    paid = {"ledger": ledger, "dataset": "people", "table": "people"}
    for encoding in ("SQL_ASCII", "LATIN1"):
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {encoding} ENCODING '{encoding}' TEMPLATE template0")
        url = server.replace("///postgres", f"///{encoding.lower()}")
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CREATE TABLE people (n int)")
        fix = "copy the table into a database with encoding UTF8"
        assert f"the database has encoding {encoding}" in refused(url, **paid)
        assert fix in refused(url, **paid)
        connection = ibis.connect(url)
        assert fix in refused(connection.sql("SELECT 1", schema={"n": "int64"}), ledger=ledger, dataset="people")
        connection.disconnect()
    numbers = {"fields": [{"name": "n", "type": "integer", "constraints": {"minimum": 0, "maximum": 9}}]}
    assert ledger.account("people").spent_nano == 0
    cantle.publish(url, numbers, epsilon=1, engine="database", **paid)  # type: ignore[arg-type]


def test_a_database_that_does_not_enforce_types_is_refused_whatever_it_holds() -> None:
    """In SQLite the first record would decide the type of an undeclared column, and so whether the table is refused."""
    messages = set()
    for first in ("1", f"'{CANARY}'"):
        lite = ibis.sqlite.connect()
        for statement in ("CREATE TABLE people (age)", f"INSERT INTO people VALUES ({first}), (2)"):
            lite.raw_sql(statement).close()
        messages.add(refused(lite.table("people")))
        lite.disconnect()
    assert len(messages) == 1
    assert messages.pop().startswith("ParameterError: the database engine reads PostgreSQL and DuckDB, not 'sqlite'")
    assert refused("mysql://curator@host/base", table="people").startswith("ParameterError: the database engine reads")


def test_errors_of_the_database_quote_no_value(backend: Any) -> None:
    """The query fails at a value: a view casts a text to an integer."""
    names = ", ".join(f"CAST(NULL AS TEXT) AS {field['name']}" for field in SCHEMA["fields"] if field["name"] != "age")
    run(backend, "DROP VIEW IF EXISTS broken")
    fields = [field for field in SCHEMA["fields"] if field["name"] in ("age", "town")]
    run(backend, f"CREATE VIEW broken AS SELECT CAST('{CANARY}' || t.x AS INTEGER) AS age, {names} "
        "FROM (SELECT 1 AS x UNION SELECT 2) AS t")  # fmt: skip
    with pytest.raises(EngineError, match="the database failed") as caught:
        cantle.publish(backend.table("broken"), {"fields": fields}, epsilon=1, engine="database", method="rps")
    assert caught.value.__suppress_context__
    assert CANARY not in str(caught.value)


def test_a_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ibis", None)
    with pytest.raises(MissingExtra, match=r"pip install '\.\[database\]'"):
        EngineChoice.of("database", None, None)


def test_a_frame_is_refused() -> None:
    with pytest.raises(ParameterError, match="URL of a database or an ibis table"):
        cantle.publish(pl.DataFrame({"age": [1]}), SCHEMA, epsilon=1, engine="database", table="t")

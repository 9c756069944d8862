"""Engine duckdb for tables: its sources and limits, and errors that quote no value."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import cantle
from cantle.data.engine_choice import EngineChoice, bytes_of
from cantle.data.file_forms import files
from cantle.errors import CantleError, DataError, MissingExtra, ParameterError
from cantle.interfaces.cli.app import app
from tests.release.people import SCHEMA, people

duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed (extra duckdb)")

CANARY = "CanaryQx7"


# ---- limits and sources ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "expected"), [("4GB", 4 * 10**9), ("1.5 gib", 3 * 2**29), (2**31, 2**31)])
def test_memory_sizes_are_parsed(size: Any, expected: int) -> None:
    assert bytes_of(size) == expected


@pytest.mark.parametrize("size", ["", "much", "-4GB", "4 parsecs", "900MB", True])
def test_other_memory_sizes_are_refused(size: Any) -> None:
    with pytest.raises(ParameterError, match="memory"):
        bytes_of(size)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"engine": "sqlite"}, "engine 'sqlite' is not known; use one of memory, duckdb, spark, database"),
        ({"engine": "memory", "memory": "4GB"}, "memory is a limit of engine duckdb"),
        ({"engine": "memory", "table": "t"}, "table names a table of a database"),
    ],
)
def test_unknown_engines_and_options_of_other_engines_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        cantle.publish(people(5), SCHEMA, epsilon=1, **options)


def test_folders_and_patterns_are_expanded_to_files(tmp_path: Path) -> None:
    for name in ("b.parquet", "a.csv", "notes.md"):
        (tmp_path / name).touch()
    listed = [tmp_path / "a.csv", tmp_path / "b.parquet"]
    assert files(tmp_path) == files([tmp_path / "a.csv", str(tmp_path / "b.*")]) == listed
    assert files(str(tmp_path / "[ab].*")) == listed
    assert files(tmp_path / "none.csv") == [tmp_path / "none.csv"]
    with pytest.raises(DataError, match="matches no file with a table"):
        files(str(tmp_path / "c*.csv"))


@pytest.mark.parametrize("name", ["people.csv", "people.tsv"])
def test_text_is_read_as_in_memory(name: str, tmp_path: Path) -> None:
    text = people(300).write_csv(separator="\t" if name.endswith("tsv") else ",").splitlines()
    text[7] = text[7].replace(text[7][:4], f'"{text[7][:4]}"', 1) + ",,surplus"
    (tmp_path / name).write_text("\n".join([*text, "short", "", '"open']))
    releases = [
        cantle.publish(tmp_path / name, SCHEMA, epsilon=1, insecure_seed=1, engine=e) for e in ("memory", "duckdb")
    ]
    assert releases[0].records.equals(releases[1].records)
    assert releases[0].groups.equals(releases[1].groups)


def test_a_missing_file_costs_nothing(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no file 'none.parquet'"):
        cantle.publish(
            tmp_path / "none.parquet",
            SCHEMA,
            epsilon=1,
            engine="duckdb",
            ledger=tmp_path / "ledger.db",
            dataset="people",
        )
    assert not (tmp_path / "ledger.db").exists()


# ---- errors ---------------------------------------------------------------------------------------------------


def refused(data: Any, **options: Any) -> str:
    """The error message; it must quote no value, and the error must not carry another exception."""
    with pytest.raises(CantleError) as caught:
        cantle.publish(data, SCHEMA, epsilon=1, engine="duckdb", **options)
    error = caught.value
    assert error.__cause__ is None
    assert error.__suppress_context__ or error.__context__ is None
    assert CANARY not in str(error)
    return f"{type(error).__name__}: {error}"


def database(path: Path, *statements: str) -> Path:
    with duckdb.connect(str(path)) as base:
        for statement in statements:
            base.execute(statement)
    return path


def test_errors_of_databases_quote_no_value(tmp_path: Path) -> None:
    names = ", ".join(f"'{CANARY}' AS {field['name']}" for field in SCHEMA["fields"] if field["name"] != "age")
    view = f"CREATE VIEW v AS SELECT ('{CANARY}' || i)::INTEGER AS age, {names} FROM range(3) t(i)"
    path = database(tmp_path / "bad.duckdb", view)
    assert "cannot be read as a DuckDB database" in refused(path)
    (tmp_path / "text.duckdb").write_text(CANARY * 100)
    assert "cannot be read as a DuckDB database" in refused(tmp_path / "text.duckdb")


def test_a_table_is_chosen_by_its_name(tmp_path: Path) -> None:
    path = database(tmp_path / "two.duckdb", "CREATE TABLE a (x INT)", 'CREATE TABLE "b""c" (x INT)')
    assert "holds 2 tables; say which one with --table" in refused(path)
    assert "has no column 'age'" in refused(path, table='b"c')
    assert "no such table" in refused(path, table="d")
    people(5).write_parquet(tmp_path / "p.parquet")
    assert "'p.parquet' is none; leave it out" in refused(tmp_path / "p.parquet", table="a")


def test_parquet_files_are_judged_by_their_types(tmp_path: Path) -> None:
    people(5).drop("age").write_parquet(tmp_path / "a.parquet")
    assert "'a.parquet' has no column 'age'" in refused(tmp_path / "a.parquet")
    people(5).with_columns(age=pl.lit(CANARY.encode())).write_parquet(tmp_path / "b.parquet")
    assert "column 'age' has type Binary" in refused(tmp_path / "b.parquet")
    (tmp_path / "c.parquet").write_text(CANARY)
    assert "is not a readable Parquet file" in refused(tmp_path / "c.parquet")
    assert "there is no file 'd.parquet'" in refused(tmp_path / "d.parquet")


@pytest.mark.parametrize("filled", [False, True])
def test_types_are_refused_whether_or_not_there_is_a_record(filled: bool, tmp_path: Path) -> None:
    kinds = ("INTERVAL", "BLOB", "INTEGER[]")
    with duckdb.connect(str(tmp_path / "t.duckdb")) as base:
        for i, kind in enumerate(kinds):
            base.execute(f"CREATE TABLE t{i} (x {kind})")
            if filled:
                base.execute(f"INSERT INTO t{i} VALUES (NULL)")
            base.execute(f"COPY t{i} TO '{tmp_path / f't{i}.parquet'}' (FORMAT parquet)")
    schema = {"fields": [{"name": "x", "type": "boolean"}]}
    for i, kind in enumerate(kinds):
        for path, options in ((tmp_path / "t.duckdb", {"table": f"t{i}"}), (tmp_path / f"t{i}.parquet", {})):
            with pytest.raises(DataError, match="store it as numbers, text") as caught:
                cantle.publish(path, schema, epsilon=1, engine="duckdb", method="rps", **options)
            assert caught.value.__context__ is None, (kind, path.suffix)


@pytest.mark.parametrize("package", ["duckdb", "pyarrow"])
def test_a_missing_package_is_named_with_its_extra(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=r"pip install '\.\[duckdb\]'"):
        EngineChoice.of("duckdb", None, None)


def test_the_command_line_takes_engine_memory_and_table(tmp_path: Path) -> None:
    people(30).write_parquet(tmp_path / "people.parquet")
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA))
    query = f"CREATE TABLE people AS FROM read_parquet('{tmp_path / 'people.parquet'}')"
    database(tmp_path / "all.duckdb", query, "CREATE TABLE others (x INT)")
    arguments = ["publish", str(tmp_path / "all.duckdb"), "--schema", str(tmp_path / "schema.json"), "--epsilon", "1"]
    arguments += ["--engine", "duckdb", "--memory", "1GiB", "--insecure-seed", "1"]
    done = CliRunner().invoke(app, [*arguments, "--table", "people", "-o", str(tmp_path / "one")])
    assert done.exit_code == 0, done.output
    cantle.publish(tmp_path / "people.parquet", SCHEMA, epsilon=1, insecure_seed=1).save(tmp_path / "two")
    by_command, by_library = (
        {file.name: file.read_bytes() for file in (tmp_path / name).iterdir()} for name in ("one", "two")
    )
    assert by_command == by_library
    refused_arguments = [*arguments, "--table", "people", "--set", "memory=2GB", "-o", str(tmp_path / "three")]
    assert isinstance(CliRunner().invoke(app, refused_arguments).exception, ParameterError)

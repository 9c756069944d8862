"""The DuckDB engine: correct counts, a private folder that is always removed, errors that quote no value."""

from __future__ import annotations

import copy
import gc
import json
import os
import pickle
import stat
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import cantle
from cantle.data.engine_choice import EngineChoice, bytes_of
from cantle.data.file_forms import files
from cantle.errors import CantleError, DataError, EngineError, MissingExtra, ParameterError
from cantle.interfaces.cli.app import app
from cantle.methods.rps import RPS
from cantle.trusted.engines.rows import MemoryEngine
from cantle.trusted.geometry.boxes import Cuts
from cantle.trusted.keys import OneWays, Sizes
from tests.entropy import launcher
from tests.laws.strategies import Table, tables
from tests.release.people import SCHEMA, people
from tests.trusted.engines.walks import grids, walk, whole

duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed (extra duckdb)")

from cantle.trusted.engines import duckdb as duckdb_engine  # noqa: E402
from cantle.trusted.engines import packing, private_database  # noqa: E402
from cantle.trusted.engines.duckdb import DuckEngine  # noqa: E402
from tests.effort import examples  # noqa: E402

CANARY = "CanaryQx7"
SMALL = 1 << 30


def opened(table: Table, **options: Any) -> DuckEngine:
    parts = np.array_split(np.arange(len(table.records)), 3)
    batches = [([column[part] for column in table.codes.T], table.labels[part]) for part in parts]
    return DuckEngine(batches, sizes=table.sizes, class_count=table.classes, memory=SMALL, **options)


@pytest.mark.parametrize("slab_cells", [1, 20, 1 << 22])
@examples(5)
@given(data=st.data())
def test_the_engine_counts_like_the_naive_one(slab_cells: int, data) -> None:
    table = data.draw(tables(max_records=15))
    engine = opened(table, slab_cells=slab_cells)
    walk(data.draw, table, engine)
    engine.close()


@pytest.mark.parametrize("fine", [1 << 24, 0])
@examples(5)
@given(data=st.data())
def test_grids_are_counted_like_in_memory(fine: int, data) -> None:
    table = data.draw(tables(max_records=15))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packing, "FINE", fine)
        engine = opened(table)
        grids(data.draw, table, engine)
    engine.close()


def test_records_are_read_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (duckdb_engine, private_database):
        monkeypatch.setattr(module, "BATCH", 1000)
    engine = opened(Table((4, 3), 1, tuple((i % 4, i % 3, 0) for i in range(9001))))
    engine.split(np.array([0]), Cuts(np.array([0]), np.array([1])))
    engine.split(np.array([1]), Cuts(np.array([1]), np.array([2])))
    assert whole(engine, np.arange(2), Sizes()) == [[4500], [2250]]
    engine.close()


def test_regions_are_divided_among_slabs() -> None:
    """A slab holds the two children of one region, so the regions of a split slab are divided between two slabs."""
    table = Table((8, 3), 1, tuple((i % 8, i % 3, 0) for i in range(240)))
    engine, plain = opened(table, slab_cells=1), MemoryEngine(table.codes, table.labels, sizes=(8, 3), class_count=1)
    for level, point in enumerate((4, 2, 1)):
        regions = np.arange(2**level)
        cuts = Cuts(np.zeros(2**level, np.int64), 8 // 2**level * regions + point)
        for store in (engine, plain):
            store.split(regions, cuts)
    assert len(engine._slabs) == 4
    tables = OneWays((0, 1), (8, 3), 1)
    assert whole(engine, np.arange(8), tables) == whole(plain, np.arange(8), tables)
    engine.close()


# ---- the private folder ---------------------------------------------------------------------------------------


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which temporary folders are made."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


TABLE = Table((4,), 1, ((1, 0), (3, 0)))


def test_only_its_owner_can_enter_the_folder(room: Path) -> None:
    engine = opened(TABLE)
    [folder] = room.iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert (folder / "codes.duckdb").exists()
    engine.close()
    assert not list(room.iterdir())


def test_the_folder_is_removed_when_reading_fails(room: Path) -> None:
    def broken() -> Iterator[Any]:
        yield [np.zeros(3, np.uint8)], np.zeros(3, np.uint8)
        assert list(room.iterdir())
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        DuckEngine(broken(), sizes=(4,), class_count=1, memory=SMALL)
    assert not list(room.iterdir())


def test_the_folder_is_removed_with_the_engine(room: Path) -> None:
    gc.freeze()  # the collector then looks only at objects made from here on
    engine = opened(TABLE)
    del engine
    gc.collect()
    assert not list(room.iterdir())


def _fail(*_: object) -> None:
    raise ParameterError("a failure in the middle of a run")


def test_the_folder_is_removed_when_a_run_fails(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RPS, "stop", _fail)
    with pytest.raises(ParameterError, match="in the middle of a run"):
        cantle.publish(people(30), SCHEMA, epsilon=1, engine="duckdb", method="rps", preset="paper")
    assert not list(room.iterdir())


def test_a_closed_engine_counts_nothing() -> None:
    engine = opened(TABLE)
    engine.close()
    with pytest.raises(AttributeError):
        list(engine.tally(np.array([0]), Sizes()))


@pytest.mark.parametrize("duplicate", [pickle.dumps, copy.copy, copy.deepcopy])
def test_the_engine_cannot_be_pickled_or_copied(duplicate: Any) -> None:
    engine = opened(TABLE)
    with pytest.raises(TypeError, match="private"):
        duplicate(engine)
    assert repr(engine) == "DuckEngine()"
    engine.close()


# ---- limits and sources ---------------------------------------------------------------------------------------


def test_duckdb_gets_half_of_the_memory() -> None:
    engine = DuckEngine([], sizes=(4,), class_count=1, memory=2_000_000_000)
    [(limit,)] = engine._base._base.execute("SELECT current_setting('memory_limit')").fetchall()
    assert limit == "953.6 MiB"
    engine.close()


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


def test_a_failure_of_duckdb_has_a_message_of_its_own() -> None:
    engine = opened(TABLE)
    engine._base.run(f"DROP TABLE {engine._slabs[0].table}")
    with pytest.raises(EngineError, match="the duckdb engine failed") as caught:
        list(engine.tally(np.array([0]), Sizes()))
    assert caught.value.__suppress_context__
    engine.close()


@pytest.mark.parametrize("package", ["duckdb", "pyarrow"])
def test_a_missing_package_is_named_with_its_extra(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=r"pip install '\.\[duckdb\]'"):
        EngineChoice.of("duckdb", None, None)


def test_the_folder_is_removed_when_the_command_is_stopped(tmp_path: Path) -> None:
    """A service manager sends SIGTERM in the middle of a run."""
    people(3000).write_parquet(tmp_path / "people.parquet")
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA))
    room = tmp_path / "room"
    room.mkdir()
    program = """
        import os, signal, sys
        from cantle.interfaces.cli import app as cli
        from cantle.trusted.engines.duckdb import DuckEngine
        def stop(self, *_):
            assert os.listdir(os.environ["TMPDIR"])
            os.kill(os.getpid(), signal.SIGTERM)
        DuckEngine.split = stop
        sys.argv = ["cantle", *sys.argv[1:]]
        cli.main()
    """
    arguments = ["publish", "people.parquet", "--schema", "schema.json", "--epsilon", "1", "--method", "rps"]
    done = subprocess.run(
        [*launcher(), "-c", textwrap.dedent(program), *arguments, "--engine", "duckdb"],
        cwd=tmp_path,
        env=os.environ | {"TMPDIR": str(room)},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (143, b"")
    assert not list(room.iterdir())
    assert not (tmp_path / "release").exists()


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

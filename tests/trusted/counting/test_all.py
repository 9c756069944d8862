"""One contract for all engines and all methods: the same seed gives the same bytes, whatever the values are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl
import pytest

import cantle
from cantle.data.engines_for_tables import ENGINES
from cantle.errors import ParameterError
from tests.effort import slow
from tests.release.people import SCHEMA
from tests.trusted.counting.awkward import awkward

pytestmark = pytest.mark.filterwarnings(
    "ignore:PySpark does not yet fully support pandas:FutureWarning", "ignore:.*is deprecated:DeprecationWarning"
)

CALLS: dict[str, dict[str, Any]] = {
    "rps": {"method": "rps"},
    "rps, own error": {"method": "rps", "accuracy_share": "1/4", "epsilon": 50},
    "diffgen, own error": {"method": "diffgen", "accuracy_share": "1/4", "epsilon": 50},
    "mosaic, own error": {"method": "mosaic", "accuracy_share": "1/4", "epsilon": 50},
    "rps, paper": {"method": "rps", "preset": "paper", "depth": 7},
    "rps, midpoints": {"method": "rps", "attributes": "midpoint", "stop": "privtree:2+narrow:2", "stop_share": "1/2"},
    "rps, subsets": {"method": "rps", "cuts": "subsets"},
    "rps, stop tests": {"method": "rps", "preset": "paper", "depth": 5, "attributes": "all", "quality": "mix:1:1"},
    "diffgen": {"method": "diffgen"},
    "diffgen, paper": {"method": "diffgen", "preset": "paper"},
    "diffgen, infogain": {"method": "diffgen", "preset": "paper", "score": "infogain", "rounds": 4},
    "mosaic": {"method": "mosaic"},
}

Opened = tuple[Any, dict[str, Any]]


def duckdb_file(path: Path, _request: pytest.FixtureRequest) -> Opened:
    return path, {"engine": "duckdb", "memory": "1GiB"}


def duckdb_files(path: Path, _request: pytest.FixtureRequest) -> Opened:
    folder = path.parent / "many"
    folder.mkdir()
    for i, part in enumerate(pl.read_parquet(path).iter_slices(250)):
        part.write_parquet(folder / f"part{i}.parquet")
    return folder, {"engine": "duckdb"}


def duckdb_frame(path: Path, _request: pytest.FixtureRequest) -> Opened:
    return pl.read_parquet(path), {"engine": "duckdb"}


def duckdb_database(path: Path, _request: pytest.FixtureRequest) -> Opened:
    import duckdb

    with duckdb.connect(str(path.parent / "all.duckdb")) as base:
        base.execute("CREATE TABLE others (x INTEGER)")
        base.execute(f"CREATE TABLE people AS FROM read_parquet('{path}')")
    return path.parent / "all.duckdb", {"engine": "duckdb", "table": "people"}


def ibis_duckdb(path: Path, _request: pytest.FixtureRequest) -> Opened:
    ibis = pytest.importorskip("ibis", reason="ibis is not installed (extra database)")
    backend = ibis.duckdb.connect()
    backend.raw_sql(f"CREATE TABLE people AS FROM read_parquet('{path}')")
    return backend.table("people"), {"engine": "database"}


def postgres(path: Path, request: pytest.FixtureRequest) -> Opened:
    pytest.importorskip("ibis", reason="ibis is not installed (extra database)")
    url = request.getfixturevalue("server")
    fill(url, "people", pl.read_parquet(path))
    return url, {"engine": "database", "table": "people"}


def fill(url: str, name: str, people: pl.DataFrame) -> None:
    """Creates a PostgreSQL table of people."""
    import psycopg

    kinds = "id text, age bigint, weight float8, town text, grade text, member bool, joined date, seen timestamp"
    with psycopg.connect(url, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE IF EXISTS {name}")
        cursor.execute(f"CREATE TABLE {name} ({kinds}, ill text)")
        cursor.executemany(f"INSERT INTO {name} VALUES ({', '.join(['%s'] * 9)})", people.rows())


def spark_frame(path: Path, request: pytest.FixtureRequest) -> Opened:
    cluster = request.getfixturevalue("spark")
    return cluster.session.read.parquet(str(path)).repartition(3), {"engine": "spark"}


def spark_path(path: Path, request: pytest.FixtureRequest) -> Opened:
    request.getfixturevalue("spark")
    return str(path), {"engine": "spark"}


SOURCES: dict[str, Callable[[Path, pytest.FixtureRequest], Opened]] = {
    "duckdb, Parquet": duckdb_file,
    "duckdb, many files": duckdb_files,
    "duckdb, frame": duckdb_frame,
    "duckdb, database": duckdb_database,
    "database, DuckDB": ibis_duckdb,
    "database, PostgreSQL": postgres,
    "spark, frame": spark_frame,
    "spark, Parquet": spark_path,
}

TAKEN = {"sets": ("memory", "duckdb", "spark"), "graph": ("memory", "duckdb")}
GAPS = [(engine, kind) for kind, taken in TAKEN.items() for engine in ENGINES if engine not in taken]


def saved(release: cantle.Release, folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in release.save(folder).iterdir()}


def published(data: Any, call: dict[str, Any], folder: Path, **source: Any) -> dict[str, bytes]:
    return saved(cantle.publish(data, SCHEMA, insecure_seed=9, **({"epsilon": 2} | call), **source), folder)


SHORT = {
    "duckdb, Parquet": {"rps", "mosaic", "rps, paper", "rps, stop tests", "diffgen, own error"},
    "duckdb, many files": {"rps"},
    "duckdb, frame": {"mosaic"},
    "duckdb, database": {"rps"},
    "database, DuckDB": {"rps", "mosaic"},
    "database, PostgreSQL": {"rps", "mosaic"},
}
"""The calls that run by default: at least one per source except Spark, and RPS and mosaic on every engine."""


def cases() -> Iterator[Any]:
    """Every call on every source; those that do not run by default run with `-m slow`."""
    for name in SOURCES:
        short = SHORT.get(name, set())
        for call in CALLS:
            yield pytest.param(name, call, marks=[] if call in short else pytest.mark.slow)


@cache
def in_memory(call: str, seed: int) -> dict[str, bytes]:
    """The files of the release that all engines must give."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "people.parquet"
        awkward().write_parquet(path)
        release = cantle.publish(path, SCHEMA, insecure_seed=seed, **({"epsilon": 2} | CALLS[call]))
        assert "own error" not in call or (release.accuracy is not None and release.accuracy.bought)
        return saved(release, Path(folder) / "memory")


@pytest.mark.parametrize(("name", "call"), list(cases()))
def test_the_same_seed_gives_the_same_bytes(
    name: str, call: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    path = tmp_path / "people.parquet"
    awkward().write_parquet(path)
    data, source = SOURCES[name](path, request)
    assert published(data, CALLS[call], tmp_path / "other", **source) == in_memory(call, seed=9)


@pytest.mark.parametrize("call", slow(list(CALLS), *(CALLS.keys() - {"rps", "diffgen, own error"})))
def test_another_seed_gives_other_bytes(call: str) -> None:
    """Otherwise the test above would prove nothing."""
    assert in_memory(call, seed=9) != in_memory(call, seed=10)


BY_DEFAULT = "duckdb, Parquet", "database, PostgreSQL"
PERSONS: dict[str, Any] = SCHEMA | {"unit": {"person": "id", "max_records": 2}, "missingValues": ["", "?"]}
IDS = ["a", "A", " a", "a ", "é", "e\u0301", "1", "01", "1.0", "a\\b", "'", '"', "", "?", None]


def with_persons() -> pl.DataFrame:
    """The awkward people, each with several records; some of them have no identifier, and some records are equal."""
    data = pl.concat([awkward(300), awkward(300)])
    places = pl.int_range(0, len(data), eager=True)
    odd = pl.Series([IDS[i % len(IDS)] for i in range(len(data))])
    return data.with_columns(id=pl.when(places % 3 == 0).then(odd).otherwise("p" + (places // 7).cast(pl.String)))


@pytest.mark.parametrize("call", slow(["rps", "diffgen", "mosaic"], "rps", "diffgen"))
@pytest.mark.parametrize("name", slow(SOURCES, *(name for name in SOURCES if name not in BY_DEFAULT)))
def test_every_engine_bounds_persons_alike(
    name: str, call: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    path = tmp_path / "people.parquet"
    with_persons().write_parquet(path)
    data, source = SOURCES[name](path, request)
    options: dict[str, Any] = {"method": call, "epsilon": 8, "insecure_seed": 9}
    expected = saved(cantle.publish(path, PERSONS, **options), tmp_path / "memory")
    assert saved(cantle.publish(data, PERSONS, **options, **source), tmp_path / "other") == expected
    assert saved(cantle.publish(path, SCHEMA, **options), tmp_path / "records") != expected


@pytest.mark.parametrize(("engine", "kind"), GAPS)
def test_an_engine_refuses_kinds_of_data_that_it_cannot_read(engine: str, kind: str) -> None:
    schema = {"kind": "sets", "items": {"minimum": 1, "maximum": 9}} if kind == "sets" else {"kind": "graph"}
    with pytest.raises(ParameterError, match=f"engine {engine} .*kind {kind}"):
        cantle.publish("any", schema, epsilon=1, engine=engine)


def test_every_engine_is_in_the_contract() -> None:
    assert {name.split(",")[0] for name in SOURCES} | {"memory"} == set(ENGINES)

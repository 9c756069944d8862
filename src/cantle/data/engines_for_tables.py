"""Where tables lie and which engine counts them: in memory, in DuckDB, in a Spark cluster, in their own database.

One encoder serves all: `Domain.encode_columns` on batches of records, in this process or on Spark's workers; only a
database encodes by itself (cantle.data.sql_encoding). `EngineChoice` refuses what can be
refused without the data, before anything is charged.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy.typing as npt
import polars as pl

from cantle import _fast
from cantle.data.encoding import read_codes
from cantle.data.spark_files import read_path
from cantle.data.sql_encoding import code_table, load_ibis
from cantle.data.tables import CSV, PARQUET
from cantle.errors import CantleError, DataError, EngineError, ParameterError, raise_alone
from cantle.schema.domain import Domain
from cantle.schema.table import Schema
from cantle.trusted.engines import database, duckdb, spark
from cantle.trusted.engines.base import TableEngine

ENGINES = ("memory", "duckdb", "spark", "database")
DUCKDB = (".duckdb", ".ddb", ".db")
LEAST_MEMORY = 1 << 30
BATCH = 1 << 18
"""Records of a Parquet file read together."""

_UNITS = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}
_UNITS["TIB"] = 2**40


@dataclass(frozen=True)
class EngineChoice:
    """An engine by name, with what it must know beside the data."""

    engine: str = "memory"
    memory: int | None = None
    table: str | None = None

    @staticmethod
    def of(engine: str, memory: Any, table: str | None, kind: str) -> EngineChoice:
        """The engine for this kind of data, its limit of memory and its packages checked."""
        if engine not in ENGINES:
            raise ParameterError(f"engine {engine!r} is not known; use one of {', '.join(ENGINES)}")
        if engine != "memory" and kind != "table":
            raise ParameterError(f"engine {engine} is for tables; data of kind {kind} is held in memory")
        if memory is not None and engine != "duckdb":
            raise ParameterError(f"memory is a limit of engine duckdb; engine {engine} has none to set")
        if table is not None and engine not in ("duckdb", "database"):
            raise ParameterError(f"table names a table of a database; engine {engine} takes none")
        if engine == "duckdb":
            duckdb.load()
        elif engine == "spark":
            spark.load()
        elif engine == "database":
            load_ibis()
        return EngineChoice(engine, None if memory is None else bytes_of(memory), table)

    def require(self, data: Any) -> None:
        """Refuses files that are not there; what a cluster or a database holds shows when it is opened."""
        if self.engine in ("memory", "duckdb") and isinstance(data, str | os.PathLike | list | tuple):
            for path in files(data) if self.engine == "duckdb" else [data]:
                if isinstance(path, str | os.PathLike) and not os.path.exists(path):
                    raise DataError(f"there is no file {os.path.basename(path)!r}; check the path.")


IN_MEMORY = EngineChoice()


def bytes_of(size: Any) -> int:
    """A limit of memory in bytes.

    >>> bytes_of("4GB"), bytes_of("1.5 GiB")
    (4000000000, 1610612736)
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([a-z]*)", str(size).strip(), re.IGNORECASE)
    if not found or found[2].upper() not in _UNITS:
        raise ParameterError(f"memory takes a size such as 4GB or 900MB, got {size!r}")
    made = int(float(found[1]) * _UNITS[found[2].upper()])
    if made < LEAST_MEMORY:
        raise ParameterError("memory must be at least 1GiB: reading and counting in batches needs that much")
    return made


def open_table(data: Any, schema: Schema, plan: Any, choice: EngineChoice) -> TableEngine:
    """The table behind an engine other than memory."""
    openers = {"duckdb": _open_duckdb, "spark": _open_spark, "database": _open_database}
    return openers[choice.engine](data, schema, plan, choice)


def _wanted(schema: Schema) -> list[str]:
    return [one.name for one in schema.fields if one.role != "identifier"]


# ---- DuckDB ---------------------------------------------------------------------------------------------------


def _open_duckdb(data: Any, schema: Schema, plan: Any, choice: EngineChoice) -> TableEngine:
    memory, total = duckdb.MEMORY if choice.memory is None else choice.memory, 0

    def batches() -> Iterator[tuple[Any, Any]]:
        nonlocal total
        for _, codes, classes in _batches(data, schema, plan.domain, choice):
            total += len(classes)
            yield codes, classes

    engine = duckdb.DuckEngine(batches(), sizes=plan.sizes, class_count=plan.classes, memory=memory)
    if _fast.worth_loading(total):
        import cantle._jit  # noqa: F401 - the released records then go to a file without becoming a frame, which is large
    return engine


def _batches(data: Any, schema: Schema, domain: Domain, choice: EngineChoice) -> Iterator[tuple[str, Any, Any]]:
    """Batches of codes, from a frame, from CSV and Parquet files, or from a DuckDB database."""
    if not isinstance(data, str | os.PathLike | list | tuple):
        yield from read_codes(data, schema, domain, "columns")
        return
    for path in files(data):
        if path.suffix.lower() in DUCKDB:
            found = duckdb.read_database(path, choice.table, _wanted(schema))
        elif choice.table is not None:
            raise ParameterError(f"table names a table of a DuckDB database, and {path.name!r} is none; leave it out")
        elif path.suffix.lower() in PARQUET:
            found = _parquet(path, _wanted(schema))
        else:
            yield from read_codes(path, schema, domain, "columns")
            continue
        for batch in found:
            yield from read_codes(_polars(batch), schema, domain, "columns")


def files(data: Any) -> list[Path]:
    """The files meant by a path, a pattern, a folder or a list of them, in the order of their names."""
    if isinstance(data, list | tuple):
        return [path for one in data for path in files(one)]
    text, path = os.fspath(data), Path(data)
    if os.path.isdir(path):
        found = [one for one in sorted(path.iterdir()) if one.suffix.lower() in CSV + PARQUET and one.is_file()]
    elif not os.path.exists(path) and any(mark in text for mark in "*?["):
        found = [Path(one) for one in sorted(glob.glob(text, recursive=True))]
    else:
        return [path]
    if not found:
        raise DataError(f"{path.name!r} holds or matches no CSV or Parquet file; check the path.")
    return found


def _parquet(path: Path, wanted: list[str]) -> Iterator[Any]:
    """The columns of a Parquet file in Arrow batches."""
    import pyarrow
    import pyarrow.parquet

    if not os.path.exists(path):
        raise DataError(f"there is no file {path.name!r}; check the path.")
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            known = set(file.schema_arrow.names)
            missing = ", ".join(repr(name) for name in wanted if name not in known)
            if missing:
                raise DataError(f"{path.name!r} has no column {missing}; correct the names in the schema.")
            yield file.schema_arrow.empty_table().select(wanted)  # so that types are judged without a record as well
            yield from file.iter_batches(batch_size=BATCH, columns=wanted)
    except (OSError, pyarrow.ArrowException):
        raise_alone(DataError(f"{path.name!r} is not a readable Parquet file, or is truncated; write it again."))


def _polars(batch: Any) -> pl.DataFrame:
    """A batch of Arrow as polars has it; what cannot be is told by the type of a column, never by a value."""
    made = None
    with suppress(Exception, pl.exceptions.PanicException):
        made = pl.from_arrow(batch)
    if not isinstance(made, pl.DataFrame):
        known = "numbers, text, booleans, dates or datetimes"
        raise DataError(f"the table has a column of a type that cannot be read; store it as {known}.")
    return made


# ---- Spark ----------------------------------------------------------------------------------------------------


def _open_spark(data: Any, schema: Schema, plan: Any, choice: EngineChoice) -> TableEngine:  # noqa: ARG001
    own = not hasattr(data, "sparkSession") and not spark.is_running()
    frame = data if hasattr(data, "sparkSession") else _spark_frame(spark.session(), data, schema)
    try:
        frame = spark.select(frame, _wanted(schema))
        list(read_codes(_polars(spark.nothing_of(frame)), schema, plan.domain, "columns"))  # judges the types
        encode = _encoder(plan.domain)
        return spark.SparkEngine(frame, encode, sizes=plan.sizes, class_count=plan.classes, own=own)
    except BaseException:
        if own:
            frame.sparkSession.stop()
        raise


def _encoder(domain: Domain) -> Callable[[Any], tuple[list[npt.NDArray[Any]], npt.NDArray[Any]]]:
    return lambda batch: domain.encode_columns(_polars(batch))


def _spark_frame(session: Any, data: Any, schema: Schema) -> Any:
    """What Spark reads at a path, by its ending, or the table of its catalog that `spark:NAME` names."""
    text = os.fspath(data) if isinstance(data, str | os.PathLike) else None
    if text is None:
        raise DataError("the spark engine reads a path, spark:TABLE or a Spark data frame; give one of these.")
    if not text.startswith("spark:"):
        return read_path(session, text, schema, _wanted(schema))
    with spark.reading(Path(text).name):
        return session.table(text.removeprefix("spark:"))


# ---- databases ------------------------------------------------------------------------------------------------


def _open_database(data: Any, schema: Schema, plan: Any, choice: EngineChoice) -> TableEngine:  # noqa: ARG001
    if hasattr(data, "get_backend"):
        return _database(data, plan, own=False)
    if not isinstance(data, str) or "://" not in data:
        raise ParameterError("the database engine takes the URL of a database or an ibis table")
    if choice.table is None:
        raise ParameterError("the database engine must know which table; name it with --table NAME")
    backend = None
    try:
        backend = load_ibis().connect(data)
        *above, name = choice.table.split(".")
        table = backend.table(name, database=".".join(above) or None)
        return _database(table, plan, own=True)
    except Exception as error:  # noqa: BLE001 - every backend has exceptions of its own, and some quote the URL
        if backend is not None:
            backend.disconnect()
        if isinstance(error, CantleError):
            raise
        raise_alone(
            EngineError("the database cannot be reached, or has no such table; check the URL, the server and --table")
        )


def _database(table: Any, plan: Any, *, own: bool) -> TableEngine:
    codes = code_table(table, plan.domain)
    return database.DatabaseEngine(codes, sizes=plan.sizes, class_count=plan.classes, own=own)

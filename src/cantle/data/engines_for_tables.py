"""The engines for tables, by where the data is stored: in memory, on disk, in a Spark cluster, in a database.

All use one encoder, `Domain.encode_columns`, on batches of records, in this process or on Spark's workers. Whatever can
be refused without the data is refused before anything is charged.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

import numpy as np
import polars as pl

from cantle.data.arrow_batches import polars_of, read_database, typed_batches
from cantle.data.database_tables import UNREACHABLE, load_ibis, read_rows, require_encoding
from cantle.data.engine_choice import EVERY_ENGINE, IN_MEMORY, POLARS, EngineChoice, Opened, refuse_nodes
from cantle.data.file_forms import ARROW, PARQUET, SHEETS, STATISTICS, Paths, are_paths, ending, files, require_files
from cantle.data.sheets import load_excel, load_statistics
from cantle.data.tables import as_ids, read_batches
from cantle.errors import CantleError, DataError, EngineError, ParameterError, raise_alone
from cantle.schema.domain import Domain, Labels, unsigned
from cantle.schema.table import TableSchema
from cantle.trusted.bounding.persons import PERSON, bounded, with_persons
from cantle.trusted.counting.base import TableEngine
from cantle.trusted.counting.stores import InMemory, Store
from cantle.trusted.counting.words import Batch, WordEngine

if TYPE_CHECKING:
    from cantle.data.database_tables import Table
    from cantle.data.spark_files import DataFrame, SparkSession
    from cantle.trusted.counting import spark

ENGINES = EVERY_ENGINE
DUCKDB = (".duckdb", ".ddb", ".db")


class AsksTable(Protocol):
    """What a method for tables declares about the codes that it counts."""

    @property
    def domain(self) -> Domain:
        """The public domain: one code per value, or per bin if the method made columns coarser."""

    @property
    def sizes(self) -> tuple[int, ...]: ...

    @property
    def classes(self) -> int: ...


def refuse_early(data: object, schema: TableSchema, choice: EngineChoice, nodes: object) -> None:
    """Refuses a list of nodes, files that do not exist or whose reader is not installed, files that Spark cannot read,
    and databases whose encoding cannot hold all texts."""
    if choice.engine == "spark":
        from cantle.data.spark_files import require_readable

        require_readable(data, schema)
    elif choice.engine == "database":
        choice.require(data)
        _require_address(data, choice)
        columns = schema.as_declared().with_target_as_column().attributes
        require_encoding(data, reads_texts=any(isinstance(one.scale, Labels) for one in columns))
    elif are_paths(data):
        paths = files(cast("Paths", data))
        require_files(paths)
        if any(ending(path) in SHEETS for path in paths):
            load_excel()
        if any(ending(path) in STATISTICS for path in paths):
            load_statistics()
    refuse_nodes(nodes)


def open_engine(data: object, schema: TableSchema, method: AsksTable, choice: EngineChoice, nodes: object) -> Opened:  # noqa: ARG001
    """An engine that holds the table, and the kind of frame of the input."""
    if choice.engine == "spark":
        return POLARS, _open_spark(data, schema, method)
    kinds: list[str] = []
    frames = frames_in(data, schema, choice, kinds)
    engine = _counting(frames, schema, method, choice.store)
    return {"frame": kinds[0]} if choice.engine == "memory" else POLARS, engine


def wanted(schema: TableSchema) -> list[str]:
    """The columns that are read: those of the domain, and the column of persons if there is one."""
    persons = [] if schema.person is None else [schema.person]
    return schema.wanted + persons


# ---- memory and disk ------------------------------------------------------------------------------------------


def _counting(frames: Iterable[pl.DataFrame], schema: TableSchema, method: AsksTable, store: Store) -> WordEngine:
    """An engine with words in memory or on disk."""
    batches = _batches(frames, schema, method, store)
    return WordEngine(batches, sizes=method.sizes, class_count=method.classes, store=store)


def _batches(frames: Iterable[pl.DataFrame], schema: TableSchema, method: AsksTable, store: Store) -> Iterator[Batch]:
    """Codes and classes, with the records of each person bounded."""
    domain = method.domain
    if schema.person is None:
        yield from map(domain.encode_columns, frames)
        return
    for group in store.together((person_codes(frame, schema, domain) for frame in frames), PERSON):
        yield bounded(group, method.classes, schema.max_records)


def frames_in(data: object, schema: TableSchema, choice: EngineChoice, kinds: list[str]) -> Iterator[pl.DataFrame]:
    """The columns of a table in batches, wherever it is; the kinds of the frames are added to `kinds`."""
    for source in _sources(data, schema, choice):
        for batch in read_batches(source, schema):
            kinds.append(batch.kind)
            yield batch.frame


def person_codes(frame: pl.DataFrame, schema: TableSchema, domain: Domain) -> pl.DataFrame:
    """The codes of a frame with the identifier of each record's person (cantle.trusted.bounding.persons); records
    without a person are left out."""
    ids = as_ids(frame[str(schema.person)], schema.missing_values)
    read = domain.read
    columns = [attribute.encode(attribute.given(frame)) for attribute in read.attributes]
    classes = read.target.encode(frame[read.target.name]) if read.target else np.zeros(len(ids), np.int64)
    known = ids.is_not_null().to_numpy() & np.logical_and.reduce([column >= 0 for column in (*columns, classes)])
    kept = [column[known].astype(unsigned(one.size)) for column, one in zip(columns, read.attributes, strict=True)]
    label = classes[known].astype(unsigned(read.target.size if read.target else 1))
    return with_persons(ids.filter(pl.Series(known, dtype=pl.Boolean)), *domain.counted(kept, label))


def _sources(data: object, schema: TableSchema, choice: EngineChoice) -> Iterator[object]:
    """What is read one after the other: all data in memory; a frame, files of text, batches of typed files or of a
    DuckDB database on disk; some rows of a database at a time."""
    if choice.engine == "database":
        yield from _database_frames(data, schema, choice)
        return
    if choice.engine == "memory" or not are_paths(data):
        yield data
        return
    for path in files(cast("Paths", data)):
        if path.suffix.lower() in DUCKDB:
            yield from map(polars_of, read_database(path, choice.table, wanted(schema)))
        elif choice.table is not None:
            raise ParameterError(f"table names a table of a DuckDB database, and {path.name!r} is none; leave it out")
        elif ending(path) in PARQUET + ARROW:
            yield from map(polars_of, typed_batches(path, wanted(schema)))
        else:
            yield path


# ---- Spark ----------------------------------------------------------------------------------------------------


def _open_spark(data: object, schema: TableSchema, method: AsksTable) -> TableEngine:
    from cantle.trusted.counting import spark

    with spark_session(data) as (session, own):
        frame = spark.select(spark_frame(session, data, schema, wanted(schema)), wanted(schema))
        nothing = frames_in(polars_of(spark.nothing_of(frame)), schema, IN_MEMORY, [])
        list(_batches(nothing, schema, method, InMemory()))  # judges the types
        records = _spark_records(schema, method.domain)
        return spark.SparkEngine(frame, records, sizes=method.sizes, class_count=method.classes, own=own)


@contextmanager
def spark_session(*sources: object) -> Iterator[tuple[SparkSession, bool]]:
    """The session of Spark, and whether it is our own; then it is stopped if the block fails."""
    from cantle.trusted.counting import spark

    given = [one.sparkSession for one in sources if hasattr(one, "sparkSession")]
    own = not given and not spark.is_running()
    session = given[0] if given else spark.session()
    try:
        yield session, own
    except BaseException:
        if own:
            session.stop()
        raise


def _spark_records(schema: TableSchema, domain: Domain) -> spark.Encode | spark.OfPersons:
    """What workers do: turn batches into codes, and use a limited number of records per person if there are persons."""
    from cantle.trusted.counting import spark

    if schema.person is None:
        return lambda batch: domain.encode_columns(polars_of(batch))
    return spark.OfPersons(lambda batch: person_codes(polars_of(batch), schema, domain), schema.max_records)


def spark_frame(session: SparkSession, data: object, schema: TableSchema, wanted: list[str]) -> DataFrame:
    """A Spark frame as it is; what Spark reads at a path, by its ending; or the table of its catalog that `spark:NAME`
    names."""
    from cantle.data.spark_files import read_path
    from cantle.trusted.counting import spark

    if hasattr(data, "sparkSession"):
        return cast("DataFrame", data)
    text = os.fspath(data) if isinstance(data, str | os.PathLike) else None
    if text is None:
        raise DataError("the spark engine reads a path, spark:TABLE or a Spark data frame; give one of these.")
    if not text.startswith("spark:"):
        return read_path(session, text, schema, wanted)
    with spark.reading(Path(text).name):
        return session.table(text.removeprefix("spark:"))


# ---- databases ------------------------------------------------------------------------------------------------


def _database_frames(data: object, schema: TableSchema, choice: EngineChoice) -> Iterator[pl.DataFrame]:
    """The columns of a table of a database, some rows at a time; a connection of our own is closed then."""
    if hasattr(data, "get_backend"):
        yield from _table_frames(data, schema)
        return
    url, place = _require_address(data, choice)
    backend = None
    try:
        backend = load_ibis().connect(url)
        *above, name = place.split(".")
        yield from _table_frames(backend.table(name, database=".".join(above) or None), schema)
    except Exception as error:  # noqa: BLE001 - every backend has exceptions of its own, and some quote the URL
        if isinstance(error, CantleError):
            raise
        raise_alone(EngineError(UNREACHABLE))
    finally:
        if backend is not None:
            with suppress(Exception):
                backend.disconnect()


def _table_frames(table: Table, schema: TableSchema) -> Iterator[pl.DataFrame]:
    """The columns of an ibis table, some rows at a time."""
    return map(polars_of, read_rows(table, wanted(schema), schema.person))


def _require_address(data: object, choice: EngineChoice) -> tuple[str, str]:
    """The URL of a database and the name of a table in it; both are empty if data is an ibis table."""
    if hasattr(data, "get_backend"):
        return "", ""
    if not isinstance(data, str) or "://" not in data:
        raise ParameterError("the database engine takes the URL of a database or an ibis table")
    if choice.table is None:
        raise ParameterError("the database engine must know which table; name it with --table NAME")
    return data, choice.table

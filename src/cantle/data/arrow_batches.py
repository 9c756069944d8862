"""Readers of Parquet and Arrow files and of DuckDB databases in Arrow batches, for data larger than memory.

Before its records, each source yields an empty table, so that types are checked even if there is no record. Columns
that cannot be read are recognised by their type, never by a value.

Texts in Arrow data that are not UTF-8 are read one by one, with U+FFFD for undecodable bytes, as in CSV. Arrow declares
texts to be UTF-8, but neither pyarrow nor Spark checks that: files of other writers hold other bytes. polars relies on
it. Of a text that breaks off in the middle of a character it reads what comes after the text in memory, and panics; so
one record could end a run, or the bytes of another could become part of it.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import polars as pl

from cantle.data.file_forms import ARROW, ending, require_files
from cantle.errors import DataError, ParameterError, optional, raise_alone

if TYPE_CHECKING:
    import pyarrow as pa

    Columns = TypeVar("Columns", pa.Table, pa.RecordBatch)
    Values: TypeAlias = pa.Array | pa.ChunkedArray
    from duckdb import DuckDBPyConnection
    from pyarrow import RecordBatch, Table


def decodable(table: Columns) -> Columns:
    """The same table or batch, in which all texts are UTF-8."""
    for place, name in enumerate(table.schema.names):
        column = table.column(place)
        decoded = decodable_column(column)
        if decoded is not column:
            table = table.set_column(place, name, decoded)
    return table


def decodable_column(values: Values) -> Values:
    """The same column, in which all texts are UTF-8. Columns that are, which is nearly all, are not copied."""
    import pyarrow as pa

    binary = _as_binary(values.type)
    if binary is None:
        return values
    try:
        values.validate(full=True)
    except pa.ArrowException:
        return _decoded(values, binary)
    return values


def _as_binary(kind: pa.DataType) -> pa.DataType | None:
    """The type with bytes in place of texts; None if there are no texts in it, or if columns of it are not read."""
    import pyarrow as pa

    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.large_binary()
    if pa.types.is_dictionary(kind):
        return _as_binary(kind.value_type)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        inner = _as_binary(kind.value_type)
        return None if inner is None else pa.large_list(inner)
    return None


def _decoded(values: Values, binary: pa.DataType) -> Values:
    """The values one by one, as bytes that are decoded here: pyarrow would raise an error that quotes them."""
    import pyarrow as pa

    kind = pa.large_list(pa.large_string()) if pa.types.is_large_list(binary) else pa.large_string()
    try:
        plain = values.cast(binary)
        plain.validate(full=True)
        return pa.array([_text(value) for value in plain.to_pylist()], type=kind)
    except Exception:
        raise_alone(DataError("the table is damaged: a column of texts cannot be read; write it again."))


def _text(value: object) -> object:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return [_text(one) for one in value] if isinstance(value, list) else value


BATCH = 1 << 18
"""Records of a Parquet file read together."""


def load() -> tuple[ModuleType, ModuleType]:
    """The packages duckdb and pyarrow."""
    duckdb, pyarrow = (optional("the duckdb engine needs", name, "duckdb") for name in ("duckdb", "pyarrow"))
    return duckdb, pyarrow


def typed_batches(path: Path, wanted: list[str]) -> Iterator[Table | RecordBatch]:
    """The columns of a Parquet or Arrow file in Arrow batches."""
    import pyarrow

    require_files([path])
    kind, read = ("Arrow", _arrow_batches) if ending(path) in ARROW else ("Parquet", _parquet_batches)
    try:
        yield from read(path, wanted)
        pyarrow.default_memory_pool().release_unused()  # it keeps about 200 MB that nobody needs any more
    except (OSError, pyarrow.ArrowException):
        raise_alone(DataError(f"{path.name!r} is not a readable {kind} file, or is truncated; write it again."))


def _parquet_batches(path: Path, wanted: list[str]) -> Iterator[Table | RecordBatch]:
    from pyarrow.parquet import ParquetFile

    with ParquetFile(path) as file:
        yield _nothing(path, file.schema_arrow, wanted)
        yield from file.iter_batches(batch_size=BATCH, columns=wanted)


def _arrow_batches(path: Path, wanted: list[str]) -> Iterator[Table | RecordBatch]:
    import pyarrow.ipc

    with pyarrow.memory_map(str(path)) as source, pyarrow.ipc.open_file(source) as file:
        yield _nothing(path, file.schema, wanted)
        for number in range(file.num_record_batches):
            yield pyarrow.Table.from_batches([file.get_batch(number)]).select(wanted)


def _nothing(path: Path, schema: pa.Schema, wanted: list[str]) -> Table:
    """The columns without a record."""
    require_columns(f"{path.name!r}", schema.names, wanted)
    return schema.empty_table().select(wanted)


def require_columns(where: str, known: Container[str], wanted: Iterable[str]) -> None:
    missing = ", ".join(repr(name) for name in wanted if name not in known)
    if missing:
        raise DataError(f"{where} has no column {missing}; correct the names in the schema.")


def polars_of(batch: Table | RecordBatch) -> pl.DataFrame:
    """An Arrow batch as polars."""
    made = None
    with suppress(Exception, pl.exceptions.PanicException):
        made = pl.from_arrow(decodable(batch))
    if not isinstance(made, pl.DataFrame):
        known = "numbers, text, booleans, dates or datetimes"
        raise DataError(f"the table has a column of a type that cannot be read; store it as {known}.")
    return made


# ---- DuckDB databases -------------------------------------------------------------------------------------


def read_database(path: Path, table: str | None, columns: list[str]) -> Iterator[Table | RecordBatch]:
    """The columns of a table of a DuckDB database, in Arrow batches; the database is only read."""
    duckdb, arrow = load()
    try:
        with duckdb.connect(str(path), read_only=True) as base:
            base.execute("SET enable_progress_bar = false")
            name = _named(base, path, table)
            known = {row[0] for row in base.execute(f"DESCRIBE {name}").fetchall()}
            require_columns(f"table {name}", known, columns)
            listed = ", ".join(_quoted(column) for column in columns)
            batches = arrow.RecordBatchReader.from_stream(base.sql(f"SELECT {listed} FROM {name}"))
            yield batches.schema.empty_table()
            yield from batches
    except (duckdb.Error, arrow.ArrowException, OSError):
        raise_alone(
            DataError(
                f"{path.name!r} cannot be read as a DuckDB database, or has no such table; check the path and --table."
            )
        )


def _named(base: DuckDBPyConnection, path: Path, table: str | None) -> str:
    """The table's name in SQL; if none is given, the only table of the database."""
    if table is not None:
        return ".".join(_quoted(part) for part in table.split("."))
    tables = base.execute("SELECT table_schema, table_name FROM information_schema.tables").fetchall()
    if len(tables) != 1:
        raise ParameterError(f"{path.name!r} holds {len(tables)} tables; say which one with --table NAME")
    return ".".join(_quoted(part) for part in tables[0])


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'

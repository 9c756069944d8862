"""Tables in DuckDB databases, as a source of records; the database is only read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from cantle.errors import DataError, ParameterError, raise_alone
from cantle.trusted.counting.private_database import load

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyarrow import RecordBatch, Table


def read_database(path: Path, table: str | None, columns: list[str]) -> Iterator[Table | RecordBatch]:
    """The columns of a table of a DuckDB database, in Arrow batches; the database is only read."""
    duckdb, arrow = load()
    try:
        with duckdb.connect(str(path), read_only=True) as base:
            base.execute("SET enable_progress_bar = false")
            name = _named(base, path, table)
            known = {row[0] for row in base.execute(f"DESCRIBE {name}").fetchall()}
            missing = ", ".join(repr(column) for column in columns if column not in known)
            if missing:
                raise DataError(f"table {name} has no column {missing}; correct the names in the schema.")
            listed = ", ".join(_quoted(column) for column in columns)
            batches = arrow.RecordBatchReader.from_stream(base.sql(f"SELECT {listed} FROM {name}"))
            yield batches.schema.empty_table()  # so that types are checked even without a record
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

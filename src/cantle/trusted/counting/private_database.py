"""A private DuckDB database in a folder, for engines whose records do not fit in memory. Needs `duckdb`.

The folder holds private codes. Only its owner can enter it, and it is deleted when the database is closed or
garbage-collected, also after a failure. What a killed process leaves must be deleted by hand (docs/engines.md).

DuckDB's errors may quote values, so every statement replaces them by one fixed message.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from cantle.errors import EngineError, MissingExtra, install_command, raise_alone, replacing
from cantle.trusted.geometry.boxes import Ints

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyarrow import Table

MEMORY = 4 << 30
"""The default limit, in bytes."""

BATCH = 1 << 20
"""Records read or written together."""


class PrivateDatabase:
    """A database of its own, open until `close`; `memory` limits the total, half of it for DuckDB's own buffers.

    `failure` is the message that replaces every error of DuckDB. With `in_order`, rows arrive in the order of a query,
    which takes more memory; otherwise their order has no meaning.
    """

    def __init__(self, memory: int, failure: str, *, in_order: bool = False) -> None:
        duckdb, self.arrow = load()
        self._failure, self._error = failure, duckdb.Error
        with self._guarded():
            folder = tempfile.mkdtemp(prefix="cantle-private-")  # mode 0700
            self._delete = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
            settings = {
                "memory_limit": f"{memory // 2}B",
                "temp_directory": str(Path(folder) / "spill"),
                "preserve_insertion_order": str(in_order).lower(),
                "autoinstall_known_extensions": "false",
            }
            self._base: DuckDBPyConnection = duckdb.connect(str(Path(folder) / "codes.duckdb"), config=settings)
            self._base.execute("SET enable_progress_bar = false")  # how long a statement takes depends on the records

    def __repr__(self) -> str:
        return "PrivateDatabase()"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a database of private records cannot be pickled")

    def __enter__(self) -> PrivateDatabase:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the database and deletes its folder."""
        with suppress(self._error):
            self._base.close()
        self._delete()

    def run(self, statement: str) -> None:
        """Runs a statement that returns nothing."""
        with self._guarded():
            self._base.execute(statement)

    def insert(self, name: str, rows: Table, *, new: bool = False) -> None:
        """Adds rows to a table, or makes a new table of them."""
        with self._guarded():
            self._base.register("batch", rows)
            self._base.execute(f"CREATE TABLE {name} AS FROM batch" if new else f"INSERT INTO {name} FROM batch")
            self._base.unregister("batch")

    def batches(self, query: str) -> Iterator[Table]:
        """The rows of a query, at most BATCH at a time."""
        with self._guarded():
            cursor = self._base.cursor()  # so that other statements can run between two batches
            for batch in cursor.sql(query).to_arrow_reader(BATCH):
                yield self.arrow.Table.from_batches([batch])
            cursor.close()

    def two_columns(self, query: str) -> tuple[Ints, Ints]:
        """The rows of a query of two whole numbers."""
        with self._guarded():
            first, second = self._base.execute(query).fetchnumpy().values()
            return np.asarray(first, dtype=np.int64), np.asarray(second, dtype=np.int64)

    def _guarded(self) -> replacing:
        kinds = (self._error, self.arrow.ArrowException, OSError)  # Arrow reports DuckDB's errors as its own
        return replacing(kinds, lambda _: EngineError(self._failure))


def load() -> tuple[ModuleType, ModuleType]:
    """The packages duckdb and pyarrow; MissingExtra if they are not installed."""
    try:
        import duckdb
        import pyarrow
    except ImportError:
        raise_alone(
            MissingExtra(
                f"the duckdb engine needs duckdb and pyarrow, which are not installed; {install_command('duckdb')}"
            )
        )
    return duckdb, pyarrow

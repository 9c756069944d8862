"""A ledger in one SQLite file, on a local disk, because file locks of network disks cannot be trusted.

A charge takes the write lock before it reads (BEGIN IMMEDIATE), so two processes cannot both take the last budget,
and is on the disk when its transaction ends (write-ahead log, synchronous=FULL). A connection lasts for one
transaction: nothing is shared between threads or carried over a fork.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from cantle.errors import LedgerError, replacing
from cantle.trusted.ledger.store import Row, Sql, Store

PATIENCE = 120.0
"""Seconds to wait for other processes; their transactions take milliseconds."""

_WORDS = {
    "SQLITE_BUSY": "other processes kept it locked",
    "SQLITE_LOCKED": "other processes kept it locked",
    "SQLITE_FULL": "the disk is full",
    "SQLITE_READONLY": "it or its folder is read-only",
    "SQLITE_CANTOPEN": "it cannot be opened or made; check the path, its folder and their permissions",
    "SQLITE_PERM": "it cannot be opened; check its permissions",
    "SQLITE_NOTADB": "it is not a ledger",
    "SQLITE_CORRUPT": "it is damaged; restore it from a copy",
    "SQLITE_IOERR": "reading or writing it failed; check the disk",
}


class SqliteStore(Store):
    """The file at `path`."""

    address = "path"

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        self.where = str(self._path)

    @contextmanager
    def writing(self, *, create: bool = False) -> Iterator[Sql]:
        if create:
            self._make_file()
        else:
            self._require_file()
        with self._connected("rwc" if create else "rw") as connection:
            sql = self._runner(connection)
            sql("BEGIN IMMEDIATE")
            try:
                self._require_tables(sql, create=create)
                yield sql
                sql("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):  # SQLite may have rolled back by itself
                    connection.execute("ROLLBACK")
                raise

    @contextmanager
    def reading(self) -> Iterator[Sql]:
        self._require_file()
        with self._connected("rw") as connection:
            sql = self._runner(connection)
            sql("BEGIN")
            self._require_tables(sql)
            yield sql

    def _make_file(self) -> None:
        """Makes an empty file that only its owner can read, unless there is one; SQLite gives its log the same mode."""
        with suppress(OSError):  # then SQLite says why the file cannot be opened
            os.close(os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))

    def _require_file(self) -> None:
        if not os.path.exists(self._path):
            raise LedgerError(f"there is no ledger {self.where}; {self._fix()}")

    @contextmanager
    def _connected(self, mode: str) -> Iterator[sqlite3.Connection]:
        if self._path.is_dir():
            raise LedgerError(f"{self.where} is a folder; a ledger is a file: name one in it")
        address = f"{self._path.absolute().as_uri()}?mode={mode}"
        with self._guarded():
            connection = sqlite3.connect(address, uri=True, timeout=PATIENCE, isolation_level=None)
        with closing(connection):
            with self._guarded():
                self._log_ahead(connection)
                connection.execute("PRAGMA synchronous=FULL")
            yield connection

    def _guarded(self) -> replacing:
        """Replaces the library's errors."""

        def ours(error: BaseException) -> LedgerError:
            kind = getattr(error, "sqlite_errorname", "") or type(error).__name__
            words = next((text for start, text in _WORDS.items() if kind.startswith(start)), "SQLite refused")
            return LedgerError(f"cannot use the ledger {self.where}: {words} ({kind})")

        return replacing(sqlite3.Error, ours)

    def _runner(self, connection: sqlite3.Connection) -> Sql:
        def sql(statement: str, *values: str | int | None) -> list[Row]:
            with self._guarded():
                return connection.execute(statement, values).fetchall()

        return sql

    def _log_ahead(self, connection: sqlite3.Connection) -> None:
        """Switches a new file to the write-ahead log; SQLite itself does not wait for this if the file is locked."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                mode = connection.execute("PRAGMA journal_mode").fetchone()[0]
                if mode != "wal":
                    mode = connection.execute("PRAGMA journal_mode=WAL").fetchone()[0]
                break
            except sqlite3.OperationalError as error:
                if not error.sqlite_errorname.startswith("SQLITE_BUSY") or time.monotonic() > deadline:
                    raise
                time.sleep(0.02)
        if mode != "wal":
            raise LedgerError(f"{self.where}: this disk has no write-ahead log; keep the ledger on a local disk")

    def _has_tables(self, sql: Sql) -> bool:
        names = {name for (name,) in sql("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if names and "cantle_ledger" not in names:
            raise LedgerError(f"{self.where} is a database of another program; give the ledger a file of its own")
        return bool(names)

"""A ledger in a PostgreSQL database, for curators on more than one machine. Needs the extra `postgres`.

Writers take one advisory lock before they read, so that two processes cannot both take the last budget. Isolation is
READ COMMITTED, whatever the server's default, because the statements after the lock must see what was committed while
they waited for it. A commit waits for the server's disk (synchronous_commit), and a server that does not write through
to its disk (fsync=off) is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from cantle.errors import LedgerError, MissingExtra, install_command, raise_alone, replacing
from cantle.trusted.ledger.store import Row, Sql, Store

if TYPE_CHECKING:
    from psycopg import Connection

SCHEMES = ("postgresql://", "postgres://")
PATIENCE = 120
"""Seconds to wait for other writers; their transactions take milliseconds."""
_LOCK = 0x63616E746C65  # "cantle", the number of the advisory lock


class PostgresStore(Store):
    """The database at a URL; keep the password in PGPASSWORD or a password file rather than in the URL."""

    def __init__(self, url: str) -> None:
        self._url = url
        try:
            import psycopg
            from psycopg.conninfo import conninfo_to_dict
        except ImportError:
            raise_alone(
                MissingExtra(
                    f"a ledger in PostgreSQL needs psycopg, which is not installed; {install_command('postgres')}"
                )
            )
        try:
            parts = conninfo_to_dict(url)
        except psycopg.ProgrammingError:
            raise_alone(LedgerError("the ledger's URL is not of the form postgresql://user@host:port/database"))
        host = parts.get("host") or "localhost"
        self.where = f"PostgreSQL database {parts.get('dbname') or '(default)'} at {host}"

    @contextmanager
    def writing(self, *, create: bool = False) -> Iterator[Sql]:
        with self._transaction("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE") as sql:
            sql("SET LOCAL synchronous_commit = on")
            sql(f"SET LOCAL lock_timeout = '{PATIENCE}s'")
            if sql("SHOW fsync") != [("on",)]:
                raise LedgerError(f"{self.where} runs with fsync=off: a charge could be lost; switch fsync on")
            sql(f"SELECT pg_advisory_xact_lock({_LOCK})")
            self._require_tables(sql, create=create)
            yield sql

    @contextmanager
    def reading(self) -> Iterator[Sql]:
        with self._transaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY") as sql:
            self._require_tables(sql)
            yield sql

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[Sql]:
        """One connection and one transaction, committed at the end and undone if anything raises."""
        import psycopg

        with self._guarded():
            connection = psycopg.connect(self._url, autocommit=True, connect_timeout=30)
        with closing(connection):
            sql = self._runner(connection)
            sql(begin)
            yield sql
            sql("COMMIT")  # if this is not reached, closing the connection undoes everything

    def _guarded(self) -> replacing:
        """Replaces the library's errors, whose message may quote the URL, which may hold a password."""
        import psycopg

        def ours(error: BaseException) -> LedgerError:
            kind = f"{type(error).__name__} {getattr(error, 'sqlstate', None) or ''}".strip()
            rule = f"cannot use the ledger in {self.where} ({kind})"
            return LedgerError(f"{rule}; check the URL, the server and its permissions")

        return replacing(psycopg.Error, ours)

    def _has_tables(self, sql: Sql) -> bool:
        return sql("SELECT to_regclass('cantle_ledger') IS NULL") == [(False,)]

    def _runner(self, connection: Connection) -> Sql:
        def sql(statement: str, *values: str | int | None) -> list[Row]:
            with self._guarded():
                cursor = connection.execute(statement.replace("?", "%s"), values)
                return cursor.fetchall() if cursor.description else []

        return sql

"""Temporary tables of a database behind ibis: made, filled, read and dropped in plain SQL. Needs `database`.

They hold private codes and end with the connection. A database's errors may quote values, so every statement replaces
them by one fixed message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cantle.errors import EngineError, replacing
from cantle.trusted.geometry.boxes import Ints

if TYPE_CHECKING:
    from ibis.backends import BaseBackend
    from ibis.expr.types import IntegerValue, Table


class TemporaryTables:
    """The temporary tables of one engine on its connection."""

    def __init__(self, backend: BaseBackend) -> None:
        import ibis

        self.ibis, self.backend = ibis, backend

    def new_name(self, what: str) -> str:
        """A name that nothing else has, because other engines may use the same connection."""
        return str(self.ibis.util.gen_name(f"cantle_{what}"))

    def keep(self, table: Table) -> Table:
        """The rows of an expression in a temporary table."""
        name = self.new_name("part")
        self.run(f"CREATE TEMPORARY TABLE {name} AS {self._compiled(table)}")
        return self.ibis.table(table.schema(), name=name)

    def drop(self, table: Table | None) -> None:
        if table is not None:
            self.run(f"DROP TABLE {table.get_name()}")

    def listed(self, table: Table, entry: IntegerValue) -> tuple[Ints, Ints]:
        """The entries that occur, ascending, and how often."""
        exact_rows = self.fetch(table.select(entry=entry).group_by("entry").agg(n=lambda grouped: grouped.count()))
        order = np.argsort(exact_rows[:, 0])
        return exact_rows[order, 0], exact_rows[order, 1]

    def fetch(self, table: Table) -> Ints:
        """The rows of an expression of integers."""
        statement = self._compiled(table)
        with self.guarded():
            cursor = self.backend.raw_sql(statement)
            rows = cursor.fetchall()
            self._end(cursor)
        return np.array(rows, dtype=np.int64).reshape(len(rows), len(table.columns))

    def run(self, statement: str) -> None:
        """Runs a statement that returns nothing."""
        with self.guarded():
            self._end(self.backend.raw_sql(statement))

    def guarded(self) -> replacing:
        """Replaces all errors, because every backend has exceptions of its own."""
        why = "it is gone, out of room, or temporary tables are not allowed; look at its log and grant TEMPORARY"
        return replacing(Exception, lambda _: EngineError(f"the database failed: {why}"))

    def _compiled(self, table: Table) -> str:
        with self.guarded():
            return str(self.backend.compile(table))

    def _end(self, cursor: object) -> None:
        """Closes a cursor; some backends return the connection itself."""
        if cursor is not getattr(self.backend, "con", None) and hasattr(cursor, "close"):
            cursor.close()

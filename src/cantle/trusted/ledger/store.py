"""What a place for ledgers must provide, its tables, and the checks that all places share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, ClassVar, TypeAlias

from cantle.errors import LedgerError

FORM = 1  # version of the tables below

# Whole numbers are nano-units of epsilon or count from 1, data set by data set; times are UTC, for people only.
TABLES = (
    "CREATE TABLE cantle_ledger (form BIGINT NOT NULL)",
    f"INSERT INTO cantle_ledger (form) VALUES ({FORM})",
    "CREATE TABLE cantle_dataset (name TEXT PRIMARY KEY, unit TEXT)",
    "CREATE TABLE cantle_cap (dataset TEXT NOT NULL, number BIGINT NOT NULL, time TEXT NOT NULL,"
    " cap_nano BIGINT NOT NULL CHECK (cap_nano > 0), PRIMARY KEY (dataset, number))",
    "CREATE TABLE cantle_release (dataset TEXT NOT NULL, sequence BIGINT NOT NULL, time TEXT NOT NULL,"
    " epsilon_nano BIGINT NOT NULL CHECK (epsilon_nano > 0), unit TEXT NOT NULL, method TEXT NOT NULL,"
    " parameters TEXT NOT NULL, guarantee TEXT NOT NULL, software TEXT NOT NULL, sha256 TEXT,"
    " PRIMARY KEY (dataset, sequence))",
)

Row: TypeAlias = tuple[Any, ...]
"""One row, of the types that the tables above and the statement fix."""

Sql: TypeAlias = Callable[..., list[Row]]
"""Runs one statement with `?` for its values, and returns the rows."""


class Store(ABC):
    """A place for the tables. Every failure is raised as LedgerError, and nothing is half written."""

    where: str
    """The place in words for messages, without a password."""

    address: ClassVar[str] = "URL"
    """What commands about this kind of place are given."""

    @abstractmethod
    def writing(self, *, create: bool = False) -> AbstractContextManager[Sql]:
        """A transaction that no other `writing` overlaps, durable when it ends, undone if it raises.

        With `create` it makes the tables if the place is empty; without, it refuses a place without a ledger and
        makes nothing, so that a misspelt place opens no second account. It refuses tables of another form.
        """

    @abstractmethod
    def reading(self) -> AbstractContextManager[Sql]:
        """A transaction that sees one moment; refuses a place without a ledger, and makes nothing."""

    @abstractmethod
    def _has_tables(self, sql: Sql) -> bool:
        """Whether the ledger's tables exist; refuses a database of another program."""

    def _require_tables(self, sql: Sql, *, create: bool = False) -> None:
        """Refuses a place without a ledger, or makes its tables; refuses tables of another form."""
        if not self._has_tables(sql):
            if not create:
                raise LedgerError(f"{self.where} holds no ledger; {self._fix()}")
            for statement in TABLES:
                sql(statement)
        if sql("SELECT form FROM cantle_ledger") != [(FORM,)]:
            raise LedgerError(f"{self.where} was written by another version of cantle; use that version")

    def _fix(self) -> str:
        """The commands that make a ledger, for messages about a place without one."""
        given = "URL" if self.address == "URL" else self.where
        return (
            f"correct the {self.address}, or make it with `cantle ledger create --ledger {given}`, "
            f"or together with a cap: `cantle ledger cap N --ledger {given} --dataset NAME`"
        )

"""The ledger across releases: for each data set a cap, a unit, and every charge with its release.

Releases of one data set cost the sum of their epsilons, even if a later one is chosen after seeing an earlier one
(sequential composition). So a release is charged, durably, before its data is opened; a run that crashes stays charged;
a charge that would pass the cap is refused; epsilons of different units do not add up and are refused too. The curator
decides what a data set is: the ledger identifies it by its name. Nothing in the ledger comes from the data, except the
hash of what was released. Names, caps, epsilons and times are public: a release lists the earlier ones.

An entry has one of two states: *charged, no release recorded* (its run continues, crashed, or was never saved) and
*released*, when the hash of its release.json is known. Entries are ordered by number, never by time: clocks jump.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction

from cantle.errors import CapExceeded, LedgerError, ParameterError
from cantle.trusted.core.budget import MOST, nano_of, words_of
from cantle.trusted.ledger.postgres import SCHEMES, PostgresStore
from cantle.trusted.ledger.sqlite import SqliteStore
from cantle.trusted.ledger.store import Sql, Store

_NAME = re.compile(r"\w(?:[\w .:/-]{0,98}\w)?")
_HASH = re.compile(r"[0-9a-f]{64}")
UNRECORDED = "charged, no release recorded"
_COLUMNS = "sequence, time, epsilon_nano, unit, method, parameters, guarantee, software, sha256"


PUBLIC = ("sequence", "time", "method", "epsilon_nano", "guarantee", "sha256")
"""What a release lists about each earlier release of the data set."""


@dataclass(frozen=True)
class Entry:
    """One charge: its number in the data set, what it paid for, and the hash of the release once there is one."""

    sequence: int
    time: str
    epsilon_nano: int
    unit: str
    method: str
    parameters: str
    guarantee: str
    software: str
    sha256: str | None

    @property
    def state(self) -> str:
        return UNRECORDED if self.sha256 is None else "released"

    def to_dict(self) -> dict[str, object]:
        """The entry as a dictionary, with its state in words."""
        fields = {**vars(self), "epsilon": words_of(self.epsilon_nano), "parameters": json.loads(self.parameters)}
        return fields | {"state": self.state}

    def public(self) -> dict[str, object]:
        """The entry as later releases of the data set list it."""
        return {name: getattr(self, name) for name in PUBLIC}


@dataclass(frozen=True)
class Account:
    """A data set at one moment: its charges, and its caps (time, nano-units), of which the last one counts."""

    dataset: str
    unit: str | None
    caps: tuple[tuple[str, int], ...]
    entries: tuple[Entry, ...]

    @property
    def cap_nano(self) -> int | None:
        return self.caps[-1][1] if self.caps else None

    @property
    def spent_nano(self) -> int:
        return sum(entry.epsilon_nano for entry in self.entries)

    @property
    def left_nano(self) -> int | None:
        """What may still be spent; None without a cap, 0 if the cap was lowered below what is spent."""
        return None if self.cap_nano is None else max(0, self.cap_nano - self.spent_nano)

    def to_dict(self) -> dict[str, str | int | None]:
        """The account as a dictionary; epsilons as decimal text and as whole nano-units."""
        sums = {"cap": self.cap_nano, "spent": self.spent_nano, "left": self.left_nano}
        return {
            "dataset": self.dataset,
            "unit": self.unit,
            **{name: None if nano is None else words_of(nano) for name, nano in sums.items()},
            **{f"{name}_nano": nano for name, nano in sums.items()},
            "charges": len(self.entries),
            "releases": sum(entry.sha256 is not None for entry in self.entries),
            "unrecorded": sum(entry.sha256 is None for entry in self.entries),
        }


class Ticket:
    """A paid charge: what the release states about it, and where its hash is recorded once it is saved."""

    def __init__(self, ledger: Ledger, account: Account) -> None:
        self._ledger, self._dataset, own = ledger, account.dataset, account.entries[-1]
        self._sequence = own.sequence
        self.line: dict[str, object] = {
            "dataset": account.dataset,
            "sequence": own.sequence,
            "time": own.time,
            "cap_nano": account.cap_nano,
            "spent_nano": account.spent_nano,
            "earlier": [entry.public() for entry in account.entries[:-1]],
        }

    def record(self, sha256: str) -> None:
        """Records the hash of the saved release; the first one stays if it is saved again in another form."""
        self._ledger.record(self._dataset, self._sequence, sha256)


class Ledger:
    """What each data set has spent across releases, and the most that it may ever spend.

    Each call opens and closes the ledger.

    Parameters
    ----------
    where : path or URL
        A SQLite file, or a postgresql:// URL.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = Ledger(os.path.join(folder, "ledger.db"))
    ...     account = ledger.cap("patients", 3)
    ...     account.cap_nano, account.spent_nano, len(ledger.accounts())
    (3000000000, 0, 1)
    """

    def __init__(self, where: str | os.PathLike[str]) -> None:
        if not isinstance(where, str | os.PathLike) or not os.fspath(where):
            raise ParameterError("ledger must be a file or a postgresql:// URL; for example --ledger ledger.db")
        is_url = isinstance(where, str) and where.startswith(SCHEMES)
        self._store: Store = PostgresStore(str(where)) if is_url else SqliteStore(where)

    def __repr__(self) -> str:
        return f"Ledger({self._store.where!r})"

    def create(self) -> None:
        """Makes the ledger; an existing one stays as it is. Only this and `cap` make a ledger, so that a charge to a
        misspelt place does not open a second account."""
        with self._store.writing(create=True):
            pass

    def charge(
        self,
        dataset: str,
        *,
        epsilon_nano: int,
        unit: str,
        method: str,
        parameters: Mapping[str, object],
        guarantee: str,
        software: str,
    ) -> Ticket:
        """Charges epsilon to the data set, durably, or raises and charges nothing. The first charge fixes the unit. The
        ledger must exist (`create`, `cap`).

        A new data set needs no cap as long as no other data set in the ledger has one: if caps are used, a misspelt
        name must not open a new account.
        """
        name = check_name(dataset)
        if type(epsilon_nano) is not int or not 0 < epsilon_nano <= MOST:
            raise ParameterError("a charge is a positive whole number of nano-units of epsilon")
        settings = json.dumps(parameters, sort_keys=True)
        with self._store.writing() as sql:
            before = _account(sql, name)
            self._check(sql, before, epsilon_nano, unit)
            sql("INSERT INTO cantle_dataset (name) VALUES (?) ON CONFLICT (name) DO NOTHING", name)
            sql("UPDATE cantle_dataset SET unit = ? WHERE name = ? AND unit IS NULL", unit, name)
            row = (len(before.entries) + 1, now(), epsilon_nano, unit, method, settings, guarantee, software, None)
            sql(f"INSERT INTO cantle_release (dataset, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", name, *row)
            after = _account(sql, name)
        return Ticket(self, after)

    def _check(self, sql: Sql, account: Account, epsilon_nano: int, unit: str) -> None:
        """Refuses a charge that would pass the cap, mix units, or open an account by mistake."""
        name, where = account.dataset, self._store.where
        if account.cap_nano is None and not account.entries and sql("SELECT 1 FROM cantle_cap LIMIT 1"):
            known = ", ".join(repr(other) for (other,) in sql("SELECT name FROM cantle_dataset ORDER BY name"))
            raise LedgerError(
                f"the ledger {where} does not know data set {name!r}, it knows {known}; "
                f"correct the name, or give it a cap: cantle ledger cap N --ledger {where} --dataset {name!r}"
            )
        if account.unit not in (None, unit):
            raise LedgerError(
                f"data set {name!r} is accounted for {account.unit!r}, this release would protect {unit!r}; "
                "epsilons of different units do not add up: publish with the unit of the data set"
            )
        if [entry.sequence for entry in account.entries] != list(range(1, len(account.entries) + 1)):
            raise LedgerError(
                f"entries of data set {name!r} are missing from the ledger {where}; restore it from a copy"
            )
        left = account.left_nano
        if left is not None and epsilon_nano > left:
            raise CapExceeded(
                f"data set {name!r} has epsilon {words_of(left)} left of its cap {words_of(account.cap_nano or 0)}, "
                f"this release needs {words_of(epsilon_nano)}; lower epsilon, or let whoever is responsible "
                "raise the cap (cantle ledger cap)"
            )
        if account.spent_nano + epsilon_nano > MOST:
            raise CapExceeded(f"data set {name!r} would have spent more than epsilon {words_of(MOST)} in all")

    def record(self, dataset: str, sequence: int, sha256: str) -> None:
        """Records the hash of the release that a charge paid for; the first one stays."""
        if not isinstance(sha256, str) or not _HASH.fullmatch(sha256):
            raise ParameterError("the hash of a release is a sha256 in hex")
        name = check_name(dataset)
        with self._store.writing() as sql:
            if not sql("SELECT 1 FROM cantle_release WHERE dataset = ? AND sequence = ?", name, sequence):
                raise LedgerError(f"the ledger {self._store.where} has no charge {sequence} of data set {name!r}")
            first = "UPDATE cantle_release SET sha256 = ? WHERE dataset = ? AND sequence = ? AND sha256 IS NULL"
            sql(first, sha256, name, sequence)

    def cap(self, dataset: str, epsilon: float | str | Fraction) -> Account:
        """Sets the largest total that the data set may ever spend; earlier charges stay, whatever the cap. Makes the
        ledger if it does not exist."""
        name, nano = check_name(dataset), nano_of(epsilon, "a cap of 3")
        with self._store.writing(create=True) as sql:
            number = len(_account(sql, name).caps) + 1
            sql("INSERT INTO cantle_dataset (name) VALUES (?) ON CONFLICT (name) DO NOTHING", name)
            row = (name, number, now(), nano)
            sql("INSERT INTO cantle_cap (dataset, number, time, cap_nano) VALUES (?, ?, ?, ?)", *row)
            return _account(sql, name)

    def account(self, dataset: str) -> Account:
        """The account of a data set; refused if the ledger does not have it."""
        name, known = check_name(dataset), {account.dataset: account for account in self.accounts()}
        if name not in known:
            others = ", ".join(map(repr, known)) or "none"
            raise LedgerError(f"the ledger {self._store.where} does not know data set {name!r}; it knows {others}")
        return known[name]

    def accounts(self) -> list[Account]:
        """All data sets, by name."""
        with self._store.reading() as sql:
            names = [name for (name,) in sql("SELECT name FROM cantle_dataset")]
            return [_account(sql, name) for name in sorted(names)]


def _account(sql: Sql, name: str) -> Account:
    """The current state of the data set; without cap, unit and entries if the ledger does not have it."""
    unit = sql("SELECT unit FROM cantle_dataset WHERE name = ?", name)
    caps = sql("SELECT time, cap_nano FROM cantle_cap WHERE dataset = ? ORDER BY number", name)
    rows = sql(f"SELECT {_COLUMNS} FROM cantle_release WHERE dataset = ? ORDER BY sequence", name)
    return Account(
        dataset=name,
        unit=unit[0][0] if unit else None,
        caps=tuple((time, nano) for time, nano in caps),
        entries=tuple(Entry(*row) for row in rows),
    )


def check_name(dataset: object) -> str:
    """The name of a data set; refused if it cannot be one.

    >>> check_name("patients 2024")
    'patients 2024'
    """
    if not isinstance(dataset, str) or not _NAME.fullmatch(dataset):
        raise ParameterError(
            f"dataset must be a name of up to 100 letters, digits, spaces and . : / - _ , got {dataset!r}; "
            "for example --dataset patients"
        )
    return dataset


def now() -> str:
    """The time in UTC, in seconds; informational only."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

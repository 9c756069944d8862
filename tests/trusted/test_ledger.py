"""The ledger across releases: SQLite files and PostgreSQL behave alike, and `publish` charges before it reads data."""

from __future__ import annotations

import os
import pickle
import sqlite3
import sys
from dataclasses import asdict
from pathlib import Path
from threading import Thread
from time import sleep
from typing import Any

import polars as pl
import pytest

import cantle
from cantle.errors import CapExceeded, DataError, LedgerError, MissingExtra, OutputError, ParameterError
from cantle.release.verify import verify_folder
from cantle.trusted.ledger import UNRECORDED, Ledger, Ticket
from cantle.trusted.ledger.sqlite import SqliteStore
from tests.release.people import SCHEMA, people

HASH = "0123456789abcdef" * 4


@pytest.fixture(params=["sqlite", "postgres"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a new ledger."""
    address = str(tmp_path / "ledger.db") if request.param == "sqlite" else database(request.getfixturevalue("server"))
    Ledger(address).create()
    return address


@pytest.fixture(params=["sqlite", "postgres"])
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An address where no ledger was created."""
    return str(tmp_path / "none.db") if request.param == "sqlite" else database(request.getfixturevalue("server"))


def created(path: Path) -> Ledger:
    """A new ledger in a file."""
    ledger = Ledger(path)
    ledger.create()
    return ledger


def database(url: str, *settings: str) -> str:
    """The address of the server's database of ledgers, which is emptied and gets these settings."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        if not connection.execute("SELECT 1 FROM pg_database WHERE datname = 'ledgers'").fetchall():
            connection.execute("CREATE DATABASE ledgers")
        connection.execute("ALTER DATABASE ledgers RESET ALL")
        for setting in settings:
            connection.execute(f"ALTER DATABASE ledgers SET {setting}")
    address = url.replace("///postgres", "///ledgers")
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
    return address


def set_on_server(url: str, setting: str, value: str) -> None:
    """Changes a setting while the server runs, and waits until new connections have it."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"ALTER SYSTEM SET {setting} = {value}")
        connection.execute("SELECT pg_reload_conf()")
    for _ in range(200):
        with psycopg.connect(url) as connection:
            if connection.execute(f"SHOW {setting}").fetchone() == (value,):
                return
        sleep(0.01)
    raise AssertionError(f"the server did not take {setting}={value}")


def charge(ledger: Ledger, name: str = "patients", nano: int = 100_000_000, unit: str = "one record") -> Ticket:
    return ledger.charge(
        name,
        epsilon_nano=nano,
        unit=unit,
        method="rps",
        parameters={"depth": 3},
        guarantee="pure epsilon-differential privacy",
        software="cantle 0",
    )


# ----------------------------------------------------------------------------------------------- both stores


def test_charges_add_up_to_the_cap_and_no_further(where: str) -> None:
    ledger = Ledger(where)
    ledger.cap("patients", "0.3")
    charge(ledger, nano=100_000_000)
    charge(ledger, nano=200_000_000)  # exactly: 0.1 + 0.2 is 0.3
    with pytest.raises(CapExceeded, match=r"epsilon 0 left of its cap 0\.3"):
        charge(ledger, nano=1)
    account = ledger.account("patients")
    assert (account.spent_nano, account.left_nano, account.cap_nano) == (300_000_000, 0, 300_000_000)
    assert [entry.sequence for entry in account.entries] == [1, 2]


def test_an_entry_holds_the_charge_and_the_hash_of_its_release(where: str) -> None:
    ledger = Ledger(where)
    first, second = charge(ledger), charge(ledger, nano=5)
    second.record(HASH)
    second.record("f" * 64)  # saved again in another form
    first_entry, second_entry = ledger.account("patients").entries
    assert (first_entry.state, second_entry.state, second_entry.sha256) == (UNRECORDED, "released", HASH)
    assert first_entry.to_dict()["parameters"] == {"depth": 3}
    assert (second_entry.method, second_entry.epsilon_nano, second_entry.unit, second_entry.software) == (
        "rps",
        5,
        "one record",
        "cantle 0",
    )
    assert first.line["earlier"] == []
    assert second.line["earlier"] == [first_entry.public()]
    assert second.line["spent_nano"] == 100_000_005
    assert ledger.account("patients").to_dict()["unrecorded"] == 1


def test_units_are_not_mixed(where: str) -> None:
    ledger = Ledger(where)
    charge(ledger)
    with pytest.raises(LedgerError, match="'one record'.*'one edge'"):
        charge(ledger, unit="one edge")
    charge(ledger, name="network", unit="one edge")
    assert [account.unit for account in ledger.accounts()] == ["one edge", "one record"]
    assert ledger.account("patients").spent_nano == 100_000_000


def test_once_a_cap_is_set_a_misspelt_name_opens_no_account(where: str) -> None:
    ledger = Ledger(where)
    charge(ledger, name="old")  # no caps yet
    ledger.cap("patients", 1)
    with pytest.raises(LedgerError, match="'patient'.*'old', 'patients'"):
        charge(ledger, name="patient")
    charge(ledger, name="old")
    assert [account.dataset for account in ledger.accounts()] == ["old", "patients"]


def test_a_cap_can_be_changed_and_its_history_is_kept(where: str) -> None:
    ledger = Ledger(where)
    ledger.cap("patients", 1)
    charge(ledger, nano=10**9)
    assert ledger.cap("patients", "0.5").left_nano == 0
    with pytest.raises(CapExceeded, match="epsilon 0 left"):
        charge(ledger, nano=1)
    assert ledger.cap("patients", 2).left_nano == 10**9
    charge(ledger, nano=10**9)
    assert [nano for _, nano in ledger.account("patients").caps] == [10**9, 5 * 10**8, 2 * 10**9]


def test_entries_are_ordered_by_number_whatever_the_clock_says(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = Ledger(where)
    ledger.cap("patients", 1)
    for time in ("2031-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "2024-02-29T23:59:60Z"):
        monkeypatch.setattr("cantle.trusted.ledger.now", lambda time=time: time)
        ledger.cap("patients", 1)
        charge(ledger)
    account = ledger.account("patients")
    assert [(e.sequence, e.time[:4]) for e in account.entries] == [(1, "2031"), (2, "1970"), (3, "2024")]
    assert account.left_nano == 700_000_000


def test_no_data_set_spends_more_than_epsilon_one_million(where: str) -> None:
    ledger = Ledger(where)
    charge(ledger, nano=10**15)
    with pytest.raises(CapExceeded, match="more than epsilon 1000000 in all"):
        charge(ledger, nano=1)


def test_a_misspelt_address_opens_no_ledger(empty: str, tmp_path: Path) -> None:
    """A new ledger would have no caps, so every question is refused with the fix, and no file is created."""
    ledger = Ledger(empty)
    for ask in (
        ledger.accounts,
        lambda: ledger.account("patients"),
        lambda: charge(ledger),
        lambda: ledger.record("patients", 1, HASH),
        lambda: cantle.publish(Trap(), SCHEMA, epsilon=1, ledger=empty, dataset="patients"),
    ):
        with pytest.raises(LedgerError, match="no ledger.*cantle ledger create"):
            ask()
    assert list(tmp_path.iterdir()) == []
    ledger.create()
    assert ledger.accounts() == []
    charge(ledger)
    ledger.create()  # creating it again changes nothing
    assert ledger.account("patients").spent_nano == 100_000_000


def test_setting_a_cap_creates_the_ledger(empty: str) -> None:
    Ledger(empty).cap("patients", 1)
    assert charge(Ledger(empty)).line["cap_nano"] == 10**9


@pytest.mark.skipif(os.name != "posix", reason="modes of files are those of POSIX")
def test_a_ledger_file_and_its_log_are_readable_by_their_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    Ledger(path).cap("patients", 3)
    with sqlite3.connect(path) as connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("UPDATE cantle_dataset SET unit = 'record'")
        modes = {one.name: one.stat().st_mode & 0o777 for one in tmp_path.iterdir()}
    connection.close()
    assert modes == dict.fromkeys(("ledger.db", "ledger.db-wal", "ledger.db-shm"), 384)
    path.chmod(0o660)  # whoever shares a ledger with a group may do so
    Ledger(path).cap("patients", 4)
    assert path.stat().st_mode & 0o777 == 0o660


def test_unknown_data_sets_and_charges_are_refused(where: str) -> None:
    ledger = Ledger(where)
    ledger.cap("patients", 1)
    with pytest.raises(LedgerError, match="'people'.*'patients'"):
        ledger.account("people")
    with pytest.raises(LedgerError, match="has no charge 7"):
        ledger.record("patients", 7, HASH)


@pytest.mark.parametrize("name", ["", " a", "a\n", "a|b", "x" * 101, 5, None, "`a`"])
def test_bad_names_of_data_sets_are_refused(name: Any, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="dataset must be a name"):
        Ledger(tmp_path / "l.db").cap(name, 1)


def test_bad_arguments_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="ledger must be a file"):
        Ledger("")
    ledger = Ledger(tmp_path / "l.db")
    with pytest.raises(ParameterError, match="whole number of nano-units"):
        charge(ledger, nano=0)
    with pytest.raises(ParameterError, match="epsilon must be"):
        ledger.cap("patients", -1)
    with pytest.raises(ParameterError, match="sha256 in hex"):
        ledger.record("patients", 1, "abc")
    assert list(tmp_path.iterdir()) == []


def test_threads_cannot_both_take_the_last_budget(where: str) -> None:
    ledger = Ledger(where)
    ledger.cap("patients", "0.35")
    refused = []

    def take() -> None:
        try:
            charge(ledger)
        except CapExceeded:
            refused.append(1)

    threads = [Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(refused), ledger.account("patients").spent_nano) == (5, 300_000_000)


# --------------------------------------------------------------------------------------------------- SQLite


def test_the_file_has_a_write_ahead_log(tmp_path: Path) -> None:
    charge(created(tmp_path / "l.db"))
    assert (tmp_path / "l.db").read_bytes()[18:20] == b"\x02\x02"  # file format versions: write-ahead log


def test_a_path_may_have_odd_characters(tmp_path: Path) -> None:
    path = tmp_path / "100% odd #?&.db"
    charge(created(path))
    assert path.is_file()


def test_folders_and_other_files_are_no_ledgers(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="is a folder"):
        charge(Ledger(tmp_path))
    with pytest.raises(LedgerError, match="cannot be opened or made"):
        Ledger(tmp_path / "no" / "l.db").create()
    (tmp_path / "text.db").write_text("this is not a ledger, it is a text that is long enough to have a header" * 20)
    with pytest.raises(LedgerError, match="it is not a ledger"):
        charge(Ledger(tmp_path / "text.db"))
    (tmp_path / "empty.db").touch()
    for ask in (Ledger(tmp_path / "empty.db").accounts, lambda: charge(Ledger(tmp_path / "empty.db"))):
        with pytest.raises(LedgerError, match="holds no ledger"):
            ask()
    with sqlite3.connect(tmp_path / "other.db") as other:
        other.execute("CREATE TABLE songs (title TEXT)")
    other.close()
    with pytest.raises(LedgerError, match="a database of another program"):
        charge(Ledger(tmp_path / "other.db"))


def _changed(path: Path, statement: str) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute(statement)
    connection.close()


def test_a_damaged_ledger_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "l.db"
    created(path)
    for _ in range(12):
        charge(Ledger(path))
    _changed(path, "DELETE FROM cantle_release WHERE sequence = 7")
    with pytest.raises(LedgerError, match="'patients' are missing"):
        charge(Ledger(path))
    _changed(path, "UPDATE cantle_ledger SET form = 2")
    with pytest.raises(LedgerError, match="another version"):
        charge(Ledger(path))
    whole = path.read_bytes()
    path.write_bytes(whole[:100] + b"\xff" * (len(whole) - 100))
    with pytest.raises(LedgerError, match="damaged"):
        charge(Ledger(path))


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
def test_a_read_only_folder_is_refused(tmp_path: Path) -> None:
    """Root may write anywhere, so a test that runs as root becomes the user nobody for a while."""
    folder = tmp_path / "fixed"
    folder.mkdir()
    charge(created(folder / "l.db"))
    for path in (*tmp_path.parents, tmp_path):
        if path.stat().st_uid == os.geteuid() and path.stat().st_mode & 0o777 == 0o700:
            path.chmod(0o711)
    folder.chmod(0o555)
    (folder / "l.db").chmod(0o444)
    release = cantle.publish(people(20), SCHEMA, epsilon=1)
    was_root = os.geteuid() == 0
    try:
        if was_root:
            os.seteuid(65534)
        with pytest.raises(LedgerError, match="read-only|cannot be opened"):
            charge(Ledger(folder / "l.db"))
        with pytest.raises(LedgerError, match="cannot be opened"):
            Ledger(folder / "new.db").create()
        with pytest.raises(OutputError, match="cannot write in"):
            release.save(folder / "out")
    finally:
        if was_root:
            os.seteuid(0)
    folder.chmod(0o755)
    assert [path.name for path in folder.iterdir()] == ["l.db"]
    (folder / "l.db").chmod(0o644)
    assert len(Ledger(folder / "l.db").account("patients").entries) == 1


class Disk:
    """A stand-in for a connection to a file that is locked for the first `locked` statements and has a journal mode."""

    def __init__(self, locked: int, mode: str) -> None:
        self.locked, self.mode = locked, mode

    def execute(self, statement: str) -> Disk:  # noqa: ARG002
        if self.locked:
            self.locked -= 1
            error = sqlite3.OperationalError("database is locked")
            error.sqlite_errorname = "SQLITE_BUSY_RECOVERY"
            raise error
        return self

    def fetchone(self) -> tuple[str]:
        return (self.mode,)


def test_a_file_is_switched_to_the_write_ahead_log_or_refused(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "l.db")
    locked: Any = Disk(2, "wal")
    store._log_ahead(locked)
    assert locked.locked == 0
    without: Any = Disk(0, "delete")
    with pytest.raises(LedgerError, match="no write-ahead log"):
        store._log_ahead(without)


# ----------------------------------------------------------------------------------------------- PostgreSQL


@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
def test_the_servers_isolation_level_changes_nothing(server: str, level: str) -> None:
    settings = (f"default_transaction_isolation = '{level}'", "synchronous_commit = off")
    test_threads_cannot_both_take_the_last_budget(database(server, *settings))


def test_a_database_of_another_version_is_refused(server: str) -> None:
    import psycopg

    url = database(server)
    Ledger(url).create()
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE cantle_ledger SET form = form + 1")
    for ask in (Ledger(url).accounts, lambda: charge(Ledger(url))):
        with pytest.raises(LedgerError, match="another version of cantle"):
            ask()


def test_a_server_with_fsync_off_is_refused(server: str) -> None:
    set_on_server(server, "fsync", "off")
    try:
        with pytest.raises(LedgerError, match="fsync=off"):
            charge(Ledger(server))
    finally:
        set_on_server(server, "fsync", "on")


def test_no_message_shows_the_password(tmp_path: Path) -> None:
    pytest.importorskip("psycopg")
    url = f"postgresql://curator:hunter2@/x?host={tmp_path}"
    with pytest.raises(LedgerError) as refused:
        charge(Ledger(url))
    assert "hunter2" not in str(refused.value) + repr(Ledger(url))
    with pytest.raises(LedgerError, match="not of the form") as odd:
        Ledger("postgresql://curator:hunter2@host:port/x?what=this")
    assert "hunter2" not in str(odd.value)


def test_without_psycopg_the_fix_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtra, match=r"pip install '\.\[postgres\]'"):
        Ledger("postgresql://localhost/x")


# -------------------------------------------------------------------------------------------------- publish


def test_a_release_lists_earlier_ones_and_is_recorded_when_saved(where: str, tmp_path: Path) -> None:
    Ledger(where).cap("people", 2)
    first = cantle.publish(people(), SCHEMA, epsilon=0.5, method="rps", ledger=where, dataset="people")
    second = cantle.publish(people(), SCHEMA, epsilon=0.25, ledger=Ledger(where), dataset="people")
    assert [entry.sha256 for entry in Ledger(where).account("people").entries] == [None, None]
    folder = second.save(tmp_path / "second")
    first.save(tmp_path / "first", data="parquet")
    first_entry, second_entry = Ledger(where).account("people").entries
    assert verify_folder(folder) == verify_folder(tmp_path / "first") == []
    again = cantle.Release.load(folder)
    assert again.manifest.sha256 == second_entry.sha256
    assert [asdict(entry) for entry in again.manifest.ledger.earlier] == [{**first_entry.public(), "sha256": None}]
    assert second_entry.to_dict()["parameters"] == again.manifest.parameters
    statement = (folder / "statement.md").read_text()
    assert "| 1 | " in statement
    assert "| rps | 0.5 | charged, no release recorded |" in statement
    assert "has spent epsilon 0.75; its cap is 2" in statement
    with pytest.raises(CapExceeded, match=r"epsilon 1\.25 left"):
        cantle.publish(people(), SCHEMA, epsilon=1.3, ledger=where, dataset="people")


class Trap:
    """Data that fails the test if anything is read from it."""

    def __getattribute__(self, name: str) -> Any:
        if name == "__class__":
            return Trap
        raise AssertionError(f"the data was touched ({name})")


def test_rows_sets_and_persons_of_other_columns_are_different_units(tmp_path: Path) -> None:
    """The rows of a long table and its sets are both records, but no epsilon holds for both."""
    rows = pl.DataFrame({"id": [1, 1, 2], "item": [1, 2, 1], "who": ["a", "a", "b"], "home": ["x", "x", "x"]})
    items = {"minimum": 1, "maximum": 2}
    table = {"fields": [{"name": "item", "type": "integer", "constraints": items}]}
    sets = {"kind": "sets", "items": items}
    persons = [{"unit": {"person": name, "max_records": 2}} for name in ("who", "home")]
    for number, (first, second) in enumerate([(table, sets), (table | persons[0], table | persons[1])]):
        account = {"ledger": created(tmp_path / f"{number}.db"), "dataset": "shop"}
        cantle.publish(rows, first, epsilon=1, **account)  # type: ignore[arg-type]
        with pytest.raises(LedgerError, match="epsilons of different units do not add up"):
            cantle.publish(rows, second, epsilon=1, **account)  # type: ignore[arg-type]
    cantle.publish(rows, sets | persons[1], epsilon=1, ledger=created(tmp_path / "3.db"), dataset="shop")
    cantle.publish(rows, table | persons[1], epsilon=1, ledger=tmp_path / "3.db", dataset="shop")


def test_the_data_is_not_touched_when_the_ledger_refuses(tmp_path: Path) -> None:
    where = tmp_path / "l.db"
    Ledger(where).cap("people", 1)
    with pytest.raises(CapExceeded):
        cantle.publish(Trap(), SCHEMA, epsilon=2, ledger=where, dataset="people")
    with pytest.raises(LedgerError):
        cantle.publish(Trap(), SCHEMA, epsilon=1, ledger=tmp_path, dataset="people")
    assert Ledger(where).account("people").entries == ()


def test_only_a_run_that_opens_the_data_is_charged(tmp_path: Path) -> None:
    paid = {"ledger": tmp_path / "l.db", "dataset": "people"}
    Ledger(tmp_path / "l.db").cap("people", 1)
    for refused, message in (
        ({"method": "magic"}, "use one of"),
        ({"engine": "abacus"}, "use one of"),
        ({"depht": 1}, "known"),
    ):
        with pytest.raises(ParameterError, match=message):
            cantle.publish(people(5), SCHEMA, epsilon=0.1, **paid, **refused)
    with pytest.raises(DataError, match="there is no file 'none.csv'"):
        cantle.publish(tmp_path / "none.csv", SCHEMA, epsilon=0.1, **paid)
    with pytest.raises(ParameterError, match="give both"):
        cantle.publish(people(5), SCHEMA, epsilon=0.1, dataset="people")
    assert Ledger(tmp_path / "l.db").account("people").entries == ()
    (tmp_path / "short.csv").write_text("age,town\n3,Ash\n")
    with pytest.raises(DataError) as failed:  # an error after the data was opened
        cantle.publish(tmp_path / "short.csv", SCHEMA, epsilon=0.1, **paid)
    assert failed.value.__notes__ == ["the charge to data set 'people' stands: the data was opened"]
    assert Ledger(tmp_path / "l.db").account("people").to_dict()["unrecorded"] == 1


def test_a_release_that_is_not_private_is_listed_as_such(tmp_path: Path) -> None:
    paid = {"ledger": created(tmp_path / "l.db"), "dataset": "people"}
    cantle.publish(people(50), SCHEMA, epsilon=1, insecure_seed=1, **paid).save(tmp_path / "a")
    cantle.publish(people(50), SCHEMA, epsilon=1, **paid).save(tmp_path / "b")
    assert verify_folder(tmp_path / "a") == verify_folder(tmp_path / "b") == []
    statement = (tmp_path / "b" / "statement.md").read_text()
    assert "NOT PRIVATE: the noise came from a known seed; sha256" in statement
    assert "the sum promises nothing" in statement


def test_a_pickled_release_does_not_carry_the_ledger(tmp_path: Path) -> None:
    created(tmp_path / "secret.db")
    release = cantle.publish(people(20), SCHEMA, epsilon=1, ledger=tmp_path / "secret.db", dataset="people")
    text = pickle.dumps(release)
    assert b"secret" not in text
    assert pickle.loads(text).ticket is None
    assert "secret" not in repr(release)


def test_a_release_is_saved_even_if_the_ledger_cannot_record_it(tmp_path: Path) -> None:
    where = tmp_path / "l.db"
    created(where)
    release = cantle.publish(people(20), SCHEMA, epsilon=1, ledger=where, dataset="people")
    where.write_text("damaged" * 1000)
    with pytest.raises(LedgerError, match="hash is not recorded"):
        release.save(tmp_path / "out")
    assert verify_folder(tmp_path / "out") == []

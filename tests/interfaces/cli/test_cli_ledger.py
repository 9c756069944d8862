"""`publish --ledger` and `cantle ledger create | show | cap | history`, end to end."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from polars.exceptions import PanicException

from cantle.interfaces import publishing
from cantle.release import Release
from cantle.trusted.ledger import Ledger
from tests.entropy import launcher
from tests.interfaces.cli.inside import Cantle
from tests.interfaces.cli.inside import cantle as inside  # noqa: F401 - a fixture
from tests.interfaces.cli.test_cli import cantle, folder  # noqa: F401 - a fixture

PUBLISH = ("publish", "people.csv", "--schema", "schema.yaml", "--method", "rps")
BOOK = ("--ledger", "ledger.db", "--dataset", "people")


def test_a_ledger_adds_up_three_releases(folder: Path) -> None:  # noqa: F811
    assert cantle("ledger", "show", "--ledger", "ledger.db", cwd=folder).returncode == 1
    set_ = cantle("ledger", "cap", "1.2", *BOOK, "--json", cwd=folder)
    assert json.loads(set_.stdout)["left"] == "1.2"
    done = cantle(*PUBLISH, "--epsilon", "0.5", *BOOK, "-o", "a", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "people, release 1: epsilon 0.5 spent, 0.7 left of 1.2" in done.stdout
    assert cantle(*PUBLISH, "--epsilon", "0.5", *BOOK, "-o", "b", cwd=folder).returncode == 0
    refused = cantle(*PUBLISH, "--epsilon", "0.5", *BOOK, "-o", "c", cwd=folder)
    assert refused.returncode == 1
    assert "has epsilon 0.2 left of its cap 1.2, this release needs 0.5" in refused.stderr
    assert not (folder / "c").exists()
    assert cantle("verify", "b", cwd=folder).returncode == 0
    shown = json.loads(cantle("ledger", "show", "--ledger", "ledger.db", "--json", cwd=folder).stdout)
    assert [(one["dataset"], one["spent"], one["releases"]) for one in shown["datasets"]] == [("people", "1", 2)]
    history = json.loads(cantle("ledger", "history", *BOOK, "--json", cwd=folder).stdout)
    hashes = [json.loads((folder / name / "release.json").read_bytes())["sha256"] for name in ("a", "b")]
    assert [entry["sha256"] for entry in history["entries"]] == hashes
    text = cantle("ledger", "history", *BOOK, cwd=folder).stdout
    assert hashes[0][:20] in text
    assert "cap 1.2 set at" in text
    assert "one record" in cantle("ledger", "show", *BOOK, cwd=folder).stdout


def test_calls_that_can_be_refused_early_are_not_charged(folder: Path) -> None:  # noqa: F811
    assert cantle("ledger", "cap", "1", *BOOK, cwd=folder).returncode == 0
    (folder / "file").touch()
    for wrong in (("-o", "file/x"), ("-o", "."), ("--format", "xml"), ("--set", "ledger=x"), ("--set", "deep=1")):
        assert cantle(*PUBLISH, "--epsilon", "0.5", *BOOK, *wrong, cwd=folder).returncode in (1, 2)
    alone = cantle(*PUBLISH, "--epsilon", "0.5", "--ledger", "ledger.db", cwd=folder)
    assert alone.returncode == 2
    assert "give both (--ledger and --dataset), or neither" in alone.stderr
    shown = json.loads(cantle("ledger", "show", *BOOK, "--json", cwd=folder).stdout)
    assert shown["datasets"][0]["spent"] == "0"
    (folder / "people.csv").write_text("age,town\n3,Ash\n")
    opened = cantle(*PUBLISH, "--epsilon", "0.5", *BOOK, cwd=folder)
    assert opened.returncode == 4
    assert "schema; the charge to data set 'people' stands" in opened.stderr
    shown = json.loads(cantle("ledger", "show", *BOOK, "--json", cwd=folder).stdout)
    assert (shown["datasets"][0]["spent"], shown["datasets"][0]["unrecorded"]) == ("0.5", 1)


def test_help_of_the_ledger_and_bad_calls(folder: Path) -> None:  # noqa: F811
    for command in ("create", "show", "cap", "history"):
        assert f"Example: cantle ledger {command}" in cantle("ledger", command, "--help", cwd=folder).stdout
    assert cantle("ledger", "cap", "much", *BOOK, cwd=folder).returncode == 2
    assert cantle("ledger", "cap", "1", "--ledger", "ledger.db", "--dataset", "a|b", cwd=folder).returncode == 2
    assert cantle("ledger", "history", "--ledger", "people.csv", "--dataset", "people", cwd=folder).returncode == 1
    assert not (folder / "ledger.db").exists()


def test_a_misspelt_ledger_is_refused_first(folder: Path) -> None:  # noqa: F811
    assert cantle("ledger", "cap", "1", *BOOK, cwd=folder).returncode == 0
    before = sorted(path.name for path in folder.iterdir())
    wrong = ("--ledger", "legder.db", "--dataset", "people")
    refused = cantle(*PUBLISH, "--epsilon", "5", *wrong, "-o", "out", cwd=folder)
    assert refused.returncode == 1
    assert "there is no ledger legder.db; correct the path, or make it with `cantle ledger create" in refused.stderr
    assert sorted(path.name for path in folder.iterdir()) == before
    assert cantle("ledger", "create", "--ledger", "other.db", cwd=folder).returncode == 0
    paid = ("--ledger", "other.db", "--dataset", "people")
    assert cantle(*PUBLISH, "--epsilon", "0.5", *paid, "-o", "out", cwd=folder).returncode == 0


def stopping(kind: type[BaseException], *code: int) -> Any:
    def stop(*_: Any, **__: Any) -> Any:
        raise kind(*code)

    return stop


@pytest.mark.parametrize(("stop", "code", "words"), [
    (stopping(KeyboardInterrupt), 130, "interrupted"), (stopping(SystemExit, 143), 143, "ended by a signal"),
    (stopping(MemoryError), 1, "unexpected MemoryError; nothing was released"),
    (stopping(PanicException, 90210), 1, "unexpected PanicException; nothing was released"),
])  # fmt: skip
@pytest.mark.parametrize("moment", ["reading", "drawing", "saving"])
def test_a_run_that_is_stopped_says_that_its_charge_stands(
    stop: Any, code: int, words: str, moment: str, inside: Cantle, folder: Path, monkeypatch: pytest.MonkeyPatch  # noqa: F811
) -> None:  # fmt: skip
    assert inside("ledger", "cap", "1", *BOOK).code == 0
    monkeypatch.setattr(*{
        "reading": (publishing, "open_data", stop), "drawing": (publishing, "_release", stop),
        "saving": (Release, "_write", stop),
    }[moment])  # fmt: skip
    done = inside(*PUBLISH, "--epsilon", "0.5", *BOOK, "-o", "out")
    assert done.code == code
    assert done.out == ""
    assert done.err == f"error: {words}; the charge to data set 'people' stands: the data was opened\n"
    assert not (folder / "out").exists()
    (shown,) = json.loads(inside("ledger", "show", *BOOK, "--json").out)["datasets"]
    assert (shown["charges"], shown["releases"], shown["unrecorded"]) == (1, 0, 1)
    header, row = inside("ledger", "show", *BOOK).out.strip().splitlines()
    assert header.rstrip().split("  ")[-2:] == ["releases", "charges without release"]
    assert row.split()[-2:] == ["0", "1"]


@pytest.mark.usefixtures("folder")
def test_a_run_that_is_stopped_while_it_charges_says_where_to_look(
    inside: Cantle, monkeypatch: pytest.MonkeyPatch  # noqa: F811
) -> None:  # fmt: skip
    assert inside("ledger", "cap", "1", *BOOK).code == 0
    monkeypatch.setattr(Ledger, "charge", stopping(KeyboardInterrupt))
    done = inside(*PUBLISH, "--epsilon", "0.5", *BOOK, "-o", "out")
    assert done.code == 130
    assert "the charge to data set 'people' may stand: look with cantle ledger history" in done.err


@pytest.mark.usefixtures("folder")
def test_a_run_without_a_ledger_is_just_interrupted(
    inside: Cantle, monkeypatch: pytest.MonkeyPatch  # noqa: F811
) -> None:  # fmt: skip
    monkeypatch.setattr(publishing, "open_data", stopping(KeyboardInterrupt))
    done = inside(*PUBLISH, "--epsilon", "0.5", "-o", "out")
    assert (done.code, done.err) == (130, "error: interrupted\n")


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize(
    ("sent", "code"), [(signal.SIGTERM, 143), pytest.param(signal.SIGINT, 130, marks=pytest.mark.slow)]
)
def test_a_real_signal_after_the_charge(sent: signal.Signals, code: int, folder: Path) -> None:  # noqa: F811
    """The run is charged, and then waits for its data."""
    book = Ledger(folder / "ledger.db")
    book.cap("people", 1)
    waits = (
        "import sys, time; from cantle.interfaces import publishing; from cantle.interfaces.cli.app import main; "
        "publishing.open_data = lambda *_: time.sleep(60); main()"
    )
    command = [*launcher(), "-c", waits, *PUBLISH, "--epsilon", "0.5", *BOOK, "-o", "out"]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True) as run:
        end = time.monotonic() + 60
        while not book.account("people").entries and time.monotonic() < end:
            time.sleep(0.05)
        time.sleep(0.2)
        run.send_signal(sent)
        _, messages = run.communicate(timeout=60)
    assert run.returncode == code
    assert messages.endswith("the charge to data set 'people' stands: the data was opened\n")
    assert "Traceback" not in messages

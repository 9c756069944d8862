"""The commands behind the studio: each page shows those that do the same, and the studio runs those that read data.

`cantle publish` runs as a job in a process of its own. The command charges the ledger before it opens the data. So the
ledger is right even if the studio ends or is killed: the command goes on by itself, or its charge stands without a
release, as after any other run that was stopped.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

from cantle.schema import DEFAULT

LAUNCH = (sys.executable, "-P", "-c", "from cantle.interfaces.cli import main; main()")
"""How `cantle` is started; -P keeps Python from importing modules out of the project folder."""
PROGRESS = {"CANTLE_PROGRESS": "lines"}


def shown(arguments: Sequence[str]) -> str:
    """A command as a person would type it.

    >>> shown(["check", "my people.csv", "--schema", "schema.yaml"])
    "cantle check 'my people.csv' --schema schema.yaml"
    """
    return shlex.join(["cantle", *arguments])


def init(data: str, schema: str, kind: str, header: bool | None) -> list[str]:
    """Draft a schema."""
    flags = [] if header is None else ["--header", "yes" if header else "no"]
    return ["init", data, *([] if kind == DEFAULT else ["--kind", kind]), *flags, "-o", schema]


def check(data: str, schema: str) -> list[str]:
    """Compare file and schema."""
    return ["check", data, "--schema", schema]


def plan(schema: str, epsilon: str, records: int | None) -> list[str]:
    """Describe what a release would be like."""
    return ["plan", "--schema", schema, "--records", str(records or "N"), "--epsilon", epsilon or "1"]


def publish(data: str, schema: str, epsilon: str, out: str, ledger: str = "", dataset: str = "") -> list[str]:
    """Make a release."""
    account = ["--ledger", ledger, "--dataset", dataset] if ledger else []
    return ["publish", data, "--schema", schema, "--epsilon", epsilon or "1", *account, "-o", out]


def cap(most: str, ledger: str, dataset: str) -> list[str]:
    """Set the most that a data set may spend."""
    return ["ledger", "cap", most, "--ledger", ledger, "--dataset", dataset]


def _started(words: Sequence[str], folder: Path, hold: int, out: int, errors: int | IO[bytes]) -> subprocess.Popen[str]:
    """A command in a session of its own: Ctrl-C in the terminal must reach only the studio, which then stops the
    command itself. Progress is reported in lines."""
    return subprocess.Popen(
        words,
        cwd=folder,
        env={**os.environ, **PROGRESS},
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=errors,
        encoding="utf-8",
        pass_fds=(hold,) if os.name == "posix" else (),
        start_new_session=True,
    )


class Runner:
    """Runs commands to their end, for pages that wait for the result; `stop` ends those that still run."""

    def __init__(self, launch: Sequence[str], folder: Path, hold: int) -> None:
        self._launch, self._folder, self._hold = launch, folder, hold
        self._running: set[subprocess.Popen[str]] = set()

    def run(self, arguments: Sequence[str]) -> tuple[int, str, str]:
        """The exit code of a command, its output, and its error output.

        The output may be private: it stays in memory, and is written nowhere.
        """
        process = _started([*self._launch, *arguments], self._folder, self._hold, subprocess.PIPE, subprocess.PIPE)
        self._running.add(process)
        try:
            printed, said = process.communicate()
        finally:
            self._running.discard(process)
        return process.returncode, printed, said

    def stop(self) -> None:
        """Ends all commands that still run; none of them makes a release."""
        for process in list(self._running):
            process.kill()


def complaint(stderr: str) -> str:
    """The last error that a command printed; messages of commands never quote a private value."""
    errors = [line.removeprefix("error: ") for line in stderr.splitlines() if line.startswith("error: ")]
    return errors[-1] if errors else "the command ended without a message"


PATIENCE = 20.0
"""Seconds that a command has to end when it is asked to; then it is killed."""


class Job:
    """One run of the command."""

    def __init__(
        self,
        launch: Sequence[str],
        arguments: Sequence[str],
        folder: Path,
        notes: Path,
        hold: int,
        expected: float | None = None,
    ) -> None:
        self.arguments, self.expected = list(arguments), expected
        self.started, self.ended = time.monotonic(), 0.0
        self.asked_to_stop = False
        self.out, self.charges_before = "", 0
        self._notes = notes
        with notes.open("wb") as file:
            self._process = _started([*launch, *arguments], folder, hold, subprocess.DEVNULL, file)
        self._watch = threading.Thread(target=self._wait, daemon=True)
        self._watch.start()

    def _wait(self) -> None:
        self._process.wait()
        self.ended = time.monotonic()

    @property
    def running(self) -> bool:
        return not self.ended

    @property
    def code(self) -> int | None:
        return self._process.returncode if self.ended else None

    @property
    def seconds(self) -> float:
        """How long the run has taken so far, or took."""
        return (self.ended or time.monotonic()) - self.started

    @property
    def phase(self) -> str:
        """What the command is doing, as it reports."""
        said = [line.removeprefix("progress: ") for line in self._lines() if line.startswith("progress: ")]
        return said[-1] if said else "starting"

    @property
    def remarks(self) -> list[str]:
        """Notes and warnings of the command."""
        return [line for line in self._lines() if line.startswith(("note: ", "warning: "))]

    @property
    def complaint(self) -> str:
        return complaint("\n".join(self._lines()))

    def _lines(self) -> list[str]:
        try:
            return self._notes.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return []

    @property
    def left(self) -> float | None:
        """Seconds left according to the plan; None without a plan, or if the run takes longer than planned."""
        if self.expected is None or self.seconds > self.expected:
            return None
        return self.expected - self.seconds

    def stop(self) -> None:
        """Asks the command to end, so that it removes its temporary files; kills it if it does not."""
        self.asked_to_stop = True
        if self.running:
            self._process.terminate()
            self._watch.join(PATIENCE)
            if self.running:
                self._process.kill()
                self._watch.join(PATIENCE)


class Desk:
    """Runs one job at a time; a form that was sent twice starts only one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._used: set[str] = set()
        self.job: Job | None = None

    @property
    def busy(self) -> bool:
        """Whether a job runs."""
        return self.job is not None and self.job.running

    def start(self, word: str, make: Callable[[], Job]) -> bool:
        """Starts a job, unless one is running or the form with this word was sent before; returns whether it did."""
        with self._lock:
            if not word or word in self._used or self.busy:
                return False
            self.job = make()
            self._used.add(word)
            return True

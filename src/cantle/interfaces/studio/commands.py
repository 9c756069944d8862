"""The commands behind the studio: each page shows those that do the same, and the studio runs those that read data."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

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


def environment() -> dict[str, str]:
    """The environment of a command: that of the studio, with progress reported in lines."""
    return {**os.environ, **PROGRESS}


class Runner:
    """Runs commands to their end, for pages that wait for the result; `stop` ends those that still run."""

    def __init__(self, launch: Sequence[str], folder: Path, hold: int) -> None:
        self._launch, self._folder, self._hold = launch, folder, hold
        self._running: set[subprocess.Popen[str]] = set()

    def run(self, arguments: Sequence[str]) -> tuple[int, str, str]:
        """The exit code of a command, its output, and its error output.

        The output may be private: it stays in memory, and is written nowhere.
        """
        process = subprocess.Popen(
            [*self._launch, *arguments],
            cwd=self._folder,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            pass_fds=(self._hold,) if os.name == "posix" else (),
            start_new_session=True,
        )
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

"""A run of `cantle publish` in a process of its own: its progress, how to stop it, and its result.

The command charges the ledger before it opens the data. So the ledger is right even if the studio ends or is killed:
the command goes on by itself, or its charge stands without a release, as after any other run that was stopped.
"""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from cantle.interfaces.studio.commands import complaint, environment

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
        # A session of its own: Ctrl-C in the terminal must reach only the studio, which then stops the command itself.
        with notes.open("wb") as file:
            self._process = subprocess.Popen(
                [*launch, *arguments],
                cwd=folder,
                env=environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=file,
                pass_fds=(hold,) if os.name == "posix" else (),
                start_new_session=True,
            )
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

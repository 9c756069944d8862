"""Core-seconds and peak memory of this process, and of those it started (a Spark cluster on this machine)."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import process_time

Clock = Callable[[], float]


def clock(with_children: bool) -> Clock:
    """A function that returns the user and system seconds so far; `with_children` adds, on Linux, those of all
    processes below this one."""
    if not with_children or not Path("/proc/self/stat").exists():
        return process_time
    return lambda: process_time() + sum(map(_core_seconds, _descendants()))


def peak(with_children: bool) -> float:
    """Peak memory of this process in MB; `with_children` adds the peaks of all processes below it that still run.

    On Linux ru_maxrss includes what the parent held before it started this program, so VmHWM is used instead.
    """
    own = _high_water(os.getpid())
    if own is None:
        import resource

        held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        own = held / (1e6 if sys.platform == "darwin" else 1e3)
    return own + (sum(_high_water(child) or 0.0 for child in _descendants()) if with_children else 0.0)


def _high_water(process: int) -> float | None:
    with suppress(OSError):
        lines = Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines()
        return next((int(line.split()[1]) / 1e3 for line in lines if line.startswith("VmHWM:")), None)
    return None


def _descendants() -> list[int]:
    """The numbers of all running processes below this one."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and (fields := _stat(int(entry.name))):
            parents.setdefault(int(fields[1]), []).append(int(entry.name))
    descendants, waiting = [], [os.getpid()]
    while waiting:
        children = parents.get(waiting.pop(), [])
        descendants += children
        waiting += children
    return descendants


def _core_seconds(process: int) -> float:
    """User and system time of a process, including that of its children that have ended."""
    fields = _stat(process)
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK") if fields else 0.0


def _stat(process: int) -> list[str]:
    """The fields of /proc/N/stat from the third on; the second is a name in brackets, which may contain spaces."""
    with suppress(OSError):
        return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return []

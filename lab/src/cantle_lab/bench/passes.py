"""A stopwatch for the passes of a run: opening, counting, moving, noise, drawing.

It wraps the methods of an engine and a noise source, and records times. They depend on the records, which is harmless
here because benchmark data is made up.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from time import process_time

from cantle.audit.exact import replaced
from cantle.interfaces import publishing
from cantle.interfaces.opening import Order, open_data
from cantle.release import Release
from cantle.trusted.counting.base import Engine
from cantle.trusted.noise import Noise

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


PASSES = ("open", "count", "move", "noise", "other", "draw", "save")
"""In this order: read and encode; count; move records to children; draw noise; choose, and keep the budget; draw
records; write."""

TIMED = {
    "count": ("tally", "occupied", "place", "dense", "touched", "kept", "as_table", "count_all"),
    "move": ("split",),
    "noise": ("laplace", "select", "above", "sparse", "coin"),
    "draw": ("results",),
}
"""The methods of engines, noise sources and publishing methods that belong to a pass."""


class Stopwatch:
    """Seconds of each pass."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.seconds: dict[str, float] = defaultdict(float)
        self.sealed = 0.0
        self._running = False

    @contextmanager
    def lap(self, name: str) -> Iterator[None]:
        """Adds the time of the block to a pass, unless another pass is running."""
        if self._running:
            yield
            return
        self._running, began = True, self.clock()
        try:
            yield
        finally:
            self._running = False
            self.seconds[name] += self.clock() - began

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Inside the block, the publisher opens data, runs methods and draws records under this watch."""
        really_run, really_noise = publishing._run_and_draw, publishing._noise

        def noise(order: Order) -> Noise:
            source = really_noise(order)
            self.watch(source, "noise")
            return source

        def run_and_draw(order: Order, store: Engine, seed: int) -> publishing.Made:
            self.watch(store, "count", "move")
            self.watch(order.method, "draw")
            made = really_run(order, store, seed)
            self.sealed = self.clock()
            return made

        with (
            replaced(publishing, "open_data", self._timed(open_data, "open")),
            replaced(publishing, "_noise", noise),
            replaced(publishing, "_run_and_draw", run_and_draw),
        ):
            yield

    def watch(self, watched: object, *passes: str) -> None:
        """Adds the time of the methods of this object to these passes."""
        for name in passes:
            for verb in TIMED[name]:
                if hasattr(watched, verb):
                    setattr(watched, verb, self._timed(getattr(watched, verb), name))

    def _timed(self, really: Callable[..., object], name: str) -> Callable[..., object]:
        def timed(*given: object, **options: object) -> object:
            with self.lap(name):
                result = really(*given, **options)
            if isinstance(result, Iterator):
                return self._drained(result, name)
            if really.__name__ == "as_table":  # the degrees of a graph, which are counted by another engine
                self.watch(result, "count", "move")
            return result

        return timed

    def _drained(self, chunks: Iterator[object], name: str) -> Iterator[object]:
        """Passes chunks of an iterator on, and adds the time of each."""
        while True:
            with self.lap(name):
                chunk = next(chunks, None)
            if chunk is None:
                return
            yield chunk


def whole_run(publish: Callable[[], Release], clock: Clock) -> dict[str, float]:
    """Seconds by this clock of each pass of a run, which publishes and saves; together they are the whole run."""
    watch, began = Stopwatch(clock), clock()
    with watch.watching(), tempfile.TemporaryDirectory() as scratch:
        release = publish()
        published = clock()
        release.save(Path(scratch) / "release")
        saved = clock()
    sealed = watch.sealed or published
    seconds = {name: watch.seconds[name] for name in ("open", "count", "move", "noise", "draw")}
    seconds["other"] = max(0.0, sealed - began - sum(seconds.values()))
    seconds["draw"] += published - sealed  # converting records to the user's form counts as drawing them
    return {name: seconds.get(name, saved - published) for name in PASSES}


STAGES = {
    "reading": ("open",),
    "partitioning": ("count", "move", "noise", "other"),
    "drawing": ("draw",),
    "writing": ("save",),
}
"""The stages of a run in figures of the papers, with their passes."""


def stages(seconds: Mapping[str, float]) -> dict[str, float]:
    """The seconds of each stage."""
    return {stage: sum(seconds[name] for name in passes) for stage, passes in STAGES.items()}


def forget_peak() -> None:
    """Resets the peak memory of this process to what it holds now (on Linux only)."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")

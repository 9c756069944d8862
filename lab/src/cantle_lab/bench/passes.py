"""A stopwatch for the passes of a run: opening, counting, moving, noise, drawing.

It wraps the methods of an engine and a noise source, and records times and numbers of cells. Both depend on the
records, which is harmless here because benchmark data is made up.
"""

from __future__ import annotations

import os
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sized
from contextlib import contextmanager, suppress
from pathlib import Path
from time import process_time

import numpy as np

from cantle.audit.exact import replaced
from cantle.data.engine_choice import IN_MEMORY, EngineChoice, Opened
from cantle.interfaces import publishing
from cantle.interfaces.opening import Order
from cantle.interfaces.opening import open_data as really_open_data
from cantle.methods.base import Method
from cantle.schema import Schema
from cantle.trusted.counting.base import Engine
from cantle.trusted.noise import Lanes, Noise

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

COUNTING = ("tally", "occupied", "place", "dense", "touched", "kept", "as_table", "count_all")
MOVING = ("split",)
DRAWING = ("results",)
NOISE = ("laplace", "select", "above", "sparse", "coin")
LEVELS = ("split", "place")
"""Calls that begin another level: regions are split, or a grid is refined."""


class Stopwatch:
    """Seconds of each pass, the number of levels, cells of counts by level, and the number of random draws."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.seconds: dict[str, float] = defaultdict(float)
        self.cells: dict[int, int] = defaultdict(int)
        self.level = self.draws = 0
        self.sealed = 0.0
        self._running = False

    @contextmanager
    def lap(self, name: str) -> Iterator[bool]:
        """Adds the time of the block to a pass and yields True; inside another pass it only yields False."""
        if self._running:
            yield False
            return
        self._running, began = True, self.clock()
        try:
            yield True
        finally:
            self._running = False
            self.seconds[name] += self.clock() - began

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Inside the block, the publisher opens data, runs methods and draws records under this watch."""
        really_run, really_noise = publishing._run_and_draw, publishing._noise

        def open_data(
            data: object, schema: Schema, method: Method, nodes: object = None, choice: EngineChoice = IN_MEMORY
        ) -> Opened:
            with self.lap("open"):
                return really_open_data(data, schema, method, nodes, choice)

        def noise(order: Order) -> Noise:
            source = really_noise(order)
            self.watch_noise(source)
            return source

        def run_and_draw(order: Order, store: Engine, seed: int) -> publishing.Made:
            self.watch_engine(store)
            self.watch_method(order.method)
            made = really_run(order, store, seed)
            self.sealed = self.clock()
            return made

        with (
            replaced(publishing, "open_data", open_data),
            replaced(publishing, "_noise", noise),
            replaced(publishing, "_run_and_draw", run_and_draw),
        ):
            yield

    def watch_method(self, method: Method) -> None:
        for verb in DRAWING:
            setattr(method, verb, self._drawing(getattr(method, verb)))

    def _drawing(self, really: Callable[..., object]) -> Callable[..., object]:
        def watched(*given: object) -> object:
            with self.lap("draw"):
                return really(*given)

        return watched

    def watch_engine(self, engine: object) -> None:
        for verb in (*COUNTING, *MOVING):
            if hasattr(engine, verb):
                setattr(engine, verb, self._counting(getattr(engine, verb), verb))

    def watch_noise(self, noise: Noise) -> None:
        for verb in NOISE:
            setattr(noise, verb, self._noise(getattr(noise, verb), verb))

    def _counting(self, really: Callable[..., object], verb: str) -> Callable[..., object]:
        """Wraps a method of an engine: adds its time to a pass, and counts cells and levels."""
        name = "move" if verb in MOVING else "count"

        def watched(*given: object, **options: object) -> object:
            if verb in LEVELS:
                self.level += 1
            with self.lap(name) as outermost:
                result = really(*given, **options)
                if isinstance(result, Iterator):
                    return self._drained(result, name)
            if outermost:
                self.cells[self.level] += _size(result)
            if verb == "as_table":
                self.watch_engine(result)
            return result

        return watched

    def _drained(self, chunks: Iterator[object], name: str) -> Iterator[object]:
        """Passes chunks of an iterator on, and adds the time and cells of each."""
        while True:
            with self.lap(name) as outermost:
                chunk = next(chunks, None)
            if chunk is None:
                return
            if outermost:
                self.cells[self.level] += _size(chunk)
            yield chunk

    def _noise(self, really: Callable[..., object], verb: str) -> Callable[..., object]:
        """Wraps a method of a noise source: adds its time, and counts draws."""

        def watched(lanes: Lanes, *given: Sized) -> object:
            with self.lap("noise") as outermost:
                result = really(lanes, *given)
            if outermost:
                looked = len(given[2]) if verb == "sparse" else len(given[0]) if verb == "select" else len(lanes)
                self.draws += looked + (_size(result) if verb == "sparse" else 0)
            return result

        return watched


def _size(result: object) -> int:
    """How many counts an engine returned: the size of the array, or of the last one of a tuple."""
    last = result[-1] if isinstance(result, tuple) else result
    return int(last.size) if isinstance(last, np.ndarray) else 0

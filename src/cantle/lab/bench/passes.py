"""A stopwatch for the passes of a run: opening, counting, moving, noise, drawing. It wraps the methods of an engine and
a noise source, and records times and numbers of cells; benchmark data is made up."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from cantle import _publish
from cantle.lab.bench.usage import Clock

PASSES = ("open", "count", "move", "noise", "other", "draw", "save")
"""Read and encode; count; move records to children; random draws; choose and keep the books; draw records; write."""

COUNTING = ("tally", "cut_scores", "occupied", "place", "dense", "touched", "kept", "as_table")
MOVING = ("split",)
NOISE = ("laplace", "select", "above", "sparse", "coin")
LEVELS = ("split", "place")
"""Calls that begin another level: regions are split, or a grid is refined."""


class Stopwatch:
    """Seconds of each pass; levels; cells of counts by level; random draws."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.seconds: dict[str, float] = defaultdict(float)
        self.cells: dict[int, int] = defaultdict(int)
        self.level = self.draws = 0
        self.sealed = 0.0
        self._running = False

    @contextmanager
    def lap(self, name: str) -> Iterator[bool]:
        """Adds to a pass; inside another pass it does nothing and yields False."""
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
        """From here on the publisher opens, runs and seals under this watch."""
        door: Any = _publish
        really_open, really_run = door.open_data, door.run

        def open_data(*given: Any, **options: Any) -> Any:
            with self.lap("open"):
                return really_open(*given, **options)

        def run(plan: Any, store: Any, *, noise: Any, **rest: Any) -> dict[str, Any]:
            self.watch_engine(store)
            self.watch_noise(noise)
            receipt = really_run(plan, store, noise=noise, **rest)
            self.sealed = self.clock()
            return receipt

        door.open_data, door.run = open_data, run
        try:
            yield
        finally:
            door.open_data, door.run = really_open, really_run

    def watch_engine(self, engine: Any) -> None:
        for verb in (*COUNTING, *MOVING):
            if hasattr(engine, verb):
                setattr(engine, verb, self._counting(getattr(engine, verb), verb, engine))

    def watch_noise(self, noise: Any) -> None:
        for verb in NOISE:
            setattr(noise, verb, self._noise(getattr(noise, verb), verb))

    def _counting(self, really: Callable[..., Any], verb: str, engine: Any) -> Callable[..., Any]:
        name = "move" if verb in MOVING else "count"
        # Scores of cuts come in place of the counts by class that workers would send.
        each = engine.classes if verb == "cut_scores" else 1

        def watched(*given: Any, **options: Any) -> Any:
            if verb in LEVELS:
                self.level += 1
            with self.lap(name) as outermost:
                result = really(*given, **options)
                if isinstance(result, Iterator):
                    return self._drained(result, name, each)
            if outermost:
                self.cells[self.level] += each * _size(result)
            if verb == "as_table":
                self.watch_engine(result)
            return result

        return watched

    def _drained(self, chunks: Iterator[Any], name: str, each: int) -> Iterator[Any]:
        while True:
            with self.lap(name) as outermost:
                chunk = next(chunks, None)
            if chunk is None:
                return
            if outermost:
                self.cells[self.level] += each * _size(chunk)
            yield chunk

    def _noise(self, really: Callable[..., Any], verb: str) -> Callable[..., Any]:
        def watched(lanes: Any, *given: Any) -> Any:
            with self.lap("noise") as outermost:
                result = really(lanes, *given)
            if outermost:
                looked = len(given[2]) if verb == "sparse" else len(given[0]) if verb == "select" else len(lanes)
                self.draws += looked + (_size(result) if verb == "sparse" else 0)
            return result

        return watched


def _size(result: Any) -> int:
    """How many counts an engine gave: those of the last array, whatever stands beside it."""
    last = result[-1] if isinstance(result, tuple) else result
    return int(last.size) if isinstance(last, np.ndarray) else 0

"""The worker process of the benchmark: python -m cantle_lab.bench.child TASK; task and answer are JSON objects.

The task `make` writes a data set, and `measure` runs one case on it. Each task runs in a fresh interpreter, so that
neither peak memory nor caches are affected by an earlier one.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

EPSILON = 1
READS = 5


def make(kind: str, records: int, width: int | None, stem: str, data: str | None) -> dict[str, float]:
    from cantle_lab.bench.data import make

    make(kind, records, width, Path(stem), None if data is None else Path(data))
    return {}


def measure(table: str, schema: str, method: str, preset: str, engine: str) -> dict[str, float]:
    """Publishes one data set, saves the release, and returns the costs as one row of the table of measurements.

    Among them are core-seconds in all and per pass (imports excluded), wall time, peak memory, and the core-seconds of
    reading the same file.
    """
    from cantle.data.engine_choice import EngineChoice
    from cantle.interfaces.publishing import publish
    from cantle_lab.bench.passes import clock, peak, whole_run

    spread = engine == "spark"  # the work is done by processes that Spark starts
    EngineChoice.of(engine, None, None)  # imports the engine, which is not part of the run
    options: dict[str, Any] = {"epsilon": EPSILON, "method": method, "preset": preset, "engine": engine}
    options |= {"cells": "tree"} if method == "diffpart" else {}  # the stand-in has too many items for all sets
    wall = perf_counter()
    seconds = whole_run(lambda: publish(table, schema, **options), clock(spread))
    wall, held = perf_counter() - wall, peak(spread)
    return {"core": sum(seconds.values()), **seconds, "wall": wall, "peak": held, "read": reading(table)}


def reading(path: str) -> float:
    """Core-seconds of `polars.read_csv(path)`, the best of five; files of sets and edges are read as lines of text."""
    import polars as pl

    plain = path.endswith(".csv")
    best = float("inf")
    for _ in range(READS):
        began = process_time()
        pl.read_csv(path) if plain else pl.read_csv(path, has_header=False, infer_schema=False)
        best = min(best, process_time() - began)
    return best


TASKS: dict[str, Callable[..., dict[str, float]]] = {"make": make, "measure": measure}


def main() -> None:
    from cantle.errors import CantleError

    task = json.loads(sys.argv[1])
    try:
        answer: Mapping[str, float | str] = TASKS[task.pop("task")](**task)
    except CantleError as error:
        answer = {"error": str(error)}
    print(json.dumps(answer))


if __name__ == "__main__":
    main()

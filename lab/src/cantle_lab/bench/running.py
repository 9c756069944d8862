"""Running of benchmark cases: every repeat in a fresh process, of which the best counts."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import polars as pl

from cantle.errors import EngineError
from cantle.schema.canonical_json import JSON
from cantle_lab.bench.cases import Case, Skipped
from cantle_lab.bench.data import KINDS
from cantle_lab.bench.passes import PASSES

COLUMNS = {
    "axis": pl.String,
    "method": pl.String,
    "engine": pl.String,
    "records": pl.Int64,
    "attributes": pl.Int64,  # null for sets and graphs
    "items": pl.Int64,  # null for tables and graphs
    "repeats": pl.Int64,
    "read": pl.Float64,  # core-seconds of polars for the same file
    "core": pl.Float64,  # core-seconds of the whole run, the sum of its passes
    **dict.fromkeys(PASSES, pl.Float64),
    "ratio": pl.Float64,  # core / read
    "records_per_second": pl.Float64,  # records / core
    "peak": pl.Float64,  # MB
    "wall": pl.Float64,
}

Say = Callable[[str], None]


@dataclass(frozen=True)
class Bench:
    """What was measured, what was skipped, and the machine."""

    rows: pl.DataFrame
    skipped: list[Skipped]
    facts: dict[str, str | float | None]
    """The machine and versions on which the figures depend."""
    seconds: dict[str, float]
    """Core-seconds of starting up."""


def run(cases: Sequence[Case], skipped: list[Skipped], *, repeat: int, data: Path | None, say: Say) -> Bench:
    """Measures all cases; cases that fail are listed as skipped. Data is made once per size and deleted at the end."""
    rows, failed, facts = [], list(skipped), machine()
    with tempfile.TemporaryDirectory(prefix="cantle-bench-") as scratch:
        for number, case in enumerate(cases, 1):
            say(f"{number}/{len(cases)} {case}")
            try:
                rows.append(_measure(case, repeat, data, Path(scratch)))
            except EngineError as error:
                failed.append(Skipped(str(case), str(error)))
    if not rows:
        raise EngineError("nothing could be measured; " + "; ".join(f"{what}: {why}" for what, why in failed))
    facts["tables"] = "generated" if data is None else "Adult, blown up"
    return Bench(pl.DataFrame(rows, schema=COLUMNS, orient="row"), failed, facts, start_up())


def _measure(case: Case, repeat: int, data: Path | None, scratch: Path) -> dict[str, JSON]:
    """Makes the data of a case, if it does not exist yet, and runs the case several times."""
    stem = scratch / case.file
    table, schema = (stem.with_name(stem.name + ending) for ending in (KINDS[case.kind].ending, ".json"))
    if not schema.exists():
        # Only tables that have as many columns as Adult can be made from it.
        folder = data if KINDS[case.kind].from_data and case.axis in ("size", "rows") else None
        source = None if folder is None else str(folder.resolve())
        ask(task="make", kind=case.kind, records=case.records, width=case.width, stem=str(stem), data=source)
    options = {"method": case.method, "preset": case.preset, "engine": case.engine}
    runs = [ask(task="measure", table=str(table), schema=str(schema), **options) for _ in range(repeat)]
    return summary(case, runs)


def summary(case: Case, runs: Sequence[dict[str, float]]) -> dict[str, JSON]:
    """The row of a case: its best run, and the ratio of its core-seconds to the best time of reading the file."""
    best = min(runs, key=lambda one: float(one["core"]))
    read = min(float(one["read"]) for one in runs)
    return {
        **best,
        "axis": case.axis,
        "method": case.name,
        "engine": case.engine,
        "records": case.records,
        **dict.fromkeys(("attributes", "items")),
        **case.widths,
        "repeats": len(runs),
        "read": read,
        "ratio": best["core"] / read,
        "records_per_second": case.records / best["core"],
    }


def ask(**task: JSON) -> dict[str, float]:
    """The answer of a fresh process to one task; raises an EngineError if it fails."""
    command = [sys.executable, "-m", "cantle_lab.bench.child", json.dumps(task)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no word"])[-1]
        raise EngineError(f"the process ended with {done.returncode}: {last}")
    answer: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    if "error" in answer:
        raise EngineError(str(answer["error"]))
    return answer


def start_up() -> dict[str, float]:
    """Core-seconds of `cantle --help`, of importing all that publishing needs, and of importing kernels as well.

    Each is the best of three. Kernels are loaded within a run, so their share of it can be subtracted.
    """
    publishing = "import cantle.interfaces.publishing"
    kernels = "from cantle.kernel_choice import FROM, worth_loading\nif worth_loading(FROM): import numba"
    programs = {
        "help_seconds": "import sys; sys.argv = ['cantle', '--help']; from cantle.interfaces.cli import main; main()",
        "load_seconds": publishing,
        "kernels_seconds": f"{publishing}\n{kernels}",
    }
    return {name: min(_core_seconds(program) for _ in range(3)) for name, program in programs.items()}


def _core_seconds(program: str) -> float:
    before = os.times()
    subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def machine() -> dict[str, str | float | None]:
    """The machine and versions on which the figures depend."""
    return {
        "cantle": version("cantle"),
        "python": platform.python_version(),
        **{name: _version(name) for name in ("numpy", "polars", "numba", "duckdb", "pyspark")},
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count() or 1,
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None

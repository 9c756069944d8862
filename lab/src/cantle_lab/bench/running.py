"""The cases of the benchmark, and how they are run: every repeat in a fresh process, of which the best counts.

A case is a method on an engine and a generated data set of one size.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

import polars as pl

from cantle.data.engine_choice import EVERY_ENGINE, EngineChoice
from cantle.errors import CantleError, EngineError, ParameterError
from cantle.methods.catalogue import METHODS
from cantle.schema.canonical_json import JSON
from cantle_lab.bench.data import KINDS
from cantle_lab.bench.passes import PASSES

AXES = ("rows", "attributes", "universe")
PRESETS = ("default", "paper")
KIND_OF = {name: method.kind for name, method in METHODS.items()}


@dataclass(frozen=True, kw_only=True)
class Case:
    """One whole run: a file is read, published with epsilon 1 and saved."""

    method: str
    records: int
    preset: str = "default"
    engine: str = "memory"
    axis: str = "size"
    wide: int | None = None
    """The width of the data, if it is not the usual one."""

    @property
    def kind(self) -> str:
        """table, sets or graph."""
        return KIND_OF[self.method]

    @property
    def width(self) -> int | None:
        """Attributes of a table, items of the universe of sets."""
        usual = KINDS[self.kind].width
        return None if usual is None else self.wide or usual.usual

    @property
    def widths(self) -> dict[str, int]:
        """The width under its name in the results; nothing if this kind of data has none."""
        of_kind, width = KINDS[self.kind].width, self.width
        return {} if of_kind is None or width is None else {of_kind.column: width}

    @property
    def name(self) -> str:
        return self.method if self.preset == "default" else f"{self.method}:{self.preset}"

    @property
    def file(self) -> str:
        """The name of the data file without its ending; cases with the same name share the file."""
        return "-".join(str(part) for part in (self.kind, self.records, self.width) if part is not None)

    def __str__(self) -> str:
        sizes = {"records": self.records} | self.widths
        return f"{self.name} on {self.engine}, {', '.join(f'{size:,} {name}' for name, size in sizes.items())}"


class Skipped(NamedTuple):
    """Something that could not be measured, and the reason."""

    what: str
    why: str


def words_of(text: str, known: Sequence[str], option: str) -> list[str]:
    """The words of a list separated by commas; raises a ParameterError unless all of them are known."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    wrong = next((word for word in words if word not in known), None)
    if wrong is not None or not words:
        raise ParameterError(f"{option} takes a list of {', '.join(known)}, separated by commas; got {text!r}")
    return words


def methods_of(text: str) -> list[tuple[str, str]]:
    """(method, preset) pairs from words such as `rps` or `rps:paper`."""
    known = [*METHODS, *(f"{method}:{preset}" for method in METHODS for preset in PRESETS)]
    pairs = [word.partition(":") for word in words_of(text, known, "--methods")]
    return [(method, preset or "default") for method, _, preset in pairs]


def engines_of(text: str) -> list[str]:
    """The engines that the option names, whether they can run here or not."""
    return words_of(text, EVERY_ENGINE, "--engines")


def available(engines: Sequence[str]) -> tuple[list[str], list[Skipped]]:
    """The engines that can run here, and for each other one the reason why it cannot."""
    able, skipped = [], []
    for engine in engines:
        try:
            if engine == "database":
                raise ParameterError("it needs a server with a table of its own; see docs/engines.md")
            EngineChoice.of(engine, None, None)
            able.append(engine)
        except CantleError as error:
            skipped.append(Skipped(f"engine {engine}", str(error)))
    return able, skipped


def sizes(
    methods: Sequence[tuple[str, str]], engines: Sequence[str], records: Sequence[int]
) -> tuple[list[Case], list[Skipped]]:
    """Every method on every engine that holds its kind of data, at every size."""
    cases, skipped = [], []
    for number in records:
        for method, preset in methods:
            cases += [
                Case(method=method, preset=preset, engine=engine, records=number)
                for engine in engines
                if engine == "memory" or KINDS[KIND_OF[method]].every_engine
            ]
    for method in dict.fromkeys(method for method, _ in methods):
        kind = KIND_OF[method]
        others = [] if KINDS[kind].every_engine else [engine for engine in engines if engine != "memory"]
        skipped += [Skipped(f"{method} on {one}", f"data of kind {kind} is measured in memory only") for one in others]
    return cases, skipped


def growth(axes: Sequence[str], methods: Sequence[tuple[str, str]], largest: int) -> Iterator[Case]:
    """Cases in memory whose size grows along each axis.

    On `rows` the number of records grows up to `largest`. On `attributes` (tables) and `universe` (sets) the width
    grows, with a quarter of `largest` records.
    """
    for method, preset in methods:
        case = Case(method=method, preset=preset, records=max(16, largest // 4))
        width = KINDS[case.kind].width
        for axis in axes:
            if axis == "rows":
                for part in (16, 4, 1):
                    yield replace(case, axis=axis, records=max(16, largest // part))
            elif width is not None and axis == width.axis:
                for number in width.along_axis():
                    yield replace(case, axis=axis, wide=number)


# ---- running --------------------------------------------------------------------------------------------------------

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

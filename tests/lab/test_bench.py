"""The benchmark: tables, cases, repeatable data, and a stopwatch that changes nothing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import numpy as np
import polars as pl
import pytest

import cantle
from cantle.errors import OutputError, ParameterError
from cantle_lab.bench import data, page
from cantle_lab.bench import running as cases
from cantle_lab.bench.passes import PASSES, Stopwatch, clock, peak
from cantle_lab.bench.running import COLUMNS, Bench, Case, Skipped, summary

ONE: dict[str, Any] = {
    "records": 1000, "attributes": 2, "items": None, "axis": "size", "method": "rps", "engine": "memory", "read": 0.5,
    "open": 1.0, "count": 3.0, "move": 1.0, "noise": 0.5, "other": 0.5, "draw": 1.0, "save": 1.0, "ratio": 2.0,
    "core": 8.0, "records_per_second": 125.0, "peak": 100.0,
}  # fmt: skip


# ---- tables ---------------------------------------------------------------------------------------------------


def row(**given: Any) -> dict[str, Any]:
    """A row of the table of measurements."""
    blank: dict[str, Any] = dict.fromkeys(COLUMNS, 0)
    return blank | ONE | given


def bench(*rows: dict[str, Any]) -> Bench:
    names = ("cantle", "python", "numpy", "polars", "numba", "duckdb", "pyspark", "system", "cores", "load", "date")
    facts: dict[str, Any] = dict.fromkeys(names, "x") | {"tables": "generated", "numba": None}
    seconds = {"help_seconds": 0.1, "load_seconds": 0.3, "kernels_seconds": 0.8}
    frame = pl.DataFrame(list(rows), schema=COLUMNS, orient="row")
    return Bench(frame, [Skipped("engine spark", "no Java")], facts, seconds)


def test_the_best_repeat_counts() -> None:
    runs = [{"core": 5.0, "read": 0.5, "open": 3.0}, {"core": 4.0, "read": 0.8, "open": 2.0}]
    best = summary(Case(method="rps", records=100), runs)
    assert (best["core"], best["open"], best["read"], best["ratio"]) == (4.0, 2.0, 0.5, 8.0)
    assert (best["records_per_second"], best["repeats"], best["attributes"], best["items"]) == (25.0, 2, 14, None)


def test_exponents_of_growth() -> None:
    sizes = [(100, 1.0, 1.0, 10.0), (200, 2.0, 4.0, 10.0), (400, 8.0, 8.0, 20.0)]
    rows = [
        row(axis="rows", records=n, core=core, count=count / 2, move=count / 2, peak=held)
        for n, core, count, held in sizes
    ]
    assert page.grown(bench(*rows, row(records=7)).rows)[1:] == [
        ["rows", "rps", "100", "400", "1.50", "2.00", "1.00", "1.00"]
    ]
    assert len(page.grown(bench(row(axis="rows")).rows)) == 1


def test_numbers_are_written_between_the_marks_of_a_page(tmp_path: Path) -> None:
    target = tmp_path / "page.md"
    target.write_text(f"above\n{page.BEGIN}\nold\n{page.END}\nbelow\n")
    page.put(bench(row()), target, "cantle bench")
    text = target.read_text()
    assert text.startswith(f"above\n{page.BEGIN}\nMade by `cantle bench`")
    assert text.endswith(f"* engine spark: no Java\n{page.END}\nbelow\n")
    assert "old" not in text
    assert "| rps | memory | 1,000 | 2 | 0.500 | 8 | 2 | 125 | 100 |" in text
    page.put(bench(row()), target, "cantle bench")
    assert target.read_text() == text
    target.write_text("no marks")
    with pytest.raises(OutputError, match="numbers go between"):
        page.check(target)


# ---- cases ----------------------------------------------------------------------------------------------------


def test_cases_of_sets_and_graphs_are_in_memory_only() -> None:
    listed, skipped = cases.sizes([("rps", "default"), ("diffpart", "paper")], ["memory", "duckdb"], [100, 200])
    assert [(case.name, case.engine, case.records) for case in listed] == [
        ("rps", "memory", 100), ("rps", "duckdb", 100), ("diffpart:paper", "memory", 100),
        ("rps", "memory", 200), ("rps", "duckdb", 200), ("diffpart:paper", "memory", 200),
    ]  # fmt: skip
    assert skipped == [Skipped("diffpart on duckdb", "data of kind sets is measured in memory only")]


def test_missing_engines_are_skipped_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    able, skipped = cases.available(["memory", "duckdb", "database"])
    assert able == ["memory"]
    assert [one.what for one in skipped] == ["engine duckdb", "engine database"]
    assert "pip install '.[duckdb]'" in skipped[0].why


def test_growth_has_only_kinds_of_data_that_can_grow() -> None:
    listed = list(cases.growth(cases.AXES, [(method, "default") for method in cases.KIND_OF], 1600))
    grown = {(case.axis, case.method): [] for case in listed}  # type: dict[tuple[str, str], list[int | None]]
    for case in listed:
        grown[case.axis, case.method].append(case.records if case.axis == "rows" else case.width)
    assert grown["rows", "degrees"] == [100, 400, 1600]
    assert {method for axis, method in grown if axis == "attributes"} == {"mosaic", "rps", "diffgen"}
    assert grown["universe", "diffpart"] == [253, 506, 1012, 2024, 4048]
    assert {case.records for case in listed if case.axis == "universe"} == {400}


@pytest.mark.parametrize(
    ("text", "message"), [("rps,dpcube", "--methods"), ("rps:best", "--methods"), ("", "--methods")]
)
def test_unknown_methods_are_refused(text: str, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        cases.methods_of(text)


# ---- data -----------------------------------------------------------------------------------------------------


def test_generated_tables_are_repeatable_and_fit_their_schema(tmp_path: Path) -> None:
    for name in "ab":
        data.make("table", 3000, 17, tmp_path / name)
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    frame, schema = pl.read_csv(tmp_path / "a.csv"), data.table_schema(17)
    assert frame.columns == [field["name"] for field in schema["fields"]]
    assert frame.columns[14:] == ["age-2", "workclass-2", "fnlwgt-2", "class"]
    for field in schema["fields"]:
        column = frame[field["name"]]
        if "categories" in field:
            assert set(column) <= set(field["categories"])
        else:
            assert column.min() >= field["constraints"]["minimum"]  # type: ignore[operator]
            assert column.max() <= field["constraints"]["maximum"]  # type: ignore[operator]
    shares = frame["native-country"].value_counts(sort=True)["count"] / len(frame)
    assert shares[0] > 0.2  # values are skewed
    rich = frame.group_by("class").agg(pl.col("education-num").mean()).sort("class")["education-num"]
    assert rich[1] > rich[0] + 1  # the class depends on the other columns


def test_generated_graphs_are_simple_and_have_a_tail() -> None:
    pairs = data.edges(4000)
    assert pairs.equals(data.edges(4000))
    assert len(pairs) == pairs.unique().height == 4000
    assert (pairs["a"] < pairs["b"]).all()
    degrees = np.bincount(pairs.to_numpy().ravel())
    assert degrees.max() > 4 * degrees.mean()


def test_generated_sets_have_the_declared_universe(tmp_path: Path) -> None:
    data.make("sets", 500, 40, tmp_path / "sets")
    items = {int(word) for line in (tmp_path / "sets.dat").read_text().splitlines() for word in line.split()}
    assert min(items) >= 1
    assert max(items) <= 40


# ---- the stopwatch --------------------------------------------------------------------------------------------


class Ticks:
    """A clock that moves only when `now` is changed."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


class Slow:
    """An engine whose answers take known times of this clock."""

    classes = 2

    def __init__(self, ticks: Ticks) -> None:
        self.ticks = ticks

    def tally(self, number: int) -> Iterator[tuple[int, int, Any]]:
        for first in range(number):
            self.ticks.now += 1
            yield first, first + 1, np.zeros((1, 5))

    def occupied(self) -> tuple[Any, Any]:
        self.place()
        self.ticks.now += 2
        return np.zeros(7), np.zeros(7)

    def place(self) -> None:
        self.ticks.now += 10

    def split(self) -> None:
        self.ticks.now += 100


def test_the_stopwatch_counts_nothing_twice() -> None:
    ticks = Ticks()
    watch, engine = Stopwatch(ticks), Slow(ticks)
    watch.watch(engine, "count", "move")
    for _ in engine.tally(3):
        ticks.now += 1000  # the time of the curator between chunks is not the engine's
    engine.split()
    engine.occupied()
    assert dict(watch.seconds) == {"count": 3 + 12, "move": 100}


@pytest.mark.parametrize("method", ["rps", "diffgen"])
def test_a_watched_run_gives_the_same_release(method: str, tmp_path: Path) -> None:
    data.make("table", 2000, 5, tmp_path / "t")
    options: dict[str, Any] = {"epsilon": 1, "method": method, "insecure_seed": 3}
    plain = cantle.publish(tmp_path / "t.csv", tmp_path / "t.json", **options)
    watch = Stopwatch(clock(False))
    with watch.watching():
        watched = cantle.publish(tmp_path / "t.csv", tmp_path / "t.json", **options)
    assert plain.groups.equals(watched.groups)
    assert set(watch.seconds) <= set(PASSES)
    assert all(watch.seconds[name] > 0 for name in ("open", "count", "noise"))
    measured = dict(watch.seconds)
    cantle.publish(tmp_path / "t.csv", tmp_path / "t.json", **options)
    assert dict(watch.seconds) == measured  # the watch measures nothing after its block


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="this system does not show the times of processes")
def test_time_and_memory_of_child_processes_are_counted() -> None:
    now, held, began = clock(True), peak(True), clock(True)()  # a server of other tests may be a child process too
    program = (
        "import time\nx = bytearray(50_000_000)\nwhile time.process_time() < 0.3: pass\nprint(1, flush=True)\ninput()"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdin is not None
        child.stdout.readline()
        assert now() - began > 0.25
        assert peak(True) > held + 40
        child.stdin.close()
    until = monotonic() + 5
    while peak(True) > held + 40 and monotonic() < until:
        sleep(0.05)
    assert peak(True) < held + 40

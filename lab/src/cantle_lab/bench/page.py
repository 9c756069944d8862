"""The results of a benchmark: tables for a terminal or a page, files (text, CSV, JSON), and one line about the machine.

A page has two markers, and the numbers go between them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from math import log
from pathlib import Path

import polars as pl

from cantle.errors import OutputError, raise_alone
from cantle_lab.bench.passes import PASSES
from cantle_lab.bench.running import Bench
from cantle_lab.papers.report import aligned

BEGIN, END = "<!-- numbers: begin -->", "<!-- numbers: end -->"
ACROSS = {"rows": "records", "attributes": "attributes", "universe": "items"}
"""For each axis along which data grows, the column with its size."""

Lines = list[list[str]]
NAMES = ("method", "engine", "growing")
"""Columns that hold words; all others hold numbers."""


def measured(rows: pl.DataFrame) -> Lines:
    """One line per case: size, core-seconds, ratio, records per second, peak memory, and the passes."""
    lines = [["method", "engine", "records", "wide", "read s", "core s", "ratio", "records/s", "peak MB", *PASSES]]
    for row in rows.iter_rows(named=True):
        wide = row["attributes"] or row["items"]
        lines.append(
            [
                row["method"],
                row["engine"],
                f"{row['records']:,}",
                "" if wide is None else f"{wide:,}",
                f"{row['read']:.3f}",
                _short(row["core"]),
                _short(row["ratio"]),
                f"{row['records_per_second']:,.0f}",
                f"{row['peak']:,.0f}",
                *(f"{row[name]:.2f}" for name in PASSES),
            ]
        )
    return lines


def grown(rows: pl.DataFrame) -> Lines:
    """Exponents of growth, for each axis and method that was measured at two sizes or more.

    They are those of core-seconds over the whole range, and over the last step alone, where fixed costs matter less; of
    counting and moving over the last step; and of peak memory over the last step.
    """
    lines = [["growing", "method", "from", "to", "core s", "last step", "counting", "memory"]]
    counting = rows.with_columns(counting=pl.col("count") + pl.col("move"))
    for (axis, method), part in counting.group_by("axis", "method", maintain_order=True):
        across = ACROSS.get(str(axis))
        if across is None or len(part) < 2:
            continue
        part = part.sort(across)
        first, before, last = part.row(0, named=True), part.row(-2, named=True), part.row(-1, named=True)
        found = [exponent(first[across], last[across], first["core"], last["core"])]
        for cost in ("core", "counting", "peak"):
            found.append(exponent(before[across], last[across], before[cost], last[cost]))
        words = ["" if one is None else f"{one:.2f}" for one in found]
        lines.append([str(axis), str(method), f"{first[across]:,}", f"{last[across]:,}", *words])
    return lines


def exponent(x0: float, x1: float, y0: float, y1: float) -> float | None:
    """The exponent p of the curve y = c x^p through two points; None if no such curve exists.

    >>> exponent(10, 100, 3, 300)
    2.0
    """
    return log(y1 / y0) / log(x1 / x0) if min(x0, x1, y0, y1) > 0 and x0 != x1 else None


def _short(value: float) -> str:
    """A number rounded to three significant figures.

    >>> _short(123456.0), _short(12.345), _short(0.01234)
    ('123,000', '12.3', '0.0123')
    """
    rounded = float(f"{value:.3g}")
    return f"{rounded:,.0f}" if rounded >= 100 else f"{rounded:.3g}"


def markdown(lines: Lines) -> str:
    """The lines as a Markdown table."""
    head, *rest = lines
    rule = ["---" if word in NAMES else "---:" for word in head]
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, rule, *rest))


def tables(bench: Bench, as_text: Callable[[Lines], str] = aligned) -> Iterator[tuple[str, str]]:
    """All tables that have lines, as (title, text)."""
    rows, fixed = bench.rows, pl.col("axis") == "size"
    for title, lines in (
        ("Core-seconds, ratio to reading the same file, peak memory", measured(rows.filter(fixed))),
        ("Growing data", measured(rows.filter(~fixed))),
        ("Exponents of growth (1 is linear)", grown(rows)),
    ):
        if len(lines) > 1:
            yield title, as_text(lines)


def report(bench: Bench) -> str:
    """The text report: all tables, what was skipped, and the machine."""
    blocks = [f"{title}\n{lines}" for title, lines in tables(bench)]
    blocks += ["\n".join(f"skipped: {what}: {why}" for what, why in bench.skipped)] if bench.skipped else []
    return "\n\n".join([*blocks, setting(bench)])


def setting(bench: Bench) -> str:
    """One line about the machine, its software and the time it takes to start up."""
    facts, seconds = bench.facts, bench.seconds
    parts = [f"{name} {facts[name]}" for name in ("cantle", "python", "numpy", "polars", "numba", "duckdb", "pyspark")
             if facts[name]]  # fmt: skip
    load = "" if facts["load"] is None else f", load {facts['load']} at the start"
    where = f"{facts['cores']} cores, {facts['system']}{load}; {facts['date']}; tables: {facts['tables']}"
    kernels = seconds["kernels_seconds"] - seconds["load_seconds"]
    start = f"start-up: --help {seconds['help_seconds']:.2f}, the publisher {seconds['load_seconds']:.2f} core-s"
    start += f", numba {kernels:.2f}" if facts["numba"] else ""
    return f"{', '.join(parts)}; {where}; {start}"


def write(bench: Bench, folder: Path) -> list[Path]:
    """Writes bench.csv, bench.txt and bench.json; returns their paths."""
    paths = [folder / f"bench.{ending}" for ending in ("csv", "txt", "json")]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        bench.rows.write_csv(paths[0])
        paths[1].write_text(report(bench) + "\n", encoding="utf-8")
        paths[2].write_text(json.dumps(facts(bench), indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise_alone(OutputError(f"cannot write in {folder}: {error.strerror}; choose another -o folder"))
    return paths


def facts(bench: Bench) -> dict[str, object]:
    """All measurements in a form that JSON can hold."""
    skipped = [{"what": what, "why": why} for what, why in bench.skipped]
    return {"cases": bench.rows.to_dicts(), "skipped": skipped, "machine": bench.facts | bench.seconds}


def check(page: Path | None) -> None:
    """Refuses a page without markers before the benchmark starts, because it may run for an hour."""
    if page is not None:
        _parts(page)


def _parts(page: Path) -> tuple[str, str]:
    """The parts of the page before and after the numbers."""
    try:
        before, begin, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    except OSError as error:
        raise_alone(OutputError(f"cannot read {page}: {error.strerror}; name a page with marks for the numbers"))
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise OutputError(f"{page} has no lines {BEGIN!r} and {END!r}; the numbers go between them")
    return before, after


def put(bench: Bench, page: Path, command: str) -> None:
    """Replaces the text between the markers of a page by these measurements and the command that made them."""
    before, after = _parts(page)
    try:
        page.write_text(f"{before}{BEGIN}\n{numbers(bench, command)}\n{END}{after}", encoding="utf-8")
    except OSError as error:
        raise_alone(OutputError(f"cannot write {page}: {error.strerror}"))


def numbers(bench: Bench, command: str) -> str:
    """The text that goes between the markers of a page."""
    blocks = [f"Made by `{command}`: {setting(bench)}."]
    blocks += [f"### {title}\n\n{lines}" for title, lines in tables(bench, markdown)]
    if bench.skipped:
        blocks.append("Not measured:\n\n" + "\n".join(f"* {what}: {why}" for what, why in bench.skipped))
    return "\n\n".join(blocks)

"""Output of measurements: as files (text, CSV, JSON), and inside a page, between its two markers."""

from __future__ import annotations

import json
from pathlib import Path

from cantle.errors import OutputError, raise_alone
from cantle_lab.bench import table
from cantle_lab.bench.running import Bench

BEGIN, END = "<!-- numbers: begin -->", "<!-- numbers: end -->"


def report(bench: Bench) -> str:
    """The text report: all tables, what was skipped, and the machine."""
    blocks = [f"{title}\n{lines}" for title, lines in table.whole(bench)]
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
    return {
        "cases": bench.rows.to_dicts(),
        "skipped": skipped,
        "machine": bench.facts | bench.seconds,
        "add_seconds": bench.add,
    }


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
    blocks += [f"### {title}\n\n{lines}" for title, lines in table.whole(bench, table.markdown)]
    if bench.skipped:
        blocks.append("Not measured:\n\n" + "\n".join(f"* {what}: {why}" for what, why in bench.skipped))
    return "\n\n".join(blocks)

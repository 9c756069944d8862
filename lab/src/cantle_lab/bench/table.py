"""The tables of a benchmark, as text for a terminal or as Markdown for a page."""

from __future__ import annotations

from collections.abc import Callable
from math import log

import polars as pl

from cantle_lab.bench.model import CORES, LEAST, RECORDS, Passes, Run, forecast
from cantle_lab.bench.passes import PASSES
from cantle_lab.bench.running import Bench
from cantle_lab.papers.report import aligned

ACROSS = {"rows": "records", "attributes": "attributes", "universe": "items"}
LINES = {
    "axis": pl.String,
    "method": pl.String,
    "from": pl.Int64,
    "to": pl.Int64,
    "seconds": pl.Float64,  # exponent of core-seconds, from the smallest to the largest size
    "last": pl.Float64,  # the same over the last step alone, where fixed costs matter less
    "counting": pl.Float64,  # exponent of counting and moving, over the last step
    "memory": pl.Float64,  # exponent of peak memory, over the last step
}


def exponents(rows: pl.DataFrame) -> pl.DataFrame:
    """One line per axis and method that was measured at two sizes or more."""
    lines = []
    grown = rows.filter(pl.col("axis") != "size").with_columns(counting=pl.col("count") + pl.col("move"))
    for (axis, method), part in grown.group_by("axis", "method", maintain_order=True):
        across = ACROSS[str(axis)]
        part = part.sort(across)
        if len(part) < 2:
            continue
        first, before, last = part.row(0, named=True), part.row(-2, named=True), part.row(-1, named=True)
        ends = axis, method, first[across], last[across]
        whole = exponent(first[across], last[across], first["core"], last["core"])
        steps = (exponent(before[across], last[across], before[y], last[y]) for y in ("core", "counting", "peak"))
        lines.append((*ends, whole, *steps))
    return pl.DataFrame(lines, schema=LINES, orient="row")


def exponent(x0: float, x1: float, y0: float, y1: float) -> float | None:
    """The exponent p of the curve y = c x^p through two points; None if no such curve exists.

    >>> exponent(10, 100, 3, 300)
    2.0
    """
    return log(y1 / y0) / log(x1 / x0) if min(x0, x1, y0, y1) > 0 and x0 != x1 else None


Lines = list[list[str]]
NAMES = ("method", "engine", "growing")
"""Columns that hold words; all others hold numbers."""


def measured(rows: pl.DataFrame) -> Lines:
    """One line per case: size, core-seconds, ratio, records per second, peak memory, and the passes."""
    head = ["method", "engine", "records", "wide", "read s", "core s", "ratio", "records/s", "peak MB", *PASSES]
    lines = [head]
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
    """Exponents of growth, one line per axis and method."""
    lines = [["growing", "method", "from", "to", "core s", "last step", "counting", "memory"]]
    for row in exponents(rows).iter_rows():
        lines.append([row[0], row[1], f"{row[2]:,}", f"{row[3]:,}", *(_number(value, "{:.2f}") for value in row[4:])])
    return lines


def modelled(bench: Bench) -> Lines:
    """The model's results for large data, from the two largest runs of each method and engine with at least LEAST
    records."""
    head = ["method", "engine", "from", "records", "levels", "read+encode", "count+move", "noise+choose", "records out"]
    lines = [[*head, *(f"h on {cores:,}" for cores in CORES), "adding up s", f"sent per level, 1 of {CORES[-1]:,}"]]
    for row, smaller in largest(bench.rows.filter(pl.col("records") >= LEAST)):
        for number in RECORDS:
            model = forecast(row["method"], Passes.of(row, smaller, bench.add), number)
            parts = (model.opening, model.counting, model.deciding, model.drawing)
            lines.append(
                [
                    row["method"],
                    row["engine"],
                    f"{row['records']:,}",
                    f"{number:.0e}".replace("e+0", "e").replace("e+", "e"),
                    f"{model.levels:.0f}",
                    *map(_short, parts),
                    *(_short(model.hours(cores)) for cores in CORES),
                    _short(model.adding(CORES[-1])),
                    f"{_short(model.bytes_per_level(CORES[-1]) / 1e6)} MB",
                ]
            )
    return lines


def largest(rows: pl.DataFrame) -> list[tuple[Run, Run | None]]:
    """For each method and engine, the run with most records and the next smaller one, if there is one.

    Runs along other axes than the number of records are ignored.
    """
    able = (
        rows.filter(pl.col("axis").is_in(["size", "rows"]))
        .sort("core")
        .unique(["method", "engine", "records"], keep="first")
    )
    pairs = []
    for part in able.sort("method", "engine", "records").partition_by("method", "engine", maintain_order=True):
        pairs.append((part.row(-1, named=True), part.row(-2, named=True) if len(part) > 1 else None))
    return pairs


def _short(value: float) -> str:
    """A number rounded to three significant figures.

    >>> _short(123456.0), _short(12.345), _short(0.01234)
    ('123,000', '12.3', '0.0123')
    """
    rounded = float(f"{value:.3g}")
    return f"{rounded:,.0f}" if rounded >= 100 else f"{rounded:.3g}"


def _number(value: float | None, how: str) -> str:
    return "" if value is None else how.format(value)


def markdown(lines: Lines) -> str:
    """The lines as a Markdown table."""
    head, *rest = lines
    rule = ["---" if word in NAMES else "---:" for word in head]
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, rule, *rest))


def whole(bench: Bench, as_text: Callable[[Lines], str] = aligned) -> list[tuple[str, str]]:
    """All tables that have lines, as (title, text)."""
    tables = [("Core-seconds, ratio to reading the same file, peak memory", measured(_axis(bench.rows, True)))]
    others = _axis(bench.rows, False)
    if len(others):
        tables.append(("Growing data", measured(others)))
        tables.append(("Exponents of growth (1 is linear)", grown(bench.rows)))
    if len(bench.rows):
        tables.append(("Model, not measurement: core-seconds by part, and hours to the noisy counts", modelled(bench)))
    return [(title, as_text(lines)) for title, lines in tables if len(lines) > 1]


def _axis(rows: pl.DataFrame, size: bool) -> pl.DataFrame:
    return rows.filter((pl.col("axis") == "size") == size)

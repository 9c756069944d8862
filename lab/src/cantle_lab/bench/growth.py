"""Growth of cost with the size of the data, as exponents; an exponent of 1 means linear growth."""

from __future__ import annotations

from math import log

import polars as pl

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

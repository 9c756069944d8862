"""How strongly pairs of columns are connected: Cramér's V, from 0 (unrelated) to 1 (one determines the other).

A heat map shows them as the lower half of a square, darker where the value is larger.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from cantle.release.report.charts import Svg, line, picture, share_text, shortened, tag, text
from cantle.release.report.groupings import Ints

MOST_RECORDS = 200_000
"""Records that are looked at; of more, every second, third, … one."""

Floats = NDArray[np.float64]


def associations(columns: Sequence[Ints], sizes: Sequence[int]) -> Floats:
    """Cramér's V of each pair of grouped columns, corrected for its bias (Bergsma 2013); 1 on the diagonal."""
    strengths = np.eye(len(columns))
    for a in range(len(columns)):
        for b in range(a):
            strengths[a, b] = strengths[b, a] = cramers_v(cross_table(columns[a], columns[b], sizes[a], sizes[b]))
    return strengths


def thinned(columns: Sequence[Ints]) -> list[Ints]:
    """The same columns with at most `MOST_RECORDS` records, evenly spaced."""
    step = -(-len(columns[0]) // MOST_RECORDS) if columns else 1
    return [column[:: max(1, step)] for column in columns]


def cross_table(one: Ints, two: Ints, rows: int, columns: int) -> Ints:
    """The number of records in each pair of groups."""
    return np.bincount(one * columns + two, minlength=rows * columns).reshape(rows, columns)


def cramers_v(table: Ints) -> float:
    """Cramér's V of a table of counts.

    >>> cramers_v(np.array([[500, 0], [0, 500]])), cramers_v(np.array([[250, 250], [250, 250]]))
    (1.0, 0.0)
    """
    n = int(table.sum())
    if not n:
        return 0.0
    counts = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0].astype(float)
    rows, columns = counts.shape
    if min(rows, columns) < 2:
        return 0.0
    expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0, keepdims=True) / n
    phi = float(((counts - expected) ** 2 / expected).sum() / n)
    spare = n - 1
    phi = max(0.0, phi - (rows - 1) * (columns - 1) / spare)
    least = min(rows - (rows - 1) ** 2 / spare, columns - (columns - 1) ** 2 / spare) - 1
    return round(float(min(1.0, (phi / least) ** 0.5)), 6) if least > 0 else 0.0


def distance(one: Ints, two: Ints) -> float:
    """Total variation distance of two tables of counts, each as shares of its own sum.

    >>> distance(np.array([1, 1]), np.array([2, 0]))
    0.5
    """
    sums = max(1, int(one.sum())), max(1, int(two.sum()))
    return float(np.abs(one / sums[0] - two / sums[1]).sum() / 2)


_LETTER = 6.3


def grid(
    rows: Sequence[str], columns: Sequence[str], side: float, most: int, label: str,
    cell: Callable[[int, int, float, float], Svg | None],
) -> Svg:  # fmt: skip
    """Cells in rows and columns, whose names have at most so many letters; `cell` draws one at a place, or none."""
    left, below = (max((len(shortened(one, most)) for one in names), default=1) * _LETTER for names in (rows, columns))
    left += 8
    parts = list[Svg]()
    for a, name in enumerate(rows):
        parts.append(text(shortened(name, most), left - 5, (a + 0.5) * side + 4, anchor="end"))
        cells = (cell(a, b, left + b * side, a * side) for b in range(len(columns)))
        parts += [one for one in cells if one is not None]
    for b, name in enumerate(columns):
        x, y = left + (b + 0.5) * side + 4, len(rows) * side + 10
        parts.append(text(shortened(name, most), x, y, anchor="end", transform=f"rotate(-50 {x:.1f} {y:.1f})"))
    width, height = left + max(1, len(columns)) * side + 6, len(rows) * side + below * 0.8 + 18
    return picture(width, height, label, *parts, cls="chart matrix", fixed=True)


def heat_map(
    names: Sequence[str],
    values: Floats,
    label: str,
    *,
    words: Callable[[int, int], str],
    firm: Callable[[int, int], bool] = lambda a, b: True,  # noqa: ARG005
    scale: float = 1.0,
    signed: bool = False,
    numbers: bool = True,
) -> Svg:
    """One cell per pair of names; `words` describes a pair, and pairs for which `firm` is false are hatched.

    `scale` is the value of the darkest colour. With `signed`, values below 0 have another colour. With `numbers`, cells
    show their values.
    """
    side = max(15.0, min(40.0, 560.0 / max(1, len(names))))
    wide = side - 1.5

    def cell(row: int, b: int, x: float, y: float) -> Svg | None:
        a = row + 1  # the first name has no row
        if b >= a:
            return None
        value = float(values[a, b]) / (scale or 1.0)
        strength, colour = min(1.0, abs(value)), "less" if signed and value < 0 else "heat"
        inside = [
            tag("title", words(a, b)),
            tag("rect", x=x, y=y, width=wide, height=wide, cls="under", rx=2),
            tag("rect", x=x, y=y, width=wide, height=wide, cls=colour, rx=2, fill_opacity=round(strength, 3)),
        ]
        if not firm(a, b):
            inside.append(line(x + 3, y + side - 5, x + side - 5, y + 3, "loose"))
        if numbers and side >= 24 and strength >= 0.02:
            shown = f"{value:.2f}".replace("0.", ".") if abs(value) < 0.995 else "1"
            cls = "on" if strength > 0.55 else "in"
            inside.append(text(shown, x + wide / 2, y + side / 2 + 3, anchor="middle", cls=cls))
        return tag("g", *inside, cls="mark")

    return grid(names[1:], names[:-1], side, 18, label, cell)


def row_shares(rows: Sequence[str], columns: Sequence[str], counts: Ints, label: str) -> Svg:
    """One cell per pair of groups; its colour is the share of its row."""
    shares = counts / np.maximum(1, counts.sum(axis=1, keepdims=True))
    side = max(22.0, min(40.0, 480 / max(1, len(columns))))

    def cell(a: int, b: int, x: float, y: float) -> Svg:
        words = f"{rows[a]}, {columns[b]}: {counts[a, b]:,} ({share_text(float(shares[a, b]))} of the row)"
        dark = round(0.04 + 0.96 * float(shares[a, b]), 3)
        box = {"x": x, "y": y, "width": side - 1, "height": side - 1}
        return tag("rect", tag("title", words), **box, cls="heat", fill_opacity=dark)

    return grid(rows, columns, side, 14, label, cell)

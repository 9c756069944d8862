"""Tables and pictures of figures whose axis is not always epsilon: a panel's name ends in ` by ` and the axis.

The value NaN means that the publisher refused its settings before it read any record.
"""

from __future__ import annotations

from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from matplotlib.axes import Axes

from cantle_lab.papers import report

REFUSED = "refused"


def axis_of(panel: str) -> str:
    """The name of a panel's horizontal axis.

    >>> axis_of("MSNBC: error by fan-out")
    'fan-out'
    """
    return panel.rpartition(" by ")[2]


def table(summary: pl.DataFrame) -> str:
    """One text block per panel, with one line per series and one column per value on the horizontal axis."""
    blocks = []
    for (figure, panel), part in summary.group_by("figure", "panel", maintain_order=True):
        xs = part["x"].drop_nulls().unique().sort().to_list()
        lines = [[axis_of(str(panel)), *(f"{x:,.15g}" for x in xs)]]
        for (series,), points in part.group_by("series", maintain_order=True):
            cells = {x: _cell(mean, error) for x, mean, error in points.select("x", "mean", "error").iter_rows()}
            lines.append([str(series), *(cells.get(x, cells.get(None, "")) for x in xs)])
        blocks.append(f"{figure} {panel}\n{_aligned(lines)}")
    return "\n\n".join(blocks)


def across(summary: pl.DataFrame) -> str:
    """One text block per data set, with one line per series and one column per measure; panels are `data: measure`."""
    names = summary["panel"].str.split_exact(": ", 1).struct.rename_fields(["data", "measure"]).struct.unnest()
    blocks = []
    for (data,), part in pl.concat([summary, names], how="horizontal").group_by("data", maintain_order=True):
        measures = part["measure"].unique(maintain_order=True).to_list()
        lines = [["", *(measure.rpartition(" by ")[0] for measure in measures)]]
        for (series,), points in part.group_by("series", maintain_order=True):
            cells = {name: _cell(mean, error) for name, mean, error in points["measure", "mean", "error"].iter_rows()}
            lines.append([str(series), *(cells.get(measure, "") for measure in measures)])
        blocks.append(f"{summary['figure'][0]} {data}\n{_aligned(lines)}")
    return "\n\n".join(blocks)


def _cell(mean: float, error: float | None) -> str:
    if isnan(mean):
        return REFUSED
    return f"{mean:.3f}" if error is None else f"{mean:.3f} +-{error:.3f}"


def _aligned(lines: list[list[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join([line[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(line[1:], widths[1:], strict=True))])
        for line in lines
    )


def write(rows: pl.DataFrame, summary: pl.DataFrame, text: str, out: Path) -> list[Path]:
    """Writes the files of one figure, named as by `report.write`, with the picture of `draw`."""
    return report.write(rows, summary, text, out, draw)


def draw(summary: pl.DataFrame, path: Path) -> None:
    """Draws one figure; a series that does not depend on the axis is a dashed line."""
    report.draw_panels(summary, path, _panel)


def _panel(axes: Axes, part: pl.DataFrame) -> None:
    panel, part = part["panel"][0], part.filter(~pl.col("mean").is_nan())
    axes.set_title(panel.rpartition(" by ")[0], fontsize="medium")
    axes.set_xlabel(axis_of(panel))
    if part.height and (part["mean"] > 0).all() and " error" in panel:
        axes.set_yscale("log")  # the error of Basic made into records is a hundred times that of the best
    for i, points in enumerate(part.partition_by("series", maintain_order=True)):
        style = {"color": f"C{i % 10}", "label": points["series"][0]}
        if points["x"][0] is None:
            axes.axhline(points["mean"][0], linestyle="--", linewidth=1, **style)
        else:
            error = points["error"].fill_null(0.0).to_list()
            axes.errorbar(points["x"].to_list(), points["mean"].to_list(), error, marker="o", capsize=2, **style)
    if part.height:
        axes.legend(fontsize="x-small")

"""Reports of figures: from tidy rows to means with standard errors, a printed table, CSV files and a picture.

The horizontal axis is epsilon, or what the names of panels say: such a name ends in ` by ` and the axis. The value NaN
means that the publisher refused its settings before it read any record.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, isnan
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from matplotlib.axes import Axes


TIDY = {
    "figure": pl.String,
    "panel": pl.String,
    "series": pl.String,
    "x": pl.Float64,  # epsilon; null for a series that does not depend on it
    "repeat": pl.Int64,
    "value": pl.Float64,
}


Picture = Callable[[pl.DataFrame, Path], None]
"""A function that draws a summary into a file."""


def summarise(rows: pl.DataFrame) -> pl.DataFrame:
    """Mean, standard error (null for one repeat) and repeats of each point, in the order of the rows.

    In a panel with a series called `raw`, the column `raw` of every point has the mean of that series.
    """
    keys = ["figure", "panel", "series", "x"]
    points = rows.group_by(keys, maintain_order=True).agg(
        mean=pl.col("value").mean(),
        error=pl.col("value").std() / pl.len().sqrt(),
        repeats=pl.len(),
    )
    raw = points.filter(pl.col("series") == "raw").select("panel", raw="mean")
    return points.join(raw, on="panel", how="left", maintain_order="left")


def table(summary: pl.DataFrame) -> str:
    """One text block per panel, with one line per series, one column per epsilon, and `raw` last."""
    return _blocks(summary, lambda _: "", lambda x: f"eps {x:g}")


def table_by_name(summary: pl.DataFrame) -> str:
    """One text block per panel, with one line per series and one column per value on the axis that the panel names."""
    return _blocks(summary, axis_of, lambda x: f"{x:,.15g}")


def _blocks(summary: pl.DataFrame, corner: Callable[[str], str], name: Callable[[float], str]) -> str:
    blocks = []
    for (figure, panel), part in summary.group_by("figure", "panel", maintain_order=True):
        blocks.append(f"{figure} {panel}\n" + aligned(_lines(part, corner(str(panel)), name)))
    return "\n\n".join(blocks)


def _lines(part: pl.DataFrame, corner: str, name: Callable[[float], str]) -> list[list[str]]:
    xs = part["x"].drop_nulls().unique().sort().to_list()
    raw = part["raw"][0] if "raw" in part.columns else None
    lines = [[corner, *map(name, xs), *(["raw"] if raw is not None else [])]]
    for (series,), points in part.group_by("series", maintain_order=True):
        cells = {row["x"]: _cell(row["mean"], row["error"]) for row in points.iter_rows(named=True)}
        texts = [cells.get(x, cells.get(None, "")) for x in xs]
        lines.append([str(series), *texts, *([f"{raw:.3f}"] if raw is not None else [])])
    return lines


def across(summary: pl.DataFrame) -> str:
    """One text block per data set, with one line per series and one column per measure; panels are `data: measure`."""
    blocks = []
    for (data,), part in with_measures(summary).group_by("data", maintain_order=True):
        measures = part["measure"].unique(maintain_order=True).to_list()
        lines = [["", *(measure.rpartition(" by ")[0] for measure in measures)]]
        for (series,), points in part.group_by("series", maintain_order=True):
            cells = {name: _cell(mean, error) for name, mean, error in points["measure", "mean", "error"].iter_rows()}
            lines.append([str(series), *(cells.get(measure, "") for measure in measures)])
        blocks.append(f"{summary['figure'][0]} {data}\n{aligned(lines)}")
    return "\n\n".join(blocks)


def with_measures(summary: pl.DataFrame) -> pl.DataFrame:
    """The summary with the two parts of a panel's name, `data: measure`, as columns."""
    names = summary["panel"].str.split_exact(": ", 1).struct.rename_fields(["data", "measure"]).struct.unnest()
    return pl.concat([summary, names], how="horizontal")


def axis_of(panel: str) -> str:
    """The horizontal axis that the name of a panel says.

    >>> axis_of("MSNBC: error by fan-out")
    'fan-out'
    """
    return panel.rpartition(" by ")[2]


def _cell(mean: float, error: float | None) -> str:
    if isnan(mean):
        return "refused"
    return f"{mean:.3f}" if error is None else f"{mean:.3f} +-{error:.3f}"


def aligned(lines: list[list[str]]) -> str:
    """Lines of cells as text, the first column aligned left and the others right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join([line[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(line[1:], widths[1:], strict=True))])
        for line in lines
    )


def write(rows: pl.DataFrame, summary: pl.DataFrame, text: str, out: Path, picture: Picture | None) -> list[Path]:
    """Writes the files of one figure to `out`: tidy rows and summary as CSV, the printed text, the picture as PNG."""
    out.mkdir(parents=True, exist_ok=True)
    name = rows["figure"][0]
    paths = [out / f"{name}{ending}" for ending in (".csv", "-summary.csv", ".txt", ".png")]
    rows.write_csv(paths[0])
    summary.write_csv(paths[1])
    paths[2].write_text(text + "\n", encoding="utf-8")
    if picture is None:
        return paths[:-1]
    picture(summary, paths[3])
    return paths


def draw(
    summary: pl.DataFrame,
    path: Path,
    *,
    columns: int = 3,
    axis: Callable[[str], str] = lambda _: "epsilon",
    log: Callable[[pl.DataFrame], bool] = lambda _: False,
) -> None:
    """Draws the panels of one figure with error bars, epsilon on a log scale, and the vertical axis too if `log`."""
    from matplotlib.figure import Figure

    panels = summary.partition_by("panel", maintain_order=True)
    columns = min(columns, len(panels))
    down = ceil(len(panels) / columns)
    # The object interface draws with Agg and leaves the caller's pyplot state and backend unchanged.
    picture = Figure(figsize=(6 * columns, 4.5 * down), layout="constrained")
    places = list(picture.subplots(down, columns, squeeze=False).flat)
    for axes, part in zip(places, panels, strict=False):
        _panel(axes, part, axis(part["panel"][0]))
        if log(part):
            axes.set_yscale("log")
    for axes in places[len(panels) :]:
        axes.remove()
    if all(points["x"].n_unique() == 1 for points in summary.partition_by("panel", "series")):
        picture.suptitle("short form: one point per line")
    picture.savefig(path, dpi=110)
    _lighten(path)


def _lighten(path: Path) -> None:
    """Writes a picture again with few colours, a quarter as large."""
    from PIL import Image

    with Image.open(path) as drawn:
        light = drawn.convert("RGB").quantize(32)
    light.save(path, optimize=True)


def draw_by_name(summary: pl.DataFrame, path: Path) -> None:
    """Draws one figure with the axes that the panels name, and errors on a log scale: the error of Basic made into
    records is a hundred times that of the best."""

    def large(part: pl.DataFrame) -> bool:
        known = part.filter(~pl.col("mean").is_nan())
        return bool(known.height and (known["mean"] > 0).all() and " error" in part["panel"][0])

    draw(summary, path, axis=axis_of, log=large)


def _panel(axes: Axes, part: pl.DataFrame, axis: str) -> None:
    axes.set_title(f"{part['figure'][0]} {part['panel'][0]}".removesuffix(f" by {axis}"), fontsize="medium")
    axes.set_xlabel(axis)
    if axis == "epsilon":
        axes.set_xscale("log")
    series = part.filter(~pl.col("mean").is_nan()).partition_by("series", maintain_order=True)
    levels = [points for points in series if points["x"][0] is None]
    for i, points in enumerate(levels):
        shade = str(0.8 * i / len(levels))  # from black to light grey; series that depend on the axis have colours
        axes.axhline(points["mean"][0], color=shade, linestyle="--", linewidth=1, label=points["series"][0])
    for i, points in enumerate(points for points in series if points["x"][0] is not None):
        error = points["error"].fill_null(0.0).fill_nan(0.0).to_list()
        style = {"color": f"C{i % 10}", "marker": "osv^D"[i % 5], "capsize": 2, "label": points["series"][0]}
        axes.errorbar(points["x"].to_list(), points["mean"].to_list(), error, **style)
    if series:
        axes.legend(fontsize="x-small", loc="center left", bbox_to_anchor=(1, 0.5))

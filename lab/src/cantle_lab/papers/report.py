"""Reports of figures: from tidy rows to means with standard errors, a printed table, CSV files and a picture."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
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
    blocks = []
    for (figure, panel), part in summary.group_by("figure", "panel", maintain_order=True):
        blocks.append(f"{figure} {panel}\n" + aligned(_lines(part)))
    return "\n\n".join(blocks)


def _lines(part: pl.DataFrame) -> list[list[str]]:
    xs = part["x"].drop_nulls().unique().sort().to_list()
    raw = part["raw"][0]
    lines = [["", *(f"eps {x:g}" for x in xs), *(["raw"] if raw is not None else [])]]
    for (series,), points in part.group_by("series", maintain_order=True):
        cells = {row["x"]: _cell(row["mean"], row["error"]) for row in points.iter_rows(named=True)}
        texts = [cells.get(x, cells.get(None, "")) for x in xs]
        lines.append([str(series), *texts, *([f"{raw:.3f}"] if raw is not None else [])])
    return lines


def _cell(mean: float, error: float | None) -> str:
    return f"{mean:.3f}" if error is None else f"{mean:.3f} +-{error:.3f}"


def aligned(lines: list[list[str]]) -> str:
    """Lines of cells as text, the first column aligned left and the others right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join([line[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(line[1:], widths[1:], strict=True))])
        for line in lines
    )


def write(
    rows: pl.DataFrame,
    summary: pl.DataFrame,
    text: str,
    out: Path,
    picture: Callable[[pl.DataFrame, Path], None] | None = None,
) -> list[Path]:
    """Writes the files of one figure to `out`: tidy rows and summary as CSV, the printed text, the picture as PNG."""
    out.mkdir(parents=True, exist_ok=True)
    name = rows["figure"][0]
    paths = [out / f"{name}{ending}" for ending in (".csv", "-summary.csv", ".txt", ".png")]
    rows.write_csv(paths[0])
    summary.write_csv(paths[1])
    paths[2].write_text(text + "\n", encoding="utf-8")
    (picture or draw)(summary, paths[3])
    return paths


def draw(summary: pl.DataFrame, path: Path) -> None:
    """Draws one figure with error bars and epsilon on a log scale; what does not depend on epsilon is a dashed line."""
    draw_panels(summary, path, _panel)


def draw_panels(summary: pl.DataFrame, path: Path, panel: Callable[[Axes, pl.DataFrame], None]) -> None:
    """Draws one figure; `panel` draws each panel into axes of its own."""
    from matplotlib.figure import Figure

    panels = summary.partition_by("panel", maintain_order=True)
    columns = min(3, len(panels))
    down = ceil(len(panels) / columns)
    # The object interface draws with Agg and leaves the caller's pyplot state and backend unchanged.
    picture = Figure(figsize=(6 * columns, 4.5 * down), layout="constrained")
    places = list(picture.subplots(down, columns, squeeze=False).flat)
    for axes, part in zip(places, panels, strict=False):
        panel(axes, part)
    for axes in places[len(panels) :]:
        axes.remove()
    picture.savefig(path, dpi=110)


def _panel(axes: Axes, part: pl.DataFrame) -> None:
    axes.set_title(f"{part['figure'][0]} {part['panel'][0]}")
    axes.set_xscale("log")
    axes.set_xlabel("epsilon")
    series = part.partition_by("series", maintain_order=True)
    levels = [points for points in series if points["x"][0] is None]
    for i, points in enumerate(levels):
        shade = str(0.8 * i / len(levels))  # from black to light grey; series that depend on epsilon have colours
        axes.axhline(points["mean"][0], color=shade, linestyle="--", linewidth=1, label=points["series"][0])
    for i, points in enumerate(points for points in series if points["x"][0] is not None):
        error = points["error"].fill_null(0.0).fill_nan(0.0).to_list()
        style = {"color": f"C{i}", "marker": "osv^D"[i % 5], "capsize": 2, "label": points["series"][0]}
        axes.errorbar(points["x"].to_list(), points["mean"].to_list(), error, **style)
    axes.legend(fontsize="x-small", loc="center left", bbox_to_anchor=(1, 0.5))

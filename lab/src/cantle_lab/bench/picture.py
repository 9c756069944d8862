"""The picture of a benchmark: the share of each pass in a run, the ratios of whole runs, and growth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from matplotlib.axes import Axes

from cantle_lab.bench.growth import ACROSS
from cantle_lab.bench.passes import PASSES


def draw(rows: pl.DataFrame, path: Path) -> None:
    """One bar per case, with its passes side by side and its ratio at the end; one panel per axis of growth."""
    from matplotlib.figure import Figure

    axes = [axis for axis in ACROSS if axis in rows["axis"]]
    fixed = rows.filter(pl.col("axis") == "size")
    panels = (1 if len(fixed) else 0) + len(axes)
    # The object interface draws with Agg and leaves the caller's pyplot state and backend unchanged.
    figure = Figure(figsize=(7, 4.5 * max(1, panels)), layout="constrained")
    places = list(figure.subplots(max(1, panels), 1, squeeze=False).flat)
    if len(fixed):
        _bars(places.pop(0), fixed)
    for place, axis in zip(places, axes, strict=False):
        _lines(place, rows.filter(pl.col("axis") == axis), ACROSS[axis])
    figure.savefig(path, dpi=110)


def _bars(place: Axes, rows: pl.DataFrame) -> None:
    """Draws one bar per case, divided into its passes."""
    names = [f"{m}, {e}, {n:,}" for m, e, n in rows.select("method", "engine", "records").iter_rows()]
    left = [0.0] * len(rows)
    whole = rows.select(pl.sum_horizontal(PASSES)).to_series()
    for name in PASSES:
        width = (100 * rows[name] / whole).to_list()
        place.barh(names, width, left=left, label=name)
        left = [a + b for a, b in zip(left, width, strict=True)]
    for i, ratio in enumerate(rows["ratio"].to_list()):
        place.text(101, i, f"{float(f'{ratio:.3g}'):,g}", va="center", fontsize="small")
    place.invert_yaxis()
    place.set_xlim(0, 112)
    place.set_xlabel("per cent of core-seconds; at the end: ratio to polars reading the same file")
    place.legend(fontsize="x-small", ncols=len(PASSES), loc="lower center", bbox_to_anchor=(0.5, 1))


def _lines(place: Axes, rows: pl.DataFrame, across: str) -> None:
    """Draws core-seconds by size, with one line per method."""
    for (method,), part in rows.group_by("method", maintain_order=True):
        part = part.sort(across)
        place.plot(part[across].to_list(), part["core"].to_list(), marker="o", label=str(method))
    # With linear axes from 0, linear growth looks linear.
    place.set_xlim(left=0)
    place.set_ylim(bottom=0)
    place.set_xlabel(across)
    place.set_ylabel("core-seconds")
    place.legend(fontsize="x-small")

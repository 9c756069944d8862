"""The coverage of the intervals of `cantle query`, by kind of question, table and epsilon."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from cantle.interfaces import demo_data
from cantle.release.answers.table_answers import TableAsker
from cantle_lab.papers import made_tables, report, table_sets
from cantle_lab.papers.harness import Row, Setting
from cantle_lab.papers.interval_questions import Checked, Numbers, Truth, check
from cantle_lab.papers.table_sets import TableSet

FIGURE = "intervals"
QUICK = Numbers(20, 20, 4, 10, 2)
PANELS = ("held", "held, lowest release", "half width (of n; means in sd)", "times wider than needed")
LEAST = 10
"""Fewest questions of a class that make a figure."""


def intervals(setting: Setting) -> Iterator[Row]:
    """How often 95 % intervals hold the truth, by kind of question; how wide they are, and how many times wider than
    needed."""
    for table in _tables(setting):
        truth = Truth(table)
        for epsilon in setting.pick((0.1, 0.3, 1, 3), (1,)):
            checked = list[list[Checked]]()
            for repeat in range(setting.repeats):
                options = {"method": "mosaic", "accuracy_share": "1/25"}
                release = setting.release(table.frame, table.schema, epsilon, options, repeat)
                dice = np.random.default_rng(1 + repeat)
                checked.append(list(check(TableAsker(release), truth, QUICK if setting.quick else Numbers(), dice)))
            yield from rows_of(FIGURE, table.name, epsilon, checked)


def _tables(setting: Setting) -> Iterator[TableSet]:
    if setting.quick:
        yield TableSet("demo", demo_data.population(), demo_data.SCHEMA)
        return
    folder: Path | None = setting.data_dir
    yield from table_sets.present(folder, FIGURE, setting.echo) if folder else ()
    yield from (made_tables.hospital(), made_tables.insurance(), made_tables.housing())


def rows_of(figure: str, data: str, epsilon: float, releases: Sequence[Sequence[Checked]]) -> Iterator[Row]:
    """Over all releases of the same data: coverage, the lowest of a release, half widths, and how many times wider
    than needed the intervals are."""
    every = [_by_class(checked) for checked in releases]
    for name, some in _by_class([one for checked in releases for one in checked]).items():
        lowest = min((_held(classes[name]) for classes in every if name in classes), default=_held(some))
        used = np.quantile([one.used for one in some], 0.95, method="inverted_cdf")
        values = _held(some), lowest, np.median([one.half_width for one in some]), 1 / max(0.01, used)
        for panel, value in zip(PANELS, values, strict=True):
            yield Row(figure, f"{data}: {panel}", name, epsilon, 0, float(value))


def _held(checked: Sequence[Checked]) -> float:
    return float(np.mean([one.held for one in checked]))


def overview(summary: pl.DataFrame) -> str:
    """The figures of all data, then one line per class over all of them: mean coverage, the lowest of one data set and
    of a release, and the medians of half widths and of how many times wider than needed."""
    epsilons = summary["x"].unique().sort().to_list()
    lines = [["all data", *(f"eps {epsilon:g}" for epsilon in epsilons)]]
    for (series,), part in summary.group_by("series", maintain_order=True):
        lines.append([str(series), *(_cell(part.filter(pl.col("x") == epsilon)) for epsilon in epsilons)])
    return f"{report.table(summary)}\n\n{report.aligned(lines)}"


def _cell(part: pl.DataFrame) -> str:
    of = {panel: part.filter(pl.col("panel").str.ends_with(panel))["mean"].to_list() for panel in PANELS}
    held, release, width, wider = of.values()
    if not held:
        return "-"
    lowest = f"[{min(held):.2f} {min(release):.2f}]"
    return f"{np.mean(held):.2f} {lowest} {np.median(width):.3f} x{np.median(wider):.1f}"


def _by_class(checked: Sequence[Checked]) -> dict[str, list[Checked]]:
    classes = defaultdict[str, list[Checked]](list)
    for one in checked:
        for name in one.classes:
            classes[name].append(one)
    return {name: some for name, some in sorted(classes.items()) if len(some) >= LEAST}

"""The figures of the papers that can be reproduced, and the function that does it.

Each figure is a function from a `Setting` to tidy rows. `reproduce` runs the named ones, prints their tables with what
the paper says, and writes CSV and PNG files. By default noise comes from the operating system, as in a real release;
folds and generated data are seeded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path

import polars as pl
import yaml

from cantle.errors import ParameterError
from cantle_lab.papers import (
    ablation,
    analyst_figures,
    basket_figures,
    degree_figures,
    diffgen_figures,
    diffpart_figures,
    family_figures,
    family_interval_coverage,
    interval_coverage,
    list_figures,
    place_figures,
    report,
    rps_figures,
    sequence_figures,
    set_interval_coverage,
    stated_errors,
    table_figures,
)
from cantle_lab.papers.harness import Figure, Publish, Setting

_of_sets = partial(Figure, table=report.table_by_name, picture=report.draw_by_name)
_over_sets = partial(Figure, x="budget", table=report.across, picture=report.draw_by_name)
_of_tables = partial(Figure, table=table_figures.table, picture=table_figures.draw)

FIGURES: Mapping[str, Figure] = {
    "rps-fig1": Figure(rps_figures.fig1),
    "rps-fig2": Figure(rps_figures.fig2),
    "rps-fig3": Figure(rps_figures.fig3),
    "rps-subsets": Figure(ablation.subsets),
    "rps-table1": Figure(degree_figures.table1, "graph", degree_figures.statistics_table, None),
    "rps-degrees": Figure(degree_figures.degrees, table=degree_figures.table, picture=degree_figures.draw),
    "diffgen-fig3": Figure(diffgen_figures.fig3),
    "diffgen-fig4": Figure(diffgen_figures.fig4),
    "diffgen-fig5": _of_sets(diffgen_figures.fig5, "records"),
    "diffgen-fig5-large": _of_sets(diffgen_figures.fig5_large, "records"),
    "diffpart-fig3": _of_sets(diffpart_figures.fig3, "budget"),
    "diffpart-fig4": _of_sets(diffpart_figures.fig4, "size"),
    "diffpart-fig5": _of_sets(diffpart_figures.fig5, "fan-out"),
    "diffpart-fig6": _of_sets(diffpart_figures.fig6, "items"),
    "diffpart-fig7": _of_sets(diffpart_figures.fig7, "records"),
    "diffpart-fig8": _of_sets(diffpart_figures.fig8, "budget"),
    "diffpart-sets": _over_sets(diffpart_figures.all_sets),
    "diffpart-msnbc": _over_sets(diffpart_figures.msnbc),
    "baskets-sets": _over_sets(basket_figures.compare),
    "journeys": _over_sets(sequence_figures.compare),
    "tables": _of_tables(table_figures.tables),
    "tables-more": _of_tables(table_figures.more),
    "intervals": Figure(interval_coverage.intervals, table=interval_coverage.overview),
    "intervals-families": Figure(family_interval_coverage.intervals_of_families, table=interval_coverage.overview),
    "intervals-sets": Figure(set_interval_coverage.intervals_of_sets, table=interval_coverage.overview),
    "places": Figure(place_figures.places),
    "plan": Figure(stated_errors.predictions),
    "accuracy": Figure(stated_errors.accuracy),
    "families": Figure(family_figures.families),
    "lists": Figure(list_figures.lists),
    "ablation": Figure(ablation.tables),
    "analysts-numbers": Figure(analyst_figures.numbers),
    "analysts-regressions": Figure(analyst_figures.regressions),
    "analysts-surveys": Figure(analyst_figures.surveys),
    "analysts-hubs": Figure(analyst_figures.hubs),
}


def claims_of(name: str) -> list[str]:
    """What the paper says about a figure (claims.yaml); nothing about figures of our own."""
    claims: dict[str, list[str]] = yaml.safe_load((Path(__file__).parent / "claims.yaml").read_text(encoding="utf-8"))
    return claims.get(name, [])


def reproduce(
    names: Sequence[str],
    *,
    out: str | Path,
    data_dir: str | Path | None = None,
    publish: Publish | None = None,
    repeats: int = 5,
    quick: bool = False,
    seed: int | None = None,
    echo: Callable[[str], None] = print,
    progress: Callable[[str], None] = lambda _: None,
) -> list[Path]:
    """Runs the named figures (`all` for every one), prints their tables, and returns the files written in `out`.

    `quick` makes one repeat on few points. `seed` makes the run repeatable, and its releases not private. `echo` is
    called with each text to print, `progress` with the name of each point when it is measured.
    """
    wanted = list(FIGURES) if "all" in names else list(names)
    unknown = [name for name in wanted if name not in FIGURES]
    if unknown or not wanted:
        raise ParameterError(f"unknown figure {', '.join(unknown) or '(none given)'}; choose from {', '.join(FIGURES)}")
    setting = Setting(
        publish=publish or import_module("cantle.interfaces.publishing").publish,
        data_dir=Path(data_dir) if data_dir is not None else None,
        repeats=1 if quick else repeats,
        quick=quick,
        seed=seed,
        echo=echo,
    )
    return [path for name in wanted for path in _reproduce_one(name, setting, Path(out), progress)]


def _reproduce_one(name: str, setting: Setting, out: Path, progress: Callable[[str], None]) -> list[Path]:
    """Runs one figure, prints its table and the paper's claims, and returns the files written."""
    printed: list[str] = []

    def echo(line: str) -> None:
        printed.append(line)
        setting.echo(line)

    figure, measured = FIGURES[name], []
    for row in figure.rows(replace(setting, echo=echo)):
        measured.append(row)
        progress(f"{name} {row.series}" + (f", {figure.x} {row.x:.15g}" if row.x is not None else ""))
    rows = pl.DataFrame(measured, schema=report.TIDY, orient="row")
    summary = report.summarise(rows)
    echo(figure.table(summary))
    if setting.quick:
        echo("short form: few points, one repeat; it shows that the figure can be made, and no claim of a paper")
    for claim in claims_of(name) if not setting.quick else ():
        echo(f"paper: {claim}")
    return report.write(rows, summary, "\n".join(printed), out, figure.picture)

"""The figures of the papers that can be reproduced, and the function that does it.

Each figure is a function from a `Setting` to tidy rows. `reproduce` runs the named ones, prints their tables with what
the paper says, and writes CSV and PNG files. By default noise comes from the operating system, as in a real release;
folds and generated data are seeded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import polars as pl

from cantle.errors import ParameterError
from cantle_lab.papers import (
    ablation,
    accuracy_figures,
    analyst_figures,
    basket_figures,
    degree_figures,
    diffgen_figures,
    diffpart_figures,
    interval_coverage,
    plan_check,
    report,
    rps_figures,
    set_interval_coverage,
    setreport,
    table_figures,
)
from cantle_lab.papers.harness import Figure, Publish, Setting

_RUNTIME = (
    "h = 15, epsilon 1, 200,000 to 1 million records, Core i7 2.7 GHz: drawn only, on an axis that ends at 180 seconds",
    "cost in theory h n log n; all other experiments end within 30 seconds",
)


FIGURES: Mapping[str, Figure] = {
    "rps-fig1": Figure(
        rps_figures.fig1,
        (
            "depth 5 is too shallow; depth 100 is bad under small epsilon",
            "depth 50 is best, EMD close to 0; 10 or 20 slightly worse",
            "stopping counts 3 and 10 slightly worse than 5 for smaller epsilon; axis of (b) ends at 0.6",
        ),
    ),
    "rps-fig2": Figure(
        rps_figures.fig2,
        (
            "too small or too large a depth hinders utility",
            "a stopping count of 5 works well; the difference vanishes as epsilon grows",
            "the median does better than the midpoint",
        ),
    ),
    "rps-fig3": Figure(
        rps_figures.fig3,
        (
            "Naive Bayes on the release is close to Naive Bayes on the raw records; baseline 0.75",
            "stopping at a noisy count of 5 does better than going to depth 50",
            "better than Mondrian; C4.5 slightly worse than Naive Bayes",
        ),
    ),
    "rps-table1": Figure(
        degree_figures.table1,
        ("does not say how alpha was fitted; ours has the largest likelihood under the zeta law",),
        "graph",
        degree_figures.statistics_table,
        degree_figures.statistics_files,
    ),
    "rps-fig4": Figure(
        degree_figures.fig4,
        (
            "RPS performs much better than Hay et al. for all graphs and all epsilon, most at small epsilon",
            "KS is small for both settings of the maximum degree",
        ),
        table=degree_figures.table,
        write=degree_figures.files,
    ),
    "rps-fig5": Figure(
        degree_figures.fig5,
        (
            "RPS outperforms Hay et al. for all graphs; a known maximum degree helps, though not by much",
            "for epsilon >= 1 the EMD is close to 10 and at least 100 below that of Hay et al.",
        ),
        table=degree_figures.table,
        write=degree_figures.files,
    ),
    "rps-degrees": Figure(
        degree_figures.few,
        ("figures 4 and 5 at epsilon 0.1, 0.5 and 1",),
        table=degree_figures.table,
        write=degree_figures.files,
    ),
    "diffgen-fig3": Figure(
        diffgen_figures.fig3,
        (
            "baseline 0.853 (raw), lower bound 0.755 (no attributes)",
            "Max: 0.822 at epsilon 1, h = 10; 0.805 to 0.817 at epsilon 0.5; about 0.78 at best at epsilon 0.1",
            "InfoGain is not as good as Max",
            "accuracy first rises with the number of specialisations, then falls",
        ),
    ),
    "diffgen-fig4": Figure(
        diffgen_figures.fig4,
        (
            "h = 15, Max, 10 runs of 10-fold cross-validation; baseline 0.853, lower bound 0.755",
            "clearly better than DiffP-C4.5 for epsilon up to 2, comparable above (its values are from its paper)",
            "better than TDS with k = 5",
        ),
    ),
    "diffgen-fig5": Figure(
        diffgen_figures.fig5, _RUNTIME, "records", diffgen_figures.runtime_table, diffgen_figures.runtime_files
    ),
    "diffgen-fig5-large": Figure(
        diffgen_figures.fig5_large, _RUNTIME, "records", diffgen_figures.runtime_table, diffgen_figures.runtime_files
    ),
    "diffpart-fig3": Figure(
        diffpart_figures.fig3,
        (
            "f = 10, 10 runs, C1 and C2 not given; STM is not public, the stand-in is generated",
            "the error falls as the budget grows; it is more stable with the length of queries than that of Basic",
            "the error of Basic is significantly larger in all cases, most for short queries",
        ),
        "budget",
        setreport.table,
        setreport.write,
    ),
    "diffpart-fig4": Figure(
        diffpart_figures.fig4,
        (
            "linear in the number of records (a) and in the size of the universe (b, at 800,000 records)",
            "less than 35 seconds for STM, 1,210,096 records and 1,012 items; C++, Core 2 Duo 2.26 GHz",
        ),
        "size",
        setreport.table,
        setreport.write,
    ),
    "diffpart-fig5": Figure(
        diffpart_figures.fig5,
        ("relatively stable for different fan-outs",),
        "fan-out",
        setreport.table,
        setreport.write,
    ),
    "diffpart-fig6": Figure(
        diffpart_figures.fig6,
        ("the error falls as the universe gets smaller, and then depends less on the budget",),
        "items",
        setreport.table,
        setreport.write,
    ),
    "diffpart-fig7": Figure(
        diffpart_figures.fig7,
        (
            "on MSNBC the error improves significantly with the budget, on STM it changes little",
            "the smaller the budget, the more the error depends on the number of records",
        ),
        "records",
        setreport.table,
        setreport.write,
    ),
    "diffpart-fig8": Figure(
        diffpart_figures.fig8,
        (
            "utility rises with the budget and falls with K; above 0.70 but for STM at budget 0.5",
            "above 0.78 at K = 100 and budgets above 1 on both data sets",
        ),
        "budget",
        setreport.table,
        setreport.write,
    ),
    "diffpart-sets": Figure(
        diffpart_figures.all_sets,
        ("MSNBC and STM only; err20 and err60 are its query groups, rec1, rec2 and the other sets are ours",),
        "budget",
        setreport.across,
        setreport.write,
    ),
    "diffpart-msnbc": Figure(
        diffpart_figures.msnbc,
        ("10 runs; err20 and err60 are its query groups, rec1 and rec2 ours",),
        "budget",
        setreport.across,
        setreport.write,
    ),
    "baskets-sets": Figure(basket_figures.compare, (), "budget", setreport.across, setreport.write),
    "tables": Figure(table_figures.tables, (), table=table_figures.table, write=table_figures.files),
    "tables-more": Figure(table_figures.more, (), table=table_figures.table, write=table_figures.files),
    "ablation": Figure(ablation.tables, ()),
    "ablation-sets": Figure(ablation.of_sets, ()),
    "analysts-tails": Figure(analyst_figures.tails, ()),
    "analysts-classes": Figure(analyst_figures.classes, ()),
    "analysts-numbers": Figure(analyst_figures.numbers, ()),
    "analysts-surveys": Figure(analyst_figures.surveys, ()),
    "intervals": Figure(interval_coverage.intervals, (), table=interval_coverage.overview),
    "intervals-sets": Figure(set_interval_coverage.intervals_of_sets, (), table=interval_coverage.overview),
    "plan": Figure(plan_check.predictions, ()),
    "accuracy": Figure(accuracy_figures.accuracy, ()),
}


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
    for claim in figure.claims:
        echo(f"paper: {claim}")
    return figure.write(rows, summary, "\n".join(printed), out)

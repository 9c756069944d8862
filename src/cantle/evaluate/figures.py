"""Rebuilds figures 1, 2 and 3 of the RPS paper (section 4) with a publisher given from outside; lists all figures.

Each figure is a function from a `Setting` to tidy rows; `reproduce` runs the named ones, prints their tables
beside what the paper says, and writes CSV and PNG. By default the mechanism draws from the operating system,
as a real release does; folds and generated data are seeded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import polars as pl

from cantle.errors import ParameterError
from cantle.evaluate import adult, classify, report, synthetic
from cantle.evaluate.baselines import mondrian
from cantle.evaluate.coding import Coder
from cantle.evaluate.metrics import emd, locate, purity

Schema = Mapping[str, Any]
Options = Mapping[str, Any]


class Row(NamedTuple):
    """One measured value; `x` is epsilon (or what its figure says), None for a level that does not depend on it."""

    figure: str
    panel: str
    series: str
    x: float | None
    repeat: int
    value: float


class Published(Protocol):
    """What a figure reads from a release."""

    @property
    def records(self) -> Any:
        """Frame with the columns of the table."""

    @property
    def groups(self) -> Any:
        """Frame of regions: `leaf` and for each attribute `<name>.lo`, `<name>.hi`."""


class Publish(Protocol):
    """The call of `cantle.publish`."""

    def __call__(self, data: pl.DataFrame, schema: Any, /, *, epsilon: float, **options: Any) -> Published:
        """A release of the table."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """How the figures are run: the publisher, the data folder, repeats, the short form, the seed."""

    publish: Publish
    data_dir: Path | None = None
    repeats: int = 5
    quick: bool = False
    seed: int | None = None
    echo: Callable[[str], None] = print

    def pick(self, full: Sequence[Any], few: Sequence[Any]) -> Sequence[Any]:
        """`few` in the short form, else `full`."""
        return few if self.quick else full

    def release(self, data: pl.DataFrame, schema: Schema, epsilon: float, options: Options, salt: int) -> Published:
        """A release by RPS; seeded (and so not private) only if the setting has a seed."""
        seeded = {} if self.seed is None else {"insecure_seed": 1_000_003 * self.seed + salt}
        return self.publish(data, schema, epsilon=epsilon, **({"method": "rps"} | dict(options) | seeded))

    def sweep(
        self,
        epsilons: Sequence[float],
        series: Mapping[str, Options],
        measure: Callable[[float, Options, int], float],
    ) -> Iterator[tuple[str, float, int, float]]:
        """(series, epsilon, repeat, value) over the whole grid."""
        for name, options in series.items():
            for epsilon in epsilons:
                for repeat in range(self.repeats):
                    yield name, epsilon, repeat, measure(epsilon, options, repeat)


EPSILONS = (0.01, 0.05, 0.1, 0.5, 1, 2, 5)


def paper(**changes: Any) -> dict[str, Any]:
    """Options of the paper's own setting, with these changes."""
    return {"preset": "paper"} | changes


def depths(values: Sequence[int]) -> dict[str, Options]:
    """One series for each maximum depth, at a noisy stopping count of 5 (figures 1a, 2a)."""
    return {f"depth {d}": paper(depth=d, stop="count:5") for d in values}


def stops(values: Sequence[int], depth: int) -> dict[str, Options]:
    """One series for each noisy stopping count at one maximum depth (figures 1b, 2b)."""
    return {f"stop {s}": paper(depth=depth, stop=f"count:{s}") for s in values}


OURS: dict[str, Options] = {"default preset": {"preset": "default"}}


def fig1(setting: Setting) -> Iterator[Row]:
    """EMD of one released attribute to the original, by depth (a) and by stopping count (b)."""
    table, schema = synthetic.normal(*setting.pick((), (1_000,)))

    def measure(epsilon: float, options: Options, repeat: int) -> float:
        records = setting.release(table, schema, epsilon, options, repeat).records
        return emd(table["x"].to_numpy(), records["x"].to_numpy())

    # 128 fixed cells and all the budget on their counts: fixed partitioning (section 3) at its best
    fixed = {"fixed midpoints, depth 7": paper(attributes="midpoint", depth=7, stop="none")}
    panels = {
        "a: EMD by depth": depths(setting.pick((5, 10, 20, 50, 100), (5,))) | fixed | OURS,
        "b: EMD by stopping count, depth 50": stops(setting.pick((1, 3, 5, 10), (5,)), depth=50),
    }
    for panel, series in panels.items():
        for point in setting.sweep(setting.pick(EPSILONS, (0.1, 1)), series, measure):
            yield Row("rps-fig1", panel, *point)


def fig2(setting: Setting) -> Iterator[Row]:
    """Records in their region's majority cluster, by depth (a), stopping count (b), partition (c)."""
    table, schema, process = synthetic.clusters(*setting.pick((), (1_000,)))

    def measure(epsilon: float, options: Options, repeat: int) -> float:
        return purity(process, regions(setting.release(table, schema, epsilon, options, repeat).groups, table))

    pair = setting.pick((10, 50), (10,))
    halves = {f"median, depth {d}": paper(depth=d, stop="count:5") for d in pair} | {
        f"midpoint, depth {d}": paper(attributes="midpoint", depth=d, stop="count:5") for d in pair
    }
    panels = {
        "a: purity by depth": depths(setting.pick((5, 10, 20, 50, 100), (5,))),
        "b: purity by stopping count, depth 10": stops(setting.pick((1, 3, 5, 10), (5,)), depth=10),
        "c: purity by partition method": halves | OURS,
    }
    for panel, series in panels.items():
        for point in setting.sweep(setting.pick(EPSILONS, (0.1, 1)), series, measure):
            yield Row("rps-fig2", panel, *point)


def regions(groups: pl.DataFrame, table: pl.DataFrame) -> Any:
    """The released region of each raw record (evaluation may see raw data)."""
    leaves = groups.unique("leaf", maintain_order=True)
    low, high = (leaves.select(f"{c}.{end}" for c in table.columns).to_numpy() for end in ("lo", "hi"))
    return locate(table.to_numpy().astype(np.float64), low.astype(np.float64), high.astype(np.float64))


def fig3(setting: Setting) -> Iterator[Row]:
    """Scores on Adult by 5-fold cross-validation, by epsilon; raw, majority and Mondrian as levels."""
    if setting.data_dir is None:
        raise ParameterError("rps-fig3 needs the Adult files; give --data DIR, the folder that contains adult/")
    setting.echo(str(classify.gate(setting.data_dir, *setting.pick((), (1,)))))
    table, schema = adult.load(setting.data_dir, "paper"), adult.schema("paper")
    setting.echo(f"rps-fig3: {table.height:,} records (paper: 30,162), raw score beside every result")
    yield from _levels(setting, table, schema)
    series = {
        "paper, stop 5": paper(depth=50, stop="count:5"),
        "paper, stop 0": paper(depth=50, stop="count:0"),
        "fixed midpoints": paper(attributes="midpoint", depth=50, stop="count:5"),
    } | OURS
    for name, options in series.items():
        for epsilon in setting.pick((0.1, 0.5, 1, 2, 5, 10), (1,)):
            for repeat in range(setting.repeats):
                publisher = _by_release(setting, schema, epsilon, options, repeat)
                yield from _scores(table, schema, publisher, name, epsilon, repeat)


def _levels(setting: Setting, table: pl.DataFrame, schema: Schema) -> Iterator[Row]:
    coder, rng = Coder(schema), np.random.default_rng(setting.seed)
    share = float(np.bincount(coder.encode(table).labels).max() / table.height)

    def anonymise(k: int, train: pl.DataFrame) -> pl.DataFrame:
        return mondrian(coder.encode(train), k=k).records(coder, rng)

    for repeat in range(setting.repeats):
        yield from _scores(table, schema, None, "raw", None, repeat)
        for panel in ("a: NB accuracy", "b: C4.5* accuracy"):
            yield Row("rps-fig3", panel, "majority", None, repeat, share)
        for k in setting.pick(range(2, 11), (5,)):
            yield from _scores(table, schema, partial(anonymise, k), f"Mondrian k={k}", None, repeat)


def _by_release(setting: Setting, schema: Schema, epsilon: float, options: Options, repeat: int) -> classify.Publisher:
    """A publisher for cross-validation; each fold is a release of its own."""
    folds = iter(range(1_000))

    def publish(train: pl.DataFrame) -> pl.DataFrame:
        records = setting.release(train, schema, epsilon, options, 1_000 * repeat + next(folds)).records
        return pl.DataFrame(records)

    return publish


def _scores(
    table: pl.DataFrame,
    schema: Schema,
    publisher: classify.Publisher | None,
    series: str,
    epsilon: float | None,
    repeat: int,
) -> Iterator[Row]:
    """The mean over the folds of each score of each classifier; folds are the same for all series."""
    folds = classify.cross_validate(table, schema, publisher, seed=repeat)
    letters = {"NB accuracy": "a: NB accuracy", "C4.5* accuracy": "b: C4.5* accuracy"}
    for name in classify.CLASSIFIERS:
        mine = folds.filter(pl.col("classifier") == name)
        for key in classify.SCORES:
            panel = letters.get(f"{name} {key}", f"{name} {key}")
            yield Row("rps-fig3", panel, series, epsilon, repeat, float(np.mean(mine[key].to_numpy())))
    yield Row("rps-fig3", "TVD1", series, epsilon, repeat, float(np.mean(folds["TVD1"].to_numpy())))


@dataclass(frozen=True)
class Figure:
    """A figure of a paper: the function that measures it and what the paper says it shows."""

    rows: Callable[[Setting], Iterator[Row]]
    claims: tuple[str, ...]
    x: str = "epsilon"
    table: Callable[[pl.DataFrame], str] = report.table
    write: Callable[[pl.DataFrame, pl.DataFrame, str, Path], list[Path]] = report.write


def diffgen(name: str) -> Callable[..., Any]:
    """A function of the DiffGen figures, which build on this module and so are imported when they are run."""

    def call(*arguments: Any) -> Any:
        return getattr(import_module("cantle.evaluate.diffgen_figures"), name)(*arguments)

    return call


_RUNTIME = (
    "h = 15, epsilon 1, 200,000 to 1 million records, Core i7 2.7 GHz: drawn only, on an axis that ends at 180 seconds",
    "cost in theory h n log n; all other experiments end within 30 seconds",
)


FIGURES: Mapping[str, Figure] = {
    "rps-fig1": Figure(
        fig1,
        (
            "depth 5 is too shallow; depth 100 is bad under small epsilon",
            "depth 50 is best, EMD close to 0; 10 or 20 slightly worse",
            "stopping counts 3 and 10 slightly worse than 5 for smaller epsilon; axis of (b) ends at 0.6",
        ),
    ),
    "rps-fig2": Figure(
        fig2,
        (
            "too small or too large a depth hinders utility",
            "a stopping count of 5 works well; the difference vanishes as epsilon grows",
            "the median does better than the midpoint",
        ),
    ),
    "rps-fig3": Figure(
        fig3,
        (
            "Naive Bayes on the release is close to Naive Bayes on the raw records; baseline 0.75",
            "stopping at a noisy count of 5 does better than going to depth 50",
            "better than Mondrian; C4.5 slightly worse than Naive Bayes",
        ),
    ),
    "diffgen-fig3": Figure(
        diffgen("fig3"),
        (
            "baseline 0.853 (raw), lower bound 0.755 (no attributes)",
            "Max: 0.822 at epsilon 1, h = 10; 0.805 to 0.817 at epsilon 0.5; about 0.78 at best at epsilon 0.1",
            "InfoGain is not as good as Max",
            "accuracy first rises with the number of specialisations, then falls",
        ),
    ),
    "diffgen-fig4": Figure(
        diffgen("fig4"),
        (
            "h = 15, Max, 10 runs of 10-fold cross-validation; baseline 0.853, lower bound 0.755",
            "clearly better than DiffP-C4.5 for epsilon up to 2, comparable above (its values are from its paper)",
            "better than TDS with k = 5",
        ),
    ),
    "diffgen-fig5": Figure(diffgen("fig5"), _RUNTIME, "records", diffgen("runtime_table"), diffgen("runtime_files")),
    "diffgen-fig5-large": Figure(
        diffgen("fig5_large"), _RUNTIME, "records", diffgen("runtime_table"), diffgen("runtime_files")
    ),
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
    """Runs the named figures (`all` for every one), prints their tables, gives the files written in `out`.

    `quick` is one repeat on few points. `seed` makes the run repeatable and, for the releases, not private.
    `echo` gets what is printed, `progress` the name of each point when it is measured.
    """
    wanted = list(FIGURES) if "all" in names else list(names)
    unknown = [name for name in wanted if name not in FIGURES]
    if unknown or not wanted:
        raise ParameterError(f"unknown figure {', '.join(unknown) or '(none given)'}; choose from {', '.join(FIGURES)}")
    setting = Setting(
        publish=publish or import_module("cantle.publishing").publish,
        data_dir=Path(data_dir) if data_dir is not None else None,
        repeats=1 if quick else repeats,
        quick=quick,
        seed=seed,
        echo=echo,
    )
    return [path for name in wanted for path in _reproduce_one(name, setting, Path(out), progress)]


def _reproduce_one(name: str, setting: Setting, out: Path, progress: Callable[[str], None]) -> list[Path]:
    said: list[str] = []

    def echo(line: str) -> None:
        said.append(line)
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
    return figure.write(rows, summary, "\n".join(said), out)

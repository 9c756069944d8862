"""Figures 1, 2 and 3 of the RPS paper (section 4), for the publisher that the setting provides."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np
import polars as pl

from cantle.errors import ParameterError
from cantle.schema.table import TableSchema
from cantle.trusted.core.arrays import Ints
from cantle_lab.documents import TableDocument
from cantle_lab.papers import adult, baselines, classify, synthetic
from cantle_lab.papers.baselines import mondrian
from cantle_lab.papers.coding import Coder
from cantle_lab.papers.harness import Options, Row, Setting
from cantle_lab.papers.metrics import emd, locate, purity

EPSILONS = (0.01, 0.05, 0.1, 0.5, 1, 2, 5)


def paper(**changes: object) -> dict[str, object]:
    """The options of preset `paper`, with these changes."""
    return {"preset": "paper"} | changes


def depths(values: Sequence[int]) -> dict[str, Options]:
    """One series per maximum depth, with a noisy stopping count of 5 (figures 1a, 2a)."""
    return {f"depth {d}": paper(depth=d, stop="count:5") for d in values}


def stops(values: Sequence[int], depth: int) -> dict[str, Options]:
    """One series per noisy stopping count, with one maximum depth (figures 1b, 2b)."""
    return {f"stop {s}": paper(depth=depth, stop=f"count:{s}") for s in values}


QUESTIONS = 200
"""A path of depth 50 has 50 cuts and 50 tests, each with a 200th of epsilon; the leaf gets half."""

OURS: dict[str, Options] = {"default preset": {"preset": "default"}}


def fig1(setting: Setting) -> Iterator[Row]:
    """The EMD of one released attribute, by depth (a) and stopping count (b), and what its printed levels need (c)."""
    table, schema = synthetic.normal(*setting.pick((), (1_000,)))

    def measure(epsilon: float, options: Options, repeat: int) -> float:
        times, given = options.get("times", 1), {name: value for name, value in options.items() if name != "times"}
        assert isinstance(times, int)
        records = setting.release(table, schema, times * epsilon, given, repeat).records
        return emd(table["x"].to_numpy(), records["x"].to_numpy())

    # Fixed partitioning (section 3) at its best: 128 fixed cells, whose counts get the whole budget.
    fixed = {"fixed midpoints, depth 7": paper(attributes="midpoint", depth=7, stop="none")}
    panels: dict[str, dict[str, Options]] = {
        "a: EMD by depth": depths(setting.pick((5, 10, 20, 50, 100), (5,))) | fixed | OURS,
        "b: EMD by stopping count, depth 50": stops(setting.pick((1, 3, 5, 10), (5,)), depth=50),
        "c: EMD at depth 50 as printed": {
            "permute-and-flip": paper(depth=50),
            "literal": paper(depth=50, literal=True),
            "literal, epsilon for each question": paper(depth=50, literal=True, times=QUESTIONS),
        },
    }
    yield from _swept(setting, "rps-fig1", panels, measure)
    yield from _privelet(setting, table, schema, next(iter(panels)))


def _swept(
    setting: Setting,
    figure: str,
    panels: Mapping[str, Mapping[str, Options]],
    measure: Callable[[float, Options, int], float],
) -> Iterator[Row]:
    """The value of every series at every epsilon."""
    for panel, series in panels.items():
        for name, options in series.items():
            for epsilon, repeat in setting.points(EPSILONS, (0.1, 1)):
                yield Row(figure, panel, name, epsilon, repeat, measure(epsilon, options, repeat))


def _privelet(setting: Setting, table: pl.DataFrame, schema: TableDocument, panel: str) -> Iterator[Row]:
    """Privelet on the grid of the attribute, to compare RPS with."""
    attribute = TableSchema.from_dict(dict(schema)).domain().attributes[0]
    codes = attribute.encode(table["x"])
    counts = np.bincount(codes, minlength=attribute.grid).astype(np.int64)
    for epsilon, repeat in setting.points(EPSILONS, (0.1, 1)):
        rng = np.random.default_rng(None if setting.seed is None else [setting.seed, repeat])
        released = attribute.values(baselines.released_codes(counts, epsilon, rng)).to_numpy()
        yield Row("rps-fig1", panel, "Privelet", epsilon, repeat, emd(table["x"].to_numpy(), released))


def fig2(setting: Setting) -> Iterator[Row]:
    """The share of records in the majority cluster of their region, by depth (a), stopping count (b), partition (c)."""
    table, schema, process = synthetic.clusters(*setting.pick((), (1_000,)))

    def measure(epsilon: float, options: Options, repeat: int) -> float:
        return purity(process, regions(setting.release(table, schema, epsilon, options, repeat).groups, table))

    pair = setting.pick((10, 50), (10,))
    # One thing varies from line to line: the point of the cut, then the choice of the attribute, then the mechanism.
    ways: dict[str, dict[str, object]] = {
        "median": {},
        "midpoint": {"attributes": "random-midpoint"},
        "midpoint of the widest": {"attributes": "midpoint"},
        "median, literal": {"literal": True},
    }
    halves = {f"{way}, depth {d}": paper(depth=d, stop="count:5", **more) for d in pair for way, more in ways.items()}
    panels: dict[str, dict[str, Options]] = {
        "a: purity by depth": depths(setting.pick((5, 10, 20, 50, 100), (5,))),
        "b: purity by stopping count, depth 10": stops(setting.pick((1, 3, 5, 10), (5,)), depth=10),
        "c: purity by partition method": halves | OURS,
    }
    yield from _swept(setting, "rps-fig2", panels, measure)


def regions(groups: pl.DataFrame, table: pl.DataFrame) -> Ints:
    """The released region of each raw record; evaluation may read raw data."""
    leaves = groups.unique("leaf", maintain_order=True)
    low, high = (leaves.select(f"{c}.{end}" for c in table.columns).to_numpy() for end in ("lo", "hi"))
    return locate(table.to_numpy().astype(np.float64), low.astype(np.float64), high.astype(np.float64))


def fig3(setting: Setting) -> Iterator[Row]:
    """Scores on Adult by 5-fold cross-validation, by epsilon, compared with raw records, majority and Mondrian."""
    if setting.data_dir is None:
        raise ParameterError("rps-fig3 needs the Adult files; give --data DIR, the folder that contains adult/")
    setting.echo(str(classify.gate(setting.data_dir, *setting.pick((), (1,)))))
    table, schema = adult.load(setting.data_dir, "paper"), adult.schema("paper")
    setting.echo(f"rps-fig3: {table.height:,} records (paper: 30,162), raw score beside every result")
    yield from _levels(setting, table, schema)
    series = {
        "paper, stop 5": paper(depth=50, stop="count:5"),
        "paper, stop 0": paper(depth=50, stop="count:0"),
        "literal, stop 5": paper(depth=50, stop="count:5", literal=True),
        "fixed midpoints": paper(attributes="midpoint", depth=50, stop="count:5"),
    } | OURS
    for name, options in series.items():
        for epsilon, repeat in setting.points((0.1, 0.5, 1, 2, 5, 10)):
            publisher = _by_release(setting, schema, epsilon, options, repeat)
            yield from _scores(table, schema, publisher, name, epsilon, repeat)


def _levels(setting: Setting, table: pl.DataFrame, schema: TableDocument) -> Iterator[Row]:
    """The rows that do not depend on epsilon: raw records, majority and Mondrian."""
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


def _by_release(
    setting: Setting, schema: TableDocument, epsilon: float, options: Options, repeat: int
) -> classify.Publisher:
    """A publisher for cross-validation; each fold is a separate release."""
    folds = iter(range(1_000))

    def publish(train: pl.DataFrame) -> pl.DataFrame:
        records = setting.release(train, schema, epsilon, options, 1_000 * repeat + next(folds)).records
        return pl.DataFrame(records)

    return publish


def _scores(
    table: pl.DataFrame,
    schema: TableDocument,
    publisher: classify.Publisher | None,
    series: str,
    epsilon: float | None,
    repeat: int,
) -> Iterator[Row]:
    """Each score of each classifier, averaged over the folds; folds are the same for all series."""
    folds = classify.cross_validate(table, schema, publisher, seed=repeat)
    letters = {"NB accuracy": "a: NB accuracy", "C4.5* accuracy": "b: C4.5* accuracy"}
    for name in classify.CLASSIFIERS:
        mine = folds.filter(pl.col("classifier") == name)
        for key in classify.SCORES:
            panel = letters.get(f"{name} {key}", f"{name} {key}")
            yield Row("rps-fig3", panel, series, epsilon, repeat, float(np.mean(mine[key].to_numpy())))
    yield Row("rps-fig3", "TVD1", series, epsilon, repeat, float(np.mean(folds["TVD1"].to_numpy())))

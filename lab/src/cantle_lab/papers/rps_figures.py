"""Figures 1, 2 and 3 of the RPS paper (section 4), for the publisher that the setting provides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import polars as pl

from cantle.errors import ParameterError
from cantle.schema.table import TableSchema
from cantle.trusted.core.arrays import Ints
from cantle_lab.documents import TableDocument
from cantle_lab.papers import adult, baselines, classify, made_tables
from cantle_lab.papers.baselines import mondrian
from cantle_lab.papers.coding import Coder
from cantle_lab.papers.harness import Options, Row, Setting, rows
from cantle_lab.papers.metrics import emd, locate, purity, tvd1

EPSILONS = (0.01, 0.05, 0.1, 0.5, 1, 2, 5)
FOLDS = 5
LETTERS = {"NB accuracy": "a: NB accuracy", "C4.5* accuracy": "b: C4.5* accuracy"}
"""The panels of figure 3 in the paper; those of other scores have no letters."""


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
    table, schema = made_tables.normal(*setting.pick((), (1_000,)))

    def measure(epsilon: float, options: Options, repeat: int) -> dict[str, float]:
        times, given = options.get("times", 1), {name: value for name, value in options.items() if name != "times"}
        assert isinstance(times, int)
        records = setting.release(table, schema, times * epsilon, given, repeat).records
        return {"EMD": emd(table["x"].to_numpy(), records["x"].to_numpy())}

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
    yield from setting.sweep("rps-fig1", panels, measure, EPSILONS, (0.1, 1))
    yield from _privelet(setting, table, schema, next(iter(panels)))


def _privelet(setting: Setting, table: pl.DataFrame, schema: TableDocument, panel: str) -> Iterator[Row]:
    """Privelet on the grid of the attribute, to compare RPS with."""
    attribute = TableSchema.from_dict(dict(schema)).domain().attributes[0]
    codes = attribute.encode(table["x"])
    counts = np.bincount(codes, minlength=attribute.grid).astype(np.int64)
    for epsilon, repeat in setting.points(EPSILONS, (0.1, 1)):
        released = attribute.values(baselines.released_codes(counts, epsilon, setting.rng(repeat))).to_numpy()
        yield Row("rps-fig1", panel, "Privelet", epsilon, repeat, emd(table["x"].to_numpy(), released))


def fig2(setting: Setting) -> Iterator[Row]:
    """The share of records in the majority cluster of their region, by depth (a), stopping count (b), partition (c)."""
    table, schema, process = made_tables.clusters(*setting.pick((), (1_000,)))

    def measure(epsilon: float, options: Options, repeat: int) -> dict[str, float]:
        groups = setting.release(table, schema, epsilon, options, repeat).groups
        return {"purity": purity(process, regions(groups, table))}

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
    yield from setting.sweep("rps-fig2", panels, measure, EPSILONS, (0.1, 1))


def regions(groups: pl.DataFrame, table: pl.DataFrame) -> Ints:
    """The released region of each raw record; evaluation may read raw data."""
    leaves = groups.unique("leaf", maintain_order=True)
    low, high = (leaves.select(f"{c}.{end}" for c in table.columns).to_numpy() for end in ("lo", "hi"))
    return locate(table.to_numpy().astype(np.float64), low.astype(np.float64), high.astype(np.float64))


def fig3(setting: Setting) -> Iterator[Row]:
    """Scores on Adult by 5-fold cross-validation, by epsilon, compared with raw records, majority and Mondrian."""
    if setting.data_dir is None:
        raise ParameterError("rps-fig3 needs the Adult files; give --data DIR, the folder that contains adult/")
    table, schema = adult.load(setting.data_dir, "paper"), adult.schema("paper")
    setting.echo(f"rps-fig3: {table.height:,} records (paper: 30,162), raw score beside every result")
    yield from _levels(setting, table, schema)

    def measure(epsilon: float, options: Options, repeat: int) -> dict[str, float]:
        releases = (
            pl.DataFrame(setting.release(table[kept], schema, epsilon, options, 1_000 * repeat + fold).records)
            for fold, (kept, _) in enumerate(classify.folds(table.height, FOLDS, repeat))
        )
        return cross_validate(table, schema, releases, repeat)

    series = {
        "paper, stop 5": paper(depth=50, stop="count:5"),
        "paper, stop 0": paper(depth=50, stop="count:0"),
        "literal, stop 5": paper(depth=50, stop="count:5", literal=True),
        "fixed midpoints": paper(attributes="midpoint", depth=50, stop="count:5"),
    } | OURS
    yield from setting.sweep("rps-fig3", {"{}": series}, measure, (0.1, 0.5, 1, 2, 5, 10))


def _levels(setting: Setting, table: pl.DataFrame, schema: TableDocument) -> Iterator[Row]:
    """The rows that do not depend on epsilon: raw records, majority and Mondrian."""
    coder, rng = Coder(schema), np.random.default_rng(setting.seed)
    share = float(np.bincount(coder.encode(table).labels).max() / table.height)
    for repeat in range(setting.repeats):
        parts = [table[kept] for kept, _ in classify.folds(table.height, FOLDS, repeat)]
        yield from rows("rps-fig3", "{}", "raw", None, repeat, cross_validate(table, schema, parts, repeat))
        for panel in ("a: NB accuracy", "b: C4.5* accuracy"):
            yield Row("rps-fig3", panel, "majority", None, repeat, share)
        for k in setting.pick(range(2, 11), (5,)):
            ranges = (mondrian(coder.encode(part), k=k).records(coder, rng) for part in parts)
            yield from rows(
                "rps-fig3", "{}", f"Mondrian k={k}", None, repeat, cross_validate(table, schema, ranges, repeat)
            )


def cross_validate(
    table: pl.DataFrame, schema: TableDocument, releases: Iterable[pl.DataFrame], repeat: int
) -> dict[str, float]:
    """Each score of each classifier that learns from releases of the other folds, and TVD1: means over the folds."""
    coder = Coder(schema)
    raw, every = coder.encode(table), list[dict[str, float]]()
    for (kept, held), release in zip(classify.folds(table.height, FOLDS, repeat), releases, strict=True):
        published, scores = coder.encode(release), dict[str, float]()
        for name, build in classify.CLASSIFIERS.items():
            model = build(coder)
            model.fit(published)
            found = classify.scores(model, raw.take(held))
            scores |= {LETTERS.get(f"{name} {key}", f"{name} {key}"): value for key, value in found.items()}
        every.append(scores | {"TVD1": tvd1(raw.take(kept).codes, published.codes)})
    return classify.mean_of(every)

"""Figures 3, 4 and 5 of the DiffGen paper (section 5), for the publisher that the setting provides.

The paper plots scores by the number of specialisations h. Here epsilon is on the axis, as in all our tables, and every
h is a series. Splits are seeded by the repeat and the same for every series.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import product
from pathlib import Path
from time import perf_counter

import numpy as np
import polars as pl

from cantle.errors import ParameterError
from cantle_lab.bench.passes import stages, whole_run
from cantle_lab.documents import TableDocument
from cantle_lab.papers import adult, classify, generalised
from cantle_lab.papers.coding import Coded, Coder
from cantle_lab.papers.diffp import DiffPC45
from cantle_lab.papers.harness import Options, Row, Setting, rows
from cantle_lab.papers.tds import tds

Scores = Mapping[str, float]
Measure = Callable[[pl.DataFrame, pl.DataFrame, int], Scores]
"""The scores on test records after learning from others, given with the number of the fold."""

ROUNDS = (4, 7, 10, 13, 16)
REPLACED = 0.3  # the paper says "replacing some of the attribute values randomly", and not how many


def paper(rounds: int, score: str = "max") -> Options:
    """The options of the published algorithm."""
    return {"method": "diffgen", "preset": "paper", "rounds": rounds, "score": score}


def default(objective: str) -> Options:
    """The options of our own preset."""
    return {"method": "diffgen", "preset": "default", "objective": objective}


OURS = {"default, accuracy": default("accuracy"), "default, auto": default("auto")}


# ---------------------------------------------------------------------------------------------- figure 3


def fig3(setting: Setting) -> Iterator[Row]:
    """Scores on 2/3-1/3 splits by epsilon: Max (a) and InfoGain (b) for each h, our preset (c), Max as printed (d)."""
    table, schema, raw_schema = _open(setting, "diffgen-fig3")
    rounds = setting.pick(ROUNDS, (10,))
    panels: dict[str, Mapping[str, Options]] = {
        "a: Max": {f"h = {h}": paper(h) for h in rounds},
        "b: InfoGain": {f"h = {h}": paper(h, "infogain") for h in rounds},
        "c: default": OURS,
        "d: Max, literal": {f"h = {h}": {**paper(h), "literal": True} for h in rounds},
    }
    splits = [classify.halves(table.height, repeat) for repeat in range(setting.repeats)]
    for repeat, (learn, held) in enumerate(splits):
        levels = {
            "raw": generalised.measure_raw(table[learn], table[held], raw_schema),
            "majority": generalised.majority(table[learn], table[held], raw_schema),
        }
        for panel, (series, scores) in product(panels, levels.items()):
            yield from rows("diffgen-fig3", f"{panel} {{}}", series, None, repeat, scores)

    def measure(epsilon: float, options: Options, repeat: int) -> Scores:
        learn, held = splits[repeat]
        return generalised.measure(setting.release(table[learn], schema, epsilon, options, repeat), table[held], schema)

    swept = {f"{panel} {{}}": series for panel, series in panels.items()}
    yield from setting.sweep("diffgen-fig3", swept, measure, (0.1, 0.25, 0.5, 1))


# ---------------------------------------------------------------------------------------------- figure 4


def fig4(setting: Setting) -> Iterator[Row]:
    """Scores by 10-fold cross-validation at h = 15, compared with DiffP-C4.5, TDS (k = 5) and the raw records."""
    table, schema, raw_schema = _open(setting, "diffgen-fig4")
    levels: dict[str, Measure] = {
        "raw": lambda train, test, _: generalised.measure_raw(train, test, raw_schema),
        "majority": lambda train, test, _: generalised.majority(train, test, raw_schema),
        "TDS k=5": lambda train, test, _: generalised.measure(tds(train, schema, k=5), test, schema),
    }

    def published(epsilon: float, options: Options, salt: int) -> Measure:
        def measure(train: pl.DataFrame, test: pl.DataFrame, fold: int) -> Scores:
            release = setting.release(train, schema, epsilon, options, salt + fold)
            return generalised.measure(release, test, schema)

        return measure

    def private_tree(epsilon: float, joint: bool, repeat: int) -> Measure:
        rng, coder = setting.rng(repeat), Coder(raw_schema)

        def measure(train: pl.DataFrame, test: pl.DataFrame, _: int) -> Scores:
            model = DiffPC45(coder, epsilon=epsilon, joint=joint, rng=rng)
            model.fit(coder.encode(train))
            return classify.scores(model, coder.encode(test))

        return measure

    for repeat in range(setting.repeats):
        pairs = classify.folds(table.height, 3 if setting.quick else 10, repeat)
        lines: list[tuple[str, float | None, Measure]] = [(series, None, one) for series, one in levels.items()]
        for epsilon in setting.pick((0.75, 1, 2, 3, 4), (1,)):
            for series, options in {"paper, h = 15": paper(15), **OURS}.items():
                lines.append((series, epsilon, published(epsilon, options, 1_000 * repeat)))
            for series, joint in {"DiffP-C4.5, one choice": True, "DiffP-C4.5, split first": False}.items():
                lines.append((series, epsilon, private_tree(epsilon, joint, repeat)))
        for series, x, measure in lines:
            scores = [measure(table[learn], table[held], fold) for fold, (learn, held) in enumerate(pairs)]
            yield from rows("diffgen-fig4", "{}", series, x, repeat, classify.mean_of(scores))


# ---------------------------------------------------------------------------------------------- figure 5


def fig5(setting: Setting) -> Iterator[Row]:
    """Seconds to read, anonymise and write a CSV file of 200,000 to 1,000,000 records, h = 15, epsilon 1."""
    yield from _runtimes(setting, "diffgen-fig5", setting.pick(range(200_000, 1_000_001, 200_000), (2_000,)))


def fig5_large(setting: Setting) -> Iterator[Row]:
    """Seconds to read, anonymise and write 10,000,000 records; needs about 1.2 GB of temporary space."""
    yield from _runtimes(setting, "diffgen-fig5-large", setting.pick((10_000_000,), (4_000,)))


def _runtimes(setting: Setting, figure: str, sizes: Iterable[int]) -> Iterator[Row]:
    """The rows of run times for files of these sizes."""
    table, schema, _ = _open(setting, figure)
    panels = {"a: paper, h = 15": paper(15), "b: default": default("auto")}
    with tempfile.TemporaryDirectory() as scratch:
        for size in sizes:
            data = Path(scratch) / "data.csv"
            blow_up(table, schema, size, data, np.random.default_rng(setting.seed or 0))
            for panel, options in panels.items():
                for repeat in range(setting.repeats):
                    release = partial(setting.release, data, schema, 1, options, repeat)
                    cost = stages(whole_run(release, perf_counter))
                    work = {"reading": cost["reading"], "anonymisation": cost["partitioning"] + cost["drawing"]}
                    work |= {"writing": cost["writing"], "total": sum(cost.values())}
                    for stage, value in work.items():
                        yield Row(figure, f"{panel}: seconds by records", stage, float(size), repeat, value)


def blow_up(table: pl.DataFrame, schema: TableDocument, records: int, path: Path, rng: np.random.Generator) -> None:
    """Writes a CSV of this many records: the table, then randomly changed copies of it, one after the other.

    In a copy each value of an attribute is replaced, with probability 0.3, by one drawn from its public domain. The
    class does not change (DiffGen section 5, Scalability).
    """
    coder = Coder(schema)
    raw = coder.encode(table)
    sizes = np.array([grid.size for grid in coder.attributes])
    with path.open("wb") as file:
        for start in range(0, records, table.height):
            codes = raw.codes
            if start:
                anew = rng.random(codes.shape) < REPLACED
                codes = np.where(anew, rng.integers(sizes, size=codes.shape), codes)
            block = coder.decode(Coded(codes, raw.labels)).head(records - start)
            block.write_csv(file, include_header=not start)


# ---------------------------------------------------------------------------------------------- shared


def _open(setting: Setting, figure: str) -> tuple[pl.DataFrame, TableDocument, TableDocument]:
    """All complete records, the schema with trees for publishers, and the schema without trees for the raw baseline."""
    folder = setting.data_dir
    if folder is None:
        raise ParameterError(
            f"{figure} needs the Adult files; give --data DIR, the folder that contains adult/ and adult_hierarchies/"
        )
    table, schema = adult.load(folder, "all"), adult.schema("all", hierarchies=folder)
    setting.echo(f"{figure}: {table.height:,} records (paper: 45,222), raw score beside every result")
    return table, schema, adult.schema("all")

"""What an analyst gets from a release of mosaic: classifiers, regressions, means, correlations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations, product
from pathlib import Path
from time import process_time

import numpy as np
import polars as pl

from cantle.errors import ParameterError
from cantle.methods.mosaic import plan
from cantle_lab.papers import ablation, analyst_tables, regression, table_measures, table_sets
from cantle_lab.papers.classify import halves
from cantle_lab.papers.coding import Coded, Coder
from cantle_lab.papers.harness import Options, Row, Schema, Setting
from cantle_lab.papers.table_figures import split_seed
from cantle_lab.papers.table_sets import TableSet

MOSAIC: Options = {"method": "mosaic"}
EPSILONS = (0.1, 1)
Scores = dict[str, float]


def numbers(setting: Setting) -> Iterator[Row]:
    """Numeric targets: R2 of boosting, and coefficients of least squares, with the target declared and without."""
    for name, load in analyst_tables.NUMBERS.items():
        table = load(_folder(setting))
        for series, given in (("no target", analyst_tables.undeclared(table)), ("target", table)):
            for cpu, truth, release, test, at, coder in _releases(setting, table, given):
                scores = _fidelity(coder, truth, release) | regression.coefficients(coder, truth, release)
                scores |= regression.predictions(coder, release, test) | {"CPU seconds": cpu}
                yield from _rows("analysts-numbers", name, series, at, scores)
        for repeat in range(setting.repeats):
            coder, truth, test = _split(setting, table, repeat)
            yield from _rows(
                "analysts-numbers", name, "raw", (None, repeat), regression.predictions(coder, truth, test)
            )


def regressions(setting: Setting) -> Iterator[Row]:
    """Intervals of coefficients for the declared target: how many hold those of the published records."""
    data = _folder(setting)
    two = {"Adult, class": table_sets.load_adult, "bank, deposit": table_sets.load_bank}
    for name, load in {**analyst_tables.NUMBERS, **two}.items():
        table = load(data)
        for epsilon in setting.pick(EPSILONS, (1,)):
            for repeat in range(setting.repeats):
                learn, _ = halves(table.frame.height, split_seed(setting, repeat))
                frame, given = table.frame[learn], table.published or table.schema
                options = {**MOSAIC, "accuracy_share": "1/25"}
                release = setting.release(frame, given, epsilon, options, repeat)
                scores = regression.coverage(release, frame, np.random.default_rng(repeat))
                yield from _rows("analysts-regressions", name, "mosaic", (epsilon, repeat), scores)


def surveys(setting: Setting) -> Iterator[Row]:
    """Wide surveys with hidden causes, with and without groups of items, and small tables: correlations that are
    kept."""
    sizes = (14_000, 80), (50_000, 194)
    made = [analyst_tables.survey(*size, shared=part) for size in sizes for part in (0, 0.4)]
    for table in (*made, table_sets.latent_classes(), analyst_tables.taxis()):
        given = {"mosaic": table.schema} | ({"mosaic, groups": table.published} if table.published else {})
        for epsilon, (series, schema), repeat in product(
            setting.pick(EPSILONS, (1,)), given.items(), range(setting.repeats)
        ):
            scores = _kept(setting, table, schema, (epsilon, repeat))
            yield from _rows("analysts-surveys", table.name, series, (epsilon, repeat), scores)


HUBS: Mapping[str, ablation.Part] = {"hub column": (), "no hub column": ((plan, "HUB_COLUMNS", 10**9),)}


def hubs(setting: Setting) -> Iterator[Row]:
    """Wide tables without groups and with many records per cell, with and without a hub column."""
    made = [analyst_tables.survey(50_000, 80, shared=part) for part in (0, 0.4)]
    made += [table_sets.latent_classes(), table_sets.latent_classes(50_000, 100, seed=1)]
    for table, repeat, (series, part) in product(made, range(setting.repeats), HUBS.items()):
        with ablation.without(part):
            scores = _kept(setting, table, table.schema, (1, repeat))
        yield from _rows("analysts-hubs", table.name, series, (1, repeat), scores)


def _kept(setting: Setting, table: TableSet, schema: Schema, at: tuple[float, int]) -> Scores:
    """What a release of a whole table keeps."""
    coder, started = Coder(table.schema), process_time()
    release = setting.release(table.frame, schema, at[0], MOSAIC, at[1])
    spent = process_time() - started
    truth, codes = coder.encode(table.frame), coder.encode(pl.DataFrame(release.records))
    return _fidelity(coder, truth, codes) | correlations(table, truth, codes) | {"CPU seconds": spent}


def correlations(table: TableSet, truth: Coded, release: Coded) -> Scores:
    """The share of the correlations that is left, over pairs of .3 and more; of one pair for taxis; of surveys the mean
    reliability (Cronbach's alpha) of groups, and the part of the correlations of scores with each other and with facts
    that is left."""
    raw, drawn = (np.atleast_2d(np.corrcoef(part.codes.T.astype(np.float64))) for part in (truth, release))
    pairs = np.array([pair for pair in combinations(range(len(raw)), 2) if abs(raw[pair]) >= 0.3])
    scores: Scores = {}
    if len(pairs):
        kept = np.nan_to_num(drawn[pairs[:, 0], pairs[:, 1]]) / raw[pairs[:, 0], pairs[:, 1]]
        scores["correlation kept"] = float(np.clip(kept, 0, None).mean())
    names = table.frame.columns
    if {"distance", "fare"} <= set(names):
        place = names.index("distance"), names.index("fare")
        scores |= {"fare by distance": float(drawn[place]), "fare by distance, raw": float(raw[place])}
    blocks = [[names.index(name) for name in items] for items in (table.published or {}).get("groups", {}).values()]
    if blocks:
        alphas = [[alpha(part.codes[:, block]) for block in blocks] for part in (release, truth)]
        scores |= dict(zip(("alpha", "alpha, raw"), np.mean(alphas, axis=1).tolist(), strict=True))
        scores["scores kept"] = _of_scores(blocks, truth, release)
    return scores


def _of_scores(blocks: list[list[int]], truth: Coded, release: Coded) -> float:
    """The slope of released correlations on those of the data, over pairs of scores, and of scores and others."""
    items = {item for block in blocks for item in block}
    sums = []
    for part in (truth, release):
        others = [part.codes[:, i] for i in range(part.codes.shape[1]) if i not in items]
        every = [part.codes[:, block].sum(axis=1) for block in blocks] + others
        sums.append(np.nan_to_num(np.corrcoef(every))[: len(blocks)])
    raw, drawn = (part[np.triu_indices(len(blocks), 1, part.shape[1])] for part in sums)
    return float((raw * drawn).sum() / (raw**2).sum())


def alpha(answers: np.ndarray) -> float:
    """Cronbach's alpha.

    >>> alpha(np.array([[1, 1], [2, 2], [3, 3]]))
    1.0
    """
    items = answers.shape[1]
    return float(items / (items - 1) * (1 - answers.var(axis=0).sum() / max(answers.sum(axis=1).var(), 1e-9)))


def _fidelity(coder: Coder, truth: Coded, release: Coded) -> Scores:
    grids = table_measures.grids_of(coder)
    raw, drawn = table_measures.columns_of(coder, truth), table_measures.columns_of(coder, release)
    found = table_measures.distances(grids, raw, drawn, np.random.default_rng(1))
    quantile = table_measures.counting_quantile(grids, raw, drawn, 1, np.random.default_rng(2))
    return {"TVD1": found["TVD1"], "TVD2": found["TVD2"], "q95 k=1": quantile}


def _split(setting: Setting, table: TableSet, repeat: int) -> tuple[Coder, Coded, Coded]:
    """The evaluator's view of the records to publish and of those to test on."""
    coder = Coder(table.schema)
    learn, held = halves(table.frame.height, split_seed(setting, repeat))
    return coder, coder.encode(table.frame[learn]), coder.encode(table.frame[held])


def _releases(
    setting: Setting, table: TableSet, given: TableSet
) -> Iterator[tuple[float, Coded, Coded, Coded, tuple[float, int], Coder]]:
    """CPU seconds, published, released and held-out records, epsilon and repeat, of every release."""
    for epsilon in setting.pick(EPSILONS, (1,)):
        for repeat in range(setting.repeats):
            coder, truth, test = _split(setting, table, repeat)
            learn, _ = halves(table.frame.height, split_seed(setting, repeat))
            started = process_time()
            release = setting.release(table.frame[learn], given.published or given.schema, epsilon, MOSAIC, repeat)
            spent = process_time() - started
            yield spent, truth, coder.encode(pl.DataFrame(release.records)), test, (epsilon, repeat), coder


def _folder(setting: Setting) -> Path:
    if setting.data_dir is None:
        raise ParameterError("give --data DIR, the folder that contains adult/, bank-marketing/ and nltcs/")
    return setting.data_dir


def _rows(figure: str, table: str, series: str, at: tuple[float | None, int], scores: Scores) -> Iterator[Row]:
    for measure, value in scores.items():
        yield Row(figure, f"{table}: {measure}", series, *at, value)

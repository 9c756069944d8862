"""Comparison of journeys with chains, n-grams, the prefix tree and PrivTree's suffix tree, on seven logs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from cantle.release import Release
from cantle_lab.papers.harness import Row, Setting, rows
from cantle_lab.papers.made_up_logs import care_pathways, click_paths, order_process, work_items
from cantle_lab.papers.sequences import BASELINES, Sequences, load, measures

FIGURE = "journeys"
NEEDS = {"msnbc": "msnbc/msnbc990928.seq.xz", "metro": "metro/metro.seq.xz", "helpdesk": "helpdesk/helpdesk.csv.xz"}
MADE_UP = {
    "long repeats": (work_items, 8_700),
    "orders": (order_process, 12_000),
    "care": (care_pathways, 6_000),
    "clicks": (click_paths, 60_000),
}
BUDGETS = (0.1, 1.0)


def compare(setting: Setting) -> Iterator[Row]:
    """Journeys and every baseline on every data set; distances are best at 0, perplexity at 1.

    Every tenth sequence is held out, for perplexity.
    """
    for name, every in _data(setting):
        held = np.arange(len(every)) % 10 == 9
        data, others = every.take(~held), every.take(held)
        for epsilon, repeat in setting.points(BUDGETS):
            panel = f"{name} at epsilon {epsilon:g}: {{}} by method"
            for series, made in _made(setting, data, epsilon, repeat):
                yield from rows(FIGURE, panel, series, epsilon, repeat, measures(data, made, others))


def _data(setting: Setting) -> Iterator[tuple[str, Sequences]]:
    for name, (made_up, records) in MADE_UP.items():
        yield name, made_up(setting.pick((records,), (2_000,))[0])
    for name, needed in NEEDS.items():
        if setting.data_dir is not None and (setting.data_dir / needed).exists():
            yield name, load(name, setting.data_dir)
        else:
            setting.echo(f"{FIGURE}: {name} skipped; it needs --data DIR, the folder that contains {needed}")


def _made(setting: Setting, data: Sequences, epsilon: float, repeat: int) -> Iterator[tuple[str, Sequences]]:
    options = {"method": "journeys", "accuracy_share": "1/25"}
    release = setting.release(_frame(data), data.schema(), epsilon, options, repeat)
    yield FIGURE, released(release, data)
    for number, (name, make) in enumerate(BASELINES.items()):
        yield name, make(data, epsilon, np.random.default_rng([number, repeat, setting.seed or 0]))


def _frame(data: Sequences) -> pl.DataFrame:
    owner = np.repeat(np.arange(len(data)), data.lengths)
    rows = pl.DataFrame({"owner": owner, "items": data.codes}).group_by("owner", maintain_order=True).agg("items")
    return rows.select("items")


def released(release: Release, data: Sequences) -> Sequences:
    """The sequences of a release as codes; the alphabet starts at 0."""
    lists = pl.DataFrame(release.records)["items"]
    starts = np.append(0, np.cumsum(lists.list.len().to_numpy().astype(np.int64)))
    return Sequences(starts, lists.explode(empty_as_null=False).to_numpy().astype(np.int64), data.symbols, data.longest)

"""The coverage of the intervals of `cantle query`, by kind of question, table and epsilon."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from cantle.interfaces import demo_data
from cantle.release.asking import Asker
from cantle_lab.papers import made_tables, table_sets
from cantle_lab.papers.harness import Row, Setting
from cantle_lab.papers.interval_questions import Checked, Numbers, Truth, check
from cantle_lab.papers.table_sets import TableSet

FIGURE = "intervals"
QUICK = Numbers(20, 20, 4, 10, 2)
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
                checked.append(list(check(Asker(release), truth, QUICK if setting.quick else Numbers(), dice)))
            yield from _rows(table.name, epsilon, checked)


def _tables(setting: Setting) -> Iterator[TableSet]:
    if setting.quick:
        yield TableSet("demo", demo_data.population(), demo_data.SCHEMA)
        return
    folder: Path | None = setting.data_dir
    yield from table_sets.present(folder, FIGURE, setting.echo) if folder else ()
    yield from (made_tables.hospital(), made_tables.insurance(), made_tables.housing())


def _rows(table: str, epsilon: float, releases: Sequence[Sequence[Checked]]) -> Iterator[Row]:
    """Coverage and half width per release, and over all releases how many times wider than needed intervals are."""
    for repeat, checked in enumerate(releases):
        for name, some in _by_class(checked).items():
            held = float(np.mean([one.held for one in some]))
            yield Row(FIGURE, f"{table}: share of intervals that hold the truth", name, epsilon, repeat, held)
            width = float(np.median([one.half_width for one in some]))
            yield Row(FIGURE, f"{table}: half width (median; means in sd)", name, epsilon, repeat, width)
    for name, some in _by_class([one for checked in releases for one in checked]).items():
        used = np.quantile([one.used for one in some], 0.95, method="inverted_cdf")
        yield Row(FIGURE, f"{table}: times wider than needed", name, epsilon, 0, float(1 / max(0.01, used)))


def _by_class(checked: Sequence[Checked]) -> dict[str, list[Checked]]:
    classes = defaultdict[str, list[Checked]](list)
    for one in checked:
        for name in one.classes:
            classes[name].append(one)
    return {name: some for name, some in sorted(classes.items()) if len(some) >= LEAST}

"""What releases and plans say of their own error, beside the truth: measured accuracy, and what `cantle plan` says.

Nothing here is private, because releases are compared with the raw records.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from cantle.interfaces import demo_data
from cantle.methods.own_error.accuracy import KINDS, measured_pairs
from cantle.methods.own_error.table_workload import columns_of
from cantle.methods.planning import plan
from cantle.release.answers.table_answers import TableAsker
from cantle.release.schemas import domain_of
from cantle.release.storage import as_polars
from cantle.schema.code_sets import CodeSet, OneColumn
from cantle.schema.domain import Attribute
from cantle.schema.scales import Steps
from cantle.trusted.claims.own_error import OwnError
from cantle.trusted.geometry.workloads import TableWorkload, count_table
from cantle_lab.papers import table_sets
from cantle_lab.papers.harness import Options, Row, Setting
from cantle_lab.papers.interval_questions import Truth
from cantle_lab.papers.table_sets import TableSet

# ---- measured accuracy ----------------------------------------------------------------------------------------------

ACCURACY = "accuracy"
PANELS = {"one_column": "one column", "together": "pairs measured together", "apart": "other pairs"}

SERIES: Mapping[str, Options] = {
    "mosaic": {"method": "mosaic"},
    "rps": {"method": "rps"},
    "diffgen": {"method": "diffgen"},
    "diffgen without one-way tables": {"method": "diffgen", "oneway_share": 0},  # it loses the spikes of columns
}


def accuracy(setting: Setting) -> Iterator[Row]:
    """How far released records are off, in records: as the release measured it privately, and in truth."""
    for table in table_sets.present(setting.data_dir, ACCURACY, setting.echo):
        for name, options in setting.pick(list(SERIES.items()), list(SERIES.items())[:1]):
            for epsilon, repeat in setting.points((1, 3)):
                given = {"accuracy_share": "1/25", **options}
                release = setting.release(table.frame, table.schema, epsilon, given, repeat)
                yield from beside_the_truth(release, table, name, epsilon, repeat)


def beside_the_truth(release: Any, table: TableSet, name: str, epsilon: float, repeat: int) -> Iterator[Row]:
    """Two rows per number (measured and true), if the release measured its accuracy."""
    measured = release.accuracy
    if measured is None or not measured.bought:
        return
    asked = [kind for kind in KINDS if getattr(measured, kind) is not None]
    for kind, exact in zip(asked, true_numbers(release, table), strict=True):
        panel = f"{table.name}: {PANELS[kind]}"
        yield Row(ACCURACY, panel, f"{name}: measured", epsilon, repeat, getattr(measured, kind).records)
        yield Row(ACCURACY, panel, f"{name}: true", epsilon, repeat, exact)


def true_numbers(release: Any, table: TableSet) -> list[int]:
    """The numbers that the release measured, without noise."""
    domain, workload = (
        domain_of(release.manifest),
        TableAsker(release).workload(release.manifest.postprocessing["seed"]),
    )
    assert isinstance(workload, TableWorkload)

    def counts(frame: Any) -> Any:
        columns, classes = domain.encode_columns(frame)
        return count_table(workload, [*columns, classes][: len(columns_of(domain))])

    class Raw:
        """Takes the place of an engine that holds the records."""

        def count_all(self, _workload: object) -> Any:
            return counts(table.frame)

    own = OwnError(workload, counts(as_polars(release.records, release.manifest)))
    engine: Any = Raw()
    return own.exact_numbers(engine).tolist()


# ---- plans ----------------------------------------------------------------------------------------------------------

PLAN = "plan"
GROUPS = {"1 %": (0.005, 0.02), "10 %": (0.07, 0.14)}
"""The shares of the released records that a group may hold, as (lowest, highest)."""

DRAWN, TRIES = 20, 400
ENOUGH = 3
"""A mean over columns needs at least this many columns with such groups."""


def predictions(setting: Setting) -> Iterator[Row]:
    """The errors that `cantle plan` predicts from the schema and the number of records, and those measured."""
    demo = TableSet("demo", demo_data.population(), demo_data.SCHEMA)
    tables = [demo, *(table_sets.present(setting.data_dir, PLAN, setting.echo) if setting.data_dir else ())]
    for table in tables:
        for epsilon, repeat in setting.points((0.3, 1, 3)):
            release, spent = setting.timed(table.frame, table.schema, epsilon, {"method": "mosaic"}, repeat)
            yield Row(PLAN, f"{table.name}: core-seconds", "measured", epsilon, repeat, spent)
            outline = plan(table.schema, epsilon=epsilon, records=len(table.frame)).outline
            yield Row(PLAN, f"{table.name}: core-seconds", "predicted", epsilon, repeat, outline.seconds or 0.0)
            known = outline.relations
            if known is not None:
                what = f"{table.name}: pairs of columns measured together, of {known.pairs}"
                yield Row(PLAN, what, "predicted", epsilon, repeat, known.together)
                together = len(measured_pairs(release.manifest.structure))
                yield Row(PLAN, what, "measured", epsilon, repeat, together)
            for name, (predicted, measured) in compared(release, table, epsilon, seed=repeat).items():
                yield Row(PLAN, f"{table.name}: predicted error in records", name, epsilon, repeat, predicted)
                yield Row(PLAN, f"{table.name}: measured error in records", name, epsilon, repeat, measured)


def compared(release: Any, table: TableSet, epsilon: float, seed: int) -> dict[str, tuple[float, float]]:
    """(predicted, measured) error in records for each prediction."""
    truth, asker, dice = Truth(table), TableAsker(release), np.random.default_rng(seed)
    planned = plan(table.schema, epsilon=epsilon, records=truth.records)
    lead = release.manifest.structure["lead"]
    columns = [one for name, one in asker.attributes.items() if name != lead]
    errors_by_name = {"one-way": (planned.one_way * truth.records, _one_way(release, asker, truth, columns))}
    for name, shares in GROUPS.items():
        errors = [_group_errors(asker, truth, column, shares, dice) for column in columns]
        means = [float(np.mean(part)) for part in errors if part]
        if len(means) >= ENOUGH:
            errors_by_name[f"group of {name}"] = (planned.groups[name], float(np.mean(means)))
    return errors_by_name


def _one_way(release: Any, asker: TableAsker, truth: Truth, columns: list[Attribute]) -> float:
    """The mean error of a column's cells, averaged over the columns."""
    means = []
    for column in columns:
        edges = np.array(release.manifest.structure["cells"][column.name])
        counts = [_histogram(edges, codes) for codes in (truth.codes(column.name), asker.codes(column.name))]
        means.append(float(np.abs(counts[0] - counts[1]).mean()))
    return float(np.mean(means))


def _histogram(edges: Any, codes: Any) -> Any:
    return np.bincount(np.searchsorted(edges, codes, side="right") - 1, minlength=len(edges) - 1)


def _group_errors(
    asker: TableAsker, truth: Truth, column: Attribute, shares: tuple[float, float], dice: np.random.Generator
) -> list[int]:
    """The errors of up to DRAWN random groups of one column: intervals of numbers, or single categories."""
    errors: list[int] = []
    codes = asker.codes(column.name)
    for _ in range(TRIES):
        first, last = sorted(dice.choice(codes, 2).tolist())
        if not isinstance(column.scale, Steps):
            last = first
        question = OneColumn(column.name, CodeSet.span(first, last + 1, column.size))
        inside = asker.inside(question)
        if shares[0] <= inside.mean() <= shares[1]:
            errors.append(abs(int(inside.sum()) - int(truth.inside(question).sum())))
        if len(errors) == DRAWN:
            break
    return errors

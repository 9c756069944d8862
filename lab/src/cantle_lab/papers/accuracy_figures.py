"""The accuracy that releases measure privately, compared with the truth. Not private: it reads the raw records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cantle.methods.own_error.accuracy import KINDS
from cantle.methods.own_error.table_workload import columns_of
from cantle.release.answers.table_answers import TableAsker
from cantle.release.schemas import domain_of
from cantle.release.storage import as_polars
from cantle.trusted.claims.own_error import OwnError
from cantle.trusted.geometry.workloads import TableWorkload, count_table
from cantle_lab.papers import table_sets
from cantle_lab.papers.harness import Options, Row, Setting
from cantle_lab.papers.table_sets import TableSet

FIGURE = "accuracy"
PANELS = {"one_column": "one column", "together": "pairs measured together", "apart": "other pairs"}

SERIES: Mapping[str, Options] = {
    "mosaic": {"method": "mosaic"},
    "rps": {"method": "rps"},
    "diffgen": {"method": "diffgen"},
    "diffgen without one-way tables": {"method": "diffgen", "oneway_share": 0},  # it loses the spikes of columns
}


def accuracy(setting: Setting) -> Iterator[Row]:
    """How far released records are off, in records: as the release measured it privately, and in truth."""
    for table in table_sets.present(setting.data_dir, FIGURE, setting.echo):
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
        yield Row(FIGURE, panel, f"{name}: measured", epsilon, repeat, getattr(measured, kind).records)
        yield Row(FIGURE, panel, f"{name}: true", epsilon, repeat, exact)


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

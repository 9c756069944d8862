"""The classification figures of the DiffGen paper on a table of one's own: `cantle experiment`.

It splits the table into two thirds to learn from and one third to test on, publishes the first part with every number
of specialisations and epsilon, and trains C4.5* on what came out. Accuracies on private records are private facts: the
files are INTERNAL. Settings chosen by them depend on the data, which no epsilon accounts for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl

from cantle.data.tables import read_columns
from cantle.errors import OutputError, ParameterError, raise_alone
from cantle.schema import load_schema
from cantle.schema.domain import Attribute, Domain
from cantle.schema.scales import Labels
from cantle.schema.table import TableSchema
from cantle_lab.papers import generalised, report
from cantle_lab.papers.classify import C45, halves, scores
from cantle_lab.papers.coding import Coded, Coder, Grid
from cantle_lab.papers.diffgen_figures import default, paper
from cantle_lab.papers.harness import Options, Row, Setting

EPSILONS = (0.1, 0.25, 0.5, 1.0)
ROUNDS = (4, 7, 10, 13, 16)
FEWEST = 30
"""Fewer records are not worth splitting."""
_BINS = 4096
NAME = "experiment.internal"
WARNING = "INTERNAL: accuracies on private records are private facts. Do not publish them or pass them on."


class DomainCoder(Coder):
    """Codes of the columns that a schema of cantle declares; a missing value is a value of its own."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain.coarsen(_BINS)
        assert domain.target is not None
        self.attributes = tuple(map(_grid, self.domain.attributes))
        self.target, self.order = _grid(domain.target), list(domain.columns)

    def encode(self, frame: pl.DataFrame) -> Coded:
        columns = [attribute.encode(frame[attribute.name]) for attribute in self.domain.attributes]
        assert self.domain.target is not None
        labels = self.domain.target.encode(frame[self.domain.target.name])
        codes = np.column_stack(columns) if columns else np.zeros((len(labels), 0))
        return Coded(codes.astype(np.int64), labels.astype(np.int64))


def _grid(attribute: Attribute) -> Grid:
    ordered = not isinstance(attribute.scale, Labels) or attribute.ordered
    return Grid(name=attribute.name, kind="ordered" if ordered else "nominal", size=attribute.size)


@dataclass(frozen=True)
class OwnTable:
    """A table with its schema: records that the schema would drop are left out; private."""

    frame: pl.DataFrame
    schema: TableSchema
    coder: DomainCoder

    @staticmethod
    def read(data: Path, schema: Path) -> OwnTable:
        """Reads a file; refuses a schema without a target, and tables that are too small to be split."""
        public = cast(TableSchema, load_schema(schema))
        if public.target is None:  # only tables have one
            raise ParameterError("experiment trains classifiers: the schema must be one of a table with a role: target")
        coder = DomainCoder(public.as_declared())
        frame = read_columns(data, public).frame
        coded = coder.encode(frame)
        kept = (coded.codes >= 0).all(axis=1) & (coded.labels >= 0)
        target = coder.domain.target
        assert target is not None
        classes = target.values(coded.labels[kept]).cast(pl.String).alias(target.name)
        table = frame.filter(pl.Series(kept)).with_columns(classes)
        if len(table) < FEWEST:
            raise ParameterError(
                f"fewer than {FEWEST} records fit the schema: nothing can be learned; run `cantle check`"
            )
        return OwnTable(table, public, coder)

    @property
    def document(self) -> dict[str, Any]:
        """The schema as the evaluator of generalised records needs it: names, kinds, and the classes."""
        fields = [dict(field) for field in self.schema.to_dict()["fields"] if field.get("role") != "identifier"]  # type: ignore[union-attr, arg-type]
        target = self.coder.domain.target
        assert target is not None
        classes = target.values(np.arange(target.size)).cast(pl.String).to_list()
        named = {"name": target.name, "type": "string", "role": "target", "categories": classes}
        return {"fields": [named if field["name"] == target.name else field for field in fields]}


def rows(table: OwnTable, setting: Setting, epsilons: Sequence[float], rounds: Sequence[int]) -> Iterator[Row]:
    """Accuracy by epsilon (a line per h) and by h (a line per epsilon), beside raw records and the majority class."""
    plain = {f"h = {h}": paper(h) for h in rounds}
    others = {"diffgen, default": default("accuracy"), "mosaic": {"method": "mosaic"}}
    for repeat in range(setting.repeats):
        learn, held = halves(len(table.frame), repeat)
        train, test = table.frame[learn], table.frame[held]
        coded, answers = table.coder.encode(train), table.coder.encode(test)
        counts = np.bincount(coded.labels, minlength=table.coder.classes)
        for series, value in {
            "raw": _accuracy(table, coded, answers),
            "majority": float((answers.labels == counts.argmax()).mean()),
        }.items():
            for panel in PANELS:
                yield Row(NAME, panel, series, None, repeat, value)
        for series, options in {**plain, **others}.items():
            for epsilon in epsilons:
                value = _published(table, setting, train, test, epsilon, options, repeat)
                yield Row(NAME, PANELS[0], series, epsilon, repeat, value)
                if series in plain:
                    yield Row(NAME, PANELS[1], f"epsilon {epsilon:g}", float(series[4:]), repeat, value)


PANELS = ("a: accuracy by epsilon", "b: accuracy by specialisations")


def _accuracy(table: OwnTable, train: Coded, test: Coded) -> float:
    model = C45(table.coder)
    model.fit(train)
    return scores(model, test)["accuracy"]


def _published(
    table: OwnTable,
    setting: Setting,
    train: pl.DataFrame,
    test: pl.DataFrame,
    epsilon: float,
    options: Options,
    repeat: int,
) -> float:
    """The accuracy of C4.5* on test records, after learning from a release of the training records."""
    release = setting.release(train, table.schema.to_dict(), epsilon, options, repeat)
    if options["method"] == "diffgen":
        return generalised.measure(release, test, table.document)["accuracy"]
    return _accuracy(table, table.coder.encode(pl.DataFrame(release.records)), table.coder.encode(test))


def experiment(
    data: Path,
    schema: Path,
    out: Path,
    *,
    epsilons: Sequence[float] = EPSILONS,
    rounds: Sequence[int] = ROUNDS,
    repeats: int = 3,
    seed: int | None = None,
    echo: Callable[[str], None] = print,
) -> list[Path]:
    """Runs the experiment, prints its tables, and writes them with a picture; only their owner can read the files."""
    table = OwnTable.read(data, schema)
    try:
        out.mkdir(parents=True, mode=0o700)
    except OSError as error:
        raise_alone(OutputError(f"cannot make the folder {out}: {error.strerror}; choose another -o folder"))
    options: Mapping[str, Any] = {"publish": import_module("cantle.interfaces.publishing").publish}
    setting = Setting(**options, repeats=repeats, seed=seed, echo=echo)
    measured = pl.DataFrame(list(rows(table, setting, epsilons, rounds)), schema=report.TIDY, orient="row")
    summary = report.summarise(measured)
    text = report.table_by_name(summary)
    echo(text)
    paths = report.write(measured, summary, text, out, report.draw_by_name)
    for path in paths:
        path.chmod(0o600)
    return paths

"""Scores of generalised records: C4.5* is trained on released cells with counts, tested on generalised test records.

Both become codes: a number the position of its interval in the cut (ordered), a category its node of the taxonomy (one
column per node). This is how the DiffGen paper (section 5) measures a release: "the same cut is applied to the testing
set". Releases by DiffGen and results of TDS are measured alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
import polars as pl

from cantle.errors import DataError
from cantle_lab.documents import FieldDocument, TableDocument
from cantle_lab.papers.classify import C45, SCORES, scores
from cantle_lab.papers.coding import Coder

if TYPE_CHECKING:
    from cantle.data.frames import NativeFrame


class Generalised(Protocol):
    """A release that can be scored: released cells, and a way to apply the same cut to other records."""

    def generalised(self) -> pl.DataFrame:
        """The released cells: one label per attribute, the target, and the number of records as the last column."""

    def generalise(self, frame: pl.DataFrame, /) -> NativeFrame:
        """The records of `frame` in their order, with one label per attribute."""


def measure(published: Generalised, test: pl.DataFrame, schema: TableDocument) -> dict[str, float]:
    """Accuracy, balanced accuracy and AUC on `test` of C4.5* trained on the published cells."""
    cells = pl.DataFrame(published.generalised())
    held = pl.DataFrame(published.generalise(test))
    if held.height != test.height:
        raise DataError("the generalised test records are not as many as the test records; test on complete records")
    coder = cut_coder(schema, cells, held)
    target = _target(schema)
    held = held.with_columns(test[target])
    model = C45(coder)
    model.fit(coder.encode(cells), cells[:, -1].to_numpy().astype(np.int64))
    return scores(model, coder.encode(held))


def measure_raw(train: pl.DataFrame, test: pl.DataFrame, schema: TableDocument) -> dict[str, float]:
    """The same scores without any generalisation: the paper's baseline accuracy."""
    coder = Coder(schema)
    model = C45(coder)
    model.fit(coder.encode(train))
    return scores(model, coder.encode(test))


def majority(train: pl.DataFrame, test: pl.DataFrame, schema: TableDocument) -> dict[str, float]:
    """The same scores with all attributes removed: the paper's lower bound."""
    bare: TableDocument = {"fields": [field for field in schema["fields"] if field.get("role") == "target"]}
    coder = Coder(bare)
    counts = np.bincount(coder.encode(train).labels, minlength=coder.classes)
    labels = coder.encode(test).labels
    proba = np.tile(counts / max(int(counts.sum()), 1), (len(labels), 1))
    return {name: f(labels, proba) for name, f in SCORES.items()}


def cut_coder(schema: TableDocument, *frames: pl.DataFrame) -> Coder:
    """A coder for the labels in the frames; intervals are ordered, nodes of taxonomies are not."""
    return Coder({"fields": [_cut_field(field, frames) for field in schema["fields"] if _used(field)]})


def _used(field: FieldDocument) -> bool:
    return field.get("role") != "identifier"


def _cut_field(field: FieldDocument, frames: tuple[pl.DataFrame, ...]) -> FieldDocument:
    if field.get("role") == "target":
        return field
    name = field["name"]
    labels = pl.concat([frame[name].cast(pl.String) for frame in frames]).drop_nulls().unique().to_list()
    number = not (field.get("categories") or field.get("constraints", {}).get("enum") or field["type"] == "boolean")
    ordered = sorted(labels, key=interval_start) if number else sorted(labels)
    return {"name": name, "type": "string", "categories": ordered or [""], "categoriesOrdered": number}


def interval_start(label: str) -> tuple[int, float, str]:
    """A sort key for labels: intervals of numbers by their start, then all other labels by their text.

    >>> sorted(["null", "[100, 200)", "[30, 40)", "[-5, 30)"], key=interval_start)
    ['[-5, 30)', '[30, 40)', '[100, 200)', 'null']
    """
    start = label.removeprefix("[").partition(",")[0]
    try:
        return (0, float(start), label)
    except ValueError:
        return (1, 0.0, label)


def _target(schema: TableDocument) -> str:
    names = [field["name"] for field in schema["fields"] if field.get("role") == "target"]
    if not names:
        raise DataError("the schema has no field with role: target; generalised records are scored by their class")
    return names[0]

"""Releases of tables: how their records are stored, returned and described."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cantle.drawing.records import csv_of, give_back, records_meant
from cantle.drawing.results import as_frame
from cantle.release import table_verdict
from cantle.release.answers.bins import bins_of
from cantle.release.manifest import Manifest
from cantle.release.released_kind import DRAWN, ReleasedKind, Texts
from cantle.release.structures import traits_of
from cantle.release.words import drawn_records, printable, write_plain
from cantle.schema.declared_values import plain
from cantle.schema.field_keys import WRITING
from cantle.schema.table import TableSchema

if TYPE_CHECKING:
    import polars as pl

    from cantle.data.frames import NativeFrame
    from cantle.drawing.records import Drawn
    from cantle.release import Release
    from cantle.release.answers.table_answers import TableAsker
    from cantle.release.verdict_words import Uses
    from cantle.schema.canonical_json import JSON

_NAMED = 8  # most columns that a sentence names


def _column_types(manifest: Manifest) -> dict[str, pl.DataType]:
    return _types(_schema_of(manifest), manifest)


def _schema_of(manifest: Manifest) -> TableSchema:
    from cantle.release.load import table_schema_of  # which imports this module

    return table_schema_of(manifest)


def _types(schema: TableSchema, manifest: Manifest) -> dict[str, pl.DataType]:
    import polars as pl

    domain = schema.domain()
    nobody = np.zeros((0, len(domain.attributes)))
    kinds = dict(domain.decode(nobody.astype(np.int64), np.zeros(0, np.int64), nobody).schema)
    if traits_of(manifest).of_ranges:
        kinds.update(dict.fromkeys((a.name for a in domain.attributes), pl.String()))
    return kinds


def _read(path: Path, stored: str, manifest: Manifest, schema: TableSchema) -> pl.DataFrame:
    import polars as pl

    if stored == "parquet":
        return pl.read_parquet(path)
    frame = pl.read_csv(path, schema=_types(schema, manifest))
    # polars reads a pair of quotes as an empty text. Here it means null, because no category is empty.
    is_one_text = frame.schema.dtypes() == [pl.String()]
    return frame.with_columns(frame.to_series().replace("", None)) if is_one_text else frame


def _given_back(drawn: Drawn | pl.DataFrame, form: dict[str, str], schema: TableSchema) -> Drawn | NativeFrame:
    return drawn if form["frame"] == "polars" else give_back(as_frame(drawn), form["frame"], _nullable(schema))


def _nullable(schema: TableSchema) -> list[str]:
    """The columns that may hold nulls. The schema decides, so that types do not depend on the records that were
    drawn."""
    return [one.name for one in schema.as_declared().attributes if one.nullable]


def _asker(release: Release) -> TableAsker:
    from cantle.release.answers.table_answers import TableAsker  # which imports the kinds of data

    return TableAsker(release)


def _uses(release: Release) -> Uses:
    return table_verdict.uses(table_verdict.Connections.of(release.manifest), records_meant(release.manifest.summary))


def _texts(manifest: Manifest) -> Texts:
    traits, rules = traits_of(manifest), manifest.schema.get("rules")
    outcome = drawn_records(manifest, "record", traits.released)
    if isinstance(rules, list) and not traits.of_ranges:
        known = "the public rule" if len(rules) == 1 else f"any of the {len(rules)} public rules"
        outcome += f"\nNo released record breaks {known} in the schema, whatever the input records do."
    for one in _schema_of(manifest).fields:
        if one.role == "weight":
            most = printable(plain(one.maximum))
            outcome += (
                f"\nColumn {printable(one.name)} holds weights: in weighted answers a record counts for up to {most}."
            )
    fields: list[JSON] = [{key: one[key] for key in one if key not in WRITING} for one in _published(manifest)]
    listed = "\n".join(f"- {printable(one['name'])}: {_values(one)}" for one in _published(manifest))
    described: dict[str, JSON] = {"schema": {"fields": fields, "missingValues": [""]}}
    return Texts(
        outcome + traits.besides,
        DRAWN,
        f"Data sets of any number of records (also zero) with these public fields:\n{listed}",
        {"csv": described, "parquet": described},
        tuple(_accuracy(manifest)),
    )


def _accuracy(manifest: Manifest) -> Iterator[str]:
    """How accurate the release is: one sentence, and what else there is to say."""
    accuracy, meant = manifest.accuracy, records_meant(manifest.summary)
    yield table_verdict.sentence(accuracy, meant)
    if len(_published(manifest)) > 1:
        yield table_verdict.weaker(accuracy, meant)
    if accuracy is not None and accuracy.bought and (binned := bins_of(manifest)):
        what = f"All of this is about whole bins of {_named(list(map(str, binned)))}"
        yield f"{what}: which value inside its bin a record has is a guess."


def _named(columns: Sequence[str]) -> str:
    if len(columns) > _NAMED:
        return f"{len(columns)} columns"
    return f"column {columns[0]}" if len(columns) == 1 else f"columns {', '.join(columns)}"


def _published(manifest: Manifest) -> list[Mapping[str, JSON]]:
    """The declared columns without identifiers, as the schema writes them."""
    fields = manifest.schema["fields"]
    assert isinstance(fields, list)
    return [one for one in fields if isinstance(one, Mapping) and one.get("role") != "identifier"]


def _values(one: Mapping[str, JSON]) -> str:
    bounds = one.get("constraints")
    bounds = bounds if isinstance(bounds, Mapping) else {}
    text, listed = str(one["type"]), one.get("categories") or bounds.get("enum")
    if isinstance(listed, list):
        text += f", {len(listed)} categories"
    elif "minimum" in bounds and "maximum" in bounds:
        text += f", {printable(bounds['minimum'])} to {printable(bounds['maximum'])}"
    if "step" in one:
        text += f", in steps of {printable(one['step'])}"
    if "multipleOf" in bounds:
        text += f", multiples of {printable(bounds['multipleOf'])}"
    return f"{text} ({one['role']})" if "role" in one else text


KIND = ReleasedKind(
    noun="a table",
    record="record",
    records="synthetic records",
    counted="records",
    part="column",
    how="{n} synthetic records of a table, drawn from noisy counts of regions of the public domain",
    one_number=True,
    unsaid={"schemaVersion": 1},
    column_types=_column_types,
    write=write_plain,
    read=_read,
    as_text=lambda frame, _: csv_of(frame),
    given_back=_given_back,
    asker=_asker,
    uses=_uses,
    texts=_texts,
)

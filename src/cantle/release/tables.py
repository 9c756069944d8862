"""Releases of tables: how their records are stored, returned and described."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cantle.postprocess.counts import Dice
from cantle.postprocess.records import csv_of, give_back
from cantle.postprocess.results import Results
from cantle.release.manifest import Manifest
from cantle.release.words import drawn_records, printable, write_plain
from cantle.schema.field_keys import WRITING
from cantle.schema.table import TableSchema

if TYPE_CHECKING:
    import polars as pl

    from cantle.data.frames import NativeFrame
    from cantle.postprocess.records import Drawn
    from cantle.schema.canonical_json import JSON

FORMATS: tuple[str, ...] = ("csv", "parquet")
NOUN, RECORD, RECORDS = "a table", "record", "synthetic records"
PRODUCT, BARE = "Synthetic data", "Synthetic data"
MADE = "{n} synthetic records of a table, drawn from noisy counts of regions of the public domain"


def default_format(manifest: Manifest) -> str:  # noqa: ARG001
    return "csv"


def require_format(schema: TableSchema, asked: str) -> None:
    """Accepts every format: tables can be stored in all of them, whatever the schema."""


def column_types(manifest: Manifest) -> dict[str, pl.DataType]:
    return _types(TableSchema.from_dict(manifest.schema), manifest)


def _types(schema: TableSchema, manifest: Manifest) -> dict[str, pl.DataType]:
    import polars as pl

    domain = schema.domain()
    nobody = np.zeros((0, len(domain.attributes)))
    kinds = dict(domain.decode(nobody.astype(np.int64), np.zeros(0, np.int64), nobody).schema)
    if manifest.parameters.get("values") == "set":
        kinds.update(dict.fromkeys((a.name for a in domain.attributes), pl.String()))
    return kinds


def write(frame: pl.DataFrame, path: Path, data: str, manifest: Manifest) -> None:
    write_plain(frame, path, data, manifest)


def read(path: Path, stored: str, manifest: Manifest, schema: TableSchema) -> pl.DataFrame:
    import polars as pl

    if stored == "parquet":
        return pl.read_parquet(path)
    frame = pl.read_csv(path, schema=_types(schema, manifest))
    # polars reads a pair of quotes as an empty text. Here it means null, because no category is empty.
    is_one_text = frame.schema.dtypes() == [pl.String()]
    return frame.with_columns(frame.to_series().replace("", None)) if is_one_text else frame


def as_text(frame: pl.DataFrame, manifest: Manifest) -> str:  # noqa: ARG001
    return csv_of(frame)


def number_of(frame: pl.DataFrame, manifest: Manifest) -> int:  # noqa: ARG001
    return len(frame)


def given_back(results: Results, form: dict[str, str], schema: TableSchema) -> Drawn | NativeFrame:
    if form["frame"] == "polars":
        return results.drawn
    return give_back(results.records, form["frame"], _nullable(schema))


def in_frame(frame: pl.DataFrame, kind: str, manifest: Manifest) -> NativeFrame:
    return give_back(frame, kind, _nullable(TableSchema.from_dict(manifest.schema)))


def _nullable(schema: TableSchema) -> list[str]:
    """The columns that may hold nulls. The schema decides, so that types do not depend on the records that were
    drawn."""
    return [one.name for one in schema.domain().attributes if one.nullable]


def redraw(frame: pl.DataFrame, n: int, dice: Dice, manifest: Manifest) -> pl.DataFrame:  # noqa: ARG001
    return frame[dice.integers(0, max(1, len(frame)), n if len(frame) else 0)]


def outcome(manifest: Manifest, regions: str) -> str:
    said, rules = drawn_records(manifest, "record", regions), manifest.schema.get("rules")
    if not isinstance(rules, list) or manifest.parameters.get("values") == "set":
        return said
    known = "the public rule" if len(rules) == 1 else f"any of the {len(rules)} public rules"
    return f"{said}\nNo released record breaks {known} in the schema, whatever the input records do."


def fitted(manifest: Manifest) -> str:  # noqa: ARG001
    return ""


def described(manifest: Manifest, stored: str) -> dict[str, JSON]:  # noqa: ARG001
    fields = [{key: one[key] for key in one if key not in WRITING} for one in _published(manifest)]
    return {"schema": {"fields": fields, "missingValues": [""]}}


def data_domain(manifest: Manifest) -> str:
    listed = "\n".join(f"- {printable(one['name'])}: {_values(one)}" for one in _published(manifest))
    return f"Data sets of any number of records (also zero) with these public fields:\n{listed}"


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
    return f"{text} (target)" if one.get("role") == "target" else text

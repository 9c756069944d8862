"""Releases of tables: how their records are stored, returned and described."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cantle.drawing.counts import Dice
from cantle.drawing.records import csv_of, give_back, records_meant
from cantle.drawing.results import Results
from cantle.methods.own_error.accuracy import affordable
from cantle.methods.own_error.measured_pairs import Pair, all_pairs, measured_pairs
from cantle.release import table_verdict
from cantle.release.bars import bars
from cantle.release.bins import bins_of
from cantle.release.manifest import Manifest
from cantle.release.structures import facts_of
from cantle.release.words import NOT_MEASURED, drawn_records, printable, write_plain
from cantle.schema.field_keys import WRITING
from cantle.schema.scales import Steps
from cantle.schema.table import TableSchema

if TYPE_CHECKING:
    import polars as pl

    from cantle.data.frames import NativeFrame
    from cantle.drawing.records import Drawn
    from cantle.release import Release
    from cantle.release.verdict_words import Uses
    from cantle.schema.canonical_json import JSON
    from cantle.schema.code_sets import Key
    from cantle.schema.domain import Attribute
    from cantle.trusted.core.arrays import Codes
    from cantle.trusted.geometry.workloads import TableWorkload

_MOST_COLUMNS = 12  # columns that are shown in bars, unless all are requested
_SPANS = 6  # bars per column of numbers
_NAMED = 8  # most columns that a sentence names
_MOST = 8  # most categories that are shown one by one

UNSAID: dict[str, JSON] = {"schemaVersion": 1}
"""Keys of the schemas of releases that were made before cantle wrote them."""
FORMATS: tuple[str, ...] = ("csv", "parquet")
NOUN, RECORD, RECORDS = "a table", "record", "synthetic records"
PRODUCT, BARE = "Synthetic data", "Synthetic data"
ONE_NUMBER = True
COUNTED, PART, COLUMNS = "records", "column", "Columns"
NOISE_NOTE = NOT_MEASURED
MADE = "{n} synthetic records of a table, drawn from noisy counts of regions of the public domain"


def default_format(manifest: Manifest) -> str:  # noqa: ARG001
    return "csv"


def require_format(schema: TableSchema, asked: str) -> None:
    """Accepts every format: tables can be stored in all of them, whatever the schema."""


def column_types(manifest: Manifest) -> dict[str, pl.DataType]:
    return _types(_schema_of(manifest), manifest)


def _schema_of(manifest: Manifest) -> TableSchema:
    from cantle.release.load import table_schema_of  # which imports this module

    return table_schema_of(manifest)


def _types(schema: TableSchema, manifest: Manifest) -> dict[str, pl.DataType]:
    import polars as pl

    domain = schema.domain()
    nobody = np.zeros((0, len(domain.attributes)))
    kinds = dict(domain.decode(nobody.astype(np.int64), np.zeros(0, np.int64), nobody).schema)
    if facts_of(manifest).of_ranges:
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
    return give_back(frame, kind, _nullable(_schema_of(manifest)))


def _nullable(schema: TableSchema) -> list[str]:
    """The columns that may hold nulls. The schema decides, so that types do not depend on the records that were
    drawn."""
    return [one.name for one in schema.as_declared().attributes if one.nullable]


def attributes(schema: TableSchema) -> dict[str, Attribute]:
    """The columns that were counted, and the declared ones that rules made into others."""
    both = (schema.domain(), schema.as_declared())
    return {one.name: one for domain in both for one in domain.with_target_as_column().on_places.attributes}


def code_reader(frame: pl.DataFrame, manifest: Manifest, schema: TableSchema) -> Callable[[Key], Codes]:  # noqa: ARG001
    columns, domain = attributes(schema), schema.domain().with_target_as_column().on_places
    if domain.relations is None or not set(domain.relations.read) <= set(frame.columns):
        return lambda key: columns[str(key)].encode(frame[str(key)])
    codes, _ = domain.encode_columns(frame)
    counted = {one.name: part for one, part in zip(domain.attributes, codes, strict=True)}
    return lambda key: counted[str(key)] if key in counted else columns[str(key)].encode(frame[str(key)])


def broken_rules(frame: pl.DataFrame, manifest: Manifest, schema: TableSchema) -> Iterator[str]:
    """Records whose values are sets of values are not checked."""
    domain = schema.as_declared()
    if domain.rules is None or facts_of(manifest).of_ranges:
        return
    broken = domain.rules.numbers(domain.coder(frame))
    yield from (f"{number} records break the rule {text!r}" for text, number in broken if number)


def own_questions(frame: pl.DataFrame, release: Release, schema: TableSchema, dice: Dice) -> TableWorkload | None:  # noqa: ARG001
    from cantle.methods.own_error.table_workload import columns_of, table_workload
    from cantle.release.load import domain_of  # which imports this module

    domain, accuracy, receipt = domain_of(release.manifest), release.manifest.accuracy, release.manifest.receipt
    if accuracy is None:
        return None
    columns, classes = domain.encode_columns(frame)
    codes = [*columns, classes][: len(columns_of(domain))]
    noisy, persons = accuracy.noisy_records, receipt.unit.max_records
    numbers = affordable(accuracy.share, receipt.epsilon_nano, noisy, persons, of_tables=True)
    asked = table_workload(columns_of(domain), codes, dice, pairs_of(release)[1], numbers)
    return None if asked is None else asked[0]


def pairs_of(release: Release) -> tuple[set[Pair], set[Pair]]:
    """All pairs of columns of a release of a table, and those that it measured together."""
    from cantle.methods.own_error.table_workload import columns_of
    from cantle.release.load import domain_of  # which imports this module

    every = all_pairs(columns_of(domain_of(release.manifest)))
    return every, every & measured_pairs(release.manifest.structure)


def redraw(frame: pl.DataFrame, n: int, dice: Dice, manifest: Manifest) -> pl.DataFrame:  # noqa: ARG001
    return frame[dice.integers(0, max(1, len(frame)), n if len(frame) else 0)]


def accuracy_sentence(manifest: Manifest) -> str:
    return table_verdict.sentence(manifest.accuracy, records_meant(manifest.summary))


def more_accuracy(manifest: Manifest) -> Iterator[str]:
    if len(_published(manifest)) > 1:
        yield table_verdict.weaker(manifest.accuracy, records_meant(manifest.summary))
    if manifest.accuracy is not None and manifest.accuracy.bought and (binned := bins_of(manifest)):
        what = f"All of this is about whole bins of {_named(list(map(str, binned)))}"
        yield f"{what}: which value inside its bin a record has is a guess."


def _named(columns: Sequence[str]) -> str:
    if len(columns) > _NAMED:
        return f"{len(columns)} columns"
    return f"column {columns[0]}" if len(columns) == 1 else f"columns {', '.join(columns)}"


def verdict_notes(release: Release) -> Iterator[str]:
    yield from table_verdict.note(table_verdict.Connections.of(release.manifest, *pairs_of(release)))


def uses(release: Release) -> Uses:
    known = table_verdict.Connections.of(release.manifest, *pairs_of(release))
    return table_verdict.uses(known, records_meant(release.manifest.summary))


def outcome(manifest: Manifest, regions: str) -> str:
    said, rules = drawn_records(manifest, "record", regions), manifest.schema.get("rules")
    if not isinstance(rules, list) or facts_of(manifest).of_ranges:
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
    if "multipleOf" in bounds:
        text += f", multiples of {printable(bounds['multipleOf'])}"
    return f"{text} (target)" if one.get("role") == "target" else text


# ---- in bars ----------------------------------------------------------------------------------------------


def column_lines(
    frame: pl.DataFrame, manifest: Manifest, schema: TableSchema, everything: bool = True
) -> Iterator[str]:
    """The released records column by column, as small bars. The last column (the target, if any) is always shown."""
    if facts_of(manifest).of_ranges:
        return  # the values are sets of values, which have no codes
    domain, counted = schema.as_declared(), code_reader(frame, manifest, schema)
    fields = {field.name: field for field in schema.fields}
    relations = schema.domain().relations
    made = [one for one in schema.domain().attributes if one.name not in domain.columns]
    columns = [*domain.attributes, *made, *([domain.target] if domain.target else [])]
    left = 0 if everything else max(0, len(columns) - _MOST_COLUMNS)
    shown = columns if left < 2 else [*columns[: _MOST_COLUMNS - 1], *columns[-1:]]
    for attribute in shown:
        if left > 1 and attribute is columns[-1]:
            yield f"… {left:,} columns are left out here; see them with --all"
        field = fields.get(attribute.name)
        labels, counts = _shares(attribute, attribute.from_places(counted(attribute.name)))
        captions = field.captions() if field is not None else {}
        unit = "" if relations is None or attribute.name not in relations.units else relations.units[attribute.name][0]
        title = (f"in {unit}" if unit else "") if field is None else field.title
        yield f"{attribute.name}: {title}" if title else attribute.name
        yield from (f"  {line}" for line in bars([captions.get(label, label) for label in labels], counts))


def _shares(attribute: Attribute, codes: Codes) -> tuple[list[str], list[int]]:
    """Labels and counts: of each value if there are few, otherwise of spans of equally many values; then of null."""
    whole = attribute.size - attribute.nullable
    few = whole <= _MOST
    edges = np.arange(whole + 1) if few else np.linspace(0, whole, _SPANS + 1).round().astype(np.int64)
    if not few and not attribute.ordered:
        return _largest(attribute, codes, whole)
    counts = np.diff(np.searchsorted(np.sort(codes), edges)).tolist()
    labels = [_range(attribute, int(lo), int(hi)) for lo, hi in zip(edges[:-1], edges[1:], strict=True)]
    return _with_null(attribute, codes, labels, counts)


def _range(attribute: Attribute, lo: int, hi: int) -> str:
    """The values of the codes lo, …, hi - 1 as people write them."""
    scale = attribute.scale
    if not isinstance(scale, Steps):
        return attribute.describe(lo, hi)
    first, end = scale.text(lo * attribute.width), min(hi * attribute.width, attribute.grid)
    if scale.type == "number":
        return f"{first} to under {scale.text(end)}"
    last = scale.text(end - 1)
    return first if first == last else f"{first} to {last}"


def _largest(attribute: Attribute, codes: Codes, whole: int) -> tuple[list[str], list[int]]:
    """The most frequent categories, and all others together."""
    count = np.bincount(codes, minlength=whole)[:whole]
    first = np.sort(np.argsort(-count, kind="stable")[:_SPANS])
    labels = [*(attribute.describe(int(code), int(code) + 1) for code in first), f"{whole - len(first)} others"]
    return _with_null(attribute, codes, labels, [*count[first].tolist(), int(count.sum() - count[first].sum())])


def _with_null(attribute: Attribute, codes: Codes, labels: list[str], counts: list[int]) -> tuple[list[str], list[int]]:
    if not attribute.nullable:
        return labels, counts
    return [*labels, "missing"], [*counts, int((codes == attribute.size - 1).sum())]

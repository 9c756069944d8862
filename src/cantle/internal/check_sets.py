"""What a schema does to sets of items (undeclared items, empty sets, sizes), read as `publish` would read them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from cantle.data.fimi import token_texts
from cantle.data.sets import as_long_table, read_baskets, set_column
from cantle.data.tables import as_ids, read_batches
from cantle.internal.findings import Checked, Examples, Finding, Section
from cantle.schema.sets import SetSchema
from cantle.schema.values import text_of
from cantle.trusted.core.arrays import Codes


@dataclass(frozen=True, repr=False)
class _Part:
    """Occurrences of items in a part of the file: their texts and codes (-1: not declared), the number of records that
    begin there, and the ids of the rows if the file has ids."""

    texts: pl.Series
    codes: Codes
    records: int = 0
    ids: pl.Series | None = None


def check_sets(path: Path, schema: SetSchema, nodes: Path | None = None) -> Checked:  # noqa: ARG001
    """What `publish` would do with each set."""
    baskets = read_baskets(path, schema)
    if baskets.form.form == "fimi":
        schema.universe.check_fimi()
    sizes = np.diff(baskets.starts)
    undeclared, occurrences, records, ids = Examples(), 0, 0, []
    for part in _parts(path, schema, baskets.form.form):
        undeclared.add(part.texts.filter(pl.Series(part.codes < 0)))
        occurrences, records = occurrences + len(part.codes), records + part.records
        if part.ids is not None:
            ids.append(part.ids)
    anonymous = 0
    if ids:
        every = pl.concat(ids)
        anonymous, records = int(every.is_null().sum()), every.drop_nulls().n_unique()
    count, distinct, shown = undeclared.found()
    used = len(sizes)
    lost = "sets not used, because no declared item is left"
    if schema.person is not None:
        lost += f" or at most {schema.max_records} per person are used"
    items = [Finding("not a declared item", count, occurrences, becomes="left out", distinct=distinct, examples=shown)]
    repeats = occurrences - count - anonymous - int(sizes.sum())
    if schema.person is None and not anonymous:
        items.append(Finding("an item that its set already has", max(0, repeats), occurrences, problem=False))
    sets = [Finding(lost, max(0, records - used), records)]
    if anonymous:
        sets.append(Finding("rows without an id", anonymous, occurrences, becomes="left out"))
    facts: dict[str, int | float] = {"items declared": schema.universe.size}
    facts["items that occur"] = len(np.unique(baskets.items))
    if used:
        low, middle, high = np.percentile(sizes, [5, 50, 95], method="inverted_cdf")
        facts |= {"items per set, on average": float(sizes.mean()), "5 % of sets have at most": int(low)}
        facts |= {"half of the sets have at most": int(middle), "95 % of sets have at most": int(high)}
        facts["items of the largest set"] = int(sizes.max())
    return Checked("sets", "sets", records, used, (Section("sets", tuple(sets)), Section("items", tuple(items))), facts)


def _parts(path: Path, schema: SetSchema, form: str) -> Iterator[_Part]:
    if form == "fimi":
        for lines, texts, codes in token_texts(path, schema.dialect.encoding, schema.universe):
            yield _Part(texts, codes, len(np.unique(lines)))
    elif form == "list":
        series = set_column(path, schema)
        assert series is not None  # this form always has a series
        flat = series.filter(series.list.len().fill_null(0) > 0).explode()
        yield _Part(text_of(flat), schema.universe.encode(flat), len(series))
    else:
        table, of, what = as_long_table(schema)
        for raw in read_batches(path, table, ids=(of,)):
            column = raw.frame[what]
            ids = as_ids(raw.frame[of], schema.missing_values)
            yield _Part(text_of(column), schema.universe.encode(column), ids=ids)

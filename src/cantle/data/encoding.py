"""Encoding of a source into the codes of a domain, batch by batch: the readers of cantle.data.tables, and then the
domain's `encode_columns`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from cantle.data.tables import as_ids, read_batches
from cantle.schema.domain import Domain, unsigned
from cantle.schema.table import TableSchema
from cantle.schema.values import Codes
from cantle.trusted.bounding.persons import with_persons


def read_codes(source: object, schema: TableSchema, domain: Domain) -> Iterator[tuple[str, list[Codes], Codes]]:
    """Batches of (kind of frame, codes by column, classes), without the records that are dropped."""
    for batch in read_batches(source, schema):
        yield batch.kind, *domain.encode_columns(batch.frame)


def read_person_codes(source: object, schema: TableSchema, domain: Domain) -> Iterator[tuple[str, pl.DataFrame]]:
    """Batches of (kind of frame, rows with persons), without dropped records and records without a person."""
    for batch in read_batches(source, schema):
        yield batch.kind, person_codes(batch.frame, domain, str(schema.person), schema.missing_values)


def person_codes(frame: pl.DataFrame, domain: Domain, person: str, missing: tuple[str, ...]) -> pl.DataFrame:
    """The codes of a frame with the identifier of each record's person (cantle.trusted.bounding.persons); records
    without a person are left out."""
    ids = as_ids(frame[person], missing)
    read = domain.read
    columns = [attribute.encode(attribute.given(frame)) for attribute in read.attributes]
    classes = read.target.encode(frame[read.target.name]) if read.target else np.zeros(len(ids), np.int64)
    known = ids.is_not_null().to_numpy() & np.logical_and.reduce([column >= 0 for column in (*columns, classes)])
    kept = [column[known].astype(unsigned(one.size)) for column, one in zip(columns, read.attributes, strict=True)]
    label = classes[known].astype(unsigned(read.target.size if read.target else 1))
    return with_persons(ids.filter(pl.Series(known, dtype=pl.Boolean)), *domain.counted(kept, label))

"""Long tables of sets and sequences: a row has the id of its record and one item, and rows become records.

Every engine takes three steps. It keeps the rows that have an id and a declared item. The store
(cantle.trusted.counting.stores) or Spark brings all rows of a record together. Then `pack_rows` makes ragged records.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import polars as pl

from cantle.data.fimi import Ints
from cantle.data.tables import as_ids, read_batches
from cantle.errors import DataError
from cantle.schema.fields import Field
from cantle.schema.items import Codes
from cantle.schema.sets import UNREAD, SetForm, SetSchema
from cantle.schema.table import TableSchema
from cantle.trusted.bounding.persons import sequences_within_bound, sets_within_bound
from cantle.trusted.counting.ragged import Packed
from cantle.trusted.counting.stores import Store

CODE, PLACE = "code of the item", "place of the row"
"""The columns of codes and of places in rows of long tables, beside ids and persons under their own names."""

Sets = tuple[Ints, Codes]  # for each occurrence of an item: its record (from 0) and its code, -1 if it is not declared


def columns_of(schema: SetSchema) -> dict[str, str]:
    """All columns of a long table that are read: of ids, of items, and those of persons and of the order, if any."""
    order = None if schema.ordered_by is None else schema.ordered_by.column
    named = {"id": schema.id or "id", "item": schema.item or "item", "person": schema.person, "order": order}
    return {key: name for key, name in named.items() if name is not None}


def as_long_table(schema: SetSchema) -> TableSchema:
    """The schema of a long table of these sets."""
    return TableSchema(fields=tuple(Field(name=name) for name in columns_of(schema).values()), dialect=schema.dialect)


def ids_among(schema: SetSchema) -> tuple[str, ...]:
    """The columns of ids and, if the schema names them, of persons. All rows with the same value in the last of them
    are packed together."""
    named = columns_of(schema)
    return tuple(named[key] for key in ("id", "person") if key in named)


def check_pair(where: str, given: Iterable[str], schema: SetSchema) -> None:
    """Refuses a long table that lacks its column of ids, of items, or of persons if the schema names one."""
    schema.require_long(where)
    named = columns_of(schema)
    missing = [key for key, name in named.items() if name not in set(given)]
    if missing:
        listed = " and ".join(f"{named[key]!r}" for key in missing)
        fix = " and ".join(f"`{key}: …`" for key in missing)
        raise DataError(f"{where} has no column {listed}; write in the schema what it is called: {fix}.")


def read_long(
    sources: Iterable[object], schema: SetSchema, store: Store, frame: str = "polars"
) -> tuple[SetForm, Iterable[Packed]]:
    """Records of the rows (id, item) of files or frames."""
    schema.require_long("this")
    groups = store.together(_rows_in(sources, schema), ids_among(schema)[-1])
    return long_form(schema, frame), (pack_rows(group, schema) for group in groups)


def long_form(schema: SetSchema, frame: str = "polars") -> SetForm:
    """The form of a long table."""
    named = {key: name for key, name in columns_of(schema).items() if key != "person"}
    return SetForm(form="long", frame=frame, **named)


def _rows_in(sources: Iterable[object], schema: SetSchema) -> Iterator[pl.DataFrame]:
    """The rows of long tables, whose columns must have the same types in all of them."""
    table, types = as_long_table(schema), dict[str, pl.DataType]()
    for source in sources:
        for raw in read_batches(source, table, ids=ids_among(schema)):
            rows = rows_of(raw.frame, schema)
            for name, kind in rows.schema.items():
                if kind != types.setdefault(name, kind):
                    raise DataError(f"column {name!r} has different types in the files; write them with one type.")
            yield rows


def rows_of(frame: pl.DataFrame, schema: SetSchema) -> pl.DataFrame:
    """The rows that have a declared item and an id (and a person, if the schema names them), with the item's code; of
    sequences those that have a place too."""
    ids = [ids_of(frame[name], schema.missing_values).alias(name) for name in ids_among(schema)]
    codes, order = schema.universe.encode(frame[columns_of(schema)["item"]]).astype(np.int32), schema.ordered_by
    rows = pl.DataFrame([*ids, pl.Series(CODE, codes)])
    if order is not None:
        rows = rows.with_columns(pl.Series(PLACE, order.places(frame[order.column], schema.missing_values)))
        rows = rows.filter(pl.col(PLACE) != UNREAD)
    return rows.filter(pl.col(CODE) >= 0, *(pl.col(one.name).is_not_null() for one in ids))


def pack_rows(group: Sequence[pl.DataFrame], schema: SetSchema) -> Packed:
    """The records of rows, given all rows of some records (of some persons, if the schema names them)."""
    rows = pl.concat(group)
    codes, (ids, *persons) = rows[CODE].to_numpy(), [_numbers(rows[name]) for name in ids_among(schema)]
    if schema.ordered_by is not None:
        return _in_order(rows[PLACE].to_numpy(), [ids, *persons], codes, schema)
    if persons:
        ids, codes = _bounded(persons[0], ids, codes, schema)
    return pack(ids, codes, schema)


def _bounded(person: Ints, ids: Ints, codes: Codes, schema: SetSchema) -> Sets:
    """The rows of the sets that are used, at most `max_records` per person (cantle.trusted.bounding.persons).

    A set consists of the rows of one person with one id, so that no row of another person can change it. If a person
    has too many sets, a public hash of their content (the distinct items, in any order) decides which are used.
    """
    both, record = np.unique(np.stack([person, ids], axis=1), axis=0, return_inverse=True)
    bits = schema.universe.size.bit_length()
    rows = np.unique((record.reshape(-1).astype(np.int64) << bits) | codes)
    record, codes = rows >> bits, (rows & ((1 << bits) - 1)).astype(np.int32)
    used = sets_within_bound(both[:, 0], np.bincount(record, minlength=len(both)), codes, schema.max_records)[record]
    return record[used], codes[used]


def _in_order(places: Ints, keys: Sequence[Ints], codes: Codes, schema: SetSchema) -> Packed:
    """The sequences of rows, sorted by place, rows of one place by code; of a person at most `max_records` are used.

    A sequence consists of the rows of one person with one id. If a person has too many, a public hash of their symbols
    and places decides which are used (cantle.trusted.bounding.persons).
    """
    by: list[Ints | Codes] = [codes, places, *keys]
    order = np.lexsort(by)
    new = np.zeros(len(order), dtype=np.bool_)
    new[:1] = True
    for key in keys:
        new[1:] |= np.diff(key[order]) != 0
    lengths, items = pack(np.cumsum(new) - 1, codes[order], schema)
    if schema.person is None:
        return lengths, items
    used = sequences_within_bound(keys[-1][order][new], lengths, items, schema.max_records)
    return lengths[used], items[np.repeat(used, lengths)]


def ids_of(series: pl.Series, marks: tuple[str, ...]) -> pl.Series:
    """The ids, null if missing. Integers of up to 64 bits may stay integers, because distinct ones have distinct
    texts."""
    small = series.dtype.is_integer() and series.dtype not in (pl.Int128, pl.UInt128)
    return series if small and not set(marks) - {""} else as_ids(series, marks)


def _numbers(ids: pl.Series) -> Ints:
    """For each id its position among the sorted distinct ids, which does not depend on the order of the rows."""
    if not ids.dtype.is_numeric():
        # sorting 5.8 million texts takes 6 s of CPU in the worst case, sorting the distinct ones and joining 2.7 s
        rows, order = ids.alias("id").to_frame(), ids.alias("id").unique().sort().to_frame().with_row_index("number")
        return rows.join(order, on="id", how="left", maintain_order="left")["number"].to_numpy().astype(np.int64)
    return ids.rank("dense").to_numpy().astype(np.int64)


# ---- records ----------------------------------------------------------------------------------------------------


def pack(records: Ints, codes: Codes, schema: SetSchema) -> tuple[Ints, Codes]:
    """The number of items of each record that has any, and the items: of a set ascending and without repeats, of a
    sequence (for which `records` must ascend) the first ones."""
    if schema.longest is not None:
        return first_items(records, codes, schema.longest)
    known, bits = codes >= 0, schema.universe.size.bit_length()
    keys = (records[known] << bits) | codes[known]
    if not (keys[1:] > keys[:-1]).all():
        keys.sort(kind="stable")  # a merge sort is fast on nearly sorted items: it takes a fifth of a quicksort's time
        keys = keys[np.diff(keys, prepend=-1) != 0]
    first = np.flatnonzero(np.diff(keys >> bits, prepend=-1))
    return np.diff(first, append=len(keys)), (keys & ((1 << bits) - 1)).astype(np.int32)


def first_items(records: Ints, codes: Codes, most: int) -> tuple[Ints, Codes]:
    """The first items of each record that has any, with their repeats; `records` ascend."""
    known = codes >= 0
    records, codes = records[known], codes[known]
    first = np.flatnonzero(np.diff(records, prepend=-1))
    lengths = np.diff(first, append=len(records))
    used = np.arange(len(records)) - np.repeat(first, lengths) < most
    return np.minimum(lengths, most), codes[used].astype(np.int32)

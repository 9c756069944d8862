"""Columns of lists of items, in files and frames, and Python lists of them: each list is a record.

Which column holds the lists is chosen by the names and types of the columns, never by a value.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from cantle.data.frames import as_polars, column_of, is_declared, members
from cantle.data.long_tables import Sets, check_pair
from cantle.data.tables import _check_columns, _check_types, column_types, read_parquet
from cantle.errors import DataError
from cantle.schema.items import Universe
from cantle.schema.sets import ITEMS, SetSchema

if TYPE_CHECKING:
    import narwhals as nw

    from cantle.data.frames import Series


def list_column(where: str, types: Mapping[str, nw.dtypes.DType], schema: SetSchema) -> str | None:
    """The name of the column of lists, or None for a long table; chosen by names and types of columns only."""
    import narwhals as nw

    if schema.form not in (None, "long", "list"):
        raise DataError(f"{where} is not text; write `form: long` or `form: list` in the schema, or leave it out.")
    if schema.form == "long":
        check_pair(where, types, schema)
        return None
    if schema.column is not None:
        return schema.column
    lists = [name for name, kind in types.items() if isinstance(kind, nw.List | nw.Array)]
    objects = [name for name, kind in types.items() if isinstance(kind, nw.Object)]
    anything = [name for name, kind in types.items() if isinstance(kind, nw.Unknown)]  # may hold lists, or any values
    pair = schema.form is None and {"id", "item"} <= set(types) and "item" not in lists
    if pair and (lists or "item" in objects):  # objects may be texts, or lists
        raise DataError(f"{where} may be a long table or hold lists; write `form: long` or `form: list` in the schema.")
    if pair:
        return None
    possible = lists or objects or anything
    if len(possible) == 1 or ITEMS in possible:
        return ITEMS if ITEMS in possible else possible[0]
    if possible:
        raise DataError(f"{where} has several columns that may hold lists; write in the schema which: `column: …`.")
    fix = "write `id: …` and `item: …` in the schema (a long table), or `column: …` (lists)"
    raise DataError(f"{where} has neither columns 'id' and 'item' nor a column of lists; {fix}.")


def list_column_of(path: Path, schema: SetSchema) -> str | None:
    """The name of the column of lists in a Parquet file; None if it holds a long table."""
    return list_column_among(f"{path.name!r}", column_types(path), schema)


def list_column_among(where: str, types: Mapping[str, pl.DataType], schema: SetSchema) -> str | None:
    """The same, given the columns and their declared types."""
    import narwhals as nw

    column = list_column(where, nw.from_native(pl.DataFrame(schema=types)).schema, schema)
    if column is not None:
        _check_columns(where, types, [column])
    return column


def set_column(path: Path, schema: SetSchema) -> pl.Series | None:
    """The column of lists in a Parquet file; None if it holds a long table."""
    column = list_column_of(path, schema)
    return None if column is None else read_parquet(path, [column])[column]


def lists_or_objects(series: Series) -> pl.Series | list[object]:
    """A column of lists as a polars series; Python objects stay as they are."""
    import narwhals as nw

    if series.dtype == nw.Object or is_undeclared(series):
        return list(series.to_list())
    return as_polars(series)


def is_undeclared(series: Series) -> bool:
    """Whether the type of a column depends on the records, as most types of pandas do: a column of lists may become one
    of texts or numbers if its only list is removed."""
    return bool(series.implementation.is_pandas_like()) and not is_declared(series.to_pandas().dtype)


def lists_of(where: str, series: pl.Series, universe: Universe) -> Sets:
    """The occurrences of items in a column of lists; the column's type declares what the lists hold."""
    if isinstance(series.dtype, pl.Array):
        series = series.arr.to_list()
    if not isinstance(series.dtype, pl.List):
        kind = series.dtype.base_type()
        raise DataError(f"{where}: column {series.name!r} has type {kind}, not lists; correct `column` in the schema.")
    _check_types(f"{where}, lists", {series.name: series.dtype.inner})
    lengths = series.list.len().fill_null(0).to_numpy()
    flat = series.filter(pl.Series(lengths > 0)).explode()
    return np.repeat(np.arange(len(lengths)), lengths), universe.encode(flat)


def sets_in(records: list[object], schema: SetSchema) -> Sets:
    """The occurrences of items in Python collections; texts and values that are none hold no item."""
    # a Python set has no order of its own
    unordered = (schema.longest is not None and isinstance(record, Set | Mapping) for record in records)
    held = [[] if odd else members(record) or [] for record, odd in zip(records, unordered, strict=True)]
    lengths = np.fromiter(map(len, held), dtype=np.int64, count=len(held))
    items = column_of(list(chain.from_iterable(held)), exact=True)
    return np.repeat(np.arange(len(held)), lengths), schema.universe.encode(items)

"""Readers of private sets of items: FIMI lines, long (id, item) tables, columns of lists and Python lists.

This module defines what a record is, one record at a time and without messages (docs/privacy.md, cleaning): undeclared
items are removed, an item counts once, empty sets are dropped, and so are rows of a long table without an id. Errors
are about the file or frame as a whole, in fixed texts.

The schema declares the form of the data; otherwise it is recognised by the ending of the file's name and by the names
and types of its columns, never by a value. In pandas most types depend on the values (cantle.data.pandas_columns), so
there a table with columns `id` and `item` is long, and any column may be the one of lists. The order of the rows of a
long table does not matter. **The order of the records of Baskets has no meaning**: it is that of the lines or lists, or
of the ids, and nothing released may depend on it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast, runtime_checkable

import numpy as np
import polars as pl

from cantle import kernel_choice
from cantle.data.arrow_texts import decodable_column
from cantle.data.engine_choice import EngineChoice, Opened, refuse_nodes
from cantle.data.file_forms import CSV, PARQUET, check_packing, ending
from cantle.data.fimi import Ints, read_tokens
from cantle.data.frames import as_polars, frame_or_series
from cantle.data.objects import column_of
from cantle.data.pandas_columns import is_declared
from cantle.data.set_form import check_pair, list_column
from cantle.data.tables import (
    _ANYTHING,
    _check_columns,
    _check_types,
    _frame_columns,
    as_ids,
    column_types,
    header,
    read_batches,
)
from cantle.errors import DataError, ParameterError, raise_alone
from cantle.schema.fields import Field
from cantle.schema.items import Codes, Universe
from cantle.schema.sets import ITEMS, UNREAD, SetForm, SetSchema
from cantle.schema.table import TableSchema
from cantle.trusted.bounding.persons import sets_within_bound
from cantle.trusted.counting.sets import SetEngine
from cantle.trusted.geometry.item_partitions import ItemTree

if TYPE_CHECKING:
    import pyarrow

    from cantle.data.frames import Frame, Series

ENGINES = ("memory", "duckdb", "spark")
FIMI = (".dat", ".txt", ".seq")
_UNREADABLE = "the frame cannot be read; give a pandas, polars or pyarrow frame."
_WHAT = "give a file, a pandas, polars or pyarrow frame, or a list of lists of items"

Sets = tuple[Ints, Codes]  # for each occurrence of an item: its record (from 0) and its code, -1 if it is not declared


@dataclass(frozen=True, eq=False, repr=False)
class Baskets:
    """Private records: record i holds the codes items[starts[i]:starts[i + 1]], at least one; of sets strictly
    ascending."""

    starts: Ints
    items: Codes
    form: SetForm

    def __repr__(self) -> str:
        return "Baskets(private)"

    def __reduce__(self) -> str:
        raise TypeError("baskets are private and cannot be pickled")


@runtime_checkable
class ArrowArray(Protocol):
    """An array of Arrow, of whatever library (the Arrow PyCapsule interface)."""

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]: ...


class AsksSets(Protocol):
    """What a method for sets declares about the records that it counts."""

    @property
    def tree(self) -> ItemTree:
        """The taxonomy of items that partitions the records."""

    @property
    def most(self) -> int:
        """The number of items kept per record."""

    @property
    def kernels_from(self) -> int | None:
        """The number of records from which on the method's compiled kernels pay off; None if it has no kernels."""


def refuse_early(data: object, schema: SetSchema, choice: EngineChoice, nodes: object) -> None:
    """Refuses FIMI lines if they cannot hold the declared items or if Spark would have to read them; and a list of
    nodes."""
    refuse_nodes(nodes)
    if choice.engine == "spark":
        from cantle.data.spark_files import require_header_first

        require_header_first(schema.dialect)
    if isinstance(data, str | os.PathLike):
        if choice.engine == "spark" and is_log(data, schema):
            raise ParameterError("engine spark does not read XES files; use engine memory or duckdb")
        if schema.form is None and ending(data) in CSV and ending(data) not in FIMI:
            schema.require_long("the file")
        if schema.form == schema.lines or (schema.form is None and ending(data) in FIMI):
            if choice.engine == "spark":
                raise ParameterError("engine spark reads sets as long tables or columns of lists; use engine duckdb")
            schema.universe.check_fimi()


def open_engine(data: object, schema: SetSchema, method: AsksSets, choice: EngineChoice, nodes: object) -> Opened:  # noqa: ARG001
    """An engine that holds the sets, and the form of the input."""
    if choice.engine == "duckdb":
        from cantle.data.filed_sets import open_filed

        return open_filed(data, schema, method, choice)
    if choice.engine == "spark":
        from cantle.data.spark_sets import open_spark

        return open_spark(data, schema, method)
    baskets = read_baskets(data, schema)
    least = method.kernels_from
    compiled = least is not None and kernel_choice.worth_loading(len(baskets.starts) - 1, least)
    engine = SetEngine(baskets.starts, baskets.items, tree=method.tree, most=method.most, compiled=compiled)
    return baskets.form.to_dict(), engine


def read_baskets(data: object, schema: SetSchema) -> Baskets:
    """The sets in a file, a data frame, or an iterable of iterables of items.

    >>> made = read_baskets([[3, 1, 99, 1], [], [2]], SetSchema.from_dict({"kind": "sets", "items": [1, 2, 3]}))
    >>> made.starts.tolist(), made.items.tolist()
    ([0, 2, 3], [0, 2, 1])
    """
    if isinstance(data, str | os.PathLike):
        form, parts = from_file(data, schema)
    elif (frame := _as_frame(data)) is not None:
        form, parts = _from_frame(frame, schema)
    else:
        form, parts = _from_python(data, schema)
    packed = [pack(*part, schema) for part in parts]
    lengths = np.concatenate([np.zeros(1, dtype=np.int64), *(counts for counts, _ in packed)])
    items = np.concatenate([np.zeros(0, dtype=np.int32), *(codes for _, codes in packed)])
    return Baskets(np.cumsum(lengths), items, form)


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


# --------------------------------------------------------------------------------------------------- files


def from_file(source: str | os.PathLike[str], schema: SetSchema) -> tuple[SetForm, Iterable[Sets]]:
    """The form of the sets in a file, and their occurrences of items in batches."""
    path, kind = Path(source), ending(source)
    check_file(path)
    if kind in PARQUET:
        return _from_parquet(path, schema)
    if is_log(path, schema):
        from cantle.data.xes import read_xes

        return SetForm(form="xes"), read_xes(path, schema)
    form = schema.form or (schema.lines if kind in FIMI else "long" if kind in CSV else None)
    if form is None:
        known = ", ".join(dict.fromkeys(FIMI + CSV + PARQUET))
        fix = f"write `form: {schema.lines}` in the schema, or name it one of {known}"
        raise DataError(f"{path.name!r} has an ending that is not known; {fix}.")
    if form == "list":
        fix = f"store it as Parquet, or write `form: {schema.lines}` or `form: long` in the schema"
        raise DataError(f"{path.name!r} is text and cannot hold a column of lists; {fix}.")
    if form == schema.lines:
        return SetForm(form=form), read_tokens(path, schema.dialect.encoding, schema.universe, schema.longest)
    if schema.dialect.header and kind in CSV:
        check_pair(f"{path.name!r}", header(path, schema.dialect), schema)
    return _from_long(path, schema)


def is_log(path: str | os.PathLike[str], schema: SetSchema) -> bool:
    """Whether a file is an event log in XES."""
    return schema.form == "xes" or (schema.form is None and "xes" in schema.FORMS and ending(path) == ".xes")


def check_file(path: Path) -> None:
    try:
        is_folder, exists = path.is_dir(), path.exists()
    except (OSError, ValueError):
        raise_alone(DataError("this is not the path of a file; check it."))
    if is_folder:
        raise DataError(f"{path.name!r} is a folder; give one file.")
    if not exists:
        raise DataError(f"there is no file {path.name!r}; check the path.")
    check_packing(path, text=ending(path) not in PARQUET)


def _from_parquet(path: Path, schema: SetSchema) -> tuple[SetForm, Iterable[Sets]]:
    series = set_column(path, schema)
    if series is None:
        return _from_long(path, schema)
    return SetForm(form="list", column=series.name), [lists_of(f"{path.name!r}", series, schema.universe)]


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
    where, column = f"{path.name!r}", list_column_of(path, schema)
    if column is None:
        return None
    try:
        return pl.read_parquet(path, columns=[column], glob=False)[column]
    except _ANYTHING:
        raise_alone(DataError(f"{where} is not a readable Parquet file, or is truncated; write it again."))


# ------------------------------------------------------------------------------------------ tables, frames


def _from_long(source: object, schema: SetSchema) -> tuple[SetForm, Iterable[Sets]]:
    """Rows (id, item) of a file or frame; batches are joined, because a record may have rows in several."""
    table, of, what = as_long_table(schema)
    schema.require_long("this")
    keys, codes, frame = list[list[pl.Series]](), [], "polars"
    for raw in read_batches(source, table, ids=id_columns(schema)):
        frame = raw.kind
        columns, code = rows_of(raw.frame, schema)
        keys.append(columns)
        codes.append(code)
    rows = long_rows([pl.concat(listed) for listed in zip(*keys, strict=True)], np.concatenate(codes), schema)
    return long_form(schema, frame), [rows]


def long_form(schema: SetSchema, frame: str = "polars") -> SetForm:
    """The form of a long table."""
    order = "" if schema.ordered_by is None else schema.ordered_by.column
    _, of, what = as_long_table(schema)
    return SetForm(form="long", frame=frame, id=of, item=what, order=order)


def id_columns(schema: SetSchema) -> tuple[str, ...]:
    """The columns of identifiers of a long table: of records, and of persons if the schema names them."""
    of = schema.id or "id"
    return (of,) if schema.person is None else (of, schema.person)


def rows_of(
    frame: pl.DataFrame, schema: SetSchema, ids: Callable[[pl.Series, tuple[str, ...]], pl.Series] | None = None
) -> tuple[list[pl.Series], Codes]:
    """The usable rows of a part of a long table: their keys, and the codes of their items. Keys are the places of rows
    in the order of their records, if these have an order, then the ids and the persons."""
    codes = schema.universe.encode(frame[schema.item or "item"])
    known = codes >= 0
    keys = [(ids or ids_of)(frame[name], schema.missing_values) for name in id_columns(schema)]
    for key in keys:
        known &= key.is_not_null().to_numpy()
    if schema.ordered_by is not None:
        places = schema.ordered_by.places(frame[schema.ordered_by.column], schema.missing_values)
        known &= places != UNREAD
        keys.insert(0, pl.Series(places))
    return [key.filter(pl.Series(known, dtype=pl.Boolean)) for key in keys], codes[known]


def long_rows(keys: Sequence[pl.Series], codes: Codes, schema: SetSchema) -> Sets:
    """The rows of the records that are used, given the keys (`rows_of`) and codes of all rows."""
    if schema.ordered_by is not None:
        from cantle.data.sequences import ordered_rows

        return ordered_rows(keys[0].to_numpy(), [_numbers(key) for key in keys[1:]], codes, schema)
    numbers = [_numbers(key) for key in keys]
    return (numbers[0], codes) if schema.person is None else _bounded(numbers[1], numbers[0], codes, schema)


def as_long_table(schema: SetSchema) -> tuple[TableSchema, str, str]:
    """The schema of a long table of these sets, its column of ids and its column of items."""
    of, what, who = schema.id or "id", schema.item or "item", schema.person
    names = (of, what) if who is None else (of, what, who)
    if schema.ordered_by is not None:
        names = (*names, schema.ordered_by.column)
    return TableSchema(fields=tuple(Field(name=name) for name in names), dialect=schema.dialect), of, what


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


def ids_of(series: pl.Series, marks: tuple[str, ...]) -> pl.Series:
    """The ids, null if missing. Integers may stay integers, because distinct integers have distinct texts."""
    return series if series.dtype.is_integer() and not set(marks) - {""} else as_ids(series, marks)


def _numbers(ids: pl.Series) -> Ints:
    """For each id its position among the sorted distinct ids, which does not depend on the order of the rows."""
    if not ids.dtype.is_numeric():
        # sorting 5.8 million texts takes 6 s of CPU in the worst case, sorting the distinct ones and joining 2.7 s
        rows, order = ids.alias("id").to_frame(), ids.alias("id").unique().sort().to_frame().with_row_index("number")
        return rows.join(order, on="id", how="left", maintain_order="left")["number"].to_numpy().astype(np.int64)
    return ids.rank("dense").to_numpy().astype(np.int64)


def _as_frame(data: object) -> Frame | None:
    """The data as a narwhals frame, a series as a frame of one column; None for anything else."""
    import narwhals as nw

    try:
        frame = frame_or_series(data)
        if frame is None and isinstance(data, ArrowArray):
            own = type(data).__module__.startswith("pyarrow.")  # an array on its own; other libraries check texts
            frame = frame_or_series(pl.Series(decodable_column(cast("pyarrow.Array", data)) if own else data))
        return frame.alias(ITEMS).to_frame() if isinstance(frame, nw.Series) else frame
    except _ANYTHING:
        raise_alone(DataError(_UNREADABLE))


def _from_frame(frame: Frame, schema: SetSchema) -> tuple[SetForm, Iterable[Sets]]:
    """The form of the sets in a data frame, and their occurrences of items in batches."""
    import narwhals as nw

    where = "the frame"
    try:
        types = dict(frame.collect_schema())
        if isinstance(frame, nw.DataFrame):
            types |= {name: nw.Unknown() for name in types if _is_undeclared(frame[name])}
    except _ANYTHING:
        raise_alone(DataError(_UNREADABLE))
    column = list_column(where, types, schema)
    if column is None:
        return _from_long(frame.to_native(), schema)
    _check_columns(where, _frame_columns(frame.to_native()), [column])
    try:
        frame = frame.select(column)
        frame = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
        series, library = _lists_or_objects(frame[column]), str(frame.implementation)
    except _ANYTHING:
        raise_alone(DataError(_UNREADABLE))
    form = SetForm(form="list", frame=library if library in ("pandas", "pyarrow") else "polars", column=column)
    if isinstance(series, pl.Series):
        return form, [lists_of(where, series, schema.universe)]
    return form, [_objects(series, schema)]


def _lists_or_objects(series: Series) -> pl.Series | list[object]:
    """A column of lists as a polars series; Python objects stay as they are."""
    import narwhals as nw

    if series.dtype == nw.Object or _is_undeclared(series):
        return list(series.to_list())
    return as_polars(series)


def _is_undeclared(series: Series) -> bool:
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


# ------------------------------------------------------------------------------------------ Python objects


def _from_python(data: object, schema: SetSchema) -> tuple[SetForm, Iterable[Sets]]:
    if isinstance(data, bytes | bytearray | memoryview | Mapping) or not isinstance(data, Iterable):
        raise DataError(f"this is neither a path nor a frame nor a list of sets; {_WHAT}.")
    if schema.form == "long":
        raise DataError("the schema says `form: long`, which is for tables; give one, or leave `form` out.")
    try:
        records = list(data)
    except _ANYTHING:
        raise_alone(DataError(f"the sets cannot be read to their end; {_WHAT}."))
    return SetForm(form="list", column=schema.column or ITEMS), [_objects(records, schema)]


def _objects(records: list[object], schema: SetSchema) -> Sets:
    universe = schema.universe
    # a Python set has no order of its own
    members = [[] if schema.longest and isinstance(record, Set | Mapping) else _members(record) for record in records]
    lengths = np.fromiter(map(len, members), dtype=np.int64, count=len(members))
    items = column_of(list(chain.from_iterable(members)), exact=True)
    return np.repeat(np.arange(len(members)), lengths), universe.encode(items)


def _members(record: object) -> list[object]:
    """The items of a Python collection; empty for a text, and for a value that cannot be iterated over."""
    if isinstance(record, list):
        return record
    if isinstance(record, str | bytes):
        return []
    try:
        return list(cast("Iterable[object]", record))
    except Exception:
        return []

"""Readers of private sets of items: FIMI lines, long (id, item) tables, columns of lists and Python lists.

This module defines what a record is, one record at a time and without messages (docs/privacy.md, cleaning): undeclared
items are removed, an item counts once, empty sets are dropped, and so are rows of a long table without an id. Errors
are about the file or frame as a whole, in fixed texts.

The schema declares the form of the data; otherwise it is recognised by the ending of the file's name and by the names
and types of its columns, never by a value. In pandas most types depend on the values (cantle.data.frames), so
there a table with columns `id` and `item` is long, and any column may be the one of lists. The order of the rows of a
long table does not matter. **The order of the records of Baskets has no meaning**: it is that of the lines or lists, or
of the ids, and nothing released may depend on it.

Every engine uses these steps. A long table becomes rows of declared items with their ids; all rows of a record are
brought together by the store (cantle.trusted.counting.stores) or by Spark; and they are packed into ragged records.
Engine duckdb reads some rows at a time. Its long table may be several files, and a record may have rows in all of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast, runtime_checkable

import numpy as np
import polars as pl

from cantle import kernel_choice
from cantle.data.arrow_batches import decodable_column, parquet_batches, polars_of
from cantle.data.engine_choice import EngineChoice, Opened, refuse_nodes
from cantle.data.file_forms import CSV, PARQUET, check_packing, ending, files
from cantle.data.fimi import Ints, read_tokens
from cantle.data.frames import (
    as_polars,
    collected,
    column_of,
    frame_or_series,
    is_declared,
    library_of,
    unreadable,
)
from cantle.data.tables import (
    _check_columns,
    _check_types,
    _frame_columns,
    as_ids,
    column_types,
    header,
    read_batches,
    read_parquet,
)
from cantle.errors import DataError, ParameterError, raise_alone
from cantle.schema.fields import Field
from cantle.schema.items import Codes, Universe
from cantle.schema.sets import ITEMS, UNREAD, SetForm, SetSchema
from cantle.schema.table import TableSchema
from cantle.trusted.bounding.persons import sequences_within_bound, sets_within_bound
from cantle.trusted.core.arrays import Codes as Integers
from cantle.trusted.core.private import Private
from cantle.trusted.counting.base import Engine
from cantle.trusted.counting.ragged import Packed, Ragged, Records
from cantle.trusted.counting.sets import SetEngine
from cantle.trusted.counting.stores import InMemory, OnDisk, Store
from cantle.trusted.geometry.item_partitions import ItemTree

if TYPE_CHECKING:
    import narwhals as nw
    import pyarrow

    from cantle.data.frames import Frame, Series


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


def check_pair(where: str, given: Iterable[str], schema: SetSchema) -> None:
    """Refuses a long table that lacks its column of ids, of items, or of persons if the schema names one."""
    schema.require_long(where)
    named = {"id": schema.id or "id", "item": schema.item or "item"}
    if schema.ordered_by is not None:
        named["order"] = schema.ordered_by.column
    if schema.person is not None:
        named["person"] = schema.person
    missing = [key for key, name in named.items() if name not in set(given)]
    if missing:
        listed = " and ".join(f"{named[key]!r}" for key in missing)
        fix = " and ".join(f"`{key}: …`" for key in missing)
        raise DataError(f"{where} has no column {listed}; write in the schema what it is called: {fix}.")


ENGINES = ("memory", "duckdb", "spark")
FIMI = (".dat", ".txt", ".seq")
CODE, PLACE = "code of the item", "place of the row"
"""The columns of codes and of places in rows of long tables, beside ids and persons under their own names."""

_UNREADABLE = "the frame cannot be read; give a pandas, polars or pyarrow frame."
_WHAT = "give a file, a pandas, polars or pyarrow frame, or a list of lists of items"

Sets = tuple[Ints, Codes]  # for each occurrence of an item: its record (from 0) and its code, -1 if it is not declared


@dataclass(frozen=True, eq=False, repr=False)
class Baskets(Private):
    """Private records: record i holds the codes items[starts[i]:starts[i + 1]], at least one; of sets strictly
    ascending."""

    starts: Ints
    items: Integers
    form: SetForm


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
    return open_records(data, schema, choice, lambda records: counting(records, method))


def open_records(data: object, schema: SetSchema, choice: EngineChoice, engine: Callable[[Records], Engine]) -> Opened:
    """An engine over the records, and the form of the input."""
    if choice.engine == "spark":
        from cantle.data.spark_files import open_spark

        return open_spark(data, schema, engine)
    if choice.table is not None:
        raise ParameterError("table names a table of a database, and sets are read from files and frames; leave it out")
    store = OnDisk(choice.files) if choice.engine == "duckdb" else InMemory()
    form, packs = _read(data, schema, store)
    return form.to_dict(), engine(Ragged.gathered(packs, store))


def counting(records: Records, method: AsksSets) -> SetEngine:
    """An engine over these records."""
    compiled = worth_compiling(records, method.kernels_from)
    return SetEngine(records, tree=method.tree, most=method.most, compiled=compiled)


def worth_compiling(records: Records, least: int | None) -> bool:
    """Whether kernels that pay off from so many records on pay off for these."""
    number = records.added(lambda starts, _: np.array([len(starts) - 1]))
    return least is not None and kernel_choice.worth_loading(int(number[0]), least)


def read_baskets(data: object, schema: SetSchema) -> Baskets:
    """The sets in a file, a data frame, or an iterable of iterables of items.

    >>> made = read_baskets([[3, 1, 99, 1], [], [2]], SetSchema.from_dict({"kind": "sets", "items": [1, 2, 3]}))
    >>> made.starts.tolist(), made.items.tolist()
    ([0, 2, 3], [0, 2, 1])
    """
    form, packs = _read(data, schema, InMemory())
    records = Ragged.gathered(packs, InMemory())
    return Baskets(records.starts, records.codes, form)


def _read(data: object, schema: SetSchema, store: Store) -> tuple[SetForm, Iterable[Packed]]:
    """The form of the sets and their records, some at a time."""
    if isinstance(data, str | os.PathLike):  # a list holds sets, whatever they look like
        return _from_files(files(data) if isinstance(store, OnDisk) else [Path(data)], schema, store)
    if (frame := _as_frame(data)) is not None:
        return _from_frame(frame, schema, store)
    return _from_python(data, schema)


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


def _from_files(paths: list[Path], schema: SetSchema, store: Store) -> tuple[SetForm, Iterable[Packed]]:
    """The records of files, which all have the form of the first."""
    for path in paths:
        check_file(path)
    if len({ending(path) in PARQUET for path in paths}) > 1:
        raise DataError("the files are of several kinds; give Parquet files only, or text files only.")
    typed, universe = ending(paths[0]) in PARQUET, schema.universe
    if typed and (column := list_column_of(paths[0], schema)) is not None:
        return SetForm(form="list", column=column), _lists_in(paths, column, schema, store)
    if not typed and is_log(paths[0], schema):
        from cantle.data.xes import read_xes

        return SetForm(form="xes"), (pack(*part, schema) for path in paths for part in read_xes(path, schema))
    if not typed and _text_form(paths[0], schema) == schema.lines:
        encoding, most = schema.dialect.encoding, schema.longest
        parts = (part for path in paths for part in read_tokens(path, encoding, universe, most))
        return SetForm(form=schema.lines), (pack(*part, schema) for part in parts)
    for path in paths:
        if typed:
            check_pair(f"{path.name!r}", column_types(path), schema)
        elif schema.dialect.header and ending(path) in CSV:
            check_pair(f"{path.name!r}", header(path, schema.dialect), schema)
    return _from_long(_sources(paths, columns_of(schema), store), schema, store)


def _text_form(path: Path, schema: SetSchema) -> str:
    """The form of a text file: that of the schema, otherwise by its ending."""
    kind = ending(path)
    form = schema.form or (schema.lines if kind in FIMI else "long" if kind in CSV else None)
    if form is None:
        known = ", ".join(dict.fromkeys(FIMI + CSV + PARQUET))
        fix = f"write `form: {schema.lines}` in the schema, or name it one of {known}"
        raise DataError(f"{path.name!r} has an ending that is not known; {fix}.")
    if form == "list":
        fix = f"store it as Parquet, or write `form: {schema.lines}` or `form: long` in the schema"
        raise DataError(f"{path.name!r} is text and cannot hold a column of lists; {fix}.")
    return form


def _sources(paths: Iterable[Path], wanted: list[str], store: Store) -> Iterator[Path | pl.DataFrame]:
    """The files, or batches of those Parquet files that may not fit in memory."""
    for path in paths:
        if ending(path) in PARQUET and isinstance(store, OnDisk):
            yield from map(polars_of, parquet_batches(path, wanted))
        else:
            yield path


def _lists_in(paths: list[Path], column: str, schema: SetSchema, store: Store) -> Iterator[Packed]:
    for path in paths:
        for part in _sources([path], [column], store):
            lists = part[column] if isinstance(part, pl.DataFrame) else set_column(part, schema)
            assert lists is not None, "every file has the column"
            yield pack(*lists_of(f"{path.name!r}", lists, schema.universe), schema)


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


# ------------------------------------------------------------------------------------------ tables, frames


def _from_long(
    sources: Iterable[object], schema: SetSchema, store: Store, frame: str = "polars"
) -> tuple[SetForm, Iterable[Packed]]:
    """Records of the rows (id, item) of files or frames."""
    schema.require_long("this")
    groups = store.together(_rows_in(sources, schema), ids_among(schema)[-1])
    return long_form(schema, frame), (pack_rows(group, schema) for group in groups)


def long_form(schema: SetSchema, frame: str = "polars") -> SetForm:
    """The form of a long table."""
    order = "" if schema.ordered_by is None else schema.ordered_by.column
    _, of, what = as_long_table(schema)
    return SetForm(form="long", frame=frame, id=of, item=what, order=order)


def _rows_in(sources: Iterable[object], schema: SetSchema) -> Iterator[pl.DataFrame]:
    """The rows of long tables, whose columns must have the same types in all of them."""
    (table, _, _), types = as_long_table(schema), dict[str, pl.DataType]()
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
    _, _, what = as_long_table(schema)
    ids = [ids_of(frame[name], schema.missing_values).alias(name) for name in ids_among(schema)]
    codes, order = schema.universe.encode(frame[what]).astype(np.int32), schema.ordered_by
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


def ids_among(schema: SetSchema) -> tuple[str, ...]:
    """The columns of ids and, if the schema names them, of persons. All rows with the same value in the last of them
    are packed together."""
    _, of, _ = as_long_table(schema)
    return (of,) if schema.person is None else (of, schema.person)


def columns_of(schema: SetSchema) -> list[str]:
    """All columns of a long table that are read."""
    table, _, _ = as_long_table(schema)
    return [one.name for one in table.fields]


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


def _as_frame(data: object) -> Frame | None:
    """The data as a narwhals frame, a series as a frame of one column; None for anything else."""
    import narwhals as nw

    with unreadable(_UNREADABLE):
        frame = frame_or_series(data)
        if frame is None and isinstance(data, ArrowArray):
            own = type(data).__module__.startswith("pyarrow.")  # an array on its own; other libraries check texts
            frame = frame_or_series(pl.Series(decodable_column(cast("pyarrow.Array", data)) if own else data))
        return frame.alias(ITEMS).to_frame() if isinstance(frame, nw.Series) else frame


def _from_frame(frame: Frame, schema: SetSchema, store: Store) -> tuple[SetForm, Iterable[Packed]]:
    """The form of the sets in a data frame, and their records."""
    import narwhals as nw

    where = "the frame"
    with unreadable(_UNREADABLE):
        types = dict(frame.collect_schema())
        if isinstance(frame, nw.DataFrame):
            types |= {name: nw.Unknown() for name in types if _is_undeclared(frame[name])}
    column, library = list_column(where, types, schema), library_of(frame)
    if column is None:
        return _from_long([frame.to_native()], schema, store, library)
    _check_columns(where, _frame_columns(frame.to_native()), [column])
    with unreadable(_UNREADABLE):
        series = _lists_or_objects(collected(frame.select(column))[column])
    form = SetForm(form="list", frame=library, column=column)
    if isinstance(series, pl.Series):
        return form, [pack(*lists_of(where, series, schema.universe), schema)]
    return form, [pack(*_objects(series, schema), schema)]


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


def _from_python(data: object, schema: SetSchema) -> tuple[SetForm, Iterable[Packed]]:
    if isinstance(data, bytes | bytearray | memoryview | Mapping) or not isinstance(data, Iterable):
        raise DataError(f"this is neither a path nor a frame nor a list of sets; {_WHAT}.")
    if schema.form == "long":
        raise DataError("the schema says `form: long`, which is for tables; give one, or leave `form` out.")
    with unreadable(f"the sets cannot be read to their end; {_WHAT}."):
        records = list(data)
    sets = _objects(records, schema)
    return SetForm(form="list", column=schema.column or ITEMS), [pack(*sets, schema)]


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

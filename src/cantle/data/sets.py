"""Readers of private sets of items: FIMI lines, long (id, item) tables, columns of lists and Python lists.

This module defines what a record is, one record at a time and without messages (docs/privacy.md, cleaning): undeclared
items are removed, an item counts once, empty sets are dropped, and so are rows of a long table without an id. Errors
are about the file or frame as a whole, in fixed texts.

The schema declares the form of the data; otherwise it is recognised by the ending of the file's name and by the names
and types of its columns, never by a value. In pandas most types depend on the values (cantle.data.frames), so
there a table with columns `id` and `item` is long, and any column may be the one of lists. The order of the rows of a
long table does not matter. **The order of the records of Baskets has no meaning**: it is that of the lines or lists, or
of the ids, and nothing released may depend on it.

Long tables are in cantle.data.long_tables. Engine duckdb reads some rows at a time. Its long table may be several
files, and a record may have rows in all of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast, runtime_checkable

import numpy as np
import polars as pl

from cantle import kernel_choice
from cantle.data.arrow_batches import decodable_column, polars_of, typed_batches
from cantle.data.engine_choice import EngineChoice, Opened, refuse_nodes
from cantle.data.file_forms import CSV, PARQUET, ending, files
from cantle.data.fimi import Ints, read_tokens
from cantle.data.frames import (
    as_polars,
    collected,
    column_of,
    frame_or_series,
    is_declared,
    library_of,
    members,
    unreadable,
)
from cantle.data.long_tables import Sets, check_pair, columns_of, pack, read_long
from cantle.data.tables import _check_columns, _check_types, _frame_columns, column_types, header, read_parquet
from cantle.errors import DataError, ParameterError
from cantle.schema.file_bytes import check_file
from cantle.schema.items import Universe
from cantle.schema.sets import ITEMS, SetForm, SetSchema
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


ENGINES = ("memory", "duckdb", "spark")
FIMI = (".dat", ".txt", ".seq")
_UNREADABLE = "the frame cannot be read; give a pandas, polars or pyarrow frame."
_WHAT = "give a file, a pandas, polars or pyarrow frame, or a list of lists of items"


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
    store = choice.store
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


# --------------------------------------------------------------------------------------------------- files


def _from_files(paths: list[Path], schema: SetSchema, store: Store) -> tuple[SetForm, Iterable[Packed]]:
    """The records of files, which all have the form of the first."""
    for path in paths:
        check_file(path, text=ending(path) not in PARQUET)
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
    return read_long(_sources(paths, list(columns_of(schema).values()), store), schema, store)


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
            yield from map(polars_of, typed_batches(path, wanted))
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


# ------------------------------------------------------------------------------------------ tables, frames


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
            types |= {name: nw.Unknown() for name in types if is_undeclared(frame[name])}
    column, library = list_column(where, types, schema), library_of(frame)
    if column is None:
        return read_long([frame.to_native()], schema, store, library)
    _check_columns(where, _frame_columns(frame.to_native()), [column])
    with unreadable(_UNREADABLE):
        series = lists_or_objects(collected(frame.select(column))[column])
    form = SetForm(form="list", frame=library, column=column)
    if isinstance(series, pl.Series):
        return form, [pack(*lists_of(where, series, schema.universe), schema)]
    return form, [pack(*sets_in(series, schema), schema)]


# ------------------------------------------------------------------------------------------ Python objects


def _from_python(data: object, schema: SetSchema) -> tuple[SetForm, Iterable[Packed]]:
    if isinstance(data, bytes | bytearray | memoryview | Mapping) or not isinstance(data, Iterable):
        raise DataError(f"this is neither a path nor a frame nor a list of sets; {_WHAT}.")
    if schema.form == "long":
        raise DataError("the schema says `form: long`, which is for tables; give one, or leave `form` out.")
    with unreadable(f"the sets cannot be read to their end; {_WHAT}."):
        records = list(data)
    sets = sets_in(records, schema)
    return SetForm(form="list", column=schema.column or ITEMS), [pack(*sets, schema)]


# ------------------------------------------------------------------------------------------- columns of lists


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

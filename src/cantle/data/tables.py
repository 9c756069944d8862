"""Readers of tables: files (CSV, Parquet, Arrow, JSON Lines, spreadsheets) and frames become raw columns, not encoded.

Only declared columns are read, and identifiers never past the header. This module defines what a *record* is,
one record at a time (docs/privacy.md, cleaning): a short row lacks its last values, extra fields of a long row are
ignored, undecodable bytes become U+FFFD, and none of this is reported. Errors are about the file as a whole,
in fixed texts; exceptions of libraries may quote values, so ours are raised without them (`raise_alone`).

CSV follows RFC 4180, with these rules for what it leaves open. A quote inside an unquoted field is an ordinary
character. A quoted field that is not closed properly (by a quote before a delimiter or a line end) is read as if its
quotes were ordinary characters, so that it ends with its line. CR LF, LF and CR all end a line, and a byte order mark
at the start of a line is ignored. In a table of more than one column, a blank line is not a record. `headerRow` says in
which line of the file the header is; titles above it are skipped.
`skipInitialSpace` removes the spaces at the start of every value.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, cast

import polars as pl

from cantle.data.file_forms import (
    ARROW,
    CSV,
    JSON_LINES,
    PARQUET,
    SHEETS,
    STATISTICS,
    TABLES,
    Paths,
    are_paths,
    ending,
    files,
)
from cantle.data.frames import (
    ANYTHING,
    EXACT,
    are_rounded,
    as_frame,
    as_polars,
    collected,
    column_of,
    column_of_lists,
    is_declared,
    is_rounded,
    library_of,
    read_column,
    unreadable,
)
from cantle.data.line_grammars import BLANK_LINES, CsvDialect, Grammar, object_batches, well_formed, with_line_feeds
from cantle.data.sheets import column_names, read_sheet, read_statistics
from cantle.errors import DataError
from cantle.schema.dialect import UNDECODABLE, without_marks
from cantle.schema.file_bytes import check_file, pieces, whole_lines
from cantle.schema.values import MIXED, in_microseconds, text_of
from cantle.trusted.core.private import Private

if TYPE_CHECKING:
    from polars._typing import PolarsDataType

    from cantle.data.frames import Series
    from cantle.schema.dialect import Dialect
from cantle.schema.table import TableSchema

_LINE_END = re.compile(rb"\r\n?|\n")
_KNOWN = "numbers, text, booleans, dates or datetimes"
_READ = (pl.Boolean, pl.String, pl.Categorical, pl.Enum, pl.Date, pl.Datetime, pl.Null)  # beside numbers
_FEW = 8  # most columns that a message names
_DIALECT = ", or say there how the file is written: `delimiter`, `encoding`, `header: false`, `headerRow: 3`"


@dataclass(frozen=True, repr=False)
class Raw(Private):
    """Raw private columns, exactly the declared ones, and the kind of frame in which records are returned."""

    frame: pl.DataFrame
    kind: str = "polars"


def read_columns(source: object, schema: TableSchema) -> Raw:
    """The declared columns of a file or frame, identifiers left out."""
    batches = list(read_batches(source, schema))
    if len({tuple(batch.frame.schema.items()) for batch in batches}) > 1:
        raise DataError("the files have columns of different types; write them with one type.")
    return Raw(pl.concat([batch.frame for batch in batches]), batches[0].kind)


def read_batches(source: object, schema: TableSchema, ids: tuple[str, ...] = ()) -> Iterator[Raw]:
    """The same in one or more batches of records, so that a large file is not held in memory as text.

    `ids` are columns that `as_ids` reads, like the schema's column of persons.
    """
    wanted = schema.wanted
    if schema.person is not None:
        wanted.append(schema.person)
        ids = (*ids, schema.person)
    if not are_paths(source):
        yield _read_frame(source, wanted, ids, schema.lists)
        return
    for path in files(cast("Paths", source)):
        _check_file(path)
        yield from map(Raw, _read_file(path, schema, wanted, ids))


def _read_file(path: Path, schema: TableSchema, wanted: list[str], ids: tuple[str, ...]) -> Iterator[pl.DataFrame]:
    kind = ending(path)
    if kind in PARQUET + ARROW:
        yield _read_typed(path, wanted, ids, schema.lists)
    elif kind in SHEETS:
        names, columns = read_sheet(path, schema.dialect, schema.file_columns, ids)
        _check_columns(f"{path.name!r}", names, wanted)
        yield pl.DataFrame({name: columns[names.index(name)] for name in wanted})
    elif kind in STATISTICS:
        _check_columns(f"{path.name!r}", column_names(path), wanted)
        yield read_statistics(path, schema.dialect, wanted)
    elif kind in JSON_LINES:
        yield from object_batches(pieces(path, schema.dialect.encoding), wanted)
    else:
        yield from read_csv(path, schema, wanted)


def as_ids(column: pl.Series, missing: tuple[str, ...]) -> pl.Series:
    """A column of identifiers as text; null if one is missing.

    An integer is its decimal text; booleans are 1 and 0. A whole float below 2**53 in absolute value is that integer;
    any other float is not an identifier. Only pandas has undeclared columns of floats: it makes them from integers if
    one is blank, and rounds those of 2**53 and more, so that two persons may become one float. Therefore such integers
    are not identifiers in pandas' int64 either (cantle.data.frames reads them as those floats). Columns that
    are declared to hold floats are refused.

    A text with U+FFFD is not an identifier: it stands for bytes that could not be decoded, which may differ between two
    persons. Nor is a value of which only a rounded form is read (cantle.data.frames.is_rounded).
    """
    if column.dtype == MIXED:
        text = pl.select(pl.coalesce(*(_id_text(part) for part in column.struct.unnest()))).to_series()
    else:
        text = _id_text(column)
    gone = text.is_in(["", *missing]) | text.str.contains(UNDECODABLE, literal=True)
    return text.set(gone.fill_null(False), None)


def _id_text(column: pl.Series) -> pl.Series:
    if column.dtype == pl.Boolean:
        return column.cast(pl.Int64).cast(pl.String)
    if column.dtype.is_float():
        column = column.cast(pl.Float64)
        whole = (column.floor() == column) & (column.abs() < EXACT)
        column = pl.select(pl.when(whole).then(column)).to_series().cast(pl.Int64)
    return text_of(in_microseconds(column))


def header(source: str | os.PathLike[str], dialect: Dialect) -> list[str]:
    """The column names of a CSV file or a spreadsheet; nothing else is used."""
    path = Path(source)
    _check_file(path)
    if ending(path) in SHEETS:
        return read_sheet(path, dialect, [])[0]
    return _split_header(_pieces(path, dialect), _csv_dialect(path, dialect))[0]


# ------------------------------------------------------------------------------------------------- files


def _check_file(path: Path) -> None:
    check_file(path, text=ending(path) in CSV + JSON_LINES)
    if ending(path) not in TABLES:
        raise DataError(f"{path.name!r} has an ending that is not known; give a table as {', '.join(TABLES)}.")


def _check_columns(where: str, given: Iterable[object], wanted: list[str], fix: str = "") -> None:
    """Refuses a header that lacks a declared column, or has it twice. `fix` is added if all are missing.

    The message names the missing columns and says nothing else about the header, not even whether a name is nearly
    right, because in a file without a header the first record is in its place.
    """
    times = Counter(list(given))
    missing = [name for name in wanted if not times[name]]
    if missing:
        more = fix if len(missing) == len(wanted) else ""
        rule = "correct the header (case and blanks count) or the names in the schema"
        raise DataError(f"{where} has no column {_listed(missing)}; {rule}{more}.")
    twice = [name for name in wanted if times[name] > 1]
    if twice:
        raise DataError(f"{where} has more than one column {_listed(twice)}; rename or remove the others.")


def _listed(names: list[str]) -> str:
    """The first few of the declared names."""
    more = f" and {len(names) - _FEW} more" if len(names) > _FEW else ""
    return ", ".join(map(repr, names[:_FEW])) + more


def column_types(source: str | os.PathLike[str]) -> dict[str, pl.DataType]:
    """The column names and declared types of a Parquet or Arrow file; nothing else is read."""
    path = Path(source)
    _check_file(path)
    with unreadable(_damaged(path)):
        return dict(pl.read_ipc_schema(path) if ending(path) in ARROW else pl.read_parquet_schema(path))


def _read_typed(path: Path, wanted: list[str], ids: tuple[str, ...], lists: tuple[str, ...]) -> pl.DataFrame:
    """The columns of a Parquet or Arrow file."""
    types = column_types(path)
    _check_columns(f"{path.name!r}", types, wanted)
    _check_types(f"{path.name!r}", {name: types[name] for name in wanted}, ids, lists)
    if ending(path) not in ARROW:
        return read_parquet(path, wanted).select(wanted)
    with unreadable(_damaged(path)), path.open("rb") as file:  # polars could take a path for a pattern
        return pl.read_ipc(file, columns=wanted).select(wanted)


def read_parquet(path: Path, columns: list[str] | None = None) -> pl.DataFrame:
    """These columns of a Parquet file, or all."""
    with unreadable(_damaged(path)):
        return pl.read_parquet(path, columns=columns, glob=False)


def _damaged(path: Path) -> str:
    kind = "Arrow" if ending(path) in ARROW else "Parquet"
    return f"{path.name!r} is not a readable {kind} file, or is truncated; write it again."


def _check_types(
    where: str, types: Mapping[str, PolarsDataType], ids: tuple[str, ...] = (), lists: tuple[str, ...] = ()
) -> None:
    """Refuses columns whose declared type fits no type of the schema; this never depends on a record."""
    for name, dtype in types.items():
        if name in lists and isinstance(dtype, pl.List | pl.Array):
            dtype = dtype.inner
        if name in ids and dtype.is_float():
            raise DataError(f"{where}: column {name!r} holds identifiers as floats; store them as integers or text.")
        # Known types are listed, not unknown ones: of an extension type, polars refuses the first value that it casts.
        if not dtype.is_numeric() and dtype not in _READ:
            raise DataError(f"{where}: column {name!r} has type {dtype.base_type()}; store it as {_KNOWN}.")


# --------------------------------------------------------------------------------------------------- CSV


def _csv_dialect(path: Path, dialect: Dialect) -> CsvDialect:
    separator = dialect.delimiter or ("\t" if ending(path) == ".tsv" else ",")
    return CsvDialect(separator, dialect.quote_char, dialect.header, dialect.skip_initial_space)


def read_csv(path: Path, schema: TableSchema, wanted: list[str]) -> Iterator[pl.DataFrame]:
    """The wanted columns of a CSV file as text, in batches of lines."""
    dialect, pieces = _csv_dialect(path, schema.dialect), _pieces(path, schema.dialect)
    names, first = schema.file_columns, b""
    if dialect.header:
        names, first = _split_header(pieces, dialect)
        _check_columns(f"{path.name!r}", names, wanted, _DIALECT)
    for text in batches_of_lines(chain([first], pieces), (dialect.quote or "").encode()):
        yield parse_lines(text, names, dialect, wanted)


def batches_of_lines(pieces: Iterable[bytes], quote: bytes) -> Iterator[bytes]:
    """The whole lines of each piece; from the first quote on, all the rest is one batch."""
    some, blocks = False, whole_lines(pieces)
    for lines in blocks:
        if quote and quote in lines:  # a quoted field may contain line ends
            yield b"".join((lines, *blocks))
            return
        yield without_marks(with_line_feeds(lines))
        some = True
    if not some:
        yield b""


def parse_lines(text: bytes, names: list[str], dialect: CsvDialect, wanted: list[str]) -> pl.DataFrame:
    """The wanted columns of whole lines as text; `names` are those of all columns of the file."""
    places = [names.index(name) for name in wanted]
    columns = [f"c{place}" for place in range(max(places) + 1)]
    # without a header of our own, the first record would decide the number of columns
    lines = dialect.separator.join(columns).encode() + b"\n" + text
    frame = _parse(lines, dialect, columns, places, one_column=len(names) == 1)
    if dialect.skip_initial_space:
        frame = frame.select(pl.all().str.strip_chars_start(" "))
    return frame.rename(dict(zip(frame.columns, wanted, strict=True)))


def _pieces(path: Path, dialect: Dialect) -> Iterator[bytes]:
    return _below(pieces(path, dialect.encoding, marked=dialect.header), dialect.header_row - 1)


def _below(pieces: Iterator[bytes], lines: int) -> Iterator[bytes]:
    """The bytes below so many lines of titles.

    A line ends at its line end, whatever quotes are in it: a quote in a title that a later record closes would make the
    number of lines depend on that record.
    """
    for piece in pieces:
        ends = [one.end() for one in islice(_LINE_END.finditer(piece), lines)] if lines else []
        lines -= len(ends)
        if not lines and (rest := piece[ends[-1] :] if ends else piece):
            yield rest


def _split_header(pieces: Iterator[bytes], dialect: CsvDialect) -> tuple[list[str], bytes]:
    """The column names, and the bytes after the header in the pieces that were read to find its end."""
    data = next(pieces, b"")
    if not data:
        raise DataError("the file is empty, or ends before its header; write one, or correct `header` and `headerRow`.")
    fields, end = Grammar(dialect).record(data, 0)
    while end == len(data) and not data.endswith((b"\r", b"\n")) and (more := next(pieces, b"")):
        data += more
        fields, end = Grammar(dialect).record(data, 0)
    names = [field.decode("utf-8", "replace") for field in fields]
    return ([name.lstrip(" ") for name in names] if dialect.skip_initial_space else names), data[end:]


def _parse(text: bytes, dialect: CsvDialect, columns: list[str], places: list[int], one_column: bool) -> pl.DataFrame:
    """The columns at `places` of a CSV text, all as text."""
    quote = dialect.quote if dialect.quote and dialect.quote.encode() in text else None
    if quote:
        text = well_formed(text, dialect)
    frame = _parse_well_formed(text, dialect, quote, columns, places)
    # a blank line appears as a record without any value; only then do we search for blank lines
    some = not one_column and all(one.null_count() for one in frame)
    if some and frame.select(pl.all_horizontal(pl.all().is_null()).any()).item():
        text = Grammar(dialect).rewritten(text, drop_blank=True) if quote else BLANK_LINES.sub(b"", text)
        frame = _parse_well_formed(text, dialect, quote, columns, places)
    return frame


def _parse_well_formed(
    text: bytes, dialect: CsvDialect, quote: str | None, columns: list[str], places: list[int]
) -> pl.DataFrame:
    """The text parsed by polars, for texts that are well-formed except perhaps for bytes that are not UTF-8."""
    wanted = [columns[place] for place in places]
    for encoding in ("utf8", "utf8-lossy"):  # the first is faster, and both agree if it succeeds
        try:
            frame = pl.read_csv(
                text,
                columns=wanted,
                schema=dict.fromkeys(columns, pl.String),
                separator=dialect.separator,
                quote_char=quote,
                encoding=encoding,
                truncate_ragged_lines=True,
            )
        except ANYTHING:
            continue
        return frame.select(wanted)
    raise DataError("the file cannot be read as CSV; check delimiter and quoteChar in the schema.")


# ------------------------------------------------------------------------------------------------ frames


def _read_frame(source: object, wanted: list[str], ids: tuple[str, ...], lists: tuple[str, ...]) -> Raw:
    _check_columns("the frame", _frame_columns(source), wanted)
    with unreadable("the frame cannot be read; give a pandas, polars or pyarrow frame."):
        frame = collected(as_frame(source).select(wanted))
    with unreadable(f"the frame has a column of a type that cannot be read; store it as {_KNOWN}."):
        columns = {name: _column(frame[name], is_id=name in ids, is_list=name in lists).alias(name) for name in wanted}
    _check_types("the frame", {name: columns[name].dtype for name in wanted if _is_declared(frame[name])}, ids, lists)
    return Raw(pl.DataFrame(columns), library_of(frame))


def _frame_columns(source: object) -> list[object]:
    """Column names of a frame, including repeated ones (which narwhals would refuse with its own message)."""
    names = getattr(source, "column_names", None)  # pyarrow
    if names is None and not hasattr(source, "collect_schema"):
        names = getattr(source, "columns", None)  # pandas
    if names is not None and not callable(names):
        return list(names)
    with unreadable("this is neither a path nor a data frame; give a file, or a pandas, polars or pyarrow frame."):
        return list(as_frame(source).collect_schema().names())


def _column(series: Series, *, is_id: bool, is_list: bool) -> pl.Series:
    """One column as a polars series; a column of Python objects is read value by value (cantle.data.frames)."""
    native = series.to_native()
    if is_list and (objects := _objects(series)) is not None:
        return column_of_lists(objects)
    if isinstance(native, pl.Series):
        if native.dtype != pl.Object:
            return native
        return column_of([None if is_id and is_rounded(one) else one for one in native.to_list()], exact=True)
    if series.implementation.is_pandas_like():
        values = series.to_pandas()
        if is_id and (rounded := are_rounded(values)).any():
            values = values.mask(rounded)
        return read_column(values)
    return as_polars(series)


def _objects(series: Series) -> list[object] | None:
    """The values of a column of Python objects, which may be categories of pandas; None for other columns."""
    native = series.to_native()
    if isinstance(native, pl.Series):
        return native.to_list() if native.dtype == pl.Object else None
    if not series.implementation.is_pandas_like():
        return None
    values = series.to_pandas()
    return values.astype(object).tolist() if getattr(values.dtype, "categories", values).dtype == object else None


def _is_declared(series: Series) -> bool:
    """Whether the type of a column is independent of the records; that of a column of Python objects is not."""
    if series.implementation.is_pandas_like():
        return is_declared(series.to_pandas().dtype)
    return bool(series.to_native().dtype != pl.Object) if isinstance(series.to_native(), pl.Series) else True

"""What a file declares about the columns of a table: their names, and their types if it has any. No value is read.

With `infer`, types, bounds and categories are guessed from the private values. A schema made so has no guarantee.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from datetime import MAXYEAR, MINYEAR, datetime
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cantle.data.file_forms import ARROW, JSON_LINES, PARQUET, STATISTICS, ending
from cantle.data.frames import as_frame
from cantle.data.sheets import book_of
from cantle.data.tables import column_types, header, read_columns
from cantle.errors import DataError, ParameterError
from cantle.schema.code_books import BookColumn
from cantle.schema.declared_values import plain
from cantle.schema.dialect import MOST_ROWS, Dialect
from cantle.schema.fields import LIST, LISTED
from cantle.schema.items import Universe
from cantle.schema.lists import EMPTY, MOST_ITEMS
from cantle.schema.table import Field, TableSchema

if TYPE_CHECKING:
    import polars as pl
    from polars.datatypes import DataTypeClass


def prepared(name: str) -> str:
    """One of the texts that drafts are made of."""
    return (Path(__file__).parent / "texts" / f"{name}.yaml").read_text(encoding="utf-8")


Known = dict[str, Any]
"""What the values of a column say about it, as fields of `BookColumn`."""

WESTERN = "cp1252"
"""The encoding of a header that is not UTF-8: that of Excel in Western Europe."""
_MOST_NAMES = 20_000
_LONGEST_NAME = 200


def names_its_columns(path: str | os.PathLike[str]) -> bool:
    """Whether a file is of a form that declares the names and types of its columns."""
    return ending(path) in PARQUET + ARROW + STATISTICS


_LOG = ("case", "time", "activity")


def event_log(names: Sequence[str]) -> list[str] | None:
    """The columns of sequence, order and symbol, if their names say so and none else does."""
    found = [[name for name in names if word in name.lower()] for word in _LOG]
    apart = len({name for some in found for name in some}) == len(_LOG)
    return [some[0] for some in found] if apart and all(len(some) == 1 for some in found) else None


def declared(path: Path, header_row: int | None) -> tuple[list[BookColumn], Dialect]:
    """Names and declared types of the columns, and the dialect; its delimiter is the one that the line uses most.

    `header_row` is the line that holds the names (True is the first one), or 0 if there is none. A column without a
    name cannot be declared, so it is left out.
    """
    if ending(path) in JSON_LINES:
        rule = "the names in a file of JSON lines are part of its records"
        raise ParameterError(f"{path.name!r}: {rule}; write the schema from a code book")
    if ending(path) in STATISTICS:
        return book_of(path), Dialect()
    if names_its_columns(path):
        return [BookColumn(name=name, type=type_of(dtype)) for name, dtype in column_types(path).items()], Dialect()
    if header_row is None:
        rule = "nothing in it says whether the first line holds column names or a record"
        raise ParameterError(f"{path.name!r}: {rule}; say which: header=True, header=False or its line")
    if not 0 <= header_row <= MOST_ROWS:
        raise ParameterError(f"the header is in a line from 1 to {MOST_ROWS}, got {header_row}")
    row = max(1, int(header_row))
    headers = {one: header(path, Dialect(delimiter=one, header_row=row)) for one in (None, ";", "\t", "|")}
    best = max(headers, key=lambda one: len(headers[one]))
    names = headers[best]
    if len(names) > _MOST_NAMES:
        raise DataError(f"the first line of {path.name!r} has more than {_MOST_NAMES:,} fields; check its line ends.")
    dialect = Dialect(delimiter=best, header=bool(header_row), header_row=row)
    if header_row and any("\ufffd" in name for name in names):
        dialect = replace(dialect, encoding=WESTERN)
        names = header(path, dialect)
    if header_row:
        names = [name for name in names if name.strip()]
        _check_names(path, names)
    else:
        names = [f"column_{number}" for number in range(1, len(names) + 1)]
    return [BookColumn(name=name) for name in names], dialect


def frame_columns(data: object) -> list[BookColumn]:
    """Names and types of a frame's columns. Types of pandas depend on the values, so they are left out."""
    words = {"Boolean": "boolean", "Date": "date", "Datetime": "datetime", "List": LIST, "Array": LIST}
    words |= dict.fromkeys(("String", "Categorical", "Enum"), "string")
    frame, columns = as_frame(data), list[BookColumn]()
    if frame.implementation.is_pandas_like():
        return [BookColumn(name=name) for name in frame.columns]
    for name, dtype in frame.collect_schema().items():
        kind = "integer" if dtype.is_integer() else "number" if dtype.is_numeric() else words.get(type(dtype).__name__)
        columns.append(BookColumn(name=name, type=kind))
    return columns


def _check_names(path: Path, names: list[str]) -> None:
    """Refuses texts that cannot be column names; the message does not quote them, because they may be values."""
    problem = None if names else "has no name in it"
    if len(set(names)) < len(names):
        problem = "repeats a name"
    elif any(len(name) > _LONGEST_NAME for name in names):
        problem = f"has a name of more than {_LONGEST_NAME} characters"
    elif any(unicodedata.category(letter) in ("Cc", "Zl", "Zp") for name in names for letter in name):
        problem = "has a control character in a name"
    if problem:
        fix = "correct it, or say that the file has none (--header no) or in which line it is (--header 3)"
        raise DataError(f"the header of {path.name!r} {problem}; {fix}.")


def type_of(dtype: pl.DataType) -> str | None:
    """The schema's type for a column's declared type; None if there is none."""
    import polars as pl

    if dtype.is_integer() or dtype.is_float() or dtype.is_decimal():
        return "integer" if dtype.is_integer() else "number"
    kinds: dict[DataTypeClass, str] = {pl.Boolean: "boolean", pl.Date: "date", pl.Datetime: "datetime"}
    kinds |= {pl.String: "string", pl.Categorical: "string", pl.Enum: "string", pl.List: LIST, pl.Array: LIST}
    return kinds.get(dtype.base_type())


_MARKS = ("?", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", ".")
_DELIMITERS = (";", "|", ",")
_MANY = 1000  # an inferred column with more distinct texts becomes an identifier
_MOST_DECIMALS = 6
_UNITS = {"1d": "1d", "1h": "1h", "1min": "1m", "1s": "1s"}
"""Distances of datetimes as a schema and as polars has them, the longest first."""


def inferred(
    path: str | os.PathLike[str], columns: list[BookColumn], dialect: Dialect
) -> tuple[list[BookColumn], list[str]]:
    """Columns with types and all blanks filled in from the values, and the missing-value marks that occur."""
    import polars as pl

    some = Universe(range(1))  # of lists, whatever they hold
    fields = (Field(name=one.name, items=some if one.type == LIST else None) for one in columns)
    schema = TableSchema(fields=tuple(fields), dialect=dialect)
    frame = read_columns(path, schema).frame
    texts = [series for series in frame if series.dtype == pl.String]
    marks = ["", *(mark for mark in _MARKS if any((series == mark).any() for series in texts))]
    return [BookColumn(name=series.name, **_guess(series, marks)) for series in frame], marks


def _guess(series: pl.Series, marks: list[str]) -> Known:
    """The narrowest type that reads every value of a column, and its bounds or categories."""
    import polars as pl

    series = series.cast(pl.String) if series.dtype in (pl.Categorical, pl.Enum) else series
    values = series.drop_nulls()
    values = values.filter(~values.is_in(marks)) if values.dtype == pl.String else values
    if values.dtype.is_float():
        values = values.filter(values.is_finite())
    if values.is_empty():
        return {"role": "identifier"}
    if values.dtype.is_nested():
        return _of_items(values.list.explode(), {}) or {"role": "identifier"}
    if values.dtype != pl.String:
        kind = type_of(values.dtype) or "string"
        return _filled(values, kind)
    tried = [_filled_from_text(values, kind) for kind in ("boolean", "integer", "number", "date", "datetime")]
    tried += [_of_delimited(values, mark) for mark in _DELIMITERS]
    return next(filled for filled in [*tried, _filled_from_text(values, "string")] if filled)


def _of_delimited(texts: pl.Series, mark: str) -> Known | None:
    """The column read as lists with this delimiter; None if its texts are not made of much fewer items."""
    parts = texts.str.split(mark).list.explode().str.strip_chars()
    items = parts.filter(~parts.is_in(["", EMPTY]))
    return _of_items(items, {"delimiter": mark}) if 2 * items.n_unique() <= texts.n_unique() else None


def _of_items(items: pl.Series, more: Known) -> Known | None:
    """A column of lists with these items; None if they are too many."""
    items = items.drop_nulls().unique().sort()
    few = 0 < len(items) <= MOST_ITEMS and type_of(items.dtype) in LISTED
    return {"type": LIST, "items": items.to_list(), **more} if few else None


def _filled_from_text(texts: pl.Series, kind: str) -> Known | None:
    """The column read as type `kind`; None if a value cannot be read so."""
    import polars as pl

    if kind == "boolean":
        return {"type": kind} if texts.str.to_lowercase().is_in(["true", "false"]).all() else None
    if kind == "integer":
        values = texts.cast(pl.Int64, strict=False)
    elif kind == "number":
        values = texts.cast(pl.Float64, strict=False)
        values = values if values.is_finite().all() else values.clear(len(values))
    elif kind == "date":
        values = texts.str.to_date("%Y-%m-%d", strict=False)
    elif kind == "datetime":
        texts = texts.str.replace(" ", "T", literal=True)
        values = texts.str.to_datetime("%Y-%m-%dT%H:%M:%S%.f", strict=False, time_unit="us")
    else:
        values = texts
    if kind in ("date", "datetime") and not values.dt.year().is_between(MINYEAR, MAXYEAR).all():
        return None  # polars has years that Python does not have
    return None if values.null_count() else _filled(values, kind)


def _filled(values: pl.Series, kind: str) -> Known:
    """The type of a column, and its bounds or categories, from its values; too many texts make it an identifier."""
    low, high = values.min(), values.max()
    if kind == "boolean":
        return {"type": kind}
    if kind == "string":
        listed = sorted(values.unique().to_list())
        return {"type": kind, "categories": listed} if len(listed) <= _MANY else {"role": "identifier"}
    if kind == "number":
        step = _decimal_step(values)
        return {
            "type": kind,
            "multiple_of" if _all_multiples(values, step) else "step": float(step),
            "minimum": float((Decimal(str(low)) / step).to_integral_value(ROUND_FLOOR) * step),
            "maximum": float((Decimal(str(high)) / step).to_integral_value(ROUND_CEILING) * step),
        }
    if isinstance(low, datetime) and isinstance(high, datetime):
        first, last = (moment.replace(microsecond=0, tzinfo=None) for moment in (low, high))
        bounds: Known = {"type": kind, "minimum": first.isoformat(), "maximum": last.isoformat()}
        whole = next((ours for ours, theirs in _UNITS.items() if (values.dt.truncate(theirs) == values).all()), None)
        return bounds | ({"step": "1s"} if whole is None else {"multiple_of": whole})
    return {"type": kind, "minimum": plain(low), "maximum": plain(high)}


def _all_multiples(values: pl.Series, step: Decimal) -> bool:
    """Whether every number is the float nearest to a multiple of the step."""
    above, below = step.as_integer_ratio()
    given = values.to_numpy().astype(np.float64)
    return bool((np.rint(given * below / above) * above / below == given).all())


def _decimal_step(values: pl.Series) -> Decimal:
    """The precision the values are written in, at most six decimals and fifteen digits."""
    shown = [Decimal(str(one)).normalize() for one in values.unique().head(1000).to_list()]
    decimals = max(0, *(-int(one.as_tuple().exponent) for one in shown))
    whole = max(one.adjusted() for one in shown) + 2
    return Decimal(1).scaleb(-min(decimals, _MOST_DECIMALS) if whole <= 8 else max(0, whole - 14))

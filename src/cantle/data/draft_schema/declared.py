"""What a file declares about the columns of a table: their names, and their types if it has any. No value is read."""

from __future__ import annotations

import os
import unicodedata
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from cantle.data.draft_schema.table_text import WESTERN, Column
from cantle.data.file_forms import ARROW, JSON_LINES, PARQUET, STATISTICS, ending
from cantle.data.frames import as_frame
from cantle.data.statistics_files import book_of
from cantle.data.tables import column_types, header
from cantle.errors import DataError, ParameterError
from cantle.schema.dialect import MOST_ROWS, Dialect

if TYPE_CHECKING:
    import polars as pl
    from polars.datatypes import DataTypeClass

_MOST_NAMES = 20_000
_LONGEST_NAME = 200


def names_its_columns(path: str | os.PathLike[str]) -> bool:
    """Whether a file is of a form that declares the names and types of its columns."""
    return ending(path) in PARQUET + ARROW + STATISTICS


def require_file(path: Path) -> None:
    """Refuses a path where there is nothing."""
    if not os.path.exists(path):
        raise DataError(f"there is no file {path.name!r}; check the path.")


def declared_columns(path: Path, header_row: int | None) -> tuple[list[tuple[str, str | None]], Dialect]:
    """The name of each column, its type if the file declares one, and the dialect; no value is read."""
    columns, dialect = declared(path, header_row)
    return [(name, kind) for name, kind, _ in columns], dialect


def declared(path: Path, header_row: int | None) -> tuple[list[Column], Dialect]:
    """Names and declared types of the columns, and the dialect; its delimiter is the one that the line uses most.

    `header_row` is the line that holds the names (True is the first one), or 0 if there is none. A column without a
    name cannot be declared, so it is left out.
    """
    if ending(path) in JSON_LINES:
        rule = "the names in a file of JSON lines are part of its records"
        raise ParameterError(f"{path.name!r}: {rule}; write the schema from a code book")
    if ending(path) in STATISTICS:
        return [(one.name, one.type, {}) for one in book_of(path)], Dialect()
    if names_its_columns(path):
        return [(name, type_of(dtype), {}) for name, dtype in column_types(path).items()], Dialect()
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
    return [(name, None, {}) for name in names], dialect


def frame_columns(data: object) -> list[Column]:
    """Names and types of a frame's columns. Types of pandas depend on the values, so they are left out."""
    words = {"Boolean": "boolean", "Date": "date", "Datetime": "datetime"}
    words |= dict.fromkeys(("String", "Categorical", "Enum"), "string")
    frame, columns = as_frame(data), list[Column]()
    if frame.implementation.is_pandas_like():
        return [(name, None, {}) for name in frame.columns]
    for name, dtype in frame.collect_schema().items():
        kind = "integer" if dtype.is_integer() else "number" if dtype.is_numeric() else words.get(type(dtype).__name__)
        columns.append((name, kind, {}))
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
    kinds |= {pl.String: "string", pl.Categorical: "string", pl.Enum: "string"}
    return kinds.get(dtype.base_type())

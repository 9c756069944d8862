"""Reader of spreadsheets (.xlsx, .ods) through fastexcel: every cell by itself, as text.

By default, fastexcel chooses the type of a column by its first thousand cells. cantle makes it read all cells as text,
so that the meaning of a cell depends on that cell alone: numbers with a decimal point and up to 15 digits, dates in ISO
form with their time, true and false. What a number format adds (percent signs, leading zeros) is not part of the cell.
Errors (#DIV/0!) and empty cells are missing. A row without any value is not a record.

Reading begins at the first row that has a value, or at row `headerRow` of the sheet. In a sheet without a header,
columns are counted from column A, whether or not a record has a value there.

The library reads some of Excel's errors (#DIV/0!), but refuses the whole file if one cell has another error (#SPILL!);
it also panics at a date of a hundred billion days before 1900. One record must not decide whether a file is read
(docs/privacy.md, cleaning). So a copy is read (`readable`), in which a cell with such an error is empty, and such a
number is text. All other cells stay as they are.
"""

from __future__ import annotations

import re
import zipfile
from io import BytesIO
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import polars as pl

from cantle.data.objects import EXACT
from cantle.errors import DataError, MissingExtra, install_command, raise_alone

if TYPE_CHECKING:
    from cantle.schema.table import Dialect

_LEAST = -1e11  # days; the library counts milliseconds in 64 bits
_SHEET = re.compile(r"/?xl/worksheets/[^/]+\.xml", re.IGNORECASE)
_TYPE = re.compile(rb"""\st\s*=\s*["']([^"']*)["']""")
_CELL = re.compile(rb"<((?:\w+:)?)c(?=\s)([^>]*)(?<!/)>(.*?)</\1c\s*>", re.DOTALL)
_MAYBE = re.compile(rb"""\st\s*=\s*["']e["']|<(?:\w+:)?v>\s*-(?:[0-9]{12}|[^<]*[eEiI])""")
"""A text that occurs in every sheet with such a cell. Most sheets have none, and `_cell` for every cell would be
slow."""
_VALUE = re.compile(rb"<(?:\w+:)?v>\s*(-[^<]*)<")


def readable(path: Path) -> Path | bytes:
    """The file, or its bytes with such cells rewritten."""
    try:
        with zipfile.ZipFile(path) as archive:
            sheets = {name: archive.read(name) for name in archive.namelist() if _SHEET.fullmatch(name)}
            changed = {name: _CELL.sub(_cell, text) for name, text in sheets.items() if _MAYBE.search(text)}
            return _rewritten(archive, changed) if changed else path
    except Exception:  # it is not an Excel file, which the reader will report
        return path


def _cell(match: re.Match[bytes]) -> bytes:
    prefix, attributes, inside = match.groups()
    kind = _TYPE.search(attributes)
    if kind and kind[1] == b"e":
        return b"<%bc%b/>" % (prefix, _TYPE.sub(b"", attributes))
    value = _VALUE.search(inside)
    if value is None or (kind and kind[1] != b"n") or not _is_far(value[1]):
        return match[0]
    return b'<%bc%b t="str">%b</%bc>' % (prefix, _TYPE.sub(b"", attributes), inside, prefix)


def _is_far(number: bytes) -> bool:
    try:
        return float(number) < _LEAST
    except ValueError:
        return False


def _rewritten(archive: zipfile.ZipFile, changed: dict[str, bytes]) -> bytes:
    held = BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as copy:
        for name in archive.namelist():
            copy.writestr(name, changed[name] if name in changed else archive.read(name))
    return held.getvalue()


def load() -> ModuleType:
    """The package fastexcel; MissingExtra if it is not installed."""
    try:
        import fastexcel
    except ImportError:
        raise_alone(
            MissingExtra(f"spreadsheets need fastexcel, which is not installed; {install_command('excel')} or save CSV")
        )
    return fastexcel


def read_sheet(
    path: Path, dialect: Dialect, fields: list[str], ids: tuple[str, ...] = ()
) -> tuple[list[str], list[pl.Series]]:
    """The names of the columns, from the header or from the schema's fields, and the columns as text.

    In the columns `ids`, which hold identifiers, texts that numbers may have been rounded to are missing.
    """
    places, frame = _cells(path, dialect)
    names, columns = _named(path, dialect, fields, places, frame, frame)
    if ids:
        numbers = _named(path, dialect, fields, places, frame, _cells(path, dialect, "float")[1])[1]
        for place, name in enumerate(names):
            columns[place] = _exact_ids(columns[place], numbers[place]) if name in ids else columns[place]
    return names, columns


def _named(
    path: Path, dialect: Dialect, fields: list[str], places: list[int], texts: pl.DataFrame, values: pl.DataFrame
) -> tuple[list[str], list[pl.Series]]:
    """The names of the columns, and their values in all rows that have a text."""
    frame, columns = texts, values.get_columns()
    if dialect.header_row > 1 and not any(one[0] is not None for one in frame[:1].get_columns()):
        raise DataError(f"row {dialect.header_row} of {path.name!r} is empty; correct `headerRow`.")
    if texts.width:
        kept = texts.select(~pl.all_horizontal(pl.all().is_null())).to_series()
        frame, columns = texts.filter(kept), values.filter(kept).get_columns()
    if dialect.header:
        if not frame.height:
            raise DataError(
                f"the sheet of {path.name!r} is empty, not even a header; write one, or say `header: false`."
            )
        header = ["" if one[0] is None else str(one[0]) for one in frame.get_columns()]
        return header, [one[1:] for one in columns]
    nothing = pl.repeat(None, frame.height, dtype=pl.String, eager=True)
    by_place = dict(zip(places, columns, strict=True))
    return fields, [by_place.get(place, nothing) for place in range(len(fields))]


def _exact_ids(texts: pl.Series, numbers: pl.Series) -> pl.Series:
    """The identifiers, without those that several numbers may have been rounded to: then two persons would be one.

    `numbers` are the same cells as floats, and null if they are neither numbers nor texts that read as one. A
    spreadsheet holds every number as a float, so a whole number of 2**53 or more may stand for its neighbours; its text
    has all digits of the float. The text of a number that is not whole is rounded to fewer digits.
    """
    whole = pl.when(numbers.abs() < 2.0**127).then(numbers.cast(pl.Int128, strict=False).cast(pl.String))
    rounded = pl.when(numbers == numbers.floor()).then((numbers.abs() >= EXACT) & (whole == texts)).otherwise(True)
    return pl.select(pl.when(numbers.is_null() | ~rounded.fill_null(True)).then(texts)).to_series().alias(texts.name)


def _cells(path: Path, dialect: Dialect, kind: str = "string") -> tuple[list[int], pl.DataFrame]:
    """The distance from column A of each column that has a value, and these columns as text or of another kind.

    They begin at the row of the header, if the dialect names one, and otherwise at the first row that has a value.
    """
    excel, sheet, above = load(), dialect.sheet_name, dialect.header_row - 1
    try:
        source = path if path.suffix.lower() == ".ods" else readable(path)
        cells = excel.read_excel(source).load_sheet(
            0 if sheet is None else sheet, header_row=None, skip_rows=above or None, dtypes=kind
        )
        return [one.absolute_index for one in cells.selected_columns], cells.to_polars()
    except Exception:  # noqa: BLE001 - whatever the library objects to, it may do so in words that quote a value
        what = "has no such sheet, " if sheet is not None else ""
        what += f"ends above row {above + 1}, " if above else ""
        raise_alone(DataError(f"{path.name!r} {what}is not a readable spreadsheet, or is damaged; save it again."))

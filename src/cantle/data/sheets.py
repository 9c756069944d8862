"""Readers of files of other programs: spreadsheets, and files of SPSS, Stata and SAS. Every value is read by itself.

**Spreadsheets** (.xlsx, .ods) are read as text. By default, fastexcel chooses the type of a column by its first
thousand cells. cantle makes it read all cells as text, so that the meaning of a cell depends on that cell alone:
numbers with a decimal point and up to 15 digits, dates in ISO form with their time, true and false. What a number
format adds (percent signs, leading zeros) is not part of the cell. Errors (#DIV/0!) and empty cells are missing. A row
without any value is not a record.

Reading begins at the first row that has a value, or at row `headerRow` of the sheet. In a sheet without a header,
columns are counted from column A, whether or not a record has a value there.

The library reads some of Excel's errors (#DIV/0!), but refuses the whole file if one cell has another error (#SPILL!);
it also panics at a date of a hundred billion days before 1900. One record must not decide whether a file is read
(docs/privacy.md, cleaning). So a copy is read (`readable`), in which a cell with such an error is empty, and such a
number is text. All other cells stay as they are.

**SPSS, Stata and SAS** are read through pyreadstat, by the type that the file declares. Three things that the library
would do for a whole column, or refuse a whole file for, are done here value by value. Dates are numbers in these files;
which columns hold them follows from the declared format. Texts are taken as bytes, and decoded in the encoding that the
file names, otherwise in that of the schema; what cannot be decoded is U+FFFD. Numbers are 64-bit floats, so only whole
ones below 2**53 are identifiers. Values that the file declares as missing are missing. The labels of a file are its
code book: `book_of` makes columns of a schema from them. It reads no record.
"""

from __future__ import annotations

import codecs
import re
import zipfile
from io import BytesIO
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from cantle.data.file_forms import ending
from cantle.data.frames import EXACT
from cantle.errors import DataError, optional, raise_alone
from cantle.schema.code_books import BookColumn

if TYPE_CHECKING:
    from cantle.schema.dialect import Dialect


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


def load_excel() -> ModuleType:
    """The package fastexcel."""
    return optional("spreadsheets need", "fastexcel", "excel", " or save CSV")


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
    excel, sheet, above = load_excel(), dialect.sheet_name, dialect.header_row - 1
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


_READERS = {
    ".sav": "read_sav", ".zsav": "read_sav", ".por": "read_por", ".dta": "read_dta", ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}  # fmt: skip
_BYTES = "LATIN1"  # gives every byte a character, so that no text can be undecodable
_SPSS = (".sav", ".zsav", ".por")
_DAY = 86_400
_SINCE_1582, _SINCE_1960 = -141_428, -3_653  # days since 1970
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896  # the years 1 to 9999, in days since 1970

_DATES = r"(E|A|S|J)?DATE|DATE9|%t?d|MMDDYY|DDMMYY|YYMMDD|(B|E8601|B8601|E8601DA)DA?|JULIAN|NLDATE|WEEKDATE|WORDDATE"
_MOMENTS = r"DATETIME|YMDHMS|%tc|NLDATM|(E8601|B8601)DT|MDYAMPM"
_DATE, _MOMENT = (re.compile(rf"({names})[A-Z]?\d*(\.\d*)?", re.IGNORECASE) for names in (_DATES, _MOMENTS))


class _Column(NamedTuple):
    """What a file declares about a column."""

    name: str
    kind: str
    """The type in a schema: string, integer, number, date or datetime."""


def load_statistics() -> ModuleType:
    """The package pyreadstat."""
    return optional("files of SPSS, Stata and SAS need", "pyreadstat", "statistics")


def column_names(path: Path) -> list[str]:
    """The names of all columns."""
    return [one.name for one in _columns(path, _metadata(path))]


def read_statistics(path: Path, dialect: Dialect, wanted: list[str]) -> pl.DataFrame:
    """The wanted columns."""
    about = _metadata(path)
    columns = {one.name: (place, one.kind) for place, one in enumerate(_columns(path, about))}
    encoding = _known(about.file_encoding) or dialect.encoding
    values = list(_read(path, encoding=_BYTES)[0].values())
    made = {}
    for name in wanted:
        place, kind = columns[name]
        made[name] = _column(values[place], kind, encoding, spss=ending(path) in _SPSS, moments=_ticks(path))
    return pl.DataFrame(made)


def book_of(path: Path) -> list[BookColumn]:
    """The columns with their labels, as a code book says them: labelled codes become categories, unless the file
    measures the column on a scale; labels of codes that mean missing are left out."""
    about = _metadata(path, **({} if ending(path) in (".por", ".xpt") else {"user_missing": True}))
    titles, labels = about.column_names_to_labels, about.variable_value_labels
    gone = {name: _missing_codes(about, name) for name in about.column_names}
    columns = []
    for name, kind in _columns(path, about):
        known = {str(_plain(code)): str(text) for code, text in labels.get(name, {}).items() if code not in gone[name]}
        if about.variable_measure.get(name) == "scale" or kind not in ("string", "integer", "number"):
            known = {}
        listed = list(known) or None
        columns.append(BookColumn(name=name, type=kind, title=titles.get(name), categories=listed, labels=known))
    return columns


def _metadata(path: Path, **options: Any) -> Any:
    return _read(path, metadataonly=True, **options)[1]


def _read(path: Path, **options: Any) -> tuple[dict[str, list[Any]], Any]:
    reader = getattr(load_statistics(), _READERS[ending(path)])
    try:
        return reader(str(path), output_format="dict", disable_datetime_conversion=True, **options)
    except Exception:  # noqa: BLE001 - the library may quote what it could not read
        raise_alone(DataError(f"{path.name!r} is not a readable {ending(path)} file, or is damaged; save it again."))


def _columns(path: Path, about: Any) -> list[_Column]:
    """All columns with their types, which follow from the declared ones and never from a record."""
    return [_Column(name, _kind(about, name, spss=ending(path) in _SPSS)) for name in about.column_names]


def _kind(about: Any, name: str, *, spss: bool) -> str:
    declared, form = about.readstat_variable_types[name], str(about.original_variable_types.get(name) or "")
    if declared == "string":
        return "string"
    if _MOMENT.fullmatch(form):
        return "datetime"
    if _DATE.fullmatch(form):
        return "date"
    whole = re.fullmatch(r"F\d+(\.0)?", form) if spss else declared.startswith("int")
    return "integer" if whole else "number"


def _ticks(path: Path) -> int:
    """The units per second in which a file counts moments."""
    return 1000 if ending(path) == ".dta" else 1


def _column(values: list[Any], kind: str, encoding: str, *, spss: bool, moments: int) -> pl.Series:
    if kind == "string":
        texts = (value.encode("latin-1").decode(encoding, "replace") if value else None for value in values)
        return pl.Series(list(texts), dtype=pl.String)
    numbers = pl.Series([None if value is None else float(value) for value in values], dtype=pl.Float64)
    if kind not in ("date", "datetime"):
        return numbers
    days = numbers / (_DAY * moments) if spss or kind == "datetime" else numbers
    days += _SINCE_1582 if spss else _SINCE_1960
    there = (days >= _FIRST_DAY) & (days < _LAST_DAY + 1)
    days = pl.select(pl.when(there).then(days)).to_series()
    if kind == "date":
        return days.floor().cast(pl.Int32).cast(pl.Date)
    seconds = numbers / moments + _DAY * (_SINCE_1582 if spss else _SINCE_1960)
    exact = pl.select(pl.when(there).then(seconds)).to_series()
    return (exact.floor().cast(pl.Int64) * 1_000_000).cast(pl.Datetime("us"))


def _known(encoding: str | None) -> str | None:
    """The encoding that a file names, if Python knows it."""
    try:
        return codecs.lookup(encoding).name if encoding else None
    except LookupError:
        return None


def _missing_codes(about: Any, name: str) -> set[Any]:
    """The labelled codes that the file declares as missing."""
    ranges = about.missing_ranges.get(name, [])
    labelled = about.variable_value_labels.get(name, {})
    marks = about.missing_user_values.get(name, [])
    inside = {
        code
        for code in labelled
        for one in ranges
        if isinstance(code, int | float) and not isinstance(one["lo"], str) and one["lo"] <= code <= one["hi"]
    }
    return inside | {code for code in labelled if code in marks or any(code == one["lo"] for one in ranges)}


def _plain(code: object) -> object:
    return int(code) if isinstance(code, float) and code.is_integer() else code

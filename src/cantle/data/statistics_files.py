"""Reader of files of SPSS, Stata and SAS through pyreadstat: every value by itself, by the type that its file declares.

Three things that the library would do for a whole column, or refuse a whole file for, are done here value by value.
Dates are numbers in these files; which columns hold them follows from the declared format. Texts are taken as bytes,
and decoded in the encoding that the file names, otherwise in that of the schema; what cannot be decoded is U+FFFD.
Numbers are 64-bit floats, so only whole ones below 2**53 are identifiers. Values that the file declares as missing are
missing.

The labels of a file are its code book: `book_of` makes columns of a schema from them. It reads no record.
"""

from __future__ import annotations

import codecs
import re
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from cantle.data.file_forms import ending
from cantle.data.objects import EXACT
from cantle.errors import DataError, MissingExtra, install_command, raise_alone
from cantle.schema.code_books.columns import BookColumn

if TYPE_CHECKING:
    from cantle.schema.table import Dialect

_READERS = {
    ".sav": "read_sav", ".zsav": "read_sav", ".por": "read_por", ".dta": "read_dta", ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}  # fmt: skip
_BYTES = "LATIN1"  # gives every byte a character, so that no text can be undecodable
_SPSS = (".sav", ".zsav", ".por")
_DAY = 86_400
_SINCE_1582, _SINCE_1960 = -141_428, -3_653  # days since 1970
_LEAST, _MOST = -719_162, 2_932_896  # the years 1 to 9999, in days since 1970

_DATES = r"(E|A|S|J)?DATE|DATE9|%t?d|MMDDYY|DDMMYY|YYMMDD|(B|E8601|B8601|E8601DA)DA?|JULIAN|NLDATE|WEEKDATE|WORDDATE"
_MOMENTS = r"DATETIME|YMDHMS|%tc|NLDATM|(E8601|B8601)DT|MDYAMPM"
_DATE, _MOMENT = (re.compile(rf"({names})[A-Z]?\d*(\.\d*)?", re.IGNORECASE) for names in (_DATES, _MOMENTS))


class _Column(NamedTuple):
    """What a file declares about a column."""

    name: str
    kind: str
    """The type in a schema: string, integer, number, date or datetime."""


def load() -> ModuleType:
    """The package pyreadstat; MissingExtra if it is not installed."""
    try:
        import pyreadstat
    except ImportError:
        how = install_command("statistics")
        raise_alone(MissingExtra(f"files of SPSS, Stata and SAS need pyreadstat, which is not installed; {how}"))
    return pyreadstat


def column_names(path: Path) -> list[str]:
    """The names of all columns."""
    return [one.name for one in _columns(path, _metadata(path))]


def read_statistics(path: Path, dialect: Dialect, wanted: list[str], ids: tuple[str, ...]) -> pl.DataFrame:
    """The wanted columns; identifiers as text."""
    about = _metadata(path)
    columns = {one.name: (place, one.kind) for place, one in enumerate(_columns(path, about))}
    encoding = _known(about.file_encoding) or dialect.encoding
    values = list(_read(path, encoding=_BYTES)[0].values())
    made = {}
    for name in wanted:
        place, kind = columns[name]
        made[name] = _column(values[place], kind, encoding, spss=ending(path) in _SPSS, moments=_ticks(path))
        if name in ids and made[name].dtype == pl.Float64:
            made[name] = _ids(made[name])
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
    reader = getattr(load(), _READERS[ending(path)])
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
    there = (days >= _LEAST) & (days < _MOST + 1)
    days = pl.select(pl.when(there).then(days)).to_series()
    if kind == "date":
        return days.floor().cast(pl.Int32).cast(pl.Date)
    seconds = numbers / moments + _DAY * (_SINCE_1582 if spss else _SINCE_1960)
    exact = pl.select(pl.when(there).then(seconds)).to_series()
    return (exact.floor().cast(pl.Int64) * 1_000_000).cast(pl.Datetime("us"))


def _ids(numbers: pl.Series) -> pl.Series:
    """Numbers as identifiers: whole ones below 2**53, because several larger ones may be one float."""
    whole = (numbers == numbers.floor()) & (numbers.abs() < EXACT)
    kept = pl.select(pl.when(whole.fill_null(False)).then(numbers)).to_series()
    return kept.cast(pl.Int64).cast(pl.String)


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

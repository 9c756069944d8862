"""Conversion of raw values to plain numbers or text, one value at a time.

The input is a series of any type: text is parsed, typed columns are used as they are. Unreadable values are
missing; nothing here raises, warns or logs because of a value (docs/privacy.md, cleaning). A missing-value mark that
is a number, such as "-999", applies to typed columns as well.

A value means the same alone and among others: a column of several kinds of values (MIXED) is read kind by kind, like
columns of these types.

Columns of text may declare other signs in numbers (`NumberForm`), and blanks or another case in categories (`Folding`).

Dates are whole days since 1970. Datetimes are whole seconds since 1970 without a time zone; a value with an
offset is converted to UTC first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cantle.trusted.core.arrays import Codes as Codes

Mask = NDArray[np.bool_]
Number = TypeVar("Number", bound=np.number)
Array = TypeVar("Array", bound=NDArray[np.integer])

_DAY = 86_400
_INT64 = np.iinfo(np.int64)
_FIRST_DAY, _AFTER_LAST_DAY = -719_163, 2_932_898
"""Days since 1970: the years 1 to 9999 and a day on either side, for moments with an offset."""
_FULL_YEAR = 1000  # the first year of four digits
_ISO_DAY = ("%Y-%m-%d",)
_ISO = ("%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M")
_ISO_ZONED = ("%Y-%m-%dT%H:%M:%S%.f%#z", "%Y-%m-%d %H:%M:%S%.f%#z")

MIXED = pl.Struct(
    {"text": pl.String(), "whole": pl.Int64(), "number": pl.Float64(), "moment": pl.Datetime("us"), "day": pl.Date()}
)
"""The type of a column with several kinds of values: in each row at most one of these fields is not null
(cantle.data.frames)."""


def by_kind(series: pl.Series, read: Callable[[pl.Series], Array]) -> Array:
    """The result of `read` for a column; a MIXED column is read as if each of its kinds were a column of its own."""
    if series.dtype != MIXED:
        return read(series)
    first, *others = series.struct.unnest().get_columns()
    values = read(first)
    for part in others:
        there = part.is_not_null().to_numpy()
        if there.any():
            values = values.copy()
            values[there] = read(part.drop_nulls())
    return values


def is_text(dtype: pl.DataType) -> bool:
    """Whether values are texts, which are parsed."""
    return isinstance(dtype, pl.String | pl.Categorical | pl.Enum)


def text_of(series: pl.Series) -> pl.Series:
    """The series as text. A value has the same text in every type; it is null if it has no plain text.

    Booleans are written as 1 and 0, whole floats as integers, decimals without trailing zeros, dates and datetimes in
    ISO form. Days and moments outside of the years 1 to 9999, which typed columns can hold, have no such text.
    """
    dtype = series.dtype
    if dtype == pl.String:
        return series
    if dtype.is_nested() or dtype in (pl.Binary, pl.Object, pl.Duration, pl.Time):
        return pl.repeat(None, len(series), dtype=pl.String, eager=True)
    if dtype == pl.Boolean:
        return series.cast(pl.Int8).cast(pl.String)
    if dtype.is_float():
        series = series.fill_nan(None)
        return _whole_text(series, series.cast(pl.String))
    if isinstance(dtype, pl.Datetime):
        moment = series.to_physical() // {"ms": 1, "us": 1, "ns": 1000}[dtype.time_unit]
        unit: Literal["ms", "us"] = "ms" if dtype.time_unit == "ms" else "us"
        moment = _within(moment, _DAY * {"ms": 10**3, "us": 10**6}[unit]).cast(pl.Datetime(unit))
        return moment.dt.to_string("%Y-%m-%dT%H:%M:%S%.f")
    if dtype == pl.Date:
        return _within(series.to_physical(), 1).cast(pl.Date).cast(pl.String)
    text = series.cast(pl.String, strict=False)
    if dtype.is_decimal():
        text = text.str.replace(r"(\.[0-9]*?)0+$", "$1").str.strip_suffix(".")
    return text


def in_microseconds(series: pl.Series) -> pl.Series:
    """The series without moments that are not a whole number of microseconds: their texts would be rounded."""
    if not isinstance(series.dtype, pl.Datetime) or series.dtype.time_unit != "ns":
        return series
    return series.set((series.to_physical() % 1000 != 0).fill_null(False), None)


def _within(times: pl.Series, per_day: int) -> pl.Series:
    """Times since 1970; null far outside of the years 1 to 9999, because polars panics when it writes such days."""
    kept = (times >= _FIRST_DAY * per_day) & (times < _AFTER_LAST_DAY * per_day)
    return times.set(~kept.fill_null(True), None)


def label_text(series: pl.Series, kind: str) -> pl.Series:
    """The series as texts to look up in a list of categories: 1.0 is read as 1, and so is "01" in a list of
    integers."""
    text = text_of(series)
    if kind == "integer" and not series.dtype.is_float():
        tidy = text.str.strip_chars()
        read = tidy.cast(pl.Int64, strict=False).cast(pl.String)
        return pl.select(pl.coalesce(read, _whole_text(tidy.cast(pl.Float64, strict=False), text))).to_series()
    return text


def truth_words(texts: Collection[str]) -> dict[str, str]:
    """The meaning of the numbers 1 and 0 in a list of texts that has "true" or "false" but not the number.

    pandas turns truth values into numbers or objects, depending on other records; so both must mean the same.

    >>> truth_words(["true", "false"]), truth_words(["1", "true"])
    ({'1': 'true', '0': 'false'}, {})
    """
    pairs = {"1": "true", "0": "false"}
    return {number: word for number, word in pairs.items() if word in texts and number not in texts}


def _whole_text(values: pl.Series, otherwise: pl.Series) -> pl.Series:
    """Whole floats as integers in text; for other floats the text in `otherwise`, and null for null."""
    whole = values.cast(pl.Int64, strict=False)
    exact = pl.when(whole.cast(values.dtype) == values).then(whole.cast(pl.String))
    return pl.select(exact.otherwise(otherwise)).to_series()


def _plain(series: pl.Series, kind: type[Number]) -> tuple[NDArray[Number], Mask]:
    """The numbers of a numeric series, with 0 for null, and a mask of nulls."""
    if not series.null_count():
        return series.to_numpy().astype(kind, copy=False), np.zeros(len(series), dtype=np.bool_)
    return series.fill_null(0).to_numpy().astype(kind, copy=False), series.is_null().to_numpy()


def floats(series: pl.Series, marks: Sequence[str]) -> NDArray[np.float64]:
    """Float values, NaN for missing. Text with a thousands separator or any other addition is missing."""
    dtype = series.dtype
    if dtype == pl.Boolean or dtype.is_integer() or dtype.is_float():
        values, missing = _plain(series.cast(pl.Float64), np.float64)
        missing |= _is_numeric_mark(values, marks)
    else:
        text = text_of(series)
        parsed = text.cast(pl.Float64, strict=False)
        values, missing = _plain(parsed, np.float64)
        if parsed.null_count() > text.null_count():
            rest = parsed.is_null() & text.is_not_null()
            tidy = text.filter(rest).str.strip_chars()
            again, lost = _plain(tidy.cast(pl.Float64, strict=False), np.float64)
            values, missing = _patch(values, missing, rest, again, lost | _is_mark(tidy, marks))
        missing = missing | _is_mark(text, _numeric(tuple(marks)))
        if dtype.is_decimal():
            missing |= _is_numeric_mark(values, marks)
    return np.where(missing, np.nan, values)


def _integers(series: pl.Series, marks: Sequence[str], _formats: Sequence[str]) -> tuple[NDArray[np.int64], Mask]:
    """Whole numbers; texts with a fraction or an exponent are floored, numbers that are too long are clamped."""
    dtype = series.dtype
    if dtype == pl.UInt64:
        large, missing = _plain(series, np.uint64)
        return np.minimum(large, np.uint64(_INT64.max)).astype(np.int64), missing | _is_numeric_mark(large, marks)
    if dtype == pl.Boolean or (dtype.is_integer() and str(dtype) not in ("Int128", "UInt128")):
        values, missing = _plain(series.cast(pl.Int64), np.int64)
        return values, missing | _is_numeric_mark(values, marks)
    if dtype.is_float():
        return _floor(floats(series, marks))
    text = text_of(series)
    parsed = text.cast(pl.Int64, strict=False)
    values, missing = _plain(parsed, np.int64)
    if parsed.null_count() > text.null_count():
        rest = parsed.is_null() & text.is_not_null()
        values, missing = _patch(values, missing, rest, *_floor(floats(text.filter(rest), marks)))
    if dtype.is_decimal():
        missing |= np.isnan(floats(series, marks))
    return values, missing | _is_mark(text, _numeric(tuple(marks)))


def _days(series: pl.Series, marks: Sequence[str], formats: Sequence[str]) -> tuple[NDArray[np.int64], Mask]:
    """Whole days since 1970; a datetime counts as the day it falls on."""
    if series.dtype == pl.Date:
        return _plain(series.to_physical(), np.int64)
    if series.dtype == pl.Datetime:
        seconds, missing = _seconds(series, marks, formats)
        return seconds // _DAY, missing
    text = text_of(series)
    tidy = text.str.strip_chars()
    values, missing = _by_formats(tidy, formats or _ISO_DAY, pl.Date(), formats)
    rest = pl.Series(missing) & text.is_not_null()
    if rest.any():  # in ISO form, with or without a time
        seconds, lost = _seconds(tidy.filter(rest), (), ())
        values, missing = _patch(values, missing, rest, seconds // _DAY, lost)
    return values, missing | _is_mark(text, marks) | _is_mark(tidy, marks)


def _by_formats(
    text: pl.Series, formats: Sequence[str], kind: pl.Date | pl.Datetime, declared: Sequence[str]
) -> tuple[NDArray[np.int64], Mask]:
    """Texts as dates or datetimes, each in the first format that fits. In declared formats %Y means four digits: polars
    would read 03.01.20 as a day in the year 20."""
    values, missing = np.zeros(len(text), dtype=np.int64), np.ones(len(text), dtype=bool)
    for pattern in formats:
        rest = pl.Series(missing) & text.is_not_null()
        if not rest.any():
            break
        parsed = text.filter(rest).str.strptime(kind, pattern, strict=False)
        if pattern in declared and "%Y" in pattern:
            parsed = pl.select(pl.when(parsed.dt.year() >= _FULL_YEAR).then(parsed)).to_series()
        values, missing = _patch(values, missing, rest, *_plain(parsed.to_physical(), np.int64))
    return values, missing


def _seconds(series: pl.Series, marks: Sequence[str], formats: Sequence[str]) -> tuple[NDArray[np.int64], Mask]:
    """Whole seconds since 1970 in UTC; fractions are floored."""
    micro, missing = microseconds(series, marks, formats)
    return micro // 10**6, missing


def microseconds(series: pl.Series, marks: Sequence[str], formats: Sequence[str]) -> tuple[NDArray[np.int64], Mask]:
    """Whole microseconds since 1970 in UTC, within the years 1 to 9999; fractions of them are floored."""
    if isinstance(series.dtype, pl.Datetime):
        values, missing = _plain(series.to_physical(), np.int64)
        per = {"ms": 10**3, "us": 10**6, "ns": 10**9}[series.dtype.time_unit]
        if per == 10**9:
            return values // 1000, missing
        return np.clip(values, _FIRST_DAY * _DAY * per, _AFTER_LAST_DAY * _DAY * per) * (10**6 // per), missing
    if series.dtype == pl.Date:
        values, missing = _plain(series.to_physical(), np.int64)
        return np.clip(values, _FIRST_DAY, _AFTER_LAST_DAY) * _DAY * 10**6, missing
    text = text_of(series)
    tidy = text.str.strip_chars()
    values, missing = _by_formats(tidy, (*formats, *_ISO, *_ISO_ZONED), pl.Datetime("us"), formats)
    return values, missing | _is_mark(text, marks) | _is_mark(tidy, marks)


WHOLE = {"integer": _integers, "date": _days, "datetime": _seconds}


def _floor(values: NDArray[np.float64]) -> tuple[NDArray[np.int64], Mask]:
    """Floats as whole numbers: floored, clamped to what an int64 holds, NaN missing."""
    missing = np.isnan(values)
    high, low = values >= 2.0**63, values < -(2.0**63)
    whole = np.floor(np.where(missing | high | low, 0.0, values)).astype(np.int64)
    return np.where(high, _INT64.max, np.where(low, _INT64.min, whole)), missing


def _patch(
    values: NDArray[Number], missing: Mask, where: pl.Series, new: NDArray[Number], lost: Mask
) -> tuple[NDArray[Number], Mask]:
    """`values` and `missing`, in which the records `where` are replaced by `new` and `lost`."""
    values, missing, at = values.copy(), missing.copy(), where.to_numpy()
    values[at], missing[at] = new, lost
    return values, missing


def _is_mark(text: pl.Series, marks: Sequence[str]) -> Mask:
    if not marks:
        return np.zeros(len(text), dtype=bool)
    return text.is_in(list(marks)).fill_null(False).to_numpy()


@lru_cache(maxsize=256)
def _numeric(marks: tuple[str, ...]) -> tuple[str, ...]:
    """The marks that are read as a number; all others are missing without being looked for."""
    read = pl.Series(marks, dtype=pl.String).str.strip_chars().cast(pl.Float64, strict=False)
    return tuple(mark for mark, number in zip(marks, read, strict=True) if number is not None)


def _is_numeric_mark(values: NDArray[np.number], marks: Sequence[str]) -> Mask:
    """Which typed numbers are missing-value marks (a mark "-999" applies to -999 as well)."""
    numbers = pl.Series(list(marks), dtype=pl.String).cast(pl.Float64, strict=False).drop_nulls().to_numpy()
    return np.isin(values, numbers) if len(numbers) else np.zeros(len(values), dtype=bool)


# ---- other ways to write values ---------------------------------------------------------------------------------

BLANKS = "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
BLANKS += "\u2028\u2029\u202f\u205f\u3000"
"""The characters that Unicode calls white space: what trimming removes from both ends of a text, in every engine."""

_LETTERS = 0x1F000  # all letters that have two cases are below


@dataclass(frozen=True)
class NumberForm:
    """How numbers are written, as Frictionless names it: `decimalChar`, `groupChar` and `bareNumber`.

    Group separators are between digits before the decimals, with exactly three digits after the last one. With `bare`
    False, other characters may come before and after the number: signs of currencies, units, percent signs. These are
    dropped, so 5 % is 5. Digits, plus, minus and brackets are not among them: 3-4 or (5) is not a number. A sign may
    come before them (-€5) or after them (€-5).

    >>> import polars as pl
    >>> form = NumberForm(decimal=",", group=".", bare=False)
    >>> form.plain(pl.Series(["1.234,5", "€ -7", "12 %", "1.5", "3-4", "1,5e2"])).to_list()
    ['1234.5', '-7', '12', None, None, '1.5e2']
    """

    decimal: str = "."
    group: str | None = None
    bare: bool = True

    def plain(self, text: pl.Series) -> pl.Series:
        """The numbers in plain form, which any parser reads; null if a text is not a number of this form."""
        plain_text = text.str.replace(self._pattern, "$1$2$3$4$5")
        if self.group is not None:
            plain_text = plain_text.str.replace_all(f"[{self._groups}]", "")
        if self.decimal != ".":
            plain_text = plain_text.str.replace(self.decimal, ".", literal=True)
        return pl.select(pl.when(text.str.contains(self._pattern)).then(plain_text)).to_series()

    @cached_property
    def _groups(self) -> str:
        """The characters that count as group separators, for a class of a regular expression; no-break blanks count as
        blanks."""
        return r" \x{a0}\x{202f}" if self.group == " " else re.escape(self.group or "")

    @cached_property
    def _pattern(self) -> str:
        """The pattern. Its groups 1 and 2 are signs, of which at most one occurs, and 3 is the number; or 4 is the sign
        and 5 the number."""
        point, groups = re.escape(self.decimal), self._groups
        whole = rf"[0-9]{{1,3}}(?:[{groups}][0-9]{{2,3}})*[{groups}][0-9]{{3}}|[0-9]+" if groups else r"[0-9]+"
        power = r"(?:[eE][+-]?[0-9]+)?"
        number, fraction = rf"(?:{whole})(?:{point}[0-9]*)?{power}", rf"{point}[0-9]+{power}"
        before, after = "", r"\s*"
        if not self.bare:
            other = r"0-9+\-()\[\]"
            # "Rs.500" could mean 500 or 0.500: a text before the number must not end with a character that may begin
            # one
            before, after = rf"(?:[^{other}]*[^{other}{point}{'' if self.group == ' ' else groups}])?", rf"[^{other}]*"
        return rf"^\s*(?:([+-]?){before}([+-]?)({number})|([+-]?)({fraction})){after}$"


PLAIN = NumberForm()


def trimmed(text: str) -> str:
    """A text without blanks at its ends, as polars strips them."""
    return text.strip(BLANKS)


@dataclass(frozen=True)
class Folding:
    """A map from capitals to small letters, for looking texts up without regard to case.

    Case is ignored letter by letter: a capital whose small form is one letter means that letter, in any language and
    anywhere in a word. Only letters that occur in the listed texts are folded; others cannot match anyway.

    >>> Folding.of(["Male", "straße"])("MALE"), Folding.of(["Male"])("ÄMALE")
    ('male', 'Ämale')
    """

    capitals: str
    small: str

    @staticmethod
    def of(texts: Iterable[str]) -> Folding:
        """The folding that decides whether a text is one of these."""
        pairs = [(large, small) for small in sorted({c.lower() for c in "".join(texts)}) for large in _capitals(small)]
        return Folding("".join(large for large, _ in pairs), "".join(small for _, small in pairs))

    def __call__(self, text: str) -> str:
        return text.translate(str.maketrans(self.capitals, self.small))

    def series(self, text: pl.Series) -> pl.Series:
        """The same for many texts."""
        return text.str.replace_many(list(self.capitals), list(self.small)) if self.capitals else text


def _capitals(small: str) -> list[str]:
    return _all_capitals().get(small, [])


@lru_cache(maxsize=1)
def _all_capitals() -> dict[str, list[str]]:
    """The capitals of each small letter, for capitals whose small form is one letter."""
    capitals: dict[str, list[str]] = {}
    for letter in map(chr, range(_LETTERS)):
        if letter.lower() != letter and len(letter.lower()) == 1:
            capitals.setdefault(letter.lower(), []).append(letter)
    return capitals

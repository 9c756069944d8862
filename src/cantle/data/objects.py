"""The meaning of Python values: the one definition that holds whatever other values are in the column.

A library chooses the type of a column by all of its values: one blank makes pandas turn integers into floats, and one
word makes it turn them into Python objects. So a value must mean the same in each of those columns (docs/privacy.md,
cleaning). `meaning` is the definition for columns of objects, for lists of items, and for typed columns of pandas,
which are read as arrays with the same result (cantle.data.frames).

* A number (int, float, numpy's, decimal, fraction, complex without imaginary part) is the nearest 64-bit float; NaN is
  missing. Where no library can have rounded a value before (lists, polars), 64-bit integers stay exact: `exact`.
* A boolean is the number 1 or 0, because pandas turns it into one if there is a number in its column. Text is text.
* A date is a day. A datetime is a moment in whole microseconds; one with an offset is converted to UTC.
* None, NaN, NaT, NA, text with half a surrogate pair, and all other objects are missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cantle.schema.values import MIXED

EXACT = 2**53
"""64-bit floats hold integers of smaller absolute value exactly."""

_EPOCH = datetime(1970, 1, 1)
_MICRO = timedelta(microseconds=1)
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6}
_YEAR_1, _YEAR_10000 = -62_135_596_800, 253_402_300_800  # seconds since 1970
_NONE = type(None)

Meaning = tuple[str, str | int | float | date]
"""The kind of a value, a field of `schema.values.MIXED`, and the value in that kind."""


def meaning(value: object, *, exact: bool = False) -> Meaning | None:
    """The kind of a value (a field of `schema.values.MIXED`) and the value in that kind; None if it is missing.

    >>> meaning(1), meaning(1.0), meaning(True), meaning("1"), meaning(float("nan"))
    (('number', 1.0), ('number', 1.0), ('number', 1.0), ('text', '1'), None)
    """
    try:
        return _meaning(value, exact)
    except Exception:  # half a surrogate pair, or an object whose methods fail: the value is missing
        return None


def is_rounded(value: object) -> bool:
    """Whether the meaning of a value may be that of another value too, by rounding: of a moment with nanoseconds, and
    of a decimal or fraction between two floats. Such a value is not an identifier; integers have rules of their own.

    >>> is_rounded(Fraction(10**20 + 1, 10**20)), is_rounded(Decimal("0.5")), is_rounded(1.5), is_rounded("x")
    (True, False, False, False)
    """
    try:
        if isinstance(value, np.datetime64):
            return bool(value == value and value != value.astype("datetime64[us]"))
        if isinstance(value, datetime):
            return bool(value == value and getattr(value, "nanosecond", 0))
        if isinstance(value, Decimal | Fraction | np.longdouble):
            return bool(value == value and value != float(value))
    except Exception:  # such a value has no meaning
        pass
    return False


def column_of(values: Sequence[object], *, exact: bool = False) -> pl.Series:
    """The values as a series: of type MIXED if they are of several kinds, otherwise of the type of their kind.

    >>> column_of(["a", None]).dtype, column_of([1, None]).dtype, column_of(["a", 1]).dtype == MIXED
    (String, Float64, True)
    """
    kinds = set(map(type, values))
    if kinds == {str, float} or kinds == {str, float, _NONE}:  # pandas writes most blanks as NaN
        values = [None if value != value else value for value in values]
        kinds = set(map(type, values))
    if kinds <= {str, _NONE} and (texts := _texts(values)) is not None:
        return texts
    by_type: dict[type, list[int]] = {}
    for place, value in enumerate(values):
        by_type.setdefault(type(value), []).append(place)
    parts_by_kind: dict[str, list[pl.DataFrame]] = {}
    for kind, places in by_type.items():
        for name, part in _read(kind, [values[place] for place in places], places, exact):
            parts_by_kind.setdefault(name, []).append(part)
    columns = {name: _spread(pl.concat(parts), len(values)) for name, parts in parts_by_kind.items()}
    if len(columns) < 2:
        return next(iter(columns.values()), pl.repeat(None, len(values), dtype=pl.String, eager=True))
    nothing = pl.repeat(None, len(values), dtype=pl.String, eager=True)
    every = [columns.get(one.name, nothing.cast(one.dtype)).alias(one.name) for one in MIXED.fields]
    return pl.DataFrame(every).to_struct("")


def moments(array: NDArray[np.datetime64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Microseconds since 1970 of an array of datetimes of any unit, from year 1 to 9999, and a mask of missing ones."""
    unit, count = np.datetime_data(array.dtype)
    if count != 1 or unit not in ("s", "ms", "us", "ns"):
        array, unit = array.astype("datetime64[s]"), "s"
    missing, whole = np.isnat(array), array.view(np.int64)
    if unit == "ns":
        return whole // 1000, missing
    per = _PER_SECOND[unit]
    return np.clip(whole, _YEAR_1 * per, _YEAR_10000 * per - 1) * (10**6 // per), missing


# -------------------------------------------------------------------------------------------------- one value


def _meaning(value: object, exact: bool) -> Meaning | None:
    if isinstance(value, str):
        text = str.__str__(value)
        text.encode()
        return "text", text
    if isinstance(value, bool | np.bool_):
        return _integer(int(value), exact)
    if isinstance(value, np.timedelta64):  # numpy counts these as integers
        return None
    if isinstance(value, int | np.integer):
        return _integer(int(value), exact)
    if isinstance(value, complex | np.complexfloating):
        return _meaning(value.real, exact) if value.imag == 0 else None
    if isinstance(value, float | np.floating | Decimal | Fraction):
        return None if value != value else ("number", float(value))
    if isinstance(value, np.datetime64 | datetime):
        return _moment(value)
    return ("day", value) if isinstance(value, date) else None


def _integer(value: int, exact: bool) -> Meaning:
    if exact and -(2**63) <= value < 2**63:
        return "whole", value
    try:
        return "number", float(value)
    except OverflowError:
        return "number", float("inf") if value > 0 else float("-inf")


def _moment(value: datetime | np.datetime64) -> Meaning | None:
    """A moment. Timestamps of pandas are read through numpy, in UTC, even outside the range of Python's datetime."""
    if value != value:  # NaT
        return None
    as_numpy = value if isinstance(value, np.datetime64) else getattr(value, "asm8", None)
    if isinstance(value, np.datetime64) or as_numpy is not None:
        micro, missing = moments(np.array([as_numpy]))
        return None if missing[0] else ("moment", int(micro[0]))
    passed = (value.replace(tzinfo=None) - _EPOCH - (value.utcoffset() or timedelta())) // _MICRO
    return "moment", min(max(passed, _YEAR_1 * 10**6), _YEAR_10000 * 10**6 - 1)


# ------------------------------------------------------------------------------------------------ many values


def _read(kind: type, chosen: list[object], places: list[int], exact: bool) -> list[tuple[str, pl.DataFrame]]:
    """The meaning of values of one type, by kind: frames of places and values. Common types are read as arrays."""
    if kind is str and (texts := _texts(chosen)) is not None:
        return [("text", _part(places, texts))]
    small = kind is int and max(abs(value) for value in chosen if isinstance(value, int)) < EXACT
    if kind is float or (small and not exact):
        floats = pl.Series(np.array(chosen, dtype=np.float64))
        return [("number", _part(places, floats).filter(floats.is_not_nan()))]
    if small:
        return [("whole", _part(places, pl.Series(np.array(chosen, dtype=np.int64))))]
    by_kind: dict[str, tuple[list[int], list[str | int | float | date]]] = {}
    for place, value in zip(places, chosen, strict=True):
        known = meaning(value, exact=exact)
        if known is not None:
            at, means = by_kind.setdefault(known[0], ([], []))
            at.append(place)
            means.append(known[1])
    return [(name, _part(at, _typed(name, means))) for name, (at, means) in by_kind.items()]


def _texts(values: Sequence[object]) -> pl.Series | None:
    """Texts and None as a series; None if a text has half a surrogate pair in it."""
    try:
        return pl.Series(values, dtype=pl.String)
    except UnicodeEncodeError:
        return None


def _typed(name: str, values: list[str | int | float | date]) -> pl.Series:
    kind = next(one.dtype for one in MIXED.fields if one.name == name)
    return pl.Series(values, dtype=pl.Int64 if name == "moment" else kind).cast(kind)


def _part(places: list[int], values: pl.Series) -> pl.DataFrame:
    return pl.DataFrame({"place": np.array(places, dtype=np.int64), "value": values})


def _spread(part: pl.DataFrame, size: int) -> pl.Series:
    """A column of this size with the values at their places, and null elsewhere."""
    index = np.full(size, -1, dtype=np.int64)
    index[part["place"].to_numpy()] = np.arange(len(part))
    return gather(part["value"], index)


def gather(values: pl.Series, index: NDArray[np.integer]) -> pl.Series:
    """The values at these places; null for places below 0."""
    places = pl.Series(index.astype(np.int64))
    return values.gather(places.set(places < 0, None))

"""Python values and data frames of any library: what each value means, whatever other values are in its column.

**Some types of pandas depend on the records.** One blank turns int64 into float64; one word turns int64, float64, bool,
datetime64 and str into object; and the unit of a datetime follows its finest value. All of these are read with the same
result, value by value as `meaning` defines it, so that no record changes the meaning of another: numbers
as 64-bit floats, whatever their type, and booleans as 1 and 0. A value without a meaning is missing, and no such column
is refused because of its type. The categories of a categorical column are read in the same way.

Types that do not depend on the records are *declared*: nullable ones (Int64, Float64, boolean, string) and those of
Arrow. They are used as they are, 64-bit integers exactly, and may be refused because of their type. pandas is read with
numpy alone; pyarrow is needed only for columns of Arrow types.

`meaning` (docs/privacy.md, cleaning) is the one definition, for columns of objects, for lists of items, and for typed
columns of pandas, which are read as arrays with the same result:

* A number (int, float, numpy's, decimal, fraction, complex without imaginary part) is the nearest 64-bit float; NaN is
  missing. Where no library can have rounded a value before (lists, polars), 64-bit integers stay exact: `exact`.
* A boolean is the number 1 or 0, because pandas turns it into one if there is a number in its column. Text is text.
* A date is a day. A datetime is a moment in whole microseconds; one with an offset is converted to UTC.
* None, NaN, NaT, NA, text with half a surrogate pair, and all other objects are missing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cantle.data.arrow_batches import decodable_column
from cantle.errors import DataError, replacing
from cantle.schema.values import MIXED, text_of

if TYPE_CHECKING:
    import pandas as pd
    from pandas.api.extensions import ExtensionDtype

    Dtype: TypeAlias = np.dtype[np.generic] | ExtensionDtype
    import narwhals as nw
    import pyarrow

    NativeFrame: TypeAlias = pl.DataFrame | pd.DataFrame | pyarrow.Table
    Frame: TypeAlias = nw.DataFrame[Any] | nw.LazyFrame[Any]
    PandasSeries: TypeAlias = pd.Series
    Series: TypeAlias = nw.Series[Any]  # narwhals has one parameter, the type of the library's own object


ANYTHING = (Exception, pl.exceptions.PanicException)
"""Any exception of a library. Its message may quote a value, so only the fact that it failed is used."""

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
    types = list(map(type, values))
    parts_by_kind: dict[str, list[pl.DataFrame]] = {}
    for kind in dict.fromkeys(types):
        places = [place for place, one in enumerate(types) if one is kind] if len(kinds) > 1 else [*range(len(values))]
        for name, part in _read(kind, [values[place] for place in places], places, exact):
            parts_by_kind.setdefault(name, []).append(part)
    columns = {name: _spread(pl.concat(parts), len(values)) for name, parts in parts_by_kind.items()}
    if len(columns) < 2:
        return next(iter(columns.values()), pl.repeat(None, len(values), dtype=pl.String, eager=True))
    nothing = pl.repeat(None, len(values), dtype=pl.String, eager=True)
    every = [columns.get(one.name, nothing.cast(one.dtype)).alias(one.name) for one in MIXED.fields]
    return pl.DataFrame(every).to_struct("")


def column_of_lists(values: Sequence[object]) -> pl.Series:
    """The values as a series of lists of texts; if some are no collections, collections become texts of JSON. An item
    without a meaning is null.

    >>> column_of_lists([["flu", 3, None], "flu;gout", None]).to_list()
    ['["flu", "3", null]', 'flu;gout', None]
    """
    held = [members(value) for value in values]
    items = column_of(list(chain.from_iterable(one for one in held if one is not None)), exact=True)
    parts = items.struct.unnest() if items.dtype == MIXED else [items]
    texts = iter(pl.select(pl.coalesce(*map(text_of, parts))).to_series().to_list())
    lists = [None if one is None else list(islice(texts, len(one))) for one in held]
    both = list(zip(values, lists, strict=True))
    if all(value is None or one is not None for value, one in both):
        return pl.Series(lists, dtype=pl.List(pl.String))
    in_json = [value if one is None else json.dumps(one, ensure_ascii=False) for value, one in both]
    return column_of(in_json, exact=True)


def members(value: object) -> list[object] | None:
    """What a collection holds; None for any other value, and for a text."""
    if isinstance(value, list):
        return value
    try:
        return None if isinstance(value, str | bytes) else list(cast("Iterable[object]", value))
    except Exception:  # what cannot be iterated over is no collection
        return None


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
    small = kind is int and max(map(abs, cast("list[int]", chosen))) < EXACT
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


Numbers = NDArray[np.number] | NDArray[np.bool_]


def is_declared(dtype: Dtype) -> bool:
    """Whether a pandas type stays the same, whichever records are added or removed."""
    import pandas as pd

    if isinstance(dtype, pd.StringDtype):
        return dtype.na_value is pd.NA  # pandas itself chooses the other string type if all values are texts
    return isinstance(dtype, pd.ArrowDtype) or _is_nullable(dtype)


def is_arrow(dtype: Dtype) -> bool:
    """Whether pyarrow holds the values of a pandas column."""
    import pandas as pd

    return isinstance(dtype, pd.ArrowDtype) or getattr(dtype, "storage", "") == "pyarrow"


def read_column(series: pd.Series) -> pl.Series:
    """A pandas series as a polars one; never raises because of a value."""
    import pandas as pd

    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return gather(read_column(series.cat.categories.to_series()), series.cat.codes.to_numpy())
    if is_arrow(dtype):
        return pl.Series(decodable_column(series.array.__arrow_array__()))
    if _is_nullable(dtype):
        values = series.to_numpy(dtype=dtype.numpy_dtype, na_value=0)
        return pl.Series(values).set(pl.Series(series.isna().to_numpy()), None)
    if isinstance(dtype, pd.DatetimeTZDtype):
        return _moments(series.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy())
    if isinstance(dtype, np.dtype) and dtype.kind in "iufbM":
        return _moments(series.to_numpy()) if dtype.kind == "M" else _numbers(series.to_numpy())
    return column_of(series.tolist())


def are_rounded(series: pd.Series) -> NDArray[np.bool_]:
    """Which values have a rounded meaning (`is_rounded`), in whatever type pandas holds them."""
    import pandas as pd

    if isinstance(series.dtype, pd.CategoricalDtype):
        return np.append(are_rounded(series.cat.categories.to_series()), False)[series.cat.codes.to_numpy()]
    if isinstance(series.dtype, pd.DatetimeTZDtype) or getattr(series.dtype, "kind", "") == "M":
        return np.asarray(series.dt.nanosecond.to_numpy(dtype=float, na_value=0) != 0)
    if series.dtype in (object, np.longdouble):
        return np.array([is_rounded(value) for value in series.tolist()], dtype=np.bool_)
    return np.zeros(len(series), dtype=np.bool_)


def as_floats_where_large(values: Numbers) -> Numbers:
    """Numbers unchanged if all are small integers, which floats hold exactly, otherwise as the nearest floats."""
    if values.dtype.kind in "iu" and values.min(initial=0) > -EXACT and values.max(initial=0) < EXACT:
        return values
    return values.astype(np.float64)


def _is_nullable(dtype: Dtype) -> bool:
    """Whether a type is one of pandas' numbers or booleans with a mask of missing values."""
    from pandas.api.extensions import ExtensionDtype

    return isinstance(dtype, ExtensionDtype) and isinstance(getattr(dtype, "numpy_dtype", None), np.dtype)


def _numbers(values: Numbers) -> pl.Series:
    return pl.Series(as_floats_where_large(values.astype(np.int64) if values.dtype.kind == "b" else values))


def _moments(values: NDArray[np.datetime64]) -> pl.Series:
    micro, missing = moments(values)
    return pl.Series(micro).cast(pl.Datetime("us")).set(pl.Series(missing), None)


def frame_or_series(data: object) -> Frame | Series | None:
    """The data as a narwhals object; None if it is neither a frame nor a series. Raises whatever the library raises."""
    import narwhals as nw

    native = nw.from_native(data, pass_through=True, allow_series=True)
    return native if isinstance(native, nw.DataFrame | nw.LazyFrame | nw.Series) else None


def unreadable(words: str) -> replacing:
    """A block in which whatever a library raises is replaced by an error about the data as a whole."""
    return replacing(ANYTHING, lambda _: DataError(words))


def library_of(frame: Frame) -> str:
    """The kind of frame in which records are returned: polars, pandas or pyarrow."""
    return {"pandas": "pandas", "pyarrow": "pyarrow"}.get(str(frame.implementation), "polars")


def collected(frame: Frame) -> nw.DataFrame[Any]:
    """The frame, computed if it is lazy."""
    import narwhals as nw

    return frame.collect() if isinstance(frame, nw.LazyFrame) else frame


def as_frame(data: object) -> Frame:
    """The data as a frame; raises TypeError if it is none, and whatever the library raises."""
    import narwhals as nw

    frame = frame_or_series(data)
    if frame is None or isinstance(frame, nw.Series):
        raise TypeError("not a data frame")
    return frame


def arrow_of(series: Series) -> pyarrow.Array | pyarrow.ChunkedArray | None:
    """The Arrow data of a column of pyarrow or pandas, with texts that are UTF-8; None if it does not hold Arrow
    data."""
    if series.implementation.is_pyarrow():
        return decodable_column(series.to_native())
    if series.implementation.is_pandas_like() and is_arrow((values := series.to_pandas()).dtype):
        return decodable_column(values.array.__arrow_array__())
    return None


def as_polars(series: Series) -> pl.Series:
    """A column of a declared type as a polars series."""
    arrow = arrow_of(series)
    return series.to_polars() if arrow is None else cast("pl.Series", pl.from_arrow(arrow)).alias(series.name)

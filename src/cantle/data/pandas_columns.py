"""Conversion of pandas columns to polars, with numpy alone; pyarrow is needed only for columns of Arrow types.

**Some types of pandas depend on the records.** One blank turns int64 into float64; one word turns int64, float64, bool,
datetime64 and str into object; and the unit of a datetime follows its finest value. All of these are read with the same
result, value by value as `data.objects.meaning` defines it, so that no record changes the meaning of another: numbers
as 64-bit floats, whatever their type, and booleans as 1 and 0. A value without a meaning is missing, and no such column
is refused because of its type. The categories of a categorical column are read in the same way.

Types that do not depend on the records are *declared*: nullable ones (Int64, Float64, boolean, string) and those of
Arrow. They are used as they are, 64-bit integers exactly, and may be refused because of their type.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cantle.data.arrow_texts import decodable_column
from cantle.data.objects import EXACT, column_of, gather, is_rounded, moments

if TYPE_CHECKING:
    import pandas as pd
    from pandas import Series as Series
    from pandas.api.extensions import ExtensionDtype

    Dtype: TypeAlias = np.dtype[np.generic] | ExtensionDtype

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
    """Which values have a rounded meaning (`data.objects.is_rounded`), in whatever type pandas holds them."""
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

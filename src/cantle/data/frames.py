"""Data frames of any library, through narwhals.

**Some types of pandas depend on the records.** One blank turns int64 into float64; one word turns int64, float64, bool,
datetime64 and str into object; and the unit of a datetime follows its finest value. All of these are read with the same
result, value by value as `data.objects.meaning` defines it, so that no record changes the meaning of another: numbers
as 64-bit floats, whatever their type, and booleans as 1 and 0. A value without a meaning is missing, and no such column
is refused because of its type. The categories of a categorical column are read in the same way.

Types that do not depend on the records are *declared*: nullable ones (Int64, Float64, boolean, string) and those of
Arrow. They are used as they are, 64-bit integers exactly, and may be refused because of their type. pandas is read with
numpy alone; pyarrow is needed only for columns of Arrow types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cantle.data.arrow_batches import decodable_column
from cantle.data.objects import EXACT, column_of, gather, is_rounded, moments

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


def frame_or_series(data: object) -> Frame | Series | None:
    """The data as a narwhals object; None if it is neither a frame nor a series. Raises whatever the library raises."""
    import narwhals as nw

    native = nw.from_native(data, pass_through=True, allow_series=True)
    return native if isinstance(native, nw.DataFrame | nw.LazyFrame | nw.Series) else None


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

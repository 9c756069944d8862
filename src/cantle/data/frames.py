"""Data frames of any library, through narwhals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, cast

import polars as pl

from cantle.data.arrow_texts import decodable_column
from cantle.data.pandas_columns import is_arrow

if TYPE_CHECKING:
    import narwhals as nw
    import pandas as pd
    import pyarrow

    NativeFrame: TypeAlias = pl.DataFrame | pd.DataFrame | pyarrow.Table
    Frame: TypeAlias = nw.DataFrame[Any] | nw.LazyFrame[Any]
    Series: TypeAlias = nw.Series[Any]  # narwhals has one parameter, the type of the library's own object


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

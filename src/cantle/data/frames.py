"""Data frames of any library, through narwhals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import narwhals as nw
    import pandas as pd
    import polars as pl
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

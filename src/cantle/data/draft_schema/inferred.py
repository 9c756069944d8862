"""Types, bounds and categories of columns, guessed from the private values. A schema made so has no guarantee."""

from __future__ import annotations

import os
from datetime import MAXYEAR, MINYEAR, datetime
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING

import numpy as np

from cantle.data.draft_schema.declared import type_of
from cantle.data.draft_schema.table_text import Column, Known
from cantle.data.tables import read_columns
from cantle.schema.declared_values import plain
from cantle.schema.table import Dialect, Field, TableSchema

if TYPE_CHECKING:
    import polars as pl

_MARKS = ("?", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", ".")
_MANY = 1000  # an inferred column with more distinct texts becomes an identifier
_MOST_DECIMALS = 6
_UNITS = {"1d": "1d", "1h": "1h", "1min": "1m", "1s": "1s"}
"""Distances of datetimes as a schema and as polars has them, the longest first."""


def inferred(path: str | os.PathLike[str], names: list[str], dialect: Dialect) -> tuple[list[Column], list[str]]:
    """Columns with types and all blanks filled in from the values, and the missing-value marks that occur."""
    import polars as pl

    schema = TableSchema(fields=tuple(Field(name=name) for name in names), dialect=dialect)
    frame = read_columns(path, schema).frame
    texts = [series for series in frame if series.dtype == pl.String]
    marks = ["", *(mark for mark in _MARKS if any((series == mark).any() for series in texts))]
    return [(series.name, *_guess(series, marks)) for series in frame], marks


def _guess(series: pl.Series, marks: list[str]) -> tuple[str | None, Known]:
    """The narrowest type that reads every value of a column, and its bounds or categories."""
    import polars as pl

    series = series.cast(pl.String) if series.dtype in (pl.Categorical, pl.Enum) else series
    values = series.drop_nulls()
    values = values.filter(~values.is_in(marks)) if values.dtype == pl.String else values
    if values.dtype.is_float():
        values = values.filter(values.is_finite())
    if values.is_empty():
        return None, {"role": "identifier"}
    if values.dtype != pl.String:
        kind = type_of(values.dtype) or "string"
        return _filled(values, kind)
    tried = (_filled_from_text(values, kind) for kind in ("boolean", "integer", "number", "date", "datetime", "string"))
    return next(filled for filled in tried if filled)


def _filled_from_text(texts: pl.Series, kind: str) -> tuple[str | None, Known] | None:
    """The column read as type `kind`; None if a value cannot be read so."""
    import polars as pl

    if kind == "boolean":
        return ("boolean", {}) if texts.str.to_lowercase().is_in(["true", "false"]).all() else None
    if kind == "integer":
        values = texts.cast(pl.Int64, strict=False)
    elif kind == "number":
        values = texts.cast(pl.Float64, strict=False)
        values = values if values.is_finite().all() else values.clear(len(values))
    elif kind == "date":
        values = texts.str.to_date("%Y-%m-%d", strict=False)
    elif kind == "datetime":
        texts = texts.str.replace(" ", "T", literal=True)
        values = texts.str.to_datetime("%Y-%m-%dT%H:%M:%S%.f", strict=False, time_unit="us")
    else:
        values = texts
    if kind in ("date", "datetime") and not values.dt.year().is_between(MINYEAR, MAXYEAR).all():
        return None  # polars has years that Python does not have
    return None if values.null_count() else _filled(values, kind)


def _filled(values: pl.Series, kind: str) -> tuple[str | None, Known]:
    """The type of a column, and its bounds or categories, from its values; too many texts make it an identifier."""
    low, high = values.min(), values.max()
    if kind == "boolean":
        return kind, {}
    if kind == "string":
        listed = sorted(values.unique().to_list())
        return (kind, {"categories": listed}) if len(listed) <= _MANY else (None, {"role": "identifier"})
    if kind == "number":
        step = _decimal_step(values)
        return kind, {
            "multipleOf" if _all_multiples(values, step) else "step": float(step),
            "minimum": float((Decimal(str(low)) / step).to_integral_value(ROUND_FLOOR) * step),
            "maximum": float((Decimal(str(high)) / step).to_integral_value(ROUND_CEILING) * step),
        }
    if isinstance(low, datetime) and isinstance(high, datetime):
        first, last = (moment.replace(microsecond=0, tzinfo=None) for moment in (low, high))
        bounds: Known = {"minimum": first.isoformat(), "maximum": last.isoformat()}
        whole = next((ours for ours, theirs in _UNITS.items() if (values.dt.truncate(theirs) == values).all()), None)
        return kind, {"step": "1s", **bounds} if whole is None else {"multipleOf": whole, **bounds}
    return kind, {"minimum": plain(low), "maximum": plain(high)}


def _all_multiples(values: pl.Series, step: Decimal) -> bool:
    """Whether every number is the float nearest to a multiple of the step."""
    above, below = step.as_integer_ratio()
    given = values.to_numpy().astype(np.float64)
    return bool((np.rint(given * below / above) * above / below == given).all())


def _decimal_step(values: pl.Series) -> Decimal:
    """The precision the values are written in, at most six decimals and fifteen digits."""
    shown = [Decimal(str(one)).normalize() for one in values.unique().head(1000).to_list()]
    decimals = max(0, *(-int(one.as_tuple().exponent) for one in shown))
    whole = max(one.adjusted() for one in shown) + 2
    return Decimal(1).scaleb(-min(decimals, _MOST_DECIMALS) if whole <= 8 else max(0, whole - 14))

"""Scales: the grid of a column of numbers or dates, and the list of a column of categories.

A scale gives each value its place, by itself, whatever the other records hold (docs/privacy.md, cleaning): out-of-range
numbers are clamped, numbers between two grid points go to the lower one (to the nearest if the schema says that values
are multiples of something), and unreadable values are missing. It never raises, warns or logs because of a value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cantle.schema.taxonomy import Label
from cantle.schema.values import (
    PLAIN,
    WHOLE,
    Codes,
    Folding,
    Mask,
    NumberForm,
    floats,
    is_text,
    label_text,
    text_of,
    truth_words,
)

if TYPE_CHECKING:
    from polars._typing import PolarsDataType

MISSING, DROP = -1, -2  # what `locate` returns for a value that has no place on the grid
EPOCH = datetime(1970, 1, 1)
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


@dataclass(frozen=True, kw_only=True)
class Steps:
    """An evenly spaced grid: value k is (first + k * step) / scale, for k in range(grid).

    `first` and `step` are whole numbers: integers, days or seconds since 1970, or for numbers multiples of 1 / scale,
    so that a step of 0.1 is exact. `cell` grid values, from the first one on, are what the schema calls a step: values
    are counted together in it, and written at one of its grid values. With `nearest`, a value between two grid points
    goes to the nearest (to the lower one if both are as near); otherwise it goes to the lower one. `formats` (of
    dates), `form` (of numbers) and `replaced` (texts that stand for a value) say how texts are read; columns that hold
    numbers or dates are used as they are.

    >>> tenths = Steps(type="number", first=0, step=1, scale=10, grid=11)
    >>> [tenths.value(k) for k in (0, 3, 11)]
    [0.0, 0.3, 1.1]
    """

    type: str
    first: int
    step: int
    grid: int
    scale: int = 1
    cell: int = 1
    nearest: bool = False
    marks: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    form: NumberForm = PLAIN
    replaced: tuple[tuple[str, int | float], ...] = ()
    ordered: ClassVar[bool] = True

    def value(self, k: int) -> int | float | date:
        """Grid value k in original units; k == grid gives the value one step after the last."""
        whole = self.first + k * self.step
        if self.type == "number":
            return self.number(k)
        if self.type == "date":
            return (EPOCH + timedelta(days=whole)).date()
        return EPOCH + timedelta(seconds=whole) if self.type == "datetime" else whole

    def number(self, k: int) -> float:
        """Grid value k of a grid of numbers."""
        return (self.first + k * self.step) / self.scale

    def text(self, k: int) -> str:
        """Grid value k as people write it."""
        value = self.value(k)
        if isinstance(value, float):
            return f"{value:.15g}"
        return value.isoformat() if isinstance(value, date) else str(value)

    def between(self, first: int, end: int) -> str:
        """The grid values from the first to before the last, as people write them."""
        return f"[{self.text(first)}, {self.text(end)})"

    def distance(self, places: int) -> str:
        """The distance of so many places as a schema has it: 0.5, 7 (days), 15min."""
        whole = self.step * places
        if self.type == "datetime":
            size, unit = next((size, unit) for size, unit in _UNITS if whole % size == 0)
            return f"{whole // size}{unit}"
        return f"{whole / self.scale:.15g}" if self.scale > 1 else str(whole)

    def locate(self, series: pl.Series) -> Codes:
        """The place of each value on the grid; MISSING if there is none."""
        values, missing = self.read(series)
        if self.type == "number":
            return self._place_floats(np.where(missing, np.nan, values))
        places = self._place_whole(values)
        places[missing] = MISSING
        return places

    def read(self, series: pl.Series) -> tuple[NDArray[Any], Mask]:
        """Each value before it is moved to the grid (floats, whole numbers, days or seconds), and which are missing."""
        if not (self.replaced or self.form != PLAIN) or not is_text(series.dtype):
            return self._parse(series)
        text = text_of(series)
        values, missing = self._parse(text if self.form == PLAIN else self.form.plain(text))
        tidy = text.str.strip_chars()
        for words, value in self.replaced:
            here = (tidy == words).fill_null(False).to_numpy()
            values, missing = np.where(here, value, values).astype(values.dtype), missing & ~here
        return values, missing | tidy.is_in(list(self.marks)).fill_null(False).to_numpy()

    def bounded(self, series: pl.Series) -> NDArray[np.float64]:
        """Each number after the bounds and before the grid, NaN if it is missing."""
        values, missing = self.read(series)
        if self.type == "number":
            return np.clip(values, self.number(0), self.number(self.grid - 1))
        whole = np.clip(values, self.first, self.first + (self.grid - 1) * self.step)
        return np.where(missing, np.nan, whole)

    def _parse(self, series: pl.Series) -> tuple[NDArray[Any], Mask]:
        if self.type == "number":
            values = floats(series, self.marks)
            return values, np.isnan(values)
        return WHOLE[self.type](series, self.marks, self.formats)

    @property
    def ahead(self) -> int:
        """What is added to a whole number before it is divided by the step, rounding down: 0, or enough for the
        nearest grid point."""
        return (self.step - 1) // 2 if self.nearest else 0

    def _place_whole(self, whole: NDArray[np.int64]) -> NDArray[np.int64]:
        clamped = np.clip(whole, self.first, self.first + (self.grid - 1) * self.step)
        # with bounds near both ends of int64, the distance fits only an unsigned integer
        distance = clamped.view(np.uint64)
        distance -= np.uint64((self.first - self.ahead) % 2**64)
        return (distance if self.step == 1 else distance // np.uint64(self.step)).view(np.int64)

    def _place_floats(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        missing = np.isnan(values)
        low, high = self.number(0), self.number(self.grid - 1)
        values = np.clip(np.where(missing, low, values), low, high)
        k = np.floor((values * self.scale - self.first) / self.step).astype(np.int64).clip(0, self.grid - 1)
        # the division above may be off by one (0.3 / 0.1 < 3): compare with the grid values themselves
        k += (self._floats(k + 1) <= values) & (k < self.grid - 1)
        k -= (self._floats(k) > values) & (k > 0)
        if self.nearest:
            k += (self._floats_between(k) < values) & (k < self.grid - 1)
        return np.where(missing, MISSING, k)

    def _floats(self, k: NDArray[np.int64]) -> NDArray[np.float64]:
        # both parts are below 1e15 (the schema ensures it), so the quotient is the float nearest to the decimal
        return (self.first + k * self.step) / np.float64(self.scale)

    def _floats_between(self, k: NDArray[np.int64]) -> NDArray[np.float64]:
        """The middle between grid values k and k + 1. Below 2e15, both parts are exact too."""
        return (2 * (self.first + k * self.step) + self.step) / np.float64(2 * self.scale)

    def values(self, k: Codes) -> pl.Series:
        """Grid values k as a series of the natural type; null if k is the place after the last."""
        if len(k) > 4 * self.grid:  # few distinct values occur many times: each is converted once
            return self.values(np.arange(self.grid + 1)).gather(k)
        null = k >= self.grid
        inside = np.where(null, 0, k).astype(np.int64)
        whole = np.int64(self.first) + inside * np.int64(self.step)
        if self.type == "number":
            series = pl.Series(self._floats(inside), dtype=pl.Float64)
        elif self.type == "date":
            series = pl.Series(whole.astype(np.int32), dtype=pl.Int32).cast(pl.Date)
        elif self.type == "datetime":
            series = pl.Series(whole * 1_000_000, dtype=pl.Int64).cast(pl.Datetime("us"))
        else:
            series = pl.Series(whole, dtype=pl.Int64)
        return pl.select(pl.when(pl.Series(~null)).then(series)).to_series() if null.any() else series


@dataclass(frozen=True, kw_only=True)
class Labels:
    """A list of declared categories; `spellings` are the texts that mean a label, its own text by default.

    `unknown` says what an undeclared value becomes: MISSING, DROP or the place of a label in the declared list. A text
    that is not found is looked up again without the blanks around it (`trim`), and in lower case (`ignore_case`).

    >>> Labels(type="string", labels=("a", "b")).locate(pl.Series(["b", "c", None])).tolist()
    [1, -1, -1]
    """

    type: str
    labels: tuple[Label, ...]
    spellings: tuple[tuple[str, Label], ...] = ()
    ordered: bool = False
    unknown: int | tuple[str, Label] = MISSING  # MISSING, DROP, or ("label", value)
    marks: tuple[str, ...] = ()
    trim: bool = False
    ignore_case: bool = False

    @property
    def grid(self) -> int:
        return len(self.labels)

    def value(self, k: int) -> Label | None:
        """Label k; k == grid gives None."""
        return self.labels[k] if k < self.grid else None

    def text(self, k: int) -> str:
        """Label k as people write it."""
        label = self.labels[k]
        return str(label).lower() if isinstance(label, bool) else str(label)

    @cached_property
    def texts(self) -> dict[str, int]:
        """All texts that mean a label, with its place."""
        if not self.spellings:
            return {str(label): k for k, label in enumerate(self.labels)}
        place = {label: k for k, label in enumerate(self.labels)}
        return {text: place[label] for text, label in self.spellings}

    @cached_property
    def _truth_words(self) -> dict[str, str]:
        return truth_words(self.texts)

    @cached_property
    def _lookup(self) -> _Lookup:
        return _Lookup.of(self.texts)

    @cached_property
    def folding(self) -> Folding:
        """Which capitals are read as small letters, if case is ignored."""
        return Folding.of([*self.texts, *self.marks])

    @cached_property
    def tidy_texts(self) -> dict[str, int]:
        """All texts that mean a label after `_tidied`, with its place."""
        return {self.folding(text): k for text, k in self.texts.items()} if self.ignore_case else self.texts

    @cached_property
    def tidy_marks(self) -> list[str]:
        """The texts of missing values after `_tidied`."""
        return ["", *(map(self.folding, self.marks) if self.ignore_case else self.marks)]

    @cached_property
    def _tidy_lookup(self) -> _Lookup:
        return _Lookup.of(self.tidy_texts)

    @cached_property
    def _series(self) -> pl.Series:
        kinds: dict[str, PolarsDataType] = {"string": pl.String, "integer": pl.Int64, "boolean": pl.Boolean}
        return pl.Series([*self.labels, None], dtype=kinds[self.type])

    def locate(self, series: pl.Series) -> Codes:
        """The place of each value in the list; MISSING, DROP or the place of a label for undeclared values."""
        text = label_text(series, self.type)
        if self._truth_words and (series.dtype.is_numeric() or series.dtype == pl.Boolean):
            text = text.replace(self._truth_words)
        codes = self._lookup.places(text)
        if not (self.trim or self.ignore_case or self.unknown != MISSING):
            return codes
        left = pl.Series(codes < 0) & text.is_not_null()
        if not left.any():
            return codes
        rest, at = text.filter(left), left.to_numpy()
        tidy = self._tidied(rest)
        places = self._tidy_lookup.places(tidy) if self.trim or self.ignore_case else codes[at]
        if self.unknown != MISSING:
            absent = rest.is_in(self.marks) | tidy.is_in(self.tidy_marks)
            places[(places < 0) & ~absent.to_numpy()] = self._unknown_code
        codes[at] = places
        return codes

    def _tidied(self, text: pl.Series) -> pl.Series:
        text = text.str.strip_chars() if self.trim else text
        return self.folding.series(text) if self.ignore_case else text

    @cached_property
    def _unknown_code(self) -> int:
        return self.unknown if isinstance(self.unknown, int) else self.labels.index(self.unknown[1])

    def values(self, k: Codes) -> pl.Series:
        """Labels k as a series of the natural type; null if k is the place after the last."""
        return self._series.gather(k)


@dataclass(frozen=True)
class _Lookup:
    """A dictionary from texts to places."""

    texts: pl.Enum
    place: NDArray[np.int32]

    @staticmethod
    def of(texts: Mapping[str, int]) -> _Lookup:
        return _Lookup(pl.Enum(list(texts)), np.fromiter([*texts.values(), MISSING], np.int32, len(texts) + 1))

    def places(self, text: pl.Series) -> NDArray[np.int32]:
        """The place of each text; MISSING if it is not in the dictionary."""
        # casting to an Enum maps each text by one hash look-up and gives null for the rest
        rank = text.cast(self.texts, strict=False).to_physical()
        if rank.null_count():
            rank = rank.cast(pl.Int32).fill_null(-1)
        return self.place.take(rank.to_numpy())

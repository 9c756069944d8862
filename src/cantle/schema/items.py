"""The item universe of set-valued data: every item that could occur, in a public order.

An item's code is its place in that order. Items are integers (a range, which needs no table, or a list) or texts.
Everything in this file is public except the series passed to `encode`, and `encode` maps each value by itself, without
messages: a value that is not a declared item becomes -1 (docs/privacy.md, cleaning).

An integer is written in one way only: `3`, never `03`, `+3`, `3.0` or `-0`; in text these are unknown items. In a
column of numbers 3.0 is the item 3. Items that are texts are compared as they are, and a whole number means its decimal
text; so declare codes with leading zeros in quotes, as texts.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cantle.errors import ParameterError
from cantle.schema.canonical_json import JSON
from cantle.schema.declared_values import BLANK, Folder, bounds, repeated
from cantle.schema.documents import MAX_INTEGER, fail, half_in, quote, read_text
from cantle.schema.values import by_kind, label_text, truth_words

Codes = NDArray[np.int32]

MAX_ITEMS = 10_000_000
_TABLE = 1 << 24  # integers within a span of this size are looked up in a table
SPACE = "[\\x00-\\x20\ufeff\\s]"  # characters that separate items in FIMI lines, for our reader or for others
_DECIMAL = re.compile(r"0|-?[1-9][0-9]*")
DECLARE = "declare every item that could occur: `items: {minimum: 1, maximum: 17}`, a list, or a file with one per line"


@dataclass(frozen=True, repr=False)
class Universe:
    """All items that could occur; a code is a position in this order.

    >>> stations = Universe(range(1, 18))
    >>> stations.size, stations.label(0), stations.encode(pl.Series(["1", "17", "18", "01"])).tolist()
    (17, 1, [0, 16, -1, -1])
    """

    items: range | tuple[int, ...] | tuple[str, ...]

    def __repr__(self) -> str:
        return f"Universe({self.size} items, {quote(self.label(0))} to {quote(self.label(self.size - 1))})"

    @property
    def size(self) -> int:
        return len(self.items)

    @property
    def integers(self) -> bool:
        """Whether the items are integers; otherwise they are texts."""
        return isinstance(self.items[0], int)

    def label(self, code: int) -> int | str:
        """The item of a code."""
        return self.items[code]

    def labels(self, codes: NDArray[np.integer]) -> pl.Series:
        """The items of codes, as a series of Int64 or String."""
        if isinstance(self.items, range):
            return pl.Series(codes.astype(np.int64) + self.items.start)
        return self._labels.gather(pl.Series(codes.astype(np.uint32)))

    def encode(self, series: pl.Series) -> Codes:
        """Codes of a column of values, each by itself; -1 for a value that is not a declared item."""
        return by_kind(series, self._encode)

    def _encode(self, series: pl.Series) -> Codes:
        if not self.integers:
            text = label_text(series, "string")
            if self._truth_words and (series.dtype.is_numeric() or series.dtype == pl.Boolean):
                text = text.replace(self._truth_words)
            places = text.replace_strict(self._labels, self._places, default=-1, return_dtype=pl.Int32)
            return places.fill_null(-1).to_numpy()
        values, known = _whole(series)
        return self.locate(values, known)

    @cached_property
    def _truth_words(self) -> dict[str, str]:
        return truth_words({str(item) for item in self.items})

    def locate(self, values: NDArray[np.int64], known: NDArray[np.bool_]) -> Codes:
        """Codes of integers, -1 if they are not `known` or not declared; for universes of integers."""
        low, high = self.bounds
        inside = known & (values >= low) & (values <= high)
        if isinstance(self.items, range):
            return np.where(inside, values - low, -1).astype(np.int32)
        if high - low < _TABLE:
            return np.where(inside, self._table.take(values - low, mode="clip"), np.int32(-1))
        ordered, place = self._ordered
        at = np.searchsorted(ordered, values).clip(max=self.size - 1)
        return np.where(inside & (ordered[at] == values), place[at], np.int32(-1))

    def locate_texts(self, texts: list[str]) -> Codes:
        """Codes of texts, for universes of texts; faster than `encode` for Python strings."""
        place = self._dictionary
        return np.fromiter((place.get(text, -1) for text in texts), dtype=np.int32, count=len(texts))

    @cached_property
    def bounds(self) -> tuple[int, int]:
        """Smallest and largest integer."""
        assert self.integers
        ends = (self.items[0], self.items[-1]) if isinstance(self.items, range) else (min(self.items), max(self.items))
        return int(ends[0]), int(ends[1])

    def check_fimi(self) -> None:
        """Refuses a universe with items that contain spaces, which separate items in FIMI lines."""
        bad = None if self.integers else next((one for one in self.items if re.search(SPACE, str(one))), None)
        if bad is not None:
            raise ParameterError(
                f"the item {quote(bad)} holds a space, which ends an item in FIMI lines; use a long table (one row per "
                "set and item, .csv) or Parquet, or write it without."
            )

    def to_plain(self) -> JSON:
        """The value of `items:` in the canonical schema."""
        if isinstance(self.items, range):
            return {"minimum": self.items[0], "maximum": self.items[-1]}
        return list(self.items)

    # ---- made once ----------------------------------------------------------------------------------------

    @cached_property
    def _labels(self) -> pl.Series:
        return pl.Series(list(self.items), dtype=pl.Int64 if self.integers else pl.String)

    @cached_property
    def _places(self) -> pl.Series:
        return pl.Series(np.arange(self.size, dtype=np.int32))

    @cached_property
    def _dictionary(self) -> dict[int | str, int]:
        return {self.label(code): code for code in range(self.size)}

    @cached_property
    def _table(self) -> Codes:
        low, high = self.bounds
        table = np.full(high - low + 1, -1, dtype=np.int32)
        table[np.array(self.items, dtype=np.int64) - low] = np.arange(self.size, dtype=np.int32)
        return table

    @cached_property
    def _ordered(self) -> tuple[NDArray[np.int64], Codes]:
        values = np.array(self.items, dtype=np.int64)
        order = np.argsort(values)
        return values[order], order.astype(np.int32)


def _whole(series: pl.Series) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The integers in a column, and which values are integers."""
    if series.dtype in (pl.Categorical, pl.Enum):
        series = series.cast(pl.String)
    if not ((series.dtype.is_numeric() or series.dtype == pl.Boolean) or series.dtype == pl.String):
        return np.zeros(len(series), dtype=np.int64), np.zeros(len(series), dtype=bool)
    whole = series.cast(pl.Int64, strict=False)
    # a rounded number, or another spelling, differs after conversion back
    known = (whole.cast(series.dtype, strict=False) == series) & whole.is_not_null()
    return whole.fill_null(0).to_numpy(), known.fill_null(False).to_numpy()


# ------------------------------------------------------------------------------------------------ declared


def parse_items(declared: object, base_dir: Folder = None) -> Universe:
    """The universe under `items:`; file paths are relative to `base_dir`. Raises SchemaError with rule and fix."""
    if isinstance(declared, Mapping):
        low, high = bounds("items", declared)
        _check_size(high - low + 1)
        return Universe(range(low, high + 1))
    if declared == BLANK or (isinstance(declared, list | tuple) and BLANK in declared):
        fail("items", f"they are still blank ({BLANK})", "fill them in, from what could occur, not from the data")
    if isinstance(declared, str | os.PathLike):
        return _tidy(_from_file(os.fspath(declared), Path(base_dir or ".")))
    if not isinstance(declared, list | tuple):
        fail("items", "they are neither bounds nor a list nor a file", DECLARE)
    return _tidy([_item(one) for one in declared])


def _from_file(name: str, base: Path) -> list[int | str]:
    """The items of a file with one item per line, without spaces around it: integers if all lines are integers,
    otherwise texts."""
    lines = [line.strip() for line in read_text(base / name, name, "items").split("\n")]
    words = [line for line in lines if line]
    _refuse_table(name, words)
    if all(_DECIMAL.fullmatch(word) for word in words) and max(map(len, words), default=0) <= len(str(-MAX_INTEGER)):
        numbers = list(map(int, words))
        if all(abs(number) <= MAX_INTEGER for number in numbers):
            return [*numbers]
    return [*words]


def _refuse_table(name: str, lines: list[str]) -> None:
    """Refuses a catalogue with several columns: whole lines would become the items, and no record would have one."""
    if name.lower().endswith((".csv", ".tsv")) and len(lines) > 1:
        for sign in (";", ",", "\t"):
            if 0 < lines[0].count(sign) == min(line.count(sign) for line in lines):
                rule = f"{quote(name)} is a table of {lines[0].count(sign) + 1} columns"
                fail("items", rule, "give a file with the items alone, one per line and without a header")


def _item(value: object) -> int | str:
    if isinstance(value, int) and not isinstance(value, bool):
        if abs(value) > MAX_INTEGER:
            rule = f"{quote(value)} is 2**53 or larger (or -2**53 or smaller)"
            fail("items", rule, "put such items in quotes, as texts")
        return value
    if not isinstance(value, str) or not value:
        fail("items", f"{quote(value)} is neither an integer nor a text", "put it in quotes; an empty text is missing")
    if half_in(value):
        fail("items", f"{quote(value)} holds half a character (a lone surrogate)", "write it in full")
    return value


def _tidy(items: list[int | str]) -> Universe:
    """A checked universe. Consecutive integers become a range; if one item is a text, all become texts."""
    if not items:
        fail("items", "there is none", DECLARE)
    _check_size(len(items))
    numbers = [one for one in items if isinstance(one, int)]
    if len(numbers) == len(items) and numbers == list(range(numbers[0], numbers[0] + len(numbers))):
        return Universe(range(numbers[0], numbers[0] + len(numbers)))
    tidy = tuple(numbers) if len(numbers) == len(items) else tuple(map(str, items))
    for twice in repeated(tidy):
        fail("items", f"item {quote(twice)} is declared twice", "keep it once")
    return Universe(tidy)


def _check_size(size: int) -> None:
    if size > MAX_ITEMS:
        fail("items", f"there are {size:,}, more than {MAX_ITEMS:,}", "declare fewer, for instance groups of items")

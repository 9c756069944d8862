"""Columns of lists: each record has a set of items, such as the diagnoses of a patient.

The code of a list has a bit per item of a public universe, so the order of its items and their repeats mean nothing.
Codes of more than 63 bits are Python's whole numbers, in arrays of objects.
Lists are counted as columns of truth values, one per item: a public bijection of each record by itself, like those that
rules make (cantle.schema.relations).

In texts, items stand between delimiters (`flu;gout`) or in a list of JSON (`["flu", "gout"]`); `[]` is the empty list,
and an empty text is a missing one. If lists are required, a missing one counts as empty.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl

from cantle.schema.declared_values import Folder
from cantle.schema.documents import Problems, fail, half_in
from cantle.schema.fields import DELIMITER
from cantle.schema.items import Universe, parse_items
from cantle.schema.scales import DROP, MISSING, Steps
from cantle.schema.values import Codes, by_kind, text_of
from cantle.trusted.core.arrays import Bools, Bytes, Ints

if TYPE_CHECKING:
    from cantle.schema.taxonomy import Label

MOST_ITEMS = 5_000
"""Most different items of a list: each is a column that is counted."""

EMPTY = "[]"
"""The empty list, as text."""


@dataclass(frozen=True, kw_only=True)
class Lists(Steps):
    """The codes of lists of these items. Of a list with more than `most` items the first ones of the universe count.

    `unknown` says what an undeclared item becomes: nothing (MISSING) or one of the items; or its record is dropped
    (DROP).

    >>> lists = Lists.of(Universe(("flu", "gout", "mumps")))
    >>> lists.locate(pl.Series(["gout; flu;gout", "[]", "", "cough"])).tolist(), lists.text(3)
    ([3, 0, -1, 0], 'flu;gout')
    """

    items: Universe
    most: int
    delimiter: str = DELIMITER
    unknown: int | tuple[str, Label] = MISSING
    required: bool = False
    ordered: ClassVar[bool] = False

    @staticmethod
    def of(items: Universe, most: int | None = None, *, marks: tuple[str, ...] = (), **how: object) -> Lists:
        made = {"items": items, "most": most or items.size, **how}
        return Lists(type="list", first=0, step=1, grid=1 << items.size, marks=marks, **made)  # type: ignore[arg-type]

    def columns(self, name: str, codes: Codes) -> dict[str, Codes]:
        """The columns of items that a column of lists of this name is counted in. A missing list holds no item."""
        return dict(zip(self.names(name), np.ascontiguousarray(self._held(codes).T), strict=True))

    def folded(self, items: Sequence[Codes]) -> Codes:
        """The codes of lists, from the columns of items."""
        packed = np.packbits(np.stack(items, axis=1).astype(np.uint8), axis=1, bitorder="little")
        return np.array([int.from_bytes(row.tobytes(), "little") for row in packed], dtype=self._kind)

    def _held(self, codes: Codes) -> Bytes:
        """Which items lists hold, one row per list."""
        there = [0 if code >= self.grid else code for code in codes.tolist()]
        width = -(-self.items.size // 8)
        packed = np.frombuffer(b"".join(one.to_bytes(width, "little") for one in there), dtype=np.uint8)
        return np.unpackbits(packed.reshape(-1, width), axis=1, count=self.items.size, bitorder="little")

    @cached_property
    def _kind(self) -> np.dtype[Any]:
        """The type of codes, which are negative for lists that are missing or dropped."""
        return np.min_scalar_type(-self.grid - 1)

    def names(self, name: str) -> tuple[str, ...]:
        """The names of these columns."""
        return tuple(f"{name}: {self.items.label(item)}" for item in range(self.items.size))

    def locate(self, series: pl.Series) -> Codes:
        """The code of each list; MISSING or DROP if there is none."""
        return by_kind(series, self._codes)

    def spread(self, series: pl.Series) -> tuple[pl.Series, Ints, Bools]:
        """The items as they are given, one after the other (null for what is none), the record of each, and which lists
        are missing."""
        if isinstance(series.dtype, pl.Array):
            series = series.arr.to_list()
        is_list = isinstance(series.dtype, pl.List)
        lists = series if is_list else self._split(text_of(series))
        lengths = lists.list.len()
        number = lengths.fill_null(0).to_numpy().astype(np.int64)
        items = lists.filter(pl.Series(number > 0)).explode()
        if isinstance(items.dtype, pl.String | pl.Categorical | pl.Enum):
            items = items.cast(pl.String).str.strip_chars().replace("", None)
        return items, np.repeat(np.arange(len(lists)), number), lengths.is_null().to_numpy()

    def _codes(self, series: pl.Series) -> Codes:
        items, given, missing = self.spread(series)
        item = self.items.encode(items).astype(np.int64)
        unknown = (item < 0) & items.is_not_null().to_numpy()
        if isinstance(self.unknown, tuple):
            item[unknown] = self.items.items.index(self.unknown[1])  # type: ignore[arg-type]
        record, item = self._first(given[item >= 0], item[item >= 0])
        codes = np.zeros(len(missing), dtype=self._kind)
        np.bitwise_or.at(codes, record, self._bits[item])
        if self.unknown == DROP:
            codes[given[unknown]] = DROP
        return np.where(missing & (not self.required), MISSING, codes)

    @cached_property
    def _bits(self) -> Codes:
        return np.array([1 << item for item in range(self.items.size)], dtype=self._kind)

    def _first(self, record: Ints, item: Ints) -> tuple[Ints, Ints]:
        """At most `most` items of each record, the first of the universe."""
        if self.most >= self.items.size:
            return record, item
        record, item = np.divmod(np.unique(record * self.items.size + item), self.items.size)
        kept = np.arange(len(record)) - np.searchsorted(record, record) < self.most
        return record[kept], item[kept]

    def _split(self, text: pl.Series) -> pl.Series:
        """Texts as lists of texts, some of them blank or with blanks around; null if one is missing."""
        text = text.str.strip_chars()
        text = text.set(text.is_in(["", *self.marks]).fill_null(False), None)
        parts = text.str.split(self.delimiter)
        in_json = np.flatnonzero((text.str.starts_with("[") & text.str.ends_with("]")).fill_null(False).to_numpy())
        if not len(in_json):
            return parts
        parsed = pl.Series([_from_json(one) for one in text.gather(in_json)], dtype=pl.List(pl.String))
        known, place = parsed.is_not_null().to_numpy(), np.arange(len(text))
        place[in_json[known]] = len(text) + np.flatnonzero(known)
        return pl.concat([parts, parsed]).gather(place)

    def values(self, k: Codes) -> pl.Series:
        """The lists of codes, in the order of the universe; null if k is the code after the last."""
        distinct, place = np.unique(np.asarray(k).astype(self._kind), return_inverse=True)
        row, item = np.nonzero(self._held(distinct))
        labels, ends = self.items.labels(item).to_list(), np.searchsorted(row, np.arange(len(distinct) + 1)).tolist()
        lists: list[list[int | str] | None] = [labels[first:end] for first, end in pairwise(ends)]
        if len(distinct) and distinct[-1] >= self.grid:
            lists[-1] = None
        return pl.Series(lists, dtype=pl.List(pl.Int64 if self.items.integers else pl.String)).gather(place.reshape(-1))

    def text(self, k: int) -> str:
        held = (str(self.items.label(item)) for item in range(self.items.size) if k >> item & 1)
        return DELIMITER.join(held) or EMPTY

    def value(self, k: int) -> str:  # type: ignore[override]
        return self.text(k)


def as_texts(lists: pl.Series) -> pl.Series:
    """Lists as released texts have them."""
    joined = lists.list.eval(pl.element().cast(pl.String)).list.join(DELIMITER)
    return joined.set((lists.list.len() == 0).fill_null(False), EMPTY)


def from_texts(texts: pl.Series, kind: pl.DataType) -> pl.Series:
    """Released texts as lists."""
    texts = texts.replace("", None)  # a null in a table of one column is a pair of quotes
    return texts.str.split(DELIMITER).list.eval(pl.element().filter(pl.element() != EMPTY)).cast(kind)


def _from_json(text: str) -> list[str | None] | None:
    """The items of a list of JSON as texts, None for what is none; None if it is no such list."""
    try:
        listed = json.loads(text, parse_int=str, parse_float=str, parse_constant=str)
    except (ValueError, RecursionError):
        return None
    if not isinstance(listed, list):
        return None
    return [one if isinstance(one, str) and not half_in(one) else None for one in listed]


# ---- declared -------------------------------------------------------------------------------------------------------


def items_of(
    where: str, entry: Mapping[str, object], missing: tuple[str, ...], delimiter: str, base_dir: Folder
) -> Universe:
    """The checked items of a declared list."""
    problems, items = Problems(), Universe(range(1))
    with problems.during("items"):
        items = _of_type(where, entry.get("itemType"), parse_items(entry["items"], base_dir))
        if items.size > MOST_ITEMS:
            rule = f"each item is a column, so a list has at most {MOST_ITEMS:,} different ones, not {items.size:,}"
            fail(where, rule, "declare groups of items, or publish the lists alone, with `kind: sets`")
        for label in map(str, items.items):
            _check_item(where, label, ("", *missing), delimiter)
    problems.refuse()
    return items


def _of_type(where: str, kind: object, items: Universe) -> Universe:
    """The items as Frictionless's itemType says; by default integers, if all of them are."""
    if kind not in (None, "string", "integer"):
        fail(where, f"itemType {kind!r} is not for lists", "use string or integer, or leave it out", "itemType")
    if kind == "integer" and not items.integers:
        fail(where, "itemType is integer, and not all items are", "correct one of them", "itemType")
    return Universe(tuple(map(str, items.items))) if kind == "string" and items.integers else items


def _check_item(where: str, item: str, missing: tuple[str, ...], delimiter: str) -> None:
    """Refuses an item that a text with several items would not hold."""
    if item in missing:
        fail(where, f"{item!r} is both an item and a missing value", "keep it in one list (empty is missing)")
    if item != item.strip() or item[0] == "[":
        fail(where, f"item {item!r} has a blank at an end or starts with [", "write it without")
    for mark, of in ((delimiter, "this column"), (DELIMITER, "releases")):
        if mark in item:
            fail(where, f"item {item!r} holds {mark!r}, which separates the items of {of}", "write it without")

"""A few readable groups for the values of a column: round intervals, months or years, the largest categories.

The groups depend on the schema and on released values only. Codes are those of the schema's domain.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta

import numpy as np
from numpy.typing import NDArray

from cantle.drawing.column_cells import aligned_blocks
from cantle.schema.domain import Attribute, Plane, Steps
from cantle.schema.values import Codes

Ints = NDArray[np.int64]

_NICE = (1, 2, 5)
_ENOUGH = 200  # lists of more cuts are not made: no chart has room for them
_DAY = 86_400
_EPOCH = date(1970, 1, 1)


@dataclass(frozen=True, eq=False)
class Grouping:
    """Groups of a column's codes, one label per group; null is a group of its own, the last.

    If groups are intervals, `starts` holds the first code of each; otherwise `table` holds the group of each code.
    """

    name: str
    labels: tuple[str, ...]
    nullable: bool
    starts: Ints | None = None
    table: Ints | None = None
    numeric: bool = False
    blocks: bool = False
    """Whether groups are rectangles of a map."""
    ticks: tuple[str, ...] = ()
    """What an axis writes at the left edge of each group of numbers."""

    @property
    def size(self) -> int:
        return len(self.labels)

    def of(self, codes: Codes) -> Ints:
        """The group of each code."""
        if self.table is not None:
            return self.table[codes]
        assert self.starts is not None
        return np.searchsorted(self.starts, codes.astype(np.int64), side="right") - 1

    def codes_of(self, place: int, size: int) -> Ints:
        """The spans of codes in a group, as one array: first code of a span, code after its last, and so on."""
        if self.table is not None:
            return np.flatnonzero(np.diff(np.concatenate([[False], self.table == place, [False]])))
        assert self.starts is not None
        return np.append(self.starts, size)[[place, place + 1]]

    def counts(self, codes: Codes) -> Ints:
        """The number of codes in each group."""
        return np.bincount(self.of(codes), minlength=self.size)


def group(attribute: Attribute, codes: Codes, most: int) -> Grouping:
    """Groups the values of a column into at most `most` groups, and null.

    `codes` are the released values: they show which range and which categories are frequent.
    """
    if isinstance(attribute.scale, Plane):
        return _blocks(attribute, codes, most)
    if isinstance(attribute.scale, Steps):
        return _intervals(attribute, codes, most)
    if attribute.bins <= most or attribute.scale.ordered:
        return _in_order(attribute, most)
    return _largest(attribute, codes, most)


def _blocks(attribute: Attribute, codes: Codes, most: int) -> Grouping:
    """Rectangles of a map with about equally many records."""
    known = np.sort(codes[codes < attribute.bins].astype(np.int64))
    edges = aligned_blocks(attribute.bins, lambda ends: np.searchsorted(known, ends), most)
    labels = [attribute.describe(int(lo), int(hi)) for lo, hi in zip(edges[:-1], edges[1:], strict=True)]
    return replace(_by_starts(attribute, edges, labels), blocks=True)


def _with_null(attribute: Attribute, labels: list[str]) -> tuple[str, ...]:
    return (*labels, "missing") if attribute.nullable else tuple(labels)


def _in_order(attribute: Attribute, most: int) -> Grouping:
    """One group per value; neighbours share a group if there are too many values."""
    pieces = min(most, attribute.bins)
    edges = np.linspace(0, attribute.bins, pieces + 1).round().astype(np.int64)
    labels = [attribute.describe(int(lo), int(hi)) for lo, hi in zip(edges[:-1], edges[1:], strict=True)]
    return _by_starts(attribute, edges, labels)


def _largest(attribute: Attribute, codes: Codes, most: int) -> Grouping:
    """The most frequent categories, and all others together."""
    count = np.bincount(codes, minlength=attribute.size)[: attribute.bins]
    first = np.sort(np.argsort(-count, kind="stable")[: most - 1])
    table = np.full(attribute.size, len(first), dtype=np.int64)
    table[first] = np.arange(len(first))
    if attribute.nullable:
        table[attribute.bins] = len(first) + 1
    labels = [attribute.describe(int(code), int(code) + 1) for code in first]
    labels.append(f"{attribute.bins - len(first)} others")
    return Grouping(attribute.name, _with_null(attribute, labels), attribute.nullable, table=table)


def _by_starts(attribute: Attribute, edges: Ints, labels: list[str], ticks: list[str] | None = None) -> Grouping:
    starts = edges if attribute.nullable else edges[:-1]  # the last edge is the code of null
    return Grouping(
        attribute.name,
        _with_null(attribute, labels),
        attribute.nullable,
        starts=starts,
        numeric=ticks is not None,
        ticks=() if ticks is None else _with_null(attribute, ticks),
    )


# -------------------------------------------------------------------------------------------------- intervals


def _intervals(attribute: Attribute, codes: Codes, most: int) -> Grouping:
    """Round intervals over the range of nearly all released values (98 %), with an open interval at each end."""
    scale, bins = attribute.scale, attribute.bins
    assert isinstance(scale, Steps)
    if bins <= most and scale.cell == 1:
        labels = [scale.text(k) for k in range(bins)]
        return _by_starts(attribute, np.arange(bins + 1), labels, labels)
    known = np.sort(codes[codes < bins].astype(np.int64))
    low, high = (0, bins) if not len(known) else (int(known[len(known) // 100]), int(known[-1 - len(known) // 100]))
    if high - low < 2:
        low, high = 0, bins
    for cuts in _cuts(scale, low, high):
        inner = sorted({cut for cut in _between_steps(scale, cuts) if 0 < cut < bins})
        if len(inner) < most:
            break
    else:
        cuts = np.linspace(0, bins, most + 1).round().astype(np.int64)[1:-1].tolist()
        inner = sorted({cut for cut in _between_steps(scale, cuts) if cut < bins})
    edges = np.array([0, *inner, bins], dtype=np.int64)
    labels = [_span(scale, int(lo), int(hi), bins) for lo, hi in zip(edges[:-1], edges[1:], strict=True)]
    ticks = [_number_text(scale, int(lo)).removesuffix("-01") for lo in edges[:-1]]
    return _by_starts(attribute, edges, labels, ticks)


def _between_steps(scale: Steps, cuts: list[int]) -> list[int]:
    """Each place moved up to the next one where a step begins: the places inside a step were drawn evenly."""
    return [-(-cut // scale.cell) * scale.cell for cut in cuts]


def _cuts(scale: Steps, low: int, high: int) -> Iterator[list[int]]:
    """Lists of places to cut between two codes, each list shorter than the one before."""
    if scale.type == "date":
        yield from _calendar(scale, low, high, 1)
    elif scale.type == "datetime":
        yield from _calendar(scale, low, high, _DAY)
    else:
        yield from _round_numbers(scale, low, high)


def _round_numbers(scale: Steps, low: int, high: int) -> Iterator[list[int]]:
    """Multiples of 1, 2, 5, 10, 20, … declared steps."""
    first, last, power = scale.first + low * scale.step, scale.first + high * scale.step, 1
    while power <= 10 * (high - low):
        for wide in (nice * power * scale.step * scale.cell for nice in _NICE):
            marks = range(-(-first // wide) * wide, last + 1, wide)
            if len(marks) < _ENOUGH:
                yield [-(-(mark - scale.first) // scale.step) for mark in marks]
        power *= 10


def _calendar(scale: Steps, low: int, high: int, unit: int) -> Iterator[list[int]]:
    """The first days of weeks, months, quarters, years or decades."""
    first = _EPOCH + timedelta(days=(scale.first + low * scale.step) // unit)
    last = _EPOCH + timedelta(days=(scale.first + high * scale.step) // unit)
    if (last - first).days < 60:
        days = [first + timedelta(days=n) for n in range((last - first).days + 1)]
        yield [_place(scale, day, unit) for day in days]
        yield [_place(scale, day, unit) for day in days if day.weekday() == 0]
    for months in (1, 3, 6, 12, 24, 60, 120, 240, 1200):
        begins = []
        year, month = first.year, 1
        while (year, month) <= (last.year, last.month):
            if date(year, month, 1) >= first.replace(day=1):
                begins.append(_place(scale, date(year, month, 1), unit))
            month += months
            year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
            if year > 9000:
                break
        yield begins


def _place(scale: Steps, day: date, unit: int) -> int:
    return -(-((day - _EPOCH).days * unit - scale.first) // scale.step)


def _span(scale: Steps, lo: int, hi: int, bins: int) -> str:
    """The values from lo to hi - 1 as people write an interval."""
    decimals = scale.cell > 1 and scale.type == "number"  # with any number of digits: 1 to 2, not 1 to 1.99
    first, last = _number_text(scale, lo), _number_text(scale, hi if decimals else hi - 1)
    if hi - lo == 1:
        return first
    if hi == bins:
        return f"{first} or more" if scale.type in ("integer", "number") else f"from {first}"
    if scale.type == "date" and (whole := _whole_period(scale, lo, hi)):
        return whole
    if lo == 0:
        return f"below {last}" if decimals else f"up to {last}"
    return f"{first} to {last}"


def _number_text(scale: Steps, k: int) -> str:
    value = scale.value(k)
    if isinstance(value, int) and abs(value) >= 10_000:
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.10g}"
    return scale.text(k).replace("T", " ")


def _whole_period(scale: Steps, lo: int, hi: int) -> str:
    """A month, quarter or year by its name, if the days are exactly that."""
    first, end = scale.value(lo), scale.value(hi)
    if not isinstance(first, date) or not isinstance(end, date) or first.day != 1 or end.day != 1:
        return ""
    months = (end.year - first.year) * 12 + end.month - first.month
    if months == 1:
        return f"{first:%b %Y}"
    if months == 3 and first.month % 3 == 1:
        return f"Q{first.month // 3 + 1} {first.year}"
    return f"{first.year}" if months == 12 and first.month == 1 else ""

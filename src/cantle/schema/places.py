"""Places: the scale of a column of points on a map, and areas of the map as sets of its codes.

Both axes are cut into a power of two bins of one or two half steps each. A point's code has the bits of its two bins in
turn (Morton, 1966), latitude first; bits that only one axis has come last. So every aligned span of 2^k codes is a
rectangle of the map, halving it halves the rectangle, and there is no code without a place. Released points are whole
steps where a bin has one, so that a point on the grid of steps comes back as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import cos, degrees, lcm, radians

import numpy as np
import polars as pl

from cantle.schema.scales import MISSING, Steps
from cantle.schema.values import PLAIN, Codes, NumberForm, by_kind, text_of
from cantle.trusted.core.arrays import Bools, Floats, Ints

EARTH = 6_371_008.8
"""The mean radius of the earth in metres."""

MOST_ROWS = 1 << 20
"""Most rows of bins that a circle may touch."""

Box = tuple[Ints, Ints, Ints, Ints]
"""Rectangles of bins: first row, end row, first column, end column."""

_PIECE = 13
_MASK = (1 << _PIECE) - 1

_NUMBER = r'\s*"?([^",\]}]*)"?\s*'
_BOTH = rf"{_NUMBER},{_NUMBER}"
_LAYOUTS = {
    "default": ((rf"^{_BOTH}$", 1), (rf"^{_BOTH}$", 2)),
    "array": ((rf"^\s*\[{_BOTH}\]\s*$", 1), (rf"^\s*\[{_BOTH}\]\s*$", 2)),
    "object": ((rf'[{{,]\s*"lon"\s*:{_NUMBER}', 1), (rf'[{{,]\s*"lat"\s*:{_NUMBER}', 1)),
}
"""Patterns of the longitude and the latitude in a text, and the group that holds each."""
_WRITTEN = {"default": ("", ", ", ""), "array": ("[", ", ", "]"), "object": ('{"lon": ', ', "lat": ', "}")}


@dataclass(frozen=True)
class Axis:
    """One axis of a map: places half a step apart, in 2^bits bins."""

    places: Steps

    @staticmethod
    def of(low: Fraction, high: Fraction, step: Fraction, marks: tuple[str, ...], form: NumberForm = PLAIN) -> Axis:
        half = step / 2
        scale = lcm(low.denominator, half.denominator)
        last = low + (high - low) // step * step
        grid = int((last - low) / half) + 1
        first, each = int(low * scale), int(half * scale)
        more = {"nearest": True, "marks": marks, "form": form}
        return Axis(Steps(type="number", first=first, step=each, scale=scale, grid=grid, **more))  # type: ignore[arg-type]

    @property
    def bits(self) -> int:
        return self.places.grid.bit_length() - 1

    def bin(self, place: Codes) -> Ints:
        """The bin of each place."""
        return (np.asarray(place, dtype=np.int64) << self.bits) // self.places.grid

    def place(self, bin_: Codes) -> Ints:
        """The place that stands for a bin: a whole step, if it has one; of the bin after the last, the grid's end."""
        grid, number = self.places.grid, np.asarray(bin_, dtype=np.int64)
        first, after = (-((-one * grid) >> self.bits) for one in (number, number + 1))
        return first + ((first % 2 == 1) & (first + 1 < after))

    def first(self, place: Codes) -> Ints:
        """The first bin whose place is not below this one."""
        number = np.clip(np.asarray(place, dtype=np.int64), 0, self.places.grid)
        found = self.bin(number)
        return found + ((number < self.places.grid) & (self.place(found) < number))

    def degrees(self, bin_: Codes) -> Floats:
        """The coordinate of each bin."""
        return (self.places.first + self.place(bin_) * self.places.step) / np.float64(self.places.scale)

    def edge(self, bin_: int) -> float:
        """Where a bin begins, halfway between two places."""
        place = -((-bin_ * self.places.grid) >> self.bits)
        return (self.places.first + (place - 0.5) * self.places.step) / self.places.scale


@dataclass(frozen=True, kw_only=True)
class Plane(Steps):
    """The codes of points on a map. `columns` are two columns of the file, latitude first, instead of one of texts, and
    `budget` the share of epsilon that counts the place by itself, if it is declared.

    >>> plane = Plane.of([(Fraction(0), Fraction(3)), (Fraction(0), Fraction(3))], Fraction(1))
    >>> plane.locate(pl.Series(["2, 1", "2; 1"])).tolist(), plane.text(6)
    ([6, -1], '2, 1')
    """

    lat: Axis
    lon: Axis
    layout: str = "default"
    columns: tuple[str, ...] = ()
    budget: Fraction | None = None

    @staticmethod
    def of(
        bounds: Sequence[tuple[Fraction, Fraction]],
        step: Fraction,
        marks: tuple[str, ...] = (),
        layout: str = "default",
        columns: tuple[str, ...] = (),
        budget: Fraction | None = None,
        form: NumberForm = PLAIN,
    ) -> Plane:
        lat, lon = (Axis.of(low, high, step, marks, form) for low, high in bounds)
        more = {"layout": layout, "columns": columns, "budget": budget}
        whole = 1 << lat.bits + lon.bits
        return Plane(type="geopoint", first=0, step=1, grid=whole, marks=marks, lat=lat, lon=lon, **more)  # type: ignore[arg-type]

    @property
    def bits(self) -> int:
        """The number of bits of a code."""
        return self.lat.bits + self.lon.bits

    @cached_property
    def _tables(self) -> tuple[list[list[Ints]], list[tuple[Ints, Ints]]]:
        """For each axis, by pieces of its bins, the bits of the code; and by pieces of codes the bits of both bins."""
        both = [
            (axis.bits - bit, one, bit) for one, axis in enumerate((self.lat, self.lon)) for bit in range(axis.bits)
        ]
        order = [(one, bit) for _, one, bit in sorted(both, reverse=True)]  # those of the code, the lowest first
        piece = np.arange(1 << _PIECE, dtype=np.int64)
        into = [[piece * 0 for _ in range(0, axis.bits, _PIECE)] for axis in (self.lat, self.lon)]
        back = [(piece * 0, piece * 0) for _ in range(0, self.bits, _PIECE)]
        for at, (axis, bit) in enumerate(order):
            into[axis][bit // _PIECE] |= (piece >> bit % _PIECE & 1) << at
            back[at // _PIECE][axis][:] |= (piece >> at % _PIECE & 1) << bit
        return into, back

    def code(self, row: Ints, column: Ints) -> Ints:
        """The code of two bins."""
        parts = zip(self._tables[0], (row, column), strict=True)
        found = [t[one >> at * _PIECE & _MASK] for tables, one in parts for at, t in enumerate(tables)]
        return np.bitwise_or.reduce(np.broadcast_arrays(*found)) if found else np.zeros(np.shape(row), dtype=np.int64)

    def bins(self, codes: Codes) -> tuple[Ints, Ints]:
        """The two bins of each code."""
        number = np.asarray(codes).astype(np.int64)
        row, column = np.zeros_like(number), np.zeros_like(number)
        for at, (rows, columns) in enumerate(self._tables[1]):
            piece = number >> at * _PIECE & _MASK
            row, column = row | rows[piece], column | columns[piece]
        return row, column

    def boxes(self, first: Codes, end: Codes) -> Box:
        """The smallest aligned rectangle around each span of codes, which is the span itself if it is aligned."""
        low, high = (np.asarray(one).astype(np.int64) for one in (first, np.maximum(end, np.asarray(first) + 1) - 1))
        below = np.zeros(np.broadcast(low, high).shape, dtype=np.int64)
        for level in range(self.bits):
            below += low >> level != high >> level
        row, column = self.bins(low >> below << below)
        rows, columns = self.bins((low >> below << below) + (np.int64(1) << below) - 1)
        return row, rows + 1, column, columns + 1

    # ---- values -------------------------------------------------------------------------------------------

    def locate(self, series: pl.Series) -> Codes:
        lat, lon = self.split(series)
        row, column = (by_kind(part, axis.places.locate) for part, axis in ((lat, self.lat), (lon, self.lon)))
        codes = self.code(self.lat.bin(np.maximum(row, 0)), self.lon.bin(np.maximum(column, 0)))
        return np.where((row < 0) | (column < 0), MISSING, codes)

    def split(self, series: pl.Series) -> tuple[pl.Series, pl.Series]:
        """Latitudes and longitudes: two columns, or parts of texts."""
        if self.columns and isinstance(series.dtype, pl.Struct):
            lat, lon = series.struct.unnest().get_columns()
            return lat, lon
        text = text_of(series)
        text = text.set(text.str.strip_chars().is_in(list(self.marks)).fill_null(False), None)
        lon, lat = (text.str.extract(*found) for found in _LAYOUTS[self.layout])
        return lat, lon

    def values(self, k: Codes) -> pl.Series:
        lat, lon = self.coordinates(k)
        before, between, after = map(pl.lit, _WRITTEN[self.layout])
        return pl.select(pl.concat_str(before, lon, between, lat, after)).to_series()

    def coordinates(self, k: Codes) -> tuple[pl.Series, pl.Series]:
        """The latitudes and the longitudes of codes; null if k is the code after the last."""
        null = np.asarray(k) >= self.grid
        row, column = self.bins(np.where(null, 0, k))
        lat, lon = (axis.places.values(axis.place(bin_)) for axis, bin_ in ((self.lat, row), (self.lon, column)))
        if null.any():
            lat, lon = (one.set(pl.Series(null), None) for one in (lat, lon))
        return lat, lon

    def written(self, name: str, k: Codes) -> list[pl.Series]:
        """The columns of a file that hold these codes."""
        if not self.columns:
            return [self.values(k).alias(name)]
        return [one.alias(to) for one, to in zip(self.coordinates(k), self.columns, strict=True)]

    def text(self, k: int) -> str:
        row, column = self.bins(np.array([min(k, self.grid - 1)]))
        lat, lon = (axis.places.text(int(axis.place(bin_)[0])) for axis, bin_ in ((self.lat, row), (self.lon, column)))
        return f"{lon}, {lat}" if not self.columns else f"{lat}, {lon}"

    def value(self, k: int) -> str:  # type: ignore[override]
        return self.text(k)

    def between(self, first: int, end: int) -> str:
        """A span of codes for people: the rectangle around it, from low latitude and longitude to high."""
        ends = [int(one[0]) for one in self.boxes(np.array([first]), np.array([end]))]
        lat, lon = ends[:2], ends[2:]
        corners = ((self.lat.edge(lat[side]), self.lon.edge(lon[side])) for side in (0, 1))
        return " to ".join(f"({y:.6g}, {x:.6g})" for y, x in corners)

    # ---- areas --------------------------------------------------------------------------------------------

    def box(self, rows: tuple[int, int], columns: tuple[int, int]) -> Area:
        """The area between these bins."""
        return Area(self, rows, (columns[0],), (columns[1],))

    def corners(self, low: tuple[Fraction, Fraction], high: tuple[Fraction, Fraction]) -> Area:
        """The area between two corners, each a latitude and a longitude; both ends are included."""
        spans = []
        for axis, ends in zip((self.lat, self.lon), zip(low, high, strict=True), strict=True):
            each, scale = axis.places.step, axis.places.scale
            first, last = ((end * scale - axis.places.first) / each for end in ends)
            span = axis.first(np.array([-(-first // 1), last // 1 + 1]))
            spans.append((int(span[0]), int(span[1])))
        return self.box(*spans)

    def circle(self, centre: tuple[float, float], metres: float) -> Area:
        """The area up to so many metres from a latitude and longitude, on a sphere."""
        around = degrees(metres / EARTH)
        ends = [Fraction(centre[0] - around), Fraction(centre[0] + around)]
        rows = self.corners((ends[0], Fraction(-360)), (ends[1], Fraction(360))).rows
        if rows[1] - rows[0] > MOST_ROWS:
            raise ValueError
        lat = np.radians(self.lat.degrees(np.arange(rows[0], rows[1])))
        hav = np.sin(metres / EARTH / 2) ** 2 - np.sin((lat - radians(centre[0])) / 2) ** 2
        half = np.clip(hav / np.maximum(np.cos(lat) * cos(radians(centre[0])), 1e-12), 0, 1)
        wide = np.where(hav < 0, -1.0, np.degrees(2 * np.arcsin(np.sqrt(half))))
        each, low = self.lon.places.step / self.lon.places.scale, self.lon.places.first / self.lon.places.scale
        most = self.lon.places.grid
        left = np.clip(np.ceil((centre[1] - wide - low) / each), 0, most)
        right = np.clip(np.floor((centre[1] + wide - low) / each) + 1, 0, most)
        first, end = (self.lon.first(one.astype(np.int64)) for one in (left, np.maximum(right, left)))
        return Area(self, rows, tuple(first.tolist()), tuple(end.tolist()))


@dataclass(frozen=True)
class Area:
    """A part of a map as a set of codes: for each row of bins from `rows[0]` on, the columns from `left` to before
    `right` (one for all rows if all are alike). With `outside` it is the rest of the map, and null.

    It has the methods of a CodeSet that do not need the spans of a set, which may be millions.
    """

    plane: Plane
    rows: tuple[int, int]
    left: tuple[int, ...]
    right: tuple[int, ...]
    outside: bool = False
    nullable: bool = False

    @property
    def size(self) -> int:
        return self.plane.grid + self.nullable

    @property
    def edges(self) -> tuple[int, ...]:
        """Where null begins; areas change at too many codes to list them."""
        return (self.plane.grid,) if self.nullable else ()

    def complement(self) -> Area:
        return replace(self, outside=not self.outside)

    @cached_property
    def _ends(self) -> tuple[Ints, Ints]:
        return np.array(self.left, dtype=np.int64), np.array(self.right, dtype=np.int64)

    def _columns(self, row: Ints) -> tuple[Ints, Ints]:
        """The first column and the end of each of these rows, which are inside."""
        left, right = self._ends
        at = np.minimum(row - self.rows[0], len(left) - 1)
        return left[at], right[at]

    def holds(self, codes: Codes) -> Bools:
        """For each code whether it is in the area."""
        row, column = self.plane.bins(np.minimum(np.asarray(codes), self.plane.grid - 1))
        inside = (row >= self.rows[0]) & (row < self.rows[1]) & (np.asarray(codes) < self.plane.grid)
        if inside.any():
            left, right = self._columns(np.clip(row, self.rows[0], self.rows[1] - 1))
            inside &= (column >= left) & (column < right)
        return inside != self.outside

    def share(self, first: Codes, end: Codes) -> Floats:
        """The share of each span of codes that is in the area. It is 0 or 1 only if the span is outside or inside; of
        others it is the share of the rectangle around them, in circles as 17 of their rows tell it."""
        first, end = np.broadcast_arrays(np.asarray(first), np.asarray(end))
        null = end > self.plane.grid
        low, high, west, east = self.plane.boxes(
            np.minimum(first, self.plane.grid - 1), np.minimum(end, self.plane.grid)
        )
        top, bottom = np.maximum(low, self.rows[0]), np.minimum(high, self.rows[1])
        inside = np.zeros(first.shape)
        some = bottom > top
        if some.any():
            part, touched = [], np.zeros(first.shape, dtype=bool)
            for step in range(17 if len(self.left) > 1 else 1):
                row = np.clip(top + (bottom - 1 - top) * step // 16, self.rows[0], self.rows[1] - 1)
                left, right = self._columns(row)
                part.append(np.clip(np.minimum(right, east) - np.maximum(left, west), 0, None) / (east - west))
            left, right = self._ends
            touched = some & (west < right.max()) & (east > left.min())
            inside = np.where(some, np.mean(part, axis=0) * (bottom - top) / (high - low), 0.0)
            inside = np.where(touched & (len(self.left) > 1), np.maximum(inside, 1e-9), inside)
        inside = np.where(null, np.where(first >= self.plane.grid, 0.0, np.minimum(inside, 0.5)), inside)
        return 1 - inside if self.outside else inside

    def __len__(self) -> int:
        return round(float(self.share(np.array([0]), np.array([self.plane.grid]))[0]) * self.plane.grid)

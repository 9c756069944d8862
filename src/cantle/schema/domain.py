"""The public domain: every column as a span of small integer codes.

On loading, each value becomes a code on a public grid: numbers and dates by steps, categories by their
place in the declared list, null last. Everything in this file is public except the series passed to
`encode`, and `encode` maps each value by itself, whatever the other records hold (docs/privacy.md, cleaning):
out-of-range numbers are clamped, numbers between two grid points go to the lower one, and unreadable values
are missing. It never raises, warns or logs because of a value.

Dates are whole days. Datetimes are whole seconds without a time zone; a value with an offset is
converted to UTC first.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cantle.errors import ParameterError
from cantle.schema.taxonomy import Taxonomy
from cantle.schema.values import WHOLE, Mask, by_kind, floats, label_text, truth_words

Codes = NDArray[np.signedinteger[Any]]
Layout = Literal["rows", "columns"]
"""Codes as one array (records, attributes), or as one array per attribute."""

MISSING, DROP = -1, -2  # what `locate` returns for a value that has no place on the grid
EPOCH = datetime(1970, 1, 1)
_SHOWN = 8  # labels written out in full by `describe`


# ---------------------------------------------------------------------------------------------------- grids


@dataclass(frozen=True, kw_only=True)
class Steps:
    """An evenly spaced grid: value k is (first + k * step) / scale, for k in range(grid).

    `first` and `step` are whole numbers: integers, days or seconds since 1970, or, for numbers, multiples of
    1 / scale, so that a step of 0.1 is exact.

    >>> tenths = Steps(type="number", first=0, step=1, scale=10, grid=11)
    >>> [tenths.value(k) for k in (0, 3, 11)]
    [0.0, 0.3, 1.1]
    """

    type: str
    first: int
    step: int
    grid: int
    scale: int = 1
    marks: tuple[str, ...] = ()
    format: str | None = None
    ordered: ClassVar[bool] = True

    def value(self, k: int) -> Any:
        """Grid value k in original units; k == grid gives the value one step past the last."""
        whole = self.first + k * self.step
        if self.type == "number":
            return whole / self.scale
        if self.type == "date":
            return (EPOCH + timedelta(days=whole)).date()
        return EPOCH + timedelta(seconds=whole) if self.type == "datetime" else whole

    def text(self, k: int) -> str:
        """Grid value k as people write it."""
        value = self.value(k)
        if isinstance(value, float):
            return f"{value:.15g}"
        return value.isoformat() if isinstance(value, date) else str(value)

    def locate(self, series: pl.Series) -> Codes:
        """Place of each value on the grid, MISSING where there is none."""
        if self.type == "number":
            return self._floor_floats(floats(series, self.marks))
        whole, missing = WHOLE[self.type](series, self.marks, self.format)
        return np.where(missing, MISSING, self._floor_whole(whole))

    def _floor_whole(self, whole: NDArray[np.int64]) -> NDArray[np.int64]:
        clamped = np.clip(whole, self.first, self.first + (self.grid - 1) * self.step)
        # the distance may not fit a signed integer (bounds near both ends of int64), unsigned it always does
        distance = clamped.view(np.uint64) - np.uint64(self.first % 2**64)
        return (distance if self.step == 1 else distance // np.uint64(self.step)).view(np.int64)

    def _floor_floats(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        missing = np.isnan(values)
        values = np.clip(np.where(missing, self.value(0), values), self.value(0), self.value(self.grid - 1))
        k = np.floor((values * self.scale - self.first) / self.step).astype(np.int64).clip(0, self.grid - 1)
        # the division above may be off by one (0.3 / 0.1 < 3): compare with the grid values themselves
        k += (self._floats(k + 1) <= values) & (k < self.grid - 1)
        k -= (self._floats(k) > values) & (k > 0)
        return np.where(missing, MISSING, k)

    def _floats(self, k: NDArray[np.int64]) -> NDArray[np.float64]:
        # both parts are below 1e15 (the schema ensures it), so the quotient is the float nearest to the decimal
        return (self.first + k * self.step) / np.float64(self.scale)

    def values(self, k: NDArray[Any]) -> pl.Series:
        """Grid values k as a series of the natural type, null where k is one past the grid."""
        if len(k) > 4 * self.grid:  # few distinct values occur many times: each is converted once
            return self.values(np.arange(self.grid + 1)).gather(k)
        null = k >= self.grid
        inside = np.where(null, 0, k).astype(np.int64)
        whole = np.int64(self.first) + inside * np.int64(self.step)
        if self.type == "number":
            made = pl.Series(self._floats(inside), dtype=pl.Float64)
        elif self.type == "date":
            made = pl.Series(whole.astype(np.int32), dtype=pl.Int32).cast(pl.Date)
        elif self.type == "datetime":
            made = pl.Series(whole * 1_000_000, dtype=pl.Int64).cast(pl.Datetime("us"))
        else:
            made = pl.Series(whole, dtype=pl.Int64)
        return pl.select(pl.when(pl.Series(~null)).then(made)).to_series() if null.any() else made


@dataclass(frozen=True, kw_only=True)
class Labels:
    """A list of declared categories; `spellings` are the texts that mean a label, its own text by default.

    `unknown` says what an undeclared value becomes: MISSING, DROP or the place of a label in the declared list.

    >>> Labels(type="string", labels=("a", "b")).locate(pl.Series(["b", "c", None])).tolist()
    [1, -1, -1]
    """

    type: str
    labels: tuple[Any, ...]
    spellings: tuple[tuple[str, Any], ...] = ()
    ordered: bool = False
    unknown: Any = MISSING  # MISSING, DROP, or ("label", value)
    marks: tuple[str, ...] = ()

    @property
    def grid(self) -> int:
        return len(self.labels)

    def value(self, k: int) -> Any:
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
    def _lookup(self) -> tuple[pl.Enum, NDArray[np.int32] | None]:
        """The dictionary from text to a rank, and from rank to place where they differ."""
        places = np.fromiter(self.texts.values(), np.int32, len(self.texts)) if self.spellings else None
        return pl.Enum(list(self.texts)), places

    @cached_property
    def _series(self) -> pl.Series:
        kinds: dict[str, Any] = {"string": pl.String, "integer": pl.Int64, "boolean": pl.Boolean}
        return pl.Series([*self.labels, None], dtype=kinds[self.type])

    def locate(self, series: pl.Series) -> Codes:
        """Place of each value in the list; MISSING, DROP or a label's place where it is not declared."""
        text = label_text(series, self.type)
        if self._truth_words and (series.dtype.is_numeric() or series.dtype == pl.Boolean):
            text = text.replace(self._truth_words)
        dictionary, table = self._lookup
        # casting to an Enum maps each text by one hash look-up and gives null for the rest
        rank = text.cast(dictionary, strict=False).to_physical().cast(pl.Int32).fill_null(-1).to_numpy()
        codes = rank.copy() if table is None else np.where(rank < 0, np.int32(MISSING), table[rank])
        if self.unknown != MISSING:
            absent = text.is_null() | text.is_in(["", *self.marks])
            codes[(rank < 0) & ~absent.to_numpy()] = self._unknown_code
        return codes

    def place(self, text: str) -> int:
        """What `locate` returns for one text. Not for integers, which have many spellings.

        >>> Labels(type="string", labels=("a", "b"), unknown=DROP, marks=("?",)).place("c") == DROP
        True
        """
        if text in self.texts:
            return self.texts[text]
        return MISSING if self.unknown == MISSING or text in ("", *self.marks) else self._unknown_code

    @cached_property
    def _unknown_code(self) -> int:
        return DROP if self.unknown == DROP else self.labels.index(self.unknown[1])

    def values(self, k: NDArray[Any]) -> pl.Series:
        """Labels k as a series of the natural type, null where k is one past the last."""
        return self._series.gather(k)


# ---------------------------------------------------------------------------------------- attribute and domain


@dataclass(frozen=True)
class Attribute:
    """One column as a span of codes: bins of `width` grid values each, then null as the last code.

    A category may have a `taxonomy`: its leaves are the labels, in their order, and its nodes spans of codes.

    >>> age = Attribute("age", Steps(type="integer", first=17, step=1, grid=74), nullable=True)
    >>> age.size, age.coarsen(11).size, age.coarsen(11).describe(1, 3)
    (75, 11, '[25, 41)')
    """

    name: str
    scale: Steps | Labels
    nullable: bool
    width: int = 1
    taxonomy: Taxonomy | None = None

    def __post_init__(self) -> None:
        if self.taxonomy is not None:
            labels = self.scale.labels if isinstance(self.scale, Labels) else ()
            if self.width > 1 or self.taxonomy.leaves != labels:
                raise ParameterError(f"column {self.name!r}: the leaves of its taxonomy are not its codes, in order.")

    @cached_property
    def grid(self) -> int:
        """Number of fine values."""
        return self.scale.grid

    @cached_property
    def bins(self) -> int:
        """Number of codes without null."""
        return -(-self.grid // self.width)

    @cached_property
    def size(self) -> int:
        """Number of codes."""
        return self.bins + self.nullable

    @property
    def ordered(self) -> bool:
        """Whether the order of the codes means something."""
        return self.scale.ordered or self.taxonomy is not None

    def coarsen(self, codes: int) -> Attribute:
        """The attribute with at most `codes` codes, null included: equal bins, only the last may be shorter.

        Bins do not follow the nodes of a taxonomy, so an attribute whose bins get wider loses its taxonomy.
        """
        if codes < 1 + self.nullable:
            least = 1 + self.nullable
            raise ParameterError(f"column {self.name!r} cannot have {codes} codes; ask for at least {least}.")
        if self.size <= codes:
            return self
        return replace(self, width=-(-self.grid // (codes - self.nullable)), taxonomy=None)

    def reordered(self, order: Sequence[int]) -> Attribute:
        """The attribute with fine code i standing for declared value order[i]; unordered categories only."""
        if self.ordered or not isinstance(self.scale, Labels):
            raise ParameterError(f"column {self.name!r} is ordered; only unordered categories can be permuted.")
        if sorted(order) != list(range(self.grid)):
            raise ParameterError(f"column {self.name!r}: the order is not a permutation of its {self.grid} values.")
        labels = tuple(self.scale.labels[i] for i in order)
        return replace(self, scale=replace(self.scale, labels=labels))

    def encode(self, series: pl.Series) -> Codes:
        """Code of each value, -1 where the record is to be dropped; int32, or int64 past 2**31 codes."""
        return self.codes(by_kind(series, self.scale.locate))

    def codes(self, fine: Codes) -> Codes:
        """The codes of places on the grid, of MISSING and of DROP, as `encode` has them."""
        codes = fine // self.width if self.width > 1 else fine
        codes = codes.astype(np.int32 if self.size < 2**31 else np.int64, copy=False)
        bad = fine < 0
        if bad.any():
            codes = np.where(bad, codes.dtype.type(-1), codes)
            if self.nullable:
                codes[fine == MISSING] = self.bins
        return codes

    def decode(self, codes: NDArray[Any], within: NDArray[np.float64]) -> pl.Series:
        """Values in the natural type; `within` in [0, 1) chooses the fine value inside a bin."""
        return self.values(self.fine(codes, within))

    def fine(self, codes: NDArray[Any], within: NDArray[np.float64]) -> NDArray[Any]:
        """Places on the grid of fine values, one past it for null; `within` as in `decode`."""
        if self.width == 1:
            return codes
        start, room = self.rooms
        inside = (within * room[codes]).astype(np.int64)
        fine = start[codes] + np.minimum(inside, room[codes] - 1, out=inside)
        return fine.astype(unsigned(self.grid + 1))

    @cached_property
    def rooms(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For each bin, and for null after them: its first place on the grid, and its number of places."""
        start = np.minimum(np.arange(self.bins + 1) * self.width, self.grid)
        return start, np.append(np.diff(start), 1)

    def values(self, fine: NDArray[Any]) -> pl.Series:
        """Values in the natural type, given their places on the grid (null one past it)."""
        return self.scale.values(fine).alias(self.name)

    def edge(self, code: int) -> Any:
        """Lower edge of bin `code` in original units; code == bins gives the exclusive upper edge.

        For categories the (first) label of the bin, and None past the last.
        """
        return self.scale.value(min(code * self.width, self.grid))

    def describe(self, lo: int, hi: int) -> str:
        """Text for the codes lo, …, hi - 1: the name of the node, if they are a node of the taxonomy."""
        last = min(hi, self.bins)
        parts = [self._describe_values(lo, last)] if lo < last else []
        return " or ".join([*parts, "null"] if hi > self.bins else parts)

    def _describe_values(self, lo: int, hi: int) -> str:
        if self.taxonomy is not None and self.taxonomy.has(lo, hi):
            return self.taxonomy.name(lo, hi)
        first, end = lo * self.width, min(hi * self.width, self.grid)
        if isinstance(self.scale, Steps):
            return f"[{self.scale.text(first)}, {self.scale.text(end)})"
        if end - first <= _SHOWN:
            return " | ".join(self.scale.text(k) for k in range(first, end))
        ends = f"{self.scale.text(first)} | … | {self.scale.text(end - 1)}"
        return f"{ends} ({end - first} values)"


@dataclass(frozen=True)
class Domain:
    """The attributes of a table without identifiers, the target kept separately; `columns` is the schema's order."""

    attributes: tuple[Attribute, ...]
    target: Attribute | None
    columns: tuple[str, ...]

    def coarsen(self, codes: int) -> Domain:
        """The domain with at most `codes` codes for every attribute; the target keeps its classes."""
        return replace(self, attributes=tuple(a.coarsen(codes) for a in self.attributes))

    def with_target_as_column(self) -> Domain:
        """The domain with its target among the attributes, in the order of the schema."""
        if self.target is None:
            return self
        every = {attribute.name: attribute for attribute in (*self.attributes, self.target)}
        return replace(self, attributes=tuple(every[name] for name in self.columns), target=None)

    def with_orders(self, seed: int) -> Domain:
        """The domain with unordered categories permuted by a public seed; the target keeps its order."""
        shuffled = (a if a.ordered else a.reordered(_public_order(a, seed)) for a in self.attributes)
        return replace(self, attributes=tuple(shuffled))

    def encode(self, frame: pl.DataFrame) -> tuple[NDArray[Any], NDArray[Any]]:
        """Codes (n, d), row-major, and classes (n,), in the smallest unsigned type, without dropped records."""
        n = frame.height
        keep = np.ones(n, dtype=bool)
        codes = np.empty((n, len(self.attributes)), dtype=unsigned(max((a.size for a in self.attributes), default=1)))
        for j, attribute in enumerate(self.attributes):
            codes[:, j] = _kept(attribute.encode(frame[attribute.name]), keep)
        classes = self._classes(frame, keep)
        return (codes, classes) if keep.all() else (codes[keep], classes[keep])

    def encode_columns(self, frame: pl.DataFrame) -> tuple[list[NDArray[Any]], NDArray[Any]]:
        """The codes of `encode` as one array per attribute, each in its own smallest unsigned type, and the classes.

        It needs the memory of one column in addition to the result.
        """
        keep = np.ones(frame.height, dtype=bool)
        columns = [
            _kept(attribute.encode(frame[attribute.name]), keep).astype(unsigned(attribute.size), order="C")
            for attribute in self.attributes
        ]
        classes = self._classes(frame, keep)
        if keep.all():
            return columns, classes
        for j, column in enumerate(columns):  # one at a time, so that the old ones can be freed
            columns[j] = column[keep]
        return columns, classes[keep]

    def _classes(self, frame: pl.DataFrame, keep: Mask) -> NDArray[Any]:
        if self.target is None:
            return np.zeros(frame.height, dtype=unsigned(1))
        return _kept(self.target.encode(frame[self.target.name]), keep).astype(unsigned(self.target.size), order="C")

    def decode(self, codes: NDArray[Any], classes: NDArray[Any], within: NDArray[np.float64]) -> pl.DataFrame:
        """Records in schema column order; `within` is (n, d), or (n, d + 1) with a last column for the target."""
        made = {a.name: a.decode(codes[:, j], within[:, j]) for j, a in enumerate(self.attributes)}
        if self.target is not None:
            last = within[:, -1] if within.shape[1] > len(self.attributes) else np.zeros(len(classes))
            made[self.target.name] = self.target.decode(classes, last)
        return pl.DataFrame([made[name] for name in self.columns])


def _kept(codes: Codes, keep: Mask) -> Codes:
    """The codes; `keep` is cleared (in place) where a code means that the record is dropped."""
    np.logical_and(keep, codes >= 0, out=keep)
    return codes


def unsigned(size: int) -> Any:
    """The smallest unsigned type that holds codes below `size`."""
    return np.min_scalar_type(max(size - 1, 0))


def _public_order(attribute: Attribute, seed: int) -> list[int]:
    """Declared places sorted by a keyed hash of (seed, column, label): public, and the same on every machine."""
    key = hashlib.blake2b(f"{seed}".encode(), digest_size=32).digest()
    name = attribute.name.encode() + b"\0"
    texts = (attribute.scale.text(k).encode() for k in range(attribute.grid))
    ranks = [hashlib.blake2b(name + text, key=key, digest_size=16).digest() for text in texts]
    return sorted(range(attribute.grid), key=ranks.__getitem__)

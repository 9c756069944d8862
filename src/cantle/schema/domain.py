"""The public domain: every column as a span of small integer codes.

On loading, each value becomes a code on a public grid: numbers and dates by steps, categories by their
place in the declared list, null last. A step may hold several places of the grid (`Steps.cell`): its values have one
code, and released values are written at places drawn evenly inside it. Everything in this file is public except the
series passed to `encode`, and `encode` maps each value by itself, whatever the other records hold (docs/privacy.md,
cleaning): out-of-range numbers are clamped, numbers go to their step or grid point, and unreadable values are missing.
It never raises, warns or logs because of a value.

Dates are whole days. Datetimes are whole seconds without a time zone; a value with an offset is
converted to UTC first.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cantle.errors import ParameterError
from cantle.schema.lists import Lists as Lists
from cantle.schema.places import Plane as Plane
from cantle.schema.scales import DROP as DROP
from cantle.schema.scales import MISSING as MISSING
from cantle.schema.scales import Labels as Labels
from cantle.schema.scales import Steps as Steps
from cantle.schema.taxonomy import Label, Taxonomy
from cantle.schema.values import Codes, Mask, by_kind
from cantle.trusted.geometry import value_sets

if TYPE_CHECKING:
    from cantle.schema.groups import Group
    from cantle.schema.relations import Relations
    from cantle.schema.rules import Rules

_SHOWN = 8  # most labels that `describe` writes out in full


@dataclass(frozen=True)
class Attribute:
    """One column as a span of codes: bins of `width` grid values each, then null as the last code.

    Grid values are also called places; with `on_places`, each place is a code.

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
        """Number of grid values."""
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
    def steps(self) -> Steps:
        """The grid of a column that has no categories."""
        assert isinstance(self.scale, Steps)
        return self.scale

    @property
    def labels(self) -> tuple[Label, ...]:
        """The categories of a column that has some, in the order of their codes."""
        assert isinstance(self.scale, Labels)
        return self.scale.labels

    @property
    def cell(self) -> int:
        """How many places a declared step has; 1 for categories, and for values that lie on the grid."""
        return self.scale.cell if isinstance(self.scale, Steps) else 1

    @cached_property
    def on_places(self) -> Attribute:
        """The attribute with one code per place."""
        return self if self.width == 1 else replace(self, width=1)

    @property
    def ordered(self) -> bool:
        """Whether the order of the codes has a meaning."""
        return self.scale.ordered or self.taxonomy is not None

    def coarsen(self, codes: int) -> Attribute:
        """The attribute with at most `codes` codes, null included: equal bins, only the last may be shorter.

        A bin holds whole steps. Bins do not follow the nodes of a taxonomy, so an attribute whose bins get wider loses
        its taxonomy.
        """
        if codes < 1 + self.nullable:
            least = 1 + self.nullable
            raise ParameterError(f"column {self.name!r} cannot have {codes} codes; ask for at least {least}.")
        if self.size <= codes:
            return self
        steps = -(-self.grid // (self.cell * (codes - self.nullable)))
        if isinstance(self.scale, Plane):  # other bins would be no rectangles
            steps = 1 << (steps - 1).bit_length()
        return replace(self, width=steps * self.cell, taxonomy=None)

    def reordered(self, order: Sequence[int]) -> Attribute:
        """The attribute with fine code i standing for declared value order[i]; unordered categories only."""
        if self.ordered or not isinstance(self.scale, Labels):
            raise ParameterError(f"column {self.name!r} is ordered; only unordered categories can be permuted.")
        if sorted(order) != list(range(self.grid)):
            raise ParameterError(f"column {self.name!r}: the order is not a permutation of its {self.grid} values.")
        labels = tuple(self.scale.labels[i] for i in order)
        return replace(self, scale=replace(self.scale, labels=labels))

    @property
    def files(self) -> tuple[str, ...]:
        """The columns of a file that hold it: itself, or the two of a place."""
        return (isinstance(self.scale, Plane) and self.scale.columns) or (self.name,)

    def given(self, frame: pl.DataFrame) -> pl.Series:
        """What a frame of records has for the column; of a place in two columns both."""
        return frame[self.name] if len(self.files) == 1 else frame.select(self.files).to_struct(self.name)

    def written(self, fine: Codes) -> list[pl.Series]:
        """The columns of a file that hold these places, in the natural type."""
        return self.scale.written(self.name, fine) if isinstance(self.scale, Plane) else [self.values(fine)]

    def encode(self, series: pl.Series) -> Codes:
        """Code of each value, -1 where the record is to be dropped; int32, or what holds more codes."""
        return self.codes(by_kind(series, self.scale.locate))

    def codes(self, fine: Codes) -> Codes:
        """The codes of places on the grid, of MISSING and of DROP, as `encode` has them."""
        codes = fine // self.width if self.width > 1 else fine
        codes = codes.astype(np.promote_types(np.int32, np.min_scalar_type(-self.size)), copy=False)
        bad = fine < 0
        if bad.any():
            codes = np.where(bad, codes.dtype.type(-1), codes)
            if self.nullable:
                codes[fine == MISSING] = self.bins
        return codes

    def from_places(self, places: Codes) -> Codes:
        """The codes of places, in the smallest unsigned type; null is the place after the last."""
        codes = places if self.width == 1 else np.where(places >= self.grid, self.bins, places // self.width)
        return codes.astype(unsigned(self.size), order="C", copy=False)

    def decode(self, codes: Codes, within: NDArray[np.float64]) -> pl.Series:
        """Values in the natural type; `within` in [0, 1) chooses the fine value inside a bin."""
        return self.values(self.fine(codes, within))

    def fine(self, codes: Codes, within: NDArray[np.float64]) -> Codes:
        """Places on the grid of fine values, the place after the last for null; `within` as in `decode`."""
        if self.width == 1:
            return codes
        start = np.minimum(codes.astype(np.int64) * self.width, self.grid)
        room = np.clip(self.grid - start, 1, self.width)  # null has one place
        inside = (within * room).astype(np.int64)
        return (start + np.minimum(inside, room - 1, out=inside)).astype(unsigned(self.grid + 1))

    def places(self, edges: NDArray[np.int64]) -> NDArray[np.int64]:
        """Edges between codes as edges between places; null stays the last code."""
        inside = np.minimum(edges * self.width, self.grid)
        return np.where(edges > self.bins, self.grid + 1, inside)

    def values(self, fine: Codes) -> pl.Series:
        """Values in the natural type, given their places on the grid (null is the place after the last)."""
        return self.scale.values(fine).alias(self.name)

    def edge(self, code: int) -> int | float | date | str | None:
        """Lower edge of bin `code` in original units; code == bins gives the exclusive upper edge.

        For categories it is the (first) label of the bin, and None after the last bin.
        """
        return self.scale.value(min(code * self.width, self.grid))

    def describe(self, lo: int, hi: int) -> str:
        """A text for the codes lo, …, hi - 1, or for a set of codes (geometry/value_sets.py); the name of the node, if
        they are a node of the taxonomy."""
        if hi > self.size:
            codes = value_sets.CODE[lo:hi].tolist()
            return " | ".join(self.describe(code, code + 1) for code in codes)
        last = min(hi, self.bins)
        parts = [self._describe_values(lo, last)] if lo < last else []
        return " or ".join([*parts, "null"] if hi > self.bins else parts)

    def _describe_values(self, lo: int, hi: int) -> str:
        if self.taxonomy is not None and self.taxonomy.has(lo, hi):
            return self.taxonomy.name(lo, hi)
        first, end = lo * self.width, min(hi * self.width, self.grid)
        if isinstance(self.scale, Steps):
            return self.scale.between(first, end)
        if end - first <= _SHOWN:
            return " | ".join(self.scale.text(k) for k in range(first, end))
        ends = f"{self.scale.text(first)} | … | {self.scale.text(end - 1)}"
        return f"{ends} ({end - first} values)"


@dataclass(frozen=True)
class Domain:
    """The attributes of a table, without identifiers and apart from the target; `columns` is the schema's order.

    `rules` are about places on the full grids, whatever the widths of the attributes. With `relations`, the attributes
    are those that are counted, and frames have the declared columns. `groups` are those of the schema; `scores` are the
    groups whose scores are among the attributes, which are not released; `listed` are the items of lists that stand
    after other columns.
    """

    attributes: tuple[Attribute, ...]
    target: Attribute | None
    columns: tuple[str, ...]
    rules: Rules | None = None
    relations: Relations | None = None
    groups: tuple[Group, ...] = ()
    scores: tuple[Group, ...] = ()
    listed: tuple[str, ...] = ()

    def coarsen(self, codes: int) -> Domain:
        """The domain with at most `codes` codes for every attribute; the target keeps its classes."""
        return replace(self, attributes=tuple(a.coarsen(codes) for a in self.attributes))

    def with_target_as_column(self) -> Domain:
        """The domain with its target among the attributes, in the order of the schema."""
        if self.target is None:
            return self
        every = {attribute.name: attribute for attribute in (*self.attributes, self.target)}
        return replace(self, attributes=tuple(every[name] for name in self.columns), target=None)

    def with_scores(self) -> Domain:
        """The domain with the scores of its groups after other columns, then the items of lists, if there are other
        columns, and those of groups last."""
        named = {one.name: one for one in self.attributes}
        items = [name for group in self.groups for name in group.items]
        made = [group.attribute(named) for group in self.groups]
        listed = [] if self.relations is None else [name for one in self.relations.lists for name in one.items]
        others = [one for name, one in named.items() if name not in {*items, *listed}]
        if not others and not made:
            others, listed = [named[name] for name in listed], []
        last = (named[name] for name in (*listed, *items))
        return replace(self, attributes=(*others, *made, *last), scores=self.groups, listed=tuple(listed))

    @property
    def related(self) -> int:
        """How many columns come before the items of lists and of groups."""
        return len(self.attributes) - len(self.listed) - sum(len(group.items) for group in self.scores)

    @property
    def on_places(self) -> Domain:
        """The domain with one code per place."""
        target = None if self.target is None else self.target.on_places
        return replace(self, attributes=tuple(one.on_places for one in self.attributes), target=target)

    @property
    def rules_on_codes(self) -> Rules | None:
        """The rules about codes, for codes that are whole steps: no rule cuts a step."""
        if self.rules is None:
            return None
        both = (*self.attributes, *([] if self.target is None else [self.target]))
        return self.rules.on_codes({one.name: one for one in both if one.width > 1})

    def with_orders(self, seed: int) -> Domain:
        """The domain with unordered categories permuted by a public seed; the target keeps its order."""
        shuffled, rules = [], self.rules
        for attribute in self.attributes:
            order = None if attribute.ordered else _public_order(attribute, seed)
            shuffled.append(attribute if order is None else attribute.reordered(order))
            if order is not None and rules is not None:
                rules = rules.reordered(attribute.name, order)
        return replace(self, attributes=tuple(shuffled), rules=rules)

    def encode(self, frame: pl.DataFrame) -> tuple[Codes, Codes]:
        """Codes (n, d), row-major, and classes (n,), in the smallest unsigned type, without dropped records."""
        columns, classes = self.encode_columns(frame)
        widest = unsigned(max((a.size for a in self.attributes), default=1))
        return np.stack(columns, axis=1).astype(widest) if columns else np.empty((len(classes), 0), widest), classes

    def encode_columns(self, frame: pl.DataFrame) -> tuple[list[Codes], Codes]:
        """The codes of `encode` as one array per attribute, each in its own smallest unsigned type, and the classes.

        It needs the memory of one column in addition to the result.
        """
        if self.read is not self:
            return self.counted(*self.read.encode_columns(frame))
        keep = np.ones(frame.height, dtype=bool)
        columns = [
            _kept(attribute.encode(attribute.given(frame)), keep).astype(unsigned(attribute.size), order="C")
            for attribute in self.attributes
        ]
        classes = self._classes(frame, keep)
        if keep.all():
            return columns, classes
        for j, column in enumerate(columns):  # one at a time, so that the old ones can be freed
            columns[j] = column[keep]
        return columns, classes[keep]

    @cached_property
    def read(self) -> Domain:
        """The columns that are read from files: these, or, with relations or scores, those that all others follow from,
        with one code per place."""
        if self.relations is None and not self.scores:
            return self
        own = {one.name: one.on_places for one in self.attributes}
        names = list(self.columns) if self.relations is None else self.relations.read
        target = None if self.target is None else self.target.on_places
        others = [name for name in names if target is None or name != target.name]
        every = [own.get(name) or self.relations.columns[name] for name in others]  # type: ignore[union-attr]
        return Domain(tuple(every), target, tuple(names))

    def counted(self, columns: Sequence[Codes], classes: Codes) -> tuple[list[Codes], Codes]:
        """The codes of these columns, from those of `read`."""
        if self.read is self:
            return list(columns), classes
        named = {one.name: codes for one, codes in zip(self.read.attributes, columns, strict=True)}
        places = self.to_counted(named | ({} if self.target is None else {self.target.name: classes}))
        return [one.from_places(places[one.name]) for one in self.attributes], classes

    def to_counted(self, places: Mapping[str, Codes]) -> dict[str, Codes]:
        """Places of the counted columns, from those of the columns that are read."""
        counted = dict(places) if self.relations is None else self.relations.to_counted(places)
        named = {one.name: one for one in self.attributes} if self.scores else {}
        return counted | {group.name: group.score(counted, named) for group in self.scores}

    def as_written(self, columns: Mapping[str, tuple[Attribute, Codes]]) -> list[tuple[Attribute, Codes]]:
        """Columns of places as files have them, in the order of the schema."""
        if self.relations is None:
            return [columns[name] for name in self.columns]
        return self.relations.to_declared(columns)

    def coder(self, frame: pl.DataFrame) -> Callable[[str | int], Codes]:
        """A function that returns the places of a frame's column, or of an item of lists, by name, for rules."""
        both = (*self.attributes, *([] if self.target is None else [self.target]))
        every = {one.name: one.on_places for one in both}
        lists = {name: one for one in both if isinstance(one.scale, Lists) for name in one.scale.names(one.name)}

        items = dict[str, Codes]()

        def codes(key: str | int) -> Codes:
            name = str(key)
            if (whole := lists.get(name)) is not None and name not in items:
                assert isinstance(whole.scale, Lists)
                items.update(whole.scale.columns(whole.name, whole.encode(whole.given(frame))))
            return items[name] if whole is not None else every[name].encode(every[name].given(frame))

        return codes

    def _classes(self, frame: pl.DataFrame, keep: Mask) -> Codes:
        if self.target is None:
            return np.zeros(frame.height, dtype=unsigned(1))
        return _kept(self.target.encode(frame[self.target.name]), keep).astype(unsigned(self.target.size), order="C")

    def decode(self, codes: Codes, classes: Codes, within: NDArray[np.float64]) -> pl.DataFrame:
        """Records in schema column order; `within` is (n, d), or (n, d + 1) with a last column for the target."""
        places = {a.name: (a, a.fine(codes[:, j], within[:, j])) for j, a in enumerate(self.attributes)}
        if self.target is not None:
            last = within[:, -1] if within.shape[1] > len(self.attributes) else np.zeros(len(classes))
            places[self.target.name] = self.target, self.target.fine(classes, last)
        return pl.DataFrame([part for one, fine in self.as_written(places) for part in one.written(fine)])


def _kept(codes: Codes, keep: Mask) -> Codes:
    """Returns the codes, and clears `keep` (in place) where a code means that the record is dropped."""
    np.logical_and(keep, codes >= 0, out=keep)
    return codes


def unsigned(size: int) -> np.dtype[np.unsignedinteger]:
    """The smallest unsigned type that holds codes below `size`."""
    return np.min_scalar_type(max(size - 1, 0))


def _public_order(attribute: Attribute, seed: int) -> list[int]:
    """The positions of labels, sorted by a keyed hash of (seed, column, label): public, and the same on every
    machine."""
    key = hashlib.blake2b(f"{seed}".encode(), digest_size=32).digest()
    name = attribute.name.encode() + b"\0"
    texts = (attribute.scale.text(k).encode() for k in range(attribute.grid))
    ranks = [hashlib.blake2b(name + text, key=key, digest_size=16).digest() for text in texts]
    return sorted(range(attribute.grid), key=ranks.__getitem__)

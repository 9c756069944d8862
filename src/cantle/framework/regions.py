"""Regions and cuts: all that a partitioning sees of the public domain."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from cantle.errors import ParameterError, raise_alone
from cantle.schema.domain import Attribute, Domain, Labels
from cantle.trusted.core.arrays import Bools, Floats, Ints
from cantle.trusted.geometry.boxes import BoxRule, Cuts, Frontier, Slices, cut_counts

Column = str | int | Ints
"""Which column to cut: its name, "in turn", "widest", its number, or one number per region."""

STRICTLY = "each region needs a cut strictly inside it; see can_cut, and stop the others"


@dataclass(frozen=True, eq=False)
class Cut:
    """How to cut some regions; made by methods of `Regions`, by `Ask.choose`, and by `join`."""

    regions: Regions
    rule: BoxRule


class Regions:
    """Regions of one level of the tree. They are public: they hold no records and no counts."""

    def __init__(self, nodes: Frontier, domain: Domain) -> None:
        self.nodes, self.domain = nodes, domain

    def __len__(self) -> int:
        return len(self.nodes)

    def __repr__(self) -> str:
        return f"Regions({len(self)} at depth {self.depth})"

    # ---- what they are ------------------------------------------------------------------------------------

    @property
    def depth(self) -> int:
        """How many cuts led here; 0 for the whole domain."""
        return self.nodes.depth

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns that can be cut: all but the target and identifiers."""
        return tuple(one.name for one in self.domain.attributes)

    @property
    def width(self) -> Floats:
        """The share of each column's domain that each region spans, as an array (regions, columns)."""
        return (self.nodes.hi - self.nodes.lo) / np.array([one.size for one in self.domain.attributes])

    def lower(self, column: str) -> Any:
        """The lowest value of each region in a column; for categories the first label."""
        number = self._number(column)
        return _edges(self.domain.attributes[number])[self._inside(number)[0]]

    def upper(self, column: str) -> Any:
        """The value at which each region ends, which belongs to the next one; for categories the last label."""
        number = self._number(column)
        attribute, last = self.domain.attributes[number], self._inside(number)[1]
        return _edges(attribute)[np.maximum(last - 1, 0) if isinstance(attribute.scale, Labels) else last]

    def can_cut(self, column: str) -> Bools:
        """Whether each region has more than one value, or bin, of a column."""
        return cut_counts(self.nodes)[:, self._number(column)] > 0

    def can_descend(self, column: str) -> Bools:
        """Whether each region is a node of the column's taxonomy that has children."""
        return np.array([len(one) > 1 for one in self._below(column)], dtype=np.bool_)

    def take(self, which: Any) -> Regions:
        """Some of the regions: by an array of yes and no, by ascending positions, or by a slice."""
        return Regions(self.nodes.take(which), self.domain)

    # ---- cuts ---------------------------------------------------------------------------------------------

    def halve(self, column: Column = "in turn") -> Cut:
        """Cuts each region in the middle of a column, by default the columns in turn."""
        at, rows = self.numbers(column), np.arange(len(self))
        return self._cut(Cuts(at, (self.nodes.lo[rows, at] + self.nodes.hi[rows, at]) // 2))

    def cut(self, column: str, at: object) -> Cut:
        """Cuts each region of a column at a value, the first one of the right side; one value, or one per region.

        None cuts off missing values. In a column of bins the cut is at the first bin that starts at the value or later.
        """
        number = self._number(column)
        values = list(at) if isinstance(at, list | tuple | np.ndarray) else [at] * len(self)
        if len(values) != len(self):
            raise ParameterError(f"cut needs one value for all regions or {len(self)} of them, got {len(values)}")
        return self._cut(Cuts(np.full(len(self), number), _codes(self.domain.attributes[number], values)))

    def slices(self, column: str, points: Sequence[object]) -> Cut:
        """Cuts each region of a column at all of these values that lie strictly inside it: one child more than
        points."""
        number = self._number(column)
        codes = np.unique(_codes(self.domain.attributes[number], list(points)))
        lo, hi = self.nodes.lo[:, number, None], self.nodes.hi[:, number, None]
        inside = (lo < codes) & (codes < hi)
        return self._sliced(number, [codes[some].tolist() for some in inside])

    def children(self, column: str) -> Cut:
        """Cuts each region into the children of its node in the column's taxonomy, however many there are."""
        number, below = self._number(column), self._below(column)
        if not all(len(one) > 1 for one in below):
            raise ParameterError(f"a region has no children in the taxonomy of {column}; see can_descend, and stop it")
        return self._sliced(number, [[first for first, _ in one[1:]] for one in below])

    def numbers(self, column: Column) -> Ints:
        """The number of the column to cut for each region."""
        if isinstance(column, str) and column in ("in turn", "widest"):
            able, many = cut_counts(self.nodes) > 0, len(self.columns)
            if column == "widest":
                return np.argmax(np.where(able, self.width, 0), axis=1)
            order = (np.arange(many) + self.depth) % many
            return order[np.argmax(able[:, order], axis=1)]
        number = self._number(column) if isinstance(column, str) else np.asarray(column)
        if np.asarray(number).dtype.kind not in "iu" or np.ndim(number) > 1:
            raise ParameterError(
                f"a column is a name, a number, one number per region, 'in turn' or 'widest': {column!r}"
            )
        if np.ndim(number) and np.shape(number) != (len(self),):
            raise ParameterError(f"numbers of columns are for {np.size(number)} regions, and there are {len(self)}")
        if np.size(number) and not 0 <= np.min(number) <= np.max(number) < len(self.columns):
            raise ParameterError(f"columns have the numbers 0 to {len(self.columns) - 1}")
        return np.broadcast_to(np.asarray(number, dtype=np.int64), len(self)).copy()

    def _number(self, column: str) -> int:
        if column not in self.columns:
            raise ParameterError(f"there is no column {column!r} to cut; use one of {', '.join(self.columns)}")
        return self.columns.index(column)

    def _inside(self, number: int) -> tuple[Ints, Ints]:
        """The first code of each region and the one after its last, without null."""
        bins = self.domain.attributes[number].bins
        return np.minimum(self.nodes.lo[:, number], bins), np.minimum(self.nodes.hi[:, number], bins)

    def _below(self, column: str) -> list[tuple[tuple[int, int], ...]]:
        number = self._number(column)
        taxonomy = self.domain.attributes[number].taxonomy
        if taxonomy is None:
            raise ParameterError(f"column {column} has no taxonomy; declare a hierarchy in the schema, or raise bins")
        ends = np.stack([self.nodes.lo[:, number], self.nodes.hi[:, number]], axis=1)
        spans, which = np.unique(ends, axis=0, return_inverse=True)  # many regions share the same few spans
        below = [taxonomy.children(*span) if taxonomy.has(*span) else () for span in spans.tolist()]
        return [below[place] for place in which.reshape(-1).tolist()]

    def _sliced(self, number: int, points: list[list[int]]) -> Cut:
        starts = np.cumsum([0, *map(len, points)], dtype=np.int64)
        flat = np.array([code for one in points for code in one], dtype=np.int64)
        return self._cut(Slices(np.full(len(self), number), starts, flat))

    def _cut(self, rule: Cuts | Slices) -> Cut:
        if not rule.fits(self.nodes):
            raise ParameterError(STRICTLY)
        return Cut(self, rule)


def join(*cuts: Cut) -> Cut:
    """The cuts of different regions of one level as one, so that each region can be cut in its own way."""
    if not cuts or any(type(one) is not Cut for one in cuts):
        raise ParameterError("join takes cuts, as halve, cut, slices, children and choose return them")
    nodes = [one.regions.nodes for one in cuts]
    ids = np.concatenate([one.ids for one in nodes])
    order = np.argsort(ids, kind="stable")
    if (np.diff(ids[order]) == 0).any() or len({one.depth for one in nodes}) > 1:
        raise ParameterError("join takes cuts of different regions of one level; a region was cut twice")
    arrays = (np.concatenate([getattr(one, name) for one in nodes])[order] for name in ("parent", "lo", "hi"))
    parent, lo, hi = arrays
    regions = Regions(Frontier(ids[order], parent, nodes[0].depth, lo, hi), cuts[0].regions.domain)
    attribute = np.concatenate([one.rule.attribute for one in cuts])[order]
    points = [points for one in cuts for points in _points(one.rule)]
    flat = np.concatenate([points[place] for place in order.tolist()])
    starts = np.cumsum([0, *(len(points[place]) for place in order.tolist())], dtype=np.int64)
    if all(isinstance(one.rule, Cuts) for one in cuts):
        return Cut(regions, Cuts(attribute, flat))
    return Cut(regions, Slices(attribute, starts, flat))


def _points(rule: BoxRule) -> list[Ints]:
    """The points of each region."""
    if isinstance(rule, Cuts):
        return list(rule.point.reshape(-1, 1))
    return np.split(rule.points, rule.starts[1:-1])


@lru_cache(maxsize=64)
def _edges(attribute: Attribute) -> Any:
    """The lowest value of each bin, and the value after the last; for categories the first label of each bin."""
    values = [attribute.edge(code) for code in range(attribute.bins + 1)]
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    return np.array(values) if numbers else np.array(values, dtype=object)


def _codes(attribute: Attribute, values: list[object]) -> Ints:
    """The first code from each value on; null comes after all values."""
    known = {value: _code(attribute, value) for value in values}
    return np.array([known[value] for value in values], dtype=np.int64)


def _code(attribute: Attribute, value: Any) -> int:
    if value is None:
        return attribute.bins
    if isinstance(attribute.scale, Labels):
        if value not in attribute.scale.labels:
            raise ParameterError(f"column {attribute.name} has no category {value!r} to cut at")
        return attribute.scale.labels.index(value) // attribute.width
    try:
        return bisect_left(_edges(attribute)[:-1].tolist(), value)
    except TypeError:
        raise_alone(ParameterError(f"column {attribute.name} cannot be cut at {value!r}; give a value of its type"))

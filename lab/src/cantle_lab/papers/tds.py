"""TDS, top-down specialisation to k-anonymity (Fung, Wang and Yu, TKDE 2007): a publisher to compare with.

The result is k-anonymous over all attributes, which is weaker than differential privacy: exact counts are published. It
is for evaluation only; no code that publishes data imports it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from cantle.errors import ParameterError
from cantle.schema.hierarchy_files import load_hierarchy
from cantle.schema.taxonomy import Span, Taxonomy
from cantle_lab.documents import TableDocument
from cantle_lab.papers.coding import Coder, Floats, Grid, Ints


def tds(table: pl.DataFrame, schema: TableDocument, *, k: int) -> Specialised:
    """Specialises the most general table step by step, as long as every group keeps k records.

    Each step takes the valid candidate with the largest gain / (loss + 1), where gain is the information gain, and loss
    is by how much the smallest group of the table shrinks. Categories are specialised along the `hierarchy` of their
    field (or the default one), and a number is cut in two where the gain of its own records is largest. A candidate is
    valid if afterwards all groups that are not empty have k records, and beneficial if it has any gain. A candidate
    that is invalid stays so, because groups only get smaller.
    """
    if not 1 <= k <= table.height:
        raise ParameterError(f"k is {k}; it must be between 1 and the number of records")
    coder = Coder(schema)
    raw = coder.encode(table)
    specs = {field["name"]: field.get("hierarchy") for field in schema["fields"]}
    axes = [
        _axis(grid, specs[grid.name], raw.codes[:, i], raw.labels, coder.classes)
        for i, grid in enumerate(coder.attributes)
    ]
    codes = np.column_stack([axis.encode(raw.codes[:, i]) for i, axis in enumerate(axes)])
    group = np.zeros(len(codes), dtype=np.int64)
    while True:
        best = _best(axes, codes, group, k)
        if best is None:
            return Specialised(coder, tuple(axes), codes, raw.labels, group)
        axis, value = best
        child = np.where(axes[axis].place == value, axes[axis].child, 0)[codes[:, axis]]
        group = _compact(group * axes[axis].fan + child)
        axes[axis].specialise(value)


def _best(axes: Sequence[_Axis], codes: Ints, group: Ints, k: int) -> tuple[int, int] | None:
    """(axis, value) of the best candidate, or None if none is left; candidates that have become invalid are removed."""
    size = np.bincount(group)
    smallest = int(size.min())
    best, score = None, 0.0
    for i, axis in enumerate(axes):
        if not axis.open:
            continue
        left = axis.smallest_after(codes[:, i], group, size)
        for value in [v for v in axis.open if left[v] < k]:
            axis.open.remove(value)
        for value in axis.open:
            mine = axis.gain[value] / (smallest - left[value] + 1)
            if mine > score:
                best, score = (i, value), mine
    return best


def _compact(ids: Ints) -> Ints:
    """Ids renumbered from 0 without gaps."""
    number = np.cumsum(np.bincount(ids) > 0) - 1
    return number[ids]


@dataclass
class _Axis:
    """One attribute: its codes in tree order, its cut, and the result of specialising each value of the cut.

    For each code, `place` is the value of the cut that contains it, and `child` the child of that value.
    """

    grid: Grid
    tree: Taxonomy | None
    points: Ints  # numbers: the codes of the grid that occur; categories: the code of each leaf in tree order
    counts: Floats  # records by code (rows) and class (columns)
    spans: list[Span] = field(default_factory=list)
    below: list[Sequence[Span]] = field(default_factory=list)
    gain: list[float] = field(default_factory=list)
    open: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.place = np.zeros(len(self.points), dtype=np.int64)
        self.child = np.zeros(len(self.points), dtype=np.int64)
        self._put(0, (0, len(self.points)))

    def encode(self, codes: Ints) -> Ints:
        """Codes of the grid in tree order; a number that does not occur gets the code of the point below it."""
        if self.grid.kind == "number":
            return np.maximum(np.searchsorted(self.points, codes, side="right") - 1, 0).astype(np.int64)
        inverse = np.empty(len(self.points), dtype=np.int64)
        inverse[self.points] = np.arange(len(self.points))
        return inverse[codes]

    @property
    def fan(self) -> int:
        """The largest number of children of a value in the cut."""
        return max(1, *(len(spans) for spans in self.below))

    def smallest_after(self, codes: Ints, group: Ints, size: Ints) -> Ints:
        """For each value of the cut, the size of the smallest group of the table if only that value is specialised."""
        fan, groups = self.fan, len(size)
        parts = np.bincount(group * fan + self.child[codes], minlength=groups * fan).reshape(groups, fan)
        after = np.where(parts > 0, parts, len(codes)).min(axis=1)
        value = np.empty(groups, dtype=np.int64)
        value[group] = self.place[codes]  # all records of a group have the same value
        new, old = (np.full(len(self.spans), len(codes)) for _ in range(2))
        np.minimum.at(new, value, after)
        np.minimum.at(old, value, size)
        others = [int(np.delete(old, v).min(initial=len(codes))) for v in range(len(old))]
        return np.minimum(new, others)

    def specialise(self, value: int) -> None:
        """Replaces a value of the cut by its children; the first child gets its number."""
        self.open.remove(value)
        first, *rest = self.below[value]
        self._put(value, first)
        for span in rest:
            self._put(len(self.spans), span)

    def _put(self, value: int, span: Span) -> None:
        """Sets a value of the cut to a span of codes, and prepares how it would be specialised."""
        if value == len(self.spans):
            self.spans.append(span)
            self.below.append(())
            self.gain.append(0.0)
        lo, hi = span
        below = self._cut_number(lo, hi) if self.tree is None else list(self.tree.children(lo, hi))
        self.spans[value], self.below[value] = span, below
        self.gain[value] = information_gain([self.counts[a:b].sum(axis=0) for a, b in below]) if below else 0.0
        self.place[lo:hi], self.child[lo:hi] = value, 0
        for number, (a, b) in enumerate(below):
            self.child[a:b] = number
        if self.gain[value] > 1e-12:
            self.open.append(value)

    def _cut_number(self, lo: int, hi: int) -> list[Span]:
        """The two sides of the cut with the largest gain among the records between lo and hi."""
        if hi - lo < 2:
            return []
        left = np.cumsum(self.counts[lo:hi], axis=0)[:-1]
        right = self.counts[lo:hi].sum(axis=0) - left
        # The gain is largest where the remaining entropy is smallest.
        rest = _entropy(left) * left.sum(axis=1) + _entropy(right) * right.sum(axis=1)
        at = lo + 1 + int(rest.argmin())
        return [(lo, at), (at, hi)]

    def labels(self) -> list[str]:
        """The text of each value of the cut."""
        if self.tree is not None:
            return [self.tree.name(lo, hi) for lo, hi in self.spans]
        ends = [0, *self.points[1:], self.grid.size]  # the outer intervals extend to the public bounds
        edges = [f"{self.grid.low + self.grid.step * int(end):.15g}" for end in ends]
        return [f"[{edges[lo]}, {edges[hi]})" for lo, hi in self.spans]


def _axis(grid: Grid, spec: object, codes: Ints, labels: Ints, classes: int) -> _Axis:
    """The axis of one attribute, with its tree and the counts of its codes by class."""
    if grid.kind == "number":
        tree, points = None, np.unique(codes)
    else:
        names = grid.categories
        tree = Taxonomy.default(names) if spec is None else load_hierarchy(spec, names, grid.name)
        points = np.array([names.index(leaf) for leaf in tree.leaves], dtype=np.int64)
    bare = _Axis(grid, tree, points, np.zeros((len(points), classes)))
    cells = bare.encode(codes) * classes + labels
    counts = np.bincount(cells, minlength=len(points) * classes).reshape(-1, classes).astype(np.float64)
    return _Axis(grid, tree, points, counts)


def information_gain(parts: Sequence[Floats]) -> float:
    """The entropy of the classes in bits minus that remaining within the parts, from the class counts of each part.

    >>> information_gain([np.array([2, 0]), np.array([0, 2])])
    1.0
    """
    counts = np.array(parts, dtype=np.float64)
    total = counts.sum()
    if total == 0:
        return 0.0
    rest = (_entropy(counts) * counts.sum(axis=1)).sum() / total
    return float(_entropy(counts.sum(axis=0, keepdims=True))[0] - rest)


def _entropy(counts: Floats) -> Floats:
    """The entropy of each row in bits; 0 for an empty row."""
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    return -(share * np.log2(np.where(share > 0, share, 1))).sum(axis=1)


@dataclass(frozen=True, eq=False)
class Specialised:
    """A k-anonymous table: the `group` of each record, and the cut that made the groups."""

    coder: Coder
    axes: tuple[_Axis, ...]
    codes: Ints
    labels: Ints
    group: Ints

    @property
    def sizes(self) -> Ints:
        """The number of records in each group."""
        return np.bincount(self.group)

    @property
    def cut(self) -> dict[str, list[str]]:
        """The values published for each attribute."""
        return {axis.grid.name: axis.labels() for axis in self.axes}

    def generalised(self) -> pl.DataFrame:
        """The published records: labels, the class unchanged, and their number in the column `count`."""
        frame = self._labels(self.codes)
        names = frame.columns
        if self.coder.target:
            frame = frame.with_columns(self.coder.target.decode(self.labels))
            names = [*names, self.coder.target.name]
        return frame.group_by(names, maintain_order=True).agg(count=pl.len().cast(pl.Int64))

    def generalise(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The labels of other records under the same cut, one row per record."""
        columns = [axis.encode(axis.grid.encode(frame[axis.grid.name])) for axis in self.axes]
        return self._labels(np.column_stack(columns))

    def _labels(self, codes: Ints) -> pl.DataFrame:
        columns = {}
        for i, axis in enumerate(self.axes):
            columns[axis.grid.name] = pl.Series(axis.labels(), dtype=pl.String).gather(axis.place[codes[:, i]])
        return pl.DataFrame(columns)

"""Counting questions about a released table, for measuring a release's own error.

Public dice draw them after the records.

A question about one column is the value of a released record, or for numbers and dates the interval between the values
of two released records. Null is a value too. No question is asked twice. A question about two columns is a rectangle of
their table, each column in at most 16 groups of about equally many records: an interval between two edges of groups,
often without a lower or upper end, or one group of categories. Of a place the groups are aligned blocks of its codes,
which are rectangles of the map; a question is about one of them, or about two that are halves of one. Questions about
few records are left out, because for them the error of a large group is taken in proportion (accuracy.py).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from cantle.drawing.column_cells import aligned_blocks
from cantle.drawing.counts import Dice
from cantle.drawing.records import Drawn
from cantle.methods.own_error.accuracy import LARGE, Pair, largest_spread, reference, scale_of, spread
from cantle.schema.domain import Attribute, Domain, Plane, Steps
from cantle.trusted.core.arrays import Bytes, Codes, Floats
from cantle.trusted.geometry.boxes import Bools, Ints
from cantle.trusted.geometry.cross_tables import ColumnCells, CrossTable
from cantle.trusted.geometry.workloads import (
    APART,
    ONE_COLUMN,
    TOGETHER,
    WHOLE,
    Rectangles,
    TableWorkload,
    count_within,
)

QUESTIONS = 500
"""Questions about one column that are drawn, in all; those drawn twice are asked once."""

RECTANGLES = 24
"""Questions about each pair of columns."""

FEWEST = 4
"""If fewer questions about a pair are large, the small ones are asked too."""

OPEN, NULLS = 0.25, 0.125
"""How often an interval has no lower end, how often no upper one, and how often the question is about null."""

HALF = 0.5
"""How often a question about a block of a place asks about its other half too."""

MOST_PAIRS = 300
"""Most pairs of columns; at most half of them are pairs measured together, unless there are few others."""

MOST_GROUPS = 16
"""Most groups of a column in a table of two columns."""


@dataclass(frozen=True, eq=False)
class Column:
    """One column of the engine: how many codes it has, whether intervals make sense, the code of null, if any, and
    whether it holds places."""

    codes: int
    ordered: bool
    null: int | None
    place: bool = False

    @staticmethod
    def of(attribute: Attribute) -> Column:
        place = isinstance(attribute.scale, Plane)
        ordered = isinstance(attribute.scale, Steps) and not place
        return Column(attribute.size, ordered, attribute.bins if attribute.nullable else None, place)


def columns_of(domain: Domain) -> list[Attribute]:
    """The columns as engines number them: attributes, and the target after them if it has two or more classes."""
    target = domain.target
    return [*domain.attributes, *([target] if target is not None and target.size > 1 else [])]


def released_columns(domain: Domain) -> list[Attribute]:
    """The columns that questions can be about: all but scores of groups."""
    scores = {group.name for group in domain.scores}
    return [one for one in columns_of(domain) if one.name not in scores]


def engine_codes(domain: Domain, drawn: Drawn) -> list[Codes]:
    """The released records as codes of the counted domain, in which a bin may hold several values."""
    fine = {attribute.name: codes for attribute, codes in zip(drawn.attributes, drawn.codes, strict=True)}
    fine = domain.to_counted(fine)
    return [coded(attribute, fine[attribute.name]) for attribute in columns_of(domain)]


def coded(attribute: Attribute, fine: Codes) -> Codes:
    """The codes of places on the grid; null is the place after the last."""
    if attribute.width == 1:
        return fine
    return np.where(fine == attribute.grid, attribute.bins, fine // attribute.width)


def table_workload(
    attributes: Sequence[Attribute],
    released: Sequence[Codes],
    dice: Dice,
    together: Collection[Pair],
    numbers: int,
    asked_about: Collection[str],
) -> tuple[TableWorkload, Ints] | None:
    """The workload for these released records, and their counts of its cells; None if there is no question.

    `together` are the pairs of columns that the release measured together. If only one number is affordable
    (`numbers`), it is asked about all pairs of columns, as if none was measured together. Columns that are not
    in `asked_about` are not released.
    """
    columns = [Column.of(attribute) for attribute in attributes]
    usable = [at for at, one in enumerate(attributes) if columns[at].codes > 1 and one.name in asked_about]
    ordered = {number: _Ordered(columns[number].codes, released[number]) for number in usable}
    sides = {number: _Side.of(columns[number], ordered[number]) for number in usable}
    names = [attribute.name for attribute in attributes]
    near = {pair: numbers > 1 and frozenset(names[one] for one in pair) in together for pair in combinations(usable, 2)}
    alone = _about_one_column(columns, released, ordered, dice) if numbers > 1 or not near else {}
    pairs = _chosen(near, dice)
    edges = [np.array([0, column.codes], dtype=np.int64) for column in columns]
    for number, side in sides.items():
        edges[number] = np.unique(np.concatenate([side.edges, *alone.get(number, ())]))
    maps = {number: _map(edges[number], side.edges) for number, side in sides.items()}
    tables = [CrossTable((one,), (np.arange(len(edges[one]) - 1, dtype=np.uint16),)) for one in alone]
    tables += [CrossTable(pair, tuple(maps[one] for one in pair)) for pair in pairs]
    if not tables:
        return None
    within = ColumnCells(tuple(edges))
    counts = count_within(within, tables, released)
    asked = [_rows(edges[one], *spans) for one, spans in alone.items()]
    first = sum(table.cells for table in tables[: len(alone)])
    for pair, table in zip(pairs, tables[len(alone) :], strict=True):
        here = counts[first : first + table.cells].reshape(table.shape)
        asked.append(_about_pair(sides[pair[0]], sides[pair[1]], here, dice))
        first += table.cells
    starts = np.cumsum([0, *(len(one[0]) for one in asked)], dtype=np.int64)
    rectangles = Rectangles(starts, *(np.concatenate(part).astype(np.int64) for part in zip(*asked, strict=True)))
    classes = np.array([*(ONE_COLUMN for _ in alone), *(TOGETHER if near[pair] else APART for pair in pairs)])
    return TableWorkload(within, tuple(tables), classes, rectangles), counts


def _chosen(near: dict[tuple[int, int], bool], dice: Dice) -> list[tuple[int, int]]:
    """The pairs that are asked about: all, or MOST_PAIRS of both classes."""
    if len(near) <= MOST_PAIRS:
        return list(near)
    every = list(near)
    drawn = [every[place] for place in dice.permutation(len(near)).tolist()]
    together, apart = ([pair for pair in drawn if near[pair] == is_near] for is_near in (True, False))
    first = min(len(together), max(MOST_PAIRS // 2, MOST_PAIRS - len(apart)))
    return sorted([*together[:first], *apart[: MOST_PAIRS - first]])


# ---- released codes --------------------------------------------------------------------------------------------------


class _Ordered:
    """The released codes of one column in ascending order: counted code by code, or sorted if most codes are rare."""

    def __init__(self, codes: int, released: Codes) -> None:
        self._below, self._sorted = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        self._counted = codes <= len(released)
        if self._counted:
            self._below = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(released, minlength=codes))])
        else:
            self._sorted = np.sort(released).astype(np.int64)

    @property
    def times(self) -> Ints:
        """How often each code occurs, in their order; codes that do not occur may be left out."""
        return np.diff(self._below) if self._counted else np.unique(self._sorted, return_counts=True)[1]

    def below(self, codes: Ints) -> Ints:
        """How many released codes are below each of these."""
        return self._below[codes] if self._counted else np.searchsorted(self._sorted, codes)

    def at(self, ranks: Ints) -> Ints:
        """The released codes of these ranks, which begin with 0."""
        return np.searchsorted(self._below, ranks, side="right") - 1 if self._counted else self._sorted[ranks]


# ---- questions about one column -----------------------------------------------------------------------------------


def _about_one_column(
    columns: Sequence[Column], released: Sequence[Codes], ordered: dict[int, _Ordered], dice: Dice
) -> dict[int, tuple[Ints, Ints]]:
    """For each column the codes from lo to before hi of its questions, which come from the values of two released
    records; small ones only if there are few large ones."""
    records = len(released[0]) if released else 0
    if not records or not ordered:
        return {}
    column = np.array(list(ordered))[dice.integers(0, len(ordered), QUESTIONS)]
    rows = dice.integers(0, records, (QUESTIONS, 2))
    drawn = np.zeros((QUESTIONS, 3), dtype=np.int64)
    for one in ordered:
        here = column == one
        drawn[here] = np.stack(
            [column[here], *_spans(columns[one], ordered[one], released[one][rows[here]].astype(np.int64))], axis=1
        )
    column, lo, hi = np.unique(drawn, axis=0).T
    share = np.zeros(len(column))
    for one, of in ordered.items():
        here = column == one
        share[here] = (of.below(hi[here]) - of.below(lo[here])) / records
    kept = _large(np.sqrt(spread(share)), LARGE)
    return {one: (lo[here], hi[here]) for one in ordered if (here := kept & (column == one)).any()}


def _large(scales: Floats, stated: float) -> Bools:
    """Which questions have at least half of the scale that the error is stated for; all, if hardly any has."""
    large: Bools = scales >= stated / 2
    return large if np.count_nonzero(large) >= FEWEST else np.ones(len(scales), dtype=np.bool_)


def _rows(edges: Ints, lo: Ints, hi: Ints) -> list[Ints]:
    """Questions about one column as rectangles of its table; their errors count in full."""
    return [np.searchsorted(edges, lo), np.searchsorted(edges, hi), lo * 0, lo * 0 + 1, lo * 0 + WHOLE]


def _spans(column: Column, ordered: _Ordered, two: Ints) -> tuple[Ints, Ints]:
    """The codes from lo to before hi for each pair of values: the first value, or if the column is ordered, all values
    between the two, or null if one of them is null. Of a place it is the block of the first, together with its other
    half if the second is there."""
    if column.place:
        edges = _groups(column, ordered)
        first, second = (np.searchsorted(edges, one, side="right") - 1 for one in two.T)
        lo, hi = first, first + 1
        paired = _sibling(edges)[first] == second
        lo, hi = np.where(paired, np.minimum(first, second), lo), np.where(paired, np.maximum(first, second) + 1, hi)
        return edges[lo], edges[hi]
    if not column.ordered:
        return two[:, 0], two[:, 0] + 1
    null = (two == column.null).any(axis=1) if column.null is not None else np.zeros(len(two), dtype=np.bool_)
    return np.where(null, column.codes - 1, two.min(axis=1)), np.where(null, column.codes, two.max(axis=1) + 1)


# ---- questions about two columns ----------------------------------------------------------------------------------


def _about_pair(one: _Side, other: _Side, counts: Ints, dice: Dice) -> list[Ints]:
    """Rectangles of the table of two columns with these released counts, and the weights of their errors."""
    (top, bottom), (left, right) = one.draw(dice), other.draw(dice)
    share = np.zeros(np.add(counts.shape, 1))
    share[1:, 1:] = counts.cumsum(axis=0).cumsum(axis=1) / max(1, counts.sum())
    whole = share[bottom, right] - share[top, right] - share[bottom, left] + share[top, left]
    rows, columns = share[bottom, -1] - share[top, -1], share[-1, right] - share[-1, left]
    stated, scales = reference(one.spread, other.spread), scale_of(whole, [rows, columns])
    kept = _large(scales, stated)
    weights = np.floor(WHOLE * np.minimum(1, stated / scales)).astype(np.int64)
    return [part[kept] for part in (top, bottom, left, right, weights)]


@dataclass(frozen=True, eq=False)
class _Side:
    """A column as one side of tables: the edges of its groups, the released share of each, and its largest spread."""

    edges: Ints
    shares: Floats
    spread: float
    ordered: bool
    nullable: bool
    sibling: Ints | None = None

    @staticmethod
    def of(column: Column, ordered: _Ordered) -> _Side:
        edges = _groups(column, ordered)
        counts = np.diff(ordered.below(edges))
        shares = counts / counts.sum() if counts.sum() else np.full(len(counts), 1 / len(counts))
        spread = largest_spread(counts if column.place else ordered.times, ordered=column.ordered)
        nullable, sibling = column.null is not None and len(edges) > 2, _sibling(edges) if column.place else None
        return _Side(edges, shares, spread, column.ordered, nullable, sibling)

    def draw(self, dice: Dice) -> tuple[Ints, Ints]:
        """The groups from lo to before hi of RECTANGLES conditions on this column."""
        if not self.ordered:
            lo = np.searchsorted(self.shares.cumsum()[:-1], dice.random(RECTANGLES), side="right")
            if self.sibling is None:
                return lo, lo + 1
            other = np.where(dice.random(RECTANGLES) < HALF, self.sibling[lo], lo)
            return np.minimum(lo, other), np.maximum(lo, other) + 1
        last = len(self.shares) - self.nullable
        ends = np.sort(dice.integers(0, last + 1, (RECTANGLES, 2)), axis=1)
        hi = np.maximum(ends[:, 1], np.minimum(ends[:, 0] + 1, last))
        lo, way = np.minimum(ends[:, 0], hi - 1), dice.random(RECTANGLES)
        lo, hi = np.where(way < OPEN, 0, lo), np.where((way >= OPEN) & (way < 2 * OPEN), last, hi)
        null = (dice.random(RECTANGLES) < NULLS) & self.nullable
        return np.where(null, last, lo), np.where(null, last + 1, hi)


# ---- groups of a column -------------------------------------------------------------------------------------------


def _groups(column: Column, ordered: _Ordered) -> Ints:
    """Edges of at most MOST_GROUPS groups of codes that hold about equally many released records; null by itself."""
    values = column.codes if column.null is None else column.null
    known = int(ordered.below(np.array([values]))[0])
    records = int(ordered.below(np.array([column.codes]))[0])
    if column.place:
        edges = aligned_blocks(values, ordered.below, MOST_GROUPS - (column.null is not None))
        return edges if column.null is None else np.append(edges, column.codes)
    if column.codes <= MOST_GROUPS or not records:
        step = -(-column.codes // MOST_GROUPS)
        return np.unique(np.append(np.arange(0, column.codes, step), column.codes)).astype(np.int64)
    most = MOST_GROUPS - (column.null is not None)
    ends = ordered.at(np.arange(1, most) * known // most) if known else np.zeros(0, np.int64)
    return np.unique(np.concatenate([[0], ends, [values, column.codes]])).astype(np.int64)


def block_counts(attribute: Attribute, released: Codes) -> Ints | None:
    """How many released records are in each block of a place; None for other columns."""
    column = Column.of(attribute)
    ordered = _Ordered(column.codes, released)
    return np.diff(ordered.below(_groups(column, ordered))) if column.place else None


def _sibling(edges: Ints) -> Ints:
    """For each block the number of its other half, or its own number if that is none of the blocks."""
    first, size = edges[:-1], np.diff(edges)
    other = np.where(first // size % 2 == 0, first + size, first - size)
    at = np.minimum(np.searchsorted(first, other), len(first) - 1)
    return np.where((first[at] == other) & (size[at] == size), at, np.arange(len(first)))


def _map(edges: Ints, groups: Ints) -> Bytes:
    """The group of each cell."""
    return (np.searchsorted(groups, edges[:-1], side="right") - 1).astype(np.uint8)

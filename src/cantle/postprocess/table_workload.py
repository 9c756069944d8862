"""Random counting questions about a released table, for measuring a release's own error.

Public dice draw them after the records. A question has one to three conditions, each on one column: a value that a
released record has, or for numbers and dates the interval between the values of two released records. Null is a value
too. A question is kept if 2 to 50 % of the released records satisfy it; otherwise it is drawn again, up to 20 times.
For questions about several columns, this share is judged on some of the records first, and at the end on all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from cantle.postprocess.counts import Dice
from cantle.postprocess.records import Drawn
from cantle.schema.domain import Attribute, Domain, Steps
from cantle.trusted import kernel_choice
from cantle.trusted.arrays import Bytes, Codes
from cantle.trusted.geometry.boxes import Bools, Ints
from cantle.trusted.geometry.count_tables import count_codes
from cantle.trusted.geometry.cross_tables import ColumnCells, CrossTable
from cantle.trusted.geometry.workloads import Questions, TableWorkload, count_table

QUESTIONS = 500
"""Most questions of each kind."""

TRIES = 20
LEAST_SHARE, MOST_SHARE = 0.02, 0.5
JUDGED = 2_000
"""Number of released records on which shares are judged while questions are drawn."""

MOST_PAIRS = 300
MOST_GROUPS = 16
"""Most groups of a column in a table of two columns."""


@dataclass(frozen=True, eq=False)
class Column:
    """One column of the engine: how many codes it has, whether intervals make sense, and the code of null, if any."""

    codes: int
    ordered: bool
    null: int | None

    @staticmethod
    def of(attribute: Attribute) -> Column:
        ordered = isinstance(attribute.scale, Steps)
        return Column(attribute.size, ordered, attribute.bins if attribute.nullable else None)


def columns_of(domain: Domain) -> list[Attribute]:
    """The columns as engines number them: attributes, and the target after them if it has two or more classes."""
    target = domain.target
    return [*domain.attributes, *([target] if target is not None and target.size > 1 else [])]


def engine_codes(domain: Domain, drawn: Drawn) -> list[Codes]:
    """The released records as codes of the counted domain, in which a bin may hold several values."""
    fine = {attribute.name: codes for attribute, codes in zip(drawn.attributes, drawn.codes, strict=True)}
    return [coded(attribute, fine[attribute.name]) for attribute in columns_of(domain)]


def coded(attribute: Attribute, fine: Codes) -> Codes:
    """The codes of places on the grid; null is the place after the last."""
    if attribute.width == 1:
        return fine
    return np.where(fine == attribute.grid, attribute.bins, fine // attribute.width)


def table_workload(
    attributes: Sequence[Attribute], released: Sequence[Codes], dice: Dice
) -> tuple[TableWorkload, Ints]:
    """The workload for these released records, and the number of records that satisfy each question."""
    columns = [Column.of(attribute) for attribute in attributes]
    usable = [number for number, column in enumerate(columns) if column.codes > 1]
    ordered = {number: _Ordered(columns[number].codes, released[number]) for number in usable}
    drawing = _Drawing(columns, released, ordered, dice)
    one, more = drawing.questions(usable, (1,)), drawing.questions(usable, (2, 3))
    groups = {number: _groups(columns[number], ordered[number]) for number in usable}
    edges = [np.array([0, column.codes], dtype=np.int64) for column in columns]
    for number in usable:
        edges[number] = np.unique(np.concatenate([one.ends(number), more.ends(number), groups[number]]))
    within = ColumnCells(tuple(edges))
    chosen = list(combinations(usable, 2))
    if len(chosen) > MOST_PAIRS:
        chosen = [chosen[place] for place in np.sort(dice.permutation(len(chosen))[:MOST_PAIRS]).tolist()]
    maps = {number: _map(edges[number], groups[number]) for number in usable}
    pairs = tuple(CrossTable(pair, tuple(maps[number] for number in pair)) for pair in chosen)
    return _kept(TableWorkload(within, one.on(edges), more.on(edges), pairs), released)


def _kept(workload: TableWorkload, released: Sequence[Codes]) -> tuple[TableWorkload, Ints]:
    """The workload without the questions whose share of all released records is out of bounds, and its counts."""
    families, first = list[Questions](), 0
    counts = count_table(workload, released)
    kept = np.ones(len(counts), dtype=np.bool_)
    for family in (workload.one_column, workload.more_columns):
        here = slice(first, first + len(family))
        kept[here] = _within_bounds(counts[here], len(released[0]))
        families.append(_chosen(family, np.flatnonzero(kept[here])))
        first += len(family)
    return TableWorkload(workload.within, families[0], families[1], workload.pairs), counts[kept]


def _within_bounds(counts: Ints, records: int) -> Bools:
    good: Bools = (counts >= LEAST_SHARE * records) & (counts <= MOST_SHARE * records) & (counts > 0)
    return good


def _chosen(family: Questions, places: Ints) -> Questions:
    sizes = np.diff(family.starts)[places]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    at = np.repeat(family.starts[places] - starts[:-1], sizes) + np.arange(starts[-1])
    return Questions(starts, family.column[at], family.lo[at], family.hi[at])


# ---- drawing questions ----------------------------------------------------------------------------------------


class _Ordered:
    """The released codes of one column in ascending order: counted code by code, or sorted if most codes are rare."""

    def __init__(self, codes: int, released: Codes) -> None:
        self._below, self._sorted = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        self._counted = codes <= len(released)
        if self._counted:
            each = count_codes(released, codes, compiled=kernel_choice.worth_loading(len(released)))
            self._below = np.concatenate([np.zeros(1, np.int64), np.cumsum(each)])
        else:
            self._sorted = np.sort(released).astype(np.int64)

    def below(self, codes: Ints) -> Ints:
        """How many released codes are below each of these."""
        return self._below[codes] if self._counted else np.searchsorted(self._sorted, codes)

    def at(self, ranks: Ints) -> Ints:
        """The released codes of these ranks, which begin with 0."""
        return np.searchsorted(self._below, ranks, side="right") - 1 if self._counted else self._sorted[ranks]


@dataclass(frozen=True, eq=False)
class _Draft:
    """Questions of one kind, one row each: conditions on columns (-1 if there is none), codes from lo to before hi."""

    column: Ints
    lo: Ints
    hi: Ints

    def ends(self, number: int) -> Ints:
        """The ends of all intervals on a column."""
        here = self.column == number
        return np.concatenate([self.lo[here], self.hi[here]])

    def on(self, edges: Sequence[Ints]) -> Questions:
        """The questions in cells instead of codes."""
        lo, hi = self.lo.copy(), self.hi.copy()
        for number, edge in enumerate(edges):
            here = self.column == number
            lo[here], hi[here] = np.searchsorted(edge, lo[here]), np.searchsorted(edge, hi[here])
        asked = self.column >= 0
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(asked.sum(axis=1))])
        return Questions(starts, self.column[asked], lo[asked], hi[asked])


class _Drawing:
    """Draws questions about released records."""

    def __init__(
        self, columns: Sequence[Column], released: Sequence[Codes], ordered: dict[int, _Ordered], dice: Dice
    ) -> None:
        self._columns, self._released, self._ordered, self._dice = columns, released, ordered, dice
        self._records = len(released[0]) if released else 0

    def questions(self, usable: Sequence[int], lengths: Sequence[int]) -> _Draft:
        """Draws up to QUESTIONS questions about `lengths` columns; fewer if shares are often out of bounds."""
        some = self._dice.integers(0, max(1, self._records), min(JUDGED, self._records))
        able = [length for length in lengths if length <= len(usable)]
        wide = max(able, default=1)
        made = _Draft(*(np.full((QUESTIONS, wide), fill, dtype=np.int64) for fill in (-1, 0, 0)))
        waiting = np.arange(QUESTIONS)
        for _ in range(TRIES if self._records and able else 0):
            drawn = self._drawn(len(waiting), usable, able)
            fair = self._are_fair(drawn) if wide == 1 else self._are_mostly_fair(drawn, some)
            for whole, part in ((made.column, drawn.column), (made.lo, drawn.lo), (made.hi, drawn.hi)):
                whole[waiting[fair]] = part[fair]
            waiting = waiting[~fair]
            if not len(waiting):
                break
        kept = made.column[:, 0] >= 0
        return _Draft(made.column[kept], made.lo[kept], made.hi[kept])

    def _drawn(self, number: int, usable: Sequence[int], able: Sequence[int]) -> _Draft:
        """This many questions, whatever their share. A condition comes from the values of two released records."""
        lengths = np.array(able)[self._dice.integers(0, len(able), number)]
        order = np.argsort(self._dice.random((number, len(usable))), axis=1)[:, : max(able)]
        rows = self._dice.integers(0, self._records, (number, max(able), 2))
        column = np.where(np.arange(max(able)) < lengths[:, None], np.array(usable)[order], -1)
        lo, hi = np.zeros(column.shape, dtype=np.int64), np.zeros(column.shape, dtype=np.int64)
        for one in usable:
            here = column == one
            lo[here], hi[here] = _spans(self._columns[one], self._released[one][rows[here]].astype(np.int64))
        return _Draft(column, lo, hi)

    def _are_fair(self, drawn: _Draft) -> Bools:
        """Whether questions about one column have a fair share of all released records."""
        counts = np.zeros(len(drawn.column), dtype=np.int64)
        for number, ordered in self._ordered.items():
            here = drawn.column[:, 0] == number
            counts[here] = ordered.below(drawn.hi[here, 0]) - ordered.below(drawn.lo[here, 0])
        return _within_bounds(counts, self._records)

    def _are_mostly_fair(self, drawn: _Draft, some: Ints) -> Bools:
        """Whether questions about several columns have a fair share of some of the released records."""
        yes = np.ones((len(drawn.column), len(some)), dtype=np.bool_)
        for number in self._ordered:
            asked, at = np.nonzero(drawn.column == number)
            lo, last = drawn.lo[asked, at, None], (drawn.hi - drawn.lo - 1)[asked, at, None]
            kind = np.min_scalar_type(self._columns[number].codes)  # unsigned: codes below lo wrap around to large ones
            yes[asked] &= self._released[number][some].astype(kind) - lo.astype(kind) <= last.astype(kind)
        share = yes.sum(axis=1) / len(some)
        fair: Bools = (share >= LEAST_SHARE) & (share <= MOST_SHARE)
        return fair


def _spans(column: Column, two: Ints) -> tuple[Ints, Ints]:
    """The codes from lo to before hi for each pair of values: the first value, or if the column is ordered, all values
    between the two, or null if one of them is null."""
    if not column.ordered:
        return two[:, 0], two[:, 0] + 1
    null = (two == column.null).any(axis=1) if column.null is not None else np.zeros(len(two), dtype=np.bool_)
    return np.where(null, column.codes - 1, two.min(axis=1)), np.where(null, column.codes, two.max(axis=1) + 1)


# ---- groups of a column -------------------------------------------------------------------------------------------


def _groups(column: Column, ordered: _Ordered) -> Ints:
    """Edges of at most MOST_GROUPS groups of codes that hold about equally many released records; null by itself."""
    values = column.codes if column.null is None else column.null
    known = int(ordered.below(np.array([values]))[0])
    records = int(ordered.below(np.array([column.codes]))[0])
    if column.codes <= MOST_GROUPS or not records:
        step = -(-column.codes // MOST_GROUPS)
        return np.unique(np.append(np.arange(0, column.codes, step), column.codes)).astype(np.int64)
    most = MOST_GROUPS - (column.null is not None)
    ends = ordered.at(np.arange(1, most) * known // most) if known else np.zeros(0, np.int64)
    return np.unique(np.concatenate([[0], ends, [values, column.codes]])).astype(np.int64)


def _map(edges: Ints, groups: Ints) -> Bytes:
    """The group of each cell."""
    return (np.searchsorted(groups, edges[:-1], side="right") - 1).astype(np.uint8)

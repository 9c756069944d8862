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
from typing import Any

import numpy as np

from cantle.postprocess.counts import Dice
from cantle.postprocess.records import Drawn
from cantle.schema.domain import Attribute, Domain, Steps
from cantle.trusted.arrays import Bytes, Codes
from cantle.trusted.geometry.boxes import Bools, Ints
from cantle.trusted.geometry.cross_tables import ColumnCells, CrossTable
from cantle.trusted.geometry.workloads import Questions, TableWorkload, count_table

Conditions = list[tuple[int, int, int]]
"""A question: columns, each with the codes from `lo` to before `hi`."""

QUESTIONS = 500
"""Most questions of each kind."""

TRIES = 20
LEAST_SHARE, MOST_SHARE = 0.02, 0.5
JUDGED = 2_000
"""Number of released records on which shares are judged while questions are drawn."""

COUNTED = 1 << 22
"""A column of more codes is sorted instead of counted code by code."""

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
    one = _Draft(columns, released, dice).questions(usable, (1,))
    more = _Draft(columns, released, dice).questions(usable, (2, 3))
    groups = {number: _groups(columns[number], released[number]) for number in usable}
    edges = [np.array([0, column.codes], dtype=np.int64) for column in columns]
    for number in usable:
        ends = [*(family.ends(number) for family in (one, more)), groups[number]]
        edges[number] = np.unique(np.concatenate(ends)).astype(np.int64)
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


class _Draft:
    """Questions of one kind while they are drawn, in codes."""

    def __init__(self, columns: Sequence[Column], released: Sequence[Codes], dice: Dice) -> None:
        self._columns, self._dice = columns, dice
        self._records = len(released[0]) if released else 0
        some = dice.integers(0, max(1, self._records), min(JUDGED, self._records))
        self._judged = [np.asarray(codes[some], dtype=np.int64) for codes in released]
        self._released = released
        self._sums: dict[int, Codes] = {}
        self.found: list[Conditions] = []

    def questions(self, usable: Sequence[int], lengths: Sequence[int]) -> _Draft:
        """Draws up to QUESTIONS questions about `lengths` columns; fewer if shares are often out of bounds."""
        able = [length for length in lengths if length <= len(usable)]
        if not self._records or not able:
            return self
        fair: dict[int, Conditions] = {}
        waiting = list(range(QUESTIONS))
        for _ in range(TRIES):
            drawn = dict(zip(waiting, self._drawn(len(waiting), usable, able), strict=True))
            fair |= {place: one for place, one in drawn.items() if self._is_fair(one)}
            waiting = [place for place in waiting if place not in fair]
            if not waiting:
                break
        self.found = [fair[place] for place in sorted(fair)]
        return self

    def _drawn(self, number: int, usable: Sequence[int], able: Sequence[int]) -> list[Conditions]:
        """This many questions, whatever their share."""
        lengths = np.array(able)[self._dice.integers(0, len(able), number)].tolist()
        order = np.argsort(self._dice.random((number, len(usable))), axis=1)[:, : max(able)].tolist()
        rows = self._dice.integers(0, self._records, (number, max(able), 2)).tolist()
        return [
            [self._condition(usable[place], *two) for place, two in zip(places[:length], pairs, strict=False)]
            for length, places, pairs in zip(lengths, order, rows, strict=True)
        ]

    def _condition(self, number: int, first: int, second: int) -> tuple[int, int, int]:
        """A column and an interval of its codes, from the values of two released records."""
        column, codes = self._columns[number], self._released[number]
        a, b = int(codes[first]), int(codes[second])
        if not column.ordered:
            return number, a, a + 1
        if column.null in (a, b):
            return number, column.codes - 1, column.codes
        return number, min(a, b), max(a, b) + 1

    def _is_fair(self, conditions: Conditions) -> bool:
        if len(conditions) == 1:
            ((number, lo, hi),) = conditions
            return bool(_within_bounds(self._below(number, hi) - self._below(number, lo), self._records))
        yes: Any = True
        for number, lo, hi in conditions:
            codes = self._judged[number]
            yes = yes & (codes >= lo) & (codes < hi)
        share = int(np.count_nonzero(yes)) / len(self._judged[0])
        return LEAST_SHARE <= share <= MOST_SHARE

    def _below(self, number: int, code: int) -> Any:
        """How many released records have a code of this column below `code`."""
        if number not in self._sums:
            codes, released = self._columns[number].codes, self._released[number]
            counted = np.cumsum(np.bincount(released, minlength=codes)) if codes <= COUNTED else np.sort(released)
            self._sums[number] = counted
        sums = self._sums[number]
        if self._columns[number].codes <= COUNTED:
            return sums[code - 1] if code else np.int64(0)
        return np.searchsorted(sums, code)

    def ends(self, number: int) -> Ints:
        """The ends of all intervals on a column."""
        return np.array([end for one in self.found for j, *ends in one if j == number for end in ends], dtype=np.int64)

    def on(self, edges: Sequence[Ints]) -> Questions:
        """The questions in cells instead of codes."""
        flat = [condition for one in self.found for condition in one]
        place = [(j, np.searchsorted(edges[j], lo), np.searchsorted(edges[j], hi)) for j, lo, hi in flat]
        column, lo, hi = np.array(place, dtype=np.int64).reshape(-1, 3).T
        starts = np.cumsum([0, *map(len, self.found)], dtype=np.int64)
        return Questions(starts, *(np.ascontiguousarray(part) for part in (column, lo, hi)))


# ---- groups of a column -------------------------------------------------------------------------------------------


def _groups(column: Column, released: Codes) -> Ints:
    """Edges of at most MOST_GROUPS groups of codes that hold about equally many released records; null by itself."""
    if column.codes <= MOST_GROUPS or not len(released):
        step = -(-column.codes // MOST_GROUPS)
        return np.unique(np.append(np.arange(0, column.codes, step), column.codes)).astype(np.int64)
    values = column.codes if column.null is None else column.null
    known = np.sort(released[released < values])
    most = MOST_GROUPS - (column.null is not None)
    ends = known[np.arange(1, most) * len(known) // most] if len(known) else np.zeros(0, np.int64)
    every = np.concatenate([[0], ends.astype(np.int64), [values, column.codes]])
    return np.unique(every).astype(np.int64)


def _map(edges: Ints, groups: Ints) -> Bytes:
    """The group of each cell."""
    return (np.searchsorted(groups, edges[:-1], side="right") - 1).astype(np.uint8)

"""Candidate tables of a round, which of them may still be chosen after a choice, and the draft they are compared with.

This is public: it depends only on dice, on earlier choices and on noisy answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from itertools import combinations
from math import prod

import numpy as np

from cantle.drawing.counts import Dice
from cantle.methods.mosaic.model.groupings import FINEST, MOST_GROUPS
from cantle.methods.mosaic.model.noisy_tables import NoisyTable
from cantle.trusted.core.arrays import Bools, Codes
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.cross_tables import CrossTable, count_tables

RANDOM_SETS, MOST_PAIRS, MOST_COLUMNS = 200, 2_000, 8
FEWEST_GROUPS = 3
FINE, FEW = 1_024, 32
"""A pair is measured finely if its table may have that many cells, and if each column has more cells than a few."""

_OVERLAP = 0.1
"""Largest share of a set's pairs that may be in sets chosen in the same round."""

Grouped = tuple[tuple[int, ...], tuple[int, ...]]  # columns, and the number of groups of each


def candidates(
    sizes: Sequence[int],
    lead: int | None,
    with_lead: bool,
    cap: int,
    taken: set[tuple[int, ...]],
    dice: Dice,
) -> list[Grouped]:
    """All pairs without the leading column (at most 2,000) and 200 random sets, with as many groups as `cap` cells
    allow.

    With `with_lead`, half of the random sets contain the leading column, with all its cells. Sets in `taken` are left
    out.
    """
    least = [size if with_lead and column == lead else min(size, FEWEST_GROUPS) for column, size in enumerate(sizes)]
    usable = [column for column, size in enumerate(sizes) if size >= 2]
    pairs = list(combinations([column for column in usable if column != lead], 2))
    if len(pairs) > MOST_PAIRS:
        pairs = [pairs[i] for i in np.sort(dice.choice(len(pairs), MOST_PAIRS, replace=False)).tolist()]
    listed: dict[tuple[int, ...], None] = dict.fromkeys(pair for pair in pairs if pair not in taken)
    for number in range(RANDOM_SETS):
        members = _random_set(usable, least, lead if with_lead and number % 2 == 0 else None, cap, dice)
        if len(members) >= 2 and members not in taken and not (len(members) == 2 and lead in members):
            listed[members] = None
    return [(members, grow(members, sizes, least, cap)) for members in listed]


def _random_set(usable: Sequence[int], least: Sequence[int], lead: int | None, cap: int, dice: Dice) -> tuple[int, ...]:
    members = [] if lead is None else [lead]
    cells = 1 if lead is None else least[lead]
    for at in dice.permutation(len(usable)).tolist():
        column = usable[at]
        grown = cells * least[column]
        if column in members or grown > cap:
            continue
        members.append(column)
        cells = grown
        if len(members) == MOST_COLUMNS:
            break
    return tuple(sorted(members))


def grow(
    members: tuple[int, ...], sizes: Sequence[int], least: Sequence[int], cap: int, most: int = MOST_GROUPS
) -> tuple[int, ...]:
    """Numbers of groups: each starts at `least` (or 2, if that is too much), then grows one by one, the smallest
    first."""
    start = [least[c] for c in members]
    groups = start if prod(start) <= cap else [2] * len(members)
    cells = prod(groups)
    waiting = [(count, at) for at, count in enumerate(groups) if count < min(sizes[members[at]], most)]
    heapify(waiting)
    while waiting:
        count, at = heappop(waiting)
        more = cells // count * (count + 1)
        if more > cap:
            continue  # a larger number of groups may still grow, because it adds fewer cells in proportion
        cells, groups[at] = more, count + 1
        if count + 1 < min(sizes[members[at]], most):
            heappush(waiting, (count + 1, at))
    return tuple(groups)


def finest(members: tuple[int, ...], sizes: Sequence[int], cap: int) -> tuple[int, int] | None:
    """The groups of a pair that is measured finely: up to `cap` cells; None if it has few values or records."""
    if len(members) != 2 or cap < FINE or min(sizes[column] for column in members) <= FEW:
        return None
    first, second = grow(members, sizes, [FEWEST_GROUPS] * len(sizes), cap, FINEST)
    return first, second


class Survivors:
    """Which candidates of a round may still be chosen.

    A candidate survives if at most a tenth of its pairs are in sets chosen in this round and, in the first round, if it
    joins two components of the graph of chosen sets. If no candidate survives, all unchosen sets are candidates again.
    """

    def __init__(self, sets: Sequence[tuple[int, ...]], columns: int, joining: bool) -> None:
        self._sets, self._joining = sets, joining
        self._component = np.arange(columns)
        self._is_chosen = np.zeros(len(sets), dtype=bool)
        pairs = [list(combinations(members, 2)) for members in sets]
        self._set_of_pair = np.repeat(np.arange(len(sets)), [len(part) for part in pairs])
        self._pair = np.array([a * columns + b for part in pairs for a, b in part], dtype=np.int64)
        self._pair_is_used = np.zeros(columns * columns, dtype=bool)

    def left(self) -> Ints:
        """The indices of the surviving candidates; empty only if all were chosen."""
        kept = ~self._is_chosen & self._are_fresh()
        if not kept.any():
            self._component, self._pair_is_used[:] = np.arange(len(self._component)), False
            kept = ~self._is_chosen
        return np.flatnonzero(kept)

    def choose(self, number: int) -> None:
        members = self._sets[number]
        self._is_chosen[number] = True
        self._pair_is_used[self._pair[self._set_of_pair == number]] = True
        joined = np.isin(self._component, self._component[list(members)])
        self._component[joined] = self._component[members[0]]

    def _are_fresh(self) -> Bools:
        used = np.bincount(self._set_of_pair, self._pair_is_used[self._pair], minlength=len(self._sets))
        fresh = used <= _OVERLAP * np.bincount(self._set_of_pair, minlength=len(self._sets))
        if not self._joining:
            return fresh
        columns = len(self._component)
        apart = self._component[self._pair // columns] != self._component[self._pair % columns]
        return fresh & (np.bincount(self._set_of_pair, apart, minlength=len(self._sets)) > 0)


class DraftPool:
    """Drafted records (cells by column) and their weights, which change with every measured table.

    Without new weights, a set that contains a strong pair already measured would still look badly fitted, and be
    chosen.
    """

    def __init__(self, cells: Sequence[Codes], total: float) -> None:
        self._cells = np.stack([part.astype(np.uint16) for part in cells])
        self._weights = np.full(self._cells.shape[1], 1.0)
        self._total = total

    def models(self, tables: Sequence[CrossTable], share: float) -> tuple[Ints, ...]:
        """The number of records, rounded, that the draft expects in each cell of the tables."""
        size = self._cells.shape[1]
        running = np.cumsum(self._weights)
        points = (np.arange(size) + 0.5) * (running[-1] / size)
        pool = np.ascontiguousarray(self._cells[:, np.searchsorted(running, points)])
        scale = self._total / size * share
        counts = np.rint(count_tables(pool, tables) * scale).astype(np.int64)
        return tuple(np.split(counts, np.cumsum([table.cells for table in tables])[:-1]))

    def learn(self, question: CrossTable, answer: NoisyTable) -> None:
        """Multiplies the weights so that the draft agrees with a noisy table; cells of few records change less."""
        index = np.zeros(self._cells.shape[1], dtype=np.int64)
        for column, map_, groups in zip(question.columns, question.maps, question.shape, strict=True):
            index = index * groups + map_[self._cells[column]]
        expected = np.bincount(index, self._weights, minlength=question.cells)
        expected *= self._total / expected.sum()
        measured = answer.projected(self._total)
        noise = answer.variance**0.5
        self._weights *= ((measured + noise) / (expected + noise))[index]

"""Random questions about released sets, drawn by public dice after the records: items, and pairs and triples of them.

Half of each kind are the most frequent in the released records, the others are drawn from released records.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from cantle._arrays import Codes
from cantle.postprocess.counts import Dice
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.workloads import SetWorkload, count_sets

HALF = 250
"""Questions of each kind that are the most frequent ones, and as many that are drawn from records."""

TRIES = 20
PAIRED, TRIPLED = 40, 16
"""Most frequent items of which all pairs and all triples compete."""


def set_workload(universe: int, released: tuple[Ints, Codes], dice: Dice) -> SetWorkload:
    """The workload for these released records."""
    starts, items = released
    counts = np.bincount(items, minlength=universe)
    by_count = np.argsort(-counts, kind="stable")
    frequent = by_count[: np.count_nonzero(counts)]
    chosen = [*frequent[:HALF].tolist(), *_drawn_items(items, dice)]
    groups = [*_frequent_groups(frequent, released), *_drawn_groups(released, dice)]
    return _workload(list(dict.fromkeys(chosen)), list(dict.fromkeys(groups)))


def _workload(items: list[int], groups: list[tuple[int, ...]]) -> SetWorkload:
    starts = np.cumsum([0, *map(len, groups)], dtype=np.int64)
    flat = np.array([item for group in groups for item in group], dtype=np.int64)
    return SetWorkload(np.array(items, dtype=np.int64), starts, flat)


def _drawn_items(items: Codes, dice: Dice) -> list[int]:
    return items[dice.integers(0, len(items), HALF)].tolist() if len(items) else []


def _frequent_groups(frequent: Ints, released: tuple[Ints, Codes]) -> list[tuple[int, ...]]:
    """The most frequent pairs and triples of frequent items, as many of both."""
    found = []
    for size, among in ((2, PAIRED), (3, TRIPLED)):
        groups = list(combinations(np.sort(frequent[:among]).tolist(), size))
        counts = count_sets(_workload([], groups), *released)
        order = np.argsort(-counts, kind="stable")[: min(HALF // 2, np.count_nonzero(counts))]
        found += [groups[place] for place in order.tolist()]
    return found


def _drawn_groups(released: tuple[Ints, Codes], dice: Dice) -> list[tuple[int, ...]]:
    """Pairs and triples of items of released records; a record with too few items is drawn again up to 20 times."""
    starts, items = released
    sizes, found = np.diff(starts), []
    if not len(sizes):
        return []
    for size in (2, 3):
        rows = dice.integers(0, len(sizes), (HALF // 2, TRIES))
        large = sizes[rows] >= size
        first = np.argmax(large, axis=1)
        for row, place in zip(rows[large.any(axis=1)], first[large.any(axis=1)], strict=True):
            mine = items[starts[row[place]] : starts[row[place] + 1]]
            found.append(tuple(sorted(mine[dice.permutation(len(mine))[:size]].tolist())))
    return found

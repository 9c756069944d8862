"""Questions about released sets, for measuring a release's own error: single items, and pairs and triples of items.

Public dice draw them after the records. Half of the questions of each kind are the most frequent ones in the released
records; the others come from random released records.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from cantle.postprocess.counts import Dice
from cantle.trusted.arrays import Codes
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.workloads import SetWorkload

HALF = 250
"""Half of the questions of each kind."""

TRIES = 20
PAIRED, TRIPLED = 40, 16
"""How many of the most frequent items may form pairs, and triples."""

_BLOCK = 1 << 14  # records looked at together


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
    """The most frequent pairs and triples of frequent items, equally many of both."""
    groups = []
    top = np.sort(frequent[:PAIRED]), np.sort(frequent[:TRIPLED])
    for size, among, held in zip((2, 3), top, _held_together(*top, released), strict=True):
        places = np.array(list(combinations(range(len(among)), size)), dtype=np.int64).reshape(-1, size)
        counts = held[places[:, 0], places[:, 1]] if size == 2 else held[(1 << places).sum(axis=1)]
        order = np.argsort(-counts, kind="stable")[: min(HALF // 2, np.count_nonzero(counts))]
        groups += [tuple(group) for group in among[places[order]].tolist()]
    return groups


def _held_together(paired: Ints, tripled: Ints, released: tuple[Ints, Codes]) -> tuple[Ints, Ints]:
    """For the items `paired`, a table of how many records hold each two of them. For the items `tripled`, which are
    among them, how many records hold all items of each subset, by the mask of the subset."""
    starts, items = released
    row_of = np.full(int(items.max(initial=0)) + 1, len(paired), np.int64)
    row_of[paired] = np.arange(len(paired))
    both, masks = np.zeros((len(paired), len(paired)), np.int64), np.zeros(1 << len(tripled), np.int64)
    bits = (1 << np.arange(len(tripled))).astype(np.float32)
    for first in range(0, len(starts) - 1, _BLOCK):
        block = starts[first : first + _BLOCK + 1]
        row = row_of[items[block[0] : block[-1]]]
        record = np.repeat(np.arange(len(block) - 1), np.diff(block))
        holds = np.zeros((len(paired) + 1, len(block) - 1), np.float32)  # the last row stands for all other items
        holds[row, record] = 1
        both += (holds[:-1] @ holds[:-1].T).astype(np.int64)  # exact, because all numbers are whole and below 2^24
        masks += np.bincount((bits @ holds[row_of[tripled]]).astype(np.int64), minlength=len(masks))
    for place in range(len(tripled)):  # adds the records that hold more than the subset
        halves = masks.reshape(-1, 2, 1 << place)
        halves[:, 0] += halves[:, 1]
    return both, masks


def _drawn_groups(released: tuple[Ints, Codes], dice: Dice) -> list[tuple[int, ...]]:
    """Pairs and triples of items of released records; a record with too few items is drawn again up to 20 times."""
    starts, items = released
    sizes, groups = np.diff(starts), []
    if not len(sizes):
        return []
    for size in (2, 3):
        rows = dice.integers(0, len(sizes), (HALF // 2, TRIES))
        large = sizes[rows] >= size
        first = np.argmax(large, axis=1)
        for row, place in zip(rows[large.any(axis=1)], first[large.any(axis=1)], strict=True):
            mine = items[starts[row[place]] : starts[row[place] + 1]]
            groups.append(tuple(sorted(mine[dice.permutation(len(mine))[:size]].tolist())))
    return groups

"""Counts of sets for `baskets`: sizes, item supports, head patterns, pairs.

Records are ragged rows of ascending, distinct item codes, no row empty. Each count maps every record by itself, by
public functions of its content, so data sets that differ in one record differ by that record's counts only: 1 in the
sizes, at most most * PARTS in the supports and in the pairs (item_partitions.py), 1 in the patterns.
"""

from __future__ import annotations

import numpy as np

from cantle.trusted.core.arrays import Codes
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.item_partitions import LONGEST_PAIRED, item_parts, pair_parts

_BLOCK = 1 << 20  # pairs listed at once


def count_sizes(starts: Ints, edges: Ints) -> Ints:
    """Records by size: bin b holds the sizes from edges[b] to below edges[b + 1], the last bin all larger ones.

    >>> count_sizes(np.array([0, 1, 4, 6]), np.array([1, 2, 3])).tolist()
    [1, 1, 1]
    """
    by_size = np.bincount(np.diff(starts))
    places = np.searchsorted(edges, np.arange(len(by_size)), side="right") - 1
    counts = np.zeros(len(edges), dtype=np.int64)
    np.add.at(counts, places[places >= 0], by_size[places >= 0])
    return counts


def count_items(
    starts: Ints,
    items: Codes,
    universe: int,
    most: int,
    strata: bool,
    singles: bool = False,
) -> Ints:
    """Parts of records by item. With strata the first `universe` cells are of records of at most `most` items, the
    others of longer ones; with singles those of records of one item come first, and such a record counts `most` times.

    >>> count_items(np.array([0, 1, 3]), np.array([2, 0, 2]), 3, 1, True).tolist()
    [0, 0, 5040, 2520, 0, 2520]
    >>> count_items(np.array([0, 1, 3]), np.array([2, 0, 2]), 3, 2, False, True).tolist()
    [0, 0, 10080, 5040, 0, 5040]
    """
    size = np.diff(starts)
    parts = item_parts(size, most)
    parts[size == 1] *= most if singles else 1
    stratum = (size > 1) * int(singles) + (size > most) * int(strata)
    counts = np.zeros((1 + singles + strata) * universe, dtype=np.int64)
    np.add.at(counts, np.repeat(stratum * universe, size) + items, np.repeat(parts, size))
    return counts


def count_patterns(starts: Ints, items: Codes, universe: int, head: Ints) -> Ints:
    """Records by which of the head items they hold: bit j of the cell stands for head[j]; the empty pattern is cell 0.

    >>> count_patterns(np.array([0, 1, 3]), np.array([2, 0, 2]), 3, np.array([0, 2])).tolist()
    [0, 0, 1, 1]
    """
    bit = np.zeros(universe, dtype=np.int64)
    bit[head] = np.int64(1) << np.arange(len(head))
    running = np.zeros(len(items) + 1, dtype=np.int64)
    np.cumsum(bit[items], out=running[1:])
    return np.bincount(running[starts[1:]] - running[starts[:-1]], minlength=1 << len(head))


def count_pairs(starts: Ints, items: Codes, universe: int, top: Ints, most: int) -> Ints:
    """The parts of records that hold each pair of `top` items (ascending codes), for all records with equally many top
    items at once. The pair of places a < b in `top` is cell b (b - 1) / 2 + a.

    >>> count_pairs(np.array([0, 3]), np.array([0, 1, 3]), 4, np.array([0, 1, 3]), 1).tolist()
    [1680, 1680, 1680]
    """
    place_of = np.full(universe, -1, dtype=np.int32)
    place_of[top] = np.arange(len(top))
    parts, counts = pair_parts(np.arange(LONGEST_PAIRED + 1), most), np.zeros(len(top) * (len(top) - 1) // 2, np.int64)
    mine = place_of[items] >= 0
    owner = np.repeat(np.arange(len(starts) - 1), np.diff(starts))[mine]
    places = place_of[items[mine]].astype(np.int64)
    held = np.bincount(owner, minlength=len(starts) - 1)
    begins = np.cumsum(held) - held
    for number in np.unique(held[(held >= 2) & (held < len(parts))]).tolist():
        low, high = np.triu_indices(number, 1)
        same = np.flatnonzero(held == number)
        for rows in np.array_split(same, len(same) * len(low) // _BLOCK + 1):
            table = places[begins[rows][:, None] + np.arange(number)]
            second = table[:, high]
            np.add.at(counts, second * (second - 1) // 2 + table[:, low], parts[number])
    return counts

"""Numbers for the non-empty subsets of up to 62 children: a bijection with 0, 1, 2, ...

A subset is a 64-bit mask. If every subset may occur, mask - 1 is its number. If the number of items of a record is
bounded, only subsets of at most `most` children can occur; they are numbered by size, and within a size by the
combinatorial number system: the subset {p1 < p2 < ...} has number C(p1, 1) + C(p2, 2) + ...

Claim 26. `rank` is a bijection between the subsets of 1 to `most` of `fan` children and 0 .. number - 1, and `unrank`
is its inverse. Sizes have disjoint ranges of numbers; within size j, C(p1, 1) + ... + C(pj, j) takes each of
0 .. C(fan, j) - 1 once, because the subsets with largest element p take exactly C(p, j) .. C(p + 1, j) - 1.
tests/trusted/geometry/test_subsets.py lists all subsets of small sets.
"""

from __future__ import annotations

import numpy as np

from cantle.trusted.geometry.boxes import Ints

MOST_CHILDREN = 62


def _binomials() -> Ints:
    table = np.zeros((MOST_CHILDREN + 1, MOST_CHILDREN + 1), dtype=np.int64)
    table[:, 0] = 1
    for n in range(1, MOST_CHILDREN + 1):
        table[n, 1:] = table[n - 1, 1:] + table[n - 1, :-1]
    return table


BINOMIAL = _binomials()
UP_TO = np.cumsum(BINOMIAL, axis=1) - 1
"""UP_TO[n, j]: how many subsets of n children have 1 to j of them; at most 2^62 - 1."""


def number(fan: Ints, most: Ints) -> Ints:
    """How many subsets there are of each number of children."""
    return np.asarray(UP_TO[fan, np.minimum(most, fan)])


def popcount(mask: Ints) -> Ints:
    """How many children each subset has, by adding up bits, then pairs, fours and bytes."""
    word = mask.astype(np.uint64)
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return ((word * np.uint64(0x0101010101010101)) >> np.uint64(56)).astype(np.int64)


def rank(mask: Ints, fan: Ints, most: Ints) -> Ints:
    """The number of each subset, given its own fan and bound."""
    numbers = mask - 1
    few = np.flatnonzero(most < fan)
    if len(few):
        left, seen, inside = mask[few], np.zeros(len(few), np.int64), np.zeros(len(few), np.int64)
        for bit in range(int(fan[few].max())):
            here = (left >> bit) & 1
            seen += here
            inside += here * BINOMIAL[bit, np.minimum(seen, MOST_CHILDREN)]
        numbers[few] = inside + UP_TO[fan[few], seen - 1]
    return numbers


def unrank(place: Ints, fan: Ints, most: Ints) -> Ints:
    """The subset of each number."""
    mask = place + 1
    few = np.flatnonzero(most < fan)
    if len(few):
        size = (place[few, None] >= UP_TO[fan[few]][:, 1:]).sum(axis=1) + 1
        left, subset = place[few] - UP_TO[fan[few], size - 1], np.zeros(len(few), np.int64)
        for bit in range(int(fan[few].max()) - 1, -1, -1):
            here = (size > 0) & (bit < fan[few]) & (left >= BINOMIAL[bit, size])
            left -= here * BINOMIAL[bit, size]
            subset |= here.astype(np.int64) << bit
            size = size - here
        mask[few] = subset
    return mask

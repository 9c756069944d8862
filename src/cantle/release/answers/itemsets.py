"""Frequent itemsets of a release of sets: all groups of items that at least so many released sets hold.

Depth first over prefixes (Zaki 2000, Eclat): the sets that hold a group are a bitmap, and a prefix meets all items that
may follow it in one operation. A group is frequent only if all its parts are, so nothing else is looked at.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from cantle.errors import ParameterError
from cantle.trusted.core.arrays import Codes, Ints

MOST = 10_000
"""The most itemsets that are listed."""

Itemset = tuple[int, ...]
_ONES = np.array([number.bit_count() for number in range(256)], dtype=np.uint8)


def require(min_support: float, longest: int | None) -> None:
    """Refuses a support that is neither a share nor a number of sets, and lengths below 1."""
    plain = isinstance(min_support, int | float) and not isinstance(min_support, bool)
    if not plain or not (0 < min_support < 1 or (min_support >= 1 and float(min_support).is_integer())):
        raise ParameterError(
            f"min_support is a share of the sets below 1, such as 0.02, or a whole number of sets, got {min_support!r}"
        )
    if longest is not None and (isinstance(longest, bool) or not isinstance(longest, int) or longest < 1):
        raise ParameterError(f"longest is a number of items from 1 on, got {longest!r}")


def frequent(starts: Ints, items: Codes, least: float, longest: int | None) -> list[tuple[Itemset, int]]:
    """Every itemset of at most `longest` items that at least `least` of the sets hold, and how many do.

    >>> frequent(np.array([0, 2, 4, 5]), np.array([0, 1, 0, 1, 0]), 2, None)
    [((0,), 3), ((0, 1), 2), ((1,), 2)]
    """
    supports = np.bincount(items)
    kept = np.flatnonzero(supports >= max(1.0, least))
    owner = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    order = np.argsort(items, kind="stable")
    ends = np.cumsum(supports)
    bitmaps = np.zeros((len(kept), -(-(len(starts) - 1) // 8)), dtype=np.uint8)
    for row, item in enumerate(kept.tolist()):
        held = np.zeros(len(starts) - 1, dtype=np.bool_)
        held[owner[order[ends[item] - supports[item] : ends[item]]]] = True
        bitmaps[row] = np.packbits(held)
    found = []
    for one in _below((), kept, bitmaps, supports[kept], max(1.0, least), longest or len(supports)):
        found.append(one)
        if len(found) > MOST:
            raise ParameterError(f"more than {MOST:,} itemsets are that frequent; raise min_support, or lower longest")
    return found


def _below(
    prefix: Itemset, items: Ints, bitmaps: NDArray[np.uint8], counts: Ints, least: float, more: int
) -> Iterator[tuple[Itemset, int]]:
    """The frequent itemsets that begin with a prefix; `items` may follow it, with the sets that then hold all."""
    for place, (item, count) in enumerate(zip(items.tolist(), counts.tolist(), strict=True)):
        mine = (*prefix, item)
        yield mine, count
        if more > 1 and place + 1 < len(items):
            both = bitmaps[place + 1 :] & bitmaps[place]
            known = _ONES[both].sum(axis=1, dtype=np.int64)
            kept = known >= least
            yield from _below(mine, items[place + 1 :][kept], both[kept], known[kept], least, more - 1)

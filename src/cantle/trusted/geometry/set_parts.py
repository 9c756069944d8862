"""Parts of long records: every item or pair of a record counts equally, in whole parts of one count.

A record that may count with `most` of its items counts with all of them, each with the part most / size, in units of
1 / PARTS and rounded down. The L1 bound is that of cutting a record to `most` items, and the expectation that of a
random cut, but nothing is random: no row number and no hash decides which items count, and databases sum the same whole
numbers. A record of t items adds t * floor(PARTS * min(1, most / t)) <= most * PARTS in all; one with c pairs of top
items adds c * floor(PARTS * min(1, most / c)) <= most * PARTS.
"""

from __future__ import annotations

import numpy as np

from cantle.trusted.geometry.boxes import Ints

PARTS = 5040
"""Units of a whole count; divisible by 1 to 10, so that few parts are rounded."""

LONGEST_PAIRED = 256
"""The pairs of a record with more top items do not count: there would be many, each with a tiny part."""


def item_parts(size: Ints, most: int) -> Ints:
    """The part with which each item of records of these sizes counts.

    >>> item_parts(np.array([1, 4, 5]), 4).tolist()
    [5040, 5040, 4032]
    """
    return np.minimum(PARTS, PARTS * most // np.maximum(size, 1))


def pair_parts(top: Ints, most: int) -> Ints:
    """The part with which each pair of a record with this many top items counts.

    >>> pair_parts(np.array([1, 2, 4, 257]), 3).tolist()
    [5040, 5040, 2520, 0]
    """
    pairs = np.maximum(top * (top - 1) // 2, 1)
    return np.where(top > LONGEST_PAIRED, 0, np.minimum(PARTS, PARTS * most // pairs))

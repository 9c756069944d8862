"""Parts of long records: every item or pair of a record counts equally, in whole parts of one count.

A record that may count with `most` of its items counts with all of them, each with the part most / size, in units of
1 / PARTS and rounded down. The L1 bound is that of a cut to `most` items, the expectation is that of a cut by dice, but
there are no dice: neither row numbers nor hashes decide anything, equal records are not cut alike, and databases sum
the same whole numbers. Claims: a record of t items adds t * floor(PARTS * min(1, most / t)) <= most * PARTS in all;
one with c pairs of top items adds c * floor(PARTS * min(1, most / c)) <= most * PARTS.
"""

from __future__ import annotations

import numpy as np

from cantle.trusted.geometry.boxes import Ints

PARTS = 5040
"""Units of a whole count; divisible by 1 to 10, so that few parts are rounded."""

LONGEST_PAIRED = 256
"""Top items of a record from which on its pairs no longer count: they would be many, each with hardly any part."""


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

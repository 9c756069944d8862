"""Questions about released sequences, for measuring a release's own error: pairs of symbols, one after the other.

All of them follow from released values. They are the pairs with the most to lose: the most frequent ones that follow
each other directly, and pairs of the most frequent symbols at any distance, frequent or not.
"""

from __future__ import annotations

import numpy as np

from cantle.trusted.core.arrays import Codes
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.workloads import SequenceWorkload

NEAR = 200
"""Most pairs that follow each other directly."""

LATER = 12
"""How many of the most frequent symbols form pairs at any distance."""


def sequence_workload(released: tuple[Ints, Codes]) -> SequenceWorkload:
    """The workload for these released records."""
    starts, codes = released
    if len(codes) < 2:
        return SequenceWorkload(np.zeros((0, 2), np.int64), 0)
    base = int(codes.max()) + 1
    inside = np.ones(len(codes) - 1, np.bool_)
    inside[starts[1:-1] - 1] = False  # pairs across two sequences
    pair, count = np.unique((codes[:-1].astype(np.int64) * base + codes[1:])[inside], return_counts=True)
    frequent = np.sort(pair[np.argsort(-count, kind="stable")[:NEAR]])
    supports = np.bincount(codes)
    top = np.sort(np.argsort(-supports, kind="stable")[: min(LATER, np.count_nonzero(supports))])
    near = np.stack(np.divmod(frequent, base), axis=1)
    later = np.stack([np.repeat(top, len(top)), np.tile(top, len(top))], axis=1)
    return SequenceWorkload(np.concatenate([near, later]).astype(np.int64), len(near))

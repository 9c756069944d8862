"""Pieces of a numeric column that lie far outside of where its records are: noise there must not become a long tail.

A bounded column may have most of its cells where no record is. While its cells are not refined, their noise adds up to
a good part of the records, spread over the whole range; means and spreads of skewed columns would then be many times
too large. Everything here is computed from noisy counts.
"""

from __future__ import annotations

import numpy as np

from cantle.drawing.counts import Floats
from cantle.trusted.core.arrays import Bools
from cantle.trusted.geometry.boxes import Ints

STRONG = 3.0
"""A piece whose sum exceeds this many standard deviations of its noise surely holds records."""

MOST_NOISE = 0.35
"""Nothing is emptied if the noise of the column, as a share of the records, is larger."""

LONE = 5.0
"""What a piece beyond an emptied one must exceed; of many empty cells, a few exceed three standard deviations."""


def trust_in_pieces(
    starts: Ints, sums: Floats, noise: Floats, widths: Floats, total: float, doubt: float
) -> Floats | None:
    """How much of each piece is believed, from 0 to 1; None if nothing is doubted.

    `sums` and `noise` are the noisy sums of the pieces and their variances, `widths` those of all cells. A piece is far
    if its middle is farther from the span of all strong pieces than this span is long. A span of one value is no place
    where records are: beyond a frequent value comes the rest of the column.
    """
    strong = np.flatnonzero(sums > STRONG * np.sqrt(noise))
    if not len(strong) or np.sqrt(noise.sum()) > MOST_NOISE * total:
        return None
    place = np.concatenate([[0.0], np.cumsum(widths)])
    first, last = place[starts], place[np.append(starts[1:], len(widths))]
    low, high = first[strong[0]], last[strong[-1]]
    if high - low <= 1:
        return None
    middle = (first + last) / 2
    far = (middle > high + (high - low)) | (middle < low - (high - low))
    positive = np.where(sums > 0, sums, np.inf)
    trust = np.where(far & (sums <= 0), 0.0, np.where(far, np.maximum(0.0, 1 - doubt**2 * noise / positive**2), 1.0))
    return _without_lone(trust, far, sums / np.sqrt(noise))


def _without_lone(trust: Floats, far: Bools, clear: Floats) -> Floats:
    """The trust without pieces that lie beyond an emptied one, unless they are clear."""
    kept, near = trust.copy(), np.flatnonzero(~far)
    for outward in (range(int(near[-1]) + 1, len(trust)), range(int(near[0]) - 1, -1, -1)):
        emptied = False
        for piece in outward:
            if emptied and clear[piece] < LONE:
                kept[piece] = 0.0
            emptied = emptied or bool(kept[piece] == 0)
    return kept

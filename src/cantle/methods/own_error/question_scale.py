"""The public scale of a counting question: how large its error may be beside the errors of other questions.

If the connection of two columns is wrong by a strength phi, each cell of the table of two conditions is off by
n phi sqrt(p (1 - p) q (1 - q)), where p and q are the shares of the conditions: small cells as much as large ones. A
count of three columns is off about in proportion to sqrt(c (1 - c)), where c is its own share, and a count of one
column falls more slowly with c. A measured error is stated for questions of scale LARGE, and other questions get their
part of it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cantle.trusted.core.arrays import Floats, Ints

LARGE = 0.3
"""The scale of a question about a tenth of the records, sqrt(.1 * .9)."""

OF_SINGLES = 0.7
"""The part of sqrt(c (1 - c)) that a question about two columns has at least, for the errors of single columns."""

OF_PAIRS = 0.5
"""The part of the scale of its two rarest conditions that a question about three columns has at least."""

SMALLEST_SHARE, SMALLEST_REFERENCE = 0.005, 0.02


def spread(shares: Floats) -> Floats:
    """p (1 - p) of shares, which are cut at half a percent from both ends."""
    p = np.clip(shares, SMALLEST_SHARE, 1 - SMALLEST_SHARE)
    return np.asarray(p * (1 - p))


def scale_of(whole: Floats, parts: Sequence[Floats]) -> Floats:
    """The scale of questions with the share `whole`, whose conditions on single columns have the shares `parts`.

    >>> tenth = np.array(0.1)
    >>> [round(float(scale_of(tenth**n, [tenth] * n)), 3) for n in (1, 2)]
    [0.3, 0.18]
    """
    own = np.sqrt(spread(whole))
    if len(parts) < 2:  # small groups lie in parts of few cells, where errors fall more slowly
        return np.minimum(LARGE, np.sqrt(LARGE * own))
    rarest = np.sort([spread(part) for part in parts], axis=0)[:2]
    tied = 2 * np.sqrt(rarest[0] * rarest[1])
    return np.maximum(own, OF_PAIRS * tied) if len(parts) > 2 else np.maximum(OF_SINGLES * own, tied)


def largest_spread(times: Ints, *, ordered: bool) -> float:
    """The largest p (1 - p) of a condition on one column, given how often each of its values occurs, in their order:
    one value of a category, or all values below a bound."""
    every = np.cumsum(times)[:-1] if ordered else times
    total = max(1, int(times.sum()))
    return float(spread(every / total).max(initial=SMALLEST_SHARE * (1 - SMALLEST_SHARE)))


def reference(one: float, other: float) -> float:
    """The scale for which the error of a pair of columns is stated, from the largest spread of each: LARGE, or less if
    no question about them has that scale."""
    return max(SMALLEST_REFERENCE, min(LARGE, 2 * (one * other) ** 0.5))

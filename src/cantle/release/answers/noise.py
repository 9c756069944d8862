"""The noise in the counts that the released records of a question were drawn from.

If the release did not measure its own error, this is all that an interval covers. Drawing records from noisy counts
adds an error of its own, which is not included.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cantle.drawing.counts import variance
from cantle.drawing.tree import Leaves
from cantle.release.answers.estimates import Noise
from cantle.schema.code_sets import Box, Question, hull
from cantle.schema.domain import Domain
from cantle.trusted.core.arrays import Codes, Floats, Ints

if TYPE_CHECKING:
    import polars as pl

Share = Callable[[Box], float]
"""The share of the released records in a box (codes per column) for which a question holds."""


def sum_of(noises: Iterable[Noise]) -> Noise:
    total = Noise(0.0, 0.0)
    for noise in noises:
        total += noise
    return total


def variances(groups: pl.DataFrame) -> Floats:
    """The variance of the noise in each row."""
    return variance(groups["rate_num"].to_numpy() / groups["rate_den"].to_numpy())


@dataclass(frozen=True, eq=False)
class Regions:
    """Boxes of codes with a noisy count each: spans first .. end per column, and the variance of the noise."""

    columns: Sequence[str]
    first: Codes
    end: Codes
    variance: Floats

    def noise(self, question: Question) -> Noise:
        """The noise in an answer: each count is weighted by the part of its box for which the question holds."""
        weight = np.ones(len(self.variance))
        for key, codes in hull(question).items():
            if key in self.columns:
                at = self.columns.index(str(key))
                weight *= codes.share(self.first[:, at], self.end[:, at])
        spread = weight**2 * self.variance
        return Noise(float(spread.sum()), float(3 * (spread**2).sum()))


def regions_of(domain: Domain, leaves: Leaves) -> Regions:
    """The leaves of a tree, each class by itself. Leaves that were not counted have no noise."""
    first, end = (
        side_by_side([a.places(part[:, j]) for j, a in enumerate(domain.attributes)], len(part))
        for part in (leaves.lo, leaves.hi)
    )
    names = [attribute.name for attribute in domain.attributes]
    spread = variance(leaves.rate_num / leaves.rate_den) if len(leaves.rate_num) else np.zeros(len(first))
    if domain.target is None:
        return Regions(names, first, end, spread)
    classes = domain.target.size
    label = np.tile(np.arange(classes), len(first))[:, None]
    first, end = (np.repeat(part, classes, axis=0) for part in (first, end))
    joined = np.hstack([first, label]), np.hstack([end, label + 1])
    return Regions([*names, domain.target.name], *joined, np.repeat(spread, classes))


def side_by_side(columns: list[Ints], rows: int) -> Ints:
    """The columns of an array with so many rows; there is none if the target is the only column of the table."""
    return np.array(columns, dtype=np.int64).reshape(len(columns), rows).T

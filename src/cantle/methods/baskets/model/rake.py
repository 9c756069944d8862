"""Weights for the records of a pool that agree with what was measured. Post-processing.

A feature is a set of records of the pool with a target. For one feature after the other, the weights of its records are
multiplied so that the sum of weight times part comes near the target; the part is that with which a record of this size
counts (item_partitions.py), so that sums and targets have the same scale. `smooth` keeps features below the noise from
changing much.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from cantle.drawing.counts import Floats
from cantle.trusted.core.arrays import Codes
from cantle.trusted.geometry.boxes import Ints

SWEEPS, LAST = 15, 3
"""Number of sweeps over all features, and then of sweeps without pairs."""


@dataclass(frozen=True, eq=False)
class Features:
    """Features of one family: records of feature f are rows[starts[f]:starts[f + 1]]."""

    starts: Ints
    rows: npt.NDArray[np.int32]
    target: Floats
    part: Floats
    smooth: float
    step: tuple[float, float]

    @cached_property
    def row_parts(self) -> Floats:
        """The part of each row, in the order of `rows`."""
        return self.part[self.rows]

    @cached_property
    def occupied(self) -> list[tuple[npt.NDArray[np.int32], Floats, float]]:
        """Records, their parts, and target plus smoothing of each feature that has records."""
        ends = self.starts.tolist()
        spans = [(f, slice(ends[f], ends[f + 1])) for f in np.flatnonzero(np.diff(self.starts)).tolist()]
        wanted = (self.target + self.smooth).tolist()
        return [(self.rows[span], self.row_parts[span], wanted[f]) for f, span in spans]


def postings(feature: Codes, rows: npt.NDArray[np.int32], number: int) -> tuple[Ints, npt.NDArray[np.int32]]:
    """Occurrences (feature, row) as a ragged table by feature; rows stay in order."""
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(feature, minlength=number))])
    return starts, rows[np.argsort(feature, kind="stable")]


def rake(
    weights: Floats, pairs: list[Features], others: list[Features], cap: float, *, compiled: bool = False
) -> Floats:
    """The weights after all sweeps; none exceeds `cap`."""
    weights = weights.copy()
    for sweep in range(SWEEPS + LAST):
        for features in [*pairs, *others] if sweep < SWEEPS else others:
            _sweep(weights, features, cap, compiled=compiled)
    return weights


def _sweep(weights: Floats, features: Features, cap: float, *, compiled: bool) -> None:
    if compiled:
        from cantle.methods.baskets.model import _kernels

        f = features
        _kernels.sweep(weights, f.starts, f.rows, f.target, f.row_parts, f.smooth, *f.step, cap)
    else:
        plain_sweep(weights, features, cap)


def plain_sweep(weights: Floats, features: Features, cap: float) -> None:
    """One pass over the features, in place. Sums are taken in order (cumsum), as in the compiled form."""
    low, high = features.step
    for rows, parts, wanted in features.occupied:
        mine = weights[rows]
        factor = wanted / ((mine * parts).cumsum()[-1] + features.smooth)
        weights[rows] = np.minimum(mine * min(max(factor, low), high), cap)

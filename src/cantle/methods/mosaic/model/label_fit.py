"""Least squares behind the label model: effects of cells, fitted to noisy tables instead of records.

A block is one noisy table with the target, seen as a partition of the drafted records. Each cell's misfit is weighted
by its own noise, which avoids the overfitting of raking.

Its matrices have the form: a diagonal plus, for each row u of `vectors`, a factor times u u^T. Their inverses are the
same on every machine, unlike those of numpy's linear algebra (see `sums`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from cantle.drawing.counts import Floats, dot, each_dot, mix
from cantle.trusted.core.arrays import Codes
from cantle.trusted.geometry.boxes import Ints


@dataclass(frozen=True, eq=False)
class LowRank:
    diagonal: Floats
    vectors: Floats  # one row for each term
    factors: Floats

    def plus(self, diagonal: Floats) -> LowRank:
        return LowRank(self.diagonal + diagonal, self.vectors, self.factors)

    def apply(self, vector: Floats) -> Floats:
        """The matrix times a vector."""
        if not len(self.factors):
            return self.diagonal * vector
        inner = self.factors * each_dot(self.vectors, vector)
        return self.diagonal * vector + mix(inner, self.vectors)

    def inverse(self) -> LowRank:
        """The inverse, which has the same form: by the formula of Sherman and Morrison, one term after the other."""
        inverse, vectors, factors = 1 / self.diagonal, np.zeros_like(self.vectors), np.zeros_like(self.factors)
        for done, (vector, factor) in enumerate(zip(self.vectors, self.factors, strict=True)):
            vectors[done] = LowRank(inverse, vectors[:done], factors[:done]).apply(vector)
            factors[done] = -factor / (1 + factor * dot(vector, vectors[done]))
        return LowRank(inverse, vectors, factors)


INNER, TOLERANCE = 6, 1e-3
"""Conjugate-gradient steps for each change of a class, and their tolerance."""

COLUMN_LEVELS = ((2, 1.0), (4, 0.5), (8, 0.25))
COLUMN_CELLS = 0.125
"""Prior variances of a column's effects at 2, 4 and 8 groups and at its cells."""

JOINT = 0.3
"""Prior variance of the effects of the cells of a chosen set and of the leaves of the label tree."""

_INTERCEPT = 100.0


Curve = Callable[[float, Floats], tuple[float, Floats]]
"""The curvature of the misfit along a direction: of the intercept, and of the effects."""


class Sums(Protocol):
    """The two sums over records, which take most of the time: the functions below, or their compiled twins."""

    def gather(self, effects: Floats, rows: Codes) -> Floats:
        """For each record the sum of the effects of its cells."""

    def scatter(self, values: Floats, rows: Codes, cells: int) -> Floats:
        """For each cell the sum of its records' values."""


@dataclass(frozen=True, eq=False)
class Block:
    """One partition of the records with noisy counts of all classes.

    `levels` are coarser groupings of its cells with the prior variances of their effects; `own` is the prior variance
    of the cells' own effects.
    """

    rows: Codes  # the cell of each drafted record
    counts: Floats  # (cells, classes)
    noise: float
    levels: tuple[tuple[Ints, float], ...]
    own: float

    @property
    def cells(self) -> int:
        return len(self.counts)


def stack(rows: Sequence[Codes], starts: Ints) -> Codes:
    """Cells of records, one row per block, numbered across blocks."""
    stacked = np.empty((len(rows), len(rows[0])), dtype=np.uint32)
    for number, row in enumerate(rows):
        np.add(row, np.uint32(starts[number]), out=stacked[number], casting="unsafe")
    return stacked


class Problem:
    """Linearised least squares in the effects, solved by conjugate gradients preconditioned block by block."""

    def __init__(self, blocks: Sequence[Block], sums: Sums) -> None:
        self.sums = sums
        self.starts = np.concatenate([[0], np.cumsum([b.cells for b in blocks])]).astype(np.int64)
        self.cells = int(self.starts[-1])
        self.rows = stack([b.rows for b in blocks], self.starts)
        self.counts = np.concatenate([b.counts for b in blocks])
        self.noise = np.concatenate([np.full(b.cells, b.noise) for b in blocks])
        self.members = np.bincount(self.rows.ravel(), minlength=self.cells).astype(np.float64)
        self.total = np.maximum(self.counts.sum(axis=1), 0.0)
        self.precision = [_covariance(block).inverse() for block in blocks]

    def move(
        self, p: Floats, ones: Floats, others: Floats, at: tuple[float, Floats], classes: int
    ) -> tuple[float, Floats]:
        """The change of the intercept and the effects of one class, given its probabilities and counts, and the counts
        of all other classes together: a Gauss-Newton step."""
        intercept, effects = at
        known = self.members > 0
        members = np.where(known, self.members, 1.0)
        mean = self.sums.scatter(p, self.rows, self.cells) / members
        miss = ones * (1 - mean) - others * mean
        spread = self.noise * ((classes - 1) * mean**2 + (1 - mean) ** 2) + self.total * mean * (1 - mean)
        weight = np.where(known, 1 / np.maximum(spread, 1e-9), 0.0)
        slope = np.where(known, self.total / members, 0.0)
        change = p * (1 - p)
        reach = slope * self.sums.scatter(change, self.rows, self.cells)
        near = self._inverses(weight * reach**2)
        near_shift = 1 / (dot(weight, reach**2) + 1 / _INTERCEPT)

        def curve(shift: float, direction: Floats) -> tuple[float, Floats]:
            moved = change * (shift + self.sums.gather(direction, self.rows))
            cells = weight * slope**2 * self.sums.scatter(moved, self.rows, self.cells)
            pulled = change * self.sums.gather(cells, self.rows)
            bent = self.sums.scatter(pulled, self.rows, self.cells) + _apply(self.precision, direction, self.starts)
            return float(pulled.sum()) + shift / _INTERCEPT, bent

        pulled = change * self.sums.gather(weight * slope * miss, self.rows)
        rest0 = float(pulled.sum()) - intercept / _INTERCEPT
        rest = self.sums.scatter(pulled, self.rows, self.cells) - _apply(self.precision, effects, self.starts)
        return self._solve(rest0, rest, curve, (near_shift, near))

    def _solve(
        self, rest0: float, rest: Floats, curve: Curve, preconditioner: tuple[float, list[LowRank]]
    ) -> tuple[float, Floats]:
        """The step for which the gradient `rest` vanishes, by preconditioned conjugate gradients."""
        near0, near = preconditioner
        shift, move = 0.0, np.zeros(self.cells)
        z0, z = near0 * rest0, _apply(near, rest, self.starts)
        p0, p = z0, z
        size = first = rest0 * z0 + dot(rest, z)
        for _ in range(INNER):
            if size <= TOLERANCE * first or size <= 1e-12:
                break
            bent0, bent = curve(p0, p)
            length = size / (p0 * bent0 + dot(p, bent))
            shift, move = shift + length * p0, move + length * p
            rest0, rest = rest0 - length * bent0, rest - length * bent
            z0, z = near0 * rest0, _apply(near, rest, self.starts)
            grown = rest0 * z0 + dot(rest, z)
            p0, p = z0 + grown / size * p0, z + grown / size * p
            size = grown
        return shift, move

    def _inverses(self, diagonal: Floats) -> list[LowRank]:
        """For each block the inverse of its own part of the curvature."""
        parts = np.split(diagonal, self.starts[1:-1])
        return [precision.plus(part).inverse() for precision, part in zip(self.precision, parts, strict=True)]


def _covariance(block: Block) -> LowRank:
    """The prior covariance of a block's effects."""
    members = [np.zeros((0, block.cells))]
    variances = [np.zeros(0)]
    for grouping, variance in block.levels:
        of_group = (np.unique(grouping)[:, None] == grouping).astype(np.float64)
        members.append(of_group)
        variances.append(np.full(len(of_group), variance))
    return LowRank(np.full(block.cells, block.own), np.concatenate(members), np.concatenate(variances))


def _apply(matrices: Sequence[LowRank], vector: Floats, starts: Ints) -> Floats:
    """A block-diagonal matrix times a vector."""
    parts = np.split(vector, starts[1:-1])
    return np.concatenate([matrix.apply(part) for matrix, part in zip(matrices, parts, strict=True)])


def gather(effects: Floats, rows: Codes) -> Floats:
    """For each record the sum of the effects of its cells, block after block."""
    total = effects[rows[0]]
    for row in rows[1:]:
        total = total + effects[row]
    return total


def scatter(values: Floats, rows: Codes, cells: int) -> Floats:
    """For each cell the sum of its records' values."""
    return np.bincount(rows.ravel(), np.tile(values, len(rows)), minlength=cells).astype(np.float64)

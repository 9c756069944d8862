"""Record generation column by column (GENERATE): plain numpy, the specification of the compiled kernels.

Every column is drawn from a log-linear regression on the columns drawn before it, whose sufficient statistics are the
noisy tables. The same sums are taken in the same order here and in the kernels, so both draw the same records.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from cantle._arrays import Codes
from cantle.postprocess.counts import Floats
from cantle.trusted.geometry.boxes import Ints

CHUNK = 1 << 15


class Regression(Protocol):
    """The three steps over records that take the time: those below, or their compiled twins."""

    def rake(
        self,
        rows: Floats,
        index: Codes,
        groups: Codes,
        goals: Floats,
        starts: Ints,
        widths: Ints,
        factors: Floats,
        order: Ints,
    ) -> None:
        """Fits the rows to the goals of the tables."""

    def draw(self, first: Floats, lead: Codes, factors: Floats, index: Codes, uniforms: Floats) -> Codes:
        """A group for each record."""

    def stratified(self, keys: Codes, strata: int, shuffle: Codes, jitter: Floats) -> Floats:
        """Uniform numbers spread evenly among records of equal key."""


def rake(
    rows: Floats, index: Codes, groups: Codes, goals: Floats, starts: Ints, widths: Ints, factors: Floats, order: Ints
) -> None:
    """Fits the rows (records x refined groups, each summing to 1) to the goals, one table after the other.

    Table t: record u is in row `index[t, u]`, refined group r in group `groups[t, r]` of `widths[t]`; its goal is
    goals[starts[t] : starts[t+1]] as (table rows, width). `factors[t]` (table rows x refined groups) takes the product
    of all corrections. `order` lists the tables to fit.
    """
    for table in order.tolist():
        goal = goals[starts[table] : starts[table + 1]].reshape(-1, widths[table])
        correction = _correction(rows, index[table], groups[table], goal)
        factors[table, : len(goal)] *= correction
        rows *= correction[index[table]]
        rows *= (1.0 / _row_sums(rows))[:, None]


def _correction(rows: Floats, index: Codes, groups: Codes, goal: Floats) -> Floats:
    refined = rows.shape[1]
    cells = (index.astype(np.int64)[:, None] * refined + np.arange(refined)).ravel()
    mass: Floats = np.bincount(cells, rows.ravel(), len(goal) * refined).reshape(len(goal), refined).astype(np.float64)
    total = _row_sums(mass)
    grouped = np.zeros(goal.shape)
    for r in range(refined):
        grouped[:, groups[r]] += mass[:, r]
    known = grouped > 0
    ratio = np.where(known, goal * total[:, None] / np.where(known, grouped, 1.0), 1.0)
    return ratio[:, groups]


def _row_sums(rows: Floats) -> Floats:
    """Sums from left to right; numpy's own would add in another order than a loop does. Empty rows give 1."""
    total = rows[:, 0].copy()
    for r in range(1, rows.shape[1]):
        total += rows[:, r]
    total[total <= 0] = 1.0
    return total


def draw(first: Floats, lead: Codes, factors: Floats, index: Codes, uniforms: Floats) -> Codes:
    """For each record a group, from first[lead] times the factors[f][index[f]] of its parents, by a uniform number."""
    drawn: Codes = np.empty(len(uniforms), dtype=np.min_scalar_type(first.shape[1] - 1))
    for begin in range(0, len(uniforms), CHUNK):
        part = slice(begin, begin + CHUNK)
        weights = first[lead[part]]
        for number in range(len(index)):
            weights = weights * factors[number][index[number, part]]
        running = np.cumsum(weights, axis=1)
        bar = uniforms[part] * running[:, -1]
        drawn[part] = (running[:, :-1] <= bar[:, None]).sum(axis=1)
    return drawn


def stratified(keys: Codes, strata: int, shuffle: Codes, jitter: Floats) -> Floats:
    """Uniform numbers spread evenly among records of equal key: (rank + jitter) / size, ranks in shuffled order."""
    mixed = keys[shuffle]
    order = np.argsort(mixed.astype(np.uint16) if strata <= 1 << 16 else mixed, kind="stable")
    sizes = np.bincount(keys, minlength=strata)
    begins = np.cumsum(sizes) - sizes
    ranks = np.empty(len(keys))
    ranks[shuffle[order]] = np.arange(len(keys)) - begins[mixed[order]]
    return (ranks + jitter) / sizes[keys]

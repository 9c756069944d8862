"""One fine table of two columns from noisy ones at nested groups: averaged upwards, made non-negative downwards.

Going down, the counts inside each coarser group are projected onto those that are not negative and have its sum. So a
coarse group that is known to be empty stays empty, and the positive noise of many empty fine cells does not add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cantle.drawing.counts import Floats
from cantle.drawing.smooth import project_runs
from cantle.methods.mosaic.model.groupings import MOST_GROUPS, Groupings
from cantle.methods.mosaic.model.noisy_tables import NoisyTable, coarser
from cantle.trusted.geometry.boxes import Ints

Pair = tuple[Groupings, Groupings]
Sides = tuple[Floats, Floats]
"""The estimated numbers of records in the finest groups of both columns."""

STEPS = 16, 4, 1
"""How many times fewer groups per column each noisy table has than the finest one."""

STANDS_OUT = 0.08
"""The share of the records that the finest groups of a pair must move, beyond noise, for it to be measured more finely.
Smooth pairs of numbers moved at most .05 on generated tables; places and close pairs .13 and more."""

WORTH = 0.01
"""The same for all groups that are finer than those of other tables; below it their counts tell only noise."""

_DOUBT = 1.5
_SWEEPS = 20
_LEFT = 0.25
"""The variance that is left in a fine count once it is projected, as a share of its noise."""

_TINY = 1e-12


def steps_below(groups: tuple[int, int], pair: Pair) -> list[tuple[int, int]]:
    """The numbers of groups of the noisy tables, coarsest first."""
    return [(pair[0].at_most(max(2, groups[0] // by)), pair[1].at_most(max(2, groups[1] // by))) for by in STEPS]


def steps_between(few: tuple[int, ...], finest: tuple[int, int], pair: Pair) -> list[tuple[int, int]]:
    """The same beyond the `few` groups that a pair was measured in."""
    first, second = (max(least, one.at_most(most // 4)) for one, least, most in zip(pair, few, finest, strict=True))
    return [step for step in ((first, second), finest) if step != few]


def stands_out(table: NoisyTable, pair: Pair, total: float, sides: Sides) -> bool:
    """Whether the finest counts of a table place many records elsewhere than its coarser ones would: then still finer
    counts may do so too."""
    ladder = _ladder([(table.groups[0], table.groups[1])], pair)
    _, moved = _downwards(_upwards([table], ladder, pair), ladder, pair, total, sides)
    return moved[-1] > STANDS_OUT


def combined(measured: Sequence[NoisyTable], pair: Pair, total: float, sides: Sides) -> NoisyTable:
    """The finest table, settled; or an ordinary one at few groups, if the finest counts tell nothing beyond their
    noise."""
    ladder = _ladder([(table.groups[0], table.groups[1]) for table in measured], pair)
    levels = _upwards(measured, ladder, pair)
    finest, moved = _downwards(levels, ladder, pair, total, sides)
    fine = measured[-1]
    few = max(few_groups(fine, pair))
    if sum(part for part, groups in zip(moved, ladder[1:], strict=True) if max(groups) > few) < WORTH:
        return _averaged([coarser(table, few_groups(table, pair), pair) for table in measured])
    return NoisyTable(fine.columns, fine.groups, _agreeing(finest, sides), fine.variance * _LEFT, settled=True)


def few_groups(table: NoisyTable, groupings: Sequence[Groupings]) -> tuple[int, ...]:
    """At most as many groups of a table's columns as tables are chosen with; `groupings` are those of its columns."""
    return tuple(one.at_most(min(MOST_GROUPS, number)) for one, number in zip(groupings, table.groups, strict=True))


def _averaged(tables: Sequence[NoisyTable]) -> NoisyTable:
    """The mean of the tables that have as many groups as the last one, by inverse variance."""
    last = tables[-1]
    equal = [table for table in tables if table.groups == last.groups]
    weights = np.array([1 / table.variance for table in equal])
    counts = sum(weight * table.counts for weight, table in zip(weights.tolist(), equal, strict=True))
    return replace(last, counts=counts / weights.sum(), variance=1 / float(weights.sum()))


def _ladder(measured: Sequence[tuple[int, int]], pair: Pair) -> list[tuple[int, int]]:
    """Nested numbers of groups, from one group over those measured to the finest; each column about doubles."""
    steps = [measured[-1]]
    for goal in [*measured[-2::-1], (1, 1)]:
        while steps[-1] != goal:
            first, second = (
                max(least, one.at_most(max(1, groups // 2)))
                for one, groups, least in zip(pair, steps[-1], goal, strict=True)
            )
            steps.append((first, second))
    return steps[::-1]


def _upwards(
    measured: Sequence[NoisyTable], ladder: Sequence[tuple[int, int]], pair: Pair
) -> list[tuple[Floats, Floats]]:
    """Counts and noise variances at every step of the ladder: sums of finer counts, averaged with what was measured."""
    known = {table.groups: table for table in measured}
    below, noise = measured[-1].counts, np.full(measured[-1].groups, measured[-1].variance)
    levels = [(below, noise)]
    for fine, coarse in zip(ladder[:0:-1], ladder[-2::-1], strict=True):
        starts = [one.coarse_starts(a, b) for one, a, b in zip(pair, fine, coarse, strict=True)]
        below, noise = (np.add.reduceat(np.add.reduceat(x, starts[0], 0), starts[1], 1) for x in (below, noise))
        if coarse in known:
            table = known[coarse]
            weight = noise / (noise + table.variance)
            below, noise = weight * table.counts + (1 - weight) * below, weight * table.variance
        levels.append((below, noise))
    return levels[::-1]


def _downwards(
    levels: Sequence[tuple[Floats, Floats]], ladder: Sequence[tuple[int, int]], pair: Pair, total: float, sides: Sides
) -> tuple[Floats, list[float]]:
    """Non-negative counts of the finest step that sum to `total`, and the share of the records that each step moves,
    beyond its noise."""
    now, moved = np.full((1, 1), total), list[float]()
    for coarse, fine, (counts, noise) in zip(ladder, ladder[1:], levels[1:], strict=False):
        groups = [one.coarsen(a, b) for one, a, b in zip(pair, fine, coarse, strict=True)]
        parent = (groups[0][:, None] * coarse[1] + groups[1][None, :]).ravel()
        order = np.argsort(parent, kind="stable")
        starts = np.flatnonzero(np.diff(parent[order], prepend=-1))
        rows, columns = (
            np.add.reduceat(side, one.coarse_starts(len(side), number))
            for side, one, number in zip(sides, pair, fine, strict=True)
        )
        apart = np.maximum(rows[:, None] * columns[None, :], _TINY).ravel()[order]
        believed, records = _believed(counts.ravel()[order], noise.ravel()[order], apart, starts, now.ravel())
        moved.append(records / total)
        inside = np.empty(len(order))
        inside[order] = project_runs(believed, starts, now.ravel())
        now = inside.reshape(fine)
    return now, moved


def _believed(counts: Floats, noise: Floats, apart: Floats, starts: Ints, totals: Floats) -> tuple[Floats, float]:
    """Counts between those of independent columns inside each coarser group and the noisy ones: closer to the latter
    if these stand out of their noise, in the group or at this step as a whole; and how many records the step moves."""
    many = np.diff(np.append(starts, len(counts)))
    model = apart * np.repeat(totals / np.add.reduceat(apart, starts), many)
    counts = counts + np.repeat((totals - np.add.reduceat(counts, starts)) / many, many)
    away = np.add.reduceat((counts - model) ** 2, starts)
    doubt = np.add.reduceat(noise, starts) * (many - 1) / many
    step = max(0.0, 1 - float(doubt.sum()) / max(float(away.sum()), _TINY))
    own = np.maximum(0.0, 1 - _DOUBT * doubt / np.maximum(away, _TINY))
    moves = np.repeat(np.maximum(own, step), many) * (counts - model)
    return model + moves, step * float(np.abs(moves).sum()) / 2


def _agreeing(counts: Floats, sides: Sides) -> Floats:
    """The counts, scaled in turn so that their sums by row and by column agree with those of the single columns."""
    for _ in range(_SWEEPS):
        counts = counts * (sides[0] / np.maximum(counts.sum(axis=1), _TINY))[:, None]
        counts = counts * (sides[1] / np.maximum(counts.sum(axis=0), _TINY))[None, :]
    return counts

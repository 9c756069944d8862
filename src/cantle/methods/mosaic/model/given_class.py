"""Distributions of a column in each class of the leading column, from one noisy class table.

The table is used first coarsely, then finely, each time only as far as it stands out of its noise. The result agrees
with the column's one-way distribution.
"""

from __future__ import annotations

import numpy as np

from cantle.drawing.counts import Floats
from cantle.drawing.sums import mix
from cantle.methods.mosaic.model.groupings import Groupings
from cantle.methods.mosaic.model.noisy_tables import NoisyTable
from cantle.methods.mosaic.model.sub_tables import LEVELS, SubTable
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.cross_tables import Map

_SWEEPS = 10
_TINY = 1e-300


def given_class(
    table: NoisyTable, one_way: Floats, shares: Floats, groupings: tuple[Groupings, ...], total: float
) -> Floats:
    """The distributions, one row per class and one column per cell.

    `table` counts (column, class); `shares` are the shares of the classes.
    """
    column, lead = table.columns
    model = np.tile(one_way, (len(shares), 1))
    done = 0
    for most in LEVELS:
        groups = groupings[column].at_most(min(most, table.groups[0]))
        if groups == done:
            continue
        done = groups
        counts, summed = table.onto((lead, column), (len(shares), groups), groupings)
        sub = SubTable((lead,), (len(shares),), groups, 1, counts, summed * table.variance)
        grouping = groupings[column].map(groups)
        starts = groupings[column].starts(groups)
        sub.believe(np.add.reduceat(model, starts, axis=1), shares * total, total)
        model = _agree(model, sub.goal, grouping, starts, one_way, shares)
    return model


def _agree(model: Floats, goal: Floats, grouping: Map, starts: Ints, one_way: Floats, shares: Floats) -> Floats:
    """Scales the model in turn to the goal for its groups in each class and to the one-way distribution."""
    for _ in range(_SWEEPS):
        now = np.add.reduceat(model, starts, axis=1)
        model = model * (goal / np.maximum(now, _TINY))[:, grouping]
        mixed = mix(shares, model)
        model = model * np.where(mixed > 0, one_way / np.maximum(mixed, _TINY), 0.0)
        model = model / np.maximum(model.sum(axis=1, keepdims=True), _TINY)
    return model

"""Replacement of drafted records that break a rule by others that do not.

Leaving records out would change the distributions that the noisy tables measured. So more records are drafted than
needed, those that obey the rules get weights that agree with the tables again, and records are drawn by weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

import numpy as np

from cantle.drawing.counts import Dice, Floats
from cantle.methods.mosaic.model.groupings import Groupings
from cantle.methods.mosaic.model.noisy_tables import NoisyTable
from cantle.trusted.core.arrays import Bools, Codes

LEAST_KEPT = 0.05
"""The smallest share of records that obey the rules with which replacements are drawn."""

_MOST_TIMES = 4
_MANY = 1 << 20
"""From this many records on, drafting as many again is enough, because their randomness no longer matters."""

_SWEEPS = 20
_MOVED = 5e-4
"""If a sweep moves a smaller share of records than this, no further sweep follows."""

_MOST_STEP = 4.0
"""The largest factor by which one step may change a weight."""


def enough(kept: Bools) -> bool:
    """Whether enough records obey the rules to replace the others."""
    return bool(kept.mean() >= LEAST_KEPT)


def more_for(kept: Bools) -> int:
    """How many more records to draft, given which of the first ones obey the rules."""
    return len(kept) * (1 if len(kept) >= _MANY else min(_MOST_TIMES, ceil(1 / float(kept.mean()))))


def drawn_again(
    cells: Sequence[Codes],
    records: int,
    one_way: Sequence[Floats],
    tables: Sequence[NoisyTable],
    groupings: Sequence[Groupings],
    total: float,
    dice: Dice,
) -> list[Codes]:
    """Draws this many records from the given ones, by weight."""
    known = [_known(cells, table, groupings, total) for table in tables]
    weights = np.full(len(cells[0]), 1 / len(cells[0]))
    known += [(part, wanted, 0.0) for part, wanted in zip(cells, one_way, strict=True)]
    for _ in range(_SWEEPS):
        if max(_agree(weights, *one) for one in known) < _MOVED:
            break
    order = np.lexsort(cells[::-1])  # equal records are neighbours, so that each kind gets its share almost exactly
    running = np.cumsum(weights[order])
    points = (np.arange(records) + dice.random()) * (running[-1] / max(1, records))
    chosen = order[np.minimum(np.searchsorted(running, points), len(running) - 1)]
    chosen = chosen[dice.permutation(records)]
    return [part[chosen] for part in cells]


def _known(
    cells: Sequence[Codes], table: NoisyTable, groupings: Sequence[Groupings], total: float
) -> tuple[Codes, Floats, float]:
    """The cell of a table that each record is in, the shares of its cells, and the noise in a share."""
    index: Codes = np.zeros(len(cells[0]), dtype=np.int64)
    for column, groups in zip(table.columns, table.groups, strict=True):
        index = index * groups + groupings[column].map(groups)[cells[column]]
    return index, table.projected(total) / total, table.variance**0.5 / total


def _agree(weights: Floats, index: Codes, wanted: Floats, noise: float) -> float:
    """Multiplies the weights, in place, so that the shares of cells that have records become those wanted; shares near
    the noise change less. Returns the share of records that this moves."""
    now = np.bincount(index, weights, minlength=len(wanted))
    there = now > 0
    goal = wanted[there] / max(float(wanted[there].sum()), 1e-300)
    step = np.ones(len(wanted))
    step[there] = np.clip((goal + noise) / (now[there] + noise), 1 / _MOST_STEP, _MOST_STEP)
    weights *= step[index]
    weights /= weights.sum()
    return float((np.abs(step - 1) * now).sum()) / 2

"""The order of numbers inside their groups.

Tables relate columns by groups of neighbouring cells. A number that is drawn inside its group by itself forgets that it
follows another one, most of all in the wide outer groups of skewed columns: long rides would have any high fare. So the
drawn cells of each group are put into an order that continues the relation between groups, as a copula of logistic
variables with the groups' correlation does. Which cells are drawn, and all counts by group, stay the same.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from cantle.drawing.counts import Dice, Floats
from cantle.methods.mosaic.model.groupings import Groupings
from cantle.methods.mosaic.model.sub_tables import SubTable
from cantle.trusted.core.arrays import Codes

WEAK = 0.2
"""A weaker correlation of groups says nothing about the order inside them that sorting would be worth."""

_MOST = 0.98
_CHANCES = 32
_TINY = 1e-12


@dataclass(frozen=True, eq=False)
class Order:
    """How a column follows one of its parents. `places` says for each cell of the parent, for each group of the column,
    and for some equally likely values of chance, where in its group a record belongs, from 0 to 1."""

    parent: int
    places: Floats

    def sort(self, drawn: Codes, keys: int, key: Codes, group: Codes, parent: Codes, dice: Dice) -> Codes:
        """The same cells of the records of each of so many keys, in the order in which they follow the parent's cells;
        records of one key are in one `group`."""
        room = (1 << 16) // keys
        fine = (self.places * (room - 1)).astype(np.uint16)
        chance = dice.integers(0, _CHANCES, len(drawn), dtype=np.uint8)
        order = key * np.uint16(room) + fine[parent, group, chance]  # 16 bits are sorted fastest
        cells = int(drawn.max(initial=0)) + 1
        wide: Codes = key.astype(np.uint16) if keys * cells <= 1 << 16 else key.astype(np.uint32)
        held: Codes = np.sort(wide * wide.dtype.type(cells) + drawn)
        placed = np.empty_like(drawn)
        placed[np.argsort(order, kind="stable")] = held % cells
        return placed


def order_of(
    tables: Sequence[SubTable],
    numbers: Collection[int],
    one_way: Sequence[Floats],
    groupings: Sequence[Groupings],
    column: int,
    refined: int,
) -> Order | None:
    """How a column follows the number that it is related to most, if there is one."""
    single = [one for one in tables if len(one.parents) == 1 and not one.settled and one.parents[0] in numbers]
    if not single or column not in numbers or refined == groupings[column].cells:
        return None
    table = max(single, key=lambda one: (one.strength, one.groups))
    (parent,), (groups,) = table.parents, table.parent_groups
    rows = np.add.reduceat(one_way[parent], groupings[parent].starts(groups))
    correlation = _correlation(rows[:, None] * table.goal)
    if abs(correlation) < WEAK:
        return None
    ends = np.cumsum(np.add.reduceat(one_way[column], groupings[column].starts(refined)))
    bounds = np.concatenate([[-np.inf], scores(ends[:-1]), [np.inf]])
    return Order(parent, _places(correlation, scores(_middles(one_way[parent])), bounds))


def _places(correlation: float, parents: Floats, bounds: Floats) -> Floats:
    """The shares of a group that are below a record, given the score of its parent's cell, the scores between which
    the group lies, and chance."""
    spread, centre = np.sqrt(1 - correlation**2), correlation * parents[:, None]
    low, high = (_shares((ends - centre) / spread)[:, :, None] for ends in (bounds[:-1], bounds[1:]))
    score = centre[:, :, None] + spread * scores(low + (high - low) * (np.arange(_CHANCES) + 0.5) / _CHANCES)
    first, last = _shares(bounds[:-1])[None, :, None], _shares(bounds[1:])[None, :, None]
    return np.clip((_shares(score) - first) / np.maximum(last - first, _TINY), 0.0, 1.0)


def scores(shares: Floats) -> Floats:
    """The value of a logistic variable below which it is with each probability."""
    inside = np.clip(shares, 1e-4, 1 - 1e-4)
    return np.log(inside / (1 - inside))


def _shares(score: Floats) -> Floats:
    return 1 / (1 + np.exp(np.clip(-score, -30.0, 30.0)))


def _middles(masses: Floats) -> Floats:
    return (np.cumsum(masses) - masses / 2) / max(float(masses.sum()), _TINY)


def _correlation(counts: Floats) -> float:
    """The correlation of the scores of rows and columns, without a row or column of most records: a frequent value says
    nothing about how the other values are related."""
    shares = np.maximum(counts, 0.0) / max(float(counts.sum()), _TINY)
    shares = shares[shares.sum(axis=1) <= 0.5][:, shares.sum(axis=0) <= 0.5]
    shares /= max(float(shares.sum()), _TINY)
    sides = [shares.sum(axis=1), shares.sum(axis=0)]
    off = [scores(_middles(side)) for side in sides]
    off = [one - float((side * one).sum()) for one, side in zip(off, sides, strict=True)]
    spread = [float((side * one**2).sum()) for one, side in zip(off, sides, strict=True)]
    found = float((shares * off[0][:, None] * off[1][None, :]).sum()) / max(spread[0] * spread[1], _TINY) ** 0.5
    return min(_MOST, max(-_MOST, found))

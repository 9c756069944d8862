"""Candidate tables of a round, of all views: pairs of columns of which one is drawn, and a few triples."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from cantle.drawing.counts import Dice
from cantle.methods.families.layout import DRAWN_VIEWS, Layout
from cantle.methods.families.model.view_fit import FamilyFit
from cantle.methods.mosaic.model.groupings import FINEST
from cantle.methods.mosaic.model.table_sets import FEWEST_GROUPS, MOST_PAIRS, Grouped, grow
from cantle.trusted.geometry.views import LATER


def candidates(fit: FamilyFit, cap: int, dice: Dice) -> list[tuple[int, Grouped]]:
    """The candidates with their views; tables that were measured already are left out."""
    found = []
    for view in DRAWN_VIEWS:
        own = fit[view]
        taken = {tuple(sorted(table.columns)) for table in own.tables}
        sizes, drawn = own.sizes, fit.layout.drawn(view)
        usable = [column for column, size in enumerate(sizes) if size >= 2]
        sets: list[tuple[int, ...]] = [pair for pair in combinations(usable, 2) if pair[1] in drawn]
        if len(sets) > MOST_PAIRS:
            sets = [sets[i] for i in np.sort(dice.choice(len(sets), MOST_PAIRS, replace=False)).tolist()]
        sets += _triples(fit.layout) if view == LATER else []
        for members in sets:
            if members not in taken and all(sizes[one] >= 2 for one in members):
                grown = grow(members, sizes, [min(size, FEWEST_GROUPS) for size in sizes], cap, FINEST)
                groups = [own.groupings[one].at_most(number) for one, number in zip(members, grown, strict=True)]
                found.append((view, (members, tuple(groups))))
    return found


def _triples(layout: Layout) -> list[tuple[int, ...]]:
    """For each column of the children: its value at the first child, the one before and the child itself; and the
    same with the number of children left instead of the first child, for the order."""
    number = len(layout.parent)
    triples: list[tuple[int, ...]] = []
    for child in range(len(layout.child)):
        triples.append((layout.first(child), layout.previous(child), layout.own(LATER, child)))
        if layout.order is not None and layout.order[0] == child:
            triples.append((number, layout.previous(child), layout.own(LATER, child)))
    return triples

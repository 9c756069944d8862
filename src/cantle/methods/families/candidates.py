"""Candidate tables of a round, of all views: pairs of columns of which one is drawn, and a few triples."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import prod

import numpy as np

from cantle.drawing.counts import Dice
from cantle.methods.families.layout import DRAWN_VIEWS, Layout
from cantle.methods.families.model.view_fit import FamilyFit
from cantle.methods.mosaic.model.groupings import MOST_GROUPS, Groupings
from cantle.methods.mosaic.model.table_sets import FEWEST_GROUPS, MOST_PAIRS, Grouped, grow
from cantle.trusted.geometry.views import LATER

FEW = 4
"""A column measured in all of its cells may stand beside one of this few groups."""


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
                found.append((view, (members, _groups(members, sizes, own.groupings, cap))))
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


def _groups(
    members: tuple[int, ...], sizes: Sequence[int], groupings: Sequence[Groupings], cap: int
) -> tuple[int, ...]:
    """As many groups as `cap` cells allow: all cells of a column where they fit, the smallest column first; of a pair
    that does not fit, the wider column in all cells beside few groups of the other."""
    least = [min(size, FEWEST_GROUPS) for size in sizes]
    grown = grow(members, sizes, least, cap)
    groups = [groupings[column].at_most(number) for column, number in zip(members, grown, strict=True)]
    for at in sorted(range(len(members)), key=lambda at: sizes[members[at]]):
        whole = sizes[members[at]]
        if groups[at] < whole and prod(groups) // groups[at] * whole <= cap and whole in groupings[members[at]].sizes:
            groups[at] = whole
    if len(members) == 2:
        wide, narrow = (0, 1) if sizes[members[0]] >= sizes[members[1]] else (1, 0)
        whole = sizes[members[wide]]
        if groups[wide] < whole and whole * min(sizes[members[narrow]], FEW) <= cap and groups[wide] <= MOST_GROUPS:
            groups[wide], groups[narrow] = whole, groupings[members[narrow]].at_most(cap // whole)
    return tuple(groups)

"""Families: parents with their children, joined by key, bounded and brought into a public order.

Claim 67. Data sets that differ in all rows of one key, in both files, differ in at most one family here. A family is
made of the rows of its own key alone: of several parent rows one stays, by the rule of Claim 40; without a parent
there is no family; of the children the first `most` stay, by the same rule; they are sorted by their own codes; and the
number of children is that of what is left. Rows that were dropped when they were encoded are dropped here like rows
that are not there, whatever other rows there are. No row number plays a part, and rows of equal codes are alike.

Two keys are one if their texts are equal (bounding/persons.py). tests/laws/test_views.py compares families of
neighbouring files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from cantle.trusted.bounding.persons import marks, person_numbers, within_bound
from cantle.trusted.core.arrays import Codes
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.views import CHILDREN, FIRST, PARENTS, FamilyDomain, stages

if TYPE_CHECKING:
    from polars import Series

Keyed = tuple["Series", list[Codes], Codes]
"""The key of each row (texts, none missing), its codes by column, and its class, which plays no part here."""


@dataclass(frozen=True)
class Order:
    """The order of the children of a family: by one column after the other, each with its code of null or -1, and
    whether larger codes come first. Null comes last either way; the rule of Claim 40 decides ties."""

    columns: tuple[tuple[int, int, bool], ...]

    def ranks(self, child: Sequence[Codes]) -> list[Codes]:
        """What to sort by, the first column first."""
        return [_rank(child[column], null, falls) for column, null, falls in self.columns]


def _rank(codes: Codes, null: int, falls: bool) -> Codes:
    wide = codes.astype(np.int64)
    return np.where(wide == null, np.int64(2**62), -wide if falls else wide)


@dataclass(frozen=True, eq=False, repr=False)
class Families:
    """Private families: the parents' codes by column, their numbers of children, and the children's codes by column,
    family after family."""

    parent: list[Codes]
    size: Ints
    child: list[Codes]

    def __repr__(self) -> str:
        return "Families(private)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("families are private and cannot be pickled")

    def view(self, view: int) -> tuple[list[Codes], Ints]:
        """The records of a view by column (FamilyDomain.sizes), family after family, and the size of each one's
        family."""
        starts = np.cumsum(self.size) - self.size
        if view == PARENTS:
            return [*self.parent, self.size], self.size
        family = np.repeat(np.arange(len(self.size)), self.size)
        position = np.arange(len(family)) - starts[family]
        if view != CHILDREN:
            here = np.flatnonzero(position == 0 if view == FIRST else position > 0)
            family, position = family[here], position[here]
        at, size = starts[family] + position, self.size[family]
        above = [column[family] for column in self.parent]
        own = [column[at] for column in self.child]
        if view in (FIRST, CHILDREN):
            return [*above, size, *own], size
        first, before = ([column[place] for column in self.child] for place in (starts[family], at - 1))
        return [*above, size - position, stages(position, size), *first, *before, *own], size


def families_of(parents: Sequence[Keyed], children: Sequence[Keyed], domain: FamilyDomain, order: Order) -> Families:
    """The families in these parts of both files; all rows of a key must be among them."""
    import polars as pl

    keys = [pl.Series(dtype=pl.String), *(part[0] for part in (*parents, *children))]
    number, above = person_numbers(pl.concat(keys)), sum(len(part[0]) for part in parents)
    parent, child = _columns(parents, len(domain.parent)), _columns(children, len(domain.child))
    of_parent, of_child = number[:above], number[above:]
    kept = np.flatnonzero(within_bound(of_parent, parent, 1))
    kept = kept[np.argsort(of_parent[kept])]
    family = np.full(int(number.max(initial=-1)) + 1, -1, dtype=np.int64)
    family[of_parent[kept]] = np.arange(len(kept))
    mine = np.where(of_child >= 0, family[of_child], -1)
    used = np.flatnonzero(within_bound(mine, child, domain.most))
    child, mine = [column[used] for column in child], mine[used]
    ties = [*child, marks(child, len(mine))]
    sorted_rows = np.lexsort((*ties, *order.ranks(child)[::-1], mine))
    size = np.bincount(mine, minlength=len(kept)).astype(np.int64)
    return Families([column[kept] for column in parent], size, [column[sorted_rows] for column in child])


def _columns(parts: Sequence[Keyed], number: int) -> list[Codes]:
    nothing = np.zeros(0, dtype=np.uint8)
    return [np.concatenate([nothing, *(codes[place] for _, codes, _ in parts)]) for place in range(number)]

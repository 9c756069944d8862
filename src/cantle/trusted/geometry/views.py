"""Views of families: tables of which one family has at most one whole record, in parts. All of this is public.

A family is one parent with its children in a public order. Four tables show it: its parent with the number of children,
its first child, each later child with the one before, and each child by itself. Every record of a family with r records
in a view counts with floor(PARTS / r) parts of one count, so that a large family counts no more than a small one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cantle.trusted.core.arrays import Codes
from cantle.trusted.geometry import item_partitions
from cantle.trusted.geometry.boxes import Ints

PARENTS, FIRST, LATER, CHILDREN = range(4)
"""The views: one record per family; per family with a child; per child after the first; per child."""

VIEWS = (PARENTS, FIRST, LATER, CHILDREN)

STAGES = 3
"""The stages of a later child: the second of two, the second of more, and every further one."""


@dataclass(frozen=True)
class FamilyDomain:
    """The numbers of codes of the parent's and of a child's columns, and the most children of a family."""

    parent: tuple[int, ...]
    child: tuple[int, ...]
    most: int

    def sizes(self, view: int) -> tuple[int, ...]:
        """The numbers of codes of the columns of a view.

        The parent's columns and the number of children come first; in LATER, the number of children left, this one
        included, with the stage. The columns of the first child, the one before and the child itself follow.
        """
        above = (*self.parent, self.most + 1)
        return (
            above,
            above + self.child,
            (*above, STAGES, *self.child, *self.child, *self.child),
            above + self.child,
        )[view]

    def records(self, view: int) -> Ints:
        """How many records a family has in a view, by its number of children."""
        sizes = np.arange(self.most + 1)
        return (np.ones_like(sizes), np.minimum(sizes, 1), np.maximum(sizes - 1, 0), sizes)[view]

    def weights(self, view: int) -> Ints:
        """The parts with which a record of a view counts, by the number of children of its family.

        All records of a family together count with at most PARTS parts in every view: a family of s children
        has 1, min(s, 1), s - 1 or s records there, each with the floor of PARTS divided by that number.
        """
        records = self.records(view)
        return np.where(records > 0, item_partitions.PARTS // np.maximum(records, 1), 0)


def view_rows(view: int, parent: Sequence[Codes], size: Ints, child: Sequence[Codes]) -> tuple[list[Codes], Ints]:
    """The records of a view by column (FamilyDomain.sizes), family after family, and the family of each, given the
    parents' codes, their numbers of children, and the children's codes in the same order of families."""
    starts, family = np.cumsum(size) - size, np.repeat(np.arange(len(size)), size)
    if view == PARENTS:
        return [*parent, size], np.arange(len(size))
    position = np.arange(len(family)) - starts[family]
    if view != CHILDREN:
        here = np.flatnonzero(position == 0 if view == FIRST else position > 0)
        family, position = family[here], position[here]
    at, own_size = starts[family] + position, size[family]
    above, own = [column[family] for column in parent], [column[at] for column in child]
    if view in (FIRST, CHILDREN):
        return [*above, own_size, *own], family
    first, before = ([column[place] for column in child] for place in (starts[family], at - 1))
    return [*above, own_size - position, stages(position, own_size), *first, *before, *own], family


def in_rank(codes: Codes, null: int, falls: bool) -> Ints:
    """What children are sorted by: the codes of a column, the largest first if it `falls`, null last either way."""
    wide = codes.astype(np.int64)
    return np.where(wide == null, np.int64(2**62), -wide if falls else wide)


def is_view(view: object) -> bool:
    return type(view) is int and view in VIEWS


def stages(position: Ints, size: Ints) -> Ints:
    """The stage of a later child, given its position (0 for the first child) and the number of children.

    >>> stages(np.array([1, 1, 2]), np.array([2, 3, 3])).tolist()
    [0, 1, 2]
    """
    return np.where(position >= 2, 2, np.where(size == 2, 0, 1))

"""Views of families: tables of which one family has at most one whole record, in parts. All of this is public.

A family is one parent with its children in a public order. Four tables show it: its parent with the number of children,
its first child, each later child with the one before, and each child by itself. Every record of a family with r records
in a view counts with floor(PARTS / r) parts of one count, so that a large family counts no more than a small one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cantle.trusted.geometry import set_parts
from cantle.trusted.geometry.boxes import Ints

PARENTS, FIRST, LATER, CHILDREN = range(4)
"""The views: one record per family; per family with a child; per child after the first; per child."""

VIEWS = (PARENTS, FIRST, LATER, CHILDREN)

STAGES = 3
"""The stages of a later child: the second of two, the second of more, and every further one."""

MOST_CHILDREN = 255


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

    def weights(self, view: int) -> Ints:
        """The parts with which a record of a view counts, by the number of children of its family.

        Claim 68. All records of a family together count with at most PARTS parts in every view: a family of s children
        has 1, min(s, 1), s - 1 or s records there, each with the floor of PARTS divided by that number.
        """
        sizes = np.arange(self.most + 1)
        records = (np.ones_like(sizes), np.minimum(sizes, 1), sizes - 1, sizes)[view]
        return np.where(records > 0, set_parts.PARTS // np.maximum(records, 1), 0)


def is_view(view: object) -> bool:
    return type(view) is int and view in VIEWS


def stages(position: Ints, size: Ints) -> Ints:
    """The stage of a later child, given its position (0 for the first child) and the number of children.

    >>> stages(np.array([1, 1, 2]), np.array([2, 3, 3])).tolist()
    [0, 1, 2]
    """
    return np.where(position >= 2, 2, np.where(size == 2, 0, 1))

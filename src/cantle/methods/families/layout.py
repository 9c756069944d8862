"""The columns of the views of families (cantle.trusted.geometry.views): which are given when children are drawn, and
which of them are the same column of the data in another role."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cantle.drawing.column_cells import Column, column_of
from cantle.schema.families import FamilySchema
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.views import FIRST, LATER, PARENTS, STAGES

DRAWN_VIEWS = (PARENTS, FIRST, LATER)
"""The views that families are drawn from; the view of all children only shapes the cells of wide columns."""

STAGE = "stage"


@dataclass(frozen=True)
class Layout:
    """The public columns of both tables, the most children, and the first column of the order, if there is one, with
    whether it falls."""

    names: tuple[str, str]
    parent: tuple[Column, ...]
    child: tuple[Column, ...]
    most: int
    number: str
    order: tuple[int, bool] | None

    @staticmethod
    def of(schema: FamilySchema) -> Layout:
        parent, child = (tuple(map(column_of, domain.attributes)) for domain in schema.domains)
        place = [one.name for one in child]
        order = [(place.index(name), falls) for name, falls in schema.order[:1]]
        return Layout(
            schema.names, parent, child, schema.max_children, schema.number_of_children, order[0] if order else None
        )

    def columns(self, view: int) -> list[Column]:
        """The columns of a view. Only those of the child itself have their own names, because its rules name these."""
        number = Column(self.number, self.most + 1, numeric=True)
        if view == PARENTS:
            return [*self.parent, number]
        above = _called(f"{self.names[0]}.", self.parent)
        if view != LATER:
            return [*above, number, *self.child]
        left = Column(f"{self.names[1]} left", self.most + 1, numeric=True)
        first, previous = (_called(f"{word} {self.names[1]}.", self.child) for word in ("first", "previous"))
        return [*above, left, Column(STAGE, STAGES), *first, *previous, *self.child]

    def edges(self, view: int, parent: Sequence[Ints], child: Sequence[Ints]) -> list[Ints]:
        """The cells of the columns of a view, from those of both tables (null included)."""
        number = np.arange(self.most + 2)
        if view == PARENTS:
            return [*parent, number]
        if view != LATER:
            return [*parent, number, *child]
        return [*parent, number, np.arange(STAGES + 1), *child, *child, *child]

    def drawn(self, view: int) -> range:
        """The columns that are drawn, given all before them."""
        end = len(self.columns(view))
        return range(0 if view == PARENTS else end - len(self.child), end)

    def first(self, child: int) -> int:
        """The column of LATER with this column of the first child."""
        return len(self.parent) + 2 + child

    def previous(self, child: int) -> int:
        """The column of LATER with this column of the child before."""
        return self.first(child) + len(self.child)

    def own(self, view: int, child: int) -> int:
        """The column of a view with this column of the child itself."""
        return self.drawn(view)[child]


def _called(prefix: str, columns: Sequence[Column]) -> list[Column]:
    return [replace(one, name=f"{prefix}{one.name}") for one in columns]

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
from typing import TYPE_CHECKING

import numpy as np

from cantle.trusted.bounding.persons import PERSON, marks, person_numbers, within_bound
from cantle.trusted.core.arrays import Codes
from cantle.trusted.core.private import Private
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.views import FamilyDomain, in_rank, view_rows

if TYPE_CHECKING:
    from polars import DataFrame, Series

CHILD = "child "
"""What the names of columns of children begin with, where rows of both files come together."""


def as_children(rows: DataFrame) -> DataFrame:
    """Rows with their keys (bounding/persons.py, `with_persons`), marked as those of children."""
    return rows.rename({name: f"{CHILD}{name}" for name in rows.columns if name != PERSON})


@dataclass(frozen=True)
class Order:
    """The order of the children of a family: by one column after the other, each with its code of null or -1, and
    whether larger codes come first. Null comes last either way; the rule of Claim 40 decides ties."""

    columns: tuple[tuple[int, int, bool], ...]

    def ranks(self, child: Sequence[Codes]) -> list[Codes]:
        """What to sort by, the first column first."""
        return [in_rank(child[column], null, falls) for column, null, falls in self.columns]


@dataclass(frozen=True, eq=False, repr=False)
class Families(Private):
    """Private families: the parents' codes by column, their numbers of children, and the children's codes by column,
    family after family."""

    parent: list[Codes]
    size: Ints
    child: list[Codes]

    def view(self, view: int) -> tuple[list[Codes], Ints]:
        """The records of a view by column, family after family, and the number of children of each one's family."""
        columns, family = view_rows(view, self.parent, self.size, self.child)
        return columns, self.size[family]


def is_of_children(rows: DataFrame) -> bool:
    """Whether these are rows of children."""
    return any(name.startswith(CHILD) for name in rows.columns)


def families_of(rows: Sequence[DataFrame], domain: FamilyDomain, order: Order) -> Families:
    """The families in rows of both files with their keys, those of children marked; all rows of a key must be among
    them."""
    of_children = list(map(is_of_children, rows))
    above, parent = _columns([one for one, below in zip(rows, of_children, strict=True) if not below], domain.parent)
    below, child = _columns([one for one, below in zip(rows, of_children, strict=True) if below], domain.child)
    number = person_numbers(above.append(below))
    of_parent, of_child = number[: len(number) - len(below)], number[len(number) - len(below) :]
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


def _columns(rows: Sequence[DataFrame], sizes: tuple[int, ...]) -> tuple[Series, list[Codes]]:
    """The keys of one file's rows, and their codes by column; the class plays no part."""
    import polars as pl

    if not rows:
        return pl.Series(dtype=pl.String), [np.zeros(0, dtype=np.uint8) for _ in sizes]
    keys, *columns = pl.concat(rows).get_columns()
    return keys.cast(pl.String), [column.to_numpy() for column in columns[: len(sizes)]]

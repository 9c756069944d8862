"""Noisy answers of a mosaic run as they are released, each with a public description of its cells."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypedDict

from cantle.trusted.core.arrays import Ints

FIRST = "first tables"
"""What receipts call the tables of all columns, which are measured first; the numbers of cells follow."""


NESTED = ", coarse", ", middle", ", fine"
"""What receipts add to the name of a table of two columns that is measured at three numbers of groups."""


PLACE = "place"
"""What receipts call the levels of all places; a number follows."""


SCORES = "pairs of scores"
"""What receipts call the tables of the scores of groups."""


LIST_SIZES, LIST_PAIRS, LIST_ITEMS = "sizes of lists", "pairs of items of lists", "items of lists"
LIST_TABLE = "items of lists by column"
LIST_CHOICE = "choice of a column for items of lists"
"""What receipts call the questions about lists; a number follows the one by column."""


class TreeNode(TypedDict, total=False):
    """A node of a label tree. A leaf has its number; an inner node has its column, the cells that go left, and its
    children."""

    leaf: int
    column: int
    cells: list[int]
    left: int
    right: int


class CellsOf(TypedDict, total=False):
    """A description of an answer's cells. Columns are given by their numbers, edges as codes.

    Answers about lists are about the items `of` them: counts by `sizes` from these on, or parts (with at `most` so many
    items or pairs of a record) of items, of items `by` a column, or of pairs.
    """

    columns: list[int]
    edges: list[list[int]] | list[int]
    of: list[int]
    by: list[int]
    most: int
    sizes: list[int]
    column: int
    at_least: list[int]
    origin: int
    periods: list[int]
    tree: list[TreeNode]


@dataclass(frozen=True, eq=False)
class NoisyAnswer:
    """Noisy counts as released, the rate of their noise, and of linked tables the view that they are about."""

    why: str
    cells: Ints
    noisy: Ints
    rate_num: int
    rate_den: int
    about: CellsOf = field(default_factory=CellsOf)
    view: int = 0

    @property
    def rate(self) -> tuple[int, int]:
        return self.rate_num, self.rate_den

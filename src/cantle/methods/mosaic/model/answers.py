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


LIST_SIZES, LIST_ITEMS, LIST_PAIRS, LIST_TABLE = "sizes", "items", "pairs", "table"


def of_list(number: int, what: str) -> str:
    """What receipts call a question about the list of this number.

    >>> of_list(0, LIST_SIZES)
    'list 1, sizes'
    """
    return f"list {number + 1}, {what}"


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

    Answers about a list are about the items `of` it: counts by size, or parts (with at most so many items or pairs of a
    record) of items, of items `by` a column, or of pairs.
    """

    columns: list[int]
    edges: list[list[int]] | list[int]
    of: list[int]
    by: list[int]
    most: int
    column: int
    at_least: list[int]
    origin: int
    periods: list[int]
    tree: list[TreeNode]


@dataclass(frozen=True, eq=False)
class NoisyAnswer:
    """Noisy counts as released, and the rate of their noise."""

    why: str
    cells: Ints
    noisy: Ints
    rate_num: int
    rate_den: int
    about: CellsOf = field(default_factory=CellsOf)

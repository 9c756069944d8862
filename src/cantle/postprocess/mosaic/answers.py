"""Noisy answers of a mosaic run as they are released, each with a public description of its cells."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypedDict

from cantle._arrays import Ints

FIRST = "first tables"
"""How receipts call the tables of all columns that are measured first: this, and for which numbers of cells."""


class TreeNode(TypedDict, total=False):
    """A node of a label tree: a leaf has its number; another has its column, the cells that go left, its children."""

    leaf: int
    column: int
    cells: list[int]
    left: int
    right: int


class CellsOf(TypedDict, total=False):
    """What the cells of an answer are. Columns are given by their numbers, edges as codes."""

    columns: list[int]
    edges: list[list[int]] | list[int]
    column: int
    at_least: list[int]
    group: list[int]
    origin: int
    periods: list[int]
    tree: list[TreeNode]


@dataclass(frozen=True, eq=False)
class NoisyAnswer:
    """Noisy counts as they were given, and the rate of their noise."""

    why: str
    cells: Ints
    noisy: Ints
    rate_num: int
    rate_den: int
    about: CellsOf = field(default_factory=CellsOf)

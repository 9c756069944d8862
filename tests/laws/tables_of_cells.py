"""Small tables for the laws of `mosaic`'s questions, and public shapes to ask about them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np

from cantle.trusted.counting.words import WordEngine
from cantle.trusted.geometry.cross_tables import ColumnCells, CrossTable, LabelTree
from tests.laws.strategies import word_engine

Record = tuple[int, ...]
Records = tuple[Record, ...]

SIZES = (3, 4, 2)
WITHIN = ColumnCells((np.array([0, 1, 3]), np.array([0, 1, 2, 4]), np.array([0, 1, 2])))
POINTS = list(product(*(range(size) for size in SIZES)))


def engine_of(records: Records, sizes: tuple[int, ...] = SIZES) -> WordEngine:
    codes = np.array(records, dtype=np.uint8).reshape(len(records), len(sizes))
    return word_engine(codes, np.zeros(len(records), np.uint8), sizes=sizes, class_count=1)


def all_records(most: int, points: list[Record] = POINTS) -> Iterator[Records]:
    """All multisets of up to `most` records."""
    for n in range(most + 1):
        yield from combinations_with_replacement(points, n)


def map_of(*groups: int) -> Any:
    return np.array(groups, dtype=np.uint8)


def table(*parts: tuple[int, tuple[int, ...]]) -> CrossTable:
    """A cross table from (column, group of each cell)."""
    return CrossTable(tuple(column for column, _ in parts), tuple(map_of(*groups) for _, groups in parts))


ONE = table((1, (0, 1, 2)))
PAIR = table((0, (0, 1)), (1, (0, 1, 1)))
ALL = table((2, (0, 1)), (0, (0, 1)), (1, (0, 1, 2)))
COARSE = table((0, (0, 0)), (2, (0, 1)))
TABLES = (ONE, PAIR, ALL, COARSE)


def tree() -> LabelTree:
    """A tree of three leaves: by column 0, then by column 1, where cells that are not adjacent share a leaf."""
    nothing = np.zeros(0, dtype=np.bool_)
    rules = (np.array([True, False]), nothing, np.array([True, False, True]), nothing, nothing)
    return LabelTree(
        np.array([0, -1, 1, -1, -1]),
        rules,
        np.array([1, 0, 3, 0, 0]),
        np.array([2, 0, 4, 0, 0]),
        np.array([-1, 0, -1, 2, 1]),
    )

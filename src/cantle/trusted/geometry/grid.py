"""Public geometry of columns in spans, and of generalised tables: a cut of every attribute, and the cells of their
product.

A cut is a list of spans of codes that cover the attribute in order (DiffGen's Cut_i; a taxonomy node is a span), so it
is given by its edges. A cell is one span of each attribute; cells are numbered in mixed radix, first attribute slowest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Self

import numpy as np
import numpy.typing as npt

from cantle.trusted.core.arrays import Codes
from cantle.trusted.geometry.boxes import Ints

LOOKED_UP = 1 << 22
"""Most codes for which there is a table of all codes; beyond, the span of each code is searched."""


@dataclass(frozen=True, eq=False)
class SpanValues:
    """The value of each span; spans are given by edges that ascend from 0 to the number of codes."""

    edges: Ints
    values: Codes
    table: Codes | None
    """The value of each code, unless there are too many codes."""

    @staticmethod
    def of(edges: Ints, values: Codes, kind: npt.DTypeLike) -> SpanValues:
        """These values as numbers of a type that holds them all."""
        narrow = values.astype(kind)
        return SpanValues(edges, narrow, np.repeat(narrow, np.diff(edges)) if edges[-1] <= LOOKED_UP else None)

    def at(self, codes: Codes, out: Codes | None = None) -> Codes:
        """The values of these codes, all below the last edge."""
        if self.table is not None:
            return self.table.take(codes, out=out, mode="clip")  # "clip" only saves the check
        return self.values.take(np.searchsorted(self.edges, codes, side="right") - 1, out=out, mode="clip")


MOST_CELLS = 1 << 60


def are_edges(edge: object, last: int) -> bool:
    """Whether these are edges of spans that cover the codes 0 .. last - 1 in order."""
    if type(edge) is not np.ndarray or edge.dtype != np.int64 or edge.ndim != 1 or len(edge) < 2:
        return False
    return bool(edge[0] == 0 and edge[-1] == last and (np.diff(edge) > 0).all())


@dataclass(frozen=True, eq=False)
class Spans:
    """The spans of every column; `edges[a]` ascends from 0 to the number of codes of column a."""

    edges: tuple[Ints, ...]

    def __post_init__(self) -> None:
        for edge in self.edges:
            edge.setflags(write=False)

    def copy(self) -> Self:
        """The same spans in arrays of their own."""
        return type(self)(tuple(edge.copy() for edge in self.edges))

    def same(self, other: Self) -> bool:
        """Whether the spans are equal."""
        pairs = zip(self.edges, other.edges, strict=False)
        return len(self.edges) == len(other.edges) and all(np.array_equal(a, b) for a, b in pairs)

    def cover(self, sizes: tuple[int, ...]) -> bool:
        """Whether these are spans of columns with these numbers of codes."""
        known = type(self.edges) is tuple and len(self.edges) == len(sizes)
        return known and all(map(are_edges, self.edges, sizes))

    @property
    def shape(self) -> tuple[int, ...]:
        """How many spans each column has."""
        return tuple(len(edge) - 1 for edge in self.edges)


class Grid(Spans):
    """The product of the attributes' cuts."""

    @staticmethod
    def top(sizes: tuple[int, ...]) -> Grid:
        """Every attribute in one span."""
        return Grid(tuple(np.array([0, size], dtype=np.int64) for size in sizes))

    @property
    def cells(self) -> int:
        """The number of cells, including empty ones."""
        return prod(self.shape)

    def fits(self, sizes: tuple[int, ...]) -> bool:
        """Whether these are cuts of this domain, with cells that can be numbered in 64 bits."""
        return self.cover(sizes) and self.cells <= MOST_CELLS

    def refine(self, attribute: int, points: tuple[int, ...]) -> Grid:
        """The grid with more edges on one attribute."""
        edges = list(self.edges)
        edges[attribute] = np.union1d(edges[attribute], np.array(points, dtype=np.int64))
        return Grid(tuple(edges))

    def spans(self, attribute: int) -> list[tuple[int, int]]:
        edge = self.edges[attribute].tolist()
        return list(zip(edge[:-1], edge[1:], strict=True))

    def addends(self, step: int, kind: npt.DTypeLike) -> dict[int, SpanValues]:
        """What the code of each attribute adds to cell * step; an attribute in one span adds nothing."""
        found = dict[int, SpanValues]()
        for attribute, edge in reversed(list(enumerate(self.edges))):
            if len(edge) > 2:
                found[attribute] = SpanValues.of(edge, np.arange(len(edge) - 1) * step, kind)
            step *= len(edge) - 1
        return found

    def locate(self, columns: Sequence[Codes]) -> Ints:
        """The cell of each record, given its codes by attribute."""
        cell = np.zeros(len(columns[0]) if columns else 0, dtype=np.int64)
        for attribute, values in self.addends(1, np.int64).items():
            cell += values.at(columns[attribute])
        return cell

    def unravel(self, cell: Ints) -> Ints:
        """The span number of each attribute (cells, attributes)."""
        parts = np.zeros((len(cell), len(self.edges)), dtype=np.int64)
        for a, spans in reversed(list(enumerate(self.shape))):
            cell, parts[:, a] = np.divmod(cell, spans)
        return parts

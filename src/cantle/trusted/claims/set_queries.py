"""Queries of `baskets` about sets, each with its L1 sensitivity and a proof.

All of them use every record, uncut, so only the unsplit root of an engine that cuts no record may be asked. A query is
its own key. The items or bins in a query are public: they must follow from the schema and from noisy answers.
Long records count with all their items or pairs, each with a part of one count
(cantle.trusted.geometry.item_partitions): a function of the record alone, so that neither its position nor other
records matter. tests/laws/test_set_sensitivity.py checks every bound by brute force.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from cantle.trusted.claims.queries import OncePerRecord, OneSegment, OwnKey
from cantle.trusted.core.budget import Unit
from cantle.trusted.core.keys import are_rising
from cantle.trusted.counting.base import SetsEngine
from cantle.trusted.geometry.boxes import Ints, is_int64_array
from cantle.trusted.geometry.item_partitions import MOST_COUNTED, PARTS, ItemTree, Partitions

MOST_HEAD = 10
"""Most items whose patterns are counted together: 2^10 cells."""

MOST_TOP = 4096
"""Most items whose pairs are counted."""


def _is_whole(nodes: Partitions, domain: object) -> bool:
    """Whether these regions are the unsplit root of an engine that cuts no record."""
    return type(domain) is ItemTree and len(nodes) == 1 and nodes.depth == 0 and nodes.most >= domain.size


def are_cells(listed: Ints, cells: int) -> bool:
    """Whether this is an ascending list of some of so many cells."""
    if not is_int64_array(listed, np.size(listed)) or not (np.diff(listed) > 0).all():
        return False
    return not len(listed) or bool(listed[0] >= 0 and listed[-1] < cells)


def _is_count(most: object) -> bool:
    return type(most) is int and 1 <= most <= MOST_COUNTED


@dataclass(frozen=True)
class SetSizes(OwnKey, OncePerRecord):
    """How many records have each size: bin b holds the sizes from edges[b] to below edges[b + 1], the last one all
    larger sizes too.

    Claim 50. Sensitivity 1 per record: the bins are disjoint, and a record has one size.
    """

    edges: tuple[int, ...]

    @property
    def cells(self) -> int:
        return len(self.edges)

    def fits(self, nodes: Partitions, domain: object) -> bool:
        return _is_whole(nodes, domain) and are_rising(self.edges, 1, 2**31) and self.edges[0] == 1


@dataclass(frozen=True)
class ItemSupports(OwnKey):
    """Parts of records by item, for all `items` of the universe: of t items each counts floor(PARTS min(1, most / t)).

    With `strata` the first cells are of records of at most `most` items, as many more of longer ones. With `singles`
    other cells come before these: of records of one item, which count there alone, and `most` times.

    Claim 51. Sensitivity most * PARTS per record: a record of t <= most items adds PARTS to each of t cells, a longer
    one floor(PARTS most / t) to each of t cells, which is t floor(PARTS most / t) <= PARTS most; with `singles` one of
    a single item adds PARTS most to one cell. Its size alone says in which stratum, so strata cost nothing.
    """

    items: int
    most: int
    strata: bool
    singles: bool = False

    @property
    def cells(self) -> int:
        return self.items * (1 + self.strata + self.singles)

    def fits(self, nodes: Partitions, domain: object) -> bool:
        plain = type(self.items) is int and _is_count(self.most)
        plain = plain and type(self.strata) is bool and type(self.singles) is bool
        return plain and _is_whole(nodes, domain) and isinstance(domain, ItemTree) and self.items == domain.size

    def sensitivity(self, unit: Unit) -> int:
        return self.most * PARTS * unit.max_records


@dataclass(frozen=True)
class HeadPatterns(OwnKey, OncePerRecord):
    """How many records hold exactly each set of a few listed items: bit j of a cell stands for items[j].

    Claim 52. Sensitivity 1 per record: whatever else it holds, a record has one pattern of the listed items. The list
    is public.
    """

    items: tuple[int, ...]

    @property
    def cells(self) -> int:
        return 1 << len(self.items)

    def fits(self, nodes: Partitions, domain: object) -> bool:
        if not _is_whole(nodes, domain) or not isinstance(domain, ItemTree):
            return False
        return are_rising(self.items, 0, domain.size) and len(self.items) <= MOST_HEAD


@dataclass(frozen=True, eq=False)
class PairSupports(OneSegment):
    """Parts of records by pair of listed items; the pair of places a < b in the list is cell b (b - 1) / 2 + a.

    Of a record with c pairs of listed items each counts floor(PARTS min(1, most / c)); one with more than
    LONGEST_PAIRED listed items counts none. `always` lists cells that are given whatever their noisy value (Claim 54).

    Claim 53. Sensitivity most * PARTS per record over all cells: each record adds floor(PARTS min(1, most / c)) to each
    of c cells, or nothing, and c floor(PARTS min(1, most / c)) <= PARTS most. The list is public.
    """

    kind: ClassVar[str] = "sets"
    everyone: ClassVar[bool] = True

    items: tuple[int, ...]
    most: int
    always: Ints = field(default_factory=lambda: np.zeros(0, np.int64))

    @property
    def cells(self) -> int:
        return len(self.items) * (len(self.items) - 1) // 2

    def fits(self, nodes: Partitions, domain: object) -> bool:
        if not _is_whole(nodes, domain) or not isinstance(domain, ItemTree) or not _is_count(self.most):
            return False
        listed = are_rising(self.items, 0, domain.size) and 2 <= len(self.items) <= MOST_TOP
        return listed and are_cells(self.always, self.cells)

    def occupied(self, engine: SetsEngine, positions: Ints, nodes: Partitions) -> tuple[Ints, Ints, Ints]:  # noqa: ARG002
        exact_cells, exact_counts = engine.pairs(self.items, self.most)
        return np.array([0, len(exact_cells)]), exact_cells, exact_counts

    def sensitivity(self, unit: Unit) -> int:
        return self.most * PARTS * unit.max_records


@dataclass(frozen=True, eq=False)
class SetApart:
    """A public list of cells, ascending, that leave a sparse answer and are drawn by themselves: each cell is drawn
    once, either here or there (Claim 54). The other cells are numbered anew, from 0 in their order."""

    always: Ints

    def divide(self, exact_cells: Ints, exact_counts: Ints) -> tuple[Ints, Ints, Ints]:
        """The other occupied cells by their new numbers, their counts, and the counts of the listed cells.

        >>> [one.tolist() for one in SetApart(np.array([1, 4])).divide(np.array([0, 1, 5]), np.array([7, 8, 9]))]
        [[0, 3], [7, 9], [8, 0]]
        """
        place = np.searchsorted(self.always, exact_cells)
        listed = np.append(self.always, -1)[place] == exact_cells
        exact_listed = np.zeros(len(self.always), dtype=np.int64)
        exact_listed[place[listed]] = exact_counts[listed]
        return (exact_cells - place)[~listed], exact_counts[~listed], exact_listed

    def join(self, cells: Ints, values: Ints, listed: Ints) -> tuple[Ints, Ints]:
        """All given cells by their own numbers, ascending, and their values.

        >>> made = SetApart(np.array([1, 4])).join(np.array([0, 3]), np.array([70, 90]), np.array([80, -1]))
        >>> [one.tolist() for one in made]
        [[0, 1, 4, 5], [70, 80, -1, 90]]
        """
        old = cells + np.searchsorted(self.always - np.arange(len(self.always)), cells, side="right")
        both, noisy = np.concatenate([old, self.always]), np.concatenate([values, listed])
        order = np.argsort(both, kind="stable")
        return both[order], noisy[order]


BASKET_KEYS = (SetSizes, ItemSupports, HeadPatterns)

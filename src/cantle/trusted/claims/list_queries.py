"""Questions of `mosaic` about the items of lists in a table, each with its sensitivity or range and a proof.

Long lists count with all their items or pairs, each with a part of one count (geometry/item_partitions.py): a function
of the record alone, so that neither its position nor other records matter. tests/laws/test_list_queries.py checks all
bounds by brute force.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from cantle.trusted.claims.cut_candidates import Scored
from cantle.trusted.claims.queries import OncePerRecord
from cantle.trusted.claims.table_candidates import Distance, TableSets
from cantle.trusted.core.budget import Unit
from cantle.trusted.core.keys import Domain, ItemParts, ListSizes
from cantle.trusted.counting.base import Counted, TableEngine
from cantle.trusted.geometry import item_partitions
from cantle.trusted.geometry.boxes import Frontier, Ints
from cantle.trusted.geometry.cross_tables import ColumnCells, CrossTable


@dataclass(frozen=True, eq=False)
class SizesOfLists(OncePerRecord):
    """How many records hold so many of the items, by spans of numbers that begin at `edges`.

    Claim 71. Sensitivity 1 per record: a record holds one number of these items, which are different columns, and a
    number lies in one span.
    """

    within: ColumnCells
    items: tuple[int, ...]
    edges: tuple[int, ...]

    @property
    def key(self) -> ListSizes:
        return ListSizes(self.within, self.items, self.edges)


@dataclass(frozen=True, eq=False)
class PartsOfLists:
    """Parts of records by item, or by two items, and by cell of the table `by`, every cell.

    Claim 72. Sensitivity most * PARTS per record. A record lies in one cell of `by` (Claim 41). If it holds t of the
    items, which are different columns, it adds floor(PARTS min(1, most / t)) to that cell of each of them, and
    t floor(PARTS min(1, most / t)) <= PARTS most. Likewise for its t (t - 1) / 2 pairs; one with more items than
    LONGEST_PAIRED adds nothing. How many items it holds is counted by the engine in the columns themselves.
    """

    within: ColumnCells
    items: tuple[int, ...]
    by: CrossTable
    most: int
    pairs: bool = False

    @property
    def key(self) -> ItemParts:
        return ItemParts(self.within, self.items, self.by, self.most, self.pairs)

    def sensitivity(self, unit: Unit) -> int:
        return self.most * item_partitions.PARTS * unit.max_records


@dataclass(frozen=True, eq=False)
class PartsRound:
    """The tables of parts among which one is chosen."""

    keys: tuple[ItemParts, ...]

    @property
    def tables(self) -> tuple[Any, ...]:
        return self.keys

    def fits(self, nodes: Frontier, domain: Domain) -> bool:
        known = type(self.keys) is tuple and all(type(key) is ItemParts for key in self.keys) and self.keys
        return bool(known) and all(key.fits(nodes, domain) for key in self.keys)


@dataclass(frozen=True, eq=False)
class PartSets(TableSets):
    """The tables of parts that may still be chosen (see `TableSets`); all records are scored.

    They are counted anew for every choice. Counts kept from one with a larger `most` would exceed the range: a method
    holds the round, and could change it in between.

    Claim 73. The scores have the range of `Distance`, 2, times `margin` = PARTS * most: no record adds more than
    `margin` parts to the cells of a table, and none takes any away (Claim 72). So |parts - model| summed over the cells
    moves by no more than that either way, and the public penalty not at all. With several tables the largest `most`
    counts. Not monotone. With up to 2^42 records and models that add up to less than 2^60, 64 bits hold every score.
    """

    round: PartsRound  # type: ignore[assignment]  # the tables of a round of another kind

    @property
    def margin(self) -> int:  # type: ignore[override]
        return max(key.most for key in self.round.keys) * item_partitions.PARTS

    def _scored_by(self, quality: object) -> bool:
        return type(quality) is Distance and type(self.round) is PartsRound

    def exact_scores(self, engine: Any, positions: Ints, nodes: Frontier, quality: Distance) -> Iterator[Scored]:  # noqa: ARG002
        exact_scores = quality.scores(self._counted(engine), self.models, self.penalties)[self.left]
        yield Scored(0, 1, exact_scores, np.array([0, len(self.left)], dtype=np.int64))

    def _counted(self, engine: TableEngine) -> Counted:
        """The exact counts of all tables, and where each begins."""
        whole = np.zeros(1, dtype=np.int64)
        exact_counts = [next(engine.tally(whole, key))[2][0] for key in self.round.keys]
        ends = np.cumsum([0, *map(len, exact_counts)], dtype=np.int64)
        return np.concatenate(exact_counts), ends[:-1]


LIST_CANDIDATES = (PartSets,)
LIST_QUERIES = (SizesOfLists, PartsOfLists)

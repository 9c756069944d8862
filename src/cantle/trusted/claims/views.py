"""Questions about families, each with its sensitivity or range in parts of one count, and a proof.

They are the questions of `mosaic` about one view at a time (geometry/views.py). By Claim 68 a family is, in a view, a
person with at most PARTS records of one part each, so each claim for persons of PARTS records holds for one family: the
bound that holds for one record holds PARTS times. tests/laws/test_views.py checks every bound by brute force.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np

from cantle.errors import ParameterError
from cantle.trusted.claims.cut_candidates import Scored
from cantle.trusted.claims.table_candidates import Distance, TableSets, counted
from cantle.trusted.claims.table_queries import CrossTables, Spikes
from cantle.trusted.core.budget import Unit
from cantle.trusted.core.keys import ViewCounts
from cantle.trusted.counting.base import FamiliesEngine, TableEngine
from cantle.trusted.geometry import item_partitions
from cantle.trusted.geometry.boxes import Frontier, Ints
from cantle.trusted.geometry.cross_tables import ColumnCells, CrossTable
from cantle.trusted.geometry.views import FamilyDomain, is_view


def _require_family(unit: Unit) -> None:
    if unit != Unit(1, "family"):
        raise ParameterError("questions about views have proofs for one family")


def _table(view: object, domain: object) -> Any:
    """The domain of a view as that of a table; one that nothing fits if there is no such view."""
    return (domain.sizes(cast(int, view)), 1) if type(domain) is FamilyDomain and is_view(view) else ((), 1)


@dataclass(frozen=True, eq=False)
class ViewTables(CrossTables):
    """Several tables of grouped columns of one view, in parts.

    Claim 68. Sensitivity PARTS times the number of tables: each record of a family lies in one cell of each table
    (Claim 41), and its records in the view count with at most PARTS parts together, whatever the number of children.
    """

    view: int = 0

    @property
    def key(self) -> ViewCounts:
        return ViewCounts(self.within, self.tables, view=self.view)

    def sensitivity(self, unit: Unit) -> int:
        _require_family(unit)
        return super().sensitivity(Unit(item_partitions.PARTS))


@dataclass(frozen=True)
class ViewSpikes(Spikes):
    """The values of several columns of one view that hold many parts.

    Sensitivity PARTS times the number of columns: Claim 44 for every part (Claim 68).
    """

    kind: ClassVar[str] = "families"
    view: int = 0

    def fits(self, nodes: Frontier, domain: Any) -> bool:
        return super().fits(nodes, _table(self.view, domain))

    def occupied(self, engine: Any, positions: Ints, nodes: Frontier) -> tuple[Ints, Ints, Ints]:
        return super().occupied(cast(FamiliesEngine, engine).view(self.view), positions, nodes)

    def sensitivity(self, unit: Unit) -> int:
        _require_family(unit)
        return super().sensitivity(Unit(item_partitions.PARTS))


@dataclass(frozen=True)
class PartsDistance(Distance):
    """sum over cells of |parts - model| - penalty, for tables of any view.

    Range 2 PARTS, by Claim 69. With up to 2^48 families the parts add up to less than 2^61, so 64 bits hold every score
    (Claim 45).
    """

    @property
    def range(self) -> int:
        return 2 * item_partitions.PARTS


@dataclass(frozen=True, eq=False)
class ViewRound:
    """The tables of one round, view by view."""

    keys: tuple[ViewCounts, ...]

    @staticmethod
    def of(tables: Sequence[tuple[int, ColumnCells, tuple[CrossTable, ...]]]) -> ViewRound:
        """The tables of these views, each with the cells of its columns."""
        return ViewRound(tuple(ViewCounts(within, some, view=view) for view, within, some in tables))

    @property
    def tables(self) -> tuple[Any, ...]:
        return tuple(table for key in self.keys for table in key.tables)

    def fits(self, nodes: Frontier, domain: Any) -> bool:
        known = type(self.keys) is tuple and all(type(key) is ViewCounts for key in self.keys) and self.keys
        return bool(known) and all(key.fits(nodes, domain) for key in self.keys)


@dataclass(frozen=True, eq=False)
class ViewSets(TableSets):
    """The tables of a round, of several views, that may still be chosen (see `TableSets`); all families are scored.

    Claim 69. The scores have range 2 PARTS: one family adds at most PARTS parts to the cells of a table and takes none
    away (Claim 68), so |parts - model| summed over the cells moves by at most PARTS either way, and the public penalty
    not at all. The tables of a list may be of several views: a score depends on one view only. Not monotone.

    A subset by codes and copy number would not do: the records of a family carry its number of children in
    their weight but not in all of their codes, so a record more could move the weights of the others' copies.
    """

    kind: ClassVar[str] = "families"
    round: ViewRound  # type: ignore[assignment]  # the tables of a round of another kind

    def _scored_by(self, quality: object) -> bool:
        return type(quality) is PartsDistance and type(self.round) is ViewRound

    def exact_scores(self, engine: Any, positions: Ints, nodes: Frontier, quality: Distance) -> Iterator[Scored]:  # noqa: ARG002
        families, scores, first = cast(FamiliesEngine, engine), [], 0
        for key in self.round.keys:
            here = slice(first, first + len(key.tables))
            first = here.stop
            view = families.view(key.view)
            exact_counts = view.kept(key, _counter(view, key))
            scores.append(quality.scores(exact_counts, self.models[here], self.penalties[here]))
        exact_scores = np.concatenate(scores)[self.left]
        yield Scored(0, 1, exact_scores, np.array([0, len(self.left)], dtype=np.int64))


def _counter(view: TableEngine, key: ViewCounts) -> Callable[[], tuple[Ints, Ints]]:
    return lambda: counted(view, key)


VIEW_QUERIES = (ViewTables,)
VIEW_CANDIDATES = (ViewSets,)
VIEW_QUALITIES = (PartsDistance,)

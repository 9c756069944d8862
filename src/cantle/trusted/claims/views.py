"""Questions about families, each with its sensitivity or range in parts of one count, and a proof.

They are the questions of `mosaic` about one view at a time (geometry/views.py). By Claim 68 a family is, in a view, a
person with at most PARTS records of one part each, so each claim for persons of PARTS records holds for one family: the
bound that holds for one record holds PARTS times. tests/laws/test_views.py checks every bound by brute force.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, cast

from cantle.errors import ParameterError
from cantle.trusted.claims.table_queries import CrossTables, Spikes
from cantle.trusted.core.budget import Unit
from cantle.trusted.counting.base import Counted, FamiliesEngine
from cantle.trusted.geometry import item_partitions
from cantle.trusted.geometry.boxes import Frontier, Ints
from cantle.trusted.geometry.views import FamilyDomain, is_view


def _require_family(unit: Unit) -> None:
    if unit != Unit(1, "family"):
        raise ParameterError("questions about views have proofs for one family")


def _table(view: object, domain: object) -> Any:
    """The domain of a view as that of a table; one that nothing fits if there is no such view."""
    return (domain.sizes(cast(int, view)), 1) if type(domain) is FamilyDomain and is_view(view) else ((), 1)


@dataclass(frozen=True, eq=False)
class ViewTables(CrossTables):
    """Several tables of grouped columns of one view, in parts; of all families, never of a subset.

    Claim 68. Sensitivity PARTS times the number of tables: each record of a family lies in one cell of each table
    (Claim 41), and its records in the view count with at most PARTS parts together, whatever the number of children.
    """

    view: int = 0

    def fits(self, nodes: Frontier, domain: Any) -> bool:
        return self.subset is None and super().fits(nodes, _table(self.view, domain))

    @property
    def parts(self) -> int:
        return item_partitions.PARTS

    def exact_counts(self, engine: Any) -> Counted:
        return super().exact_counts(cast(FamiliesEngine, engine).view(self.view))

    def sensitivity(self, unit: Unit) -> int:
        _require_family(unit)
        return super().sensitivity(unit)


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


VIEW_QUERIES = (ViewTables,)

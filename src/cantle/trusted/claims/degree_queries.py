"""Queries about graphs, each with its L1 sensitivity and a proof.

A key says what is counted, over degrees after projection to theta (cantle.trusted.bounding.projection) or, for one
edge, over true degrees. `listed` (public) says whether nodes without edges are known. If not, removing a node also
removes all nodes whose only edges led to it, so no question that counts nodes of degree 0 is allowed.
tests/laws/test_sensitivity.py and tests/laws/test_projection.py check every bound by brute force on small graphs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np

from cantle.errors import ParameterError
from cantle.trusted.claims.cut_candidates import Chosen, Scored
from cantle.trusted.claims.queries import OwnKey
from cantle.trusted.core.budget import Unit
from cantle.trusted.core.keys import GraphDomain
from cantle.trusted.counting.base import Engine, GraphsEngine
from cantle.trusted.geometry.boxes import Frontier, Ints

MOST_DEGREE = 2**26


def _is_bound(theta: object) -> bool:
    return type(theta) is int and 1 <= theta <= MOST_DEGREE


@dataclass(frozen=True)
class _Projected(OwnKey):
    """A question about degrees after projection to theta."""

    theta: int

    def fits(self, nodes: Frontier, domain: object) -> bool:  # noqa: ARG002
        return _is_bound(self.theta) and type(domain) is GraphDomain and domain.edges


@dataclass(frozen=True)
class KeptEdges(_Projected):
    """The number of edges that projection to theta keeps: one cell.

    Claim 31. Sensitivity theta for one node: the kept edges of the others change by (d'(v) + sum delta) / 2, between 0
    and d'(v) <= theta (cantle.trusted.bounding.projection), whether the node goes or only its edges.
    """

    cells: ClassVar[int] = 1

    def sensitivity(self, unit: Unit) -> int:
        _require(unit, "node", "node-isolate")
        return self.theta


@dataclass(frozen=True)
class AtMost(_Projected):
    """The numbers of nodes of projected degree at most k, for k = 0 .. theta; the last one is the number of nodes.

    Claim 32. Sensitivity theta + 1 for one node: it adds theta + 1 - d'(v), the others move sum |delta| <= d'(v).
    """

    @property
    def cells(self) -> int:
        return self.theta + 1

    def fits(self, nodes: Frontier, domain: object) -> bool:
        return super().fits(nodes, domain) and type(domain) is GraphDomain and domain.listed

    def sensitivity(self, unit: Unit) -> int:
        _require(unit, "node")
        return self.theta + 1


@dataclass(frozen=True)
class AtLeast(_Projected):
    """The numbers of nodes of projected degree at least k, for k = 1 .. theta.

    Claim 33. Sensitivity 2 theta for one node, also if only its edges go, and if nodes without edges are not listed: v
    moves d'(v), the others sum |delta| <= d'(v), and a node without kept edges is in none of them.
    """

    @property
    def cells(self) -> int:
        return self.theta

    def sensitivity(self, unit: Unit) -> int:
        _require(unit, "node", "node-isolate")
        return 2 * self.theta


@dataclass(frozen=True)
class Nodes(OwnKey):
    """The number of nodes.

    Claim 34. Sensitivity 1 for one node.
    """

    cells: ClassVar[int] = 1

    def fits(self, nodes: Frontier, domain: object) -> bool:  # noqa: ARG002
        return type(domain) is GraphDomain and domain.listed

    def sensitivity(self, unit: Unit) -> int:
        _require(unit, "node")
        return 1


@dataclass(frozen=True)
class SortedDegrees(OwnKey):
    """The degrees of all nodes, ascending; their number is public.

    Claim 35. Sensitivity 2 for one edge: two degrees rise by one, and sorting never increases the L1 distance.
    """

    nodes: int

    @property
    def cells(self) -> int:
        return self.nodes

    def fits(self, nodes: Frontier, domain: object) -> bool:  # noqa: ARG002
        return type(self.nodes) is int and type(domain) is GraphDomain and self.nodes == domain.nodes

    def sensitivity(self, unit: Unit) -> int:
        _require(unit, "edge")
        return 2


@dataclass(frozen=True)
class DegreesAbove(OwnKey):
    """The numbers of nodes of degree at least k, for k = 1 .. most (public).

    Claim 36. Sensitivity 2 for one edge: each of its ends passes one k.
    """

    most: int

    @property
    def cells(self) -> int:
        return self.most

    def fits(self, nodes: Frontier, domain: object) -> bool:  # noqa: ARG002
        return _is_bound(self.most) and type(domain) is GraphDomain and domain.nodes is not None

    def sensitivity(self, unit: Unit) -> int:
        _require(unit, "edge")
        return 2


GraphKey = KeptEdges | AtMost | AtLeast | Nodes | SortedDegrees | DegreesAbove
GRAPH_KEYS = (KeptEdges, AtMost, AtLeast, Nodes, SortedDegrees, DegreesAbove)


def _require(unit: Unit, *kinds: str) -> None:
    if unit.kind not in kinds:
        raise ParameterError(f"this question has no proof for the unit {unit.kind}")


SCALE = 1 << 10


@dataclass(frozen=True)
class Lag:
    """The score of a bound on degrees: how far it falls behind the best one. `Bounds` proves its range (Claim 37)."""

    @property
    def range(self) -> int:
        return 2 * (SCALE + 1)


@dataclass(frozen=True)
class Bounds:
    """Candidate bounds on degrees, each with a public penalty in edges: the cost of counting under it.

    With f_i the edges kept under theta_i and g_i = f_i - penalty_i, the score of i is -max_j (g_j - g_i) / max(theta_i,
    theta_j): how far i falls behind, in units of what one node can change.

    Claim 37. The score changes by at most 1 for one node: f_j - f_i changes by an amount in [-theta_i, theta_j]
    (Claim 31), so every quotient changes by at most 1, and so does their largest. In integers, floor(2^10 score)
    changes by at most 2^10 + 1: range 2 (2^10 + 1). Scores below -2^62 are raised to it, which increases no difference;
    whether a score fits 64 bits must not depend on the edges.
    """

    kind: ClassVar[str] = "graphs"
    everyone: ClassVar[bool] = True
    margin: ClassVar[int] = 1

    thetas: tuple[int, ...]
    penalties: tuple[int, ...]

    def fits(self, nodes: Frontier, domain: object, quality: Lag) -> bool:  # noqa: ARG002
        """Whether these are ascending bounds with whole penalties, for a graph that can be projected."""
        if type(quality) is not Lag:
            return False
        plain = type(self.thetas) is tuple and type(self.penalties) is tuple and len(self.thetas) == len(self.penalties)
        if not plain or not self.thetas or not all(_is_bound(theta) for theta in self.thetas):
            return False
        whole = all(type(p) is int and 0 <= p <= 2**60 for p in self.penalties)
        ascending = all(a < b for a, b in zip(self.thetas, self.thetas[1:], strict=False))
        return whole and ascending and type(domain) is GraphDomain and domain.edges

    def require(self, unit: Unit) -> None:
        """Refuses other units than nodes, for which there is no proof."""
        _require(unit, "node", "node-isolate")

    def exact_scores(self, engine: GraphsEngine, positions: Ints, nodes: Frontier, quality: Lag) -> Iterator[Scored]:  # noqa: ARG002
        scores = np.array(self.scores([engine.kept(theta) for theta in self.thetas]), dtype=np.int64)
        yield Scored(0, 1, scores, np.array([0, len(scores)]))

    def answer(self, nodes: Frontier, chosen: Sequence[Chosen[Scored]]) -> int:  # noqa: ARG002
        return self.thetas[int(chosen[0].row[0])]

    def scores(self, kept: list[int]) -> list[int]:
        """Scores in whole numbers, from the numbers of kept edges."""
        g = [f - penalty for f, penalty in zip(kept, self.penalties, strict=True)]
        pairs = range(len(g))
        behind = [max(-(-(SCALE * (g[j] - g[i])) // max(self.thetas[i], self.thetas[j])) for j in pairs) for i in pairs]
        return [-min(far, 2**62) for far in behind]


@dataclass(frozen=True)
class Projection:
    """The graph turned into a table with one attribute, the projected degree 0 .. theta of every node.

    Claim 39. One node changes that table by at most 2 theta + 1 insertions and deletions of records, 2 theta + 2 if the
    node stays and loses its edges: its own record is inserted or changed, and those of at most theta others change
    (cantle.trusted.bounding.projection). If nodes without edges are not listed, only degrees from 1 on are in it, and 2
    theta + 1 still bounds the changes. So with that many records as the unit, every question is as private for a node
    as its price says (group privacy). The step itself is free: nothing is revealed.
    """

    theta: int
    kind: ClassVar[str] = "graphs"

    def fits(self, engine: Engine, unit: Unit) -> bool:
        """Whether this is a graph that can be projected to this bound, and there is a proof for this unit."""
        plain = type(self.theta) is int and engine.kind == self.kind and unit.kind in ("node", "node-isolate")
        return plain and cast(GraphsEngine, engine).can_project(self.theta)

    def apply(self, engine: Engine) -> Engine:
        """The table of projected degrees; the graph is closed."""
        graph = cast(GraphsEngine, engine)
        table = graph.as_table(self.theta)
        graph.close()
        return table

    def unit(self, unit: Unit) -> Unit:
        """The number of records of the table that one node can change."""
        return Unit(2 * self.theta + (2 if unit.kind == "node-isolate" else 1), unit.kind)

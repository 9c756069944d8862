"""The graph engine: exact degrees of a graph in memory, true or projected.

Only the curator uses it; every answer is exact and therefore secret. Lists of degrees are in ascending order, which
does not show whose degrees they are.

If the number of nodes n is public, it is the length of every list, whatever identifiers occur: nodes that were not
named have no edges, and if more nodes occur than were declared, the n largest degrees count. That raises no
sensitivity: for k >= 1, #{d >= k} becomes min(n, #{d >= k}), the sorted list loses entries, and one degree that is
replaced replaces at most one of the n largest.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, NoReturn, assert_never

import numpy as np

from cantle.errors import ParameterError
from cantle.trusted.bounding.graph_arrays import Degrees, Graph
from cantle.trusted.bounding.projection import Projector, order
from cantle.trusted.claims.degree_queries import (
    GRAPH_KEYS,
    MOST_DEGREE,
    AtLeast,
    AtMost,
    DegreesAbove,
    GraphKey,
    KeptEdges,
    Nodes,
    SortedDegrees,
)
from cantle.trusted.core.keys import GraphDomain
from cantle.trusted.counting.base import Chunk
from cantle.trusted.counting.words import WordEngine
from cantle.trusted.geometry.boxes import Frontier, Ints


class GraphEngine:
    """Degrees over the edges of a graph, or over a list of degrees."""

    kind: ClassVar[str] = "graphs"
    keys: ClassVar[tuple[type, ...]] = GRAPH_KEYS
    compiled: ClassVar[bool] = False

    def __init__(self, graph: Graph | Degrees, *, nodes: int | None = None) -> None:
        """`nodes` is the public number of nodes; None if it is private."""
        self._public_nodes = nodes if isinstance(graph, Graph) else graph.nodes
        self._graph: Graph | Degrees | None = graph
        self._projector: Projector | None = None
        self._kept: dict[int, int] = {}
        self._last: tuple[int, Ints] | None = None  # only the last: keeping those of many thetas would take much memory

    def __repr__(self) -> str:
        return "GraphEngine()"

    def __reduce__(self) -> NoReturn:
        raise TypeError("an engine holds a private graph and cannot be pickled")

    @property
    def nodes(self) -> int:
        """The number of nodes: secret under `node`, otherwise public."""
        return self._held().nodes

    @property
    def listed(self) -> bool:
        """Whether nodes without edges are known (public); if not, only nodes with kept edges may be counted."""
        held = self._held()
        return held.listed if isinstance(held, Graph) else True

    def kept(self, theta: int) -> int:
        """The number of edges that the projection keeps."""
        if theta not in self._kept:
            self._project(theta)
        return self._kept[theta]

    def degrees(self, theta: int) -> Ints:
        """The projected degrees of all nodes, ascending."""
        if self._last is None or self._last[0] != theta:
            self._project(theta)
        assert self._last
        return self._sized(self._last[1])

    def true_degrees(self) -> Ints:
        """The degrees of all nodes, ascending; for `unit: edge`."""
        held = self._held()
        return held.values.copy() if isinstance(held, Degrees) else self._sized(held.true_degrees())

    # ---- as the curator asks ------------------------------------------------------------------------------

    @property
    def domain(self) -> GraphDomain:
        """The public domain."""
        return GraphDomain(self._public_nodes, self.listed, isinstance(self._held(), Graph))

    def root(self) -> Frontier:
        return Frontier.root(())

    def tally(self, positions: Ints, key: GraphKey) -> Iterator[Chunk]:
        """Exact counts of the whole graph, which is one region."""
        if len(positions):
            yield 0, 1, np.asarray(self._count(key), dtype=np.int64).reshape(1, -1)

    def _count(self, key: GraphKey) -> Ints | int:
        match key:
            case KeptEdges():
                return self.kept(key.theta)
            case AtMost():
                return np.cumsum(np.bincount(self.degrees(key.theta), minlength=key.theta + 1))
            case AtLeast():
                return _from_top(self.degrees(key.theta), key.theta)
            case Nodes():
                return self.nodes
            case SortedDegrees():
                return self.true_degrees()
            case DegreesAbove():
                return _from_top(self.true_degrees(), key.most)
            case _:
                assert_never(key)

    def can_project(self, theta: int) -> bool:
        return 1 <= theta <= MOST_DEGREE and isinstance(self._held(), Graph)

    def as_table(self, theta: int) -> WordEngine:
        degrees = self.degrees(theta)
        if not self.listed:
            degrees = degrees[degrees > 0]
        return WordEngine([([degrees], np.zeros(len(degrees), np.uint8))], sizes=(theta + 1,), class_count=1)

    def close(self) -> None:
        self._graph = self._projector = self._last = None
        self._kept = {}

    def _held(self) -> Graph | Degrees:
        if self._graph is None:
            raise ParameterError("the engine is closed")
        return self._graph

    def _project(self, theta: int) -> None:
        held = self._held()
        if not isinstance(held, Graph):
            raise ParameterError("a list of degrees cannot be projected; give the edges")
        if self._projector is None:
            self._projector = Projector(held.ends[order(held)], len(held.keys))
        degrees, kept = self._projector.project(theta)
        self._kept[theta], self._last = int(np.count_nonzero(kept)), (theta, degrees)

    def _sized(self, degrees: Ints) -> Ints:
        """As many degrees as there are nodes: zeros are added, or the smallest left out."""
        nodes = self.nodes
        sized = np.zeros(max(nodes, len(degrees)), dtype=np.int64)
        sized[: len(degrees)] = degrees
        sized.sort()
        return sized[len(sized) - nodes :]


def _from_top(degrees: Ints, most: int) -> Ints:
    """The numbers of degrees of at least k, for k = 1 .. most."""
    held = np.bincount(np.minimum(degrees, most), minlength=most + 1)
    return np.asarray(np.cumsum(held[::-1])[::-1][1:])

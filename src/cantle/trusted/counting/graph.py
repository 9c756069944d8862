"""The graph engine: exact degrees of a graph in memory, true or projected.

Only the curator uses it; every answer is exact and therefore secret. Lists of degrees are in ascending order, which
does not show whose degrees they are.

If the number of nodes n is public, it is the length of every list, whatever identifiers occur: nodes that were not
named have no edges, and if more nodes occur than were declared, the n largest degrees count. That raises no
sensitivity: for k >= 1, #{d >= k} becomes min(n, #{d >= k}), the sorted list loses entries, and one degree that is
replaced replaces at most one of the n largest.

Under `unit: edge` an edge list may be larger than memory (`count_degrees`). A store brings clean pairs of identifiers
(cantle.trusted.bounding.graph_pairs) together by edge, so that each edge is kept once, whatever its direction; then it
brings the ends of edges together by node, where they are counted. Only how many nodes have each degree is kept: the
engine then holds the list of degrees, as if it had been given (Claims 35 and 36).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar, assert_never

import numpy as np

from cantle.errors import ParameterError
from cantle.trusted.bounding.graph_pairs import Degrees, Graph, Identified
from cantle.trusted.bounding.node_ids import Keys, identifier, number_keys, pair_keys, text_keys
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
from cantle.trusted.core.arrays import Ints
from cantle.trusted.core.keys import GraphDomain
from cantle.trusted.core.private import Private
from cantle.trusted.counting.base import Chunk
from cantle.trusted.counting.packing import merged
from cantle.trusted.counting.stores import Store
from cantle.trusted.counting.words import WordEngine
from cantle.trusted.geometry.boxes import Frontier

if TYPE_CHECKING:
    from polars import DataFrame


class GraphEngine(Private):
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


KEY = "key"
"""The column with the public hash of an edge or a node. The others hold its identifiers: numbers or texts."""


def count_degrees(parts: Iterable[Identified], nodes: int, store: Store) -> Degrees:
    """The degrees of a public number of nodes.

    As in memory, nodes that were not named have no edges, and if there are too many nodes, the largest degrees count.
    """
    edges = (edge for part in parts for edge in _edges(part))
    ends = (end for group in store.together(edges, KEY) for frame in _by_type(group) for end in _ends(frame.unique()))
    spectrum = []
    for group in store.together(ends, KEY):
        for frame in _by_type(group):
            degrees = frame["node"].value_counts()["count"].to_numpy()
            spectrum.append(np.unique(degrees, return_counts=True))
    return Degrees(_largest(*merged(spectrum), nodes))


def _edges(part: Identified) -> Iterator[DataFrame]:
    """The edges between numbers, and those with a text, the smaller end first; loops are left out."""
    one, two = np.sort(part.numbers[part.numbers[:, 0] != part.numbers[:, 1]], axis=1).T
    yield _frame(pair_keys(number_keys(one), number_keys(two)), one=one, two=two)
    texts = [sorted(ends) for ends in zip(*part.texts, strict=True) if ends[0] != ends[1]]
    if texts:
        ones, twos = zip(*texts, strict=True)
        yield _frame(pair_keys(text_keys(ones), text_keys(twos)), one=ones, two=twos)


def _ends(edges: DataFrame) -> Iterator[DataFrame]:
    """The ends of edges. A number that has edges to texts was written in digits, and is a number again."""
    ends = edges["one"].append(edges["two"])
    if ends.dtype.is_integer():
        yield _frame(number_keys(ends.to_numpy()), node=ends.to_numpy())
        return
    known = list(map(identifier, ends.to_list()))
    numbers = np.array([one for one in known if isinstance(one, int)], dtype=np.int64)
    texts = [one for one in known if isinstance(one, bytes)]
    yield _frame(number_keys(numbers), node=numbers)
    yield _frame(text_keys(texts), node=texts)


def _frame(keys: Keys, **identifiers: Ints | Sequence[bytes]) -> DataFrame:
    import polars as pl

    return pl.DataFrame({KEY: keys, **identifiers})


def _by_type(group: Sequence[DataFrame]) -> Iterator[DataFrame]:
    """All frames of numbers as one, and all frames of texts."""
    import polars as pl

    for schema in {tuple(frame.schema.items()): frame.schema for frame in group}.values():
        yield pl.concat([frame for frame in group if frame.schema == schema])


def _largest(degrees: Ints, many: Ints, nodes: int) -> Ints:
    """This many degrees, ascending: the largest ones, with zeros before them if there are fewer."""
    larger = np.cumsum(many[::-1])[::-1] - many
    kept = np.clip(nodes - larger, 0, many)
    return np.concatenate([np.zeros(nodes - int(kept.sum()), np.int64), np.repeat(degrees, kept)])

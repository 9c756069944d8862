"""Arrays of a private graph or a private list of degrees; cantle.data.graphs reads them, and
cantle.trusted.counting.graph holds them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from cantle.trusted.bounding.node_ids import Ints, Keys

Ends = NDArray[np.int32]


class _Private:
    """Private data: its repr shows nothing, and it cannot be pickled or copied."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(private)"

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError("a graph is private and cannot be pickled or copied")


@dataclass(frozen=True, eq=False, repr=False)
class Graph(_Private):
    """An undirected graph without loops and double edges.

    `ends` has shape (edges, 2): numbers of nodes, the smaller first, each edge once, in ascending order. The numbers
    follow the public order of identifiers (cantle.trusted.bounding.node_ids), so that removing a node does not change
    the order of the others. `keys` is the public hash of each numbered node.

    `nodes` is the number of nodes: under `unit: node` those that were named, which is private; otherwise the public
    number of the schema, whatever was named. `listed` (public) says whether the input also names nodes without edges;
    if not, a node that loses its last edge disappears (see cantle.trusted.bounding.projection).
    """

    nodes: int
    ends: Ends
    keys: Keys
    listed: bool = True

    def true_degrees(self) -> Ints:
        """The number of edges of each numbered node."""
        return np.bincount(self.ends.reshape(-1), minlength=len(self.keys))


@dataclass(frozen=True, eq=False, repr=False)
class Degrees(_Private):
    """The degrees of all nodes of a graph, ascending; for `unit: edge`, where the number of nodes is public."""

    values: Ints

    @property
    def nodes(self) -> int:
        return len(self.values)

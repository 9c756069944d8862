"""NOT PRIVATE, on purpose: known ways to get degree sequences wrong, to show that the audit catches them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from cantle.audit import degrees as configs
from cantle.audit.degrees import Drawing, GraphConfig
from cantle.audit.exact import Flaw
from cantle.methods.degrees.method import DegreeSequence
from cantle.trusted.bounding.graph_pairs import Graph
from cantle.trusted.claims.degree_queries import AtLeast, Bounds, SortedDegrees
from cantle.trusted.core.budget import Unit
from cantle.trusted.core.curator import Curator
from cantle.trusted.counting import graph as engine
from cantle.trusted.counting.graph import GraphEngine
from cantle.trusted.geometry.boxes import Frontier, Ints
from cantle_lab.mutants.patches import INFINITE, Call, inside, instead, run_of, variant


@dataclass(frozen=True, eq=False)
class GraphBreakage(Flaw[Drawing]):
    """A flaw that shows on two graphs: `before` is `after` without one unit."""

    after: Drawing = ((), ())

    def neighbour(self) -> Drawing:
        return self.after


# ---- units and sensitivities ----------------------------------------------------------------------------------------


@variant
def _one_record(original: Call, self: Curator, nodes: Frontier, rule: object) -> Frontier:
    """After projection a node is charged as one record, although it changes the degrees of many."""
    children = original(self, nodes, rule)
    run_of(self).unit = Unit(1, inside(self, "unit").kind)
    return children


def _as_if_listed(_original: object) -> Callable[..., int]:
    return lambda self, _unit: self.theta + 1


def _one_end(_original: object) -> Callable[..., int]:
    return lambda _self, _unit: 1


def _edges_kept(_original: object) -> Callable[..., list[int]]:
    """Bounds are scored by the number of edges they keep, which is not divided by what one node can change."""
    return lambda _self, kept: [2 * edges for edges in kept]


# ---- private values where only public ones are allowed --------------------------------------------------------------


@variant
def _true_maximum(_original: Call, _self: DegreeSequence, _root: Frontier, curator: Curator, *_rest: object) -> int:
    return max(1, int(inside(curator, "engine").true_degrees().max(initial=0)))


@variant
def _pruned(_original: Call, self: GraphEngine, theta: int) -> Ints:
    """Nodes with more than theta edges are removed, with all their edges, instead of single edges."""
    graph = self._held()
    assert isinstance(graph, Graph)
    small = graph.true_degrees() <= theta
    left = graph.ends[small[graph.ends].all(axis=1)]
    return np.sort(np.bincount(left.reshape(-1), minlength=len(small))[small])


@variant
def _low_degrees_first(_original: Call, graph: Graph) -> Ints:
    """Edges are scanned in the order of the sum of their ends' degrees, and only ties by node number."""
    together = graph.true_degrees()[graph.ends].sum(axis=1)
    return np.lexsort((graph.ends[:, 1], graph.ends[:, 0], together))


def _listed(_original: object) -> property:
    """The engine claims that nodes without edges are listed, although they are not."""
    return property(lambda _self: True)


# ---- the table ------------------------------------------------------------------------------------------------------

RECORD, PRUNED = "degrees: a node as one record", "degrees: nodes of large degree pruned"


def _star(leaves: int) -> Drawing:
    """A star: node 0 joined to all others."""
    return tuple(range(leaves + 1)), tuple((0, leaf) for leaf in range(1, leaves + 1))


def _alone(leaves: int) -> Drawing:
    """A star without its centre."""
    return tuple(range(1, leaves + 1)), ()


SQUARE: Drawing = (0, 1, 2, 3), ((0, 1), (0, 3), (1, 2), (2, 3))
PATH: Drawing = (1, 2, 3), ((1, 2), (2, 3))
THREE_EDGES: Drawing = (0, 1, 2, 3, 4, 5), ((0, 1), (2, 3), (4, 5))
WITH_HUB: Drawing = (*THREE_EDGES[0], 6), (*THREE_EDGES[1], *((node, 6) for node in range(6)))
# Two paths of four nodes, whose middle nodes have the lowest numbers. In the order of degrees the end edges come first,
# until a hub is joined to the ends.
_PATHS: Drawing = tuple(range(8)), ((0, 1), (0, 2), (1, 3), (4, 5), (4, 6), (5, 7))
_JOINED: Drawing = tuple(range(9)), tuple(sorted((*_PATHS[1], (2, 8), (3, 8), (6, 8), (7, 8))))
_EIGHT = GraphConfig("degrees: bounds up to 8", (), configs.CHOICE.settings, 12, declared={"max_degree": 8},
                     constants=configs.STEP)  # fmt: skip

DEGREE_BREAKAGES: tuple[GraphBreakage, ...] = (
    GraphBreakage(RECORD, "6.4, Claim 39: up to 2 theta + 1 records (I13')", configs.CYCLE, PATH, (),
                  50, instead(Curator, "split", _one_record), after=SQUARE),
    GraphBreakage(PRUNED, "6.1, Claim 32: edges are left out, not nodes (I16)", configs.STAR, THREE_EDGES, (),
                  6, instead(GraphEngine, "degrees", _pruned), after=WITH_HUB),
    GraphBreakage("degrees: the true maximum degree as bound", "6.1: a public or charged bound", configs.CHOICE,
                  _alone(3), (), INFINITE, instead(DegreeSequence, "_choose", _true_maximum), after=_star(3)),
    GraphBreakage("degrees: nodes counted that are not listed", "6.2: a node's neighbours go with it", configs.UNLISTED,
                  _alone(3), (), 10.6, instead(GraphEngine, "listed", _listed), after=_star(3)),
    GraphBreakage("degrees: edges scanned by degree", "6.2: a public order", configs.STAR, _PATHS, (),
                  4, instead(engine, "order", _low_degrees_first), after=_JOINED),
    GraphBreakage("degrees: counts from above at the price of counts from below", "Claim 33: 2 theta",
                  configs.UNLISTED, _alone(2), (), 5.3, instead(AtLeast, "sensitivity", _as_if_listed), after=_star(2)),
    GraphBreakage("degrees: bounds scored by kept edges alone", "Claim 37: divided by what a node can change", _EIGHT,
                  _alone(8), (), 17, instead(Bounds, "scores", _edges_kept), after=_star(8)),
    GraphBreakage("degrees: sorted degrees with the sensitivity of one end", "Claim 35: two ends", configs.EDGE,
                  ((0, 1), ()), (), 6, instead(SortedDegrees, "sensitivity", _one_end), after=((0, 1), ((0, 1),))),
)  # fmt: skip

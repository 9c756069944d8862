"""Exact audits of degree sequences: all small graphs and all removals, through the shipped code.

The configurations cover every unit (one node with its edges, with nodes listed or not; all edges of one node; one edge)
and every preset (counts, and RPS on projected degrees). Final counts are not enumerated (`Audit.enumerate_leaves`),
because nothing depends on them. The scores that choose a degree bound run the shipped code with another step: `SCALE`
is 2 here, so their range is 6. Their proof holds for any step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from types import ModuleType

from cantle.audit.enumerating import Enumerating
from cantle.audit.exact import Constant, Detail, Mechanism, Shown, heard, leaked
from cantle.audit.exact import shown as shown_tree
from cantle.data.graphs import read_graph
from cantle.methods.degrees import method as degrees
from cantle.methods.degrees.method import DegreeSequence
from cantle.schema.graph import GraphSchema
from cantle.trusted.claims import degree_queries
from cantle.trusted.core.budget import NANO, Budget, ReceiptFields, Unit
from cantle.trusted.counting.graph import GraphEngine

OWNERS: Mapping[str, ModuleType] = {"SCALE": degree_queries, "PUBLISHED": degrees}
COUNTS = ("kept edges", "number of nodes", "degrees at most k", "degrees at least k", "sorted degrees", "leaf")
"""Questions on whose answers nothing depends."""

Drawing = tuple[tuple[int, ...], tuple[tuple[int, int], ...]]
"""A graph: its nodes and its edges, both in ascending order."""


@dataclass(frozen=True, eq=False)
class GraphConfig(Mechanism[Drawing]):
    """Degree sequences of graphs; `records` is the largest number of nodes."""

    relation: str = "node"
    listed: bool = True
    """Whether nodes are listed in the input, so that those without edges are known too."""
    declared: Mapping[str, object] = field(default_factory=dict)
    """Further keys of the schema."""
    constants: Mapping[str, object] = field(default_factory=dict)
    """Constants of the code that have another value in this audit; `OWNERS` says which module holds each."""
    records: int = 5
    quick: int = 3

    @cached_property
    def schema(self) -> GraphSchema:
        public = {} if self.relation == "node" else {"nodes": self.records}
        return GraphSchema.from_dict({"kind": "graph", "unit": self.relation} | public | dict(self.declared))

    def tables(self, records: int) -> Iterator[Drawing]:
        """All graphs of up to this many nodes; of exactly this many for units that make their number public."""
        for size in range(records + 1) if self.relation == "node" else [records]:
            pairs = list(combinations(range(size), 2))
            for number in range(2 ** len(pairs)):
                yield tuple(range(size)), tuple(pair for i, pair in enumerate(pairs) if number >> i & 1)

    def pairs(self, records: int | None = None) -> Iterator[tuple[Drawing, Drawing]]:
        """All graphs, each paired with every graph that remains when one unit is removed from it."""
        for graph in self.tables(self.records if records is None else records):
            yield from ((less, graph) for less in self.without(graph))

    def without(self, graph: Drawing) -> Iterator[Drawing]:
        """The graph without a node, without the edges of a node, or without an edge."""
        nodes, edges = graph
        if self.relation == "edge":
            yield from ((nodes, tuple(edge for edge in edges if edge != gone)) for gone in edges)
            return
        for gone in nodes:
            rest = tuple(node for node in nodes if node != gone or self.relation != "node")
            yield rest, tuple(edge for edge in edges if gone not in edge)

    def engine(self, graph: Drawing) -> GraphEngine:
        """An engine for the graph, read by the shipped reader."""
        nodes = list(graph[0]) if self.listed and self.relation == "node" else None
        return GraphEngine(read_graph(list(graph[1]), self.schema, nodes), nodes=self.schema.node_count)

    def changed(self) -> Iterator[Constant]:
        return ((OWNERS[name], name, value) for name, value in self.constants.items())

    def run(self, table: Drawing, noise: Enumerating, detail: Detail) -> Shown:
        method = DegreeSequence(self.schema, preset=self.preset, **self.settings)
        budget, final = Budget(self.units * NANO, Unit(kind=self.relation)), () if detail.leaves else COUNTS
        answers, receipt = heard(method, self.engine(table), budget, noise, final)
        return shown(method, answers, noise, receipt, leaves=detail.leaves)


def shown(
    method: DegreeSequence, answers: list[str], noise: Enumerating, receipt: ReceiptFields, *, leaves: bool
) -> Shown:
    """All that a release contains, and more: all noisy answers, the bound, the tree of RPS, the receipt."""
    lines = (*answers, f"theta {method.answers.theta}")
    if method.inner is None:
        return (*lines, *leaked(noise), f"receipt {receipt}"), ()
    tree, cells = shown_tree(method.inner, noise, receipt, leaves=leaves)
    return (*lines, *tree), cells


# ---- the list -----------------------------------------------------------------------------------------------------


def _counts(**given: object) -> dict[str, object]:
    """Settings with a declared bound and only the degree counts, overridden by those given."""
    return {"theta": 2, "edges_share": 0, "nodes_share": 0} | given


def _partition(**given: object) -> dict[str, object]:
    """The published RPS settings, reduced to one balanced cut that gets a third of the budget, overridden by those
    given."""
    return {"attributes": "all", "quality": "balance", "depth": 1, "leaf_share": "2/3", "count_share": 0} | given


STEP: Mapping[str, object] = {"SCALE": 2}

NODE = GraphConfig("degrees: node, counts", (), _counts(), 6, tight=True)

UNLISTED = GraphConfig("degrees: node, nodes not listed", (), _counts(), 4, listed=False, tight=True)

STAR = GraphConfig("degrees: node, bound 1", (), _counts(theta=1), 2, tight=True)
"""Instance I16."""

CHOICE = GraphConfig(
    "degrees: node, bound chosen", (), _counts(theta="auto", theta_share="1/2"), 12, declared={"max_degree": 4},
    constants=STEP,
)  # fmt: skip
"""Permute-and-flip among the bounds 1, 2 and 4 pays 6 units, counts pay 6."""

ISOLATE = GraphConfig("degrees: node-isolate, counts", (), _counts(), 4, relation="node-isolate", tight=True)

EDGE = GraphConfig("degrees: edge", (), {}, 4, relation="edge", tight=True)

CYCLE = GraphConfig("degrees: node, RPS", (), _counts(), 15, preset="paper", constants={"PUBLISHED": _partition()})
"""Instance I13': the cut pays 5 units and the leaves 10, because one node can change up to 5 degrees."""

DEGREE_CONFIGS: tuple[GraphConfig, ...] = (
    NODE,
    STAR,
    GraphConfig("degrees: node, bound above all degrees", (), _counts(theta=5), 6, tight=True),
    GraphConfig("degrees: node, edges and nodes", (), _counts(edges_share="1/3", nodes_share="1/6"), 12, tight=True),
    CHOICE,
    GraphConfig("degrees: node, preset default", (), {}, 300, declared={"max_degree": 2}, constants=STEP),
    UNLISTED,
    GraphConfig("degrees: node, nodes not listed, bound chosen", (), _counts(theta="auto", theta_share="1/2"), 12,
                listed=False, declared={"max_degree": 2}, constants=STEP),
    ISOLATE,
    GraphConfig("degrees: node-isolate, bound chosen", (), _counts(theta="auto", theta_share="1/2", edges_share="1/4"),
                12, relation="node-isolate", constants=STEP),
    GraphConfig("degrees: node-isolate, fewer nodes declared than named", (), _counts(), 4, relation="node-isolate",
                declared={"nodes": 2}),
    EDGE,
    GraphConfig("degrees: edge, a public bound", (), {}, 4, relation="edge", declared={"max_degree": 1}, tight=True),
    GraphConfig("degrees: edge, fewer nodes declared than named", (), {}, 4, relation="edge", declared={"nodes": 2},
                tight=True),
    CYCLE,
    GraphConfig("degrees: node, RPS, nodes not listed", (), _counts(), 15, preset="paper", listed=False,
                constants={"PUBLISHED": _partition()}),
    GraphConfig("degrees: node-isolate, RPS", (), _counts(), 18, preset="paper", relation="node-isolate",
                constants={"PUBLISHED": _partition()}),
    GraphConfig("degrees: node, RPS with stop tests", (), _counts(theta=1), 12, preset="paper",
                constants={"PUBLISHED": _partition(stop="count:1", stop_share="1/2", leaf_share="1/2")}),
)  # fmt: skip

"""Degree sequences of graphs, protecting nodes or edges (a sound form of Qardaji & Li 2012, section 5).

With unit node, the method chooses a bound on degrees privately, removes edges until no node exceeds it, and counts how
many nodes reach each degree. With unit edge it measures the sorted degrees and the numbers of nodes above each degree,
with half of the budget each. Preset `paper` runs RPS on the bounded degrees, and pays for all degrees that one node can
change.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

from cantle.drawing.counts import Dice
from cantle.drawing.records import RECORDS_WANTED, Results
from cantle.errors import ParameterError
from cantle.methods.base import Configured
from cantle.methods.degrees.results import FEW_EDGES, Answers, degree_results, edges_bound, known_nodes
from cantle.methods.rps.method import RPS
from cantle.methods.settings import maybe, portion, read_settings, setting, share, whole
from cantle.schema.domain import Attribute, Domain, Steps
from cantle.schema.graph import GraphSchema
from cantle.trusted.claims.degree_queries import (
    MOST_DEGREE,
    AtLeast,
    AtMost,
    Bounds,
    DegreesAbove,
    KeptEdges,
    Lag,
    Nodes,
    Projection,
    SortedDegrees,
)
from cantle.trusted.core.answers import Noisy
from cantle.trusted.core.budget import NANO, Unit
from cantle.trusted.core.curator import Curator
from cantle.trusted.core.keys import GraphDomain
from cantle.trusted.geometry.boxes import Frontier

LADDER = 1 << 14
"""The largest candidate bound if the schema declares none. It is public, and never the number of nodes."""

EDGE_QUESTIONS = 2
"""With unit edge, two questions share epsilon; each needs at least one nano-unit."""

MOST_BINS = 1 << 16
PUBLISHED: Mapping[str, str | int] = {
    "depth": 15, "attributes": "all", "quality": "balance", "values": "low", "consistency": False,
}  # fmt: skip
"""Section 5.1: depth 15, balanced cuts, and all nodes of a region get the degree at its lower end. The sequence has as
many degrees as there are nodes: negative counts become 0, and the others are scaled to that number."""

NOISE_PART = Fraction(3, 20)
"""The penalty of a bound in preset paper is this part of the noise in edges."""


@dataclass(frozen=True, kw_only=True)
class DegreeSettings:
    """The parameters of degrees, each described in docs/reference.md."""

    theta: int | None = setting(maybe(whole(1, MOST_DEGREE), "auto"), shown=True)
    theta_share: Fraction = setting(share())
    edges_share: Fraction = setting(share())
    nodes_share: Fraction = setting(share())


_SHARES = {"theta": None, "theta_share": "1/5", "nodes_share": "3/100"}
PRESETS: Mapping[str, Mapping[str, object]] = {
    "default": _SHARES | {"edges_share": "1/10"},
    "paper": _SHARES | {"edges_share": "0"},
}


class DegreeSequence(Configured):
    """One run: settings, the bound, and the noisy answers. All of these are public."""

    name: ClassVar[str] = "degrees"
    Settings: ClassVar[type] = DegreeSettings
    kind: ClassVar[str] = "graph"

    def __init__(self, schema: GraphSchema, *, preset: str = "default", **given: object) -> None:
        self.settings = read_settings(DegreeSettings, "degrees", PRESETS, preset, given)
        self.preset, self.schema = preset, schema
        s = self.settings
        if sum((s.theta_share, s.edges_share, s.nodes_share), Fraction(0)) >= 1:
            raise ParameterError(
                "degrees: theta_share, edges_share and nodes_share leave nothing for the counts; lower one"
            )
        self.in_ranges = preset == "paper"
        if schema.unit == "edge" and (self.in_ranges or s.theta is not None):
            raise ParameterError(
                "degrees: preset paper and theta are for nodes: under unit: edge nothing is projected; leave them out"
            )
        if self.in_ranges and s.theta is not None and s.theta >= MOST_BINS:
            raise ParameterError(f"degrees: preset paper needs a bound below {MOST_BINS}; lower theta")
        self.answers = Answers(schema.unit, schema.node_count, schema.max_degree)
        self.inner: RPS | None = None

    def refuse_budget(self, epsilon_nano: int, max_records: int) -> None:  # noqa: ARG002 (units cost no more)
        """Refuses an epsilon too small to be divided, and the choice of a bound if no share pays for it."""
        s, rest = self.settings, epsilon_nano
        if self.schema.unit == "edge":
            if epsilon_nano < EDGE_QUESTIONS:
                raise ParameterError("degrees: epsilon is too small for two questions; raise epsilon")
            return
        if s.theta is None and len(self._bounds()) > 1:
            for_bound = portion(epsilon_nano, s.theta_share)
            if not for_bound:
                raise ParameterError(
                    "degrees: theta is needed; give it as a number, or raise theta_share or epsilon to choose it "
                    "privately"
                )
            rest -= for_bound
        if self.in_ranges:
            theta = s.theta or self._bounds()[-1]
            self._rps(theta).refuse_shares(rest, Projection(theta).unit(Unit(1)).max_records)

    def run(self, curator: Curator) -> None:
        """Asks all questions, about the graph as a whole."""
        root = curator.root()
        if self.schema.unit == "edge":
            self._ask_for_edges(root, curator)
        else:
            self._ask_for_nodes(root, curator)
        if self.inner is None:
            self.answers.path = int(curator.path(root)[0])

    def results(self, generator: Dice) -> Results:
        """The degree sequence and the noisy numbers behind it."""
        return degree_results(self.answers, None if self.inner is None else self._ranges(self.inner, generator))

    # ---- one node -----------------------------------------------------------------------------------------

    def _ask_for_nodes(self, root: Frontier, curator: Curator) -> None:
        """Asks all questions for the units node and node-isolate: bound, edges, nodes, then counts or RPS."""
        s, total = self.settings, int(curator.left(root)[0])
        listed = _domain(curator).listed and self.schema.unit == "node"
        unknown = not listed and self.schema.unit == "node" and self.schema.node_count is None
        for_edges = 0 if self.in_ranges else portion(total, s.edges_share)
        for_nodes = portion(total, s.nodes_share if listed else self.share_of_nodes(total)) if listed or unknown else 0
        for_bound = 0 if s.theta else portion(total, s.theta_share)
        rest = total - for_edges - for_bound - for_nodes
        theta = s.theta or self._choose(root, curator, for_bound, rest, listed)
        self.answers.theta, self.answers.listed = theta, listed
        if for_edges:
            key = KeptEdges(edges_bound(theta, MOST_DEGREE))
            self._keep("kept edges", curator.measure(root, key, for_edges, why="kept edges"), key.theta)
        if listed or theta > FEW_EDGES or self.in_ranges:
            self._count_nodes(root, curator, for_nodes, listed)
        if self.in_ranges:
            self._partition(root, curator, theta)
            return
        left = int(curator.left(root)[0])
        if listed:
            self._keep("at most", curator.measure(root, AtMost(theta), left, why="degrees at most k"), 0)
        else:
            self._keep("at least", curator.measure(root, AtLeast(theta), left, why="degrees at least k"), 1)

    def _count_nodes(self, root: Frontier, curator: Curator, price: int, listed: bool) -> None:
        if price and listed:
            self._keep("nodes", curator.measure(root, Nodes(), price, why="number of nodes"), 0)
        elif price:
            key_of_few = AtLeast(FEW_EDGES)
            self._keep("nodes with edges", curator.measure(root, key_of_few, price, why="nodes with edges"), 1)

    def share_of_nodes(self, total: int) -> Fraction:
        """The share of epsilon for the number of nodes, if they are not listed.

        It is so large that the noise has a standard deviation of 200 nodes, but at most 1/10 of epsilon, and at least
        the share for listed nodes.
        """
        if not self.settings.nodes_share:
            return Fraction(0)
        needed = Fraction(2 * FEW_EDGES * NANO * 141, 100 * 200 * total)  # a deviation is 1.41 scales
        return max(self.settings.nodes_share, min(needed, Fraction(1, 10)))

    def _choose(self, root: Frontier, curator: Curator, price: int, rest: int, listed: bool) -> int:
        """A bound, chosen privately among powers of two.

        The penalty of a bound is a share of the noise, in edges, that counting with this bound adds. Shares from 1/8 to
        1/4 make little difference on the paper's graphs. At small epsilon a smaller share was better, because smoothing
        removes much of the noise.
        """
        thetas = self._bounds()
        part = Fraction(1, 5) if rest > NANO // 10 else Fraction(12, 100)
        cost = [(theta + 1) ** 2 if listed else 2 * theta * theta for theta in thetas]
        if self.in_ranges:
            # Each of about theta ranges of degrees gets noise of scale 4 theta / rest, because half of the budget
            # counts. In edges, half of the sum of degrees, that noise has a deviation of 1.6 theta^2.5 / rest.
            part, cost = NOISE_PART, [8 * math.isqrt(theta**5) // 5 for theta in thetas]
        penalties = [int(part * c * NANO / max(1, rest)) for c in cost]
        if len(thetas) == 1:
            return thetas[0]
        bounds = Bounds(thetas, tuple(min(2**60, one) for one in penalties))
        return curator.choose(root, bounds, Lag(), price, why="bound on degrees")

    def _bounds(self) -> tuple[int, ...]:
        """The bounds to choose from; they follow from public values."""
        most = min(self.schema.max_degree or LADDER, self._largest())
        if self.in_ranges:
            most = min(most, MOST_BINS - 1)
        return tuple(1 << i for i in range(most.bit_length()) if 1 << i <= most)

    def _largest(self) -> int:
        """The largest possible degree, from public values."""
        nodes = self.schema.node_count
        return MOST_DEGREE if nodes is None else min(MOST_DEGREE, max(1, nodes - 1))

    def _partition(self, root: Frontier, curator: Curator, theta: int) -> None:
        """Runs RPS on the projected degrees; a unit has as many records as one node can change degrees."""
        self.inner = self._rps(theta, known_nodes(self.answers))
        curator.split(root, Projection(theta))
        self.inner.run(curator)

    def _rps(self, theta: int, nodes: int | None = None) -> RPS:
        """RPS on degrees from 0 to theta; `nodes` is the public or noisy number of nodes, None if it is unknown."""
        attribute = Attribute("degree", Steps(type="integer", first=0, step=1, grid=theta + 1), nullable=False)
        domain = Domain((attribute,), None, ("degree",))
        # No own error: it would be relative to the projected degrees, not to those of the graph.
        return RPS(domain, preset="default", bins=MOST_BINS, accuracy_share=0, records=nodes, **PUBLISHED)

    def _ranges(self, inner: RPS, generator: Dice) -> Results:
        """The release of RPS. Noise alone may require billions of nodes; then fewer are drawn, and the summary says
        so."""
        results = inner.results(generator)
        summary = {"nodes_wanted" if name == RECORDS_WANTED else name: value for name, value in results.summary.items()}
        return replace(results, summary=summary)

    # ---- one edge -----------------------------------------------------------------------------------------

    def _ask_for_edges(self, root: Frontier, curator: Curator) -> None:
        """Asks the two questions for unit edge, with half of the budget each."""
        nodes = _domain(curator).nodes
        assert nodes is not None, "a schema that protects one edge states the number of nodes"
        self.answers.nodes = nodes
        half = int(curator.left(root)[0]) // 2
        most = min(max(1, nodes - 1), self.schema.max_degree or MOST_DEGREE, MOST_DEGREE)
        self._keep("sorted", curator.measure(root, SortedDegrees(nodes), half, why="sorted degrees"), 0)
        left = int(curator.left(root)[0])
        self._keep("at least", curator.measure(root, DegreesAbove(most), left, why="degrees at least k"), 1)

    def _keep(self, question: str, noisy: Noisy, first: int) -> None:
        self.answers.add(question, noisy, first)


def _domain(curator: Curator) -> GraphDomain:
    domain = curator.domain
    assert isinstance(domain, GraphDomain), "degrees asks about graphs"
    return domain

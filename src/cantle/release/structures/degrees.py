"""The structure `degrees`: noisy numbers of nodes by degree, or a tree over ranges of degrees.

Files: groups.parquet (the noisy numbers, or the leaves of the tree), tree.parquet (with ranges only).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
import polars as pl

from cantle.drawing.counts import Dice
from cantle.drawing.group_frames import leaves_from
from cantle.drawing.tree import Leaves
from cantle.errors import VerifyError
from cantle.methods.degrees.results import FEW_EDGES, PAID, Answers, degree_results, edges_bound, with_lost_edges
from cantle.release import Release, structures
from cantle.release.answers.estimates import Noise
from cantle.release.answers.noise import Regions, Share, regions_of, sum_of, variances
from cantle.release.manifest import Manifest
from cantle.release.schemas import schema_as
from cantle.release.show import WIDTH, bars
from cantle.release.storage import as_polars
from cantle.release.structures import Traits
from cantle.release.structures.checks import changed_columns, has_columns, rate_paid
from cantle.release.structures.tree_nodes import SIZE, Counting, leaf_problems, nodes_of
from cantle.schema.code_sets import Question, hull
from cantle.schema.domain import Attribute, Domain, Steps
from cantle.schema.graph import GraphSchema
from cantle.trusted.claims.degree_queries import MOST_DEGREE
from cantle.trusted.core.answers import Noisy
from cantle.trusted.core.arrays import Ints

_COLUMNS = "question path noisy rate_num rate_den k estimate"


def traits(manifest: Manifest) -> Traits:
    s = manifest.summary
    bound = "nodes of every degree" if not s["theta"] else f"nodes of degrees up to {s['theta']}"
    return Traits(f"{bound}, in {s['leaves']:,} ranges" if "leaves" in s else bound)


class Opened(structures.Opened):
    """A release of degrees."""

    def __init__(self, release: Release) -> None:
        super().__init__(release)
        self._in_ranges = "leaves" in release.manifest.summary

    @cached_property
    def _degrees(self) -> Ints:
        return as_polars(self._release.records, self._manifest)["degree"].to_numpy()

    # ---- verify -------------------------------------------------------------------------------------------

    def problems(self) -> Iterator[str]:
        """Whether degrees follow from the noisy numbers; with ranges, whether they have the counts of the leaves."""
        if len(self._degrees) != self._manifest.summary["records"] or (np.diff(self._degrees, prepend=0) < 0).any():
            raise VerifyError("the degrees are not ascending, or not as many as stated")
        yield from self._range_problems() if self._in_ranges else self._number_problems()

    def _number_problems(self) -> Iterator[str]:
        if not has_columns(self._groups, _COLUMNS):
            raise VerifyError("the groups do not have the columns of degrees")
        if wrong := list(self._rates()):
            yield from wrong
            return
        again = degree_results(self._answers(), None)
        if again.summary != self._manifest.summary:
            yield "the summary is not that of the noisy numbers"
        elif not np.array_equal(again.records["degree"].to_numpy(), self._degrees):
            yield "the degrees do not follow from the noisy numbers"
        yield from changed_columns(self._groups, again.groups, "groups")

    def _rates(self) -> Iterator[str]:
        """Checks that each question has the noise that the receipt paid for, and that no paid question is missing."""
        (path,) = self._manifest.receipt.paths
        paid = {charge.why: rate_paid(charge) for charge in path.charges if charge.verb == "measure"}
        for number, question, *rate in self._groups.select("path", "question", "rate_num", "rate_den").unique().rows():
            if number != path.path or paid.get(PAID.get(question, "")) != tuple(rate):
                yield f"the noise of {question!r} is not what the receipt paid for"
        told = dict(self._groups["question"].value_counts().iter_rows())
        sizes = self._sizes().items()
        edges = self._rows("kept edges")["k"].to_list()
        if edges not in ([], [edges_bound(self._manifest.summary["theta"], MOST_DEGREE)]):
            yield "the edges were not counted up to the bound that follows from that on degrees"
        if any(told.get(question, 0) != (number if PAID[question] in paid else 0) for question, number in sizes):
            yield "the noisy numbers are not those that the receipt paid for"

    def _sizes(self) -> dict[str, int]:
        """The number of answers to each question."""
        summary, schema = self._manifest.summary, schema_as(self._manifest, GraphSchema)
        most = summary["theta"]
        if schema.unit == "edge":
            most = min(max(1, summary["records"] - 1), schema.max_degree or MOST_DEGREE, MOST_DEGREE)
        one_each = {"kept edges": 1, "nodes": 1, "nodes with edges": FEW_EDGES}
        return one_each | {"at most": most + 1, "at least": most, "sorted": summary["records"]}

    def _answers(self) -> Answers:
        """The noisy answers as the method had them."""
        schema = schema_as(self._manifest, GraphSchema)
        answers = Answers(schema.unit, schema.node_count, schema.max_degree)
        answers.path = self._manifest.receipt.paths[0].path
        answers.theta = 0 if schema.unit == "edge" else self._manifest.summary["theta"]
        for question in self._groups["question"].unique(maintain_order=True).to_list():
            rows = self._rows(question)
            rate = np.array([rows["rate_num"][0]], dtype=np.int64)
            noisy = Noisy(rows["noisy"].to_numpy().reshape(1, -1), rate, int(rows["rate_den"][0]))
            answers.add(question, noisy, int(rows["k"][0]))
        answers.listed = answers.has("at most")
        if schema.unit == "edge":
            if not answers.has("sorted"):  # an empty list of degrees
                answers.add("sorted", Noisy(np.zeros((1, 0), np.int64), np.ones(1, np.int64), 1), 0)
            answers.nodes = len(answers.values("sorted"))
        return answers

    def _range_problems(self) -> Iterator[str]:
        """Checks that leaves follow from the tree and from their noisy counts, and have the released degrees."""
        leaves, nodes = self._leaves, nodes_of(self._release.frames["tree"], self._domain)
        wanted, whys = self._manifest.summary.get("nodes_wanted"), {one.why for one in self._manifest.receipt.charges()}
        # The counts add up to the number of nodes, if that was public or measured for itself.
        declared = None if SIZE in whys else wanted or len(self._degrees)
        how = Counting(False, declared=declared)
        yield from leaf_problems(self._release, self._domain, nodes, leaves, how, wanted)
        held = np.searchsorted(self._degrees, leaves.hi[:, 0]) - np.searchsorted(self._degrees, leaves.lo[:, 0])
        if not np.array_equal(held, leaves.count[:, 0]):
            yield "the degrees do not have the counts of the leaves"

    @cached_property
    def _domain(self) -> Domain:
        """The degrees up to the bound, as a table of one column."""
        steps = Steps(type="integer", first=0, step=1, grid=self._manifest.summary["theta"] + 1)
        return Domain((Attribute("degree", steps, nullable=False),), None, ("degree",))

    @cached_property
    def _leaves(self) -> Leaves:
        return leaves_from(self._domain, self._groups)

    # ---- answers ------------------------------------------------------------------------------------------

    def noise(self, question: Question, share: Share) -> Noise:  # noqa: ARG002
        if self._in_ranges:
            return self._regions.noise(question)
        codes = hull(question).get("degree")
        edges = [] if codes is None else [edge for edge in codes.edges if 0 < edge < codes.size]
        return sum_of(self._edge_noise(edge) for edge in edges) if edges else self._node_noise()

    @cached_property
    def _regions(self) -> Regions:
        return regions_of(self._domain, self._leaves)

    def _edge_noise(self, edge: int) -> Noise:
        """The noise in the number of nodes of degree at least `edge`."""
        k = self._groups["k"]
        for question, at in (("at least", edge), ("at most", edge - 1)):
            rows = self._groups.filter((self._groups["question"] == question) & (k == at))
            if len(rows):
                return Noise.of(float(variances(rows)[0]))
        rows = self._rows("sorted")
        if not len(rows):  # beyond the bound: the nodes are among those that reach it
            return Noise.of(float(variances(self._rows("at least", "at most"))[-1]))
        degrees, spread = np.sort(rows["estimate"].to_numpy()), float(variances(rows)[0]) ** 0.5
        near = np.searchsorted(degrees, [edge - spread, edge + spread])
        return Noise.of(float(near[1] - near[0]) ** 2 / 4)

    def _node_noise(self) -> Noise:
        """The noise in the number of nodes, if that is private: it was measured by itself, or as a number of nodes by
        degree."""
        if schema_as(self._manifest, GraphSchema).unit != "node":
            return Noise()
        asked = (self._rows(question) for question in ("nodes", "at most", "at least"))
        return Noise.of(float(variances(next(rows for rows in asked if len(rows)))[0]))

    def _rows(self, *questions: str) -> pl.DataFrame:
        return self._groups.filter(self._groups["question"].is_in(list(questions)))

    def restored(self, more: float) -> list[Ints]:
        """The released degrees with so many more edges, whose ends below the bound are at nodes in proportion to their
        degrees, or at any node alike."""
        degrees, theta = self._degrees, self._manifest.summary["theta"]
        counts = np.bincount(np.minimum(degrees, theta), minlength=theta + 1).astype(float)
        edges = float(degrees.sum()) / 2 + more
        return [with_lost_edges(counts, len(degrees), edges, evenly) for evenly in (0.0, 1.0)]

    # ---- more records, show, report -----------------------------------------------------------------------

    def draw(self, n: int, dice: Dice) -> pl.DataFrame:
        """Degrees drawn from the released ones."""
        frame = as_polars(self._release.records, self._manifest)
        return frame[np.sort(dice.integers(0, max(1, len(frame)), n if len(frame) else 0))]

    def lines(self, depth: int, everything: bool) -> Iterator[tuple[str, list[str]]]:  # noqa: ARG002
        """How many nodes have a degree in each power of two."""
        degrees = self._degrees
        edges = [0, *(1 << i for i in range(int(degrees.max(initial=0)).bit_length() + 1))]
        spans = zip(edges[:-1], edges[1:], strict=True)
        labels = [str(lo) if hi - lo == 1 else f"{lo} to {hi - 1}" for lo, hi in spans]
        counts = np.diff(np.searchsorted(np.sort(degrees), edges)).tolist()
        both = zip(counts, bars(labels, counts), strict=True)
        wide = len(labels[-1]) + WIDTH + 7
        yield "Nodes by degree", [f"{line:{wide}}  {n:,} node{'s' * (n != 1)}" for n, line in both]

    def report(self) -> None:
        """None: the section about degrees says it all."""

"""The structure `tree`: regions that were cut again and again, noisy counts of the leaves, perhaps one-way tables.

Files: groups.parquet (leaves and classes), tree.parquet (all nodes), marginals.parquet (one-way tables, if any).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
import polars as pl

from cantle.drawing.counts import Dice, variance
from cantle.drawing.group_frames import leaves_from
from cantle.drawing.records import RECORDS_WANTED, Drawn, as_frame
from cantle.drawing.tree import Leaves
from cantle.errors import VerifyError
from cantle.methods.rps.one_ways import OneWayTables, marginals_frame, tables_from
from cantle.methods.rps.results import distributions, draw_generalised, drawn_records, possible
from cantle.release import Release, structures
from cantle.release.answers.estimates import Noise
from cantle.release.answers.noise import DirectAnswer, NoisyTable, Regions, Share, Tables, regions_of
from cantle.release.document_fields import read
from cantle.release.manifest import Manifest
from cantle.release.report.content import Section
from cantle.release.report.regions import Node, tree_section
from cantle.release.sampling import scaled
from cantle.release.schemas import domain_of
from cantle.release.show import column_section
from cantle.release.structures import Traits
from cantle.release.structures.checks import (
    broken_rules,
    changed_columns,
    not_as_drawn,
    one_way_rates,
    records_not_held,
    unless_found,
)
from cantle.release.structures.tree_nodes import Counting, Nodes, leaf_problems, nodes_of
from cantle.release.words import printable, whose
from cantle.schema.code_sets import Question
from cantle.schema.domain import Domain
from cantle.trusted.core.arrays import Codes, Ints
from cantle.trusted.geometry.grid import are_edges


@dataclass(frozen=True)
class TreeTraits:
    """How codes and records of a tree follow from the schema and the noisy numbers."""

    bins: int
    """The most bins of a column."""
    order_seed: int | None
    """The seed of the order of categories, if it was drawn."""
    values: str
    """What values inside a leaf follow."""
    counting: Counting = Counting()

    @property
    def of_ranges(self) -> bool:
        """Whether the values of records are ranges, not single values."""
        return self.values == "set"

    def counted(self, domain: Domain) -> Domain:
        """The domain as it was counted."""
        binned = domain.coarsen(self.bins)
        return binned if self.order_seed is None else binned.with_orders(self.order_seed)


def tree_traits(manifest: Manifest) -> TreeTraits:
    """What the structure says; of a release that does not name its structure, what its parameters say."""
    if "name" not in manifest.structure:
        p = manifest.parameters
        order = p["order_seed"] if p["order"] == "random" else None
        counted = Fraction(p["count_share"]) > 0
        how = Counting(p["consistency"], p["summary"] == "depth", p["label"], p["records"], counted)
        return TreeTraits(p["bins"], order, p["values"], how)
    stated = {name: value for name, value in manifest.structure.items() if name not in ("name", "version")}
    return read(TreeTraits, stated, "structure", counting=Counting(counted=False))


def traits(manifest: Manifest) -> Traits:
    s, mine = manifest.summary, tree_traits(manifest)
    leaves = f"{s['leaves']:,} regions, at most {s['depth']} cuts deep"
    return Traits(leaves, mine.counted, of_ranges=mine.of_ranges, besides=_authored(manifest))


def _authored(manifest: Manifest) -> str:
    """Who decided where to cut, if it was a partitioning of somebody else's."""
    if not manifest.author:
        return ""
    about = manifest.author.get("about", "")
    said = f' ("{printable(about)}")' if about else ""
    return f"\nThe partitioning{said} was written by the author of {whose(manifest)}; questions and noise are cantle's."


class Opened(structures.Opened):
    """A release that is a tree."""

    def __init__(self, release: Release) -> None:
        super().__init__(release)
        self._traits, self._domain = tree_traits(release.manifest), domain_of(release.manifest)

    @cached_property
    def _leaves(self) -> Leaves:
        return leaves_from(self._domain, self._release.groups)

    @cached_property
    def _nodes(self) -> Nodes:
        return nodes_of(self._release.frames["tree"], self._domain)

    @cached_property
    def _one_ways(self) -> OneWayTables | None:
        return tables_from(self._domain, self._release.frames.get("marginals"))

    # ---- verify -------------------------------------------------------------------------------------------

    def problems(self) -> Iterator[str]:
        """Whether leaves cover the domain once, follow from their noisy counts, and hold the released records, which
        follow from all noisy numbers."""
        drawn = not_as_drawn(self._release, self._domain, lambda dice: self._drawn(self._leaves, dice))
        return unless_found(self._recounted(), drawn)

    def _recounted(self) -> Iterator[str]:
        yield from broken_rules(self._release)
        yield from self._one_way_problems()
        wanted = self._manifest.summary.get(RECORDS_WANTED)
        how = self._traits.counting
        yield from leaf_problems(self._release, self._domain, self._nodes, self._leaves, how, wanted)
        if not self._traits.of_ranges and np.array_equal(self._leaves.ids, self._nodes.leaves):
            yield from records_not_held(self._release, self._domain, self._leaf, self._leaves.count, "leaves")

    def _drawn(self, leaves: Leaves, dice: Dice) -> Drawn | pl.DataFrame:
        """Records of these leaves."""
        if self._traits.of_ranges:
            return draw_generalised(self._domain, leaves, dice)
        within = distributions(self._domain, leaves, self._traits.values, self._one_ways)
        return drawn_records(self._domain, leaves, self._traits.values, within, dice)

    def _leaf(self, codes: Codes) -> Ints:
        """The number of the leaf of each record, among the leaves."""
        return np.searchsorted(self._leaves.ids, self._nodes.route(codes))

    def _one_way_problems(self) -> Iterator[str]:
        tables, sizes = self._one_ways, [attribute.size for attribute in self._domain.attributes]
        if tables is None:
            return
        if not all(are_edges(edge, size) for edge, size in zip(tables.edges, sizes, strict=True)):
            raise VerifyError("the cells of a one-way table do not cover its column once, in order")
        yield from one_way_rates(self._release)
        stated = self._release.frames["marginals"]
        rate = int(stated["rate_num"][0]), int(stated["rate_den"][0])
        again = marginals_frame(self._domain, tables.edges, stated["noisy"].to_numpy(), *rate)
        yield from changed_columns(stated, again, "one-way tables")

    # ---- answers ------------------------------------------------------------------------------------------

    def noise(self, question: Question, share: Share) -> Noise:  # noqa: ARG002
        return self._regions.noise(question)

    @cached_property
    def _regions(self) -> Regions:
        return regions_of(self._domain, self._leaves)

    def direct(self, question: Question) -> DirectAnswer | None:
        return self._tables.answer(question)

    @cached_property
    def _tables(self) -> Tables:
        """The one-way tables, in bins; none if the order of categories was drawn at random."""
        marginals = self._release.frames.get("marginals")
        if marginals is None or self._traits.order_seed is not None:
            return Tables([], None)
        tables, spread = [], float(variance(marginals["rate_num"][0] / marginals["rate_den"][0]))
        for attribute in self._domain.attributes:
            rows = marginals.filter(marginals["attribute"] == attribute.name)
            starts = attribute.places(np.arange(attribute.bins + 1))  # the first value of each bin, and null after them
            ends = np.append(starts, attribute.grid + 1) if attribute.nullable else starts
            edges = np.append(ends[rows["code"].to_numpy()], ends[-1])  # `code` is the first bin of a cell
            tables.append(NoisyTable((attribute.name,), (edges,), rows["noisy"].to_numpy().astype(float), spread))
        return Tables(tables, None)

    # ---- more records, show, report -----------------------------------------------------------------------

    def draw(self, n: int, dice: Dice) -> pl.DataFrame:
        """Records in proportion to the released leaves."""
        leaves = self._leaves
        may, shape = possible(self._domain, leaves), leaves.count.shape
        fewer = replace(leaves, count=scaled(leaves.count.reshape(-1), may.reshape(-1), n, dice).reshape(shape))
        return as_frame(self._drawn(fewer, dice))

    @cached_property
    def _counts(self) -> Ints:
        """Released counts of all nodes."""
        return self._nodes.counts(self._leaves.ids, self._leaves.count.sum(axis=1))

    def lines(self, depth: int, everything: bool) -> Iterator[tuple[str, list[str]]]:
        """The tree down to a certain depth: for each region the span that its last cut left, and its count."""
        nodes, count = self._nodes, self._counts

        def lines(node: int, bars: str, level: int) -> Iterator[str]:
            many = int(nodes.many[node])
            name = nodes.name(node, self._domain) if node else "all"
            yield f"{name}: {count[node]:,}{'  …' if many and level == depth else ''}"
            for place in range(many if level < depth else 0):
                last = place == many - 1
                branch = lines(int(nodes.first[node]) + place, bars + ("   " if last else "│  "), level + 1)
                yield bars + ("└─ " if last else "├─ ") + next(branch)
                yield from branch

        yield column_section(self._release, everything)
        yield "Regions", list(lines(0, "", 0))

    def report(self) -> Section:
        """The tree as an icicle."""
        nodes, cut = self._nodes, f"The domain was cut into {self._manifest.summary['leaves']:,} regions"
        made = [Node("all records", int(self._counts[0]))]
        for number in range(1, len(self._counts)):
            made.append(Node(nodes.name(number, self._domain), int(self._counts[number])))
            made[nodes.parent[number]].children.append(made[-1])
        return tree_section(made[0], f"{cut}, each with a noisy count.")

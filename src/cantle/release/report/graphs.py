"""The report of a release of degrees: their distribution, and what it is good for."""

from __future__ import annotations

import numpy as np

from cantle.release import Release
from cantle.release.asking import Asker
from cantle.release.data_file import as_polars
from cantle.release.report.ask import Box, ask_degrees
from cantle.release.report.content import Section, Tile
from cantle.release.report.degree_section import degree_section
from cantle.release.words import percent

TITLE = "the degrees of a graph"
SIZE = "nodes, each with its released degree. Who is connected to whom is not in the release."

DROWNED = 1 / 4
"""Share of the nodes above which noise leaves little of a degree sequence."""

WAY_OUT = "it takes more nodes or a larger epsilon"


def sections(release: Release) -> tuple[list[Section], Box | None]:
    degrees = as_polars(release.records, release.manifest)["degree"].to_numpy().astype(np.int64)
    return [degree_section(degrees, Asker(release), release)], ask_degrees(degrees, release)


def accuracy_tiles(release: Release) -> list[Tile]:
    nodes = release.manifest.summary["records"]
    return [_node_tile(_node_margin(release), nodes)] if nodes else []


def uses(release: Release) -> tuple[list[str], list[str]]:
    numbers = "how many nodes have few or many neighbours, averages and quantiles of degrees"
    absent = "who is connected to whom, clustering, communities, distances: none of these is in the release"
    nodes = release.manifest.summary["records"]
    if not nodes:
        return [f"nothing but that there are few nodes: {WAY_OUT}"], [numbers, absent]
    if (margin := _node_margin(release)) <= nodes * DROWNED:
        return [numbers], [absent]
    noise = f"they are known to ±{margin:,} of {nodes:,} nodes; {WAY_OUT}"
    return ["rough ideas: about how many nodes there are, and of which size most degrees are"], [
        f"{numbers}: {noise}",
        absent,
    ]


def _node_margin(release: Release) -> int:
    """How far a number of nodes may be off in 95 of 100 cases.

    It is the largest of three: the noise in the number of all nodes, the noise in the number of nodes with at least the
    middle degree, and the number of nodes whose degree is a guess.
    """
    summary, degrees = release.manifest.summary, as_polars(release.records, release.manifest)["degree"]
    estimate = release.count(f"degree >= {int(degrees.median() or 0)}")  # type: ignore[arg-type]
    return max(round(estimate.high - estimate.value), summary.get("nodes_error", 0), summary.get("guessed", 0))


def _node_tile(margin: int, nodes: int) -> Tile:
    words = "The number of nodes with at least k neighbours, for any k, is off by less in 95 of 100 cases."
    return Tile("accuracy", f"±{margin:,} ({percent(margin, nodes)})", words)

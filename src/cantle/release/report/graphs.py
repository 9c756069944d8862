"""The report of a release of degrees: their distribution."""

from __future__ import annotations

import numpy as np

from cantle.release import Release
from cantle.release.answers.degree_answers import DegreeAsker
from cantle.release.data_file import as_polars
from cantle.release.graph_verdict import has_confidence, node_margin
from cantle.release.report.ask import Box, ask_degrees
from cantle.release.report.content import Section, Tile
from cantle.release.report.degree_section import degree_section
from cantle.release.words import percent

TITLE = "the degrees of a graph"
SIZE = "nodes, each with its released degree. Who is connected to whom is not in the release."


def sections(release: Release) -> tuple[list[Section], Box | None]:
    degrees = as_polars(release.records, release.manifest)["degree"].to_numpy().astype(np.int64)
    return [degree_section(degrees, DegreeAsker(release), release)], ask_degrees(degrees, release)


def accuracy_tiles(release: Release) -> list[Tile]:
    nodes = release.manifest.summary["records"]
    return [_node_tile(release, nodes)] if nodes else []


def _node_tile(release: Release, nodes: int) -> Tile:
    margin = node_margin(release)
    words = "The number of nodes with at least k neighbours, for any k, is off by less in 95 of 100 cases."
    if not has_confidence(release):
        words = (
            "So far noise and guesses move the number of nodes with at least k neighbours, for any k. What the bound "
            "on degrees removed comes on top."
        )
    return Tile("accuracy", f"±{margin:,} ({percent(margin, nodes)})", words)

"""The report of a release of degrees: how many nodes have at least k neighbours, with an error band."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from cantle.release import Release
from cantle.release.answers.degree_answers import DegreeAsker
from cantle.release.answers.estimates import Estimate
from cantle.release.graphs import has_confidence, node_margin
from cantle.release.report.charts import LogLog, Svg, line, picture, tag
from cantle.release.report.content import BASIS, CONFIDENCE, Figure, Section, Tile, numbers, weakest
from cantle.release.report.groupings import Ints
from cantle.release.storage import as_polars
from cantle.release.words import percent
from cantle.schema.code_sets import CodeSet, OneColumn
from cantle.schema.question_columns import MOST_COUNTED


def degree_chart(degrees: Sequence[int], counts: Sequence[Estimate], label: str) -> Svg:
    """The number of nodes of degree at least k for each degree k from 1, with its error band."""
    nodes, low, high = ([getattr(one, name) for one in counts] for name in ("value", "low", "high"))
    axes = LogLog(max([10, *degrees]), max([10.0, *nodes, *high]), 700.0, 360.0, 72.0, 40.0)
    parts = axes.axes("degree k", "nodes of degree k or more")
    upper, lower, curve = ([axes.at(*one) for one in zip(degrees, some, strict=True)] for some in (high, low, nodes))
    parts.append(tag("path", d=_path([*upper, *reversed(lower)]) + "Z", cls="band"))
    corner, right, top = axes.at(1, 1), axes.at(axes.most_x, 1), axes.at(1, axes.most_y)
    parts += [tag("path", d=_path(curve), cls="curve"), line(*corner, *right, "axis"), line(*top, *corner, "axis")]
    return picture(axes.width, axes.height, label, *parts, cls="chart wide")


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in points) if points else ""


POINTS = 60


def degree_section(degrees: Ints, release: Release) -> Section:
    """The degree distribution with its error band, and a few facts about the graph."""
    points, asker = steps(degrees), DegreeAsker(release)
    counts = [asker.count(OneColumn("degree", CodeSet.span(k, MOST_COUNTED, MOST_COUNTED)), CONFIDENCE) for k in points]
    label = "Number of nodes of degree k or more, on logarithmic axes. All numbers are in the table below."
    rows = [numbers(f"{k:,}", one) for k, one in zip(points, counts, strict=True)]
    facts = [
        ("nodes", f"{len(degrees):,}"),
        ("edges", f"{int(degrees.sum()) // 2:,}"),
        ("average degree", f"{degrees.mean() if len(degrees) else 0:,.2f}"),
        ("highest degree", f"{int(degrees.max(initial=0)):,}"),
        ("nodes without an edge", f"{int((degrees == 0).sum()):,}"),
    ]
    if bound := release.manifest.summary.get("theta"):
        facts.append(("degrees counted up to", f"{bound:,}"))
    note = f"The limits of the band {BASIS[weakest(one.covers for one in counts)]}"
    chart = degree_chart(points, counts, label)
    figure = Figure(
        "Degree distribution", chart, facts, note, ("degree k", "nodes of degree k or more", "from", "to"), rows
    )
    return Section("nodes", "Degrees", (), (figure,), tiles=[*_accuracy(release)])


def steps(degrees: Ints) -> list[int]:
    """Degrees from 1 to the highest, evenly spaced on a logarithmic axis."""
    most = int(degrees.max(initial=1))
    return sorted({round(float(k)) for k in np.geomspace(1, max(1, most), POINTS)})


def sections(release: Release) -> list[Section]:
    degrees = as_polars(release.records, release.manifest)["degree"].to_numpy().astype(np.int64)
    return [degree_section(degrees, release)]


def _accuracy(release: Release) -> Iterator[Tile]:
    nodes = release.manifest.summary["records"]
    if not nodes:
        return
    margin = node_margin(release)
    words = "The number of nodes with at least k neighbours, for any k, is off by less in 95 of 100 cases."
    if not has_confidence(release):
        words = (
            "Noise and guesses move the number of nodes with at least k neighbours by up to this, for any k. What the "
            "bound on degrees removed comes on top."
        )
    yield Tile("accuracy", f"±{margin:,} ({percent(margin, nodes)})", words)

"""The report of a release of degrees: how many nodes have at least k neighbours, with an error band."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log10

import numpy as np

from cantle.release import Release
from cantle.release.answers.asking import Asker
from cantle.release.answers.degree_answers import DegreeAsker
from cantle.release.data_file import as_polars
from cantle.release.graphs import has_confidence, node_margin
from cantle.release.report.charts import Svg, count_text, line, picture, tag, text
from cantle.release.report.content import Box, Figure, Section, Tile
from cantle.release.report.groupings import Ints
from cantle.release.report.tables import BASIS, CONFIDENCE, weakest
from cantle.release.words import percent
from cantle.schema.code_sets import CodeSet, OneColumn
from cantle.schema.question_columns import MOST_COUNTED

_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 700.0, 360.0, 72.0, 40.0


def degree_chart(
    degrees: Sequence[int], nodes: Sequence[float], low: Sequence[float], high: Sequence[float], label: str,
    private: tuple[Sequence[int], Sequence[int]] | None = None,
) -> Svg:  # fmt: skip
    """The number of nodes of degree at least k for each degree k from 1, with its error band.

    `private`, in an internal report, holds degrees and numbers of nodes of the private graph.
    """
    most_x, most_y = max([10, *degrees]), max([10.0, *nodes, *high])
    wide, tall = _WIDTH - _LEFT - 14, _HEIGHT - _BOTTOM - 10

    def at(k: float, n: float) -> tuple[float, float]:
        x = _LEFT + wide * log10(max(1.0, k)) / log10(most_x)
        return x, 10 + tall * (1 - log10(max(1.0, n)) / log10(most_y))

    parts = []
    for power in range(floor(log10(most_x)) + 1):
        x, _ = at(10**power, 1)
        parts += [
            line(x, 10, x, 10 + tall, "grid"),
            text(count_text(10**power), x, 10 + tall + 16, anchor="middle", cls="tick"),
        ]
    for power in range(floor(log10(most_y)) + 1):
        _, y = at(1, 10**power)
        parts += [
            line(_LEFT, y, _WIDTH - 14, y, "grid"),
            text(count_text(10**power), _LEFT - 6, y + 4, anchor="end", cls="tick"),
        ]
    upper = [at(k, n) for k, n in zip(degrees, high, strict=True)]
    lower = [at(k, n) for k, n in zip(degrees, low, strict=True)]
    parts.append(tag("path", d=_path([*upper, *reversed(lower)]) + "Z", cls="band"))
    if private is not None:
        parts.append(tag("path", d=_path([at(k, n) for k, n in zip(*private, strict=True)]), cls="raw"))
    parts.append(tag("path", d=_path([at(k, n) for k, n in zip(degrees, nodes, strict=True)]), cls="curve"))
    parts += [line(_LEFT, 10 + tall, _WIDTH - 14, 10 + tall, "axis"), line(_LEFT, 10, _LEFT, 10 + tall, "axis"),
              text("degree k", _LEFT + wide / 2, _HEIGHT - 6, anchor="middle"),
              text("nodes of degree k or more", 14, 10 + tall / 2, anchor="middle",
                   transform=f"rotate(-90 14 {10 + tall / 2:.1f})")]  # fmt: skip
    return picture(_WIDTH, _HEIGHT, label, *parts, cls="chart wide")


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in points) if points else ""


POINTS = 60


def degree_section(degrees: Ints, asker: Asker, release: Release) -> Section:
    """The degree distribution with its error band, and a few facts about the graph."""
    points = steps(degrees)
    counts = [asker.count(OneColumn("degree", CodeSet.span(k, MOST_COUNTED, MOST_COUNTED)), CONFIDENCE) for k in points]
    nodes, low, high = ([getattr(one, name) for one in counts] for name in ("value", "low", "high"))
    label = "Number of nodes of degree k or more, on logarithmic axes. All numbers are in the table below."
    rows = [
        (f"{k:,}", f"{one.value:,.0f}", f"{one.low:,.0f}", f"{one.high:,.0f}")
        for k, one in zip(points, counts, strict=True)
    ]
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
    chart = degree_chart(points, nodes, low, high, label)
    figure = Figure(
        "Degree distribution", chart, facts, note, ("degree k", "nodes of degree k or more", "from", "to"), rows
    )
    return Section("nodes", "Degrees", (), (figure,))


def steps(degrees: Ints) -> list[int]:
    """Degrees from 1 to the highest, evenly spaced on a logarithmic axis."""
    most = int(degrees.max(initial=1))
    return sorted({round(float(k)) for k in np.geomspace(1, max(1, most), POINTS)})


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


def ask_degrees(degrees: Ints, release: Release) -> Box:
    """How many nodes have each degree."""
    values, counts = np.unique(degrees, return_counts=True)
    return {
        "unmeasured": "the band above shows how far noise moves such counts",
        "records": release.manifest.summary["records"],
        "held": len(degrees),
        "nodes": [values.tolist(), counts.tolist()],
        "error": [None, None],
    }

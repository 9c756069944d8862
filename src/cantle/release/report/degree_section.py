"""The degrees of a graph: how many nodes have at least k neighbours, on logarithmic axes, with an error band."""

from __future__ import annotations

import numpy as np

from cantle.release import Release
from cantle.release.answers.asking import Asker
from cantle.release.report.columns import BASIS, CONFIDENCE, weakest
from cantle.release.report.content import Figure, Section
from cantle.release.report.groupings import Ints
from cantle.release.report.loglog import degree_chart
from cantle.schema.code_sets import CodeSet, OneColumn
from cantle.schema.question_columns import MOST_COUNTED

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

"""Table 1 and figures 4 and 5 of the RPS paper (section 5.2): degree sequences of four graphs.

Each graph has three panels: (a) with known maximum degree and (b) with maximum degree n - 1, as in the paper, and
`edge`, which protects less and must not be compared with the others at the same epsilon. Our release chooses its own
bound on the degrees and pays for it, so it is the same in (a) and (b). It appears four times: unit node with a list of
all nodes, unit node with the edges alone, unit node-isolate, and the sound form of RPS (on projected degrees, unit node
with a list of all nodes).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

import numpy as np
import polars as pl

from cantle_lab.papers import baselines, graphs, metrics, report, rps_degrees
from cantle_lab.papers.coding import Ints
from cantle_lab.papers.graphs import Graph, Statistics
from cantle_lab.papers.harness import Row, Setting, rows

FIGURE = "rps-degrees"
EPSILONS = (0.1, 0.5, 1)
RPS = "RPS as published (not node-private)"
HAY = "Hay et al., node"
OURS, BARE, ISOLATE = "ours, node", "ours, node, edge list only", "ours, node-isolate"
PAPER = "ours, node, preset paper"
KNOWN, LARGEST, EDGE = "a: maximum degree known", "b: maximum degree n - 1", "edge"
DISTANCES = {"KS": metrics.ks, "EMD rms": metrics.emd, "W1": metrics.w1}


def publish_degrees(
    setting: Setting, graph: Graph, unit: str, epsilon: float, repeat: int, *, listed: bool = True, **options: object
) -> Ints:
    """Our release of the degrees of a graph, ascending.

    With unit `node` the number of nodes is private; `listed` gives the publisher a private list of all nodes, because
    the edges alone do not contain nodes without any. With the other units the number is public. If there is a seed,
    every point and series still has noise of its own, so that their errors are independent.
    """
    schema = {"kind": "graph", "unit": unit} | ({} if unit == "node" else {"nodes": graph.nodes})
    nodes = {"nodes": np.arange(graph.nodes)} if unit == "node" and listed else {}
    salt = crc32(f"{graph.name} {unit} {listed} {epsilon} {repeat} {options}".encode())
    release = setting.release(graph.edges, schema, epsilon, {"method": "degrees"} | nodes | options, salt)
    return np.sort(np.asarray(release.records["degree"], dtype=np.int64))


# ---------------------------------------------------------------------------------------------- figures 4 and 5


def degrees(setting: Setting) -> Iterator[Row]:
    """The KS distance of the released degrees from the true ones, and the earth mover's distance as a root mean square
    (as in the paper) and in its usual form, at three epsilons."""
    readable = graphs.present(setting.data_dir, FIGURE, setting.echo)
    for graph in readable:
        loss = rps_degrees.worst_removal(graph, 1.0, *setting.pick((), (3,)))
        setting.echo(
            f"{FIGURE}: {graph.name}, epsilon 1: the leaf counts of the published scheme claim a loss of 0.5; "
            f"with every degree a leaf, removing one node of the graph can cost {loss:.1f}"
        )
    rng = np.random.default_rng(setting.seed)
    for graph in readable:
        for epsilon, repeat in setting.points(EPSILONS):
            for panel, series in releases(setting, graph, epsilon, repeat, rng).items():
                for name, released in series.items():
                    apart = {distance: metric(graph.degrees, released) for distance, metric in DISTANCES.items()}
                    yield from rows(FIGURE, f"{graph.name}, {panel}: {{}}", name, epsilon, repeat, apart)


def releases(
    setting: Setting, graph: Graph, epsilon: float, repeat: int, rng: np.random.Generator
) -> dict[str, dict[str, Ints]]:
    """One release of each publisher, by panel and series."""
    degrees = graph.degrees
    ours = {
        OURS: publish_degrees(setting, graph, "node", epsilon, repeat),
        BARE: publish_degrees(setting, graph, "node", epsilon, repeat, listed=False),
        ISOLATE: publish_degrees(setting, graph, "node-isolate", epsilon, repeat),
        PAPER: publish_degrees(setting, graph, "node", epsilon, repeat, preset="paper"),
    }
    panels: dict[str, dict[str, Ints]] = {}
    for panel, maximum in {KNOWN: int(degrees.max(initial=0)), LARGEST: max(graph.nodes - 1, 0)}.items():
        panels[panel] = {
            RPS: rps_degrees.release(degrees, epsilon, maximum, rng),
            HAY: baselines.hay_node(degrees, epsilon, maximum, rng),
            **ours,
        }
    panels[EDGE] = {
        "Hay et al., edge": baselines.hay_edge(degrees, epsilon, rng),
        "ours, edge": publish_degrees(setting, graph, "edge", epsilon, repeat),
    }
    return panels


def table(summary: pl.DataFrame) -> str:
    """The panels as text, then at how many points (graph and epsilon) the mean of one series is below another's."""
    lines = [report.table(summary), ""]
    for panel in (KNOWN, LARGEST):
        here = summary.filter(pl.col("panel").str.contains(panel, literal=True))
        for (metric,), part in here.group_by(pl.col("panel").str.split(": ").list.last(), maintain_order=True):
            for one, other in ((RPS, HAY), (OURS, HAY), (BARE, HAY), (ISOLATE, HAY), (OURS, RPS), (OURS, PAPER)):
                lines.append(f"{panel}, {metric}: {one} below {other} in {_won(part, one, other)} points")
    return "\n".join(lines)


def _won(part: pl.DataFrame, one: str, other: str) -> str:
    first, second = (part.filter(pl.col("series") == name).select("panel", "x", "mean") for name in (one, other))
    both = first.join(second, on=["panel", "x"], suffix="_other")
    return f"{both.filter(pl.col('mean') < pl.col('mean_other')).height} of {both.height}"


def draw(summary: pl.DataFrame, path: Path) -> None:
    """Draws one row per graph and one column per panel of the paper and metric; earth mover's distances are on a log
    scale."""
    kinds = summary["panel"].str.splitn(", ", 2).struct.field("field_1").n_unique()
    report.draw(summary, path, columns=kinds, log=lambda part: not part["panel"][0].endswith("KS"))


# ---------------------------------------------------------------------------------------------- table 1


def table1(setting: Setting) -> Iterator[Row]:
    """The statistics of the graphs: each panel is a graph, each series a column of the table."""
    for graph in graphs.present(setting.data_dir, "rps-table1", setting.echo):
        for name, value in zip(Statistics._fields, graphs.statistics(graph), strict=True):
            yield Row("rps-table1", graph.name, name, None, 0, float(value))


def statistics_table(summary: pl.DataFrame) -> str:
    """One line per graph, in which each value is followed by the published one."""
    lines = [f"{'rps-table1':12}" + "".join(f"{name + ' (paper)':>24}" for name in Statistics._fields)]
    for (graph,), part in summary.group_by("panel", maintain_order=True):
        measured = dict(zip(part["series"], part["mean"], strict=True))
        published = graphs.SOURCES[str(graph)].published._asdict()
        cells = [f"{_number(name, measured[name])} ({_number(name, published[name])})" for name in Statistics._fields]
        lines.append(f"{graph:12}" + "".join(f"{cell:>24}" for cell in cells))
    return "\n".join(lines)


def _number(name: str, value: float) -> str:
    return f"{value:.2f}" if name == "alpha" else f"{value:,.0f}"

"""Released degrees beside those of the private graph."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from cantle.data.graphs import Degrees, read_graph
from cantle.internal.comparison import Comparison, Distribution, Fact
from cantle.release import Release
from cantle.release.data_file import as_polars
from cantle.release.load import graph_schema_of
from cantle.release.report.groupings import Ints


def compare_graph(path: Path, release: Release, nodes: Path | None = None) -> Comparison:
    graph = read_graph(path, graph_schema_of(release.manifest), nodes)
    raw = graph.values if isinstance(graph, Degrees) else np.bincount(graph.ends.reshape(-1), minlength=graph.nodes)
    released = as_polars(release.records, release.manifest)["degree"].to_numpy().astype(np.int64)
    facts = (
        Fact("nodes", len(raw), len(released)),
        Fact("edges", int(raw.sum()) // 2, int(released.sum()) // 2),
        Fact("average degree", _mean(raw), _mean(released)),
        *(Fact(f"{100 * p:g} % of nodes have a degree of at most", _quantile(raw, p), _quantile(released, p))
          for p in (0.5, 0.9, 0.99)),
        Fact("highest degree", int(raw.max(initial=0)), int(released.max(initial=0))),
        Fact("largest difference of the shares of nodes up to any degree", None, _largest_gap(raw, released)),
    )  # fmt: skip
    edges, labels = degree_groups(max(raw.max(initial=0), released.max(initial=0)))
    counts = [np.diff(np.searchsorted(np.sort(one), edges)) for one in (raw, released)]
    return Comparison("graph", facts, (Distribution("degrees", labels, counts[0], counts[1], ticks=labels),))


def degree_groups(most: int) -> tuple[list[int], tuple[str, ...]]:
    """Degrees in powers of two: where groups begin, and their labels."""
    edges = [0, *(1 << i for i in range(int(most).bit_length() + 1))]
    pairs = list(zip(edges[:-1], edges[1:], strict=True))
    return edges, tuple(str(lo) if hi - lo == 1 else f"{lo} to {hi - 1}" for lo, hi in pairs)


def _mean(degrees: Ints) -> float:
    return float(degrees.mean()) if len(degrees) else 0.0


def _quantile(degrees: Ints, share: float) -> int:
    return int(np.percentile(degrees, 100 * share, method="inverted_cdf")) if len(degrees) else 0


def _largest_gap(one: Ints, two: Ints) -> float:
    grid = np.union1d(one, two)
    shares = [np.searchsorted(np.sort(part), grid, side="right") / max(1, len(part)) for part in (one, two)]
    return float(np.abs(shares[0] - shares[1]).max(initial=0.0))

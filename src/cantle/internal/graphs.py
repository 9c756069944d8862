"""A graph in `cantle check` (loops, repeats, unknown nodes) and in `cantle evaluate` (released degrees beside private
ones), read as `publish` would read it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from cantle.data.graphs import Degrees, declared_nodes, edge_columns, read_graph
from cantle.internal.comparison import Comparison, Distribution, Fact
from cantle.internal.findings import Checked, Finding, Section
from cantle.release import Release
from cantle.release.schemas import schema_as
from cantle.release.storage import as_polars
from cantle.schema.graph import GraphSchema
from cantle.trusted.bounding.graph_pairs import Declared, Identified, Pairs
from cantle.trusted.bounding.node_ids import Column, Ints


def check_graph(path: Path, schema: GraphSchema, nodes: Path | None) -> Checked:
    """What `publish` would do with the pairs of nodes in a file."""
    graph = read_graph(path, schema, nodes)
    if isinstance(graph, Degrees):
        return Checked("graph", "degrees", graph.nodes, graph.nodes, (), _degree_facts(graph.values))
    read, loops, distinct, unknown = _count_pairs(path, schema)
    edges = len(graph.ends)
    repeated = read - unknown - loops - distinct
    findings = (
        Finding("a node that is missing or not declared", unknown, read, becomes="left out"),
        Finding("a node that is not in the list of nodes", distinct - edges, read, becomes="left out"),
        Finding("a node connected with itself", loops, read, becomes="no edge"),
        Finding("an edge that is there already", repeated, read, problem=False, becomes="counted once"),
    )
    degrees = np.bincount(graph.ends.reshape(-1), minlength=graph.nodes)
    return Checked("graph", "edges", read, edges, (Section("edges", findings),), _degree_facts(degrees))


def _degree_facts(degrees: Ints) -> dict[str, int | float]:
    facts: dict[str, int | float] = {"nodes": len(degrees), "nodes without an edge": int((degrees == 0).sum())}
    if len(degrees):
        facts |= {"average degree": float(degrees.mean()), "highest degree": int(degrees.max())}
        facts["99 % of nodes have a degree of at most"] = int(np.percentile(degrees, 99, method="inverted_cdf"))
    return facts


def _count_pairs(path: Path, schema: GraphSchema) -> tuple[int, int, int, int]:
    """The numbers of pairs, loops, distinct edges, and pairs with a node that is missing or not declared."""
    declared = declared_nodes(schema)
    read = loops = unknown = 0
    numbers, texts = [np.zeros((0, 2), dtype=np.int64)], set[tuple[bytes, ...]]()
    for columns in edge_columns(path, schema.form)[1]:
        titles = _size(_clean(columns, None, titles=False)) - _size(_clean(columns, None, titles=True))
        clean = _clean(columns, declared, titles=True)
        here, named = len(columns[0].numbers) - titles, list(zip(*clean.texts, strict=True))
        read, unknown = read + here, unknown + here - _size(clean)
        same = clean.numbers[:, 0] == clean.numbers[:, 1]
        loops += int(same.sum()) + sum(one == two for one, two in named)
        numbers.append(np.sort(clean.numbers[~same], axis=1))
        texts |= {tuple(sorted(pair)) for pair in named if pair[0] != pair[1]}
    return read, loops, len(np.unique(np.concatenate(numbers), axis=0)) + len(texts), unknown


def _clean(columns: Sequence[Column], declared: Declared | None, *, titles: bool) -> Identified:
    """The pairs of declared nodes, loops and repeats included, without a header if `titles` are left out."""
    pairs = Pairs(titles=titles)
    pairs.add(list(columns))
    return pairs.identified(declared)


def _size(pairs: Identified) -> int:
    return len(pairs.numbers) + len(pairs.texts[0])


def compare_graph(path: Path, release: Release, nodes: Path | None) -> Comparison:
    graph = read_graph(path, schema_as(release.manifest, GraphSchema), nodes)
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

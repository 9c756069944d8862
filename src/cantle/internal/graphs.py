"""A graph in `cantle check` (loops, repeats, unknown nodes) and in `cantle evaluate` (released degrees beside private
ones), read as `publish` would read it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from cantle.data.graphs import Degrees, declared_nodes, edge_columns, read_graph
from cantle.internal.comparison import Comparison, Distribution, Fact
from cantle.internal.findings import Checked, Finding, Section
from cantle.release import Release
from cantle.release.data_file import as_polars
from cantle.release.schemas import schema_as
from cantle.schema.graph import GraphSchema
from cantle.trusted.bounding.graph_pairs import HEADERS, Bools, Declared
from cantle.trusted.bounding.node_ids import Column, Ints, identifier


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
    declared, texts = declared_nodes(schema), _Texts()
    read = loops = unknown = 0
    kept = [np.zeros((0, 2), dtype=np.int64)]
    for one, two in edge_columns(path, schema.form)[1]:
        (a, a_text), (b, b_text) = texts.numbers(one), texts.numbers(two)
        known = texts.may_occur(a, a_text, declared) & texts.may_occur(b, b_text, declared)
        titles = texts.are_titles(a, b, a_text & b_text)
        read, unknown = read + int((~titles).sum()), unknown + int((~known & ~titles).sum())
        # texts become odd numbers and numbers even ones, so that a text is never mistaken for a number
        ends = np.stack([2 * a + a_text, 2 * b + b_text], axis=1)[known & ~titles]
        same = ends[:, 0] == ends[:, 1]
        loops += int(same.sum())
        kept.append(np.sort(ends[~same], axis=1))
    return read, loops, len(np.unique(np.concatenate(kept), axis=0)), unknown


class _Texts:
    """Numbers for the identifiers that are texts, in the order in which they first occur."""

    def __init__(self) -> None:
        self._place: dict[bytes, int] = {}

    def __repr__(self) -> str:
        return "Texts(private)"

    def numbers(self, column: Column) -> tuple[Ints, Bools]:
        """The number of each identifier, -1 for a missing text; and which identifiers are texts."""
        ids, is_text = column.numbers.copy(), column.other.copy()
        for at, text in zip(np.flatnonzero(column.other).tolist(), column.texts, strict=True):
            known = identifier(text)
            is_text[at] = not isinstance(known, int)
            if isinstance(known, int):
                ids[at] = known
            else:
                ids[at] = -1 if known is None else self._place.setdefault(known, len(self._place))
        return ids, is_text

    def may_occur(self, numbers: Ints, is_text: Bools, declared: Declared | None) -> Bools:
        if declared is None:
            return ~is_text | (numbers >= 0)
        good = np.array([*(text in declared.texts for text in self._place), False], dtype=bool)
        return np.where(is_text, good[np.where(is_text, numbers, -1)], declared.has_numbers(numbers))

    def are_titles(self, a: Ints, b: Ints, both: Bools) -> Bools:
        """Which pairs are usual titles of two columns, that is a header and not an edge."""
        places: dict[bytes, list[int]] = {}
        for text, place in self._place.items():
            places.setdefault(text.lower(), []).append(place)
        titles = np.zeros(len(a), dtype=bool)
        for one, two in HEADERS:
            if one in places and two in places:
                titles |= both & np.isin(a, places[one]) & np.isin(b, places[two])
        return titles


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

"""A release as text for people: the promise, the charges on each kind of path, and the tree of regions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cantle.release import Release
from cantle.release.data_file import as_polars
from cantle.release.load import domain_of, grid_and_domain
from cantle.release.manifest import Manifest
from cantle.trusted.budget import Charge, words_of

_WORDS = {"sets": "sets (synthetic)", "graph": "degrees, one per node"}


def overview(release: Release) -> list[tuple[str, str]]:
    """The main facts, as pairs of words."""
    m = release.manifest
    return [
        ("guarantee", m.guarantee),
        ("epsilon", f"{m.epsilon} for {m.unit}"),
        ("method", f"{m.method}, preset {m.parameters['preset']}"),
        ("records", f"{m.summary['records']} {_WORDS.get(m.kind, '(synthetic)')}"),
        ("regions", regions(m)),
        *_account(m),
    ]


def _account(manifest: Manifest) -> list[tuple[str, str]]:
    """What the data set has spent, if the release was charged in a ledger."""
    line = manifest.ledger
    if not line:
        return []
    spent, cap = line.spent_nano, line.cap_nano
    left = "no cap is set" if cap is None else f"{words_of(cap - spent)} left of {words_of(cap)}"
    return [("ledger", f"{line.dataset}, release {line.sequence}: epsilon {words_of(spent)} spent, {left}")]


def regions(manifest: Manifest) -> str:
    """How many regions the records were drawn from."""
    s = manifest.summary
    if manifest.method == "diffpart":
        return f"{s['leaves']} sets of items with a count; {s['refilled']} records filled in at random"
    if manifest.method == "degrees":
        bound = "no bound on degrees" if not s["theta"] else f"degrees counted up to {s['theta']}"
        return f"{bound}, {s['leaves']} ranges" if "leaves" in s else bound
    if manifest.method == "mosaic":
        return f"{s['tables']} noisy tables over {s['cells']} cells of columns"
    if manifest.method == "diffgen":
        return f"{s['cells']} groups, of which {s['listed']} have a released count; {s['rounds']} specialisations"
    return f"{s['leaves']} leaves, depth {s['depth']}"


def budget_lines(manifest: Manifest, most: int = 12) -> Iterator[str]:
    """Each kind of path with its charges; equal charges on successive levels share a line."""
    paths = manifest.receipt.paths
    for path in paths[:most]:
        yield f"path {path.path}: epsilon {words_of(path.epsilon_nano)}"
        for text in _runs(path.charges):
            yield f"  {text}"
    if len(paths) > most:
        yield f"… and {len(paths) - most} more kinds of path, all in release.json"


def _runs(charges: Sequence[Charge]) -> Iterator[str]:
    """Charges in words, equal ones of successive levels joined."""
    runs: list[list[Charge]] = []
    for charge in sorted(charges, key=lambda c: (c.why.startswith("leaf"), c.why, c.depth)):
        same = runs and replace(runs[-1][-1], depth=charge.depth) == charge
        if same:
            runs[-1].append(charge)
        else:
            runs.append([charge])
    for run in runs:
        first, last, times = run[0], run[-1], len(run)
        levels = f"depth {first.depth}" if times == 1 else f"depth {first.depth} to {last.depth}, {times} times"
        yield f"{first.why} ({first.verb}, {levels}): {words_of(first.epsilon_nano)}"


def cut_lines(release: Release) -> Iterator[str]:
    """The released cut of every attribute, and the taxonomy it was cut from."""
    domain, grid = grid_and_domain(release)
    for attribute, edge in zip(domain.attributes, grid.edges, strict=True):
        labels = [attribute.describe(int(lo), int(hi)) for lo, hi in zip(edge[:-1], edge[1:], strict=True)]
        yield f"{attribute.name}: {' · '.join(labels)}"
    for attribute in domain.attributes:
        if attribute.taxonomy is not None:
            yield f"\ntaxonomy of {attribute.name}"
            yield from attribute.taxonomy.preview()


def table_lines(release: Release) -> Iterator[str]:
    """The noisy tables of a mosaic release: what each was asked for and which columns it joins."""
    for about in release.manifest.structure["tables"]:
        if "edges" in about and "columns" in about:
            shape = " x ".join(str(len(edges) - 1) for edges in about["edges"])
            text = f"{', '.join(about['columns'])} ({shape})" if about["columns"] else "all"
        else:
            text = about["column"]
        yield f"{about['why']}: {text}"


def tree_lines(release: Release, depth: int = 3) -> Iterator[str]:
    """The tree down to a depth: for each region the span that its last cut left, and its released count."""
    if release.manifest.kind != "table":
        yield from _set_lines(release) if release.manifest.kind == "sets" else _degree_lines(release)
        return
    if release.manifest.method == "diffgen":
        yield from cut_lines(release)
        return
    if release.manifest.method == "mosaic":
        yield from table_lines(release)
        return
    domain = domain_of(release.manifest)
    attributes = {attribute.name: attribute for attribute in domain.attributes}
    count = _node_counts(release)
    tree = release.frames["tree"].select("parent", "attribute", "point").to_dicts()
    children: dict[int, list[int]] = {}
    for node, row in enumerate(tree):
        if row["parent"] >= 0:
            children.setdefault(row["parent"], []).append(node)

    def lines(node: int, name: str, bars: str, spans: dict[str, tuple[int, int]], level: int) -> Iterator[str]:
        kids = children.get(node, [])
        yield f"{name}: {count[node]}{'  …' if kids and level == depth else ''}"
        for side, kid in enumerate(kids if level < depth else []):
            cut, point = tree[node]["attribute"], tree[node]["point"]
            lo, hi = spans.get(cut, (0, attributes[cut].size))
            span = (lo, point) if side == 0 else (point, hi)
            last = side == len(kids) - 1
            text = f"{cut} {attributes[cut].describe(*span)}"
            branch = lines(kid, text, bars + ("   " if last else "│  "), spans | {cut: span}, level + 1)
            yield bars + ("└─ " if last else "├─ ") + next(branch)
            yield from branch

    yield from lines(0, "all", "", {}, 0)


def _set_lines(release: Release, most: int = 20) -> Iterator[str]:
    """The sets that are released most often."""
    for row in release.groups.sort("count", descending=True, maintain_order=True).head(most).iter_rows(named=True):
        yield f"{{{', '.join(map(str, row['items']))}}}: {row['count']}"
    if len(release.groups) > most:
        yield f"… and {len(release.groups) - most} more in groups.parquet"


def _degree_lines(release: Release) -> Iterator[str]:
    """How many nodes have a degree in each power of two."""
    degrees = as_polars(release.records, release.manifest)["degree"].to_numpy()
    edges = [0, *(1 << i for i in range(int(degrees.max(initial=0)).bit_length() + 1))]
    for lo, hi in zip(edges[:-1], edges[1:], strict=True):
        held = int(((degrees >= lo) & (degrees < hi)).sum())
        yield f"degree {lo if hi - lo == 1 else f'{lo} to {hi - 1}'}: {held}"


def _node_counts(release: Release) -> Any:
    """Released counts of all nodes: leaves summed up to the root."""
    count = np.zeros(len(release.frames["tree"]), dtype=np.int64)
    np.add.at(count, release.groups["leaf"].to_numpy(), release.groups["count"].to_numpy())
    parent = release.frames["tree"]["parent"].to_numpy()
    depths = release.frames["tree"]["depth"].to_numpy()
    for depth in range(int(depths.max()), 0, -1):
        here = np.flatnonzero(depths == depth)
        np.add.at(count, parent[here], count[here])
    return count

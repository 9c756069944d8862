"""The section about what records were drawn from: the tree of regions as an icicle, or the list of noisy tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cantle.methods.question_words import question_in_words
from cantle.release import Release
from cantle.release.load import domain_of, grid_and_domain
from cantle.release.report.content import Figure, Section
from cantle.release.report.groupings import Ints
from cantle.release.report.icicle import Node, icicle
from cantle.release.report.set_view import SetView

_LEVELS = 4  # columns of a grid that are shown, one level of the icicle each
_LISTED = 40


def region_section(release: Release) -> Section | None:
    """The section for the method of a release; None if the method has no regions or tables to show."""
    section = _SECTIONS.get(release.manifest.method)
    return None if section is None else section(release)


def _tree_section(root: Node, words: str, noun: str = "region") -> Section:
    label = f"{noun.capitalize()}s as bars, each as wide as its count. The largest are in the table below."
    rows = [(node.label, f"{depth}", f"{node.count:,}") for depth, _, node in root.walk() if depth]
    rows.sort(key=lambda row: -int(row[2].replace(",", "")))
    header = (noun, "level", "sets" if noun == "set" else "records")
    figure = Figure(f"Tree of {noun}s", icicle(root, label), header=header, rows=rows[:_LISTED])
    hint = f"Choose a {noun} to enlarge it, and the top bar to go back; with the keyboard: arrow keys and Enter."
    return Section("regions", f"{noun.capitalize()}s", (words, hint), (figure,))


def _rps(release: Release) -> Section:
    domain, tree = domain_of(release.manifest), release.frames["tree"]
    attributes = {attribute.name: attribute for attribute in domain.attributes}
    count = _node_counts(release)
    nodes, spans = [Node("all records", int(count[0]))], [dict[str, tuple[int, int]]()]
    parent, cut, point = (tree[name].to_list() for name in ("parent", "attribute", "point"))
    seen = [0] * len(parent)
    for number in range(1, len(parent)):
        of = parent[number]
        name = cut[of]
        lo, hi = spans[of].get(name, (0, attributes[name].size))
        mine = (lo, point[of]) if not seen[of] else (point[of], hi)
        seen[of] += 1
        nodes.append(Node(f"{name} {attributes[name].describe(*mine)}", int(count[number])))
        spans.append(spans[of] | {name: mine})
        nodes[of].children.append(nodes[-1])
    leaves = release.manifest.summary["leaves"]
    return _tree_section(nodes[0], f"The domain was cut into {leaves:,} regions, each with a noisy count.")


def _node_counts(release: Release) -> Ints:
    """Released counts of all nodes: leaves summed up to the root."""
    tree = release.frames["tree"]
    count = np.zeros(len(tree), dtype=np.int64)
    np.add.at(count, release.groups["leaf"].to_numpy(), release.groups["count"].to_numpy())
    parent = tree["parent"].to_numpy()
    for node in range(len(tree) - 1, 0, -1):  # children come after their parents
        count[parent[node]] += count[node]
    return count


def _diffgen(release: Release) -> Section:
    """The cells of a grid as a tree: the column with the fewest intervals first."""
    domain, grid = grid_and_domain(release)
    place = grid.unravel(release.groups["leaf"].to_numpy().astype(np.int64))
    count = release.groups["count"].to_numpy()
    cut = [a for a, edge in enumerate(grid.edges) if len(edge) > 2]
    cut = sorted(cut, key=lambda a: len(grid.edges[a]))[:_LEVELS]
    root = Node("all records", int(count.sum()))
    _grow(root, [place[:, a] for a in cut], count, [
        [f"{domain.attributes[a].name} {domain.attributes[a].describe(int(lo), int(hi))}"
         for lo, hi in zip(grid.edges[a][:-1], grid.edges[a][1:], strict=True)] for a in cut
    ])  # fmt: skip
    cells = release.manifest.summary["cells"]
    words = (
        f"Cuts make a grid of {cells:,} cells. Its columns are shown below each other, the first {len(cut)} of them."
    )
    return _tree_section(root, words)


def _grow(node: Node, places: list[Ints], count: Ints, labels: list[list[str]]) -> None:
    if not places:
        return
    for value, label in enumerate(labels[0]):
        mine = places[0] == value
        if (total := int(count[mine].sum())) > 0:
            child = Node(label, total)
            node.children.append(child)
            _grow(child, [one[mine] for one in places[1:]], count[mine], labels[1:])


def set_tree(view: SetView) -> Node:
    """Sets by their most frequent item, then by their second, and so on."""
    top = view.top()
    masks, counts = view.patterns(top)
    root = Node("all sets", int(counts.sum()))
    _branch(root, masks, counts, [view.label(code) for code in top])
    return root


def _branch(node: Node, masks: Any, counts: Any, labels: list[str]) -> None:
    """The children of a node: the sets whose lowest bit, that is most frequent item, is the same."""
    lowest = masks & -masks
    for place, label in enumerate(labels):
        mine = lowest == 1 << place
        if (total := int(counts[mine].sum())) > 0:
            child = Node(label, total)
            node.children.append(child)
            if len(masks) > 1 and mine.sum() > 1:
                _branch(child, masks[mine] & ~(1 << place), counts[mine], labels)


def _sets(release: Release) -> Section:
    words = (
        "Sets by their most frequent item, then by their second most frequent one, and so on, as far as the 30 most "
        "frequent items go. What a bar has beyond its parts are sets of just the items above."
    )
    return _tree_section(set_tree(SetView.of(release)), words, "set")


def _mosaic(release: Release) -> Section:
    """Which columns were measured together, how finely, and with how much noise."""
    rows = []
    rates = release.frames["tables"].group_by("table", maintain_order=True).first()
    noise = {row["table"]: row["rate_den"] / max(1, row["rate_num"]) for row in rates.iter_rows(named=True)}
    for number, about in enumerate(release.manifest.structure["tables"]):
        if "edges" in about and "columns" in about:
            cells = int(np.prod([len(edges) - 1 for edges in about["edges"]], dtype=float))
            named = ", ".join(about["columns"]) or "all records"
        else:
            cells, named = None, about["column"]
        spread = f"±{3 * noise[number]:,.0f}" if number in noise else ""
        rows.append((question_in_words(about["why"]), named, "" if cells is None else f"{cells:,}", spread))
    words = (
        f"Records were drawn so that they agree with {len(rows)} noisy tables. The noise of 95 of 100 counts in a "
        "table is smaller than the figure in the last column."
    )
    header = ("question", "columns", "cells", "noise of a count")
    return Section(
        "regions", "Noisy tables", (words,), (Figure("Tables that were measured", header=header, rows=rows, words=2),)
    )


_SECTIONS: dict[str, Callable[[Release], Section]] = {
    "mosaic": _mosaic,
    "rps": _rps,
    "diffgen": _diffgen,
    "diffpart": _sets,
    "baskets": _sets,
}

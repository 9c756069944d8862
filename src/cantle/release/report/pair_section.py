"""Pairs of columns: how strongly they are connected, and whether the release measured them together."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from cantle.release import Release
from cantle.release.load import table_schema_of
from cantle.release.report.content import Figure, Section
from cantle.release.report.matrix import heat_map
from cantle.release.report.pairs import associations, thinned
from cantle.release.report.table_view import TableView

MOST = 40
_LISTED = 25

Pair = frozenset[str]


def pair_section(release: Release, view: TableView) -> Section:
    """A heat map of the connections between all pairs of columns; pairs not measured together are marked."""
    groupings, columns = view.shown[:MOST], view.grouped(view.shown)[:MOST]
    names = [grouping.name for grouping in groupings]
    strength = associations(thinned(columns), [grouping.size for grouping in groupings])
    firm = measured_pairs(release)

    def together(a: int, b: int) -> bool:
        return frozenset((names[a], names[b])) in firm

    def words(a: int, b: int) -> str:
        how = "measured together" if together(a, b) else "not measured together"
        return f"{names[a]} and {names[b]}: {strength[a, b]:.2f}, {how}"

    pairs = sorted(combinations(range(len(names)), 2), key=lambda pair: -strength[pair])
    rows = [
        (f"{names[a]} and {names[b]}", f"{strength[a, b]:.2f}", "yes" if together(a, b) else "no")
        for a, b in pairs[:_LISTED]
    ]
    share = sum(together(a, b) for a, b in pairs)
    label = f"Heat map of {len(names)} columns. The strongest pairs are in the table below."
    figure = Figure(
        "Strength of connection",
        heat_map(names, strength, label, words=words, firm=together),
        note="Cramér's V of the released records, columns in at most 16 groups: 0 unrelated, 1 fully determined.",
        header=("pair", "strength", "measured together"),
        rows=rows,
    )
    text = f"{share} of {len(pairs)} pairs of columns were measured together."
    if share < len(pairs):
        text += (
            " The others are connected only through other columns: where the release shows a weak connection, the data "
            "may have a stronger one."
        )
    legend = [("heat", "strong"), ("under", "weak")]
    if share < len(pairs):
        legend.append(("loose", "not measured together"))
    return Section("pairs", "Pairs of columns", (text,), (figure,), legend=legend)


def measured_pairs(release: Release) -> set[Pair]:
    """The pairs of columns that the noisy answers of a release measured together."""
    return set(_PAIRS[release.manifest.method](release))


def _of(columns: Any) -> Iterator[Pair]:
    return (frozenset(pair) for pair in combinations(sorted(set(columns)), 2))


def _mosaic(release: Release) -> Iterator[Pair]:
    for about in release.manifest.structure["tables"]:
        yield from _of(about.get("columns", ()))
        for node in about.get("tree", ()):
            if "column" in node:
                yield from _of((about["column"], node["column"]))


def _rps(release: Release) -> Iterator[Pair]:
    """Columns that are cut on the same path from the whole domain to a region; every leaf counts the target as well."""
    tree, domain = release.frames["tree"], table_schema_of(release.manifest).domain()
    parent, cut = tree["parent"].to_list(), tree["attribute"].to_list()
    above: list[frozenset[str]] = []
    target = frozenset([domain.target.name] if domain.target else [])
    for node, of in enumerate(parent):
        mine = frozenset([cut[node]]) if cut[node] is not None else frozenset[str]()
        above.append((above[of] if of >= 0 else target) | mine)
    for columns in set(above):
        yield from _of(columns)


def _diffgen(release: Release) -> Iterator[Pair]:
    domain = table_schema_of(release.manifest).domain()
    cut = [name for name, edges in release.manifest.structure["cuts"].items() if len(edges) > 2]
    return _of([*cut, *([domain.target.name] if domain.target else [])])


_PAIRS = {"mosaic": _mosaic, "rps": _rps, "diffgen": _diffgen}

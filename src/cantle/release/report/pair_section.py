"""Pairs of columns: how strongly they are connected, and whether the release measured them together."""

from __future__ import annotations

from itertools import combinations

from cantle.drawing.records import records_meant
from cantle.release import Release
from cantle.release.report.content import Figure, Section
from cantle.release.report.matrix import heat_map
from cantle.release.report.pairs import associations, thinned
from cantle.release.report.table_view import TableView
from cantle.release.table_verdict import pairs_of, weaker

MOST = 40
_LISTED = 25


def pair_section(release: Release, view: TableView) -> Section:
    """A heat map of the connections between all pairs of columns; pairs not measured together are marked."""
    groupings, columns = view.shown[:MOST], view.grouped(view.shown)[:MOST]
    names = [grouping.name for grouping in groupings]
    strength = associations(thinned(columns), [grouping.size for grouping in groupings])
    firm = pairs_of(release.manifest)[1]

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
    some = f"Of the first {MOST} columns, " if len(view.shown) > MOST else ""
    text = f"{some}{share or ('none' if some else 'None')} of {len(pairs)} pairs of columns were measured together."
    if share < len(pairs):
        text += " The others are connected only through other columns."
    text += f" {weaker(release.manifest.accuracy, records_meant(release.manifest.summary))}"
    legend = [("heat", "strong"), ("under", "weak")]
    if share < len(pairs):
        legend.append(("loose", "not measured together"))
    return Section("pairs", "Pairs of columns", (text,), (figure,), legend=legend)

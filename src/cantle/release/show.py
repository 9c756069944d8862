"""A release as text: the promise, where the budget went, the columns as small bars, and the tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import cast

from cantle.release import Release
from cantle.release.accuracy import accuracy_to
from cantle.release.kinds import kind_of, texts_of
from cantle.release.manifest import Manifest
from cantle.release.schemas import code_reader, schema_as
from cantle.release.spending import budget_lines
from cantle.release.statement import verdicts
from cantle.release.storage import as_polars, lists_of
from cantle.release.structures import opened, traits_of
from cantle.release.words import method_in_words, percent, totals
from cantle.schema.canonical_json import JSON
from cantle.schema.made_columns import Unfolded
from cantle.schema.table import TableSchema
from cantle.trusted.core.arrays import Codes
from cantle.trusted.core.budget import words_of

_NAMED = 8  # most columns that an overview names


def sections(release: Release, depth: int = 3, everything: bool = True) -> Iterator[tuple[str, list[str]]]:
    """All that `cantle show` prints below the main facts: titles with their lines, the tree last.

    Without `everything`, only the first ones of many columns or noisy tables are shown.
    """
    if release.manifest.notes:
        yield "Notes", list(release.manifest.notes)
    stated = release.manifest
    verdict = kind_of(stated.kind).uses(release)
    yield "Good for", [f"* {words}" for words in verdict.good]
    yield "Not good for", [f"* {words}" for words in verdict.bad]
    if measured := texts_of(stated).accuracy:
        yield "Accuracy", list(measured)
    yield "Budget", list(budget_lines(release.manifest))
    yield from opened(release).lines(depth, everything)


def overview(release: Release) -> list[tuple[str, str]]:
    """The main facts, as pairs of a name and a text."""
    m = release.manifest
    return [
        ("guarantee", m.guarantee),
        ("epsilon", f"{m.epsilon} for {m.unit}"),
        ("method", method_in_words(m)),
        ("records", f"{m.summary['records']:,} {kind_of(m.kind).records}"),
        ("counted", traits_of(m).in_words),
        *((("totals", text),) if (text := totals(m, kind_of(m.kind).counted)) else ()),
        *((("ranges", text),) if (text := _ranges_in_words(m)) else ()),
        *(("accuracy", words.removeprefix("Accuracy ")) for words in texts_of(m).accuracy[:1]),
        *(("criterion", words.replace("*", "")) for words in verdicts(m)),
        *_account(m),
    ]


def facts(release: Release) -> dict[str, JSON]:
    """The main facts as values for programs: numbers and names, no sentences."""
    m, line = release.manifest, release.manifest.ledger
    kept = ("dataset", "sequence", "spent_nano", "cap_nano")
    ledger: dict[str, JSON] | None = None if line is None else {name: getattr(line, name) for name in kept}
    return {
        "kind": m.kind,
        "private": m.private,
        "guarantee": m.guarantee,
        "epsilon": release.epsilon,
        "epsilon_nano": m.receipt.epsilon_nano,
        "unit": cast("dict[str, JSON]", m.receipt.unit.to_dict()),
        "method": m.method,
        "preset": m.parameters.get("preset"),
        "summary": m.summary,
        "ranges": dict(_ranges(m)),
        "notes": list(m.notes),
        "accuracy": None if m.accuracy is None else accuracy_to(m.accuracy),
        "ledger": ledger,
    }


def _account(manifest: Manifest) -> list[tuple[str, str]]:
    """What the data set has spent, if the release was charged in a ledger."""
    line = manifest.ledger
    if not line:
        return []
    spent, cap = line.spent_nano, line.cap_nano
    left = "no cap is set" if cap is None else f"{words_of(cap - spent)} left of {words_of(cap)}"
    return [("ledger", f"{line.dataset}, release {line.sequence}: epsilon {words_of(spent)} spent, {left}")]


def _ranges(manifest: Manifest) -> dict[str, int]:
    """The columns that were counted in ranges of values, with the number of ranges, in the order of the schema."""
    cells = traits_of(manifest).cells
    declared = (str(one["name"]) for one in cast("list[dict[str, object]]", manifest.schema["fields"])) if cells else ()
    named = [(name, cells[name]) for name in declared if name in cells]
    return {name: len(edges) - 1 for name, edges in named if len(edges) - 1 < edges[-1] - edges[0]}


def _ranges_in_words(manifest: Manifest) -> str:
    """Which columns were counted in ranges, not value by value; nothing if there is none."""
    ranges = _ranges(manifest)
    if not ranges:
        return ""
    named = ", ".join(f"{name} in {many}" for name, many in list(ranges.items())[:_NAMED])
    more = f" and {len(ranges) - _NAMED} more" if len(ranges) > _NAMED else ""
    counted, of_all = "columns was" if len(ranges) == 1 else "columns were", len(traits_of(manifest).cells)
    return f"{len(ranges)} of {of_all} {counted} counted in ranges of values: {named}{more}"


WIDTH = 24
"""Characters of the longest bar."""


def bars(labels: Sequence[str], counts: Sequence[int], whole: int | None = None) -> Iterator[str]:
    """One line per label: a bar, and its share of the whole in percent.

    >>> print(*bars(["no", "yes"], [30, 10]), sep="\\n")
    no   ████████████████████████ 75 %
    yes  ████████                 25 %
    """
    most, whole, wide = max(counts, default=0), whole or sum(counts), min(40, max(map(len, labels), default=0))
    for label, count in zip(labels, counts, strict=True):
        bar = "█" * round(WIDTH * count / most) if most else ""
        shown = label if len(label) <= wide else f"{label[: wide - 1]}…"
        yield f"{shown:{wide}}  {bar:{WIDTH}} {percent(count, whole)}"


_MOST_COLUMNS = 12  # columns that are shown, unless all are requested
_MOST_ITEMS = 60  # items of lists that are shown, unless all are requested
_MOST = 8  # most groups of a column, or items, that are shown


def column_section(release: Release, everything: bool) -> tuple[str, list[str]]:
    """The released records column by column, as small bars. The last column (the target, if any) is always shown."""
    from cantle.release.report.tables import TableView  # which only those need who look at records

    manifest, schema, lines = release.manifest, schema_as(release.manifest, TableSchema), list[str]()
    if traits_of(manifest).of_ranges:
        return "Columns", lines
    codes, domain = code_reader(manifest, as_polars(release.records, manifest)), schema.as_declared()
    made = [one for one in schema.domain().attributes if one.name not in domain.columns]
    every = [*domain.attributes, *made, *([domain.target] if domain.target else [])]
    lists, items = {one.name: one for one in schema.relations.lists}, schema.relations.lists_by_item
    columns = [one for one in every if one.name not in items]
    left = 0 if everything else max(0, len(columns) - _MOST_COLUMNS)
    shown = columns if left < 2 else [*columns[: _MOST_COLUMNS - 1], *columns[-1:]]
    fields = {field.name: field for field in schema.fields}
    plain = [one for one in shown if one.name not in lists]
    view = TableView([one.on_places for one in plain], [codes(one.name) for one in plain], fields, schema.relations)
    groups = {
        one.name: (grouping, places)
        for one, grouping, places in zip(plain, view.groups(_MOST), view.codes, strict=True)
    }
    for one in shown:
        if left > 1 and one.name == columns[-1].name:
            lines.append(f"… {left:,} columns are left out here; see them with --all")
        title = view.title(one.name)
        lines.append(f"{one.name}: {title}" if title else one.name)
        if one.name in lists:
            drawn = item_bars(lists[one.name], codes, everything)
        else:
            grouping, places = groups[one.name]
            drawn = bars(grouping.labels, grouping.counts(places).tolist())
        lines += (f"  {line}" for line in drawn)
    return "Columns", lines


def item_bars(lists: Unfolded, codes: Callable[[str], Codes], everything: bool) -> Iterator[str]:
    """How many records have each item of a column of lists; of many items the most frequent ones."""
    held = [codes(name) for name in lists.columns]
    found = list(zip(lists.labels, (int(one.sum()) for one in held), strict=True))
    left = 0 if everything else max(0, len(found) - _MOST_ITEMS)
    if left:
        found = sorted(found, key=lambda one: -one[1])[:_MOST_ITEMS]
    yield from bars([label for label, _ in found], [number for _, number in found], len(held[0]))
    if left:
        yield f"… {left:,} more are left out here; see them with --all"


def item_section(release: Release) -> tuple[str, list[str]]:
    """The most frequent items of the released sets, as small bars."""
    sets = lists_of(release)
    held = sets.explode(empty_as_null=False).drop_nulls().value_counts(sort=True).head(_MOST)
    lines = bars([str(item) for item in held.to_series(0)], held["count"].to_list(), len(sets)) if len(held) else ()
    return "Most frequent items", list(lines)

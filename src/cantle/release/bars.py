"""Counts and released records as small bars of text, for `cantle show`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cantle.release import Release
from cantle.release.data_file import as_polars, lists_of
from cantle.release.schemas import code_reader, schema_as
from cantle.release.structures import traits_of
from cantle.release.words import percent
from cantle.schema.table import TableSchema

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
    lists = {} if schema.relations is None else schema.relations.lists_by_name
    items = {} if schema.relations is None else schema.relations.lists_by_item
    columns = [one for one in every if one.name not in items]
    left = 0 if everything else max(0, len(columns) - _MOST_COLUMNS)
    shown = columns if left < 2 else [*columns[: _MOST_COLUMNS - 1], *columns[-1:]]
    fields = {field.name: field for field in schema.fields}
    view = TableView([one.on_places for one in shown], [codes(one.name) for one in shown], fields, schema.relations)
    for one, grouping, places in zip(shown, view.groups(_MOST), view.codes, strict=True):
        if left > 1 and grouping.name == columns[-1].name:
            lines.append(f"… {left:,} columns are left out here; see them with --all")
        title = view.title(grouping.name)
        lines.append(f"{grouping.name}: {title}" if title else grouping.name)
        if one.name in lists:
            held = [int(codes(name).sum()) for name in lists[one.name].columns]
            lines += (f"  {line}" for line in bars(lists[one.name].labels, held, len(places)))
            continue
        lines += (f"  {line}" for line in bars(grouping.labels, grouping.counts(places).tolist()))
    return "Columns", lines


def item_section(release: Release) -> tuple[str, list[str]]:
    """The most frequent items of the released sets, as small bars."""
    sets = lists_of(release)
    held = sets.explode(empty_as_null=False).drop_nulls().value_counts(sort=True).head(_MOST)
    lines = bars([str(item) for item in held.to_series(0)], held["count"].to_list(), len(sets)) if len(held) else ()
    return "Most frequent items", list(lines)

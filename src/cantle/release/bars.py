"""Counts and released records as small bars of text, for `cantle show`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from cantle.release import Release
from cantle.release.data_file import as_polars
from cantle.release.load import code_reader, table_schema_of
from cantle.release.sets import list_frame
from cantle.release.structures import traits_of
from cantle.release.words import percent
from cantle.schema.domain import Attribute
from cantle.schema.scales import Steps
from cantle.trusted.core.arrays import Codes

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
_SPANS = 6  # bars per column of numbers
_MOST = 8  # most categories, or items, that are shown one by one


def column_section(release: Release, everything: bool) -> tuple[str, list[str]]:
    """The released records column by column, as small bars. The last column (the target, if any) is always shown."""
    manifest, schema, lines = release.manifest, table_schema_of(release.manifest), list[str]()
    if traits_of(manifest).of_ranges:
        return "Columns", lines
    codes, domain, relations = (
        code_reader(manifest, as_polars(release.records, manifest)),
        schema.as_declared(),
        schema.relations,
    )
    fields = {field.name: field for field in schema.fields}
    made = [one for one in schema.domain().attributes if one.name not in domain.columns]
    columns = [*domain.attributes, *made, *([domain.target] if domain.target else [])]
    left = 0 if everything else max(0, len(columns) - _MOST_COLUMNS)
    shown = columns if left < 2 else [*columns[: _MOST_COLUMNS - 1], *columns[-1:]]
    for attribute in shown:
        if left > 1 and attribute is columns[-1]:
            lines.append(f"… {left:,} columns are left out here; see them with --all")
        field = fields.get(attribute.name)
        labels, counts = _shares(attribute, attribute.from_places(codes(attribute.name)))
        captions = field.captions() if field is not None else {}
        title = field.title if field is not None else "" if relations is None else relations.unit(attribute.name)
        lines.append(f"{attribute.name}: {title}" if title else attribute.name)
        lines += (f"  {line}" for line in bars([captions.get(label, label) for label in labels], counts))
    return "Columns", lines


def _shares(attribute: Attribute, codes: Codes) -> tuple[list[str], list[int]]:
    """Labels and counts: of each value if there are few, otherwise of spans of equally many values; then of null."""
    whole = attribute.size - attribute.nullable
    few = whole <= _MOST
    edges = np.arange(whole + 1) if few else np.linspace(0, whole, _SPANS + 1).round().astype(np.int64)
    if not few and not attribute.ordered:
        return _largest(attribute, codes, whole)
    counts = np.diff(np.searchsorted(np.sort(codes), edges)).tolist()
    labels = [_range(attribute, int(lo), int(hi)) for lo, hi in zip(edges[:-1], edges[1:], strict=True)]
    return _with_null(attribute, codes, labels, counts)


def _range(attribute: Attribute, lo: int, hi: int) -> str:
    """The values of the codes lo, …, hi - 1 as people write them."""
    scale = attribute.scale
    if not isinstance(scale, Steps):
        return attribute.describe(lo, hi)
    first, end = scale.text(lo * attribute.width), min(hi * attribute.width, attribute.grid)
    if scale.type == "number":
        return f"{first} to under {scale.text(end)}"
    last = scale.text(end - 1)
    return first if first == last else f"{first} to {last}"


def _largest(attribute: Attribute, codes: Codes, whole: int) -> tuple[list[str], list[int]]:
    """The most frequent categories, and all others together."""
    count = np.bincount(codes, minlength=whole)[:whole]
    first = np.sort(np.argsort(-count, kind="stable")[:_SPANS])
    labels = [*(attribute.describe(int(code), int(code) + 1) for code in first), f"{whole - len(first)} others"]
    return _with_null(attribute, codes, labels, [*count[first].tolist(), int(count.sum() - count[first].sum())])


def _with_null(attribute: Attribute, codes: Codes, labels: list[str], counts: list[int]) -> tuple[list[str], list[int]]:
    if not attribute.nullable:
        return labels, counts
    return [*labels, "missing"], [*counts, int((codes == attribute.size - 1).sum())]


def item_section(release: Release) -> tuple[str, list[str]]:
    """The most frequent items of the released sets, as small bars."""
    sets = list_frame(as_polars(release.records, release.manifest), release.manifest)["items"]
    held = sets.explode(empty_as_null=False).drop_nulls().value_counts(sort=True).head(_MOST)
    lines = bars([str(item) for item in held.to_series(0)], held["count"].to_list(), len(sets)) if len(held) else ()
    return "Most frequent items", list(lines)

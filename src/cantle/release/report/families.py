"""The report of a release of families: how large families are, who lives with whom, and parents beside children."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from cantle.release import Release
from cantle.release.answers.family_answers import FamilyAsker, FamilyQuestion
from cantle.release.families import rights
from cantle.release.report.charts import Bar, Svg, picture, share_text, shortened, tag, text, upright
from cantle.release.report.content import Box, Figure, Section, Tile, accuracy_tile
from cantle.release.report.groupings import Grouping, group
from cantle.release.report.pairs import cross_table
from cantle.release.report.tables import BASIS, CONFIDENCE
from cantle.release.structures import opened
from cantle.release.structures.families import Opened
from cantle.schema.code_sets import CodeSet, OneColumn
from cantle.schema.domain import Attribute
from cantle.schema.families import FamilySchema
from cantle.schema.question_columns import MOST_COUNTED
from cantle.trusted.core.arrays import Codes, Ints

TITLE = "linked tables"
SIZE = "synthetic families: one row of the parents' file each, with its children in the other file."

GROUPS = 10
"""Most groups of a column in a figure of two columns."""

MOST_FIGURES = 12


def sections(release: Release) -> tuple[list[Section], Box | None]:
    schema, view = cast(FamilySchema, release.schema), cast(Opened, opened(release))
    parent, size, child = view.codes
    if not len(size):
        return [], None
    above, below = (domain.attributes for domain in schema.domains)
    return [
        _sizes(release, schema, size),
        _siblings(schema, below, size, child),
        _linked(schema, (above, below), parent, size, child),
    ], None


def accuracy_tiles(release: Release) -> list[Tile]:
    child = cast(FamilySchema, release.schema).names[1]
    found = rights(release.accuracy, release.manifest.summary["records"], child) if release.accuracy else []
    return [accuracy_tile(release, found[0].error if found else None)]


def _sizes(release: Release, schema: FamilySchema, size: Ints) -> Section:
    """How many families have each number of children."""
    asker, bars = FamilyAsker(release), []
    for number in range(int(size.max(initial=0)) + 1):
        codes = CodeSet.span(number, number + 1, MOST_COUNTED)
        asked = asker.count(FamilyQuestion(False, OneColumn(schema.number_of_children, codes)), CONFIDENCE)
        bars.append(
            Bar(str(number), asked.value, asked.low, asked.high, str(number), sure=asked.confidence is not None)
        )
        covers = asked.covers
    spoken = "; ".join(f"{bar.label}: {share_text(bar.value / len(size))}" for bar in bars[:4])
    first, second = schema.names
    rows = [(bar.label, f"{bar.value:,.0f}", f"{bar.low:,.0f}", f"{bar.high:,.0f}") for bar in bars]
    chart = upright(bars, len(size), f"Number of {second} per family. {spoken}. All numbers are in the table below.")
    facts = [
        (first, f"{len(size):,}"),
        (second, f"{int(size.sum()):,}"),
        (f"{second} per family, on average", f"{size.mean():.2f}"),
        (f"most {second} that are used", f"{schema.max_children}"),
    ]
    note = f"Error bars {BASIS[covers]}"
    header = (second, first, "from", "to")
    return Section(
        "sizes", "Sizes of families", (), (Figure(f"{second} per family", chart, facts, note, header, rows),)
    )


def _siblings(schema: FamilySchema, below: Sequence[Attribute], size: Ints, child: Sequence[Codes]) -> Section:
    """For each column of the children: the first child beside the second."""
    starts = np.cumsum(size) - size
    two = starts[size >= 2]
    figures = []
    for attribute, codes in list(zip(below, child, strict=True))[:MOST_FIGURES]:
        kept = group(attribute, codes, GROUPS)
        figures.append(_two(attribute.name, "first", "second", (kept, codes[two]), (kept, codes[two + 1])))
    words = f"Families with at least two {schema.names[1]}: the first one (rows) beside the second one (columns)."
    if schema.order:
        listed = ", ".join(f"{name}, {'largest' if falls else 'smallest'} first" for name, falls in schema.order)
        words += f" They are in the order of {listed}."
    return Section("siblings", "Who is with whom", (words,), figures, cards=True)


def _linked(
    schema: FamilySchema,
    attributes: tuple[Sequence[Attribute], Sequence[Attribute]],
    parent: Sequence[Codes],
    size: Ints,
    child: Sequence[Codes],
) -> Section:
    """Each column of the parents beside each column of the children."""
    family = np.repeat(np.arange(len(size)), size)
    figures = list[Figure]()
    for above, codes in zip(attributes[0], parent, strict=True):
        for below, own in zip(attributes[1], child, strict=True):
            if len(figures) < MOST_FIGURES:
                one, two = group(above, codes, GROUPS), group(below, own, GROUPS)
                name = f"{above.name} and {below.name}"
                figures.append(_two(name, above.name, below.name, (one, codes[family]), (two, own)))
    first, second = schema.names
    words = f"All {second}: a column of {first} (rows) beside a column of {second} (columns)."
    return Section("linked", "Across the link", (words,), figures, cards=True)


def _two(name: str, rows: str, columns: str, one: tuple[Grouping, Codes], two: tuple[Grouping, Codes]) -> Figure:
    """A heat map of two grouped columns, each row by itself, with its numbers as a table."""
    (top, at), (left, beside) = one, two
    counts = cross_table(top.of(at).astype(np.int64), left.of(beside), len(top.labels), len(left.labels))
    listed = [
        (label, *(f"{value:,}" for value in line)) for label, line in zip(top.labels, counts.tolist(), strict=True)
    ]
    header = (f"{rows} / {columns}", *left.labels)
    spoken = f"{name}: each row shows which {columns} goes with one {rows}. All numbers are in the table below."
    return Figure(name, _heat(top.labels, left.labels, counts, spoken), (), "", header, listed)


def _heat(rows: Sequence[str], columns: Sequence[str], counts: Ints, label: str) -> Svg:
    """One cell per pair of groups; its colour is the share of its row."""
    cell, letter = 22.0, 6.3
    left = max(len(shortened(one, 14)) for one in rows) * letter + 8
    bottom = max(len(shortened(one, 14)) for one in columns) * letter * 0.8 + 18
    shares = counts / np.maximum(1, counts.sum(axis=1, keepdims=True))
    parts = []
    for a, name in enumerate(rows):
        parts.append(text(shortened(name, 14), left - 5, a * cell + cell / 2 + 4, anchor="end"))
        for b, other in enumerate(columns):
            words = f"{name}, {other}: {counts[a, b]:,} ({share_text(float(shares[a, b]))} of the row)"
            parts.append(
                tag(
                    "rect", tag("title", words), x=left + b * cell, y=a * cell, width=cell - 1, height=cell - 1,
                    cls="heat", fill_opacity=round(0.04 + 0.96 * float(shares[a, b]), 3),
                )
            )  # fmt: skip
    for b, other in enumerate(columns):
        x, y = left + (b + 0.5) * cell + 4, len(rows) * cell + 10
        parts.append(text(shortened(other, 14), x, y, anchor="end", transform=f"rotate(-50 {x:.1f} {y:.1f})"))
    width, height = left + len(columns) * cell + 6, len(rows) * cell + bottom
    return picture(width, height, label, *parts, cls="chart matrix", fixed=True)

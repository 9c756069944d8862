"""The report of a release of families: how large families are, who lives with whom, and parents beside children."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from cantle.release import Release
from cantle.release.answers.estimates import Estimate
from cantle.release.answers.family_answers import FamilyAsker, FamilyQuestion
from cantle.release.report.content import BASIS, CONFIDENCE, Figure, Section, card_of, weakest
from cantle.release.report.groupings import Grouping, group
from cantle.release.report.pairs import cross_table, row_shares
from cantle.release.structures import opened
from cantle.release.structures.families import Opened
from cantle.schema.code_sets import CodeSet, OneColumn
from cantle.schema.domain import Attribute
from cantle.schema.families import FamilySchema
from cantle.schema.question_columns import MOST_COUNTED
from cantle.trusted.core.arrays import Codes, Ints

GROUPS = 10
"""Most groups of a column in a figure of two columns."""

MOST_FIGURES = 12


def sections(release: Release) -> list[Section]:
    schema, view = cast(FamilySchema, release.schema), cast(Opened, opened(release))
    parent, size, child = view.codes
    if not len(size):
        return []
    above, below = (domain.attributes for domain in schema.domains)
    return [
        _sizes(release, schema, size),
        _siblings(schema, below, size, child),
        _linked(schema, (above, below), parent, size, child),
    ]


def _sizes(release: Release, schema: FamilySchema, size: Ints) -> Section:
    """How many families have each number of children."""
    asker, counts = FamilyAsker(release), list[tuple[str, Estimate]]()
    for number in range(int(size.max(initial=0)) + 1):
        asked = OneColumn(schema.number_of_children, CodeSet.span(number, number + 1, MOST_COUNTED))
        counts.append((str(number), asker.count(FamilyQuestion(False, asked), CONFIDENCE)))
    first, second = schema.names
    made = card_of(f"{second} per family", counts, len(size), first, numeric=True)
    facts = [
        (first, f"{len(size):,}"),
        (second, f"{int(size.sum()):,}"),
        (f"{second} per family, on average", f"{size.mean():.2f}"),
        (f"most {second} that are used", f"{schema.max_children}"),
    ]
    note = f"Error bars {BASIS[weakest(one.covers for _, one in counts)]}"
    figure = replace(made, facts=facts, note=note, header=(second, *made.header[1:]))
    return Section("sizes", "Sizes of families", (), (figure,))


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
    return Figure(name, row_shares(top.labels, left.labels, counts, spoken), (), "", header, listed)

"""Families in `cantle check` (orphans, repeated keys, children above the maximum) and in `cantle evaluate` (sizes,
columns and who is with whom, private beside released), read as `publish` would read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import cast

import numpy as np

from cantle.data.engine_choice import IN_MEMORY
from cantle.data.families import keys_of, read_families, sources
from cantle.internal.check_tables import check_table
from cantle.internal.comparison import Comparison, Distribution, Fact
from cantle.internal.findings import Checked, Finding, Section
from cantle.release import Release
from cantle.release.report.groupings import group
from cantle.release.report.pairs import cross_table, distance
from cantle.release.structures import opened
from cantle.release.structures.families import Opened
from cantle.schema.domain import Attribute
from cantle.schema.families import FamilySchema
from cantle.trusted.bounding.families import Families as Joined
from cantle.trusted.core.arrays import Codes, Ints

GROUPS = 16


def check_families(data: object, schema: FamilySchema) -> Checked:
    """What `publish` would do with both files."""
    above, below = keys_of(data, schema)
    most, (first, second) = schema.max_children, schema.names
    sizes = below.filter(below.is_in(above.unique().implode())).value_counts()["count"].to_numpy().astype(np.int64)
    used = int(np.minimum(sizes, most).sum())
    findings = (
        Finding(
            f"{first} whose key is there already", len(above) - above.n_unique(), len(above), becomes="one is kept"
        ),
        Finding(f"{second} without a parent", int(len(below) - sizes.sum()), len(below), becomes="left out"),
        Finding(f"{second} above {most} per family", int(sizes.sum()) - used, len(below), becomes="left out"),
        Finding(f"families with more {second} than {most}", int((sizes > most).sum()), above.n_unique(), problem=False),
    )
    facts: dict[str, int | float] = {first: above.n_unique(), second: used}
    facts[f"most {second} of a family"] = int(sizes.max(initial=0))
    facts[f"{second} per family, on average"] = used / max(1, above.n_unique())
    parts, suggested = [Section("both tables", findings)], tuple[str, ...]()
    for name, source, table in zip(schema.names, sources(data, schema, IN_MEMORY), schema.tables, strict=True):
        own = check_table(source, replace(table, person=None, max_records=1))
        parts += [replace(part, title=f"{name}: {part.title}") for part in own.sections]
        suggested += own.suggested
    return Checked("families", "families", above.n_unique(), above.n_unique(), tuple(parts), facts, suggested)


def compare_families(data: object, release: Release) -> Comparison:
    """Sizes, columns and pairs of the private families beside the released ones."""
    schema = cast(FamilySchema, release.schema)
    private = read_families(data, schema)
    parent, size, child = cast(Opened, opened(release)).codes
    made = Joined(list(parent), size, list(child))
    both, (first, second) = (private, made), schema.names
    facts = [
        Fact(first, len(private.size), len(size)),
        Fact(second, int(private.size.sum()), int(size.sum())),
        Fact(f"{second} per family", _mean(private.size), _mean(size)),
    ]
    counts = [np.bincount(one.size, minlength=schema.max_children + 1) for one in both]
    labels = tuple(map(str, range(schema.max_children + 1)))
    shown = [Distribution(f"{second} per family", labels, counts[0], counts[1], ticks=labels)]
    sides = [one.parent for one in both], [one.child for one in both]
    for name, domain, (before, after) in zip(schema.names, schema.domains, sides, strict=True):
        for attribute, *own in zip(domain.attributes, before, after, strict=True):
            shown.append(_distribution(f"{name}.{attribute.name}", attribute, own))
    above, below = (domain.attributes for domain in schema.domains)
    firsts = [(np.cumsum(one.size) - one.size)[one.size >= 2] for one in both]
    for place, attribute in enumerate(below):
        two = [(one.child[place][at], one.child[place][at + 1]) for one, at in zip(both, firsts, strict=True)]
        facts.append(
            Fact(f"distance of {attribute.name} of the first two {second}", None, _apart(attribute, attribute, two))
        )
    joined = [[*(np.repeat(codes, one.size) for codes in one.parent), *one.child] for one in both]
    found = [
        _apart(one, other, [(columns[i], columns[len(above) + j]) for columns in joined])
        for (i, one), (j, other) in product(enumerate(above), enumerate(below))
    ]
    facts.append(
        Fact("mean distance of pairs of a parent's and a child's column", None, float(np.mean(found or [0.0])))
    )
    return Comparison("families", tuple(facts), tuple(shown))


def _mean(size: Ints) -> float:
    return float(size.mean()) if len(size) else 0.0


def _distribution(name: str, attribute: Attribute, codes: Sequence[Codes]) -> Distribution:
    grouping = group(attribute, np.concatenate(codes), GROUPS)
    first, second = (np.bincount(grouping.of(one), minlength=len(grouping.labels)) for one in codes)
    return Distribution(name, grouping.labels, first, second)


def _apart(one: Attribute, other: Attribute, both: Sequence[tuple[Codes, Codes]]) -> float:
    """How far the shares of pairs of values of two columns differ, private and released."""
    rows, columns = (
        group(attribute, np.concatenate(codes), GROUPS)
        for attribute, codes in zip((one, other), zip(*both, strict=True), strict=True)
    )
    shape = len(rows.labels), len(columns.labels)
    before, after = (cross_table(rows.of(a).astype(np.int64), columns.of(b), *shape) for a, b in both)
    return distance(before, after)

"""Which pairs of columns a release of a table measured together. It follows from the public structure of the release.

Two columns are *together* if some noisy table has them both. All other pairs are *apart*: the release connects them
only through other columns, so it may have lost a connection between them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from typing import Any

from cantle.schema.domain import Attribute

Pair = frozenset[str]


def all_pairs(columns: Iterable[Attribute]) -> set[Pair]:
    """All pairs of columns with two or more codes."""
    return set(_of(column.name for column in columns if column.size > 1))


def measured_pairs(structure: Mapping[str, Any]) -> set[Pair]:
    """The pairs of columns in the noisy tables of a release, given its structure in release.json.

    Regions of rps and diffgen are over all columns at once and too coarse for most pairs. None of their pairs counts as
    together: on generated and real data, the error of one pair said little about that of the next.
    """
    tables = structure.get("tables", ())
    return set(_in_tables(about for about in tables if isinstance(about, Mapping)))


def _of(columns: Iterable[str]) -> Iterator[Pair]:
    return (frozenset(pair) for pair in combinations(sorted(set(columns)), 2))


def _in_tables(tables: Iterable[Mapping[str, Any]]) -> Iterator[Pair]:
    """A table relates all its columns; a tree over cells relates its column to each column that it cuts."""
    for about in tables:
        yield from _of(about.get("columns", ()))
        for node in about.get("tree", ()):
            if "column" in node:
                yield from _of((about["column"], node["column"]))

"""Which pairs of columns a release of a table measured together. It follows from the public structure of the release.

Two columns are *together* if some noisy table has them both. All other pairs are *apart*: the release connects them
only through other columns, so it may have lost a connection between them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

    from cantle.schema.domain import Attribute

Pair = frozenset[str]


def all_pairs(columns: Iterable[Attribute]) -> set[Pair]:
    """All pairs of columns with two or more codes."""
    return set(_of(column.name for column in columns if column.size > 1))


def measured_pairs(
    structure: Mapping[str, Any], frames: Mapping[str, pl.DataFrame], target: str | None = None
) -> set[Pair]:
    """The pairs of columns that the noisy answers of a release measured together.

    `structure` and `frames` are those of the release or of the results of a method; `target` is the target's name.
    """
    targets = frozenset[str]() if target is None else frozenset([target])
    if "cuts" in structure:
        return set(_of(targets.union(name for name, edges in structure["cuts"].items() if len(edges) > 2)))
    if "tables" in structure:
        return set(_in_tables(structure["tables"]))
    return set(_on_paths(frames["tree"], targets))


def _of(columns: Iterable[str]) -> Iterator[Pair]:
    return (frozenset(pair) for pair in combinations(sorted(set(columns)), 2))


def _in_tables(tables: Any) -> Iterator[Pair]:
    """A table relates all its columns; a tree over cells relates its column to each column that it cuts."""
    for about in tables:
        yield from _of(about.get("columns", ()))
        for node in about.get("tree", ()):
            if "column" in node:
                yield from _of((about["column"], node["column"]))


def _on_paths(tree: pl.DataFrame, target: Pair) -> Iterator[Pair]:
    """Columns that are cut on the same path from the whole domain to a region; every region counts the target too."""
    above: list[Pair] = []
    for of, cut in zip(tree["parent"].to_list(), tree["attribute"].to_list(), strict=True):
        mine = frozenset[str]() if cut is None else frozenset([cut])
        above.append((above[of] if of >= 0 else target) | mine)
    for columns in set(above):
        yield from _of(columns)

"""Public tables by which one column of categories follows from another, such as the country of each city.

A table is in the `map` of the column that follows: `{Graz: Austria, Oslo: Norway}`, the same by groups (`{Austria:
[Graz, Linz]}`), or a CSV file with a header that names both columns. Without it, the hierarchy of the other column is
used: the group of each city whose name is a declared country.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cantle.schema.declared_values import Folder, repeated
from cantle.schema.documents import fail, read_text
from cantle.schema.taxonomy import Label, Taxonomy

if TYPE_CHECKING:
    from cantle.schema.fields import Field

_FIX = "write `from: city` and `map: {Graz: Austria, Oslo: Norway}`, or name a CSV file with both columns"


def parse_map(
    where: str, name: str, entry: Mapping[str, object], base_dir: Folder
) -> tuple[str, tuple[tuple[str, str], ...]]:
    """The column that a field follows from, and its table as texts; the table is empty if a hierarchy has to serve."""
    source, given = entry.get("from"), entry.get("map")
    if not isinstance(source, str) or not source:
        fail(where, "`from` is not the name of a column", _FIX, "from")
    if given is None:
        return source, ()
    pairs = _in_file(where, name, source, given, base_dir) if isinstance(given, str) else _in_mapping(where, given)
    for twice in repeated(one for one, _ in dict.fromkeys(pairs)):
        fail(where, f"`map` gives {twice!r} two values", "keep one", "map")
    return source, tuple(dict.fromkeys(pairs))


def _in_mapping(where: str, given: object) -> list[tuple[str, str]]:
    if not isinstance(given, Mapping) or not given:
        fail(where, "`map` is not a mapping", _FIX, "map")
    pairs = list[tuple[str, str]]()
    for key, value in given.items():
        if isinstance(value, list | tuple):
            pairs += [(str(one), str(key)) for one in value]
        else:
            pairs.append((str(key), str(value)))
    return pairs


def _in_file(where: str, name: str, source: str, given: str, base_dir: Folder) -> list[tuple[str, str]]:
    text = read_text(Path(base_dir or ".") / given, given, where)
    header = text.partition("\n")[0]
    try:
        rows = list(csv.reader(io.StringIO(text), delimiter=";" if ";" in header else ",", strict=True))
    except csv.Error:
        fail(where, f"{given!r} is not CSV", "check its quotes", "map")
    names = [one.strip() for one in rows[0]] if rows else []
    if source not in names or name not in names:
        fail(where, f"the header of {given!r} does not name {source} and {name}", "name both columns in it", "map")
    at, to = names.index(source), names.index(name)
    return [(row[at].strip(), row[to].strip()) for row in rows[1:] if len(row) > max(at, to)]


def table_of(source: Field, one: Field) -> tuple[tuple[Label, Label], ...] | None:
    """For each category of a column the one that follows from it; None if nothing says so."""
    where, labels = f"field {one.name!r}", {str(label): label for label in _labels(one)}
    if one.mapped:
        found = dict(one.mapped)
        lacking = [str(label) for label in _labels(source) if str(label) not in found]
        wrong = [value for value in found.values() if value not in labels]
        if lacking:
            fail(where, f"`map` does not say what follows from {lacking[0]!r}", "add it", "map")
        if wrong:
            fail(where, f"`map` has {wrong[0]!r}, which is none of its categories", "correct it", "map")
        return tuple((label, labels[found[str(label)]]) for label in _labels(source))
    if source.hierarchy is None:
        return None
    pairs = [(leaf, _level(source.hierarchy, code, labels)) for code, leaf in enumerate(source.hierarchy.leaves)]
    missing = next((leaf for leaf, found in pairs if found is None), None)
    if missing is not None:
        rule = f"the hierarchy of {source.name} has no {one.name} above {str(missing)!r}"
        fix = f"name the groups by the categories of {one.name}, or give a `map` (a group of one category has no name)"
        fail(where, rule, fix, "hierarchy")
    return tuple((leaf, found) for leaf, found in pairs if found is not None)


def _labels(one: Field) -> Sequence[Label]:
    return (False, True) if one.type == "boolean" else one.categories or ()


def _level(tree: Taxonomy, code: int, labels: Mapping[str, Label]) -> Label | None:
    """The category that names a node above a leaf; the lowest such node."""
    names = [tree.name(*span) for span in tree.path(code)]
    return next((labels[name] for name in reversed(names[:-1]) if name in labels), None)

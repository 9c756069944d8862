"""Rules that generate taxonomies (fanout, prefixes, bands, dateparts), and how leaves are matched to categories.

The leaves must be exactly the declared categories. A taxonomy is public: messages quote it and name the column.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from typing import NoReturn, TypeAlias

from cantle.schema.outlines import MAX_DEPTH, Label, Row, quote, refuse, text_of
from cantle.schema.taxonomy import GENERATORS, Taxonomy

_DATEPARTS: dict[str, Callable[[str, int], str]] = {  # name of a group from the year and the month, the widest first
    "year": lambda year, _: year,
    "quarter": lambda year, month: f"{year}-Q{(month + 2) // 3}",
    "month": lambda year, month: f"{year}-{month:02}",
}
_Groups: TypeAlias = "dict[tuple[bool, Label], _Groups | None]"
"""Maps (whether it is a leaf, its label) to None for a leaf, and to its content for a group."""


def rule_of(spec: Mapping[str, object], categories: Sequence[Label], where: str) -> str | None:
    """The name of the rule in a mapping; None if the mapping is a tree of groups."""
    keys = [key for key in spec if key in GENERATORS]
    if len(spec) == 1 and keys:
        return str(keys[0])
    if set(spec) == {"fanout", "leaves"}:
        return "fanout"
    odd = next((key for key, value in spec.items() if isinstance(value, int) or _is_misspelt(spec, categories)), None)
    if odd is not None and keys:
        refuse(where, f"{', '.join(map(quote, spec))} stand together", f"give one of {', '.join(GENERATORS)} alone")
    if odd is not None:
        fix = f"use one of {', '.join(GENERATORS)}, or list the values of a group"
        refuse(where, f"the rule {quote(odd)} is not known", fix)
    return None


def _is_misspelt(spec: Mapping[str, object], categories: Sequence[Label]) -> bool:
    """Whether the only key resembles a rule, and no declared category is below it."""
    key, listed = next(iter(spec.items()))
    if len(spec) > 1 or not difflib.get_close_matches(str(key)[:20], GENERATORS, 1):
        return False
    if not isinstance(listed, list | tuple) or not all(isinstance(one, str | int) for one in listed):
        return False
    return not {text_of(one) for one in listed} & set(by_text(categories))


def generate(rule: str, spec: Mapping[str, object], categories: tuple[Label, ...], where: str) -> Taxonomy:
    if rule == "fanout":
        if isinstance(spec["fanout"], list | tuple | Mapping | None):
            refuse(where, f"fanout {quote(spec['fanout'])} is not a whole number from 2 on", "write `fanout: 4`")
        return matched(Taxonomy.from_nested({"leaves": categories, **spec}, where), categories, where)
    if rule == "dateparts":
        return _dateparts(spec[rule], categories, where)
    return (_prefixes if rule == "prefixes" else _bands)(_numbers(spec[rule], rule, where), categories, where)


def _numbers(value: object, rule: str, where: str) -> list[int]:
    """The numbers of a rule, smallest first."""
    least = 2 if rule == "bands" else 1
    listed = list(value) if isinstance(value, list | tuple) else [value]
    numbers = [one for one in listed if type(one) is int and least <= one < 2**63]
    if not 0 < len(listed) < MAX_DEPTH or len(numbers) < len(listed):
        example = "`bands: [5, 20]`" if rule == "bands" else "`prefixes: [1, 3]`"
        refuse(where, f"{rule} {quote(value)} is not a list of whole numbers from {least} on", f"write {example}")
    return sorted(set(numbers))


def _prefixes(lengths: list[int], categories: tuple[Label, ...], where: str) -> Taxonomy:
    """Groups of codes that begin with the same characters."""

    def path(text: str) -> list[str]:
        return [name for name, _ in groupby(f"{text[:length]}…" for length in lengths)]

    return from_paths(((label, path(text_of(label))) for label in categories), where)


def _bands(widths: list[int], categories: tuple[Label, ...], where: str) -> Taxonomy:
    """Groups of integers between multiples of the widths."""
    for small, large in pairwise(widths):
        if large % small:
            refuse(where, f"bands of {small} do not fit into bands of {large}", "let each width divide the next")
    for label in categories:
        if isinstance(label, bool) or not re.fullmatch(r"-?[0-9]{1,19}", text_of(label)):
            refuse(where, f"bands are for integers, and the category {quote(label)} is not one", "use another rule")

    def path(value: int) -> list[str]:
        starts = ((value // width * width, width) for width in reversed(widths))
        return [f"{start} to {start + width - 1}" for start, width in starts]

    ordered = sorted(categories, key=int)
    return from_paths(((label, path(int(label))) for label in ordered), where)


def _dateparts(value: object, categories: tuple[Label, ...], where: str) -> Taxonomy:
    """Groups of ISO dates by year, quarter and month."""
    asked = list(value) if isinstance(value, list | tuple) else [value]
    if not asked or not all(isinstance(one, str) and one in _DATEPARTS for one in asked):
        refuse(where, f"dateparts {quote(value)} are not known", f"list some of {', '.join(_DATEPARTS)}")
    parts = [part for part in _DATEPARTS if part in asked]

    def path(label: Label) -> list[str]:
        parsed = re.fullmatch(r"(\d{4})-(0[1-9]|1[0-2])(-\d\d([T ].*)?)?", text_of(label), re.ASCII)
        if not parsed:
            refuse(where, f"the category {quote(label)} is not an ISO date", "write it as 2024-12-31 or 2024-12")
        return [_DATEPARTS[part](parsed[1], int(parsed[2])) for part in parts]

    return from_paths([(label, path(label)) for label in sorted(categories, key=text_of)], where)


# ------------------------------------------------------------------------------------------ paths and leaves


def from_paths(paths: Iterable[tuple[Label, list[str]]], where: str) -> Taxonomy:
    """The taxonomy of values, given the names of the groups above each, widest first; groups follow their values'
    order."""
    top: _Groups = {}
    for label, names in paths:
        group = top
        for name in names:
            inside = group.setdefault((False, name), {})
            assert inside is not None
            group = inside
        group[True, label] = None

    def rows(group: _Groups, depth: int) -> Iterator[Row]:
        for (_, label), inside in group.items():
            yield depth, label
            if inside is not None:
                yield from rows(inside, depth + 1)

    return Taxonomy.from_rows(rows(top, 0), where)


def by_text(categories: Sequence[Label]) -> dict[str, Label]:
    """Maps texts, with and without spaces around them, to declared categories."""
    exact = {text_of(label): label for label in categories}
    return {text.strip(): label for text, label in exact.items()} | exact


def matched(taxonomy: Taxonomy, categories: Sequence[Label], where: str) -> Taxonomy:
    """The taxonomy with declared categories as its leaves; refused unless these are exactly the declared ones."""
    table = by_text(categories)
    leaves = []
    for leaf in taxonomy.leaves:
        text = text_of(leaf)
        if text not in table:
            refuse_undeclared(text, table, where)
        leaves.append(table[text])
    refuse_missing(set(map(text_of, leaves)), categories, where)
    return replace(taxonomy, leaves=tuple(leaves))


def refuse_undeclared(text: str, table: Mapping[str, Label], where: str) -> NoReturn:
    close = difflib.get_close_matches(text, table, 1) if len(table) <= 1000 and len(text) <= 100 else []
    meant = f" (or is {quote(close[0])} meant?)" if close else ""
    refuse(where, f"its leaf {quote(text)} is not a declared category", f"declare it or take it out{meant}")


def refuse_missing(leaves: Iterable[str], categories: Sequence[Label], where: str) -> None:
    known = set(leaves)
    missing = [label for label in categories if text_of(label) not in known]
    if missing:
        more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
        refuse(where, f"the declared category {quote(missing[0])}{more} is missing in it", "add it to a group")

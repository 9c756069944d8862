"""Readers of taxonomies: nested lists, ARX files, indented text, braces; and rules that generate them.

`load_hierarchy` reads the value of `hierarchy:` in the schema:

    hierarchy: {Professional: [Engineer, Lawyer], Artist: [Dancer, Writer]}   # or nested lists, without names
    hierarchy: job.csv                  # ARX: job;group;wider group;*    no header, from the value upwards
    hierarchy: job.txt                  # indented by spaces or tabs; or {Any {Artist {Dancer} {Writer}} …}
    hierarchy: all.hchy#job             # the tree headed `job:` of several; by default the column's own name
    hierarchy: job.yaml                 # nested lists in a file of their own; .json too
    hierarchy: job.hrc                  # tau-Argus: one @ per level
    hierarchy: {fanout: 4}              # equal parts of the declared order
    hierarchy: {prefixes: [1, 3]}       # codes (ICD, postcodes) by their first character, then the first three
    hierarchy: {bands: [5, 20]}         # integers in bands of 5 within bands of 20, at multiples of them
    hierarchy: {dateparts: [year, month]}  # ISO dates; also quarter

To name a group like one of the rules, put the mapping in a list: `[{bands: [Beatles, Stones]}]`.

The leaves must be exactly the declared categories; where none are declared, they are the categories. Nested lists,
indented text and braces keep the written order; the other forms follow the declared order as far as their groups allow,
and bands and dates their natural order. A taxonomy is public: messages quote it and name the column.
"""

from __future__ import annotations

import csv
import difflib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from pathlib import Path
from typing import NoReturn, TypeAlias

from cantle.schema.documents import MAX_DEPTH, fail, parse_document, quote, read_text
from cantle.schema.taxonomy import GENERATORS, Label, Row, Taxonomy, text_of

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
        fail(where, f"{', '.join(map(quote, spec))} stand together", f"give one of {', '.join(GENERATORS)} alone")
    if odd is not None:
        fix = f"use one of {', '.join(GENERATORS)}, or list the values of a group"
        fail(where, f"the rule {quote(odd)} is not known", fix)
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
            fail(where, f"fanout {quote(spec['fanout'])} is not a whole number from 2 on", "write `fanout: 4`")
        return matched(Taxonomy.from_nested({"leaves": categories, **spec}, where), categories, where)
    return {"dateparts": _dateparts, "prefixes": _prefixes, "bands": _bands}[rule](spec[rule], categories, where)


def _numbers(value: object, rule: str, where: str) -> list[int]:
    """The numbers of a rule, smallest first."""
    least = 2 if rule == "bands" else 1
    listed = list(value) if isinstance(value, list | tuple) else [value]
    numbers = [one for one in listed if type(one) is int and least <= one < 2**63]
    if not 0 < len(listed) < MAX_DEPTH or len(numbers) < len(listed):
        example = "`bands: [5, 20]`" if rule == "bands" else "`prefixes: [1, 3]`"
        fail(where, f"{rule} {quote(value)} is not a list of whole numbers from {least} on", f"write {example}")
    return sorted(set(numbers))


def _prefixes(value: object, categories: tuple[Label, ...], where: str) -> Taxonomy:
    """Groups of codes that begin with the same characters."""
    lengths = _numbers(value, "prefixes", where)

    def path(text: str) -> list[str]:
        return [name for name, _ in groupby(f"{text[:length]}…" for length in lengths)]

    return from_paths(((label, path(text_of(label))) for label in categories), where)


def _bands(value: object, categories: tuple[Label, ...], where: str) -> Taxonomy:
    """Groups of integers between multiples of the widths."""
    widths = _numbers(value, "bands", where)
    for small, large in pairwise(widths):
        if large % small:
            fail(where, f"bands of {small} do not fit into bands of {large}", "let each width divide the next")
    for label in categories:
        if isinstance(label, bool) or not re.fullmatch(r"-?[0-9]{1,19}", text_of(label)):
            fail(where, f"bands are for integers, and the category {quote(label)} is not one", "use another rule")

    def path(value: int) -> list[str]:
        starts = ((value // width * width, width) for width in reversed(widths))
        return [f"{start} to {start + width - 1}" for start, width in starts]

    ordered = sorted(categories, key=int)
    return from_paths(((label, path(int(label))) for label in ordered), where)


def _dateparts(value: object, categories: tuple[Label, ...], where: str) -> Taxonomy:
    """Groups of ISO dates by year, quarter and month."""
    asked = list(value) if isinstance(value, list | tuple) else [value]
    if not asked or not all(isinstance(one, str) and one in _DATEPARTS for one in asked):
        fail(where, f"dateparts {quote(value)} are not known", f"list some of {', '.join(_DATEPARTS)}")
    parts = [part for part in _DATEPARTS if part in asked]

    def path(label: Label) -> list[str]:
        parsed = re.fullmatch(r"(\d{4})-(0[1-9]|1[0-2])(-\d\d([T ].*)?)?", text_of(label), re.ASCII)
        if not parsed:
            fail(where, f"the category {quote(label)} is not an ISO date", "write it as 2024-12-31 or 2024-12")
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


def matched(taxonomy: Taxonomy, categories: Sequence[Label] | None, where: str) -> Taxonomy:
    """The taxonomy with declared categories as its leaves; refused unless these are exactly the declared ones."""
    if categories is None:
        return taxonomy
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
    fail(where, f"its leaf {quote(text)} is not a declared category", f"declare it or take it out{meant}")


def refuse_missing(leaves: Iterable[str], categories: Sequence[Label], where: str) -> None:
    known = set(leaves)
    missing = [label for label in categories if text_of(label) not in known]
    if missing:
        more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
        fail(where, f"the declared category {quote(missing[0])}{more} is missing in it", "add it to a group")


def load_hierarchy(
    spec: object, categories: Sequence[Label] | None, attribute: str, base_dir: str | os.PathLike[str] | None = None
) -> Taxonomy:
    """The taxonomy that a field declares; relative paths start at `base_dir`, the folder of the schema.

    Without declared categories (None), those are the leaves.

    >>> load_hierarchy({"prefixes": [1]}, ("A01", "B20", "A02"), "icd").to_nested()
    [{'A…': ['A01', 'A02']}, 'B20']
    """
    if isinstance(spec, str | os.PathLike):
        return _from_file(os.fspath(spec), categories, attribute, Path(base_dir or "."))
    return parse_nested(spec, categories, attribute)


# --------------------------------------------------------------------------------------------- the formats


def parse_nested(nested: object, categories: Sequence[Label] | None, attribute: str) -> Taxonomy:
    """The taxonomy in nested lists and mappings, or made by a rule such as {fanout: 4}."""
    where = _where(attribute)
    if isinstance(nested, Mapping):
        rule = rule_of(nested, categories or (), where)
        if rule is not None and categories is None:
            why = "a rule makes groups of `categories`, and there are none"
            fail(where, why, "list every value that could occur under `categories`")
        if rule is not None and categories is not None:
            return generate(rule, nested, tuple(categories), where)
    return matched(Taxonomy.from_nested(nested, where), categories, where)


def parse_arx(text: str, categories: Sequence[Label] | None, attribute: str) -> Taxonomy:
    """The taxonomy in an ARX hierarchy: one line per value, from the value to wider and wider groups, without a header.

    >>> parse_arx("a;A;*\\nc;B;*\\nb;A;*", ("a", "b", "c"), "letter").to_nested()
    {'*': [{'A': ['a', 'b']}, 'c']}
    """
    where, lines = _where(attribute), list(_arx_lines(text, _where(attribute)))
    categories = [cells[0] for _, cells in lines] if categories is None else categories
    table = by_text(categories)
    paths: dict[str, list[str]] = {}
    for number, cells in lines:
        label = table.get(cells[0])
        if label is None:
            refuse_undeclared(cells[0], table, where)
        if text_of(label) in paths:
            fail(where, f"line {number}: the value {quote(cells[0])} is a leaf twice", "keep one line for it")
        wider = [name for name, _ in groupby(filter(None, reversed(cells[1:])))]  # a name that is repeated is one group
        paths[text_of(label)] = wider
    refuse_missing(paths, categories, where)
    return from_paths(((label, paths[text_of(label)]) for label in categories), where)


def parse_indented(text: str, categories: Sequence[Label] | None, attribute: str) -> Taxonomy:
    """The taxonomy in an outline: one line per node, indented below its group by spaces or tabs.

    >>> parse_indented("A\\n  a\\n  b\\nc", ("a", "b", "c"), "letter").to_nested()
    [{'A': ['a', 'b']}, 'c']
    """
    where = _where(attribute)
    return matched(Taxonomy.from_rows(_indented_rows(text, where), where), categories, where)


def parse_braces(text: str, categories: Sequence[Label] | None, attribute: str, section: str | None = None) -> Taxonomy:
    """The taxonomy in braces, `{Group {leaf} {leaf}}`. If there are several, each with a head `name:`, that of the
    section or column is read.

    >>> parse_braces("letter:discrete | comment\\n{Any {A {a} {b}} {c}}", ("a", "b", "c"), "letter").to_nested()
    {'Any': [{'A': ['a', 'b']}, 'c']}
    """
    where = _where(attribute)
    rows = _brace_rows(_section(text, section, attribute, where), where)
    return matched(Taxonomy.from_rows(rows, where), categories, where)


def _where(attribute: str) -> str:
    return f"field {attribute!r}, hierarchy"


# --------------------------------------------------------------------------------------------------- files


def _from_file(name: str, categories: Sequence[Label] | None, attribute: str, base: Path) -> Taxonomy:
    where = _where(attribute)
    path, section = _split_section(base, name, where)
    kind = path.suffix.lower()
    if kind not in (".csv", ".txt", ".hchy", ".hrc", ".yaml", ".yml", ".json"):
        rule = f"{quote(name)} has an ending that is not known"
        fail(where, rule, "use .csv (ARX), .txt (indented), .hchy, .hrc, .yaml or .json, or write nested lists")
    text = read_text(path, name, where)
    if kind == ".csv":
        return parse_arx(text, categories, attribute)
    if kind == ".hchy" or (kind == ".txt" and re.search(r"^\s*\{", text, re.MULTILINE)):
        return parse_braces(text, categories, attribute, section)
    if kind == ".hrc":
        text = re.sub(r"^@+", lambda found: " " * len(found[0]), text, flags=re.MULTILINE)
    if kind in (".txt", ".hrc"):
        return parse_indented(text, categories, attribute)
    return parse_nested(parse_document(text, where, kind == ".json"), categories, attribute)


def _split_section(base: Path, name: str, where: str) -> tuple[Path, str | None]:
    """The path, and the section after a `#`, if that is not part of the file's name."""
    try:
        file, mark, section = name.rpartition("#")
        return (base / file, section) if mark and not (base / name).exists() else (base / name, None)
    except (OSError, ValueError):
        fail(where, f"{quote(name)} is not a path", "name a file, or write nested lists")


# ---------------------------------------------------------------------------------- lines, outlines, braces


def _arx_lines(text: str, where: str) -> Iterator[tuple[int, list[str]]]:
    """Number and cells of every line; separated by semicolons, or by commas or tabs if the first line has none."""
    lines = _lines(text)
    first = next((line for line in lines if line.strip()), "")
    mark = next((mark for mark in ";,\t" if mark in first), ";")
    width, reader = 0, csv.reader(lines, delimiter=mark, strict=True)
    try:
        for cells in reader:
            cells = [cell.strip() for cell in cells]
            if not any(cells):
                continue
            width, number = width or len(cells), reader.line_num
            if len(cells) != width:
                rule = f"line {number} ({quote(cells[0])}) has {len(cells)} columns, the first has {width}"
                fail(where, rule, "give every value all its groups, up to the widest")
            if width > MAX_DEPTH:
                fail(where, f"it has more than {MAX_DEPTH} columns", "leave some levels out")
            if not cells[0]:
                fail(where, f"line {number} has no value in its first column", "start it with the value")
            yield number, cells
    except csv.Error:
        fail(where, f"line {reader.line_num} is not CSV", "check the quotes on it")


def _indented_rows(text: str, where: str) -> Iterator[Row]:
    """The outline in an indented text."""
    levels: list[str] = []
    for number, line in enumerate(_lines(text), 1):
        label = line.strip()
        if not label:
            continue
        indent = line[: len(line) - len(line.lstrip())]
        deeper = not levels or (indent.startswith(levels[-1]) and indent != levels[-1])
        if deeper:
            levels.append(indent)
        elif indent not in levels:
            rule = f"line {number} ({quote(label)}) is indented like no line above it"
            fail(where, rule, "indent the values of a group alike, with spaces or with tabs")
        else:
            del levels[levels.index(indent) + 1 :]
        yield len(levels) - 1, label


def _lines(text: str) -> list[str]:
    """The lines of a text; str.splitlines would also break at characters that may occur in a label."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _section(text: str, section: str | None, attribute: str, where: str) -> str:
    """The tree headed by the section or the attribute's name; without a section, a single tree may have any head."""
    parts: dict[str, list[str]] = {"": []}
    current = parts[""]
    for line in _lines(text):
        head = re.match(r"([^\s{}|:][^{}|:]*):", line)
        if head:
            current = parts.setdefault(head[1].strip(), [])
        elif not line.startswith("|"):
            current.append(line)
    trees = {name: tree[tree.index("{") :] for name, lines in parts.items() if "{" in (tree := "\n".join(lines))}
    if not trees:
        _refuse_braces("the file has no tree in braces", where)
    if len(trees) == 1 and section is None:
        return next(iter(trees.values()))
    name = section or attribute
    if name not in trees:
        known = ", ".join(map(quote, trees))
        fail(where, f"the file has no tree headed {quote(name)}", f"put one of {known} after the path and a #")
    return trees[name]


def _brace_rows(text: str, where: str) -> Iterator[Row]:
    """The outline in a text with braces."""
    depth, fresh = 0, False  # fresh: a brace has just opened a node, and its label may follow
    for match in re.finditer(r"[{}]|[^{}]+", text):
        token = match[0]
        label = " ".join(token.split())
        if not label:
            continue
        if token == "{":
            if fresh:
                yield depth - 1, None
            depth, fresh = depth + 1, True
        elif token == "}":
            if fresh or not depth:
                _refuse_braces("a pair of braces is empty" if fresh else "a brace is closed that was not open", where)
            depth -= 1
        elif not fresh:
            _refuse_braces(f"{quote(label)} does not stand right after an opening brace", where)
        else:
            yield depth - 1, label
            fresh = False
    if depth:
        _refuse_braces(f"{depth} braces are not closed", where)


def _refuse_braces(rule: str, where: str) -> NoReturn:
    fail(where, rule, "write {Any {Group {leaf} {leaf}} {leaf}}")

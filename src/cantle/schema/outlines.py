"""Outlines of taxonomies: depth and label of every node, depth first, from which a tree is built and checked.

A name stands for one node: it may not occur in two places, nor below itself. The one exception is a name repeated one
level down, as in ARX files (`Other;Other;*`). Everything here is public, so messages may quote it.
Notebooks show such things in small HTML tables.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import chain, pairwise
from typing import NoReturn

from cantle.errors import SchemaError

Label = str | int
"""A category: a text, an integer or a boolean (which is an integer to Python)."""
Span = tuple[int, int]
Row = tuple[int, Label | None]
"""Depth and label of a node, depth first; a group without a name has the label None."""
Group = Sequence[object] | Mapping[str, object]
"""The content of a group as people write it: lists and mappings, to be checked."""

ANY = "*"
MAX_DEPTH = 100
_HALF = re.compile("[\ud800-\udfff]")
_quoting = reprlib.Repr()
_quoting.maxstring = _quoting.maxother = 80


def refuse(where: str, rule: str, fix: str) -> NoReturn:
    """Refuses a taxonomy."""
    raise SchemaError(f"{where}: {rule}; {fix}.")


def quote(value: object) -> str:
    """The value as shown in a message, shortened if it is long."""
    try:
        return _quoting.repr(value)
    except ValueError:  # an integer too long to be written
        return f"a very long {type(value).__name__}"


def printable(value: object) -> str:
    """A public value on one line."""
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in str(value))


def text_of(label: Label) -> str:
    """A label as people write it."""
    return str(label).lower() if isinstance(label, bool) else str(label)


@dataclass
class _Group:
    """A group whose children are not complete yet."""

    name: str | None
    lo: int
    parts: list[Span] = field(default_factory=list)
    echoed: bool = False  # a child has the same name


def grow(rows: Iterable[Row], where: str) -> Grower:
    """The tree of an outline."""
    grower = Grower(where)
    sentinel: Row = (0, None)
    for (depth, label), (after, _) in pairwise(chain(rows, [sentinel])):
        grower.add(depth, label, leaf=after <= depth)
    grower.finish()
    return grower


class Grower:
    """The tree of an outline, built node by node, so that it needs memory for the tree and not for the whole input."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.leaves: list[Label] = []
        self.spans: dict[Span, tuple[Span, ...]] = {}
        self.names: dict[Span, str] = {}
        self.open = [_Group(None, 0)]
        self.parents: dict[str, str | None] = {}
        self.values: set[str] = set()

    def add(self, depth: int, label: Label | None, leaf: bool) -> None:
        """Adds the next node."""
        if depth >= MAX_DEPTH:
            refuse(self.where, f"it is nested more than {MAX_DEPTH} levels deep", "make it flatter")
        self._close(depth + 1)
        text = None if label is None else text_of(label)
        if text is not None:
            self._check(text, leaf)
        if leaf:
            assert label is not None
            self.open[-1].parts.append((len(self.leaves), len(self.leaves) + 1))
            self.leaves.append(label)
        else:
            self.open.append(_Group(text, len(self.leaves)))

    def finish(self) -> None:
        """Closes the groups that are open."""
        self._close(1)
        if not self.leaves:
            refuse(self.where, "it has no values", "list the declared categories in it")
        self._settle((0, len(self.leaves)), self.open[0])

    def _check(self, text: str, leaf: bool) -> None:
        """Refuses a name that is in use, unless it repeats the name of its own group."""
        parent = self.open[-1]
        if leaf and text in self.values:
            refuse(self.where, f"the value {quote(text)} is a leaf twice", "keep it in one place")
        if text == parent.name and not parent.echoed:
            parent.echoed = True
        elif text in (path := [group.name for group in self.open]):
            around = " > ".join([quote(name) for name in path[path.index(text) :] if name] + [quote(text)])
            refuse(self.where, f"{quote(text)} lies below itself (a cycle: {around})", "take it out in one place")
        elif text in self.parents:
            places = " and ".join(_place(name) for name in (self.parents[text], parent.name))
            rule = f"{quote(text)} stands in two places, {places} (two parents or a cycle)"
            refuse(self.where, rule, "keep it in one, or give each its own name")
        self.parents.setdefault(text, parent.name)
        if leaf:
            self.values.add(text)

    def _close(self, keep: int) -> None:
        while len(self.open) > keep:
            group = self.open.pop()
            span = (group.lo, len(self.leaves))
            self._settle(span, group)
            self.open[-1].parts.append(span)

    def _settle(self, span: Span, group: _Group) -> None:
        """Records a finished group. A group with a single child has the child's span, and the child keeps its name."""
        if len(group.parts) > 1:
            self.spans[span] = tuple(group.parts)
        if group.name is not None and span[1] - span[0] > 1 and self.names.get(span, ANY) == ANY:
            self.names[span] = group.name


def _place(parent: str | None) -> str:
    return "under a group without a name or at the top" if parent is None else f"under {quote(parent)}"


# -------------------------------------------------------------------------------------------- nested lists


def nested_rows(nested: object, where: str) -> Iterator[Row]:
    """The outline of nested lists and mappings, one node at a time and without recursion."""
    if not isinstance(nested, list | tuple | Mapping):
        refuse(where, f"{quote(nested)} is not a nested list", "write [[a, b], [c, d]] or {Group: [a, b], …}")
    stack = [_members(nested, where)]
    while stack:
        entry = next(stack[-1], None)
        if entry is None:
            stack.pop()
            continue
        label, inside = entry
        yield len(stack) - 1, label
        if inside is not None:
            stack.append(_members(inside, where))


def _members(group: Group, where: str) -> Iterator[tuple[Label | None, Group | None]]:
    """The content of a group: (label, None) for a leaf, (name or None, content) for a group."""
    for item in [group] if isinstance(group, Mapping) else group:
        if isinstance(item, list | tuple):
            yield None, filled(item, "a group", where)
        elif isinstance(item, Mapping):
            filled(item, "a group", where)
            for key, inside in item.items():
                yield checked_label(key, where), filled(inside, f"the group {quote(key)}", where)
        else:
            yield checked_label(item, where), None


def filled(inside: object, what: str, where: str) -> Group:
    """The content of a group; an empty group is refused."""
    if inside is None or (isinstance(inside, list | tuple | Mapping) and not inside):
        refuse(where, f"{what} is empty", "list its values, or take it out (a value stands without a colon)")
    if not isinstance(inside, list | tuple | Mapping):
        refuse(where, f"{what} has {quote(inside)} in place of a list", "write its values in square brackets")
    return inside


def checked_label(label: object, where: str) -> Label:
    """The label; refused unless it is a text, a 64-bit integer or a boolean."""
    if isinstance(label, str) and not label.isascii() and _HALF.search(label):
        refuse(where, f"the label {quote(label)} holds half a character (a lone surrogate)", "write it in full")
    if isinstance(label, str | bool) or (isinstance(label, int) and -(2**63) <= label < 2**63):
        return label
    shown = "a number of more than 64 bits" if isinstance(label, int) else quote(label)
    refuse(where, f"the label {shown} is not text", "put it in quotes")


LONGEST = 160
"""Most characters of a text in a table; a schema may list thousands of categories."""


def table(caption: str, rows: Iterable[tuple[str, object]]) -> str:
    """A table of names and texts, with everything escaped.

    >>> table("people", [("age", "17 <= age")])
    '<table><caption>people</caption><tr><th>age</th><td>17 &lt;= age</td></tr></table>'
    """
    cells = "".join(f"<tr><th>{escape(name)}</th><td>{escape(_short(str(text)))}</td></tr>" for name, text in rows)
    return f"<table><caption>{escape(caption)}</caption>{cells}</table>"


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} …"

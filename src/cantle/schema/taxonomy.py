"""A tree of generalisations over the values of one column; every node is a half-open span of codes.

The leaves are numbered depth first, so that a node *is* the span `(lo, hi)` of the leaves below it (DiffGen section
3.2). In a chain of nodes with a single child, several nodes would have the same span. So a chain becomes one node,
which has two or more children or is a leaf. The node keeps the most specific name of the chain (`*` only if there is no
other); a leaf keeps its own label.

Everything here is public, so messages may quote it.

A tree is built and checked from its outline: depth and label of every node, depth first. A name stands for one node: it
may not occur in two places, nor below itself. The one exception is a name repeated one level down, as in ARX files
(`Other;Other;*`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape
from itertools import chain, islice, pairwise

from cantle.errors import ParameterError, SchemaError, raise_alone
from cantle.schema.canonical_json import JSON
from cantle.schema.documents import MAX_DEPTH, fail, half_in, quote

Label = str | int
"""A category: a text, an integer or a boolean (which is an integer to Python)."""
Span = tuple[int, int]
Row = tuple[int, Label | None]
"""Depth and label of a node, depth first; a group without a name has the label None."""
Group = Sequence[object] | Mapping[str, object]
"""The content of a group as people write it: lists and mappings, to be checked."""

ANY = "*"


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


class _Outline:
    """The tree of an outline, built node by node, so that it needs memory for the tree and not for the whole input."""

    def __init__(self, rows: Iterable[Row], where: str) -> None:
        self.where = where
        self.leaves: list[Label] = []
        self.spans: dict[Span, tuple[Span, ...]] = {}
        self.names: dict[Span, str] = {}
        self.open = [_Group(None, 0)]
        self.parents: dict[str, str | None] = {}
        self.values: set[str] = set()
        sentinel: Row = (0, None)
        for (depth, label), (after, _) in pairwise(chain(rows, [sentinel])):
            self._add(depth, label, leaf=after <= depth)
        self._close(1)
        if not self.leaves:
            fail(self.where, "it has no values", "list the declared categories in it")
        self._settle((0, len(self.leaves)), self.open[0])

    def _add(self, depth: int, label: Label | None, leaf: bool) -> None:
        """Adds the next node."""
        if depth >= MAX_DEPTH:
            fail(self.where, f"it is nested more than {MAX_DEPTH} levels deep", "make it flatter")
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

    def _check(self, text: str, leaf: bool) -> None:
        """Refuses a name that is in use, unless it repeats the name of its own group."""
        parent = self.open[-1]
        if leaf and text in self.values:
            fail(self.where, f"the value {quote(text)} is a leaf twice", "keep it in one place")
        if text == parent.name and not parent.echoed:
            parent.echoed = True
        elif text in (path := [group.name for group in self.open]):
            around = " > ".join([quote(name) for name in path[path.index(text) :] if name] + [quote(text)])
            fail(self.where, f"{quote(text)} lies below itself (a cycle: {around})", "take it out in one place")
        elif text in self.parents:
            places = " and ".join(_place(name) for name in (self.parents[text], parent.name))
            rule = f"{quote(text)} stands in two places, {places} (two parents or a cycle)"
            fail(self.where, rule, "keep it in one, or give each its own name")
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
        fail(where, f"{quote(nested)} is not a nested list", "write [[a, b], [c, d]] or {Group: [a, b], …}")
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
        fail(where, f"{what} is empty", "list its values, or take it out (a value stands without a colon)")
    if not isinstance(inside, list | tuple | Mapping):
        fail(where, f"{what} has {quote(inside)} in place of a list", "write its values in square brackets")
    return inside


def checked_label(label: object, where: str) -> Label:
    """The label; refused unless it is a text, a 64-bit integer or a boolean."""
    if isinstance(label, str) and half_in(label):
        fail(where, f"the label {quote(label)} holds half a character (a lone surrogate)", "write it in full")
    if isinstance(label, str | bool) or (isinstance(label, int) and -(2**63) <= label < 2**63):
        return label
    shown = "a number of more than 64 bits" if isinstance(label, int) else quote(label)
    return fail(where, f"the label {shown} is not text", "put it in quotes")


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


GENERATORS = ("fanout", "prefixes", "bands", "dateparts")  # as a mapping's only key, these mean a rule, not a group
_SHOWN = 3  # most labels that name a node without a name


@dataclass(frozen=True, repr=False)
class Taxonomy:
    """A tree over the codes 0, …, len(leaves) - 1; made by `from_nested`, `flat`, `balanced` or `default`.

    >>> job = Taxonomy.from_nested({"Any": [{"Professional": ["Engineer", "Lawyer"]}, ["Dancer", "Writer"]]})
    >>> job.leaves
    ('Engineer', 'Lawyer', 'Dancer', 'Writer')
    >>> [(span, job.name(*span)) for span in job.children(*job.root)]
    [((0, 2), 'Professional'), ((2, 4), 'Dancer | Writer')]
    """

    leaves: tuple[Label, ...]
    fanout: int = 0  # children of every inner node, if they are computed; 0 if `spans` lists them
    spans: Mapping[Span, tuple[Span, ...]] = field(default_factory=dict, hash=False)
    names: Mapping[Span, str] = field(default_factory=dict, hash=False)

    # ------------------------------------------------------------------------------------------------ making

    @classmethod
    def flat(cls, leaves: Iterable[Label]) -> Taxonomy:
        """The taxonomy in which every value is a child of the root."""
        labels = tuple(leaves)
        return cls.balanced(labels, max(2, len(labels)))

    @classmethod
    def balanced(cls, leaves: Iterable[Label], fanout: object) -> Taxonomy:
        """The taxonomy that cuts every span into `fanout` parts as equal as possible, in the given order.

        Children are computed when needed: only the labels take memory.

        >>> Taxonomy.balanced("abcdefg", 3).children(0, 7)
        ((0, 2), (2, 4), (4, 7))
        """
        labels = tuple(leaves)
        if not labels:
            raise ParameterError("a taxonomy has no leaves; give at least one value.")
        if isinstance(fanout, bool) or not isinstance(fanout, int) or fanout < 2:
            raise ParameterError(f"the fan-out of a taxonomy is {quote(fanout)}; it must be a whole number from 2 on.")
        if len(set(labels)) < len(labels):
            twice = Counter(labels).most_common(1)[0][0]
            raise ParameterError(f"the value {quote(twice)} is twice in a taxonomy; keep it once.")
        return cls(labels, fanout=min(fanout, max(2, len(labels))))

    @classmethod
    def default(cls, leaves: Iterable[Label]) -> Taxonomy:
        """The taxonomy of a column that declares none: flat for up to five values, otherwise halves in the listed
        order."""
        labels = tuple(leaves)
        return cls.flat(labels) if len(labels) <= 5 else cls.balanced(labels, 2)

    @classmethod
    def from_nested(cls, nested: object, where: str = "taxonomy") -> Taxonomy:
        """The taxonomy in nested lists and mappings, as `to_nested` returns them and people write them.

        A list is a group without a name, each key of a mapping is a group, and other values are leaves.
        """
        if isinstance(nested, Mapping) and _is_even(nested):
            return _even(nested["leaves"], nested["fanout"], where)
        return cls.from_rows(nested_rows(nested, where), where)

    @classmethod
    def from_rows(cls, rows: Iterable[Row], where: str = "taxonomy") -> Taxonomy:
        """The taxonomy in an outline: depth (from 0) and label of every node, depth first; leaves have none below.

        >>> Taxonomy.from_rows([(0, "A"), (1, "a"), (1, "b"), (0, "c")]).to_nested()
        [{'A': ['a', 'b']}, 'c']
        """
        tree = _Outline(rows, where)
        size = len(tree.leaves)
        if len(tree.spans.get((0, size), "1")) == size:  # all leaves are children of the root
            return cls(tuple(tree.leaves), max(2, size), {}, tree.names)
        return cls(tuple(tree.leaves), 0, tree.spans, tree.names)

    # ----------------------------------------------------------------------------------------------- reading

    @property
    def root(self) -> Span:
        """The span of all codes."""
        return 0, len(self.leaves)

    def children(self, lo: int, hi: int) -> tuple[Span, ...]:
        """The spans of the children of a node, two or more; none for a leaf."""
        self._check_node(lo, hi)
        return tuple(self._parts(lo, hi))

    def has(self, lo: int, hi: int) -> bool:
        """Whether a span is a node."""
        return 0 <= lo < hi <= len(self.leaves) and (hi - lo == 1 or self._is_inner(lo, hi))

    def name(self, lo: int, hi: int) -> str:
        """The label of a node; for a node without a name its values, or the first and last of them."""
        self._check_node(lo, hi)
        return self._name(lo, hi)

    def path(self, code: int) -> Iterator[Span]:
        """The nodes from the root to the leaf of a code."""
        if not 0 <= code < len(self.leaves):
            raise ParameterError(f"code {code} is not in the taxonomy; it has the codes 0 to {len(self.leaves) - 1}.")
        node = self.root
        yield node
        while node[1] - node[0] > 1:
            node = self._part_with(node, code)
            yield node

    def preview(self, most: int = 40) -> Iterator[str]:
        """The tree as lines of text; at most `most` lines.

        >>> print(*Taxonomy.from_nested({"Any": [{"A": ["a", "b"]}, "c"]}).preview(), sep="\\n")
        Any
        ├─ A
        │  ├─ a
        │  └─ b
        └─ c
        """
        yield from islice(self._lines(*self.root, ""), most)
        total = len(self.leaves) + self._groups()
        if total > most:
            yield f"… {total - most} more"

    def to_nested(self) -> JSON:
        """The taxonomy as JSON; `from_nested` and the schema's `hierarchy` read it back."""
        if 0 < self.fanout < len(self.leaves):
            return {"fanout": self.fanout, "leaves": list(self.leaves)}
        nested = self._nested(*self.root)
        reserved = isinstance(nested, dict) and set(nested) <= set(GENERATORS)
        return nested if isinstance(nested, list | dict) and not reserved else [nested]

    def __repr__(self) -> str:
        return f"Taxonomy({len(self.leaves)} leaves, {self._groups()} groups)"

    # ---------------------------------------------------------------------------------------------- geometry

    def _check_node(self, lo: int, hi: int) -> None:
        if not self.has(lo, hi):
            raise ParameterError(f"the codes {lo} to {hi} are not a node of the taxonomy; start from its root.")

    def _is_inner(self, lo: int, hi: int) -> bool:
        return (lo, hi) in (self.path(lo) if self.fanout else self.spans)

    def _parts(self, lo: int, hi: int) -> Iterable[Span]:
        """The children of a node, unchecked."""
        size = hi - lo
        if size == 1:
            return ()
        if not self.fanout:
            return self.spans[lo, hi]
        parts = min(self.fanout, size)
        return ((lo + i * size // parts, lo + (i + 1) * size // parts) for i in range(parts))

    def _part_with(self, node: Span, code: int) -> Span:
        """The child of a node that contains the code."""
        lo, hi = node
        if not self.fanout:
            kids = self.spans[node]
            return kids[bisect_right(kids, code, key=lambda span: span[0]) - 1]
        size = hi - lo
        parts = min(self.fanout, size)
        i = ((code - lo + 1) * parts - 1) // size  # the largest i with i * size // parts <= code - lo
        return lo + i * size // parts, lo + (i + 1) * size // parts

    def _groups(self) -> int:
        """The number of nodes that are not leaves."""

        @cache  # spans of equal size have equal subtrees
        def of(size: int) -> int:
            small, large = divmod(size, parts := min(self.fanout, size))
            every = ((small + 1, large), (small, parts - large)) if size > 1 else ()
            return (size > 1) + sum(times * of(part) for part, times in every if times)

        return of(len(self.leaves)) if self.fanout else len(self.spans)

    def _name(self, lo: int, hi: int) -> str:
        if (lo, hi) in self.names:
            return self.names[lo, hi]
        if hi - lo <= _SHOWN:
            return " | ".join(map(text_of, self.leaves[lo:hi]))
        return f"{text_of(self.leaves[lo])} … {text_of(self.leaves[hi - 1])} ({hi - lo} values)"

    def _lines(self, lo: int, hi: int, bars: str) -> Iterator[str]:
        yield "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in self._name(lo, hi))
        for part in self._parts(lo, hi):
            last = part[1] == hi
            branch = self._lines(*part, bars + ("   " if last else "│  "))
            yield bars + ("└─ " if last else "├─ ") + next(branch)
            yield from branch

    def _nested(self, lo: int, hi: int) -> JSON:
        if hi - lo == 1:
            return self.leaves[lo]
        kids = [self._nested(*part) for part in self._parts(lo, hi)]
        return {self.names[lo, hi]: kids} if (lo, hi) in self.names else kids


def _even(leaves: object, fanout: object, where: str) -> Taxonomy:
    """The balanced taxonomy of a checked list."""
    labels = [checked_label(leaf, where) for leaf in filled(leaves, "the list of leaves", where)]
    try:
        return Taxonomy.balanced(labels, fanout)
    except ParameterError as wrong:
        raise_alone(SchemaError(f"{where}: {wrong}"))


def _is_even(nested: Mapping[str, object]) -> bool:
    """Whether a mapping declares a balanced tree (all groups have the same number of parts), as `to_nested` writes
    it."""
    return set(nested) == {"fanout", "leaves"} and not isinstance(nested["fanout"], list | tuple | Mapping)

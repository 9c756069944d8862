"""The public schema of a graph: whom the promise protects, and which nodes there could be.

    kind: graph
    unit: node                         # node (default) | node-isolate | edge
    nodes: {minimum: 0, maximum: 999}  # which whole numbers can be identifiers; or a file with one identifier per line
    form: edges                        # edges | degrees | matrix-market; by default recognised by the kind of file
    max_degree: 500                    # a public bound on the number of edges of a node

    kind: graph
    unit: edge
    nodes: 18163                       # a public number of nodes, whatever their identifiers

`unit` says what is protected: `node`, one node with all its edges, while the number of nodes is private;
`node-isolate`, all edges of one node; `edge`, one edge. Under the last two the number of nodes is public and must be
declared: a number, bounds (every number in them is a node) or a list. Under `node` it is private, and bounds or a list
only declare which identifiers could occur. Edges of other nodes are dropped, record by record.

An identifier must stay with its node, whoever else is in the data: if nodes are renumbered when one of them leaves,
that node is not protected.

A list of degrees has no edges and so can only be published under `edge`; its number of lines is public.

Everything in a schema is public and must have been written without looking at the private data. The canonical form
contains the content of a node file in place of its path.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from cantle.errors import DataError
from cantle.schema.base import Schema, require_guarantee
from cantle.schema.canonical_json import JSON
from cantle.schema.declared_values import BLANK, Folder, bounds, check_blanks, check_keys, plain_mapping, whole
from cantle.schema.documents import MAX_INTEGER, MAX_SIZE, Problems, check_values, fail
from cantle.schema.identifier_lines import pieces, read_fields
from cantle.trusted.bounding.node_ids import identifier

if TYPE_CHECKING:
    from cantle.schema.question_columns import Vocabulary

UNITS = ("node", "node-isolate", "edge")
FORMS = ("edges", "degrees", "matrix-market")
MOST_NODES = 2**31 - 1  # nodes are numbered by 32 bits
_OURS = {"kind", "unit", "nodes", "form", "max_degree", "guarantee"}
_KEYS = _OURS | {"title", "description", "name", "profile", "$schema"}
_TABLES = ("fields", "missingValues", "dialect", "hierarchy", "items")
_DECLARE = "give their number, {minimum: …, maximum: …}, or a file with one identifier per line"


@dataclass(frozen=True)
class NodeRange:
    """All whole numbers from `minimum` to `maximum`, both included, as identifiers."""

    minimum: int
    maximum: int

    @property
    def size(self) -> int:
        return self.maximum - self.minimum + 1


Nodes = int | NodeRange | tuple[int | str, ...]
"""Declared nodes: their number, their bounds, or all of their identifiers."""


@dataclass(frozen=True, kw_only=True)
class GraphSchema(Schema):
    """What is public about a graph.

    >>> schema = GraphSchema.from_dict({"kind": "graph", "unit": "edge", "nodes": {"minimum": 1, "maximum": 40}})
    >>> schema.node_count
    40
    """

    unit: str = "node"
    nodes: Nodes | None = None
    form: str | None = None
    max_degree: int | None = None
    inferred: bool = False
    extra: Mapping[str, JSON] = field(default_factory=dict)
    kind: ClassVar[str] = "graph"

    @property
    def node_count(self) -> int | None:
        """The public number of nodes; None if it is private, or if it is the number of lines of a degree list."""
        if self.unit == "node" or self.nodes is None:
            return None
        if isinstance(self.nodes, NodeRange):
            return self.nodes.size
        return self.nodes if isinstance(self.nodes, int) else len(self.nodes)

    @classmethod
    def from_dict(cls, document: Mapping[str, object], base_dir: Folder = None) -> GraphSchema:
        """The schema in parsed JSON or YAML; raises a SchemaError that names the rule and the fix.

        The path of a node file is relative to `base_dir`, by default the current folder.
        """
        if not isinstance(document, Mapping) or document.get("kind") != cls.kind:
            fail("schema", "it does not say `kind: graph`", "add that line, or leave it out for a table")
        problems = Problems()
        with problems.during():
            check_values({key: value for key, value in document.items() if key != "nodes"}, "schema")
            check_keys("schema", document, _KEYS)
        with problems.during():
            _refuse_what_is_not_for_graphs(document)
        unit = problems.value(None, _one_of, "unit", document.get("unit"), UNITS) or "node"
        form, nodes = problems.value(None, _one_of, "form", document.get("form"), FORMS), document.get("nodes")
        listed = None
        with problems.during("nodes"):
            _check_unit(unit, form, nodes)
            listed = None if nodes in (None, BLANK) else _nodes(unit, nodes, base_dir)
        bound = document.get("max_degree")
        most = None if bound is None else problems.value(1, whole, "schema", "max_degree", bound, 1, MOST_NODES)
        inferred = problems.value(False, require_guarantee, document)
        problems.refuse()
        extra = plain_mapping(document, without=_OURS)
        return cls(unit=unit, nodes=listed, form=form, max_degree=most, inferred=inferred, extra=extra)

    def to_dict(self) -> dict[str, JSON]:
        """The canonical form: values that JSON has, without defaults; `from_dict` returns the same schema."""
        document: dict[str, JSON] = {**self.extra, "kind": self.kind}
        named: dict[str, JSON] = {
            "unit": None if self.unit == "node" else self.unit,
            "nodes": _plain_nodes(self.nodes),
            "form": self.form,
            "max_degree": self.max_degree,
            "guarantee": "none" if self.inferred else None,
        }
        return document | {key: value for key, value in named.items() if value is not None}

    @property
    def protects(self) -> tuple[int, str]:
        return 1, self.unit

    def vocabulary(self) -> Vocabulary:
        from cantle.schema.question_columns import Vocabulary, WholeNumber

        return Vocabulary([WholeNumber("degree")])


def _plain_nodes(nodes: Nodes | None) -> JSON:
    if isinstance(nodes, NodeRange):
        return {"minimum": nodes.minimum, "maximum": nodes.maximum}
    if isinstance(nodes, tuple):
        # JSON does not hold larger numbers exactly; as text they mean the same node (cantle.trusted.bounding.node_ids)
        return [n if isinstance(n, str) or abs(n) <= MAX_INTEGER else str(n) for n in nodes]
    return nodes


def _refuse_what_is_not_for_graphs(document: Mapping[str, object]) -> None:
    for key in _TABLES:
        if key in document:
            fail("schema", f"`{key}` is not for graphs", "take it out, or drop `kind: graph`")
    check_blanks("schema", {key: document[key] for key in _OURS if key in document})


def _one_of(key: str, value: object, known: tuple[str, ...]) -> str | None:
    if value is not None and not (isinstance(value, str) and value in (*known, BLANK)):  # blanks are refused elsewhere
        fail("schema", f"{key} {value!r} is not known", f"use one of {', '.join(known)}, or leave it out", key)
    return value


def _check_unit(unit: str, form: str | None, nodes: object) -> None:
    """Refuses keys that do not go with the unit."""
    if form == "degrees" and unit != "edge":
        rule = f"a list of degrees cannot be published under `unit: {unit}`: without the edges it cannot be projected"
        fail("schema", f"{rule}, and one node may change every degree", "give the edges, or write `unit: edge`")
    if form == "degrees" and nodes is not None:
        fail("schema", "the nodes of a list of degrees are its lines", "leave `nodes` out")
    if unit != "node" and form != "degrees" and nodes is None:
        fail("schema", f"under `unit: {unit}` the number of nodes is public and must be declared as `nodes`", _DECLARE)
    if unit == "node" and isinstance(nodes, int):
        rule = "under `unit: node` the number of nodes is private and cannot be declared"
        fail("schema", rule, "leave `nodes` out, or write `unit: node-isolate` if the number is public")


def _nodes(unit: str, nodes: object, base_dir: Folder) -> Nodes:
    if isinstance(nodes, str | os.PathLike):
        return _listed(_from_file(os.fspath(nodes), Path(base_dir or ".")))
    if isinstance(nodes, Mapping):
        return _range(unit, nodes)
    if isinstance(nodes, list | tuple):
        return _listed(nodes)
    return whole("schema", "nodes", nodes, 1, MOST_NODES, _DECLARE)


def _range(unit: str, nodes: Mapping[str, object]) -> NodeRange:
    low, high = bounds("nodes", nodes)
    if unit != "node" and high - low >= MOST_NODES:
        rule = f"under `unit: {unit}` all numbers in the bounds are nodes, and these are too many"
        fail("nodes", rule, "narrow them")
    return NodeRange(low, high)


def _from_file(name: str, base: Path) -> Iterable[bytes | int]:
    """The first field of every line of a node file."""
    try:
        for (part,) in read_fields(pieces(base / name), 1):
            yield from part.numbers[~part.other].tolist()
            yield from part.texts
    except (DataError, ValueError):  # ValueError: a zero byte in a path
        fail("nodes", f"the file {name!r} cannot be read", "give its path from the folder of the schema")


def _listed(values: Iterable[object]) -> tuple[int | str, ...]:
    """Identifiers in their public order, each once."""
    identifiers: set[int | bytes] = set()
    for value in values:
        known = identifier(value) if isinstance(value, str | bytes | int) else None
        if known is None:
            fail("nodes", "a listed identifier is neither a whole number nor a text", "write it as one of these")
        identifiers.add(known)
        if len(identifiers) > MAX_SIZE:
            rule = f"more than {MAX_SIZE:,} identifiers are listed"
            fail("nodes", rule, "declare numbers by {minimum: …, maximum: …}")
    if not identifiers:
        fail("nodes", "no identifier is listed", _DECLARE)
    try:
        texts = [one.decode() for one in sorted(one for one in identifiers if isinstance(one, bytes))]
    except UnicodeDecodeError:
        fail("nodes", "a listed identifier is not UTF-8 text", "write the file in UTF-8")
    return (*sorted(one for one in identifiers if isinstance(one, int)), *texts)

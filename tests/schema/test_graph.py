"""The schema of a graph: what may be declared for which unit, and refusals that state the reason and the fix."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cantle.errors import SchemaError
from cantle.schema import Schema
from cantle.schema.graph import GraphSchema, NodeRange

RANGE = {"minimum": 0, "maximum": 99}


def declared(**keys: Any) -> GraphSchema:
    return GraphSchema.from_dict({"kind": "graph", **keys})


def test_defaults() -> None:
    schema = declared()
    assert (schema.kind, schema.unit, schema.nodes, schema.form, schema.max_degree) == (
        "graph",
        "node",
        None,
        None,
        None,
    )
    assert schema.node_count is None
    assert schema.to_dict() == {"kind": "graph"}


@pytest.mark.parametrize("unit", ["node-isolate", "edge"])
def test_the_public_number_of_nodes(unit: str) -> None:
    assert declared(unit=unit, nodes=18_163).node_count == 18_163
    assert declared(unit=unit, nodes=RANGE).node_count == 100
    assert declared(unit=unit, nodes=["ann", 7, "7", "bob"]).node_count == 3


def test_for_unit_node_a_range_or_a_list_of_nodes_is_a_domain() -> None:
    assert declared(nodes={"minimum": 1 - 2**53, "maximum": 2**53 - 1}).nodes == NodeRange(1 - 2**53, 2**53 - 1)
    assert declared(nodes=RANGE).node_count is None
    assert declared(nodes=["b", "a", 10, 9]).nodes == (9, 10, "a", "b")
    assert declared(nodes=["b"]).node_count is None


def test_a_degree_list_has_as_many_nodes_as_lines() -> None:
    schema = declared(unit="edge", form="degrees")
    assert schema.node_count is None
    assert schema.to_dict() == {"kind": "graph", "unit": "edge", "form": "degrees"}


def test_a_node_file_is_inlined(tmp_path: Path) -> None:
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists" / "ids.txt").write_text('# people\n10\nann\n\n9\n010\n"b c"\n')
    (tmp_path / "schema.yaml").write_text("kind: graph\nunit: edge\nnodes: lists/ids.txt\n")
    schema = Schema.load(tmp_path / "schema.yaml")
    assert isinstance(schema, GraphSchema)
    assert schema.nodes == (9, 10, "ann", "b c")
    assert schema.to_dict()["nodes"] == [9, 10, "ann", "b c"]


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"unit": "edge", "nodes": 5, "form": "edges", "max_degree": 3},
        {"unit": "node-isolate", "nodes": RANGE},
        {"nodes": [1, "x", "é"], "title": "Friends", "guarantee": "none"},
        {"unit": "edge", "form": "degrees"},
        {"form": "matrix-market"},
    ],
)
def test_the_canonical_form_gives_the_same_schema_back(keys: dict[str, Any]) -> None:
    schema = declared(**keys)
    again = GraphSchema.from_dict(json.loads(json.dumps(schema.to_dict())))
    assert again == schema
    assert again.hash() == schema.hash()
    assert schema.inferred == ("guarantee" in keys)


def test_the_hash_depends_on_every_key() -> None:
    schemas = [
        declared(),
        declared(max_degree=3),
        declared(nodes=RANGE),
        declared(nodes=[1]),
        declared(form="edges"),
        declared(unit="edge", nodes=1),
    ]
    assert len({schema.hash() for schema in schemas}) == len(schemas)
    assert len(declared().hash()) == 64


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"unit": "record"}, "unit 'record' is not known; use one of node, node-isolate, edge"),
        ({"unit": ["node"]}, "unit"),
        ({"form": "json"}, "form 'json' is not known; use one of edges, degrees, matrix-market"),
        (
            {"nodes": 5},
            "number of nodes is private and cannot be declared; leave `nodes` out, or write `unit: node-isol",
        ),
        ({"unit": "edge"}, "under `unit: edge` the number of nodes is public and must be declared as `nodes`; give"),
        ({"unit": "node-isolate"}, "under `unit: node-isolate` the number of nodes is public"),
        ({"form": "degrees"}, "cannot be published under `unit: node`: without the edges it cannot be projected"),
        ({"form": "degrees", "unit": "node-isolate", "nodes": 5}, "without the edges it cannot be projected"),
        ({"form": "degrees", "unit": "edge", "nodes": 5}, "the nodes of a list of degrees are its lines"),
        ({"unit": "edge", "nodes": 0}, "`nodes` is not a whole number from 1"),
        ({"unit": "edge", "nodes": True}, "`nodes` is not a whole number"),
        ({"unit": "edge", "nodes": 2.5}, "`nodes` is not a whole number"),
        ({"unit": "edge", "nodes": 2**31}, "`nodes` is not a whole number"),
        ({"nodes": {"minimum": 3}}, "bounds have a `minimum` and a `maximum`"),
        ({"nodes": {"minimum": 3, "maximun": 4}}, "write 'maximum'"),
        ({"nodes": {"minimum": 3, "maximum": 2}}, "minimum 3 is above maximum 2; swap them"),
        ({"nodes": {"minimum": 0.5, "maximum": 2}}, "nodes: `minimum` is not a whole number"),
        ({"nodes": {"minimum": 0, "maximum": 2**53}}, "nodes: `maximum` is not a whole number"),
        ({"unit": "edge", "nodes": {"minimum": 0, "maximum": 2**40}}, "these are too many; narrow them"),
        ({"nodes": []}, "no identifier is listed"),
        ({"nodes": [1, None]}, "neither a whole number nor a text"),
        ({"nodes": [1, " "]}, "neither a whole number nor a text"),
        ({"nodes": [1, [2]]}, "neither a whole number nor a text"),
        ({"nodes": "there-is-no-such-file.txt"}, "the file 'there-is-no-such-file.txt' cannot be read"),
        ({"nodes": "a\0b"}, "cannot be read"),
        ({"nodes": "???"}, "`nodes` is still blank"),
        ({"max_degree": 0}, "`max_degree` is not a whole number from 1"),
        ({"max_degree": "9"}, "`max_degree` is not a whole number"),
        ({"guarantee": "full"}, "`guarantee` can only be `none`"),
        ({"fields": []}, "`fields` is not for graphs"),
        ({"dialect": {}}, "`dialect` is not for graphs"),
        ({"node": RANGE}, "write 'nodes'"),
        ({"maxdegree": 3}, "write 'max_degree'"),
    ],
)
def test_refusals_state_the_reason_and_the_fix(keys: dict[str, Any], said: str) -> None:
    with pytest.raises(SchemaError) as caught:
        declared(**keys)
    text = str(caught.value)
    assert said in text
    assert ";" in text
    assert text.endswith(".")


def test_a_node_file_in_another_encoding_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ids.txt").write_bytes(b"caf\xe9\n")
    with pytest.raises(SchemaError, match="not UTF-8 text"):
        GraphSchema.from_dict({"kind": "graph", "nodes": "ids.txt"}, tmp_path)


def test_the_kind_must_be_declared() -> None:
    with pytest.raises(SchemaError, match="`kind: graph`"):
        GraphSchema.from_dict({"unit": "edge"})
    assert isinstance(Schema.from_dict({"kind": "graph"}), GraphSchema)

"""The JSON Schema of schema files has the keys of the parsers and no others, and accepts what cantle accepts."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from cantle.errors import SchemaError
from cantle.schema import Schema, dialect, field_parser, graph, json_schema, sequences, sets, table
from cantle.schema.declared_values import BLANK
from cantle.schema.documents import parse_document
from cantle.schema.fields import TYPES
from tests.interfaces.cli.inside import Cantle, cantle  # noqa: F401 - a fixture
from tests.schema.test_problems import WRONG

ROOT = Path(__file__).parents[2]
VALIDATOR = jsonschema.Draft7Validator(json_schema.json_schema())
DEFINITIONS: dict[str, Any] = json_schema.json_schema()["definitions"]  # type: ignore[assignment]


def test_it_is_a_valid_json_schema() -> None:
    jsonschema.Draft7Validator.check_schema(json.loads(json.dumps(json_schema.json_schema())))


def properties(kind: str) -> dict[str, Any]:
    found: dict[str, Any] = DEFINITIONS[kind]["properties"]
    return found


def test_it_has_the_keys_of_the_parsers_and_no_others() -> None:
    assert properties("field").keys() == field_parser._FIELD_KEYS
    assert properties("field")["constraints"]["properties"].keys() == field_parser._CONSTRAINT_KEYS
    assert properties("table")["dialect"]["properties"].keys() == dialect.DIALECT_KEYS.keys()
    assert properties("table").keys() == table._SCHEMA_KEYS
    assert properties("sets").keys() == sets.SetSchema.keys()
    assert properties("sequences").keys() == sequences.SequenceSchema.keys()
    assert properties("graph").keys() == graph._KEYS


def test_it_has_the_words_and_limits_of_the_parsers() -> None:
    assert properties("field")["type"]["enum"] == list(TYPES)
    assert properties("table")["headerRow"]["maximum"] == dialect.MOST_ROWS
    assert properties("sets")["form"]["enum"] == [*sets.SetSchema.FORMS, None]
    assert properties("sequences")["form"]["enum"] == [*sequences.SequenceSchema.FORMS, None]
    assert properties("sequences")["order"]["properties"]["type"]["enum"] == list(sequences.ORDER_TYPES)
    assert properties("sequences")["max_length"]["maximum"] == sequences.LONGEST
    assert properties("graph")["unit"]["enum"] == [*graph.UNITS, None]
    assert properties("graph")["form"]["enum"] == [*graph.FORMS, None]
    criterion = properties("table")["criteria"]["items"]["properties"]
    assert criterion["questions"]["enum"] == list(table.QUESTIONS)
    texts = re.findall(r'"const": "(.*?)"', json.dumps(DEFINITIONS["field"]))
    assert set(texts) == {BLANK}


WRITTEN_OUT = re.compile(r'"fields": \[|fields:\n|fields:\\n|"kind": "')


def is_key(node: ast.expr | None, *names: str) -> bool:
    return isinstance(node, ast.Constant) and node.value in names


def documents(*folders: str) -> Iterator[tuple[str, Any]]:
    """Every schema that is written in the code, in the texts of the code and on the pages of these folders."""
    for path in sorted(one for folder in folders for one in (ROOT / folder).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if not WRITTEN_OUT.search(text):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Dict) and any(is_key(key, "fields", "kind") for key in node.keys):
                with suppress(ValueError, TypeError):
                    yield path.name, ast.literal_eval(node)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "fields:\n" in node.value:
                with suppress(SchemaError):
                    yield path.name, parse_document(node.value, "text", is_json=False)
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for block in re.findall(r"```yaml\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL):
            yield path.name, parse_document(block, "page", is_json=False)


@pytest.mark.parametrize(
    "folders",
    [
        ("src", "benchmarks", "tests/schema", "tests/release"),
        pytest.param(("src", "benchmarks", "tests"), marks=pytest.mark.slow),
    ],
    ids=" ".join,
)
def test_every_schema_of_the_repository_is_accepted(folders: tuple[str, ...]) -> None:
    tried = set()
    for name, document in documents(*folders):
        if not isinstance(document, dict) or not document.keys() & {"fields", "kind"}:
            continue
        with suppress(SchemaError):
            Schema.from_dict(document)
            tried.add((name, document.get("kind", "table")))
            assert [one.message for one in VALIDATOR.iter_errors(document)] == [], name
    assert {"table", "sets", "graph"} <= {kind for _, kind in tried}
    assert {"README.md", "tutorial.md", "reference.md"} <= {name for name, _ in tried}
    assert len(tried) > 15


def field(**keys: Any) -> dict[str, Any]:
    return {"fields": [{"name": "x", **keys}]}


@pytest.mark.parametrize(
    "document",
    [
        {},
        yaml.safe_load(WRONG),
        field(type="integer"),
        field(type="integer", constraints={"minimum": 0, "maximum": "???"}),
        field(type="number", constraints={"minimum": 0, "maximum": 1}),
        field(type="whole", constraints={"minimum": 0, "maximum": 1}),
        field(),
        field(categories=[]),
        field(categories=["a", "a"]),
        field(categories=["a"], role="goal"),
        {"kind": "sets"},
        {"kind": "sets", "items": "???"},
        {"kind": "graph", "unit": "person"},
        {"kind": "graph", "nodes": "???"},
    ],
)
def test_documents_that_it_refuses_are_refused_by_cantle(document: dict[str, Any]) -> None:
    assert not VALIDATOR.is_valid(document)
    with pytest.raises(SchemaError):
        Schema.from_dict(document)


def test_the_command_prints_it(tmp_path: Path, cantle: Cantle) -> None:  # noqa: F811
    assert json.loads(cantle("schema").out) == json_schema.json_schema()
    assert cantle("schema", "-o", "s.json").code == 0
    assert json.loads((tmp_path / "s.json").read_text()) == json_schema.json_schema()


@pytest.mark.parametrize(("name", "kind"), [("t.csv", "table"), ("t.dat", "sets"), ("t.edges", "graph")])
def test_a_draft_refers_to_the_json_schema_beside_it(
    tmp_path: Path,
    cantle: Cantle,  # noqa: F811
    name: str,
    kind: str,
) -> None:
    (tmp_path / name).write_text("a,b\n1,2\n")
    header = ("--header", "yes") if kind == "table" else ()
    assert cantle("init", name, *header, "-o", "s.yaml").code == 0
    first = (tmp_path / "s.yaml").read_text().splitlines()[0]
    beside = tmp_path / re.fullmatch(r"# yaml-language-server: \$schema=(.+)", first)[1]  # type: ignore[index]
    assert json.loads(beside.read_text()) == json_schema.json_schema()
    assert first in cantle("init", name, *header).out

"""The JSON Schema of schema files, with which editors complete and check them while people type.

Its parts are in schema_keys.yaml: a text and the allowed values for every key that the parsers accept; a test compares
both. It accepts whatever cantle accepts, and refuses blanks and most errors. Some errors cannot be described in a JSON
Schema (a minimum above its maximum, a category listed twice with different spellings, a file that does not exist);
`cantle check`, `plan` and `publish` report these.
"""

from __future__ import annotations

from pathlib import Path

import yaml

from cantle.schema.canonical_json import JSON

FILE_NAME = "cantle.schema.json"
"""The name of a copy beside a draft; the draft's first line refers to it, so that editors need no network."""
EDITOR_LINE = f"# yaml-language-server: $schema={FILE_NAME}\n"

Part = dict[str, JSON]


def json_schema() -> dict[str, JSON]:
    """The JSON Schema (draft 7, which all editors support) of schemas of every kind of data."""
    text = (Path(__file__).parent / "schema_keys.yaml").read_text(encoding="utf-8")
    parts: dict[str, Part] = yaml.safe_load(text)
    dialect, field = parts["dialect"], parts["field"]
    _add_properties(parts["records"], "dialect", dialect)
    _add_properties(field, "constraints", parts["constraints"])
    records = {**parts["records"], **dialect, **parts["shared"]}
    sets = {**parts["sets"], **records}
    sequences = {**{key: part for key, part in sets.items() if key != "hierarchy"}, **parts["sequences"]}
    chosen: Part = {"$ref": "#/definitions/table"}
    for kind in ("graph", "sequences", "sets"):
        is_kind: Part = {"properties": {"kind": {"enum": [kind]}}, "required": ["kind"]}
        chosen = {"if": is_kind, "then": {"$ref": f"#/definitions/{kind}"}, "else": chosen}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "A schema for cantle: what is public about the data",
        "type": "object",
        **chosen,
        "definitions": {
            "table": _object({**parts["table"], **records}, "fields"),
            "sets": _object(sets, "kind", "items"),
            "sequences": _object(sequences, "kind", "items"),
            "graph": _object({**parts["graph"], **parts["shared"]}, "kind"),
            "field": {**_object(field, "name"), **parts["needs"]},
        },
    }


def _add_properties(keys: Part, name: str, properties: Part) -> None:
    """Says which keys the mapping under one of these keys has."""
    inside = keys[name]
    assert isinstance(inside, dict)
    inside["properties"] = properties


def _object(properties: Part, *required: str) -> Part:
    return {"type": "object", "properties": properties, "required": [*required]}

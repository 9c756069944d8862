"""What is public: schema files, hierarchies, domains; value to code and back, one value at a time.

`kinds` maps each kind of data to its class of schemas. No other package reads the key `kind` of a document.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from cantle.errors import SchemaError, raise_alone
from cantle.schema.base import Schema as Schema
from cantle.schema.documents import fail, parse_document, with_lines

DEFAULT = "table"
PACKAGE = "families"


def kinds() -> dict[str, type[Schema]]:
    """The class of schemas of each kind of data; imported when needed, because most need numpy."""
    from cantle.schema.families import FamilySchema
    from cantle.schema.graph import GraphSchema
    from cantle.schema.sequences import SequenceSchema
    from cantle.schema.sets import SetSchema
    from cantle.schema.table import TableSchema

    return {one.kind: one for one in (TableSchema, SetSchema, SequenceSchema, GraphSchema, FamilySchema)}


def load_schema(path: str | os.PathLike[str]) -> Schema:
    """The schema in a YAML or JSON file, of the class that its `kind` names."""
    where = f"schema {os.fspath(path)!r}"
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        fail(where, "there is no such file", "check the path, or write one with `cantle init DATA`")
    except (OSError, ValueError):  # not UTF-8, or not a path
        fail(where, "the file cannot be read as UTF-8 text", "check the path and its permissions")
    is_json = str(path).lower().endswith(".json")
    document = parse_document(text, where, is_json)
    try:
        return Schema.from_dict(document if isinstance(document, Mapping) else {}, base_dir=Path(path).parent)
    except SchemaError as error:
        raise_alone(with_lines(error, where, text))


def as_schema(schema: Schema | Mapping[str, object] | str | os.PathLike[str]) -> Schema:
    """The schema in a dictionary or a file; a schema object is returned as it is."""
    if isinstance(schema, Schema):
        return schema
    return Schema.from_dict(schema) if isinstance(schema, Mapping) else load_schema(schema)


def class_for(document: object) -> type[Schema]:
    """The class of schemas that a document declares; without `kind` it describes a table, or, if it lists
    `resources`, families."""
    kind, known = DEFAULT, kinds()
    if isinstance(document, Mapping):
        kind = document.get("kind", PACKAGE if "resources" in document else DEFAULT)
    if not isinstance(kind, str) or kind not in known:
        first, *others = known
        listed = ", ".join(f"`{one}`" for one in others[:-1])
        use = f"use `kind: {first}`, {listed} or `{others[-1]}`; without it: a table"
        fail("schema", f"kind {kind!r} is not known", use, "kind")
    return known[kind]

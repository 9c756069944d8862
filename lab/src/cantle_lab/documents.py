"""Table schemas as the lab writes them: documents with the keys of a Frictionless table schema.

The folder `schemas` has the public schemas of real tables. They come from the documentation of the data sets, not from
their records.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from cantle.errors import SchemaError

FieldDocument = dict[str, Any]
"""The schema of one column."""
TableDocument = dict[str, Any]
"""The schema of a table."""


def public_fields(name: str) -> list[FieldDocument]:
    """The columns of a public schema, to be changed at will."""
    text = (Path(__file__).parent / "schemas" / f"{name}.yaml").read_text(encoding="utf-8")
    fields: list[FieldDocument] = yaml.safe_load(text)["fields"]
    return fields


def number(name: str, low: int, high: int) -> FieldDocument:
    """A column of whole numbers."""
    return {"name": name, "type": "integer", "constraints": {"required": True, "minimum": low, "maximum": high}}


def listed(name: str, values: Sequence[str], *, target: bool = False) -> FieldDocument:
    """A column of categories."""
    field = {"name": name, "type": "string", "categories": [*values], "constraints": {"required": True}}
    return field | {"role": "target"} if target else field


def bounds(field: FieldDocument) -> tuple[float, float]:
    """The minimum and maximum of a numeric column; raises a SchemaError if it does not declare them as numbers."""
    rules = field.get("constraints", {})
    if "minimum" not in rules or "maximum" not in rules:
        name = field["name"]
        raise SchemaError(f"field {name} has neither categories nor minimum and maximum; declare one of them")
    low, high = rules["minimum"], rules["maximum"]
    if isinstance(low, str) or isinstance(high, str):
        raise SchemaError(f"field {field['name']} is not a column of numbers; leave it out of the figures")
    return low, high

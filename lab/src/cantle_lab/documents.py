"""Types of the table schemas that the lab writes in Python: those keys of a Frictionless table schema that it uses."""

from __future__ import annotations

from typing import Required, TypedDict

from cantle.errors import SchemaError
from cantle.schema.canonical_json import JSON


class Constraints(TypedDict, total=False):
    """The bounds of a column, and whether records without a value in it are dropped (`required`)."""

    required: bool
    minimum: float | str
    maximum: float | str
    multipleOf: float
    enum: list[str]


class FieldDocument(TypedDict, total=False):
    """The schema of one column."""

    name: Required[str]
    type: str
    role: str
    step: float
    categories: list[str]
    categoriesOrdered: bool
    hierarchy: JSON
    constraints: Constraints


class TableDocument(TypedDict, total=False):
    """The schema of a table."""

    fields: Required[list[FieldDocument]]
    missingValues: list[str]


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

"""The keys of a declared column in one table, and which columns may have them.

The parser of fields knows no other keys of ours, and what they hold is in the JSON Schema (cantle.schema.json_schema).
"""

from __future__ import annotations

from dataclasses import dataclass

GRIDS = ("integer", "number", "date", "datetime")
LISTED = ("string", "integer")
TYPES = (*GRIDS, "string", "boolean")


@dataclass(frozen=True)
class Key:
    """One key: the types of columns it is for, and whether they have categories (True) or bounds (False; None: any)."""

    types: tuple[str, ...] = TYPES
    categories: bool | None = None


FIELD_KEYS: dict[str, Key] = {
    "name": Key(),
    "type": Key(),
    "role": Key(),
    "constraints": Key(),
    "categories": Key(LISTED, categories=True),
    "categoriesOrdered": Key(LISTED, categories=True),
    "hierarchy": Key(LISTED, categories=True),
    "unknown": Key((*LISTED, "boolean"), categories=True),
    "step": Key(GRIDS, categories=False),
    "format": Key(("date", "datetime")),
    "trueValues": Key(("boolean",)),
    "falseValues": Key(("boolean",)),
    "missingValues": Key(),
    "decimalChar": Key(("integer", "number"), categories=False),
    "groupChar": Key(("integer", "number"), categories=False),
    "bareNumber": Key(("integer", "number"), categories=False),
    "trim": Key(("string", "boolean"), categories=True),
    "ignoreCase": Key(("string", "boolean"), categories=True),
    "replace": Key(),
}
"""All keys of a field that cantle reads."""

CONSTRAINT_KEYS = ("required", "minimum", "maximum", "enum", "step")
"""Those of its `constraints`."""

WRITING = (
    "trueValues", "falseValues", "format", "decimalChar", "groupChar", "bareNumber", "trim", "ignoreCase", "replace",
)  # fmt: skip
"""The keys that say how values are written in the data that come in. What is released has true and false, ISO dates,
plain numbers, and each category in one spelling."""

_WORDS = {
    "integer": "int integer int8 int16 int32 int64 uint8 uint16 uint32 uint64 long bigint smallint tinyint whole count",
    "number": "float float32 float64 double real decimal number numerical numeric continuous contin",
    "string": "str string text char character varchar object categorical category factor nominal ordinal code discrete",
    "boolean": "bool boolean logical binary",
    "date": "date",
    "datetime": "datetime timestamp datetime64 time",
}
TYPE_WORDS = {word: kind for kind, words in _WORDS.items() for word in words.split()}
"""What other tools call the types of columns."""

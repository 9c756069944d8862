"""A table of all keys of a declared column, and which columns may have them.

The parser of fields accepts no other keys of ours; schema_keys.yaml says what they hold.
"""

from __future__ import annotations

from dataclasses import dataclass

GRIDS = ("integer", "number", "date", "datetime")
LISTED = ("string", "integer")
PLACE = "geopoint"
LIST = "list"
DELIMITER = ";"
"""What stands between two items of a list in released texts, and by default in texts that are read."""
TYPES = (*GRIDS, "string", "boolean", PLACE, LIST)


@dataclass(frozen=True)
class Key:
    """One key: the types of columns that may have it, and whether these have categories (True) or bounds (False); None
    means either."""

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
    "from": Key((*LISTED, "boolean"), categories=True),
    "map": Key((*LISTED, "boolean"), categories=True),
    "unknown": Key((*LISTED, "boolean", LIST), categories=True),
    "items": Key((LIST,)),
    "itemType": Key((LIST,)),
    "delimiter": Key((LIST,)),
    "max_items": Key((LIST,)),
    "step": Key((*GRIDS, PLACE), categories=False),
    "bounds": Key((PLACE,)),
    "columns": Key((PLACE,)),
    "share": Key((PLACE,)),
    "format": Key(("date", "datetime", PLACE)),
    "trueValues": Key(("boolean",)),
    "falseValues": Key(("boolean",)),
    "missingValues": Key(),
    "decimalChar": Key(("integer", "number", PLACE), categories=False),
    "groupChar": Key(("integer", "number"), categories=False),
    "bareNumber": Key(("integer", "number"), categories=False),
    "trim": Key(("string", "boolean"), categories=True),
    "ignoreCase": Key(("string", "boolean"), categories=True),
    "replace": Key(),
}
"""All keys of a field that cantle reads."""

CONSTRAINT_KEYS = ("required", "minimum", "maximum", "enum", "step", "multipleOf")
"""All keys of `constraints`."""

WRITING = (
    "trueValues", "falseValues", "format", "decimalChar", "groupChar", "bareNumber", "trim", "ignoreCase", "replace",
    "delimiter",
)  # fmt: skip
"""The keys that say how values are written in the input. Releases always use true and false, ISO dates, plain numbers,
and one spelling per category."""

_WORDS = {
    "integer": "int integer int8 int16 int32 int64 uint8 uint16 uint32 uint64 long bigint smallint tinyint whole count",
    "number": "float float32 float64 double real decimal number numerical numeric continuous contin",
    "string": "str string text char character varchar object categorical category factor nominal ordinal code discrete",
    "boolean": "bool boolean logical binary",
    "date": "date",
    "datetime": "datetime timestamp datetime64 time",
    LIST: "list array set multiple multiselect select_multiple",
    PLACE: "point geo place location coordinates latlon geopoint geography geometry geojson",
}
TYPE_WORDS = {word: kind for kind, words in _WORDS.items() for word in words.split()}
"""Words of other tools for the types of columns."""

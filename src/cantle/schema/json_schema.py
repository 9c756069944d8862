"""The JSON Schema of schema files, with which editors complete and check them while people type.

It describes the keys that the parsers accept; a test compares both. It accepts whatever cantle accepts, and refuses
blanks and most errors. Some errors cannot be described in a JSON Schema (a minimum above its maximum, a category listed
twice with different spellings, a file that does not exist); `cantle check`, `plan` and `publish` report these.
"""

from __future__ import annotations

from collections.abc import Mapping

from cantle.schema.canonical_json import JSON
from cantle.schema.declared_values import BLANK
from cantle.schema.dialect import MOST_ROWS
from cantle.schema.field_keys import TYPES
from cantle.schema.sequences import LONGEST, ORDER_TYPES
from cantle.schema.table import QUESTIONS

FILE_NAME = "cantle.schema.json"
"""The name of a copy beside a draft; the draft's first line refers to it, so that editors need no network."""
EDITOR_LINE = f"# yaml-language-server: $schema={FILE_NAME}\n"

Part = dict[str, JSON]

_FILLED: Part = {"not": {"const": BLANK}}
_TEXT: Part = {"type": "string", **_FILLED}
_TEXTS: Part = {"type": "array", "items": {"type": ["string", "integer"], **_FILLED}}
_BOUND: Part = {"type": ["number", "string"], **_FILLED}
_PAIR: Part = {"type": "array", "minItems": 2, "maxItems": 2, "items": {"type": "number"}}
_CHARACTER: Part = {"type": ["string", "null"], "maxLength": 1}
_ANY: Part = {}
_TREE: Part = {"type": ["string", "array", "object"], **_FILLED}
_CATEGORY: Part = {
    "anyOf": [
        {"type": ["string", "integer"], **_FILLED},
        {"type": "object", "required": ["value"], "properties": {"label": {"type": ["string", "integer", "null"]}}},
    ],
}
_CATEGORIES: Part = {"type": "array", "minItems": 1, "uniqueItems": True, "items": _CATEGORY}
_BOUNDS: Part = {
    "type": "object",
    "properties": {"minimum": {"type": "integer"}, "maximum": {"type": "integer"}},
    "required": ["minimum", "maximum"],
    "additionalProperties": False,
}

_ITEMS: Part = {"anyOf": [_BOUNDS, {**_TEXTS, "minItems": 1}, _TEXT]}


def _said(text: str, part: Part) -> Part:
    return {"description": text, **part}


def _any(*keys: str) -> dict[str, Part]:
    """Keys of other tools, which may hold anything."""
    return dict.fromkeys(keys, _ANY)


FIELD: dict[str, Part] = {
    "name": _said("The column as it is called in the data.", {**_TEXT, "minLength": 1}),
    "type": _said("How the column is read; string by default.", {"enum": [*TYPES]}),
    "role": _said(
        "target: what a model will predict. weight: how much a record counts. identifier: never published.",
        {"enum": ["target", "weight", "identifier", None]},
    ),
    "constraints": _said("Bounds, and whether a value must be there.", {"type": ["object", "null"]}),
    "categories": _said(
        "Every value that could occur, from a code book and not from the data; with labels: {value: 1, label: male}.",
        _CATEGORIES,
    ),
    "categoriesOrdered": _said("Whether the order of the categories means something.", {"type": "boolean"}),
    "unknown": _said(
        "What an undeclared category becomes: null (default), drop (drops the record), or one of the categories.",
        {"type": ["string", "integer", "boolean", "null"], **_FILLED},
    ),
    "step": _said(
        "Values are counted in cells of this width, and written at places inside: 0.1, or 15min, 1h, 1d for datetimes.",
        {"type": ["number", "string"], **_FILLED},
    ),
    "bounds": _said(
        "The map of a place: its low corner and its high corner, each [latitude, longitude].",
        {"type": "array", "minItems": 2, "maxItems": 2, "items": _PAIR},
    ),
    "columns": _said("The two columns of the file that hold a place: latitude, longitude.", {**_TEXTS, "maxItems": 2}),
    "share": _said(
        "The share of epsilon that counts a place by itself, 0.05 to 0.9; by default .4 for all places together.",
        {"type": "number", "minimum": 0.05, "maximum": 0.9},
    ),
    "items": _said("Every item that lists could hold: bounds, a list, or a file with one item per line.", _ITEMS),
    "itemType": _said("Whether the items are texts or integers.", {"enum": ["string", "integer", None]}),
    "delimiter": _said("What stands between two items in a text; a semicolon by default.", {**_TEXT, "minLength": 1}),
    "max_items": _said(
        "Of a longer list only so many items count, the first of those declared.", {"type": "integer", "minimum": 1}
    ),
    "hierarchy": _said("Groups of categories: nested, a file beside the schema, or a rule such as {fanout: 4}.", _TREE),
    "from": _said("The column of categories that this one follows from, such as the city of a country.", _TEXT),
    "map": _said(
        "What follows from each category of that column: {Graz: Austria}, groups {Austria: [Graz]}, or a CSV file; "
        "without it, the hierarchy of that column.",
        {"type": ["string", "object"], **_FILLED},
    ),
    "format": _said(
        'How dates are written, such as "%d.%m.%Y", or a list of formats; ISO by default. Of a place: default, '
        "array or object.",
        _ANY,
    ),
    "trueValues": _said("Texts that mean true.", _TEXTS),
    "falseValues": _said("Texts that mean false.", _TEXTS),
    "missingValues": _said("Texts that mean null in this column.", _TEXTS),
    "decimalChar": _said("The decimal mark of numbers; a point by default.", {"type": "string", "maxLength": 1}),
    "groupChar": _said("The mark between thousands.", _CHARACTER),
    "bareNumber": _said("Whether numbers stand alone, without signs of percent or currency.", {"type": "boolean"}),
    "trim": _said("false: blanks around categories count.", {"type": "boolean"}),
    "ignoreCase": _said("true: capitals in categories mean the same as small letters.", {"type": "boolean"}),
    "replace": _said("Texts that stand for a value: {m: M, male: M}.", {"type": ["object", "null"]}),
    "title": _said("What the column is called in full.", _ANY),
    **_any("description", "example", "examples", "rdfType"),
}
CONSTRAINTS: dict[str, Part] = {
    "minimum": _said("The lowest value that could occur; lower ones are moved up to it.", _BOUND),
    "maximum": _said("The highest value that could occur; higher ones are moved down to it.", _BOUND),
    "required": _said("true drops records without a value; otherwise null is a value of its own.", {"type": "boolean"}),
    "enum": _said("The categories, as Frictionless spells them.", _CATEGORIES),
    "multipleOf": _said(
        "All values are multiples of this, such as 0.01 for prices in cents; dates count from the minimum.",
        {"type": ["number", "string"], **_FILLED},
    ),
    "step": _said("The step, if it does not stand beside the type.", {"type": ["number", "string"], **_FILLED}),
    "exclusiveMinimum": _said("Not supported: give minimum.", {"type": "null"}),
    "exclusiveMaximum": _said("Not supported: give maximum.", {"type": "null"}),
    **_any("unique", "pattern", "minLength", "maxLength", "jsonSchema"),
}
DIALECT: dict[str, Part] = {
    "delimiter": _said("What separates the fields of a line; a comma by default.", _CHARACTER),
    "header": _said("Whether the file has a line with column names.", {"type": "boolean"}),
    "headerRow": _said(
        "The line that holds the column names, if titles stand above it; 1 by default.",
        {"type": "integer", "minimum": 1, "maximum": MOST_ROWS},
    ),
    "skipInitialSpace": _said("Whether blanks after a delimiter are skipped.", {"type": "boolean"}),
    "encoding": _said("utf-8 by default.", {"type": "string"}),
    "sheetName": _said("The sheet of a spreadsheet; the first by default.", {"type": ["string", "null"], **_FILLED}),
    "quoteChar": _said('The quote around fields; " by default, and an empty text for none.', _CHARACTER),
}
_SHARED: dict[str, Part] = {
    "guarantee": _said("none: the schema was read off the data.", {"enum": ["none", None]}),
    **_any("title", "description", "name", "profile", "$schema"),
}
_RECORDS: dict[str, Part] = {
    "missingValues": _said("Texts that mean null.", _TEXTS),
    "dialect": _said("How a CSV file is written.", {"type": ["object", "null"], "properties": {**DIALECT}}),
    "unit": _said(
        "Whom the promise protects: one record (default), or a person with up to max_records records.",
        {
            "anyOf": [
                {"enum": ["record", None]},
                {
                    "type": "object",
                    "properties": {"person": _TEXT, "max_records": {"type": "integer", "minimum": 1}},
                    "required": ["person", "max_records"],
                    "additionalProperties": False,
                },
            ]
        },
    ),
    **DIALECT,
    **_SHARED,
}
TABLE: dict[str, Part] = {
    "kind": {"const": "table"},
    "fields": _said("The columns.", {"type": "array", "minItems": 1, "items": {"$ref": "#/definitions/field"}}),
    "rules": _said(
        "What is known to hold for every record, such as 'age < 15 -> income is null'; nothing else is released.",
        {"type": ["array", "null"], "items": _TEXT},
    ),
    "groups": _said(
        "Columns that are items of one scale, with a minus before those that are turned: {worry: [w1, w2, -w3]}.",
        {"type": ["object", "null"], "additionalProperties": {**_TEXTS, "minItems": 3}},
    ),
    "criteria": _said(
        "How accurate a release must be, such as {questions: two columns, within: 0.01}; the release says what it met.",
        {
            "type": ["array", "null"],
            "items": {
                "type": "object",
                "properties": {
                    "questions": {"enum": [*QUESTIONS]},
                    "within": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
                },
                "required": ["questions", "within"],
                "additionalProperties": False,
            },
        },
    ),
    "schemaVersion": _said("The meaning of `step`, written by cantle; leave it out.", {"enum": [1, 2]}),
    **_any("primaryKey", "foreignKeys", "uniqueKeys", "fieldsMatch"),
    **_RECORDS,
}
SETS: dict[str, Part] = {
    "kind": {"const": "sets"},
    "items": _said("Every item that could occur: bounds, a list, or a file with one item per line.", _ITEMS),
    "hierarchy": _said("Departments of the items.", _TREE),
    "form": _said("How the sets are written.", {"enum": ["fimi", "long", "list", None]}),
    "id": _said("long: the column of the set.", {"type": ["string", "null"]}),
    "item": _said("long: the column of the item.", {"type": ["string", "null"]}),
    "column": _said("list: the column of lists.", {"type": ["string", "null"]}),
    **_RECORDS,
}
SEQUENCES: dict[str, Part] = {
    **{key: part for key, part in SETS.items() if key != "hierarchy"},
    "kind": {"const": "sequences"},
    "form": _said("How the sequences are written.", {"enum": ["lines", "long", "list", "xes", None]}),
    "order": _said(
        "long: the column by which the symbols of a sequence are ordered, and the type of its values.",
        {
            "type": ["object", "null"],
            "properties": {"column": _TEXT, "type": {"enum": [*ORDER_TYPES]}, "format": _TEXT},
            "required": ["column", "type"],
            "additionalProperties": False,
        },
    ),
    "max_length": _said(
        "Of a longer sequence only the first so many symbols are used; 1000 by default.",
        {"type": "integer", "minimum": 2, "maximum": LONGEST},
    ),
}
GRAPH: dict[str, Part] = {
    "kind": {"const": "graph"},
    "unit": _said("Whom the promise protects.", {"enum": ["node", "node-isolate", "edge", None]}),
    "nodes": _said(
        "How many nodes there are, or which could occur: bounds, a list, or a file.",
        {"anyOf": [{"type": "null"}, {"type": "integer", "minimum": 1}, _BOUNDS, {"type": "array"}, _TEXT]},
    ),
    "form": _said("How the graph is written.", {"enum": ["edges", "degrees", "matrix-market", None]}),
    "max_degree": _said("A bound on the edges of a node.", {"type": ["integer", "null"], "minimum": 1}),
    **_SHARED,
}


def json_schema() -> dict[str, JSON]:
    """The JSON Schema (draft 7, which all editors support) of schemas of every kind of data."""
    chosen: Part = {"$ref": "#/definitions/table"}
    for kind in ("graph", "sequences", "sets"):
        chosen = {"if": _is("kind", kind), "then": {"$ref": f"#/definitions/{kind}"}, "else": chosen}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "A schema for cantle: what is public about the data",
        "type": "object",
        **chosen,
        "definitions": {
            "table": _object(TABLE, "fields"),
            "sets": _object(SETS, "kind", "items"),
            "sequences": _object(SEQUENCES, "kind", "items"),
            "graph": _object(GRAPH, "kind"),
            "field": _field(),
        },
    }


def _object(properties: Mapping[str, Part], *required: str) -> Part:
    return {"type": "object", "properties": {**properties}, "required": [*required]}


def _is(key: str, *values: str) -> Part:
    return {"properties": {key: {"enum": [*values]}}, "required": [key]}


def _field() -> Part:
    """A field. An identifier needs only a name; what other fields need depends on their type."""
    constraints: Part = {"type": ["object", "null"], "properties": {**CONSTRAINTS}}
    properties = _object({**FIELD, "constraints": {**FIELD["constraints"], **constraints}}, "name")
    bounded: Part = _object({"constraints": _object({}, "minimum", "maximum")}, "constraints")
    listed: Part = {
        "anyOf": [
            {"required": ["categories"]},
            {"required": ["hierarchy"]},
            _object({"constraints": _object({}, "enum")}, "constraints"),
        ]
    }
    inside: list[JSON] = [_object({"constraints": _object({}, key)}, "constraints") for key in ("step", "multipleOf")]
    stepped: Part = {"anyOf": [{"required": ["step"]}, *inside]}
    needs: list[JSON] = [
        {"if": _is("type", "integer"), "then": {"anyOf": [bounded, listed]}},
        {"if": _is("type", "date"), "then": bounded},
        {"if": _is("type", "number", "datetime"), "then": {"allOf": [bounded, stepped]}},
        {"if": _is("type", "list"), "then": {"required": ["items"]}},
        {"if": _is("type", "geopoint"), "then": {"required": ["bounds", "step"]}},
        {"if": {"anyOf": [_is("type", "string"), {"not": {"required": ["type"]}}]}, "then": listed},
    ]
    return {**properties, "if": _is("role", "identifier"), "else": {"allOf": needs}}

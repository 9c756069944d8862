"""The text of a draft of a table's schema: an introduction, and one line per column."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from cantle.data.draft_schema.proposed_rules import as_comment, proposed_rules
from cantle.schema.canonical_json import JSON
from cantle.schema.declared_values import BLANK
from cantle.schema.dialect import Dialect
from cantle.schema.documents import one_line
from cantle.schema.json_schema import EDITOR_LINE

Known = dict[str, JSON]
"""What is known of a column: its role, categories, step, multipleOf, minimum and maximum, if any."""
Column = tuple[str, str | None, Known]  # name, type, what is known of it

_INTRO = f"""\
# A schema says what is public about a table. Fill in every {BLANK} from what could occur
# (a code book, the law, common sense), never from the data: bounds and categories are published.
# `cantle plan`, `check` and `publish` list everything that is still blank or wrong, with its line.
#
#   {{name: age, type: integer, constraints: {{minimum: 0, maximum: 110}}}}            values outside are clamped
#   {{name: income, type: number, step: 500, constraints: {{minimum: 0, maximum: 99999}}}}  counted in steps of 500
#   {{name: seen, type: datetime, step: 15min, constraints: {{minimum: 2024-01-01, maximum: 2025-01-01}}}}  or date
#   {{name: price, type: number, constraints: {{minimum: 0, maximum: 99, multipleOf: 0.01}}}}  whole cents in the data
#   {{name: home, type: geopoint, columns: [lat, lon], bounds: [[40.4, -74.3], [41.0, -73.6]], step: 0.0001}}    a place
#   {{name: job, type: string, categories: ["Clerk", "Farmer"]}}   every value that could occur;  or type: boolean
#   {{name: ssn, role: identifier}}                               never published
#
#   role: target              what a model will predict: classes or a number
#   constraints               required: true drops records without a value. Without it null is a value of its own,
#                             and noise may invent a few nulls in a column that has none
#   unknown                   what an undeclared category becomes: null (default), drop, or one of the categories
#   categoriesOrdered: true   the order of the categories means something
#   hierarchy   groups of categories, if any: {{Group: ["a", "b"], Other: ["c"]}}, or a file such as job.csv (ARX)
#   decimalChar: ",", groupChar: ".", bareNumber: false    numbers are written like 1.234,50 EUR
#   format: ["%d.%m.%Y", "%d.%m.%y"]                       dates are written like 31.12.2024 or 31.12.24
#   from: city, map: {{Graz: Austria, Oslo: Norway}}         a category that follows from another; or a CSV file
#   ignoreCase: true, replace: {{m: Male, f: Female}}        spellings of categories
#
# One record is protected. If people may have several, protect persons: unit: {{person: COLUMN, max_records: 3}}
"""
_NO_HEADER = (
    "# The file has no header: its columns are numbered from the left. Choose names for them, and keep this order.\n"
)
_GUESSED = "# The header is not UTF-8. The encoding is a guess: correct it if names look wrong.\n"
_WARNING = """\
# NO GUARANTEE: this schema was inferred from the private values themselves (--infer). Whoever reads it, or any
# release made with it, learns about them. Use it to explore; before publishing, set every bound and category
# to what could occur, and only then remove the line `guarantee: none`.
guarantee: none
"""
_WORDS = {"yes", "no", "on", "off", "true", "false", "null"}
WESTERN = "cp1252"
"""The encoding of a header that is not UTF-8: that of Excel in Western Europe."""


def text_of(
    fields: Sequence[Mapping[str, JSON]],
    marks: Sequence[str] = ("",),
    dialect: Dialect | None = None,
    inferred: bool = False,
) -> str:
    """The text of a schema with one line per field."""
    dialect = dialect or Dialect()
    listed = "fields:\n" + "".join(f"  - {flow(one)}\n" for one in fields)
    if not dialect.header:
        listed = _NO_HEADER + listed
    parts = [EDITOR_LINE + _INTRO, *([_WARNING] if inferred else []), listed]
    parts.append(f'missingValues: {one_line(marks)}  # texts that stand for a missing value, such as "NA" or "?"\n')
    if rules := proposed_rules(fields):
        parts.append(as_comment(rules))
    if dialect != Dialect():
        guessed = _GUESSED if dialect.encoding == WESTERN else ""
        parts.append(f"{guessed}dialect: {one_line(dialect.to_dict())}\n")
    return "\n".join(parts)


def entry_of(name: str, kind: str | None, known: Known) -> dict[str, JSON]:
    """One field with what is known about it, and blanks for the rest."""
    if known.get("role"):  # it has no values, or too many different ones to be published as categories
        return {"name": name, "role": "identifier"}
    if kind is None:
        return {"name": name, "type": BLANK}
    if kind == "string":
        return {"name": name, "type": kind, "categories": known.get("categories", BLANK)}
    if kind == "boolean":
        return {"name": name, "type": kind}
    multiple: dict[str, JSON] = {"multipleOf": known["multipleOf"]} if "multipleOf" in known else {}
    needed = kind in ("number", "datetime") and not multiple
    step: dict[str, JSON] = {"step": known.get("step", BLANK)} if needed else {}
    bounds: dict[str, JSON] = {key: known.get(key, BLANK) for key in ("minimum", "maximum")} | multiple
    return {"name": name, "type": kind, **step, "constraints": bounds}


def flow(value: JSON | Mapping[str, JSON], key: str = "") -> str:
    """A value as YAML on one line, with plain keys; a blank (???) needs quotes there."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(name)}: {flow(one, name)}" for name, one in value.items()) + "}"
    if isinstance(value, list) and any(isinstance(one, Mapping) for one in value):
        return "[" + ", ".join(map(flow, value)) + "]"
    return str(value) if key in ("type", "role") and value != BLANK else one_line(value)


def _key(name: str) -> str:
    """A key as YAML: without quotes if it is a plain word that means nothing else there."""
    plain = re.fullmatch(r"[A-Za-z]\w+", name, re.ASCII) and name.lower() not in _WORDS
    return name if plain else one_line(name)

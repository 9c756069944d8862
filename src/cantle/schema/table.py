"""The public schema of a table: a Frictionless Table Schema with a few keys of our own, read from YAML or JSON.

Everything in a schema is public and must have been written without looking at the private data. A schema
inferred from the data is marked (`guarantee: none`), and so is every release made with it.

    fields:
      - {name: age, type: integer, constraints: {minimum: 17, maximum: 90}}
      - {name: weight, type: number, step: 0.1, constraints: {minimum: 0, maximum: 300}}
      - {name: visit, type: datetime, step: 15min, constraints: {minimum: 2024-01-01, maximum: 2025-01-01}}
      - {name: job, type: string, categories: [Clerk, Farmer], unknown: drop}
      - {name: town, type: string, categories: [Graz, Linz, Oslo], hierarchy: {Austria: [Graz, Linz], Norway: [Oslo]}}
      - {name: income, type: string, categories: ["<=50K", ">50K"], role: target}
      - {name: ssn, type: string, role: identifier}
    missingValues: ["", "?"]
    unit: {person: ssn, max_records: 3}      # protect all records of a person; at most 3 per person are used
    dialect: {delimiter: ";", header: true, skipInitialSpace: false, encoding: utf-8, quoteChar: '"'}

An empty cell is always missing, whatever `missingValues` says. `unknown` is null (default), drop or a
category. A `hierarchy` may also be a file, with a path from the folder of the schema (cantle.schema.hierarchy_files);
the canonical form contains its content in place of the path.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from cantle.schema.base import Schema, require_guarantee
from cantle.schema.documents import check_values, fail
from cantle.schema.fields import BLANK as BLANK
from cantle.schema.fields import Field as Field
from cantle.schema.fields import Folder, check_keys, flag, parse_field, plain, repeated, texts
from cantle.schema.text_encodings import is_allowed, may_swallow, name_of

if TYPE_CHECKING:
    from cantle.schema.domain import Domain

_DIALECT_KEYS = {
    "delimiter": "delimiter",
    "header": "header",
    "skipInitialSpace": "skip_initial_space",
    "encoding": "encoding",
    "quoteChar": "quote_char",
}
_HARMLESS = {"lineTerminator", "doubleQuote", "$schema", "type", "name", "title", "description", "csvddfVersion"}
_OURS = {"fields", "missingValues", "dialect", "unit", "kind", "guarantee", *_DIALECT_KEYS}
_SCHEMA_KEYS = _OURS | {"title", "description", "name", "primaryKey", "foreignKeys", "uniqueKeys", "fieldsMatch"}
_SCHEMA_KEYS |= {"profile", "$schema"}


MOST_RECORDS = 10**6


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """How a CSV file is written; `delimiter` None means a tab for .tsv files and a comma for the rest."""

    delimiter: str | None = None
    header: bool = True
    skip_initial_space: bool = False
    encoding: str = "utf-8"
    quote_char: str | None = '"'

    def __post_init__(self) -> None:
        _check_encoding(self)

    def to_dict(self) -> dict[str, Any]:
        """The keys that differ from the default, as Frictionless spells them."""
        plain = Dialect()
        pairs = ((key, getattr(self, ours), getattr(plain, ours)) for key, ours in _DIALECT_KEYS.items())
        return {key: value for key, value, default in pairs if value != default}


@dataclass(frozen=True, kw_only=True)
class TableSchema(Schema):
    """What is public about a table: its columns, their values, how the file is written.

    >>> schema = TableSchema.from_dict({"fields": [{"name": "sex", "type": "string", "categories": ["F", "M"]}]})
    >>> schema.domain().attributes[0].size
    3
    """

    fields: tuple[Field, ...]
    missing_values: tuple[str, ...] = ("",)
    dialect: Dialect = field(default_factory=Dialect)
    inferred: bool = False
    person: str | None = None
    max_records: int = 1
    extra: Mapping[str, Any] = field(default_factory=dict)
    kind: ClassVar[str] = "table"

    @classmethod
    def from_dict(cls, document: Mapping[str, Any], base_dir: Folder = None) -> TableSchema:
        """The schema in a dictionary as JSON or YAML gives it; raises SchemaError naming field, rule and fix.

        The files of hierarchies are looked for from `base_dir`, by default the current folder.
        """
        if not isinstance(document, Mapping) or not isinstance(document.get("fields"), list | tuple):
            fail("schema", "it has no list of `fields`", "start from `cantle init DATA`")
        for number, entry in enumerate(document["fields"], 1):
            name = entry.get("name") if isinstance(entry, Mapping) else None
            check_values(entry, f"field {name!r}" if isinstance(name, str) else f"field number {number}")
        check_values({key: value for key, value in document.items() if key != "fields"}, "schema")
        check_keys("schema", document, _SCHEMA_KEYS)
        missing = texts("schema", "missingValues", document.get("missingValues", [""]))
        entries = enumerate(document["fields"], 1)
        fields = tuple(parse_field(entry, number, missing, base_dir) for number, entry in entries)
        _check_together(fields)
        person, most = _unit(document.get("unit"), fields)
        inferred = require_guarantee(document)
        return cls(
            fields=fields,
            missing_values=missing,
            dialect=_dialect(document),
            inferred=inferred,
            person=person,
            max_records=most,
            extra=plain({key: value for key, value in document.items() if key not in _OURS}),
        )

    def to_dict(self) -> dict[str, Any]:
        """The canonical form: JSON-able, defaults left out; `from_dict` gives the same schema back."""
        made: dict[str, Any] = {**self.extra, "fields": [one.to_dict() for one in self.fields]}
        if self.missing_values != ("",):
            made["missingValues"] = list(self.missing_values)
        if self.dialect != Dialect():
            made["dialect"] = self.dialect.to_dict()
        if self.inferred:
            made["guarantee"] = "none"
        if self.person is not None:
            made["unit"] = {"person": self.person, "max_records": self.max_records}
        return made

    @property
    def protects(self) -> tuple[int, str]:
        return (1, "record") if self.person is None else (self.max_records, "person")

    def domain(self) -> Domain:
        """The columns that may be published, as spans of codes."""
        from cantle.schema.domain import Domain

        made = {one.name: one.attribute(self.missing_values) for one in self.fields if one.role != "identifier"}
        target = next((one.name for one in self.fields if one.role == "target"), None)
        attributes = tuple(a for name, a in made.items() if name != target)
        return Domain(attributes, made[target] if target is not None else None, tuple(made))


# ---------------------------------------------------------------------------------------- whole document


def _unit(unit: Any, fields: tuple[Field, ...]) -> tuple[str | None, int]:
    """Whom the promise protects: the column of persons (None: one record) and the most records used per person."""
    if unit in (None, "record"):
        return None, 1
    fix = "write `unit: {person: COLUMN, max_records: 3}`, or leave it out to protect one record"
    if not isinstance(unit, Mapping) or set(unit) != {"person", "max_records"}:
        fail("unit", "it is neither `record` nor a person with a number of records", fix)
    person, most = unit["person"], unit["max_records"]
    if not isinstance(person, str) or not person or person == BLANK:
        fail("unit", "`person` is not the name of a column", fix)
    if type(most) is not int or not 1 <= most <= MOST_RECORDS:
        fail("unit", f"`max_records` is not a whole number from 1 to {MOST_RECORDS}", fix)
    if any(one.name == person and one.role != "identifier" for one in fields):
        rule = "the column of persons identifies people and is not published"
        fail(f"field {person!r}", rule, "give it `role: identifier`, or leave it out of the fields")
    return person, most


def _check_together(fields: tuple[Field, ...]) -> None:
    for twice in repeated(one.name for one in fields):
        fail(f"field {twice!r}", "two fields have the same name", "rename or remove one")
    targets = [one.name for one in fields if one.role == "target"]
    if len(targets) > 1:
        fail("schema", f"{len(targets)} fields have `role: target`", "keep one")
    if all(one.role == "identifier" for one in fields):
        fail("schema", "no field can be published", "declare at least one that is not an identifier")


def _check_encoding(dialect: Dialect) -> None:
    """Refuse an encoding in which one record could change how later ones are read (cantle.schema.text_encodings)."""
    name, shown = name_of(dialect.encoding), f"encoding {dialect.encoding!r}"
    if name is None:
        fail("dialect", f"{shown} is not known", "use utf-8, latin-1, cp1252, shift_jis, …")
    if not is_allowed(name):
        rule = f"{shown} is not allowed: a damaged record could change how later ones are read"
        fail("dialect", rule, "convert the file to utf-8; docs/reference.md lists what is allowed")
    if dialect.quote_char and may_swallow(name, dialect.quote_char):
        rule = f"in {shown} a damaged character can swallow the quoteChar {dialect.quote_char!r}"
        fail("dialect", rule, "quote with \" or ', or convert the file to utf-8")


def _dialect(document: Mapping[str, Any]) -> Dialect:
    nested = document.get("dialect") or {}
    if not isinstance(nested, Mapping):
        fail("dialect", "it is not a mapping", "write `dialect: {delimiter: …}`")
    check_keys("dialect", nested, _DIALECT_KEYS)
    foreign = sorted(map(str, set(nested) - set(_DIALECT_KEYS) - _HARMLESS))
    if foreign:
        fail("dialect", f"key {foreign[0]!r} is not supported", f"use {', '.join(_DIALECT_KEYS)}")
    given = {key: document.get(key, nested.get(key)) for key in _DIALECT_KEYS if key in document or key in nested}
    for key in ("header", "skipInitialSpace"):
        if key in given:
            flag("dialect", key, given[key])
    for key in ("delimiter", "quoteChar"):
        value = given.get(key)
        if value == "" and key == "quoteChar":
            given[key] = None
        elif value is not None and not (isinstance(value, str) and re.fullmatch(r"[^\r\n\x80-\U0010ffff]", value)):
            fail("dialect", f"`{key}` must be a single ASCII character", 'for a tab write "\\t"')
    made = Dialect(**{_DIALECT_KEYS[key]: value for key, value in given.items()})
    if made.quote_char == (made.delimiter or ","):
        fail("dialect", "delimiter and quoteChar are the same", "change one")
    return made

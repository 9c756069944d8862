"""The public schema of a table: a Frictionless Table Schema with a few keys of our own, read from YAML or JSON.

Everything in a schema is public and must have been written without looking at the private data. A schema
inferred from the data is marked (`guarantee: none`), and so is every release made with it.

    fields:
      - {name: age, type: integer, constraints: {minimum: 17, maximum: 90}}
      - {name: income, type: integer, step: 500, constraints: {minimum: 0, maximum: 50000}}  # counted in cells of 500
      - {name: price, type: number, constraints: {minimum: 0, maximum: 99, multipleOf: 0.01}}  # written in cents
      - {name: visit, type: datetime, step: 15min, constraints: {minimum: 2024-01-01, maximum: 2025-01-01}}
      - {name: job, type: string, categories: [Clerk, Farmer], unknown: drop}
      - {name: town, type: string, categories: [Graz, Linz, Oslo], hierarchy: {Austria: [Graz, Linz], Norway: [Oslo]}}
      - {name: income, type: string, categories: ["<=50K", ">50K"], role: target}
      - {name: ssn, type: string, role: identifier}
    missingValues: ["", "?"]
    rules: ["age < 18 -> income == '<=50K'"]  # what cannot be is never released (cantle.schema.rules)
    groups: {worry: [w1, w2, -w3]}  # items of one scale, one of them turned (cantle.schema.groups)
    unit: {person: ssn, max_records: 3}      # protect all records of a person; at most 3 per person are used
    dialect: {delimiter: ";", header: true, skipInitialSpace: false, encoding: utf-8, quoteChar: '"'}

An empty cell is always missing, whatever `missingValues` says. `unknown` is null (default), drop or a
category. A `hierarchy` may also be a file, with a path from the folder of the schema (cantle.schema.hierarchy_files);
the canonical form contains its content in place of the path.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

from cantle.errors import SchemaError
from cantle.schema.base import RecordSchema
from cantle.schema.canonical_json import JSON
from cantle.schema.code_sets import Question
from cantle.schema.declared_values import Folder, check_keys, plain_mapping, repeated
from cantle.schema.dialect import DIALECT_KEYS
from cantle.schema.documents import Problems, check_values, fail
from cantle.schema.domain import Domain
from cantle.schema.field_parser import parse_field
from cantle.schema.fields import Field as Field
from cantle.schema.groups import Group, check_groups, groups_of
from cantle.schema.question_columns import Categories, ListsOf, Numeric, SizeOfList, Vocabulary, column_of
from cantle.schema.relate import related
from cantle.schema.relations import Relations

QUESTIONS = {"one column": 1, "two columns": 2}
"""The questions that a criterion may name, and how many columns they have."""


@dataclass(frozen=True)
class Criterion:
    """A share of 10 % of the records must be right within so many of them, in 95 of 100 questions about its columns."""

    columns: int
    within: float

    def __str__(self) -> str:
        named = next(words for words, columns in QUESTIONS.items() if columns == self.columns)
        return f"A share of 10 % must be right to ±{100 * self.within:g} percentage points in {named}"


def criteria_of(document: Mapping[str, object]) -> list[Criterion]:
    """The criteria of a schema; raises a SchemaError that says what is wrong with them.

    >>> [str(one) for one in criteria_of({"criteria": [{"questions": "two columns", "within": 0.01}]})]
    ['A share of 10 % must be right to ±1 percentage points in two columns']
    """
    listed = document.get("criteria") or []
    if not isinstance(listed, list | tuple):
        raise SchemaError("criteria: this is not a list; write criteria: [{questions: two columns, within: 0.01}]")
    return [_criterion(entry, place) for place, entry in enumerate(listed, 1)]


def _criterion(entry: object, place: int) -> Criterion:
    known = isinstance(entry, Mapping) and entry.keys() == {"questions", "within"}
    if not isinstance(entry, Mapping) or not known or entry["questions"] not in list(QUESTIONS):
        raise SchemaError(
            f"criterion {place}: it has questions ({' or '.join(QUESTIONS)}) and within, and no other keys"
        )
    within = entry["within"]
    if isinstance(within, bool) or not isinstance(within, int | float) or not 0 < within < 1:
        raise SchemaError(f"criterion {place}: within is not a share between 0 and 1, such as 0.01 for 1 %")
    return Criterion(QUESTIONS[entry["questions"]], float(within))


_KEYS = "fields rules groups missingValues dialect unit kind guarantee schemaVersion"
_OURS = {*_KEYS.split(), *DIALECT_KEYS}
_OTHERS = "title description name criteria primaryKey foreignKeys uniqueKeys fieldsMatch profile $schema"
_SCHEMA_KEYS = _OURS | {*_OTHERS.split()}
_MOST_RULES = 200


VERSION = 2
"""The meaning of `step`: a cell since version 2, a grid before. Only releases of version 1 have no version."""

_SHOWN = 12
"""Most columns that the text of a schema object names."""


@dataclass(frozen=True, kw_only=True, repr=False)
class TableSchema(RecordSchema):
    """What is public about a table: its columns, their values, how the file is written.

    >>> schema = TableSchema.from_dict({"fields": [{"name": "sex", "type": "string", "categories": ["F", "M"]}]})
    >>> schema.domain().attributes[0].size
    3
    """

    fields: tuple[Field, ...]
    rules: tuple[str, ...] = ()
    groups: tuple[Group, ...] = ()
    version: int = VERSION
    kind: ClassVar[str] = "table"

    def __repr__(self) -> str:
        named = ", ".join(one.name for one in self.fields[:_SHOWN]) + (", …" if len(self.fields) > _SHOWN else "")
        return f"TableSchema({len(self.fields)} columns: {named})"

    def captions(self) -> dict[str, dict[str, str]]:
        """For each column the categories that have a label, as people read them: `1 = male`."""
        return {field.name: field.captions() for field in self.fields}

    @classmethod
    def from_dict(cls, document: Mapping[str, object], base_dir: Folder = None) -> TableSchema:
        """The schema in parsed JSON or YAML; raises a SchemaError that names field, rule and fix.

        Paths of hierarchy files are relative to `base_dir`, by default the current folder.
        """
        listed = document.get("fields") if isinstance(document, Mapping) else None
        if not isinstance(listed, list | tuple):
            fail("schema", "it has no list of `fields`", "start from `cantle init DATA`")
        problems = Problems()
        with problems.during():
            check_values({key: value for key, value in document.items() if key != "fields"}, "schema")
            check_keys("schema", document, _SCHEMA_KEYS)
        version = problems.value(VERSION, _version, document.get("schemaVersion", VERSION))
        records = cls.record_fields(document, problems)
        fields = _parse_fields(problems, listed, records["missing_values"], base_dir, old_steps=version == 1)
        with problems.during():
            _check_together(listed, fields)
        with problems.during():
            _check_person(records["person"], fields)
        rules = problems.value((), _rule_texts, document.get("rules"))
        groups = problems.value((), groups_of, document.get("groups"))
        with problems.during():
            criteria_of(document)
        problems.refuse()
        schema = cls(
            fields=tuple(fields),
            rules=rules,
            groups=groups,
            version=version,
            **records,
            extra=plain_mapping(document, without=_OURS),
        )
        if schema._has_rules:
            schema.domain()  # a wrong rule must be refused before anything is spent
        if groups:
            attributes = {one.name: one for one in schema._declared.attributes}
            check_groups(groups, schema.fields, attributes, schema._in_rules)
        return schema

    def to_dict(self) -> dict[str, JSON]:
        """The canonical form: values that JSON has, without defaults; `from_dict` returns the same schema."""
        rules: dict[str, JSON] = {"rules": list(self.rules)} if self.rules else {}
        stepped = any(one.step is not None or one.multiple_of is not None for one in self.fields)
        version: dict[str, JSON] = {"schemaVersion": VERSION} if stepped and self.version == VERSION else {}
        fields: list[JSON] = [one.to_dict() for one in self.fields]
        groups: dict[str, JSON] = {"groups": {one.name: one.written() for one in self.groups}} if self.groups else {}
        return {**self.extra, "fields": fields, **rules, **groups, **version, **self._common_keys()}

    @property
    def file_columns(self) -> list[str]:
        """The columns of a file that has no header, in order."""
        return [name for one in self.fields for name in one.file_columns]

    @property
    def wanted(self) -> list[str]:
        """The columns that are read from a file, without identifiers."""
        return [name for one in self.fields if one.role != "identifier" for name in one.file_columns]

    @property
    def lists(self) -> tuple[str, ...]:
        """The columns of lists."""
        return tuple(one.name for one in self.fields if one.items is not None)

    @property
    def target(self) -> str | None:
        return self._with_role("target")

    @property
    def weight(self) -> str | None:
        return self._with_role("weight")

    def _with_role(self, role: str) -> str | None:
        return next((one.name for one in self.fields if one.role == role), None)

    def domain(self) -> Domain:
        """The columns that are counted, as spans of codes: the declared ones, or what rules make of them."""
        domain = self._related[0] if self._has_rules else self._declared
        return replace(domain, groups=self.groups) if self.groups else domain

    def as_declared(self) -> Domain:
        """The columns as files have them, with all rules about them."""
        return self._related[1] if self._has_rules else self._declared

    def vocabulary(self) -> Vocabulary:
        """What questions may name: the declared columns, the sizes of lists, and differences that rules make."""
        relations = self.relations
        differences, counted = {one.difference for one in relations.differences}, self.domain().attributes
        made = [Numeric(one) for one in counted if one.name in differences]
        items = [Categories(one, None) for one in counted if one.name in relations.lists_by_item]
        sizes = [SizeOfList(one) for one in self._names.columns.values() if isinstance(one, ListsOf)]
        return Vocabulary([*sizes, *self._names.columns.values(), *made, *items])

    @cached_property
    def relations(self) -> Relations:
        """What rules between columns make of them; nothing, without such rules."""
        found = self.domain().relations
        return found or Relations(self._declared.with_target_as_column().on_places.attributes)

    def counted(self, question: Question) -> Question:
        return self.relations.translated(question)

    @property
    def _has_rules(self) -> bool:
        return bool(self.rules) or any(one.source is not None or one.items is not None for one in self.fields)

    @property
    def _in_rules(self) -> set[str]:
        """The columns that rules name."""
        rules = self.as_declared().rules
        return set() if rules is None else {str(name) for name in rules.columns}

    @cached_property
    def _declared(self) -> Domain:
        columns = {one.name: one.attribute(self.missing_values) for one in self.fields if one.role != "identifier"}
        attributes = tuple(a for name, a in columns.items() if name != self.target)
        return Domain(attributes, columns[self.target] if self.target is not None else None, tuple(columns))

    @cached_property
    def _names(self) -> Vocabulary:
        """The declared columns, as questions name them."""
        fields = {field.name: field for field in self.fields}
        columns = self._declared.with_target_as_column().attributes
        return Vocabulary(column_of(attribute, fields[attribute.name]) for attribute in columns)

    @cached_property
    def _related(self) -> tuple[Domain, Domain]:
        return related(self._declared, self._names, self.rules, {one.name: one for one in self.fields})


# ---------------------------------------------------------------------------------------- whole document


def _parse_fields(
    problems: Problems, listed: Sequence[object], missing: tuple[str, ...], base_dir: Folder, *, old_steps: bool
) -> list[Field]:
    """The fields that have no problems."""
    fields = []
    for place, entry in enumerate(listed):
        name = entry.get("name") if isinstance(entry, Mapping) else None
        with problems.during("fields", place):
            check_values(entry, f"field {name!r}" if isinstance(name, str) else f"field number {place + 1}")
            fields.append(parse_field(entry, place + 1, missing, base_dir, old_steps=old_steps))
    return fields


def _version(declared: object) -> int:
    """The checked version. Version 1 is that of releases without one."""
    if isinstance(declared, bool) or declared not in (1, VERSION):
        fail("schema", f"schemaVersion {declared!r} is not known", f"leave it out, or write {VERSION}", "schemaVersion")
    return int(str(declared))


def _rule_texts(declared: object) -> tuple[str, ...]:
    """The checked list under `rules:`."""
    if declared is None:
        return ()
    if not isinstance(declared, list | tuple) or not all(isinstance(one, str) and one.strip() for one in declared):
        fail("rules", "they are not a list of texts", 'write `rules: ["age < 15 -> income is null"]`', "rules")
    if len(declared) > _MOST_RULES:
        fail("rules", f"there are more than {_MOST_RULES}", "keep the most important ones", "rules")
    return tuple(declared)


def _check_person(person: str | None, fields: Sequence[Field]) -> None:
    if any(one.name == person and one.role != "identifier" for one in fields):
        rule = "the column of persons identifies people and is not published"
        fail(f"field {person!r}", rule, "give it `role: identifier`, or leave it out of the fields", "unit")


def _check_together(listed: Sequence[object], fields: Sequence[Field]) -> None:
    """Checks that need all fields together. `listed` also has fields with problems of their own; `fields` does not."""
    problems = Problems()
    entries = [entry if isinstance(entry, Mapping) else {} for entry in listed]
    names = [entry.get("name") for entry in entries]
    for twice in repeated(name for name in names if isinstance(name, str)):
        places = [f"fields.{place}" for place, name in enumerate(names) if name == twice]
        with problems.during():
            fail(f"field {twice!r}", "two fields have the same name", "rename or remove one", *places)
    own = {one.name for one in fields if not one.columns}
    for twice in repeated([name for one in fields if one.columns for name in (*one.columns, *own & {*one.columns})]):
        with problems.during():
            fix = "correct `columns` of the place, or remove a field"
            fail(f"column {twice!r}", "two fields are read from it", fix)
    for role in ("target", "weight"):
        alike = [f"fields.{place}" for place, entry in enumerate(entries) if entry.get("role") == role]
        with problems.during():
            if len(alike) > 1:
                fail("schema", f"{len(alike)} fields have `role: {role}`", "keep one", *alike)
    with problems.during():
        if len(fields) == len(listed) and all(one.role == "identifier" for one in fields):
            fail("schema", "no field can be published", "declare at least one that is not an identifier", "fields")
    problems.refuse()

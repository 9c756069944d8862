"""The public schema of families: two linked tables, described by a Frictionless data package in YAML or JSON.

    resources:
      - name: households
        path: households.csv
        schema:
          primaryKey: hid
          fields:
            - {name: hid, type: string, role: identifier}
            - {name: income, type: integer, categories: [1, 2, 3]}
      - name: persons
        path: persons.csv
        schema:
          fields:
            - {name: hid, type: string, role: identifier}
            - {name: age, type: integer, constraints: {minimum: 0, maximum: 99}}
          foreignKeys: [{fields: hid, reference: {resource: households, fields: hid}}]
    unit: {family: households, max_children: 8}   # one household with all its persons
    order: {persons: [-age]}                      # "-": the largest first; default: by date, or by the widest number

One family is all rows of both files that carry one key. `path` is where `cantle publish datapackage.yaml` finds a
file; it is no part of the canonical form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, cast

from cantle.schema.base import Schema, require_guarantee
from cantle.schema.canonical_json import JSON
from cantle.schema.declared_values import Folder, check_keys, plain_mapping
from cantle.schema.documents import Problems, check_values, fail
from cantle.schema.scales import Steps
from cantle.schema.table import TableSchema

if TYPE_CHECKING:
    from cantle.schema.domain import Attribute, Domain
    from cantle.schema.question_columns import Vocabulary

MOST_CHILDREN = 255
_KEYS = {"resources", "unit", "order", "kind", "guarantee", "name", "title", "description", "profile", "$schema"}
_OURS = {"resources", "unit", "order", "kind", "guarantee"}
_RESOURCE = {"name", "path", "schema", "dialect", "encoding", "format", "mediatype", "title", "description", "type"}
_LINKS = ("primaryKey", "foreignKeys")
_UNIT = "write `unit: {family: households, max_children: 8}` with the name of the parent resource"
_SHAPE = "families takes one parent and one child resource, linked by one foreign key of one column"
_LINK = "write `foreignKeys: [{fields: KEY, reference: {resource: PARENT, fields: KEY}}]` in the child's schema"

Direction = tuple[str, bool]
"""A column of the children, and whether larger values come first."""


@dataclass(frozen=True, kw_only=True, repr=False)
class FamilySchema(Schema):
    """What is public about two linked tables: both tables, their keys, and how many children of a family are used."""

    names: tuple[str, str]
    """The names of the parent's and of the child's resource."""
    paths: tuple[str | None, str | None]
    tables: tuple[TableSchema, TableSchema]
    """Each with its key as the column of persons, whose rows belong together."""
    max_children: int
    order: tuple[Direction, ...]
    inferred: bool = False
    extra: Mapping[str, JSON]
    kind: ClassVar[str] = "families"

    def __repr__(self) -> str:
        return f"FamilySchema({self.names[0]} with up to {self.max_children} {self.names[1]}: {list(self.tables)})"

    @classmethod
    def from_dict(cls, document: Mapping[str, object], base_dir: Folder = None) -> FamilySchema:
        """The schema in a data package; raises a SchemaError that names the thing, the rule and the fix."""
        problems = Problems()
        with problems.during():
            check_values({key: one for key, one in document.items() if key != "resources"}, "package")
            check_keys("package", document, _KEYS)
        resources = _resources(document.get("resources"))
        parent, most = problems.value(("", 1), _unit, document.get("unit"), [one["name"] for one in resources])
        problems.refuse()
        above = next(place for place, one in enumerate(resources) if one["name"] == parent)
        pair = resources[above], resources[1 - above]
        keys = _keys(*pair)
        tables = []
        for place, (resource, key) in zip((above, 1 - above), zip(pair, keys, strict=True), strict=True):
            with problems.during("resources", place, "schema"):
                tables.append(_table(resource, key, base_dir))
        inferred = problems.value(False, require_guarantee, document)
        problems.refuse()
        _check_keys_alike(keys, tables)
        schema = cls(
            names=(str(pair[0]["name"]), str(pair[1]["name"])),
            paths=(_path(pair[0]), _path(pair[1])),
            tables=(tables[0], tables[1]),
            max_children=most,
            order=(),
            inferred=inferred or any(one.inferred for one in tables),
            extra=plain_mapping(document, without=_OURS),
        )
        _check_names(schema)
        return replace(schema, order=_order(document.get("order"), schema))

    def to_dict(self) -> dict[str, JSON]:
        """The canonical form, without paths; `from_dict` returns the same schema but for these."""
        parent_key, child_key = (str(one.person) for one in self.tables)
        link: dict[str, JSON] = {"fields": child_key, "reference": {"resource": self.names[0], "fields": parent_key}}
        linked: list[dict[str, JSON]] = [{"primaryKey": parent_key}, {"foreignKeys": [link]}]
        resources: list[JSON] = []
        for name, table, keys in zip(self.names, self.tables, linked, strict=True):
            own = {key: one for key, one in table.to_dict().items() if key != "unit"}
            resources.append({"name": name, "schema": {**own, **keys}})
        unit: dict[str, JSON] = {"family": self.names[0], "max_children": self.max_children}
        order: list[JSON] = [f"-{name}" if falls else name for name, falls in self.order]
        document: dict[str, JSON] = {**self.extra, "kind": self.kind, "resources": resources, "unit": unit}
        return document | ({"guarantee": "none"} if self.inferred else {}) | {"order": {self.names[1]: order}}

    @property
    def protects(self) -> tuple[int, str]:
        return 1, "family"

    @property
    def unit_detail(self) -> str:
        return f", by key {self.names[0]}.{self.tables[0].person}"

    def captions(self) -> dict[str, dict[str, str]]:
        """For each column of either table the categories that have a label; not if both tables have such a column."""
        above, below = (one.captions() for one in self.tables)
        named = {self.joined_names[name]: labels for name, labels in above.items() if name in self.joined_names}
        return named | {name: labels for name, labels in below.items() if name not in above}

    @cached_property
    def domains(self) -> tuple[Domain, Domain]:
        """The columns of both tables that are counted; a target is a column like the others."""
        parent, child = (one.domain().with_target_as_column() for one in self.tables)
        return parent, child

    @property
    def sizes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The numbers of codes of both tables' columns."""
        parent, child = (tuple(one.size for one in domain.attributes) for domain in self.domains)
        return parent, child

    @property
    def number_of_children(self) -> str:
        """What questions call the number of children of a family."""
        return f"number_of_{self.names[1]}"

    @cached_property
    def joined_names(self) -> dict[str, str]:
        """For each column of the parent what questions about children call it: by its own name, or with that of its
        table if a column of the children has it."""
        own = self.tables[1].vocabulary().columns
        parent = self.tables[0].vocabulary().columns
        return {name: f"{self.names[0]}.{name}" if name in own else name for name in parent}

    def vocabulary(self) -> Vocabulary:
        """What questions about children may name: their columns, those of their parent, and the number of siblings."""
        from cantle.schema.question_columns import Vocabulary, WholeNumber

        own = self.tables[1].vocabulary().columns.values()
        above = [
            _renamed(column, self.joined_names[name]) for name, column in self.tables[0].vocabulary().columns.items()
        ]
        return Vocabulary([*own, *above, WholeNumber(self.number_of_children)])

    def parent_vocabulary(self) -> Vocabulary:
        """What questions about parents may name: their columns, and the number of their children."""
        from cantle.schema.question_columns import Vocabulary, WholeNumber

        return Vocabulary([*self.tables[0].vocabulary().columns.values(), WholeNumber(self.number_of_children)])


def _renamed(column: Any, name: str) -> Any:
    """A column of a vocabulary under another name."""
    from copy import copy

    other = copy(column)
    other.name = other.key = name
    return other


# ---- the parts of a package -------------------------------------------------------------------------------------


def _resources(declared: object) -> list[Mapping[str, object]]:
    """The two resources, each a mapping with a name of its own and a schema."""
    if not isinstance(declared, list | tuple) or len(declared) != 2:
        found = f"the package has {len(declared)} resources" if isinstance(declared, list | tuple) else "it has none"
        fail("resources", found, f"{_SHAPE}; list these two", "resources")
    names = []
    for place, one in enumerate(declared):
        if not isinstance(one, Mapping) or not isinstance(one.get("name"), str) or not one["name"]:
            fail(f"resource number {place + 1}", "it has no `name`", "give it one", f"resources.{place}")
        if not isinstance(one.get("schema"), Mapping):
            fail(f"resource {one['name']!r}", "it has no `schema`", "declare its fields", f"resources.{place}")
        check_keys(f"resource {one['name']!r}", one, _RESOURCE)
        names.append(one["name"])
    if names[0] == names[1]:
        fail("resources", "both resources have one name", "rename one", "resources.1.name")
    return list(declared)


def _unit(declared: object, names: Sequence[object]) -> tuple[str, int]:
    """The name of the parent's resource, and the most children of a family."""
    if not isinstance(declared, Mapping) or set(declared) != {"family", "max_children"}:
        fail("unit", "it does not say which resource holds the families, and how many children one may have", _UNIT)
    family, most = declared["family"], declared["max_children"]
    if family not in names:
        fail("unit", f"`family` {family!r} is not the name of a resource", _UNIT, "unit")
    if type(most) is not int or not 1 <= most <= MOST_CHILDREN:
        fail("unit", f"`max_children` is not a whole number from 1 to {MOST_CHILDREN}", _UNIT, "unit")
    return str(family), most


def _keys(parent: Mapping[str, object], child: Mapping[str, object]) -> tuple[str, str]:
    """The key columns of parent and child, from the child's foreign key."""
    above, below = (cast("Mapping[str, object]", one["schema"]) for one in (parent, child))
    links, reverse = below.get("foreignKeys"), above.get("foreignKeys")
    if reverse:
        fail(f"resource {parent['name']!r}", "the parent has a foreign key itself", f"{_SHAPE}; remove it there")
    if not isinstance(links, list | tuple) or len(links) != 1 or not isinstance(links[0], Mapping):
        number = len(links) if isinstance(links, list | tuple) else 0
        fail(f"resource {child['name']!r}", f"it has {number} foreign keys", f"{_SHAPE}; {_LINK}")
    reference = links[0].get("reference")
    if not isinstance(reference, Mapping) or reference.get("resource") != parent["name"]:
        fail(f"resource {child['name']!r}", f"its foreign key does not refer to {parent['name']!r}", _LINK)
    keys = _one_column(reference.get("fields")), _one_column(links[0].get("fields"))
    if None in keys:
        fail(f"resource {child['name']!r}", "its key is not one column", f"{_SHAPE}; {_LINK}")
    if above.get("primaryKey") is not None and _one_column(above["primaryKey"]) != keys[0]:
        rule = f"its primaryKey is not {keys[0]!r}"
        fail(f"resource {parent['name']!r}", rule, "name the column that children refer to")
    return cast("tuple[str, str]", keys)


def _one_column(fields: object) -> str | None:
    """The name of a key's only column, which may stand in a list."""
    one = fields[0] if isinstance(fields, list | tuple) and len(fields) == 1 else fields
    return one if isinstance(one, str) and one else None


def _table(resource: Mapping[str, object], key: str, base_dir: Folder) -> TableSchema:
    """The schema of one table, whose rows of one key belong together."""
    declared = cast("Mapping[str, object]", resource["schema"])
    where = f"resource {resource['name']!r}"
    for ours in ("unit", "order", "kind", "guarantee"):
        if ours in declared:
            fail(where, f"`{ours}` stands in the schema of one table", "move it up into the package", ours)
    if declared.get("groups"):
        fail(where, "linked tables have no `groups`", "leave them out; each item is then a column", "groups")
    listed = declared.get("fields")
    for one in listed if isinstance(listed, list | tuple) else ():
        if isinstance(one, Mapping) and one.get("name") == key:
            if one.get("role") != "identifier":
                fail(where, f"its key {key!r} is a field with meaning", "keys are replaced: give it `role: identifier`")
            if one.get("type") == "number":
                rule = f"its key {key!r} is declared as a number, and floats are no identifiers"
                fail(where, rule, "store it as integers or text, and declare that type")
    dialect = {**cast("Any", resource.get("dialect") or {}), **cast("Any", declared.get("dialect") or {})}
    if "encoding" in resource:
        dialect.setdefault("encoding", resource["encoding"])
    own = {name: one for name, one in declared.items() if name not in (*_LINKS, "dialect")}
    unit = {"person": key, "max_records": 1}
    return TableSchema.from_dict({**own, **({"dialect": dialect} if dialect else {}), "unit": unit}, base_dir)


def _path(resource: Mapping[str, object]) -> str | None:
    path = resource.get("path")
    if path is not None and (not isinstance(path, str) or not path):
        fail(f"resource {resource['name']!r}", "`path` is not the path of one file", "write it as text")
    return path


def _check_keys_alike(keys: tuple[str, str], tables: Sequence[TableSchema]) -> None:
    """Refuses keys of different declared types: `007` as text and 7 as a number are different keys."""
    both = zip(keys, tables, strict=True)  # a key need not be declared
    types = {one.type for key, table in both for one in table.fields if one.name == key}
    if len(types) > 1:
        listed = " and ".join(sorted(types))
        fail("foreignKeys", f"the two keys are declared with different types ({listed})", "declare one type for both")


def _check_names(schema: FamilySchema) -> None:
    """Refuses columns with the names that questions and frames use for the children of a family."""
    made = {schema.number_of_children: "questions call the number of children", schema.names[1]: "frames hold them"}
    for name, table in zip(schema.names, schema.tables, strict=True):
        for one in table.fields:
            if one.name in made and (name == schema.names[0] or one.name == schema.number_of_children):
                rule = f"field {one.name!r} has the name by which {made[one.name]}"
                fail(f"resource {name!r}", rule, "rename the field or the child's resource")


# ---- the order of children --------------------------------------------------------------------------------------


def _order(declared: object, schema: FamilySchema) -> tuple[Direction, ...]:
    """The checked order; without one, the first date ascending, or the number with most declared values descending."""
    child, columns = schema.names[1], {one.name: one for one in schema.domains[1].attributes}
    if declared is None:
        return _usual_order(list(columns.values()))
    fix = f"write `order: {{{child}: [-age]}}` with columns of numbers, dates or ordered categories"
    if not isinstance(declared, Mapping) or set(declared) != {child}:
        fail("order", f"it is not a list of columns of {child!r}", fix, "order")
    listed = declared[child]
    if not isinstance(listed, list | tuple) or not all(isinstance(one, str) for one in listed):
        fail("order", "it is not a list of columns", fix, "order")
    order = [(one.removeprefix("-"), one.startswith("-")) for one in listed]
    for name, _ in order:
        if name not in columns:
            fail("order", f"{name!r} is no column of {child!r} that is counted", fix, "order")
        if not columns[name].ordered:
            fail("order", f"the categories of {name!r} have no order", fix, "order")
    if len({name for name, _ in order}) < len(order):
        fail("order", "a column stands in it twice", fix, "order")
    return tuple(order)


def _usual_order(columns: Sequence[Attribute]) -> tuple[Direction, ...]:
    steps = [one for one in columns if isinstance(one.scale, Steps)]
    dates = [one for one in steps if cast(Steps, one.scale).type in ("date", "datetime")]
    if dates:
        return ((dates[0].name, False),)
    widest = max(steps, key=lambda one: one.grid, default=None)
    return () if widest is None else ((widest.name, True),)

"""The public schema of set-valued data: baskets, visits, clicks; each record is a set of items.

    kind: sets
    items: {minimum: 1, maximum: 17}     # the item universe: bounds, [bread, milk, …], or a file with one item per line
    hierarchy: catalogue.csv             # optional: departments of items, in any form that tables take; for baskets
    form: long                           # fimi | long | list; by default recognised by the kind of file and its columns
    id: basket                           # long: the columns of the record (default `id`) and of the item
    item: product                        # (default `item`); without a header the first and the second
    column: products                     # list: the column of lists (default `items`, or the only such column)
    missingValues: ["", "NULL"]          # long: a row whose id is one of these is dropped
    unit: {person: customer, max_records: 5}   # long: protect all sets of a person; at most 5 sets per person are used
    dialect: {delimiter: ";"}            # as for tables (cantle.schema.table); FIMI lines use only the encoding

Everything in a schema is public and must have been written without looking at the private data. The order of the items
is public too: methods group items next to each other. The canonical form contains the content of an item file in place
of its path.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from cantle.schema.base import RecordSchema
from cantle.schema.canonical_json import JSON
from cantle.schema.declared_values import Folder, check_keys, plain_mapping
from cantle.schema.dialect import DIALECT_KEYS
from cantle.schema.documents import Problems, check_values, fail
from cantle.schema.items import DECLARE, Universe, parse_items
from cantle.schema.taxonomy import Taxonomy

if TYPE_CHECKING:
    from cantle.schema.question_columns import Vocabulary
    from cantle.schema.sequences import Order

FORMS = ("fimi", "long", "list")
ITEMS = "items"
"""The column of lists of a frame of sets."""

NAMES = {"id": "long", "item": "long", "column": "list"}
_OURS = {"kind", "items", "form", *NAMES, "missingValues", "dialect", "unit", "guarantee", *DIALECT_KEYS}
_OTHERS = {"title", "description", "name", "profile", "$schema"}

UNREAD = -(2**63)
"""The place of a row whose value in the column of the order of a long table cannot be read."""


@dataclass(frozen=True, kw_only=True)
class SetForm:
    """The public form of the records that were given, in which they are also returned.

    `form` is one of those that the schema takes; `frame` is polars, pandas or pyarrow (polars for files and Python
    lists); the other fields are the names of the columns.
    """

    form: str
    frame: str = "polars"
    id: str = "id"
    item: str = "item"
    column: str = ITEMS
    order: str = ""

    def to_dict(self) -> dict[str, str]:
        """The fields; without an order, if there is none."""
        return {key: value for key, value in vars(self).items() if value or key != "order"}


@dataclass(frozen=True, kw_only=True)
class SetSchema(RecordSchema):
    """What is public about set-valued data: the item universe, and how the file is written.

    >>> schema = SetSchema.from_dict({"kind": "sets", "items": ["bread", "milk"], "column": "basket"})
    >>> schema.universe.size, schema.form
    (2, 'list')
    """

    universe: Universe
    hierarchy: Taxonomy | None = None
    form: str | None = None
    id: str | None = None
    item: str | None = None
    column: str | None = None
    kind: ClassVar[str] = "sets"
    FORMS: ClassVar[tuple[str, ...]] = FORMS
    """The forms of the data; the first is that of lines of text."""
    OWN_KEYS: ClassVar[tuple[str, ...]] = ("hierarchy",)
    """The keys that no other kind of data made of items has."""

    @classmethod
    def from_dict(cls, document: Mapping[str, object], base_dir: Folder = None) -> SetSchema:
        """The schema in parsed JSON or YAML; raises a SchemaError that names the rule and the fix.

        The path of an item file is relative to `base_dir`, by default the current folder.
        """
        if not isinstance(document, Mapping) or document.get("kind") != cls.kind:
            fail("schema", f"it does not say `kind: {cls.kind}`", "add that line, or leave these keys out for a table")
        if document.get("items") is None:
            fail("schema", "it has no `items`", DECLARE)
        problems = Problems()
        fields = cls._fields(document, base_dir, problems)
        problems.refuse()
        return cls(**fields, extra=plain_mapping(document, without=_OURS | {*cls.OWN_KEYS}))

    @classmethod
    def keys(cls) -> set[str]:
        """The keys of such a schema."""
        return _OURS | _OTHERS | {*cls.OWN_KEYS}

    @classmethod
    def _fields(cls, document: Mapping[str, object], base_dir: Folder, problems: Problems) -> dict[str, Any]:
        """The checked fields of this class."""
        with problems.during():
            check_values({key: value for key, value in document.items() if key not in ("items", "hierarchy")}, "schema")
            check_keys("schema", document, cls.keys())
        with problems.during():
            _refuse_what_is_for_others(document, cls)
        given = {key: document[key] for key in NAMES if document.get(key) is not None}
        names = {key: problems.value("", column_name, key, value) for key, value in given.items()}
        records = cls.record_fields(document, problems)
        person = records["person"]
        form = problems.value(None, _form, document.get("form"), names, cls.FORMS)
        with problems.during("unit"):
            _check_person(person, form, names)
        universe = hierarchy = None
        with problems.during("items"):
            universe = parse_items(document["items"], base_dir)
        with problems.during("hierarchy"):
            hierarchy = None if universe is None else _hierarchy(document.get("hierarchy"), universe, base_dir)
        form = "long" if person is not None else form
        return {"universe": universe, "hierarchy": hierarchy, "form": form, **names, **records}

    def to_dict(self) -> dict[str, JSON]:
        """The canonical form: values that JSON has, without defaults; `from_dict` returns the same schema."""
        document: dict[str, JSON] = {**self.extra, "kind": self.kind, "items": self.universe.to_plain()}
        if self.hierarchy is not None:
            document["hierarchy"] = self.hierarchy.to_nested()
        named = {"form": self.form, "id": self.id, "item": self.item, "column": self.column}
        document |= {key: value for key, value in named.items() if value is not None}
        return document | self._common_keys()

    @property
    def ordered_by(self) -> Order | None:
        """The order of the rows of a record in a long table: sets have none."""
        return None

    @property
    def longest(self) -> int | None:
        """How many items of a record count, the first ones in their order. None for sets: all of their items count."""
        return None

    @property
    def lines(self) -> str:
        """The form of lines of text."""
        return self.FORMS[0]

    def require_long(self, where: str) -> None:
        """Refuses a long table that lacks something this kind of data needs."""

    @property
    def unit_detail(self) -> str:
        return " (one set of items)" if self.person is None else super().unit_detail

    def vocabulary(self) -> Vocabulary:
        from cantle.schema.question_columns import Vocabulary, WholeNumber

        return Vocabulary([WholeNumber("size")], self.universe)

    @property
    def departments(self) -> tuple[int, ...] | None:
        """The number of each item's department, in the order of the items: the widest groups of the hierarchy.

        >>> made = {"kind": "sets", "items": ["ale", "rye", "gin"], "hierarchy": [{"drinks": ["ale", "gin"]}, "rye"]}
        >>> SetSchema.from_dict(made).departments
        (0, 1, 0)
        """
        if self.hierarchy is None:
            return None
        spans = self.hierarchy.children(*self.hierarchy.root) or (self.hierarchy.root,)
        of_leaf = [number for number, (lo, hi) in enumerate(spans) for _ in range(lo, hi)]
        department = dict(zip(self.hierarchy.leaves, of_leaf, strict=True))
        return tuple(department[item] for item in self.universe.items)


def _hierarchy(declared: object, universe: Universe, base_dir: Folder) -> Taxonomy | None:
    """The hierarchy of the items, if one is declared, in any form that tables allow."""
    if declared is None:
        return None
    from cantle.schema.hierarchy_files import load_hierarchy

    return load_hierarchy(declared, tuple(universe.items), ITEMS, base_dir)


def _refuse_what_is_for_others(document: Mapping[str, object], kind: type[SetSchema]) -> None:
    for key in ("fields", "taxonomy", *SetSchema.OWN_KEYS):
        if key in document and key not in kind.OWN_KEYS:
            fix = f"declare only `items`, similar ones next to each other, or drop `kind: {kind.kind}`"
            fail("schema", f"`{key}` is not for {kind.kind}", fix, key)


def _check_person(person: str | None, form: str | None, names: Mapping[str, str]) -> None:
    """Refuses persons unless the sets are a long table, in which persons have a column of their own."""
    if person is None:
        return
    if form not in (None, "long"):
        fail("unit", f"form {form} has no column of persons", "use a long table, or leave `unit` out")
    if person in (names.get("id", "id"), names.get("item", "item")):
        fail("unit", "`person` is the column of ids or of items", "name the column that says whose set it is")


def column_name(key: str, value: object) -> str:
    """The checked name of a column."""
    if not isinstance(value, str) or not value:
        fail("schema", f"`{key}` must be the name of a column", "write it as text, in quotes", key)
    return value


def _form(declared: object, names: Mapping[str, str], forms: tuple[str, ...]) -> str | None:
    """The form that is declared, or that the names of columns imply."""
    if declared is not None and declared not in forms:
        fail("schema", "`form` is not known", f"use one of {', '.join(forms)}, or leave it out", "form")
    implied = {NAMES[key] for key in names}
    if len(implied | ({declared} - {None})) > 1:
        of = ", ".join(f"`{key}`" for key in names)
        fail("schema", f"{of} and `form` do not agree", "`id` and `item` are for form long, `column` for form list")
    if names.get("id", "id") == names.get("item", "item"):
        fail("schema", "`id` and `item` are the same column", "name two")
    return declared if declared is not None else next(iter(implied), None)

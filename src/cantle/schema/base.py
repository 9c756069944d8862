"""The base class of schemas: a kind, a canonical form, a hash, and whom a release protects.

Schemas of tables and sets also say how records are written, and to which persons they belong.
"""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, cast

from cantle.schema import canonical_json
from cantle.schema.canonical_json import JSON
from cantle.schema.declared_values import BLANK, Folder, texts
from cantle.schema.dialect import Dialect, parse_dialect
from cantle.schema.documents import Problems, fail
from cantle.schema.taxonomy import table

if TYPE_CHECKING:
    from cantle.schema.code_sets import Question
    from cantle.schema.question_columns import Vocabulary


class Schema(ABC):
    """What is public about the data, written without looking at it.

    `Schema.load` and `Schema.from_dict` return an object of the class for the declared `kind`: a table, sets or a
    graph. docs/reference.md lists the keys of a schema.

    Attributes
    ----------
    kind : str
        table, sets or graph.
    inferred : bool
        Whether it was inferred from the data, so that releases made with it have no guarantee.

    Examples
    --------
    >>> schema = Schema.from_dict({"fields": [{"name": "sex", "type": "string", "categories": ["F", "M"]}]})
    >>> schema.kind, schema.inferred
    ('table', False)
    """

    kind: ClassVar[str]
    """table, sets or graph: other packages use it to find their code for this kind of data."""
    inferred: bool
    """Whether the schema was inferred from the data, so that releases made with it have no guarantee."""

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Schema:
        """The schema in a YAML or JSON file."""
        from cantle.schema import load_schema

        return load_schema(path)

    @classmethod
    def from_dict(cls, document: Mapping[str, object], base_dir: Folder = None) -> Schema:
        """The schema in parsed JSON or YAML; raises a SchemaError that names the thing, the rule and the fix.

        Paths of files in the schema are relative to `base_dir`, by default the current folder.
        """
        from cantle.schema import class_for

        return class_for(document).from_dict(document, base_dir)

    @abstractmethod
    def to_dict(self) -> dict[str, JSON]:
        """The canonical form: values that JSON has, without defaults; `from_dict` returns the same schema."""

    @property
    @abstractmethod
    def protects(self) -> tuple[int, str]:
        """Whom a release protects: the most records per unit, and its kind (record, person, node, edge, ...)."""

    @property
    def unit_detail(self) -> str:
        """What distinguishes this unit from others of the same name, with which its epsilons do not add up; may be
        empty."""
        return ""

    def captions(self) -> Mapping[str, Mapping[str, str]]:
        """For each column the categories that have a label, as people read them: `1 = male`."""
        return {}

    @property
    def target(self) -> str | None:
        """The name of the column that a classifier will predict; None if there is none."""
        return None

    @property
    def weight(self) -> str | None:
        """The name of the column that says how much each record of a table counts; None if there is none."""
        return None

    @abstractmethod
    def vocabulary(self) -> Vocabulary:
        """What questions about releases with this schema may name."""

    def counted(self, question: Question) -> Question:
        """A question of this vocabulary as one about what was counted: rules of a table may count other columns."""
        return question

    def _repr_html_(self) -> str:
        document = self.to_dict()
        rows = {key: value for key, value in document.items() if key not in ("fields", "kind")}
        for one in cast("list[dict[str, JSON]]", document.get("fields", [])):
            rows[str(one["name"])] = {key: value for key, value in one.items() if key != "name"}
        most, unit = self.protects
        whom = unit if most == 1 else f"{unit} with up to {most} records"
        texts = [(name, json.dumps(value, ensure_ascii=False)) for name, value in rows.items()]
        return table(f"cantle schema: {self.kind}, protects one {whom}", texts)

    def hash(self) -> str:
        """SHA-256 of the canonical JSON, in hex."""
        return canonical_json.sha256(self.to_dict())


def require_guarantee(document: Mapping[str, object]) -> bool:
    """Whether the schema says that it was inferred from the data (`guarantee: none`, the only value allowed)."""
    if document.get("guarantee") not in (None, "none"):
        fail("schema", "`guarantee` can only be `none`", "leave the key out of a schema written by hand", "guarantee")
    return document.get("guarantee") == "none"


MOST_RECORDS = 10**6


@dataclass(frozen=True, kw_only=True)
class RecordSchema(Schema):
    """What is public about data that are records, in a file or a frame."""

    missing_values: tuple[str, ...] = ("",)
    dialect: Dialect = field(default_factory=Dialect)
    inferred: bool = False
    person: str | None = None
    max_records: int = 1
    extra: Mapping[str, JSON] = field(default_factory=dict)

    @staticmethod
    def record_fields(document: Mapping[str, object], problems: Problems) -> dict[str, Any]:
        """The checked fields of this class, without those of other tools."""
        person, most = problems.value((None, 1), parse_unit, document.get("unit"))
        dialect = Dialect()
        with problems.during("dialect"):
            dialect = parse_dialect(document)
        marks = document.get("missingValues", [""])
        return {
            "missing_values": problems.value(("",), texts, "schema", "missingValues", marks),
            "dialect": dialect,
            "inferred": problems.value(False, require_guarantee, document),
            "person": person,
            "max_records": most,
        }

    @property
    def protects(self) -> tuple[int, str]:
        return (1, "record") if self.person is None else (self.max_records, "person")

    @property
    def unit_detail(self) -> str:
        return "" if self.person is None else f", by column {self.person!r}"

    def _common_keys(self) -> dict[str, JSON]:
        """The keys of the canonical form about how records are written and about persons, without defaults."""
        keys: dict[str, JSON] = {
            "missingValues": None if self.missing_values == ("",) else list(self.missing_values),
            "dialect": self.dialect.to_dict() or None,
            "guarantee": "none" if self.inferred else None,
            "unit": None if self.person is None else {"person": self.person, "max_records": self.max_records},
        }
        return {key: value for key, value in keys.items() if value is not None}


def parse_unit(unit: object) -> tuple[str | None, int]:
    """Whom the promise protects: the column of persons (None if the unit is a record), and the most records used per
    person."""
    if unit in (None, "record"):
        return None, 1
    fix = "write `unit: {person: COLUMN, max_records: 3}`, or leave it out to protect one record"
    if not isinstance(unit, Mapping) or set(unit) != {"person", "max_records"}:
        fail("unit", "it is neither `record` nor a person with a number of records", fix, "unit")
    person, most = unit["person"], unit["max_records"]
    if not isinstance(person, str) or not person or person == BLANK:
        fail("unit", "`person` is not the name of a column", fix, "unit")
    if type(most) is not int or not 1 <= most <= MOST_RECORDS:
        fail("unit", f"`max_records` is not a whole number from 1 to {MOST_RECORDS}", fix, "unit")
    return person, most

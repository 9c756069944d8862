"""The base class of schemas: a kind, a canonical form, a hash, and whom a release protects."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, cast

from cantle.schema import canonical_json
from cantle.schema.canonical_json import JSON
from cantle.schema.declared_values import Folder
from cantle.schema.documents import fail
from cantle.schema.html import table

if TYPE_CHECKING:
    from cantle.schema.code_sets import Question
    from cantle.schema.question_columns import Vocabulary
    from cantle.schema.relations import Relations


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

    @property
    def relations(self) -> Relations | None:
        """What rules between columns of a table make of them."""
        return None

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

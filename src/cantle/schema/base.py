"""What every schema has, whatever the kind of data: a kind, a canonical form, a hash, and whom a release protects."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from cantle.schema import canonical_json
from cantle.schema.canonical_json import JSON
from cantle.schema.declared_values import Folder
from cantle.schema.documents import fail


class Schema(ABC):
    """What is public about the data, written without looking at it.

    `Schema.load` and `Schema.from_dict` give the class of the declared `kind`: a table, sets or a graph. The keys of a
    schema are listed in docs/reference.md.

    Attributes
    ----------
    kind : str
        table, sets or graph.
    inferred : bool
        Whether it was read off the data, so that releases made with it carry no guarantee.

    Examples
    --------
    >>> schema = Schema.from_dict({"fields": [{"name": "sex", "type": "string", "categories": ["F", "M"]}]})
    >>> schema.kind, schema.inferred
    ('table', False)
    """

    kind: ClassVar[str]
    """table, sets or graph: the key of the tables in each room that say how this kind of data is treated."""
    inferred: bool
    """Whether the schema was read off the data, so that releases made with it carry no guarantee."""

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Schema:
        """The schema in a YAML or JSON file."""
        from cantle.schema import load_schema

        return load_schema(path)

    @classmethod
    def from_dict(cls, document: Mapping[str, object], base_dir: Folder = None) -> Schema:
        """The schema in a dictionary as JSON or YAML gives it; raises SchemaError naming thing, rule and fix.

        Files that the schema names are looked for from `base_dir`, by default the current folder.
        """
        from cantle.schema import class_for

        return class_for(document).from_dict(document, base_dir)

    @abstractmethod
    def to_dict(self) -> dict[str, JSON]:
        """The canonical form: JSON-able, defaults left out; `from_dict` gives the same schema back."""

    @property
    @abstractmethod
    def protects(self) -> tuple[int, str]:
        """Whom a release protects: the most records per unit, and its kind (record, person, node, edge, ...)."""

    def hash(self) -> str:
        """SHA-256 of the canonical JSON, in hex."""
        return canonical_json.sha256(self.to_dict())


def require_guarantee(document: Mapping[str, object]) -> bool:
    """Whether the schema says that it was read off the data (`guarantee: none`, which is all it can say)."""
    if document.get("guarantee") not in (None, "none"):
        fail("schema", "`guarantee` can only be `none`", "leave the key out of a schema written by hand", "guarantee")
    return document.get("guarantee") == "none"

"""What the manifest of a release says about its schema, its columns and the domain that was counted."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, TypeVar

import polars as pl

from cantle.errors import VerifyError, raise_alone
from cantle.release.manifest import Manifest
from cantle.release.structures import traits_of
from cantle.schema import Schema
from cantle.schema.canonical_json import JSON
from cantle.schema.domain import Attribute, Domain
from cantle.schema.items import Universe
from cantle.schema.sets import SetSchema
from cantle.schema.table import TableSchema
from cantle.trusted.core.arrays import Codes

Kind = TypeVar("Kind", bound=Schema)

_UNSAID: dict[str, dict[str, JSON]] = {"table": {"schemaVersion": 1}}
"""Keys of the schemas of releases that were made before cantle wrote them, by kind of data."""


def schema_of(manifest: Manifest) -> Schema:
    """The schema of a release. Statement, metadata and report all ask for it, so it is parsed once."""
    try:
        return _schema_in(manifest.kind, json.dumps(manifest.schema))
    except RecursionError:
        raise_alone(VerifyError("the schema in release.json is nested too deeply"))


@lru_cache(maxsize=2)
def _schema_in(kind: str, text: str) -> Schema:
    """Hierarchies must be inline: with a path, a release could make cantle open any file."""
    schema = json.loads(text)
    inline = schema.get("items"), schema.get("nodes")
    if isinstance(schema.get("hierarchy"), str):
        raise VerifyError("a hierarchy in release.json is a path; a release holds it inline")
    if any(isinstance(one, str) for one in inline):
        raise VerifyError("items or nodes in release.json are a path; a release holds them inline")
    for table in _tables(schema):
        fields = table.get("fields")
        for key in ("hierarchy", "items"):
            if isinstance(fields, list) and any(isinstance(field.get(key), str) for field in fields):
                raise VerifyError(f"`{key}` in release.json is a path; a release holds it inline")
    return Schema.from_dict({**_UNSAID.get(kind, {}), **schema})


def _tables(schema: Mapping[str, JSON]) -> list[Mapping[str, Any]]:
    """The schema, and those of the tables that it lists as resources."""
    listed = schema.get("resources")
    resources = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    return [schema, *(one["schema"] for one in resources if isinstance(one.get("schema"), dict))]


def schema_as(manifest: Manifest, kind: type[Kind]) -> Kind:
    """The schema of a release, which must be of the class for this kind of data."""
    schema = schema_of(manifest)
    if not isinstance(schema, kind):
        raise VerifyError(f"release.json has a method that is not for data of kind {schema.kind}")
    return schema


def universe_of(manifest: Manifest) -> Universe:
    """The declared items of a release of sets or sequences."""
    return schema_as(manifest, SetSchema).universe


def attributes_of(manifest: Manifest) -> dict[str, Attribute]:
    """The columns of a table by name, as questions name them: those that were counted, and the declared ones that rules
    made into others; none of other kinds of data."""
    return {} if traits_of(manifest).counted is None else columns_of_table(schema_as(manifest, TableSchema))


def columns_of_table(schema: TableSchema) -> dict[str, Attribute]:
    """The columns of a table by name: those that are counted, and the declared ones that rules make into others."""
    both = (schema.domain(), schema.as_declared())
    return {one.name: one for domain in both for one in domain.with_target_as_column().on_places.attributes}


def code_reader(manifest: Manifest, frame: pl.DataFrame) -> Callable[[str], Codes]:
    """The places of a frame with the declared columns of a table, by the names of `attributes_of`."""
    columns, domain = (
        attributes_of(manifest),
        schema_as(manifest, TableSchema).domain().with_target_as_column().on_places,
    )
    if domain.relations is None:
        return lambda name: columns[name].encode(columns[name].given(frame))
    codes, _ = domain.encode_columns(frame)
    counted = {one.name: part for one, part in zip(domain.attributes, codes, strict=True)}
    return lambda name: counted[name] if name in counted else columns[name].encode(columns[name].given(frame))


def domain_of(manifest: Manifest) -> Domain:
    """The domain that was counted, rebuilt from public values."""
    declared, facts = schema_as(manifest, TableSchema).domain(), traits_of(manifest)
    if facts.counted is None:
        raise VerifyError("release.json has a table, and a structure that is not for tables")
    return facts.counted(declared)

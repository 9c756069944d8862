"""Reading saved releases, and what their manifests say about schema and domain. Released values only."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import polars as pl

from cantle.errors import CantleError, VerifyError, raise_alone
from cantle.release import FILES, MARK, Release
from cantle.release.data_file import read
from cantle.release.kinds import KINDS
from cantle.release.manifest import FORMAT, Manifest
from cantle.release.structures import traits_of
from cantle.schema import Schema
from cantle.schema.domain import Attribute, Domain

if TYPE_CHECKING:
    from cantle.schema.canonical_json import JSON
    from cantle.schema.families import FamilySchema
    from cantle.schema.graph import GraphSchema
    from cantle.schema.items import Universe
    from cantle.schema.sequences import SequenceSchema
    from cantle.schema.sets import SetSchema
    from cantle.schema.table import TableSchema
    from cantle.trusted.core.arrays import Codes


Kind = TypeVar("Kind", bound=Schema)


def load(folder: Path) -> Release:
    """The release in a folder; files are checked by `verify`, not here."""
    prefix = MARK if os.path.exists(folder / (MARK + FILES["manifest"])) else ""
    manifest = read_manifest(folder)
    try:
        schema = schema_of(manifest)
        paths = {name: folder / (prefix + FILES[name]) for name in ("tree", "marginals", "tables", "sizes")}
        frames = {name: pl.read_parquet(path) for name, path in paths.items() if path.exists()}
        groups = pl.read_parquet(folder / (prefix + FILES["groups"]))
        return Release(read(folder, prefix, manifest, schema), groups, frames, manifest, folder=folder)
    except (OSError, StopIteration, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise_alone(VerifyError(f"{folder} has a missing or damaged file ({type(error).__name__})"))
    except CantleError:
        raise
    except Exception as error:
        raise_alone(VerifyError(f"{folder}: release.json is not of the expected form ({type(error).__name__})"))


def read_manifest(folder: Path) -> Manifest:
    """release.json of a folder."""
    return Manifest.from_dict(read_document(folder))


def read_document(folder: Path) -> dict[str, JSON]:
    """release.json of a folder, as parsed JSON."""
    for prefix in ("", MARK):
        path = folder / (prefix + FILES["manifest"])
        if os.path.exists(path):
            try:
                document = json.loads(path.read_bytes())
            except (OSError, ValueError, RecursionError):
                raise_alone(VerifyError(f"{path} is not readable JSON"))
            if isinstance(document, dict) and document.get("format") == FORMAT:
                return document
            raise VerifyError(f"{path} is not a release of this format ({FORMAT})")
    if not os.path.exists(folder):
        raise VerifyError(f"there is no folder {folder}; check the path")
    what = "holds no release: there is no" if os.path.isdir(folder) else "is a file; give the release folder, which has"
    raise VerifyError(f"{folder} {what} {FILES['manifest']}")


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
    return Schema.from_dict({**KINDS[kind].unsaid, **schema})


def _tables(schema: Mapping[str, JSON]) -> list[Mapping[str, Any]]:
    """The schema, and those of the tables that it lists as resources."""
    listed = schema.get("resources")
    resources = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    return [schema, *(one["schema"] for one in resources if isinstance(one.get("schema"), dict))]


def table_schema_of(manifest: Manifest) -> TableSchema:
    """The schema of a release of a table."""
    from cantle.schema.table import TableSchema

    return _of_kind(schema_of(manifest), TableSchema)


def set_schema_of(manifest: Manifest) -> SetSchema:
    """The schema of a release of sets."""
    from cantle.schema.sets import SetSchema

    return _of_kind(schema_of(manifest), SetSchema)


def sequence_schema_of(manifest: Manifest) -> SequenceSchema:
    """The schema of a release of sequences."""
    from cantle.schema.sequences import SequenceSchema

    return _of_kind(schema_of(manifest), SequenceSchema)


def universe_of(manifest: Manifest) -> Universe:
    """The declared items of a release of sets."""
    return set_schema_of(manifest).universe


def graph_schema_of(manifest: Manifest) -> GraphSchema:
    """The schema of a release of a graph's degrees."""
    from cantle.schema.graph import GraphSchema

    return _of_kind(schema_of(manifest), GraphSchema)


def family_schema_of(manifest: Manifest) -> FamilySchema:
    """The schema of a release of families."""
    from cantle.schema.families import FamilySchema

    return _of_kind(schema_of(manifest), FamilySchema)


def _of_kind(schema: Schema, kind: type[Kind]) -> Kind:
    if not isinstance(schema, kind):
        raise VerifyError(f"release.json has a method that is not for data of kind {schema.kind}")
    return schema


def attributes_of(manifest: Manifest) -> dict[str, Attribute]:
    """The columns of a table by name, as questions name them: those that were counted, and the declared ones that rules
    made into others; none of other kinds of data."""
    return {} if traits_of(manifest).counted is None else columns_of_table(table_schema_of(manifest))


def columns_of_table(schema: TableSchema) -> dict[str, Attribute]:
    """The columns of a table by name: those that are counted, and the declared ones that rules make into others."""
    both = (schema.domain(), schema.as_declared())
    return {one.name: one for domain in both for one in domain.with_target_as_column().on_places.attributes}


def code_reader(manifest: Manifest, frame: pl.DataFrame) -> Callable[[str], Codes]:
    """The places of a frame with the declared columns of a table, by the names of `attributes_of`."""
    columns, domain = attributes_of(manifest), table_schema_of(manifest).domain().with_target_as_column().on_places
    if domain.relations is None:
        return lambda name: columns[name].encode(columns[name].given(frame))
    codes, _ = domain.encode_columns(frame)
    counted = {one.name: part for one, part in zip(domain.attributes, codes, strict=True)}
    return lambda name: counted[name] if name in counted else columns[name].encode(columns[name].given(frame))


def domain_of(manifest: Manifest) -> Domain:
    """The domain that was counted, rebuilt from public values."""
    declared, facts = table_schema_of(manifest).domain(), traits_of(manifest)
    if facts.counted is None:
        raise VerifyError("release.json has a table, and a structure that is not for tables")
    return facts.counted(declared)

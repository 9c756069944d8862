"""Metadata of a release for tools and archives: Frictionless, DataCite and Croissant. Made from the manifest alone."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

from cantle.errors import MissingExtra, ParameterError, install_command, raise_alone
from cantle.release.facts import Facts
from cantle.release.kinds import kind_of, texts_of
from cantle.release.manifest import Manifest
from cantle.release.storage import files_of
from cantle.schema.canonical_json import JSON

MEDIA = {"csv": "text/csv", "parquet": "application/vnd.apache.parquet", "dat": "text/plain", "xes": "application/xml"}
"""The media type of each ending of a data file."""

_NAME = re.compile(r"[-\w.]+", re.ASCII)
_ADDRESS = re.compile(r"https?://\S+")
_PERIOD = re.compile(r"(\d{4}(?:-\d\d){0,2})(?: to |/)(\d{4}(?:-\d\d){0,2})")


def datapackage(manifest: Manifest, data_names: Sequence[str]) -> dict[str, JSON]:
    """datapackage.json: the data files as Frictionless resources with the public schema, and what the curator told."""
    stems, texts = files_of(manifest), texts_of(manifest)
    resources: list[JSON] = []
    for stem, name in zip(stems, data_names, strict=True):
        stored = name.rsplit(".", 1)[-1]
        resources.append(
            {
                "name": stem,
                "path": name,
                "format": stored,
                "mediatype": MEDIA[stored],
                "encoding": "utf-8",
                **(texts.resources.get(stem) or texts.stored[stored]),
            }
        )
    return {
        "name": "cantle-release",
        "title": manifest.facts.title or f"Release by cantle ({manifest.guarantee})",
        **_told(manifest.facts),
        "resources": resources,
    }


def _told(facts: Facts) -> dict[str, JSON]:
    """The facts under the names of Frictionless; what is not stated is left out."""
    told: dict[str, JSON] = {
        "description": facts.description,
        "version": facts.version,
        "homepage": facts.source if _ADDRESS.fullmatch(facts.source) else "",
        "keywords": list(facts.keywords),
        "contributors": [{"title": one, "role": "publisher"} for one in facts.curator],
        "licenses": [_licence(facts.licence)] if facts.licence else [],
    }
    return {name: value for name, value in told.items() if value}


def _licence(licence: str) -> JSON:
    if _ADDRESS.fullmatch(licence):
        return {"path": licence}
    return {"name": licence} if _NAME.fullmatch(licence) else {"name": "other", "title": licence}


def datacite(manifest: Manifest) -> str:
    """The metadata that archives register with a DOI: JSON of the DataCite schema 4."""
    facts = manifest.facts
    _need(manifest, "title", "curator")
    described = facts.description or kind_of(manifest.kind).how.format(n=manifest.summary["records"])
    promise = f"{manifest.guarantee}, epsilon {manifest.epsilon} for {manifest.unit}; made by cantle."
    period = _PERIOD.fullmatch(facts.period)
    day = _day(manifest)
    document: dict[str, Any] = {
        "schemaVersion": "http://datacite.org/schema/kernel-4",
        "doi": facts.identifier.removeprefix("https://doi.org/"),
        "url": facts.source if _ADDRESS.fullmatch(facts.source) else "",
        "types": {"resourceTypeGeneral": "Dataset", "resourceType": kind_of(manifest.kind).product},
        "creators": [{"name": one, "nameType": "Organizational"} for one in facts.curator],
        "titles": [{"title": facts.title}],
        "publisher": {"name": facts.curator[0]},
        "publicationYear": day[:4],
        "subjects": [{"subject": word} for word in facts.keywords],
        "dates": [
            {"date": day, "dateType": "Created"},
            *([{"date": f"{period[1]}/{period[2]}", "dateType": "Collected"}] if period else []),
        ],
        "version": facts.version,
        "rightsList": [{"rights": facts.licence}] if facts.licence else [],
        "descriptions": [
            {"description": described, "descriptionType": "Abstract"},
            {"description": promise, "descriptionType": "TechnicalInfo"},
        ],
    }
    return json.dumps({name: value for name, value in document.items() if value}, indent=2, ensure_ascii=False) + "\n"


def croissant(manifest: Manifest) -> str:
    """The metadata that search engines and machine-learning tools read: Croissant, made by its own library."""
    try:
        import mlcroissant as mlc
    except ImportError:
        needed = f"Croissant needs the package mlcroissant; install it with: {install_command('croissant')}"
        raise_alone(MissingExtra(needed))
    facts = manifest.facts
    _need(manifest, "title", "licence", "source")
    described = [_described(mlc, manifest, stem) for stem in files_of(manifest)]
    made = mlc.Metadata(
        name=facts.title,
        description=f"{facts.description or facts.title}. {manifest.guarantee}, epsilon {manifest.epsilon}.",
        license=[facts.licence],
        url=facts.source,
        version=facts.version or "1.0.0",
        keywords=list(facts.keywords) or None,
        creators=[mlc.Organization(name=one) for one in facts.curator] or None,
        date_published=_day(manifest),
        distribution=[file for file, _ in described],
        record_sets=[one for _, records in described for one in records],
    )
    return json.dumps(made.to_json(), indent=2, ensure_ascii=False, default=str) + "\n"


def _described(mlc: ModuleType, manifest: Manifest, stem: str) -> tuple[Any, list[Any]]:
    """A data file, and its records if they have fields."""
    name = next(one for one in sorted(manifest.files) if f".{stem}." in f".{one}")
    stored, texts, called = name.rsplit(".", 1)[-1], texts_of(manifest), "records" if stem == "data" else stem
    kind, sha256 = [MEDIA[stored]], manifest.files[name]
    file = mlc.FileObject(id=name, name=name, content_url=name, encoding_formats=kind, sha256=sha256)
    schema = (texts.resources.get(stem) or texts.stored[stored]).get("schema")
    listed: Any = schema.get("fields", []) if isinstance(schema, Mapping) else []
    fields = [
        mlc.Field(
            id=f"{called}/{one['name']}",
            name=one["name"],
            description=str(one.get("title") or one["name"]),
            data_types=getattr(mlc.DataType, _TYPES.get(one.get("type", ""), "TEXT")),
            source=mlc.Source(file_object=name, extract=mlc.Extract(column=one["name"])),
        )
        for one in listed
    ]
    return file, [mlc.RecordSet(id=called, name=called, fields=fields)] if fields else []


_TYPES = {
    "integer": "INTEGER",
    "year": "INTEGER",
    "number": "FLOAT",
    "boolean": "BOOL",
    "date": "DATE",
    "datetime": "DATE",
}

FORMATS: dict[str, Callable[[Manifest], str]] = {"datacite": datacite, "croissant": croissant}
"""The forms of metadata by name."""


def _day(manifest: Manifest) -> str:
    if not manifest.created:
        raise ParameterError("a release with a known seed has no date, and is nothing to deposit")
    return manifest.created[:10]


def _need(manifest: Manifest, *names: str) -> None:
    """Refuses a release whose curator did not tell what the format requires."""
    given = manifest.facts.to_dict()
    if missing := [name for name in names if name not in given]:
        raise ParameterError(
            f"this format needs facts that the release does not have: {', '.join(missing)}; "
            "give them with `cantle publish --statement FILE`"
        )

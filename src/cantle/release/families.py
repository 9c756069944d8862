"""Releases of families: two linked files, what they are good for, and how they are described."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from cantle.release.kinds import DRAWN, Texts, worded
from cantle.release.manifest import Manifest
from cantle.release.structures import traits_of
from cantle.release.words import Right, Uses, measured, points, printable, sentence
from cantle.schema.fields import WRITING

if TYPE_CHECKING:
    from cantle.methods.own_error.accuracy import Accuracy
    from cantle.schema.canonical_json import JSON


# ---- words ------------------------------------------------------------------------------------------------------


def rights(accuracy: Accuracy | None, released: int, child: str) -> list[Right]:
    """The measured errors of shares of families: by their own columns, by one child, by two children in a row."""
    two = f"with two {child} in a row of two kinds"
    return measured(
        accuracy, released, (f"by their own columns and number of {child}", f"with {child} of one kind", two)
    )


def uses(manifest: Manifest) -> Uses:
    """What linked tables are good for and what they are not good for."""
    names, released = _names(manifest), manifest.summary["records"]
    bad = (
        f"looking up or matching single {names[0]}: they are made up, and so are their keys",
        f"what depends on many {names[1]} of one family at once: each follows its parent, the first and the one before",
    )
    if not released:
        return Uses((f"nothing: no {names[0]} were released",), bad)
    known = rights(manifest.accuracy, released, names[1])
    if not known:
        return Uses((f"shares of {names[0]} and of {names[1]}: how far they are off was not measured",), bad)
    return Uses(
        tuple(f"shares of {names[0]} {one.about}: right to ±{points(one.error)} percentage points" for one in known),
        bad,
    )


def _names(manifest: Manifest) -> tuple[str, str]:
    first, second = (str(one["name"]) for one in _resources(manifest))
    parent = cast("dict[str, Any]", manifest.schema["unit"])["family"]
    return (first, second) if first == parent else (second, first)


def _resources(manifest: Manifest) -> list[Mapping[str, Any]]:
    return cast("list[Mapping[str, Any]]", manifest.schema["resources"])


def _texts(manifest: Manifest) -> Texts:
    names, most = _names(manifest), cast("dict[str, Any]", manifest.schema["unit"])["max_children"]
    children = manifest.summary["children"]
    kept = f"{names[1]} above {most:,} per family, if any, are left out, and so are {names[1]} whose key no row of "
    outcome = (
        f"{manifest.summary['records']:,} synthetic {names[0]} with {children:,} synthetic {names[1]}, drawn from the "
        f"noisy counts of {traits_of(manifest).in_words}.\n"
        "A drawn family may happen to equal a real one, which says nothing about anyone. Keys are new.\n"
        f"One family is all rows of both files that carry one key. {kept[0].upper()}{kept[1:]}{names[0]} has.\n"
        f"Somebody who appears in two families is not protected by this promise in both together."
    )
    listed = "\n".join(
        f"- {printable(one['name'])}: {', '.join(printable(field['name']) for field in _published(one))}"
        for one in _resources(manifest)
    )
    parts = rights(manifest.accuracy, manifest.summary["records"], names[1])
    resources = {}
    for one in _resources(manifest):
        schema: dict[str, JSON] = {"fields": _fields(one), "missingValues": [""]}
        schema |= {key: one["schema"][key] for key in ("primaryKey", "foreignKeys") if key in one["schema"]}
        resources[str(one["name"])] = {"schema": schema}
    return Texts(
        outcome,
        DRAWN,
        f"Any number of families (also none) of two linked tables with these public fields:\n{listed}",
        {},
        (sentence(f"The share of {names[0]}", manifest.accuracy, parts),),
        parts[0].error if parts else None,
        cast("Mapping[str, Mapping[str, JSON]]", resources),
    )


def _published(resource: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [one for one in resource["schema"]["fields"] if one.get("role") != "identifier"]


def _fields(resource: Mapping[str, Any]) -> list[JSON]:
    """The fields of the released file: the key, a whole number, and the published ones."""
    schema = resource["schema"]
    link = schema["foreignKeys"][0]["fields"] if "foreignKeys" in schema else schema["primaryKey"]
    fields = [{key: one[key] for key in one if key not in WRITING} for one in _published(resource)]
    return cast("list[JSON]", [{"name": link, "type": "integer"}, *fields])


KIND = worded("families", lambda release: uses(release.manifest), _texts)

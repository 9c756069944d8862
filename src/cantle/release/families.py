"""Releases of families: two linked files, what they are good for, and how they are described."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from cantle.drawing.linked_frames import joined, linked
from cantle.drawing.records import as_frame, csv_of, give_back, read_csv
from cantle.errors import VerifyError
from cantle.release.manifest import Manifest
from cantle.release.released_kind import DRAWN, ReleasedKind, Texts
from cantle.release.structures import traits_of
from cantle.release.words import SWITCHED_OFF, TOO_FEW, Right, Uses, line, points, printable, write_plain
from cantle.schema.domain import Domain
from cantle.schema.families import FamilySchema
from cantle.schema.field_keys import WRITING

if TYPE_CHECKING:
    import polars as pl

    from cantle.data.frames import NativeFrame
    from cantle.drawing.records import Drawn
    from cantle.methods.own_error.accuracy import Accuracy
    from cantle.release import Release
    from cantle.release.answers.family_answers import FamilyAsker
    from cantle.schema.canonical_json import JSON


def schema_of(manifest: Manifest) -> FamilySchema:
    """The schema of a release of families."""
    from cantle.release.load import family_schema_of  # which imports the kinds of data

    return family_schema_of(manifest)


# ---- frames and files -------------------------------------------------------------------------------------------


def _types(domain: Domain) -> dict[str, pl.DataType]:
    nobody = np.zeros((0, len(domain.attributes)))
    return dict(domain.decode(nobody.astype(np.int64), np.zeros(0, np.int64), nobody).schema)


def _column_types(manifest: Manifest) -> dict[str, pl.DataType]:
    import polars as pl

    schema = schema_of(manifest)
    above, below = map(_types, schema.domains)
    return {**above, schema.names[1]: pl.List(pl.Struct(below))}


def _paths(path: Path, schema: FamilySchema) -> tuple[Path, Path]:
    """The files of both tables, in the place of `data.csv`, or beside another name."""
    first, second = (
        path.with_name(
            path.name.removesuffix(f"data{path.suffix}") + f"{name}{path.suffix}"
            if path.name.endswith(f"data{path.suffix}")
            else f"{path.stem}-{name}{path.suffix}"
        )
        for name in schema.names
    )
    return first, second


def _write(frame: pl.DataFrame, path: Path, data: str, manifest: Manifest) -> None:
    schema = schema_of(manifest)
    for table, own in zip(linked(frame, schema), _paths(path, schema), strict=True):
        write_plain(table, own, data, manifest)


def _read(path: Path, stored: str, manifest: Manifest, schema: FamilySchema) -> pl.DataFrame:  # noqa: ARG001
    """Both files as one frame; every child must have its parent, in the order of the parents."""
    import polars as pl

    frames = []
    for own, table, domain in zip(_paths(path, schema), schema.tables, schema.domains, strict=True):
        types = {str(table.person): pl.Int64(), **_types(domain)}
        frames.append(pl.read_parquet(own) if stored == "parquet" else read_csv(own, types))
    parent, child = frames
    keys, below = (one[str(table.person)].to_numpy() for one, table in zip(frames, schema.tables, strict=True))
    if not np.array_equal(keys, np.arange(1, len(parent) + 1)):
        raise VerifyError(f"the keys of {schema.names[0]} are not 1, 2, … in order")
    if len(below) and (below.min() < 1 or below.max() > len(parent) or (np.diff(below) < 0).any()):
        raise VerifyError(f"{schema.names[1]} holds a child without a parent, or children out of the order of parents")
    size = np.bincount(below, minlength=len(parent) + 1)[1:]
    bare = [one.drop(str(table.person)) for one, table in zip(frames, schema.tables, strict=True)]
    return joined(bare[0], bare[1], size, schema.names[1])


def _as_text(frame: pl.DataFrame, manifest: Manifest) -> str:
    """Both tables as CSV, with a blank line between them."""
    return "\n".join(csv_of(table) for table in linked(frame, schema_of(manifest)))


def _given_back(drawn: Drawn | pl.DataFrame, form: dict[str, str], schema: FamilySchema) -> Drawn | NativeFrame:  # noqa: ARG001
    """Families stay one polars frame with a column of lists; `Release.tables` gives frames of the kind of the input."""
    return as_frame(drawn)


def tables(release: Release) -> dict[str, NativeFrame]:
    """Both linked tables by name, in the kind of frame that was given."""
    schema = cast(FamilySchema, release.schema)
    kind = release.manifest.form.get("frame", "polars")
    both = linked(cast("pl.DataFrame", release.records), schema)
    nullable = ([one.name for one in domain.attributes if one.nullable] for domain in schema.domains)
    return {name: give_back(one, kind, some) for name, one, some in zip(schema.names, both, nullable, strict=True)}


# ---- words ------------------------------------------------------------------------------------------------------


def _asker(release: Release) -> FamilyAsker:
    from cantle.release.answers.family_answers import FamilyAsker  # which imports the kinds of data

    return FamilyAsker(release)


def sentence(accuracy: Accuracy | None, released: int, names: tuple[str, str]) -> str:
    """The accuracy in one sentence."""
    if accuracy is None or not accuracy.bought:
        return SWITCHED_OFF if accuracy is None else TOO_FEW
    parts = rights(accuracy, released, names[1])
    return line(f"The share of {names[0]}", parts) if parts else TOO_FEW


def rights(accuracy: Accuracy, released: int, child: str) -> list[Right]:
    """The measured errors of shares of families: by their own columns, by one child, by two children in a row."""
    from cantle.release.accuracy import WORST_DOUBT, bound_of, noise_scale

    about = (
        f"by their own columns and number of {child}",
        f"with {child} of one kind",
        f"with two {child} in a row of two kinds",
    )
    found = []
    for error, words in zip((accuracy.one_column, accuracy.together, accuracy.apart), about, strict=True):
        if error is not None:
            level = bound_of(error, WORST_DOUBT) / max(1, released)
            found.append(Right(level, words, WORST_DOUBT * noise_scale(error) > level / 2 * released))
    return found


def uses(manifest: Manifest) -> Uses:
    """What linked tables are good for and what they are not good for."""
    names, released = _names(manifest), manifest.summary["records"]
    bad = (
        f"looking up or matching single {names[0]}: they are made up, and so are their keys",
        f"what depends on many {names[1]} of one family at once: each follows its parent, the first and the one before",
    )
    if not released:
        return Uses((f"nothing: no {names[0]} were released",), bad)
    accuracy = manifest.accuracy
    measured = [] if accuracy is None or not accuracy.bought else rights(accuracy, released, names[1])
    if not measured:
        return Uses((f"shares of {names[0]} and of {names[1]}: how far they are off was not measured",), bad)
    return Uses(
        tuple(f"shares of {names[0]} {one.about}: right to ±{points(one.error)} percentage points" for one in measured),
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
        f"noisy counts of {traits_of(manifest).released}.\n"
        "A drawn family may happen to equal a real one, which says nothing about anyone. Keys are new.\n"
        f"One family is all rows of both files that carry one key. {kept[0].upper()}{kept[1:]}{names[0]} has.\n"
        f"Somebody who appears in two families is not protected by this promise in both together."
    )
    listed = "\n".join(
        f"- {printable(one['name'])}: {', '.join(printable(field['name']) for field in _published(one))}"
        for one in _resources(manifest)
    )
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
        (sentence(manifest.accuracy, manifest.summary["records"], names),),
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


KIND = ReleasedKind(
    noun="families",
    record="family",
    records="synthetic families",
    counted="families",
    part="column",
    how="{n} synthetic families of two linked tables, drawn from noisy counts",
    column_types=_column_types,
    write=_write,
    read=_read,
    as_text=_as_text,
    given_back=_given_back,
    asker=_asker,
    uses=lambda release: uses(release.manifest),
    texts=_texts,
)

"""release.json as a type: these classes are the only definition of its fields, and no other form is read.

A release may come from anyone, so every field is checked before it is used. Everything in a manifest is released, and
so public.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path

from cantle.errors import ParameterError, VerifyError, raise_alone
from cantle.methods.own_error.accuracy import Accuracy
from cantle.release.accuracy import accuracy_from, accuracy_to
from cantle.release.document_fields import Document as Document
from cantle.release.document_fields import checked, read, written
from cantle.release.facts import Facts
from cantle.schema.canonical_json import JSON
from cantle.trusted.core.budget import Charge, Unit

FILES = {
    "groups": "groups.parquet",
    "tree": "tree.parquet",
    "marginals": "marginals.parquet",
    "sizes": "sizes.parquet",
    "tables": "tables.parquet",
    "statement": "statement.md",
    "registry": "registry.yaml",
    "datapackage": "datapackage.json",
    "manifest": "release.json",
}
"""The names of the files of a release. Those without a guarantee have a prefix."""

MARK = "NOT-PRIVATE."
"""Prefix of the names of all files without a guarantee: made with a known seed, or with an inferred schema."""

FORMAT = "cantle-release/1"
_MAY_BE_LEFT_OUT = ("author", "form", "notes", "facts", "files", "sha256")


@dataclass(frozen=True, kw_only=True)
class PathCharges:
    """The charges on one kind of path from the whole domain to a leaf, and what they add up to."""

    path: int
    epsilon_nano: int
    charges: tuple[Charge, ...]


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """The receipt: the unit that is protected, and every charge on every kind of path."""

    unit: Unit
    epsilon_nano: int
    paths: tuple[PathCharges, ...]

    def charges(self) -> list[Charge]:
        """The charges of all paths."""
        return [charge for path in self.paths for charge in path.charges]


@dataclass(frozen=True, kw_only=True)
class EarlierRelease:
    """An earlier release of the same data set in the ledger. If it has no hash, it was charged but not saved."""

    sequence: int
    time: str
    method: str
    epsilon_nano: int
    guarantee: str
    sha256: str | None


@dataclass(frozen=True, kw_only=True)
class LedgerLine:
    """The entry of a release in its ledger: the data set, what it has spent up to here, and its earlier releases."""

    dataset: str
    sequence: int
    time: str
    cap_nano: int | None
    spent_nano: int
    earlier: tuple[EarlierRelease, ...]


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """All that a release says about itself.

    `author` says whose partitioning made it, if it is not ours: the address of the class, its package, what it does.
    `facts` are what only the curator knows; they are public input. `form` is the public form of the sets that were
    given (empty for other kinds of data). `notes` are sentences about where the release is too noisy or the data may
    not fit the schema. `accuracy` is how far the records are off, measured privately; None if that was switched off.
    `files` and `sha256` are set when a release is saved: the hash of every other file, and that of release.json
    without this field.
    """

    kind: str
    private: bool
    guarantee: str
    seeded: bool
    epsilon: str
    unit: str
    method: str
    parameters: Document
    schema: dict[str, JSON]
    schema_sha256: str
    receipt: Receipt
    postprocessing: dict[str, int]
    software: dict[str, str]
    summary: dict[str, int]
    structure: Document
    created: str | None
    ledger: LedgerLine | None
    author: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    form: dict[str, str] = field(default_factory=dict)
    accuracy: Accuracy | None = None
    facts: Facts = field(default_factory=Facts)
    files: dict[str, str] = field(default_factory=dict)
    sha256: str = ""

    def to_dict(self) -> dict[str, JSON]:
        """The content of release.json; fields that the release does not have are left out."""
        stated: dict[str, JSON] = {"format": FORMAT} | {name: written(value) for name, value in vars(self).items()}
        stated["facts"] = self.facts.to_dict()
        stated["accuracy"] = None if self.accuracy is None else accuracy_to(self.accuracy)
        return {name: value for name, value in stated.items() if value or name not in _MAY_BE_LEFT_OUT}

    @staticmethod
    def from_dict(document: object) -> Manifest:
        """The manifest in parsed JSON; raises a VerifyError that names the field if one has another form."""
        left = dict(checked(document, dict, "the whole of it"))
        if left.pop("format", None) != FORMAT:
            raise VerifyError(f"release.json is not of the format {FORMAT}")
        accuracy, facts = left.pop("accuracy", None), left.pop("facts", None)
        return read(
            Manifest,
            left,
            accuracy=None if accuracy is None else accuracy_from(accuracy),
            facts=Facts() if facts is None else _facts(facts),
        )


def _facts(document: object) -> Facts:
    try:
        return Facts.from_dict(document)
    except ParameterError as error:
        raise_alone(VerifyError(f"release.json is not of the expected form: {error}"))


# ---- release.json in a folder -------------------------------------------------------------------------------


def mark_of(manifest: Manifest) -> str:
    """Prefix of the names of a release's files, and of files made from it: empty, or NOT-PRIVATE."""
    return "" if manifest.private else MARK


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

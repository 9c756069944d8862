"""release.json as a type: these classes are the only definition of its fields.

`to_dict` returns what is written; `from_dict` reads it back and refuses any other form. A release may come from anyone,
so every field is checked before it is used. Everything in a manifest is released, and so public.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from cantle.errors import ParameterError, VerifyError, raise_alone
from cantle.methods.own_error.accuracy import Accuracy
from cantle.release.accuracy import accuracy_from, accuracy_to
from cantle.release.document_fields import Document as Document
from cantle.release.document_fields import Fields, text
from cantle.release.facts import Facts
from cantle.schema.canonical_json import JSON
from cantle.trusted.core.budget import Charge, Unit

FORMAT = "cantle-release/1"


@dataclass(frozen=True, kw_only=True)
class PathCharges:
    """The charges on one kind of path from the whole domain to a leaf, and what they add up to."""

    path: int
    epsilon_nano: int
    charges: tuple[Charge, ...]

    def to_dict(self) -> dict[str, JSON]:
        charges = [vars(charge) for charge in self.charges]
        return {"path": self.path, "epsilon_nano": self.epsilon_nano, "charges": charges}

    @staticmethod
    def from_dict(document: object, where: str = "path") -> PathCharges:
        fields = Fields(document, where)
        return fields.all_read(
            PathCharges(
                path=fields.take("path", int),
                epsilon_nano=fields.take("epsilon_nano", int),
                charges=tuple(fields.each("charges", _charge)),
            )
        )


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """The receipt: the unit that is protected, and every charge on every kind of path."""

    unit: Unit
    epsilon_nano: int
    paths: tuple[PathCharges, ...]

    def charges(self) -> list[Charge]:
        """The charges of all paths."""
        return [charge for path in self.paths for charge in path.charges]

    def to_dict(self) -> dict[str, JSON]:
        paths = [path.to_dict() for path in self.paths]
        return {"unit": vars(self.unit), "epsilon_nano": self.epsilon_nano, "paths": paths}

    @staticmethod
    def from_dict(document: object, where: str = "receipt") -> Receipt:
        fields = Fields(document, where)
        return fields.all_read(
            Receipt(
                unit=_unit(fields.take("unit", dict), f"{where}.unit"),
                epsilon_nano=fields.take("epsilon_nano", int),
                paths=tuple(fields.each("paths", PathCharges.from_dict)),
            )
        )


@dataclass(frozen=True, kw_only=True)
class EarlierRelease:
    """An earlier release of the same data set in the ledger. If it has no hash, it was charged but not saved."""

    sequence: int
    time: str
    method: str
    epsilon_nano: int
    guarantee: str
    sha256: str | None

    def to_dict(self) -> dict[str, JSON]:
        return dict(vars(self))

    @staticmethod
    def from_dict(document: object, where: str = "earlier release") -> EarlierRelease:
        fields = Fields(document, where)
        return fields.all_read(
            EarlierRelease(
                sequence=fields.take("sequence", int),
                time=fields.take("time", str),
                method=fields.take("method", str),
                epsilon_nano=fields.take("epsilon_nano", int),
                guarantee=fields.take("guarantee", str),
                sha256=fields.take_or_none("sha256", str),
            )
        )


@dataclass(frozen=True, kw_only=True)
class LedgerLine:
    """The entry of a release in its ledger: the data set, what it has spent up to here, and its earlier releases."""

    dataset: str
    sequence: int
    time: str
    cap_nano: int | None
    spent_nano: int
    earlier: tuple[EarlierRelease, ...]

    def to_dict(self) -> dict[str, JSON]:
        return vars(self) | {"earlier": [release.to_dict() for release in self.earlier]}

    @staticmethod
    def from_dict(document: object, where: str = "ledger") -> LedgerLine:
        fields = Fields(document, where)
        return fields.all_read(
            LedgerLine(
                dataset=fields.take("dataset", str),
                sequence=fields.take("sequence", int),
                time=fields.take("time", str),
                cap_nano=fields.take_or_none("cap_nano", int),
                spent_nano=fields.take("spent_nano", int),
                earlier=tuple(fields.each("earlier", EarlierRelease.from_dict)),
            )
        )


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
    structure: Document = field(default_factory=dict)
    author: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    form: dict[str, str] = field(default_factory=dict)
    created: str | None = None
    ledger: LedgerLine | None = None
    accuracy: Accuracy | None = None
    facts: Facts = field(default_factory=Facts)
    files: dict[str, str] = field(default_factory=dict)
    sha256: str = ""

    def to_dict(self) -> dict[str, JSON]:
        """The content of release.json; fields that the release does not have are left out."""
        stated: dict[str, JSON] = {"format": FORMAT} | vars(self) | {"receipt": self.receipt.to_dict()}
        stated["notes"], stated["facts"] = list(self.notes), self.facts.to_dict()
        stated["accuracy"] = None if self.accuracy is None else accuracy_to(self.accuracy)
        stated["ledger"] = None if self.ledger is None else self.ledger.to_dict()
        optional = ("author", "form", "notes", "facts", "files", "sha256")
        return {name: value for name, value in stated.items() if value or name not in optional}

    @staticmethod
    def from_dict(document: object) -> Manifest:
        """The manifest in parsed JSON; raises a VerifyError that names the field if one has another form."""
        fields = Fields(document, "")
        if fields.take("format", str) != FORMAT:
            raise VerifyError(f"release.json is not of the format {FORMAT}")
        ledger = fields.take_or_none("ledger", dict)
        accuracy = fields.take_or_none("accuracy", dict) if "accuracy" in fields else None
        return fields.all_read(
            Manifest(
                kind=fields.take("kind", str),
                private=fields.take("private", bool),
                guarantee=fields.take("guarantee", str),
                seeded=fields.take("seeded", bool),
                epsilon=fields.take("epsilon", str),
                unit=fields.take("unit", str),
                method=fields.take("method", str),
                parameters=fields.take("parameters", dict),
                schema=fields.take("schema", dict),
                schema_sha256=fields.take("schema_sha256", str),
                receipt=Receipt.from_dict(fields.take("receipt", dict)),
                postprocessing=fields.table("postprocessing", int),
                software=fields.table("software", str),
                summary=fields.table("summary", int),
                structure=fields.take("structure", dict),
                author=fields.table("author", str, or_empty=True),
                notes=tuple(fields.each("notes", text)) if "notes" in fields else (),
                form=fields.table("form", str, or_empty=True),
                created=fields.take_or_none("created", str),
                ledger=None if ledger is None else LedgerLine.from_dict(ledger),
                accuracy=None if accuracy is None else accuracy_from(accuracy),
                facts=_facts(fields.take("facts", dict)) if "facts" in fields else Facts(),
                files=fields.table("files", str, or_empty=True),
                sha256=fields.take("sha256", str) if "sha256" in fields else "",
            )
        )


def _facts(document: object) -> Facts:
    try:
        return Facts.from_dict(document)
    except ParameterError as error:
        raise_alone(VerifyError(f"release.json is not of the expected form: {error}"))


def _charge(document: object, where: str) -> Charge:
    fields = Fields(document, where)
    return fields.all_read(
        Charge(
            why=fields.take("why", str),
            verb=fields.take("verb", str),
            epsilon_nano=fields.take("epsilon_nano", int),
            sensitivity=fields.take("sensitivity", int),
            depth=fields.take("depth", int),
        )
    )


def _unit(document: object, where: str) -> Unit:
    fields = Fields(document, where)
    try:
        return fields.all_read(Unit(fields.take("max_records", int), fields.take("kind", str)))
    except ParameterError as error:
        raise_alone(VerifyError(f"release.json is not of the expected form: {where}: {error}"))

"""The folder of a project: a schema, cantle.toml, a ledger and releases, as the commands read and write them.

Everything that a person decides in the studio is in these files, so a reload, the back button or a second tab lose
nothing. In cantle.toml single keys are changed; all other lines, comments included, stay as they were.

The schema is edited one column at a time, so that two tabs do not undo each other's work. It is written as readable
YAML: one line per column, and quotes around texts that a parser could take for another type.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cantle.data.draft_schema.tables import flow
from cantle.errors import CantleError, OutputError, ParameterError, SchemaError, raise_alone
from cantle.schema import DEFAULT, PACKAGE, Schema
from cantle.schema.declared_values import BLANK
from cantle.schema.documents import parse_document, with_lines

Value = str | int


def with_keys(text: str, values: dict[str, Value | None]) -> str:
    """The text with these keys set, before its first table; None removes a key.

    >>> print(with_keys('# ours\\nepsilon = "1"  # yes\\n', {"epsilon": "2", "dataset": "people"}), end="")
    # ours
    epsilon = "2"
    dataset = "people"
    """
    lines = text.splitlines()
    end = next((number for number, line in enumerate(lines) if line.lstrip().startswith("[")), len(lines))
    top = lines[:end]
    for key, value in values.items():
        top = _with_key(top, key, value)
    if lines[end:] and top and top[-1].strip():
        top.append("")  # before the next table
    edited = [*top, *lines[end:]]
    return "\n".join(edited) + "\n" if edited else ""


def _with_key(lines: list[str], key: str, value: Value | None) -> list[str]:
    numbers = [number for number, line in enumerate(lines) if re.match(rf"\s*{re.escape(key)}\s*=", line)]
    new = [] if value is None else [f"{key} = {_written(value)}"]
    if numbers:
        return [*lines[: numbers[0]], *new, *lines[numbers[0] + 1 :]]
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    return [*lines[:end], *new, *lines[end:]]


def _written(value: Value) -> str:
    """A value in TOML. JSON's escapes are valid there, except that TOML requires DEL to be escaped as well."""
    return str(value) if isinstance(value, int) else json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


SETTINGS = "cantle.toml"
OWN = "studio.toml"
SCHEMA = "schema.yaml"
LEDGER = "ledger.db"
MANIFESTS = ("release.json", "NOT-PRIVATE.release.json")


@dataclass(frozen=True)
class Settings:
    """The settings of a project. cantle.toml holds those that commands read; studio.toml holds the rest (data, kind,
    records), which commands take only as arguments."""

    schema: str = SCHEMA
    ledger: str = ""
    dataset: str = ""
    epsilon: str = ""
    data: str = ""
    kind: str = "table"
    records: int | None = None


class Project:
    """The files of one project."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()

    @property
    def settings(self) -> Settings:
        """The settings as they are now."""
        read, own = self._read(SETTINGS), self._read(OWN)
        given = {name: read.get(name) for name in ("schema", "ledger", "dataset", "epsilon")}
        given |= {name: own.get(name) for name in ("data", "kind")}
        words = {name: word for name, value in given.items() if (word := _word(value))}
        records = own.get("records")
        return Settings(**words, records=records if isinstance(records, int) and records > 0 else None)

    def _read(self, name: str) -> dict[str, object]:
        try:
            text = (self.folder / name).read_text(encoding="utf-8")
            return tomllib.loads(text, parse_float=str)  # budgets are exact decimals
        except FileNotFoundError:
            return {}
        except (tomllib.TOMLDecodeError, UnicodeDecodeError):
            raise_alone(ParameterError(f"{name} is not valid TOML; correct it in an editor, or remove it"))
        except OSError as error:
            raise_alone(OutputError(f"cannot read {name}: {error.strerror}"))

    def set(self, **values: Value | None) -> None:
        """Writes settings of the commands."""
        self._edit(SETTINGS, values)

    def set_own(self, **values: Value | None) -> None:
        """Writes settings of the studio."""
        self._edit(OWN, values)

    def _edit(self, name: str, values: dict[str, Value | None]) -> None:
        self._read(name)  # a file that is not TOML is left alone
        place = self.folder / name
        before = place.read_text(encoding="utf-8") if place.exists() else ""
        after = with_keys(before, values)
        if after != before:
            write(place, after)

    @property
    def schema_file(self) -> Path:
        return self.folder / self.settings.schema

    def path_of(self, name: str) -> Path:
        """The path of a file, given the name that a command in the folder would use."""
        return self.folder / name

    def name_of(self, path: Path) -> str:
        """The name that a command in the folder would use for a file."""
        path = Path(os.path.abspath(path))
        if not path.is_relative_to(self.folder):
            return str(path)
        name = str(path.relative_to(self.folder))
        return f"./{name}" if name.startswith("-") else name  # otherwise a command would take it for an option

    def ledger(self) -> str:
        """The ledger as `Ledger` takes it: a full path, or a URL; empty if there is none."""
        named = self.settings.ledger
        return named if "://" in named or not named else str(self.folder / named)

    def releases(self) -> dict[str, Path]:
        """The finished releases in the folder, by name, the newest last."""
        folders = [folder for folder in self.folder.iterdir() if is_release(folder)]
        return {one.name: one for one in sorted(folders, key=lambda one: (one.stat().st_mtime, one.name))}

    def free_release(self) -> str:
        """A name for the next release."""
        number, name = 1, "release"
        while (self.folder / name).exists():
            number += 1
            name = f"release-{number}"
        return name


def is_release(folder: Path) -> bool:
    """Whether a folder holds a finished release."""
    return folder.is_dir() and any((folder / name).is_file() for name in MANIFESTS)


def write(place: Path, text: str) -> None:
    """Writes a file, completely or not at all."""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{place.name}.", dir=place.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
            os.chmod(name, 0o644 if not place.exists() else place.stat().st_mode & 0o777)
            os.replace(name, place)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        raise_alone(OutputError(f"cannot write {place.name}: {error.strerror}"))


def _word(value: object) -> str:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


@dataclass(frozen=True)
class StudioKind:
    """The words and pages for one kind of data."""

    line: tuple[str, str, str] = ("", "", "")
    """What one line of a file holds; the second of the three texts is emphasised."""
    question: str = ""
    """An example of a question about a release."""
    unit: str = ""
    """What the unit is, if it is declared in the schema only; empty if the page has boxes for it."""
    has_boxes: bool = False
    """Whether a schema has boxes for its columns; otherwise it is edited as text."""


KINDS = {
    "table": StudioKind(
        ("A record of a ", "table", " with columns"),
        question="age >= 65 and region == 'North'",
        has_boxes=True,
    ),
    "sets": StudioKind(
        ("A ", "set of items", " (a basket, visited pages), or one item of a set (order, product)"),
        question="contains 'bread'",
    ),
    "sequences": StudioKind(
        ("A ", "sequence of symbols", " (a click path, a trip), or one event of one (case, time, activity)"),
        question="contains 'home > news' and length >= 3",
    ),
    "graph": StudioKind(
        ("An ", "edge", " of a graph: who is connected to whom"),
        question="degree >= 10",
        unit="For a graph, the unit (a node with its edges, or one edge) is in the schema.",
    ),
    "families": StudioKind(
        ("Two ", "linked tables", " of a data package: parents, and children with their parent's key"),
        question="number_of_persons >= 5",
        unit="For linked tables, the unit (one family, with at most so many children) is in the package.",
    ),
}

UNKNOWN = StudioKind()
"""For a schema file with a kind that does not exist, until somebody corrects it."""


WIDTH = 118


def schema_text(document: Mapping[str, object], intro: str = "") -> str:
    """A schema as YAML, after its introduction (lines of comments).

    >>> print(schema_text({"fields": [{"name": "age", "constraints": {"minimum": 0}}], "title": "no"}), end="")
    fields:
      - {name: "age", constraints: {minimum: 0}}
    title: "no"
    """
    lines = []
    for key, value in document.items():
        if key == "fields" and isinstance(value, Sequence) and not isinstance(value, str):
            lines.append("fields:")
            for entry in value:
                lines += field_lines(entry)
        else:
            lines += _pair(key, value, "")
    return intro + "\n".join(lines) + "\n"


def field_lines(entry: object) -> list[str]:
    """A column: on one line, or with one line per key if that is too long."""
    short = f"  - {flow(entry)}"
    if len(short) <= WIDTH or not isinstance(entry, Mapping):
        return [short]
    lines = [line for key, value in entry.items() for line in _pair(key, value, "    ")]
    return ["  - " + lines[0].lstrip(), *lines[1:]]


def _pair(key: object, value: object, indent: str) -> list[str]:
    line = indent + flow({key: value})[1:-1]
    if len(line) <= WIDTH or not isinstance(value, list):
        return [line]
    lines, current = [indent + flow({key: []})[1:-2]], f"{indent}  "
    for one in value:
        word = f"{flow(one)}, "
        if len(current) + len(word) > WIDTH and current.strip():
            lines.append(current.rstrip())
            current = f"{indent}  "
        current += word
    return [*lines, current.rstrip().removesuffix(","), f"{indent}]"]


_OTHER = {"name": "another column of the table", "type": "boolean"}


class SchemaFile:
    """A schema as its file is now: its text, and its content if the text can be parsed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.is_json = path.name.lower().endswith(".json")
        self.exists = path.is_file()
        self.text = path.read_text(encoding="utf-8-sig", errors="replace") if self.exists else ""
        self.document: dict[str, object] = {}
        self.unreadable = ""
        if self.exists:
            try:
                self.document = self._parsed(self.text)
            except SchemaError as error:
                self.unreadable = str(error)

    def _parsed(self, text: str) -> dict[str, object]:
        parsed = parse_document(text, f"schema {self.path.name!r}", self.is_json)
        return dict(parsed) if isinstance(parsed, Mapping) else {}

    @property
    def kind(self) -> StudioKind:
        kind = self.document.get("kind", PACKAGE if "resources" in self.document else DEFAULT)
        return KINDS.get(kind, UNKNOWN) if isinstance(kind, str) else KINDS[DEFAULT]

    @property
    def columns(self) -> list[dict[str, object]]:
        """The declared columns of a table."""
        listed = self.document.get("fields")
        return [dict(one) for one in listed if isinstance(one, Mapping)] if isinstance(listed, list) else []

    @property
    def has_names(self) -> bool:
        """Whether the names of columns come from the file's header, so that they cannot be changed here."""
        dialect = self.document.get("dialect")
        return not (isinstance(dialect, Mapping) and dialect.get("header") is False)

    def load(self) -> Schema:
        """The schema; raises SchemaError."""
        return Schema.load(self.path)

    def problem(self) -> str:
        """What is wrong with the whole schema; empty if nothing is."""
        if not self.exists:
            return "there is no schema yet"
        return self.unreadable or self.problem_of_text(self.text)

    def problem_of(self, document: Mapping[str, object]) -> str:
        """What is wrong with a document, in the words of the commands."""
        try:
            Schema.from_dict(document, base_dir=self.path.parent)
        except CantleError as error:
            return str(error)
        return ""

    def problem_of_text(self, text: str) -> str:
        """What is wrong with a text, with its lines."""
        try:
            document = self._parsed(text)
        except SchemaError as error:
            return str(error)  # no YAML or JSON, so it has no keys whose lines could be found
        try:
            Schema.from_dict(document, base_dir=self.path.parent)
        except SchemaError as error:
            return str(with_lines(error, f"schema {self.path.name!r}", text))
        return ""

    def problem_of_column(self, entry: Mapping[str, object]) -> str:
        """What is wrong with one column by itself."""
        if entry.get("type") == BLANK and entry.get("role") != "identifier":
            return "choose a type, or the role identifier"
        around = {key: value for key, value in self.document.items() if key in ("missingValues", "dialect")}
        return self.problem_of({**around, "fields": [entry, _OTHER]})

    def save_column(self, number: int, entry: Mapping[str, object]) -> None:
        """Writes one column (numbered from 0)."""
        columns: list[object] = list(self.columns)
        columns[number] = entry
        self.save({**self.document, "fields": columns})

    def save(self, document: Mapping[str, object]) -> None:
        """Writes the whole schema; the comments at its beginning stay."""
        if self.is_json:
            write(self.path, json.dumps(document, indent=1, ensure_ascii=False) + "\n")
            return
        lines = self.text.splitlines(keepends=True)
        first = next((n for n, line in enumerate(lines) if line.strip() and not line.startswith("#")), len(lines))
        write(self.path, schema_text(document, "".join(lines[:first])))

    def save_text(self, text: str) -> None:
        """Writes the file as it was typed."""
        write(self.path, text if text.endswith("\n") else text + "\n")


def stamp(value: object) -> str:
    """A short hash of what a form showed; comparing it later shows whether the file was changed meanwhile."""
    return hashlib.sha256(flow(value).encode("utf-8", "replace")).hexdigest()[:16]

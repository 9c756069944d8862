"""The folder of a project: a schema, cantle.toml, a ledger and releases, as the commands read and write them.

Everything that a person decides in the studio is in these files, so a reload, the back button or a second tab lose
nothing. In cantle.toml single keys are changed; all other lines, comments included, stay as they were.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

from cantle.errors import OutputError, ParameterError, raise_alone

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
        records = own.get("records")
        return Settings(
            schema=_word(read.get("schema")) or SCHEMA,
            ledger=_word(read.get("ledger")),
            dataset=_word(read.get("dataset")),
            epsilon=_word(read.get("epsilon")),
            data=_word(own.get("data")),
            kind=_word(own.get("kind")) or "table",
            records=records if isinstance(records, int) and records > 0 else None,
        )

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

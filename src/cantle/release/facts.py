"""Public facts about a release that only its curator knows: who publishes, why, on which ground, under which licence.

They come from `cantle.toml` or a file of their own, stand in release.json, and fill in the statement, the registry's
entry and the metadata for deposits. They are public input: cantle reads no private record to write or check them.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import date
from pathlib import Path
from typing import Any

import yaml

from cantle.errors import ParameterError, raise_alone
from cantle.schema.canonical_json import JSON
from cantle.trusted.core.budget import nano_of, words_of

LONGEST = 2_000
"""Characters that one fact may have."""

SECTORS = ("Technology", "Healthcare", "Education", "Government", "Energy", "Finance")
"""The sectors that the registry of deployments knows."""


@dataclass(frozen=True, kw_only=True)
class Previous:
    """An earlier release from the same data, as the curator states it."""

    what: str
    epsilon: str
    date: str = ""

    def __str__(self) -> str:
        said = f"{self.what}, epsilon {self.epsilon}"
        return f"{self.date}: {said}" if self.date else said


@dataclass(frozen=True, kw_only=True)
class Facts:
    """The facts; each may be left out. Texts are single lines.

    Attributes
    ----------
    title, description : str
        What the data is about.
    curator : tuple of str
        Who publishes: an organisation, or several.
    contact : str
        Whom readers, and people in the data, may ask.
    purpose, legal_basis : str
        Why the data is published, and on which ground.
    period, region, sector : str
        When and where the data was collected, and one of SECTORS.
    licence : str
        The terms of use, as an SPDX name such as CC-BY-4.0, or as an address.
    version, identifier, source : str
        The version of the release, its DOI, and the address where it can be had.
    keywords : tuple of str
        Words by which it can be found.
    access, retention : str
        Who could see the private data, and how long it is kept.
    epsilon_reason : str
        How epsilon was chosen.
    actors, plans : str
        Who takes part in the deployment, and which further releases are planned.
    previous : tuple of Previous
        Releases from the same data that are not in the ledger.
    """

    title: str = ""
    description: str = ""
    curator: tuple[str, ...] = ()
    contact: str = ""
    purpose: str = ""
    legal_basis: str = ""
    period: str = ""
    region: str = ""
    sector: str = ""
    licence: str = ""
    version: str = ""
    identifier: str = ""
    source: str = ""
    keywords: tuple[str, ...] = ()
    access: str = ""
    retention: str = ""
    epsilon_reason: str = ""
    actors: str = ""
    plans: str = ""
    previous: tuple[Previous, ...] = ()

    def to_dict(self) -> dict[str, JSON]:
        """The facts that are there, as in release.json."""
        listed = [{name: value for name, value in vars(one).items() if value} for one in self.previous]
        stated = {
            name: list(value) if isinstance(value, tuple) else value for name, value in vars(self).items() if value
        }
        return stated | ({"previous": listed} if listed else {})

    @staticmethod
    def from_dict(document: object, where: str = "facts") -> Facts:
        """The facts of a mapping; raises a ParameterError that names what is wrong."""
        if not isinstance(document, Mapping):
            raise ParameterError(f"{where}: this is not a mapping of names to texts; write title: …")
        known = {one.name: one.default for one in fields(Facts)}
        for name in document:
            if name not in known:
                raise ParameterError(f"{where}: {name!r} is not known; use {', '.join(known)}")
        made: dict[str, Any] = {
            name: _list(name, value, where) if known[name] == () else _text(name, value, where)
            for name, value in document.items()
        }
        if made.get("sector", SECTORS[0]) not in SECTORS:
            raise ParameterError(f"{where}: sector is not one of {', '.join(SECTORS)}")
        return Facts(**made)


def facts_from(given: Facts | Mapping[str, object] | str | os.PathLike[str] | None) -> Facts:
    """The facts, from a mapping or from a YAML, JSON or TOML file."""
    if given is None or isinstance(given, Facts):
        return given or Facts()
    if isinstance(given, Mapping):
        return Facts.from_dict(given)
    path = Path(given)
    try:
        text = path.read_text(encoding="utf-8")
        document = tomllib.loads(text, parse_float=str) if path.suffix == ".toml" else yaml.safe_load(text)
    except (OSError, UnicodeDecodeError):
        raise_alone(ParameterError(f"{path} cannot be read as UTF-8 text; check the name and its permissions"))
    except (yaml.YAMLError, tomllib.TOMLDecodeError):
        raise_alone(ParameterError(f"{path} is not valid {'TOML' if path.suffix == '.toml' else 'YAML'}"))
    return Facts.from_dict(document, str(path))


def _text(name: str, value: object, where: str) -> str:
    if isinstance(value, date) or (isinstance(value, int | float) and not isinstance(value, bool)):
        value = str(value)
    if not isinstance(value, str) or not value.strip():
        raise ParameterError(f'{where}: {name} is not a text; write {name}: "…", or leave it out')
    line = " ".join(value.split())
    if len(line) > LONGEST or not line.isprintable():
        raise ParameterError(f"{where}: {name} has more than {LONGEST:,} characters, or some that do not print")
    return line


def _list(name: str, value: object, where: str) -> tuple[str | Previous, ...]:
    listed = value if isinstance(value, list | tuple) else [value]
    one = _previous if name == "previous" else _text
    return tuple(one(name, entry, where) for entry in listed)


def _previous(name: str, value: object, where: str) -> Previous:
    if not isinstance(value, Mapping) or not {"what", "epsilon"} <= value.keys() <= {"what", "epsilon", "date"}:
        raise ParameterError(f"{where}: each entry of {name} has what, epsilon and, if known, date")
    told = {key: _text(f"{name}.{key}", part, where) for key, part in value.items()}
    return Previous(**told | {"epsilon": words_of(nano_of(told["epsilon"]))})

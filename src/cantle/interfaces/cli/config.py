"""Values of options: `cantle.toml` in the working folder, the environment variable CANTLE_LEDGER, and --set key=value.

An option on the command line takes precedence over `cantle.toml`, and `cantle.toml` over the environment.

    schema = "schema.yaml"
    epsilon = 0.5
    out = "release"
    ledger = "ledger.db"
    dataset = "patients"
    [statement]
    curator = "Example Health Office"

The table `statement` has the public facts for the statement (docs/reference.md, facts).
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, overload

from cantle.errors import ParameterError, raise_alone

if TYPE_CHECKING:
    from cantle.release.facts import Facts

FILE = "cantle.toml"
LEDGER_VARIABLE = "CANTLE_LEDGER"
KEYS = ("schema", "epsilon", "method", "out", "engine", "memory", "table", "format", "ledger", "dataset")
STATEMENT = "statement"
"""The table of public facts."""


def defaults() -> dict[str, str]:
    """The values of options that `cantle.toml` and the environment set, by key."""
    values = {"ledger": os.environ[LEDGER_VARIABLE]} if os.environ.get(LEDGER_VARIABLE) else {}
    for key, value in _document().items():
        if key == STATEMENT:
            continue
        if key not in KEYS:
            raise ParameterError(f"{FILE}: key {key!r} is not known; use {', '.join((*KEYS, STATEMENT))}")
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise ParameterError(f'{FILE}: {key} is neither a text nor a number; write {key} = "…"')
        values[key] = str(value)
    return values


def _document() -> dict[str, object]:
    """What `cantle.toml` says; nothing if there is none."""
    path = Path(FILE)
    if not path.exists():
        return {}
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"), parse_float=str)  # budgets are exact decimals
    except tomllib.TOMLDecodeError as broken:
        raise_alone(ParameterError(f"{FILE} is not valid TOML: {broken}"))
    except (OSError, ValueError):
        raise_alone(ParameterError(f"{FILE} cannot be read as UTF-8 text; check it and its permissions"))


def public_facts(option: Path | None) -> Facts:
    """The facts for the statement: from the file of the option, else from the table `statement` of `cantle.toml`."""
    from cantle.release.facts import Facts, facts_from

    if option is not None:
        return facts_from(option)
    return Facts.from_dict(_document().get(STATEMENT, {}), f"{FILE}: [{STATEMENT}]")


@overload
def chosen(option: str | None, key: str) -> str | None: ...
@overload
def chosen(option: str | None, key: str, otherwise: str) -> str: ...
def chosen(option: str | None, key: str, otherwise: str | None = None) -> str | None:
    """The value of an option: as given, else from `cantle.toml` or the environment, else `otherwise`."""
    return option if option is not None else defaults().get(key, otherwise)


def needed(option: str | Path | None, key: str, flag: str) -> str:
    """The same for an option that a command needs; raises a ParameterError if it has no value."""
    value = chosen(None if option is None else str(option), key)
    if value is None:
        first = "; `cantle init DATA -o schema.yaml` drafts one" if key == "schema" else ""
        raise ParameterError(f'{flag} is missing; give it, or write {key} = "…" in {FILE}{first}')
    return value


PACKAGES = (".yaml", ".yml", ".json")
"""The endings of data packages, which name their data themselves."""


def schema_for(data: str, option: Path | None) -> str:
    """The schema of the data: as given, or the data package itself; else from `cantle.toml`."""
    if option is None and data.lower().endswith(PACKAGES):
        return data
    return needed(option, "schema", "--schema")


Scalar = str | int | float | bool | None


def settings_of(pairs: list[str], preset: str) -> dict[str, Scalar]:
    """The preset, and the settings in a list of key=value pairs; each value is read as a YAML scalar."""
    import yaml

    settings: dict[str, Scalar] = {"preset": preset}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.isidentifier():
            raise ParameterError(f"--set takes key=value, got {pair!r}; for example --set depth=6")
        if key == "preset":
            raise ParameterError("--set preset: this is an option of its own; write --preset NAME")
        try:
            parsed = yaml.safe_load(value)
        except yaml.YAMLError:
            raise_alone(ParameterError(f"--set {key}: the value is not a YAML scalar"))
        if isinstance(parsed, dict | list):
            raise ParameterError(f"--set {key}: the value is not a YAML scalar")
        settings[key] = parsed
    return settings

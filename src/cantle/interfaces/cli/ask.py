"""Questions about the columns of a table, for `cantle init --ask`. They show names of columns; no value is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import typer

from cantle.errors import SchemaError
from cantle.schema.canonical_json import JSON
from cantle.schema.code_books.columns import number_of
from cantle.schema.declared_values import BLANK

_KINDS = {
    "i": "integer",
    "n": "number",
    "c": "string",
    "b": "boolean",
    "d": "date",
    "t": "datetime",
    "x": "identifier",
    "": BLANK,
}
_HELP = "i integer, n number, c categories, b boolean, d date, t datetime, x identifier (never published), empty: later"
_LETTERS = {word: letter for letter, word in _KINDS.items()} | {"categories": "c", "string": "c"}


def ask_about(columns: Sequence[tuple[str, str | None]]) -> list[dict[str, JSON]]:
    """The entries of a schema from the user's answers; each is checked at once, and asked for again if it is wrong."""
    entries = []
    typer.echo(f"Answer from what could occur, never from the data. Types: {_HELP}.", err=True)
    for number, (name, kind) in enumerate(columns, 1):
        entries.append(_ask_until_right(f"{name} ({number} of {len(columns)})", name, kind))
    listed = [entry for entry in entries if "categories" in entry or "hierarchy" in entry]
    wanted = _ask("Which column should a classifier predict? (empty: none)", "") if listed else ""
    for entry in listed:
        if entry["name"] == wanted:
            entry["role"] = "target"
    return entries


def _ask(text: str, default: str | None = None) -> str:
    more: dict[str, Any] = {} if default is None else {"default": default, "show_default": bool(default)}
    return str(typer.prompt(text, err=True, **more)).strip()


def _ask_until_right(title: str, name: str, kind: str | None) -> dict[str, JSON]:
    """The schema entry of a column; asks again until its parser accepts it, or it has blanks."""
    from cantle.schema.field_parser import parse_field

    while True:
        entry = _ask_once(title, name, kind)
        if BLANK in entry.values():
            return entry
        try:
            parse_field(entry, 1, ("",))
        except SchemaError as error:
            if "hierarchy" in entry and "there is no file" in str(error):  # it may be in the schema's future folder
                return entry
            typer.echo(f"{error}\nOnce more:", err=True)
        else:
            return entry


def _ask_once(title: str, name: str, kind: str | None) -> dict[str, JSON]:
    """The schema entry of a column from one round of questions."""
    letter = _ask(f"{title}: type", _LETTERS.get(kind or "", "")).lower()
    chosen = _KINDS.get(_LETTERS.get(letter, letter))
    if chosen is None:
        typer.echo(_HELP, err=True)
        return _ask_once(title, name, kind)
    if chosen == "identifier":
        return {"name": name, "role": "identifier"}
    entry: dict[str, JSON] = {"name": name, "type": chosen}
    constraints: dict[str, JSON] = {}
    if chosen == "string":
        entry |= _categories(_ask("  every value that could occur, separated by commas, or a hierarchy file (job.csv)"))
    elif chosen not in ("boolean", BLANK):
        constraints["minimum"] = number_of(_ask("  lowest value that could occur"))
        constraints["maximum"] = number_of(_ask("  highest value that could occur"))
        if chosen in ("number", "datetime"):
            example = "0.1" if chosen == "number" else "15min"
            entry["step"] = number_of(_ask(f"  precision worth keeping, such as {example}"))
    if chosen != BLANK:
        may = _ask("  may it be missing? (yes or no; with no, records without it are dropped)", "yes").lower()
        constraints |= {"required": True} if may in ("no", "n") else {}
    return {**entry, "constraints": constraints} if constraints else entry


def _categories(answer: str) -> dict[str, JSON]:
    """The schema entry for an answer: a hierarchy file, or categories separated by commas."""
    if "," not in answer and answer.lower().endswith((".csv", ".txt", ".hchy", ".hrc", ".yaml", ".yml", ".json")):
        return {"hierarchy": answer}
    return {"categories": [one.strip() for one in answer.split(",") if one.strip()]}

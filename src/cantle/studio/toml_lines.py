"""Edits of single keys in a TOML file; every other line, with its comments, stays as people wrote it."""

from __future__ import annotations

import json
import re

Value = str | int


def with_keys(text: str, values: dict[str, Value | None], table: str = "") -> str:
    """The text with these keys set in a table (the top one has no name); None takes a key out.

    >>> print(with_keys('# ours\\nepsilon = "1"  # yes\\n', {"epsilon": "2", "dataset": "people"}), end="")
    # ours
    epsilon = "2"
    dataset = "people"
    >>> print(with_keys('a = "x"\\n', {"data": "p.csv"}, "studio"), end="")
    a = "x"
    <BLANKLINE>
    [studio]
    data = "p.csv"
    """
    lines = text.splitlines()
    start, end = _bounds(lines, table)
    if start is None:
        if all(value is None for value in values.values()):
            return text
        lines += [*([""] if lines and lines[-1].strip() else []), f"[{table}]"]
        start = end = len(lines)
    inside = lines[start:end]
    for key, value in values.items():
        inside = _with_key(inside, key, value)
    if lines[end:] and inside and inside[-1].strip():
        inside.append("")  # before the next table
    made = [*lines[:start], *inside, *lines[end:]]
    return "\n".join(made) + "\n" if made else ""


def _bounds(lines: list[str], table: str) -> tuple[int | None, int]:
    """The lines of a table, after its heading."""
    heads = [number for number, line in enumerate(lines) if line.lstrip().startswith("[")]
    if not table:
        return 0, heads[0] if heads else len(lines)
    for place, number in enumerate(heads):
        if lines[number].split("#")[0].strip() == f"[{table}]":
            return number + 1, heads[place + 1] if place + 1 < len(heads) else len(lines)
    return None, len(lines)


def _with_key(lines: list[str], key: str, value: Value | None) -> list[str]:
    found = [number for number, line in enumerate(lines) if re.match(rf"\s*{re.escape(key)}\s*=", line)]
    new = [] if value is None else [f"{key} = {_written(value)}"]
    if found:
        return [*lines[: found[0]], *new, *lines[found[0] + 1 :]]
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    return [*lines[:end], *new, *lines[end:]]


def _written(value: Value) -> str:
    """A value as TOML has it: JSON's escapes are TOML's, except that TOML escapes DEL as well."""
    return str(value) if isinstance(value, int) else json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")

"""Edits of single keys in a TOML file; all other lines, comments included, stay as they were."""

from __future__ import annotations

import json
import re

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

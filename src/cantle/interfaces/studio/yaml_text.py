"""Schemas as readable YAML: one line per column, and quotes around texts that a parser could take for another type."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

WIDTH = 118
_WORD = re.compile(r"[A-Za-z][A-Za-z_]*")
_MISREAD = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}  # booleans and null in some version of YAML


def schema_text(document: Mapping[str, object], intro: str = "") -> str:
    """A schema as YAML, after its introduction (lines of comments).

    >>> print(schema_text({"fields": [{"name": "age", "constraints": {"minimum": 0}}], "title": "no"}), end="")
    fields:
      - {name: age, constraints: {minimum: 0}}
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
    line = f"{indent}{flow(key)}: {flow(value)}"
    if len(line) <= WIDTH or not isinstance(value, list | tuple):
        return [line]
    lines, current = [f"{indent}{flow(key)}: ["], f"{indent}  "
    for one in value:
        word = f"{flow(one)}, "
        if len(current) + len(word) > WIDTH and current.strip():
            lines.append(current.rstrip())
            current = f"{indent}  "
        current += word
    return [*lines, current.rstrip().removesuffix(","), f"{indent}]"]


def flow(value: object) -> str:
    """A value on one line.

    >>> flow({"categories": ["Graz", "no", "1e5", "a: b"], "step": 0.5, "required": True})
    '{categories: [Graz, "no", "1e5", "a: b"], step: 0.5, required: true}'
    """
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{flow(key)}: {flow(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(flow, value)) + "]"
    if isinstance(value, str):
        plain = _WORD.fullmatch(value) is not None and value.lower() not in _MISREAD
        return value if plain else _quoted(value)
    return json.dumps(value, ensure_ascii=False)


def _quoted(text: str) -> str:
    """JSON's quotes, with escapes for the characters that YAML does not allow in a file."""
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(one if one.isprintable() else f"\\U{ord(one):08x}" for one in quoted)

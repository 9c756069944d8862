"""Rewriting of those cells of an Excel file at which the reading library would fail.

The library reads some of Excel's errors (#DIV/0!), but refuses the whole file if one cell has another error (#SPILL!);
it also panics at a date of a hundred billion days before 1900. One record must not decide whether a file is read
(docs/privacy.md, cleaning). So a cell with an error becomes an empty cell, and such a number becomes text. All other
cells stay as they are.
"""

from __future__ import annotations

import re
import zipfile
from io import BytesIO
from pathlib import Path

_LEAST = -1e11  # days; the library counts milliseconds in 64 bits
_SHEET = re.compile(r"/?xl/worksheets/[^/]+\.xml", re.IGNORECASE)
_TYPE = re.compile(rb"""\st\s*=\s*["']([^"']*)["']""")
_CELL = re.compile(rb"<((?:\w+:)?)c(?=\s)([^>]*)(?<!/)>(.*?)</\1c\s*>", re.DOTALL)
_MAYBE = re.compile(rb"""\st\s*=\s*["']e["']|<(?:\w+:)?v>\s*-(?:[0-9]{12}|[^<]*[eEiI])""")
"""A text that occurs in every sheet with such a cell. Most sheets have none, and `_cell` for every cell would be
slow."""
_VALUE = re.compile(rb"<(?:\w+:)?v>\s*(-[^<]*)<")


def readable(path: Path) -> Path | bytes:
    """The file, or its bytes with such cells rewritten."""
    try:
        with zipfile.ZipFile(path) as archive:
            sheets = {name: archive.read(name) for name in archive.namelist() if _SHEET.fullmatch(name)}
            changed = {name: _CELL.sub(_cell, text) for name, text in sheets.items() if _MAYBE.search(text)}
            return _rewritten(archive, changed) if changed else path
    except Exception:  # it is not an Excel file, which the reader will report
        return path


def _cell(match: re.Match[bytes]) -> bytes:
    prefix, attributes, inside = match.groups()
    kind = _TYPE.search(attributes)
    if kind and kind[1] == b"e":
        return b"<%bc%b/>" % (prefix, _TYPE.sub(b"", attributes))
    value = _VALUE.search(inside)
    if value is None or (kind and kind[1] != b"n") or not _is_far(value[1]):
        return match[0]
    return b'<%bc%b t="str">%b</%bc>' % (prefix, _TYPE.sub(b"", attributes), inside, prefix)


def _is_far(number: bytes) -> bool:
    try:
        return float(number) < _LEAST
    except ValueError:
        return False


def _rewritten(archive: zipfile.ZipFile, changed: dict[str, bytes]) -> bytes:
    held = BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as copy:
        for name in archive.namelist():
            copy.writestr(name, changed[name] if name in changed else archive.read(name))
    return held.getvalue()

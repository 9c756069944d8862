"""JSON Lines: one object per line, each line read by itself, all values as text as in CSV.

Numbers keep the digits in which they are written; true and false become these words. Null, lists, objects, and text
with half a surrogate pair are missing. A line that is not an object is a record without any value; a blank line is not
a record. Which names occur depends on the records, so a column that no line has is not refused: it is missing in all
records.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

import polars as pl

from cantle.schema.dialect import without_marks

_LINE_END = re.compile(rb"\r\n?|\n")
_BATCH = 1 << 16  # lines


def batches(pieces: Iterable[bytes], wanted: list[str]) -> Iterator[pl.DataFrame]:
    """The wanted columns of a file, given in pieces of UTF-8."""
    waiting: list[bytes] = []
    for line in lines_of(pieces):
        waiting.append(line)
        if len(waiting) == _BATCH:
            yield frame_of(waiting, wanted)
            waiting = []
    yield frame_of(waiting, wanted)


def lines_of(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """All lines, without their ends."""
    held: list[bytes] = []  # of a line that goes on; joined once, because a single line may be very long
    for piece in pieces:
        end, *lines = _LINE_END.split(piece)
        held.append(end)
        if lines:
            yield b"".join(held)
            yield from lines[:-1]
            held = [lines[-1]]
    yield b"".join(held)


def frame_of(lines: Iterable[bytes], wanted: list[str]) -> pl.DataFrame:
    """The wanted columns of these lines, as text.

    >>> frame_of([b'{"a": 1.50, "b": "x"}', b"", b"[1]"], ["a", "b"]).rows()
    [('1.50', 'x'), (None, None)]
    """
    records = [_record(line) for line in map(without_marks, lines) if line.strip()]
    columns = {name: [_text(record.get(name)) for record in records] for name in wanted}
    return pl.DataFrame(columns, schema=dict.fromkeys(wanted, pl.String))


def _record(line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line.decode("utf-8", "replace"), parse_int=str, parse_float=str, parse_constant=_nothing)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _nothing(_word: str) -> None:
    """Stands for NaN and infinities, which JSON does not have: they are missing."""


def _text(value: object) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return None
    return value if value.isascii() or _is_whole(value) else None


def _is_whole(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True

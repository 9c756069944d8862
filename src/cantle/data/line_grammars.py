"""How lines of text become records: the lenient grammar of CSV, and JSON Lines.

CSV with irregular quotes is rewritten, because parsers would not agree about it; cantle.data.tables describes the
rules.

JSON Lines have one object per line. Each line is read by itself, all values as text as in CSV. Numbers keep the digits
in which they are written; true and false become these words. Null, lists, objects, and text with half a surrogate pair
are missing. A line that is not an object is a record without any value; a blank line is not a record. Which names occur
depends on the records, so a column that no line has is not refused: it is missing in all records.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from cantle.schema.dialect import without_marks

_PIECE = 1 << 24  # bytes examined together


@dataclass(frozen=True)
class CsvDialect:
    """A CSV dialect in which every setting has a value."""

    separator: str
    quote: str | None
    header: bool
    skip_initial_space: bool


BLANK_LINES = re.compile(rb"^\r?\n", re.MULTILINE)
_MARK = codecs.BOM_UTF8
_BLANK_LINE = re.compile(rb"(?:" + _MARK + rb")?(?:\r\n?|\n)")
_LF, _CR = b"\n\r"


def with_line_feeds(text: bytes) -> bytes:
    """The same text, which has no quotes, with every line end (CR LF, CR or LF) as a line feed."""
    return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in text else text


def well_formed(text: bytes, dialect: CsvDialect) -> bytes:
    """The same records, written so that all parsers agree about quotes and line ends."""
    assert dialect.quote is not None
    quote = dialect.quote.encode()
    if _MARK in text or not is_well_quoted(text, quote, dialect.separator.encode()):
        return Grammar(dialect).rewritten(text)
    alone = text.count(b"\r") > text.count(b"\r\n")
    return _line_feeds_outside(text, quote[0]) if alone else text


def _line_feeds_outside(text: bytes, quote: int) -> bytes:
    """The same well-quoted text, with every carriage return that ends a line (outside of quotes) as a line feed."""
    data = np.frombuffer(text + b"\n", dtype=np.uint8).copy()
    returns = np.flatnonzero(data == _CR)
    outside = np.searchsorted(np.flatnonzero(data == quote), returns) % 2 == 0
    data[returns[outside & (data[returns + 1] != _LF)]] = _LF
    return data[:-1].tobytes()


def is_well_quoted(text: bytes, quote: bytes, separator: bytes) -> bool:
    """Whether every quote opens a field, closes one, or is doubled inside one; then all parsers agree.

    Quotes open and close in turn; a doubled quote closes and opens again at once. So an opening quote comes after
    a separator, a line end or a quote, and a closing one before the same.
    """
    data = np.frombuffer(b"\n" + text + b"\n", dtype=np.uint8)
    neighbour = np.zeros(256, dtype=bool)
    neighbour[[quote[0], separator[0], _LF, _CR]] = True
    opens = True
    for at in range(0, len(data), _PIECE):
        places = np.flatnonzero(data[at : at + _PIECE] == quote[0]) + at
        opening, closing = (places[::2], places[1::2]) if opens else (places[1::2], places[::2])
        if not (neighbour[data[opening - 1]].all() and neighbour[data[closing + 1]].all()):
            return False
        opens ^= len(places) % 2 == 1
    return opens


class Grammar:
    """Records of a text with any quotes."""

    def __init__(self, dialect: CsvDialect) -> None:
        self.separator, self.quote = dialect.separator.encode(), (dialect.quote or "").encode()
        s, q = re.escape(self.separator), re.escape(self.quote)
        space = b" *" if dialect.skip_initial_space else b""
        self._plain = re.compile(rb"([^" + s + rb"\r\n]*)(" + s + rb"|\r\n?|\n|\Z)")
        if q:
            inner = (
                rb"(?:[^" + q + rb"]++|" + q + q + rb")*+"
            )  # possessive: the first quote that is not doubled ends it
            self._quoted = re.compile(space + q + rb"(" + inner + rb")" + q + rb"(" + s + rb"|\r\n?|\n|\Z)")
            strict = rb"(?:" + q + inner + q + rb"|[^" + q + s + rb"\r\n]*+)"
            self._strict = re.compile(rb"(?!\r?\n|" + _MARK + rb")" + strict + rb"(?:" + s + strict + rb")*+\r?\n")

    def record(self, data: bytes, at: int) -> tuple[list[bytes], int]:
        """Fields of the record that starts at `at`, and where the next one starts."""
        fields = []
        at += len(_MARK) if data.startswith(_MARK, at) else 0
        while True:
            matched = self._quoted.match(data, at) if self.quote else None
            if matched:
                fields.append(matched[1].replace(2 * self.quote, self.quote))
            else:
                matched = self._plain.match(data, at)
                assert matched  # the pattern matches anything
                fields.append(matched[1])
            at = matched.end()
            if matched[2] != self.separator:
                return fields, at

    def rewritten(self, text: bytes, *, drop_blank: bool = False) -> bytes:
        """The same records written so that all parsers agree; well-formed parts are copied."""
        parts, at = [], 0
        if text.endswith((b"\n" + _MARK, b"\r" + _MARK)):  # a last line that holds a mark alone is no record
            text = text.removesuffix(_MARK)
        while at < len(text):
            start = at
            while regular := self._strict.match(text, at):
                at = regular.end()
            parts.append(text[start:at])
            if blank := _BLANK_LINE.match(text, at):
                parts.append(b"" if drop_blank else b"\n")
                at = blank.end()
            elif at < len(text):
                fields, at = self.record(text, at)
                parts.append(self.separator.join(map(self._written, fields)) + b"\n")
        return b"".join(parts)

    def _written(self, field: bytes) -> bytes:
        return self.quote + field.replace(self.quote, 2 * self.quote) + self.quote


_LINE_END = re.compile(rb"\r\n?|\n")
_BATCH = 1 << 16  # lines


def object_batches(pieces: Iterable[bytes], wanted: list[str]) -> Iterator[pl.DataFrame]:
    """The wanted columns of a file, given in pieces of UTF-8."""
    waiting: list[bytes] = []
    for line in lines_of(pieces):
        waiting.append(line)
        if len(waiting) == _BATCH:
            yield objects_in(waiting, wanted)
            waiting = []
    yield objects_in(waiting, wanted)


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


def objects_in(lines: Iterable[bytes], wanted: list[str]) -> pl.DataFrame:
    """The wanted columns of these lines, as text.

    >>> objects_in([b'{"a": 1.50, "b": "x"}', b"", b"[1]"], ["a", "b"]).rows()
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
    if isinstance(value, list):  # a list of items, as text again
        return json.dumps([_text(one) for one in value], ensure_ascii=False)
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

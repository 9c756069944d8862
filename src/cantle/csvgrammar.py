"""The lenient grammar of CSV: what readers.py says of quotes, for texts in which parsers would not agree."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

_PIECE = 1 << 24  # bytes looked at together


@dataclass(frozen=True)
class Settled:
    """A dialect with every choice made."""

    separator: str
    quote: str | None
    header: bool
    skip_initial_space: bool


BLANK_LINES = re.compile(rb"^\r?\n", re.MULTILINE)


def is_well_quoted(text: bytes, quote: bytes, separator: bytes) -> bool:
    """Whether every quote opens a field, closes one, or is doubled inside one; then all parsers agree.

    Quotes open and close in turn; a doubled quote closes and opens again at once. So an opening quote comes after
    a separator, a line end or a quote, and a closing one before the same.
    """
    data = np.frombuffer(b"\n" + text + b"\n\n", dtype=np.uint8)
    neighbour = np.zeros(256, dtype=bool)
    neighbour[[quote[0], separator[0], ord("\n")]] = True
    opens = True
    for at in range(0, len(data), _PIECE):
        places = np.flatnonzero(data[at : at + _PIECE] == quote[0]) + at
        opening, closing = (places[::2], places[1::2]) if opens else (places[1::2], places[::2])
        after = data[closing + 1]
        ends = neighbour[after] | ((after == ord("\r")) & (data[closing + 2] == ord("\n")))
        if not (neighbour[data[opening - 1]].all() and ends.all()):
            return False
        opens ^= len(places) % 2 == 1
    return opens


class Grammar:
    """Records of a text, whatever its quotes."""

    def __init__(self, dialect: Settled) -> None:
        self.separator, self.quote = dialect.separator.encode(), (dialect.quote or "").encode()
        s, q = re.escape(self.separator), re.escape(self.quote)
        space = b" *" if dialect.skip_initial_space else b""
        self._plain = re.compile(rb"([^" + s + rb"\n]*)(" + s + rb"|\n|\Z)")
        if q:
            inner = (
                rb"(?:[^" + q + rb"]++|" + q + q + rb")*+"
            )  # possessive: the first quote that is not doubled ends it
            self._quoted = re.compile(space + q + rb"(" + inner + rb")" + q + rb"(" + s + rb"|\r?\n|\Z)")
            strict = rb"(?:" + q + inner + q + rb"|[^" + q + s + rb"\n]*+)"
            self._strict = re.compile(rb"(?!\r?\n)" + strict + rb"(?:" + s + strict + rb")*+\r?\n")

    def record(self, data: bytes, at: int) -> tuple[list[bytes], int]:
        """Fields of the record that starts at `at`, and where the next one starts."""
        fields = []
        while True:
            found = self._quoted.match(data, at) if self.quote else None
            if found:
                fields.append(found[1].replace(2 * self.quote, self.quote))
            else:
                found = self._plain.match(data, at)
                assert found  # the pattern matches anything
                fields.append(found[1] if found[2] == self.separator else found[1].removesuffix(b"\r"))
            at = found.end()
            if found[2] != self.separator:
                return fields, at

    def mend(self, text: bytes, *, drop_blank: bool = False) -> bytes:
        """The same records written so that all parsers agree; what is in order is copied."""
        made, at = [], 0
        while at < len(text):
            start = at
            while found := self._strict.match(text, at):
                at = found.end()
            made.append(text[start:at])
            if blank := BLANK_LINES.match(text, at):
                made.append(b"" if drop_blank else blank[0])
                at = blank.end()
            elif at < len(text):
                fields, at = self.record(text, at)
                made.append(self.separator.join(map(self._written, fields)) + b"\n")
        return b"".join(made)

    def _written(self, field: bytes) -> bytes:
        return self.quote + field.replace(self.quote, 2 * self.quote) + self.quote

"""Tables as CSV files: encodings, line ends, quotes, headers, blank, short and long lines, undecodable bytes."""

from __future__ import annotations

import codecs
from pathlib import Path
from random import Random
from typing import Any

from tests.neighbours.law import Form, Pair, adds_at_most, files
from tests.neighbours.reading import table
from tests.neighbours.values import WORDS, document, fields_of

SAFE = ["utf-8", "utf-8-sig", "ascii", "latin-1", "cp1252", "cp1251", "koi8-r", "iso8859-15", "mac-roman", "cp437"]
WIDE = ["utf-16", "utf-16-le", "utf-16-be"]
OTHERS = [*WIDE, "utf-32", "shift_jis", "gbk", "gb18030", "big5", "euc_jp", "euc_kr", "johab"]
STATEFUL = ["iso2022_jp", "iso2022_kr", "iso2022_jp_2", "hz", "utf-7"]
ENDS = ["\n", "\n", "\r\n", "\r"]
HOLDS = [word.replace("\x00", "x") for word in WORDS] + ["A,sh", 'A"sh', "two\nlines", "two\r\nlines", "\rx", ";", "'"]
RAW = [b"\xff", b"\xc3", b"\x81", b"\xe2\x82", b"\x1b$B", b"\x1b(J", b"~{", b"+AGE", b"\x0e", b"\x0f", b"\xff\xfe",
       b"\x1a", b"\x85", b"\x00", b"\xf0\x9f", b"\x8f\xa2", b"Ash\x81", b"1\xc3"]  # fmt: skip
"""Bytes that are incomplete: a lead byte at the end of a field, a shift that is never ended."""

TITLES = ["", "Patients of ward 7", '"never closed', '"a title, in quotes"', ";;", "it's"]
"""Lines above a header. A quote in one of them must not be closed by a record."""


class Writer:
    """Writes lines in one dialect, with random choices."""

    def __init__(self, dice: Random, encodings: list[str], multiline: bool) -> None:
        self.holds = [one for one in HOLDS if multiline or not set(one) & set("\r\n")]
        self.dice, self.encoding, self.end = dice, dice.choice(encodings), dice.choice(ENDS)
        self.delimiter, self.header = dice.choice([",", ",", ";", "\t"]), dice.random() < 0.6
        self.quote = dice.choice(['"', '"', "'", ""])
        self.titles = dice.choices(TITLES, k=dice.randint(1, 3)) if self.header and dice.random() < 0.3 else []
        self.all_quoted = bool(self.quote) and dice.random() < 0.3
        self.fields = fields_of(dice, 4)
        self.dialect = {
            "encoding": self.encoding,
            "delimiter": self.delimiter,
            "header": self.header,
            "quoteChar": self.quote,
            "skipInitialSpace": dice.random() < 0.2,
        } | ({"headerRow": len(self.titles) + 1} if self.titles else {})

    def text(self, text: str) -> bytes:
        name = codecs.lookup(self.encoding).name
        encoded = text.encode(name, "surrogatepass" if self.encoding in WIDE else "replace")
        for mark in (codecs.BOM_UTF8, codecs.BOM_UTF32, codecs.BOM_UTF16):  # a mark belongs to the file, not to a line
            if name in ("utf-8-sig", "utf-16", "utf-32"):
                encoded = encoded.removeprefix(mark)
        return encoded

    def line(self) -> bytes:
        """One record, written as CSV writers do or as none would."""
        kind = self.dice.randrange(8)
        if kind == 0:
            return b""
        values = [self.value() for _ in self.fields]
        if kind == 1:
            values = values[: self.dice.randint(0, len(values))]
        elif kind == 2:
            values += [self.value() for _ in range(self.dice.randint(1, 3))]
        elif kind == 3 and self.encoding not in OTHERS + STATEFUL:  # others get whole characters only
            values[-1] = self.dice.choice(RAW)
        elif kind == 3 and self.encoding in WIDE:  # half a pair of surrogates, alone or before another half
            values[-1] = self.text(self.dice.choice(["\ud800", "1\udc00", "\ud800\ud800", "\udc00\ud83d"]))
        elif kind == 4 and self.quote:  # quotes that are not at both ends of a field
            values[-1] = self.text(self.dice.choice([f"A{self.quote}sh", f"{self.quote}A{self.quote}sh"]))
        return self.text(self.delimiter).join(values)

    def value(self) -> bytes:
        text = self.dice.choice(self.holds)
        marks = [self.delimiter, "\n", "\r", *([self.quote] if self.quote else [])]
        if self.quote and (self.all_quoted or any(mark in text for mark in marks)):
            return self.text(self.quote + text.replace(self.quote, 2 * self.quote) + self.quote)
        for mark in marks:
            text = text.replace(mark, "_")
        return self.text(text)

    def file(self, lines: list[bytes], *, last_end: bool) -> bytes:
        end = self.text(self.end)
        head = [self.text(self.delimiter.join(self.fields))] if self.header else []
        lines = [*map(self.text, self.titles), *head, *lines]
        mark = {"utf-8-sig": codecs.BOM_UTF8, "utf-16": codecs.BOM_UTF16, "utf-32": codecs.BOM_UTF32}
        begin = mark.get(self.encoding, b"") if self.dice.random() < 0.8 or self.encoding != "utf-8-sig" else b""
        closed = last_end or not lines or not lines[-1]
        return begin + end.join(lines) + (end if lines and closed else b"")


def csv_pair(encodings: list[str], *, multiline: bool = True) -> Any:
    """Pairs of files, of which the second has one more line; with `multiline`, quoted fields may contain line ends."""

    def pair(dice: Random, folder: Path) -> Pair:
        writer = Writer(dice, encodings, multiline)
        lines = [writer.line() for _ in range(dice.choice([0, 1, 2, dice.randint(0, 8)]))]
        at, last_end = dice.randint(0, len(lines)), dice.random() < 0.7
        more = [*lines[:at], writer.line(), *lines[at:]]
        state = dice.getstate()
        one = writer.file(lines, last_end=last_end)
        dice.setstate(state)  # the same choices for both files
        two = writer.file(more, last_end=last_end)
        paths = files(folder, "data.tsv" if writer.delimiter == "\t" else "data.csv", one, two)
        schema = document(writer.fields, dialect=writer.dialect)
        return Pair(schema, *paths, adds_at_most(1), f"{writer.dialect} {one!r} {two!r}")

    return pair


FORMS = [
    Form("CSV", "memory", csv_pair(SAFE), table(), 400),
    Form("CSV, wide encodings", "memory", csv_pair(OTHERS), table(), 200),
    Form("CSV, encodings with a state", "memory", csv_pair(STATEFUL), table(), 100),
]

"""The dialect of a CSV file or spreadsheet, that is how it is written, as a schema declares it, and the encodings
that are allowed: those in which no record can change how later ones are read.

Readers decode a file as one stream, so the state of a decoder after one record would affect the next one
(docs/privacy.md, cleaning). Four kinds of encodings are allowed.

* UTF-8 and ASCII: an undecodable sequence ends before the next line end, quote or delimiter.
* Single-byte code pages: every byte is a character by itself.
* Double-byte code pages whose decoder waits for at most one byte, and keeps every character below "@" that comes
  instead of it; line ends, delimiters and quotes are among these. tests/schema/test_text_encodings.py tries all bytes.
* UTF-16: a file is a sequence of units of two bytes, and so is each record in it; half a surrogate pair swallows
  nothing that follows. The byte order is declared (`utf-16-le`, `utf-16-be`) or given by the byte order mark before the
  header. For a file without a header it must be declared, because the mark would be part of the first record.

All others are refused. ISO-2022, HZ and UTF-7 switch to another alphabet until a code switches back. The EUC codes of
Japan and Korea, GB 18030 and Johab wait for more bytes, so a damaged character swallows what follows it.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import NoReturn

from cantle.schema.canonical_json import JSON
from cantle.schema.declared_values import check_keys, flag
from cantle.schema.documents import fail

UNICODE = frozenset({"utf_8", "utf_8_sig", "ascii"})
_ISO = {f"iso8859_{part}" for part in range(1, 17) if part != 12}
_PAGES = (
    "437 720 737 775 850 852 855 856 857 858 860 861 862 863 864 865 866 869 874 1006 1125 1250 1251 1252 1253 1254"
)
_PAGES += " 1255 1256 1257 1258 037 273 424 500 875 1026 1140"  # the last ones are EBCDIC
_OTHERS = (
    "koi8_r koi8_t koi8_u kz1048 ptcp154 tis_620 hp_roman8 mac_arabic mac_croatian mac_cyrillic mac_farsi mac_greek"
)
_OTHERS += " mac_iceland mac_latin2 mac_roman mac_romanian mac_turkish"
SINGLE_BYTE = frozenset(_ISO | {f"cp{page}" for page in _PAGES.split()} | {*_OTHERS.split()})
DOUBLE_BYTE = frozenset(
    {"big5", "big5hkscs", "cp932", "cp949", "cp950", "gb2312", "gbk", "shift_jis", "shift_jis_2004", "shift_jisx0213"}
)
UTF_16 = "utf_16"
"""UTF-16 with a byte order mark."""
WIDE = frozenset({UTF_16, "utf_16_le", "utf_16_be"})
SAFE_BELOW = "@"
"""A double-byte decoder never swallows a character below this one."""

UNDECODABLE = "\ufffd"
"""What readers put in place of bytes that cannot be decoded."""

_MARK = codecs.BOM_UTF8
_LINE_MARK = re.compile(rb"(?:\A|(?<=[\r\n]))" + _MARK)


def name_of(encoding: str) -> str | None:
    """The name of the encoding in the lists above, whether or not it is allowed; None if Python does not know it."""
    try:
        return codecs.lookup(encoding).name.replace("-", "_").lower()
    except (LookupError, TypeError, ValueError):
        return None


def is_allowed(name: str) -> bool:
    """Whether files in this encoding (by its `name_of`) are read."""
    return name in UNICODE or name in SINGLE_BYTE or name in DOUBLE_BYTE or name in WIDE


def needs_no_decoding(encoding: str) -> bool:
    """Whether files in this encoding are UTF-8 already."""
    return name_of(encoding) in UNICODE


def may_swallow(name: str, character: str) -> bool:
    """Whether a damaged character before this one can swallow it."""
    return name in DOUBLE_BYTE and character >= SAFE_BELOW


def without_marks(lines: bytes) -> bytes:
    """Whole lines that hold no quotes, without the byte order mark that a line may start with.

    It is removed from every line, not only from the first: the meaning of a record must not depend on its position.
    """
    # The search for one byte is several times as fast as the one for three, and few files hold that byte.
    return _LINE_MARK.sub(b"", lines) if _MARK[:1] in lines and _MARK in lines else lines


MOST_ROWS = 1000
"""The last line in which a header may be."""

_HARMLESS = {"lineTerminator", "doubleQuote", "$schema", "type", "name", "title", "description", "csvddfVersion"}


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """How a CSV file or a sheet is written; `delimiter` None means a tab for .tsv files and a comma for the rest.

    `header_row` is the line of the header, counted from 1. What stands above it are titles, which nothing reads.
    """

    delimiter: str | None = None
    header: bool = True
    header_row: int = 1
    skip_initial_space: bool = False
    encoding: str = "utf-8"
    quote_char: str | None = '"'
    sheet_name: str | None = None

    def __post_init__(self) -> None:
        _check_encoding(self)

    def to_dict(self) -> dict[str, JSON]:
        """The keys that differ from the default, as Frictionless spells them."""
        plain = Dialect()
        pairs = ((key, getattr(self, ours), getattr(plain, ours)) for key, ours in DIALECT_KEYS.items())
        return {key: value for key, value, default in pairs if value != default}


DIALECT_KEYS = {re.sub("_(.)", lambda at: at[1].upper(), one.name): one.name for one in fields(Dialect)}
"""The keys of Frictionless, and what they are called here: `headerRow` is `header_row`."""


def _check_encoding(dialect: Dialect) -> None:
    """Refuses an encoding in which one record could change how later ones are read."""
    name, shown = name_of(dialect.encoding), f"encoding {dialect.encoding!r}"
    if name is None:
        _refuse_encoding(dialect.encoding)
    if not is_allowed(name):
        rule = f"{shown} is not allowed: a damaged record could change how later ones are read"
        fail("dialect", rule, "convert the file to utf-8; docs/reference.md lists what is allowed")
    if name == UTF_16 and not dialect.header:
        rule = f"in {shown} the first bytes say how all others are read, and without a header they are a record's"
        fail("dialect", rule, "write utf-16-le (as Windows does) or utf-16-be")
    if dialect.quote_char and may_swallow(name, dialect.quote_char):
        rule = f"in {shown} a damaged character can swallow the quoteChar {dialect.quote_char!r}"
        fail("dialect", rule, "quote with \" or ', or convert the file to utf-8")


def _refuse_encoding(encoding: object) -> NoReturn:
    fail("dialect", f"encoding {encoding!r} is not known", "use utf-8, latin-1, cp1252, shift_jis, …")


def parse_dialect(document: Mapping[str, object]) -> Dialect:
    """The checked dialect of a schema, whose keys may also stand in the schema itself."""
    nested = document.get("dialect") or {}
    if not isinstance(nested, Mapping):
        fail("dialect", "it is not a mapping", "write `dialect: {delimiter: …}`")
    check_keys("dialect", nested, DIALECT_KEYS)
    foreign = sorted(map(str, set(nested) - set(DIALECT_KEYS) - _HARMLESS))
    if foreign:
        fail("dialect", f"key {foreign[0]!r} is not supported", f"use {', '.join(DIALECT_KEYS)}")
    given = {key: document.get(key, nested.get(key)) for key in DIALECT_KEYS if key in document or key in nested}
    encoding = given.get("encoding", "utf-8")
    if not isinstance(encoding, str):
        _refuse_encoding(encoding)
    dialect = Dialect(
        delimiter=_character("delimiter", given.get("delimiter")),
        header=flag("dialect", "header", given.get("header", True)),
        header_row=_row(given.get("headerRow", 1)),
        skip_initial_space=flag("dialect", "skipInitialSpace", given.get("skipInitialSpace", False)),
        encoding=encoding,
        sheet_name=_sheet(given.get("sheetName")),
        quote_char=None if given.get("quoteChar") == "" else _character("quoteChar", given.get("quoteChar", '"')),
    )
    if dialect.quote_char == (dialect.delimiter or ","):
        fail("dialect", "delimiter and quoteChar are the same", "change one")
    if not dialect.header and dialect.header_row > 1:
        fail("dialect", "`header: false` says that there is no header, and `headerRow` where it is", "leave one out")
    return dialect


def _row(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST_ROWS:
        rule = f"`headerRow` must be the number of the line that holds the header, from 1 to {MOST_ROWS}"
        fail("dialect", rule, "write `headerRow: 3` if two lines of titles stand above it")
    return value


def _sheet(value: object) -> str | None:
    if value is not None and (not isinstance(value, str) or not value):
        fail("dialect", "`sheetName` must be the name of a sheet", "write it as text")
    return value


def _character(key: str, value: object) -> str | None:
    if value is not None and (not isinstance(value, str) or not re.fullmatch(r"[^\r\n\x80-\U0010ffff]", value)):
        fail("dialect", f"`{key}` must be a single ASCII character", 'for a tab write "\\t"')
    return value

"""The dialect of a CSV file or spreadsheet, that is how it is written, as a schema declares it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn

from cantle.schema.canonical_json import JSON
from cantle.schema.declared_values import check_keys, flag
from cantle.schema.documents import fail
from cantle.schema.text_encodings import UTF_16, is_allowed, may_swallow, name_of

DIALECT_KEYS = {
    "delimiter": "delimiter",
    "header": "header",
    "headerRow": "header_row",
    "skipInitialSpace": "skip_initial_space",
    "encoding": "encoding",
    "quoteChar": "quote_char",
    "sheetName": "sheet_name",
}
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


def _check_encoding(dialect: Dialect) -> None:
    """Refuses an encoding in which one record could change how later ones are read (cantle.schema.text_encodings)."""
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
    if value is None:
        return None
    if not isinstance(value, str) or not re.fullmatch(r"[^\r\n\x80-\U0010ffff]", value):
        fail("dialect", f"`{key}` must be a single ASCII character", 'for a tab write "\\t"')
    return value

"""Encodings: with an allowed one, no record changes how later ones are read; all others are refused."""

from __future__ import annotations

import codecs
from encodings.aliases import aliases
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cantle.data.tables import read_columns
from cantle.errors import SchemaError
from cantle.schema import Schema
from cantle.schema.dialect import DOUBLE_BYTE, SAFE_BELOW, SINGLE_BYTE, UNICODE, Dialect, is_allowed, name_of
from tests.effort import examples

FIELDS = [{"name": name, "type": "string", "categories": ["x"]} for name in "ab"]
ALLOWED = sorted(UNICODE | SINGLE_BYTE | DOUBLE_BYTE)
SHIFTING = ["hz", "iso2022_jp", "iso2022_jp_2", "iso2022_kr", "utf_7", "utf_32", "utf-32-le", "gb18030"]
SHIFTING += ["euc_jp", "euc_kr", "euc_jis_2004", "johab", "rot13", "punycode", "idna", "unicode_escape", "hex"]


def decoded(name: str, data: bytes) -> tuple[str, Any]:
    """The text of some bytes, and the state of the decoder after them."""
    decoder = codecs.getincrementaldecoder(name)("replace")
    return decoder.decode(data), decoder.getstate()


def test_a_single_byte_page_maps_every_byte_by_itself() -> None:
    every = bytes(range(256))
    for name in sorted(SINGLE_BYTE):
        alone = [decoded(name, bytes([byte])) for byte in every]
        assert all(len(text) == 1 and state == (b"", 0) for text, state in alone), name
        assert decoded(name, every + every[::-1])[0] == "".join(text for text, _ in alone + alone[::-1]), name


@pytest.mark.parametrize("name", sorted(DOUBLE_BYTE))
def test_a_decoder_of_double_bytes_keeps_at_most_one_byte_and_never_the_end_of_a_field(name: str) -> None:
    """After any bytes, the decoder keeps nothing or one byte out of `leads`; it never keeps two."""
    leads = [byte for byte in range(256) if decoded(name, bytes([byte]))[1] != (b"", 0)]
    assert leads
    for lead in leads:
        for byte in range(256):
            text, (waits, flags) = decoded(name, bytes([lead, byte]))
            assert (len(waits) <= 1, flags) == (True, 0)
            if byte < ord(SAFE_BELOW):
                assert (text[-1:], waits) == (chr(byte), b"")


def test_all_other_encodings_are_refused() -> None:
    for name in sorted({*aliases.values(), *SHIFTING}):
        if is_allowed(name_of(name) or ""):
            Dialect(encoding=name)
            continue
        for keys in ({"fields": FIELDS}, {"kind": "sets", "items": ["x"]}):
            with pytest.raises(SchemaError, match=f"{name}.* is not (allowed|known)"):
                Schema.from_dict({**keys, "dialect": {"encoding": name}})
        with pytest.raises(SchemaError, match=f"{name}.* is not (allowed|known)"):
            Dialect(encoding=name)


def test_stateful_encodings_are_refused_and_common_ones_allowed() -> None:
    assert not [name for name in SHIFTING if is_allowed(name_of(name) or "")]
    for name in ("utf-8", "UTF8", "utf-8-sig", "latin-1", "cp1252", "koi8-r", "mac-roman", "cp437", "gbk", "Shift_JIS"):
        assert Dialect(encoding=name).encoding == name


def test_utf_16_maps_every_unit_by_itself() -> None:
    """Half a pair of surrogates is one undecodable character, and what follows is read as if it came first."""
    halves = [b"\x00\xd8", b"\xff\xdb", b"\x00\xdc", b"\xff\xdf"]
    for half in halves:
        for unit in ("\n", "\r", ",", '"', "1", "é", "\ufeff", "\ufffe"):
            for name, data in (("utf-16-le", half), ("utf-16-be", half[::-1])):
                assert decoded(name, data + unit.encode(name))[0] == "\ufffd" + unit
    units = "".join(chr(code) for code in range(0x10000) if not 0xD800 <= code < 0xE000)
    assert all(decoded(name, units.encode(name))[0] == units for name in ("utf-16-le", "utf-16-be"))


def test_utf_16_needs_a_header_or_a_declared_order_of_bytes() -> None:
    Dialect(encoding="utf-16"), Dialect(encoding="utf-16-be", header=False)
    with pytest.raises(SchemaError, match="write utf-16-le"):
        Dialect(encoding="utf-16", header=False)


def test_a_quote_that_may_be_the_second_byte_of_a_character_is_refused() -> None:
    with pytest.raises(SchemaError, match="can swallow the quoteChar"):
        Dialect(encoding="gbk", quote_char="|")
    Dialect(encoding="gbk", quote_char="'")
    Dialect(encoding="latin-1", quote_char="|")


@examples(20)
@given(
    lines=st.lists(st.binary(max_size=8), max_size=4),
    more=st.binary(max_size=8),
    place=st.integers(0, 4),
    name=st.sampled_from(ALLOWED),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_one_damaged_record_leaves_the_others_as_they_are(
    tmp_path_factory: Any, lines: list[bytes], more: bytes, place: int, name: str, end: str
) -> None:
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    schema = Schema.from_dict({"fields": FIELDS, "header": False, "encoding": name})

    def encoded(text: str) -> bytes:
        return text.encode(name).removeprefix(codecs.BOM_UTF8)

    def rows(written: list[bytes]) -> list[str]:
        kept = [bytes(byte for byte in line if byte not in encoded('\r\n"')) for line in written]
        # each line starts with "x,", because a blank line would be no record
        path.write_bytes(b"".join(encoded("x,") + line + encoded(end) for line in kept))
        return [repr(row) for row in read_columns(path, schema).frame.rows()]

    got = rows([*lines[:place], more, *lines[place:]])
    assert sorted(got) == sorted(rows(lines) + rows([more]))

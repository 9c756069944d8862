"""Encodings of text files in which no record can change how later ones are read.

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

UNICODE = frozenset({"utf_8", "utf_8_sig", "ascii"})
SINGLE_BYTE = frozenset(
    {
        *(f"iso8859_{part}" for part in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 16)),
        *(f"cp125{page}" for page in range(9)),
        *("cp437", "cp720", "cp737", "cp775", "cp850", "cp852", "cp855", "cp856", "cp857", "cp858", "cp860", "cp861"),
        *("cp862", "cp863", "cp864", "cp865", "cp866", "cp869", "cp874", "cp1006", "cp1125"),
        *("cp037", "cp273", "cp424", "cp500", "cp875", "cp1026", "cp1140"),  # EBCDIC
        *("koi8_r", "koi8_t", "koi8_u", "kz1048", "ptcp154", "tis_620", "hp_roman8"),
        *("mac_arabic", "mac_croatian", "mac_cyrillic", "mac_farsi", "mac_greek", "mac_iceland", "mac_latin2"),
        *("mac_roman", "mac_romanian", "mac_turkish"),
    }
)
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

"""Canonical JSON (RFC 8785): exactly one text per value, so that equal values have equal hashes.

Python's own encoder writes texts, whole numbers, lists and mappings with plain keys in the same way, and much faster.
The library rfc8785 writes everything else, above all floats.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import rfc8785

_MOST = 2**53 - 1  # what RFC 8785 takes as a whole number
_encode = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), check_circular=False).encode


def dumps(value: Any) -> bytes:
    """The canonical text of a value, in UTF-8.

    >>> dumps({"b": [1, None], "a": 1e21})
    b'{"a":1e+21,"b":[1,null]}'
    """
    try:
        return _encode(value).encode() if _is_plain(value) else rfc8785.dumps(value)
    except UnicodeEncodeError:  # half a character: rfc8785 has words for it
        return rfc8785.dumps(value)


def sha256(value: Any) -> str:
    """The hash of the canonical text, in hex."""
    return hashlib.sha256(dumps(value)).hexdigest()


def join(parts: dict[str, bytes]) -> bytes:
    """The text of a mapping, given those of its values; the names are in ASCII.

    >>> join({"b": dumps(1), "a": dumps("x")})
    b'{"a":"x","b":1}'
    """
    return b"{%s}" % b",".join(b"%s:%s" % (dumps(name), parts[name]) for name in sorted(parts))


def _is_plain(value: Any) -> bool:
    """Whether both encoders agree: no floats, no large numbers, and names that sort alike in UTF-8 and UTF-16."""
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return True
    if kind is int:
        return -_MOST <= value <= _MOST
    if kind is list:
        return all(map(_is_plain, value))
    if kind is dict:
        return all(type(name) is str and name.isascii() for name in value) and all(map(_is_plain, value.values()))
    return False

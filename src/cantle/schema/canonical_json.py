"""Canonical JSON (RFC 8785): exactly one text per value, so that equal values have equal hashes.

Python's own encoder writes texts, whole numbers, lists and mappings with plain keys in the same way, and much faster.
The library rfc8785 writes everything else, above all floats.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import rfc8785

JSON: TypeAlias = "Mapping[str, JSON] | Sequence[JSON] | str | int | float | None"
"""What a JSON text can hold: a schema in canonical form, a manifest."""

_MOST = 2**53 - 1  # what RFC 8785 takes as a whole number
_encode = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), check_circular=False).encode


def dumps(value: JSON) -> bytes:
    """The canonical text of a value, in UTF-8.

    >>> dumps({"b": [1, None], "a": 1e21})
    b'{"a":1e+21,"b":[1,null]}'
    """
    try:
        return _encode(value).encode() if _is_plain(value) else rfc8785.dumps(value)
    except UnicodeEncodeError:  # half a character: rfc8785 has words for it
        return rfc8785.dumps(value)


def sha256(value: JSON) -> str:
    """The hash of the canonical text, in hex."""
    return hashlib.sha256(dumps(value)).hexdigest()


def join(parts: dict[str, bytes]) -> bytes:
    """The text of a mapping, given those of its values; the names are in ASCII.

    >>> join({"b": dumps(1), "a": dumps("x")})
    b'{"a":"x","b":1}'
    """
    return b"{%s}" % b",".join(b"%s:%s" % (dumps(name), parts[name]) for name in sorted(parts))


def _is_plain(value: JSON) -> bool:
    """Whether both encoders agree: no floats, no large numbers, and names that sort alike in UTF-8 and UTF-16."""
    if value is None or type(value) is str or type(value) is bool:
        return True
    if type(value) is int:
        return -_MOST <= value <= _MOST
    if type(value) is list:
        return all(map(_is_plain, value))
    if type(value) is dict:
        return all(type(name) is str and name.isascii() for name in value) and all(map(_is_plain, value.values()))
    return False

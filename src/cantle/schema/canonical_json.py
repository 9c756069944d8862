"""Canonical JSON (RFC 8785): exactly one text per value, so that equal values have equal hashes.

Python's own encoder writes texts, whole numbers, lists and mappings with simple keys in the same way, and much faster.
The library rfc8785 writes everything else, in particular floats.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import rfc8785

JSON: TypeAlias = "Mapping[str, JSON] | Sequence[JSON] | str | int | float | None"
"""Any value of a JSON text, such as a schema in canonical form or a manifest."""

_MOST = 2**53 - 1  # the largest whole number of RFC 8785
_encode = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), check_circular=False).encode


def dumps(value: JSON) -> bytes:
    """The canonical text of a value, in UTF-8.

    >>> dumps({"b": [1, None], "a": 1e21})
    b'{"a":1e+21,"b":[1,null]}'
    """
    try:
        return _encode(value).encode() if _is_plain(value) else rfc8785.dumps(value)
    except UnicodeEncodeError:  # half a surrogate pair, for which rfc8785 raises its own error
        return rfc8785.dumps(value)


def sha256(value: JSON) -> str:
    """The hash of the canonical text, in hex."""
    return hashlib.sha256(dumps(value)).hexdigest()


def join(parts: dict[str, bytes]) -> bytes:
    """The text of a mapping, given the texts of its values; names must be ASCII.

    >>> join({"b": dumps(1), "a": dumps("x")})
    b'{"a":"x","b":1}'
    """
    return b"{%s}" % b",".join(b"%s:%s" % (dumps(name), parts[name]) for name in sorted(parts))


def _is_plain(value: JSON) -> bool:
    """Whether both encoders agree: there are no floats or large numbers, and names sort alike in UTF-8 and UTF-16."""
    if value is None or type(value) is str or type(value) is bool:
        return True
    if type(value) is int:
        return -_MOST <= value <= _MOST
    if type(value) is list:
        return all(map(_is_plain, value))
    if type(value) is dict:
        return all(type(name) is str and name.isascii() for name in value) and all(map(_is_plain, value.values()))
    return False

"""Identifiers of nodes: one canonical form, one public order, one public hash.

An identifier is a whole number of 64 bits or a text. Decimal digits with or without a minus sign are the number they
spell ("7", "007" and 7 are one node). Everything else is text, as its UTF-8 bytes. cantle.data.graphs defines what
other values mean, such as floats and tuples. The order of identifiers is public: numbers by value, then texts by their
bytes. The hash is public too and depends only on the identifier, not on the file's order, the other nodes or the edges.

Hashes of numbers do not collide; hashes of texts may. Code that needs a total order breaks ties by the order of
identifiers (cantle.trusted.bounding.projection).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cantle.trusted.core.arrays import Codes
from cantle.trusted.core.mixing import scramble

Ints = NDArray[np.int64]
Keys = NDArray[np.uint64]
Identifier = int | bytes

DIGITS = re.compile(rb"-?[0-9]{1,19}")
_LEAST, _MOST = -(2**63), 2**63 - 1
_NUMBERS = np.uint64(0x6E6F6465206E756D)  # a public constant; any other would do
_TEXTS = b"cantle node identifier"
_PAIRS = np.uint64(0x6564676520706169)


@dataclass(frozen=True, eq=False, repr=False)
class Column:
    """Identifiers of many records: `numbers`; where `other` is set, the next of `texts` instead. An empty text is
    missing."""

    numbers: Ints
    other: NDArray[np.bool_]
    texts: list[bytes]


def identifier(value: str | bytes | int) -> Identifier | None:
    """The canonical identifier of a text or a whole number; None for a text that holds only blanks.

    >>> identifier("007"), identifier(7), identifier(" ann "), identifier("")
    (7, 7, b'ann', None)
    """
    if isinstance(value, bytes):
        return _of_token(value.strip())
    if isinstance(value, str):
        return _of_token(value.encode("utf-8", "surrogatepass").strip())
    return int(value) if _LEAST <= value <= _MOST else _of_long_number(value)


def _of_token(token: bytes) -> Identifier | None:
    """The identifier in a text without blanks at its ends."""
    if DIGITS.fullmatch(token) and _LEAST <= int(token) <= _MOST:
        return int(token)
    return token or None


def _of_long_number(value: int) -> Identifier | None:
    """A number that needs more than 64 bits is a text; one too long to be written is not an identifier."""
    try:
        return str(value).encode()
    except ValueError:
        return None


def number_keys(numbers: Codes) -> Keys:
    """The public hash of numbers: a bijection of 64-bit words."""
    return scramble(numbers.astype(np.int64).view(np.uint64) ^ _NUMBERS)


def text_keys(texts: Sequence[bytes]) -> Keys:
    """The public hash of texts: eight bytes of keyed BLAKE2b."""
    digest = b"".join(hashlib.blake2b(text, digest_size=8, key=_TEXTS).digest() for text in texts)
    return np.frombuffer(digest, dtype="<u8").astype(np.uint64)


def pair_keys(one: Keys, other: Keys) -> Keys:
    """The public hash of unordered pairs of nodes, from their hashes.

    >>> a, b = number_keys(np.array([1, 2])), number_keys(np.array([3, 4]))
    >>> bool((pair_keys(a, b) == pair_keys(b, a)).all())
    True
    """
    low, high = np.minimum(one, other), np.maximum(one, other)
    return scramble(scramble(low ^ _PAIRS) + high)

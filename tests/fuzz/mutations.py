"""Hostile inputs made from valid ones, by random changes of bytes, tokens and lines, or of parts of documents."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

LONGEST = 1 << 16
"""The largest size of a changed input, in bytes."""

TOKENS: tuple[bytes, ...] = (
    b"", b"\x00", b"\xff", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc3", b"\x1a",
    b"\x85", "é٣３\u2028\u200f\ufeff𝄞".encode(), b'"', b'""', b'"""', b"'", b"\\", b"\r", b"\r\n", b"\n\n", b"\n",
    b"\t", b" ", b"\v\f", b";", b",", b",,,,,,,,", b"|", b"#", b"%", b"-", b"+", b"-0", b"00", b"1e5", b"1e999",
    b"-1e-400", b"nan", b"inf", b"0x1F", b"1_000", b"3.0", b".5", b"5.", b"9" * 18, b"9" * 19, b"9223372036854775808",
    b"-9223372036854775809", b"18446744073709551616", b"9007199254740993", b"9" * 400, b"9" * 5000, b"true", b"null",
    b"~", b"None", b"NaT", b"2020-02-30", b"2020-13-01", b"0000-01-01", b"9999-12-31T23:59:60Z", b"10000-01-01",
    b"???", b"=1+1", b"../../..", b"/", b"a" * 3000, b"\xf0\x9f" * 50,
)  # fmt: skip

YAML: tuple[bytes, ...] = (
    b"{", b"}", b"[", b"]", b"[[[[", b"{a: {a: {a: ", b": ", b"- ", b"? ", b"&a ", b"*a", b"&a [*a]", b"<<: *a",
    b"!!int ", b"!!binary ", b"!!python/object/apply:os.system [x]", b"!!set {a}", b"!!timestamp 2020-01-01", b"|\n",
    b">-\n", b"---\n", b"...\n", b"%YAML 1.1\n", b"minimum", b"maximum", b"constraints", b"categories", b"hierarchy",
    b"type", b"name", b"integer", b"number", b"string", b"boolean", b"date", b"datetime", b"role", b"target",
    b"identifier", b"step", b"multipleOf", b"schemaVersion",
    b"unknown", b"drop", b"fanout", b"bands", b"prefixes", b"dateparts", b"missingValues",
    b"dialect", b"delimiter", b"encoding", b"utf-16", b"utf-7", b"idna", b"rot13", b"header", b"quoteChar", b"unit",
    b"person", b"max_records", b"kind", b"table", b"sets", b"graph", b"items", b"nodes", b"node-isolate", b"edge",
    b"form", b"long", b"fimi", b"list", b"degrees", b"matrix-market", b"max_degree", b"1d", b"15min", b"%d/%m/%Y",
    b"1.5", b"-1", b"0", b"10000000", b"\\ud800", b'"\\ud800"', b'"\\u0000"', b"title", b"guarantee", b"none",
    b"fields:\n", b"  ", b"    ", b"\n  - ",
)  # fmt: skip


def mutate(dice: Random, data: bytes, tokens: Sequence[bytes] = TOKENS, others: Sequence[bytes] = ()) -> bytes:
    """The data with a few changes; `others` are inputs that parts can be taken from."""
    changes: list[Callable[[Random, bytes], bytes]] = [
        _flip, _flip, _put_byte, _cut, _repeat, _truncate, _swap_lines, _repeat_line, _drop_line,
    ]  # fmt: skip
    for _ in range(1 + min(dice.getrandbits(2), dice.getrandbits(3))):
        kind = dice.randrange(len(changes) + 6)
        if kind < len(changes):
            data = changes[kind](dice, data)
        elif kind == len(changes) and others:
            data = _splice(dice, data, others[dice.randrange(len(others))])
        else:
            data = _put_token(dice, data, tokens)
    return data[:LONGEST]


def _place(dice: Random, data: bytes) -> int:
    return dice.randrange(len(data) + 1)


def _span(dice: Random, data: bytes) -> tuple[int, int]:
    start = _place(dice, data)
    longest = (4, 40, len(data))[dice.randrange(3)]
    return start, min(len(data), start + dice.randrange(longest + 1))


def _flip(dice: Random, data: bytes) -> bytes:
    if not data:
        return data
    at = dice.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << dice.randrange(8))]) + data[at + 1 :]


def _put_byte(dice: Random, data: bytes) -> bytes:
    at = _place(dice, data)
    return data[:at] + bytes([dice.randrange(256)]) + data[at + dice.randrange(2) :]


def _cut(dice: Random, data: bytes) -> bytes:
    start, stop = _span(dice, data)
    return data[:start] + data[stop:]


def _repeat(dice: Random, data: bytes) -> bytes:
    start, stop = _span(dice, data)
    return data[:start] + data[start:stop] * (2 + dice.randrange(20)) + data[stop:]


def _truncate(dice: Random, data: bytes) -> bytes:
    return data[: _place(dice, data)]


def _put_token(dice: Random, data: bytes, tokens: Sequence[bytes]) -> bytes:
    """Puts a token at some position, or in place of a word."""
    token, (start, stop) = tokens[dice.randrange(len(tokens))], _span(dice, data)
    if dice.randrange(2):
        return data[:start] + token + data[start:]
    if dice.randrange(2):
        words = data.replace(b"\n", b" ").replace(b",", b" ").split(b" ")
        word = words[dice.randrange(len(words))]
        start = data.find(word)
        stop = start + len(word)
    return data[:start] + token + data[stop:]


def _splice(dice: Random, data: bytes, other: bytes) -> bytes:
    start, stop = _span(dice, other)
    at = _place(dice, data)
    return data[:at] + other[start:stop] + data[at:]


def _lines(data: bytes) -> list[bytes]:
    return data.splitlines(keepends=True) or [b""]


def _swap_lines(dice: Random, data: bytes) -> bytes:
    lines = _lines(data)
    i, j = dice.randrange(len(lines)), dice.randrange(len(lines))
    lines[i], lines[j] = lines[j], lines[i]
    return b"".join(lines)


def _repeat_line(dice: Random, data: bytes) -> bytes:
    lines = _lines(data)
    i = dice.randrange(len(lines))
    return b"".join([*lines[:i], *lines[i : i + 1] * (2 + dice.randrange(200)), *lines[i + 1 :]])


def _drop_line(dice: Random, data: bytes) -> bytes:
    lines = _lines(data)
    del lines[dice.randrange(len(lines))]
    return b"".join(lines)


# ---- documents ------------------------------------------------------------------------------------------------------

VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 17, 255, 256, 257, 1000, 10**6, 10**7, 2**31, 2**53 - 1, 2**53, 2**63, 10**400,
    0.1, 0.5, 1.5, -0.0, 1e-9, 1e-300, 1e15, 1e300, "", " ", "a", "A01", "null", "drop", "???", "1", "1.5", "-0", "1e5",
    "2020-01-01", "2020-02-30", "9999-12-31", "0001-01-01T00:00:00", "2020-01-01T00:00:00+25:00", "1d", "0d", "1h",
    "99999999999999999999d", "%d/%m/%Y", "%Q", "\x00", "\ud800", "é", "a" * 500, "9" * 400, "../x", "job.csv", ".", "/",
    "#", "x#y", "utf-8", "utf-16", "utf-7", "rot13", "punycode", "hex", "undefined", "idna", "mbcs", ",", "\n", [], {},
    [[]], [{}], {"": []}, ["a", "a"], [1, "1"], [None], [True, 1], {"value": 3, "label": "x"}, {"fanout": 2},
    {"fanout": 10**9}, {"bands": [2, 4]}, {"bands": [0]}, {"prefixes": [0]}, {"prefixes": [10**9]},
    {"dateparts": ["year"]}, {"minimum": 0, "maximum": 3}, {"minimum": 3, "maximum": 0},
    {"minimum": -(2**53), "maximum": 2**53}, {"minimum": 1, "maximum": 10**7}, {"minimum": 1, "maximum": 10**7 + 1},
    {"person": "id", "max_records": 2}, {"person": "age", "max_records": 2}, {"person": "", "max_records": 0},
    {"delimiter": "\x00", "quoteChar": "\x00"}, {"delimiter": '"'}, {"encoding": "hex"}, {"header": 0},
)  # fmt: skip
"""Values to put anywhere in a schema; each is near some limit."""

KEYS = tuple(word.decode() for word in YAML if word.isalpha()) + (
    "categoriesOrdered", "trueValues", "falseValues", "format", "required", "enum", "id", "item", "column",
    "max_degree", "max_records", "skipInitialSpace", "quoteChar", "min", "values", "custom", "\ud800", "",
)  # fmt: skip


def mutate_document(dice: Random, document: Any) -> Any:
    """A copy of nested lists and mappings with a few values, keys or entries changed."""
    changed = copy.deepcopy(document)
    for _ in range(1 + min(dice.getrandbits(2), dice.getrandbits(2))):
        holders = [one for one in _holders(changed) if len(one)]
        if not holders:
            return copy.deepcopy(VALUES[dice.randrange(len(VALUES))])
        holder = holders[dice.randrange(len(holders))]
        places = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        place = places[dice.randrange(len(places))]
        other = holders[dice.randrange(len(holders))]
        value = copy.deepcopy((VALUES[dice.randrange(len(VALUES))], other)[dice.randrange(5) == 0])
        kind = dice.randrange(6)
        if kind == 0:
            del holder[place]
        elif kind == 1 and isinstance(holder, dict):
            holder[KEYS[dice.randrange(len(KEYS))]] = value
        elif kind == 1:
            holder.insert(place, value)
        else:
            holder[place] = value
    return changed


def _holders(document: Any) -> Iterator[Any]:
    if isinstance(document, dict | list):
        yield document
        for one in document.values() if isinstance(document, dict) else document:
            yield from _holders(one)

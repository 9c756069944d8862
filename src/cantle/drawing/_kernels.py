"""Compiled loops that draw and write records; their specification is the plain code in counts.py and records.py."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cantle.jit import compiled, inlined, inner
from cantle.trusted.core.arrays import Bytes, Codes, Floats, Ints, Words

WHOLE = 16
"""Bytes that are copied by one instruction; most values are shorter."""

_FEW = 24  # largest region whose records are ranked by comparing all pairs


@inner
def _sort(keys: Words, room: Words, bits: int) -> None:
    """Sorts keys in ascending order; their `bits` above bit 32 are uniform, so that each bucket holds few."""
    level = 0
    while level < bits and (1 << level) < len(keys):
        level += 1
    shift = np.uint64(32 + bits - level)
    ends = np.zeros((1 << level) + 1, np.int64)
    for key in keys:
        ends[np.int64(key >> shift) + 1] += 1
    for i in range(1, len(ends)):
        ends[i] += ends[i - 1]
    for key in keys:
        bucket = np.int64(key >> shift)
        room[ends[bucket]] = key
        ends[bucket] += 1
    for i in range(len(keys)):  # nearly sorted already: an insertion sort takes few steps
        key, j = room[i], i
        while j > 0 and keys[j - 1] > key:
            keys[j] = keys[j - 1]
            j -= 1
        keys[j] = key


@inner
def _guide(below: Floats, parts: int) -> NDArray[np.int32]:
    """For each of `parts` equal parts of the whole mass, approximately the code in which it begins."""
    guide, code = np.empty(parts + 1, np.int32), 0
    for part in range(parts + 1):
        while code < len(below) - 2 and below[code + 1] <= below[-1] * part / parts:
            code += 1
        guide[part] = code
    return guide


@compiled
def draw(words: Words, starts: Ints, lo: Ints, hi: Ints, below: Floats, bits: int, codes: Codes) -> None:
    """Draws the codes of all records, region by region, as `drawing.counts.Strata.draw` specifies."""
    most = 0
    for r in range(len(lo)):
        most = max(most, starts[r + 1] - starts[r])
    drawn, keys, room = np.empty(most, codes.dtype), np.empty(most, np.uint64), np.empty(most, np.uint64)
    unused, parts = np.uint64(32 - bits), 16 * len(below)
    guide, scale = _guide(below, parts), parts / below[-1] if below[-1] > 0 else 0.0
    for r in range(len(lo)):
        first, number = starts[r], starts[r + 1] - starts[r]
        if hi[r] - lo[r] == 1:
            codes[first : first + number] = lo[r]
            continue
        base, mass = below[lo[r]], below[hi[r]] - below[lo[r]]
        for k in range(number):
            word = words[first + k]
            at = base + (k + np.float64(word >> np.uint64(32)) * 2.0**-32) / number * mass
            part = min(int(at * scale), parts)
            code = min(max(guide[part], lo[r]), hi[r] - 1)
            while code > lo[r] and below[code] > at:
                code -= 1
            while code < hi[r] - 1 and below[code + 1] <= at:
                code += 1
            drawn[k] = code
            keys[k] = ((word & np.uint64(0xFFFFFFFF)) >> unused) << np.uint64(32) | np.uint64(k)
        if number <= _FEW:
            for k in range(number):  # the rank of a key is the number of smaller keys; counting them needs no branches
                rank = 0
                for i in range(number):
                    rank += keys[i] < keys[k]
                codes[first + rank] = drawn[k]
            continue
        _sort(keys[:number], room, bits)
        for k in range(number):
            codes[first + k] = drawn[np.int64(keys[k] & np.uint64(0xFFFFFFFF))]


@inlined
def _digits(value: int, room: Bytes, at: np.uint64) -> np.uint64:
    """Writes a whole number; returns the position after it."""
    if value < 0:
        room[at] = 45
        at += np.uint64(1)
    rest, digits, limit = np.uint64(abs(value)), 1, np.uint64(10)
    while digits < 19 and rest >= limit:
        digits += 1
        limit *= np.uint64(10)
    at += np.uint64(digits)
    for k in range(1, digits + 1):
        room[at - np.uint64(k)] = np.uint64(48) + rest % np.uint64(10)
        rest //= np.uint64(10)
    return at


@compiled
def join(block: Codes, steps: Ints, places: Ints, text: Bytes, room: Bytes) -> np.uint64:
    """Writes records as lines of text; returns the number of bytes. `drawing/records.py` describes the tables.

    WHOLE bytes of each value are copied at once, which the next value overwrites; text and room end with as many more.
    """
    at = np.uint64(0)
    for r in range(block.shape[0]):
        for c in range(block.shape[1]):
            code = block[r, c]
            if steps[c, 2]:
                if code < steps[c, 3]:
                    at = _digits(steps[c, 1] + code * steps[c, 2], room, at)
                code = 0
            place = places[steps[c, 0] + code]
            start, length = np.uint64(place >> 16), np.uint64(place & 0xFFFF)
            for k in range(WHOLE):
                room[at + np.uint64(k)] = text[start + np.uint64(k)]
            for k in range(np.uint64(WHOLE), length):
                room[at + k] = text[start + k]
            at += length
    return at

"""The compiled kernel that turns lines of CSV into codes; fields it cannot parse fall back to polars.

For the fields that it reads, it replaces cantle.data.tables and `Domain.encode`. It reads a field if it is empty, a
listed text (a declared category or a missing-value mark), a whole number of up to 18 digits, or, in a column where all
other texts mean the same, any other text without blanks around it. A line with any other field is in doubt, and those
two modules read it again. Lines hold no quotes and no carriage returns.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cantle.jit import compiled, ends64, inlined, load8, lowest

Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]
Ints = NDArray[np.int64]

SKIP, WHOLE, TEXT = 0, 1, 2
PLACE, LEAST, MOST, STEP, EMPTY, OTHER, BASE, MASK, MARKS, MARKED = range(10)
"""The numbers that describe a column: where its code goes; the first and last grid value and the width of a code; the
code of an empty field and that of any text not listed (DOUBT: read again); where its texts begin in the table, and
their number of places minus one; where its missing-value marks that are whole numbers begin, and where they end."""

DOUBT = -2
END = 10
MULTIPLIER, OTHER_MULTIPLIER = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F


def hashed(words: list[int]) -> int:
    """The hash of a text, given as two or more words of eight bytes: its place in a table whose size is a power of
    two."""
    state = words[0] * MULTIPLIER + words[1] * OTHER_MULTIPLIER
    for word in words[2:]:
        state = (state ^ word) * MULTIPLIER
    return state % 2**64 >> 40


_U = np.uint64
_HIGHS = _U(0x8080808080808080)
_K, _L, _HASH_SHIFT = _U(MULTIPLIER), _U(OTHER_MULTIPLIER), _U(40)


@inlined
def _word(data: Bytes, i: np.uint64, left: np.uint64) -> np.uint64:
    """The next eight bytes of a text with this many bytes left, zeros after its end."""
    bits = min(left, _U(8)) << _U(3)
    return load8(data, i) & (~_U(0) >> (_U(64) - bits)) if left > _U(0) else _U(0)


@inlined
def _whole(data: Bytes, i: np.uint64, word: np.uint64, length: np.uint64) -> tuple[np.int64 | int, bool]:
    """The whole number in a field (1 to 18 digits, perhaps with a minus), and whether the field holds one."""
    if length <= _U(8):
        # Eight digits at once, with zeros in front: neighbours are joined to numbers of two, four and eight digits.
        digits = (word << (_U(64) - (length << _U(3)))) ^ _U(0x3030303030303030)
        digits &= ~_U(0) << (_U(64) - (length << _U(3)))
        if ((digits + _U(0x7676767676767676)) | digits) & _HIGHS == _U(0):
            digits = (digits * _U(10) + (digits >> _U(8))) & _U(0x00FF00FF00FF00FF)
            digits = (digits * _U(100) + (digits >> _U(16))) & _U(0x0000FFFF0000FFFF)
            return np.int64((digits * _U(10000) + (digits >> _U(32))) & _U(0xFFFFFFFF)), True
    negative = data[i] == 45
    at, end, value = i + _U(negative), i + length, np.int64(0)
    if end - at > _U(18) or at == end:
        return 0, False
    while at < end:
        digit = np.int64(data[at]) - 48
        if digit < 0 or digit > 9:
            return 0, False
        value = 10 * value + digit
        at += _U(1)
    return -value if negative else value, True


@inlined
def _listed(data: Bytes, i: np.uint64, length: np.uint64, info: Ints, places: Words, pool: Words) -> np.int64 | int:
    """The code of a listed text; DOUBT if the text is not listed.

    An entry of `places` is (length, two words, code, where the other words are in the pool); length 0 means no entry.
    """
    eight, left = _U(8), length - _U(8) if length > _U(8) else _U(0)
    one, two = _word(data, i, length), _word(data, i + eight, left)
    state = one * _K + two * _L
    k = _U(16)
    while k < length:
        state = (state ^ _word(data, i + k, length - k)) * _K
        k += eight
    mask = _U(info[MASK])
    place = (state >> _HASH_SHIFT) & mask
    while True:
        at = place + _U(info[BASE])
        if places[at, 0] == _U(0):
            return DOUBT
        if places[at, 0] == length and places[at, 1] == one and places[at, 2] == two:
            same, k = True, _U(16)
            while k < length:
                same &= pool[places[at, 4] + (k >> _U(3)) - _U(2)] == _word(data, i + k, length - k)
                k += eight
            if same:
                return np.int64(places[at, 3])
        place = (place + _U(1)) & mask


@inlined
def _is_odd(data: Bytes, i: np.uint64, length: np.uint64) -> bool:
    """Whether the kernel cannot judge a text: bytes beyond ASCII may not be UTF-8, and blanks at its ends may be
    trimmed."""
    odd = data[i] <= 32 or data[i + length - _U(1)] <= 32
    for k in range(length):
        odd |= data[i + _U(k)] >= 128
    return odd


@compiled
def scan(data: Bytes, at: int, size: int, signs: Ints, kind: Ints, infos: Ints, places: Words, pool: Words, marks: Ints,
         codes: NDArray[np.signedinteger], doubts: Ints) -> tuple[int, int, int]:  # fmt: skip
    """Codes (records, columns) of the lines from `at` on, as many as there is room for; -1 for a record to be dropped.

    `data` ends its lines with a line end and has 64 bytes more than `size`. `signs` are the separator and whether
    spaces before a field are skipped; `kind` has the first columns. Returns the number of records and of doubts, and
    where it stopped; `doubts` are (begin, end, record).
    """
    separator, columns = np.uint8(signs[0]), len(kind)
    i, stop, block = _U(at), _U(size), _U(at)
    ends = ends64(data, block, separator)  # bits: where fields end in 64 bytes; those passed are cleared
    record, doubtful = 0, 0
    while i < stop and record < len(codes):
        begin, doubt, over, c = i, False, False, 0
        while not over:
            while ends == _U(0):
                block += _U(64)
                ends = ends64(data, block, separator)
            start, end = i, block + lowest(ends)
            ends &= ends - _U(1)
            i, over = end + _U(1), data[end] == END
            if c < columns and kind[c] != SKIP:
                info = infos[c]
                if signs[1]:
                    while start < end and data[start] == 32:
                        start += _U(1)
                        doubt |= start == end
                length, plain = end - start, False
                if length == _U(0):
                    codes[record, info[PLACE]] = info[EMPTY]
                    plain = True
                elif kind[c] == WHOLE:
                    value, plain = _whole(data, start, load8(data, start), length)
                    if plain:
                        for k in range(info[MARKS], info[MARKED]):
                            doubt |= marks[k] == value
                        distance = min(max(value, info[LEAST]), info[MOST]) - info[LEAST]
                        codes[record, info[PLACE]] = distance if info[STEP] == 1 else distance // info[STEP]
                if not plain:
                    code = _listed(data, start, length, info, places, pool)
                    if code == DOUBT:
                        code = info[OTHER]
                        doubt |= code == DOUBT or _is_odd(data, start, length)
                    codes[record, info[PLACE]] = code
            c += 1
        if c == 1 and i - begin == _U(1):
            continue  # a blank line is no record
        while c < columns:  # a short line lacks its last values
            if kind[c] != SKIP:
                codes[record, infos[c, PLACE]] = infos[c, EMPTY]
            c += 1
        if doubt:
            doubts[doubtful, 0], doubts[doubtful, 1], doubts[doubtful, 2] = begin, i, record
            doubtful += 1
        record += 1
    return record, doubtful, int(i)

"""A reader for text files of edges, nodes or degrees, line by line, independent of schema and graph.

A line is a record. Its first fields count, the rest is ignored. Fields are separated by blanks (spaces, tabs), or by
one comma or semicolon with or without blanks around it, so that two commas have an empty field between them. A field
may be in double quotes, with a quote inside doubled; a quote that is not closed before the next separator or the
end of its line is an ordinary character. Lines whose first character is # or % are comments. A line with fewer fields,
or with an empty one among them, is dropped without a message, like all cleaning of records (docs/privacy.md).

Numbers are parsed eight digits at a time, for all lines of a piece of the file at once; fields that are not a plain
number of up to 16 digits are returned as bytes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cantle.errors import DataError
from cantle.schema import file_bytes
from cantle.schema.dialect import without_marks
from cantle.schema.file_bytes import check_file, whole_lines
from cantle.trusted.bounding.node_ids import Column, Ints

_PIECE = 1 << 23  # bytes parsed together
_TOKEN, _BLANK, _MARK, _END = range(4)
_KIND = np.full(256, _TOKEN, dtype=np.uint8)
_KIND[list(b" \t\v\f")] = _BLANK
_KIND[list(b",;")] = _MARK
_KIND[list(b"\n\r")] = _END
_COMMENT = np.zeros(256, dtype=np.bool_)
_COMMENT[list(b"#%")] = True
_FIELD = re.compile(rb'[ \t\v\f]*(?:"((?:[^"]|"")*)"(?=[ \t\v\f,;]|\Z)|([^ \t\v\f,;]*))[ \t\v\f]*(,|;|\Z|(?=.))')
_WIDTH = 8  # digits in a word
_LONGEST = 2 * _WIDTH


# ------------------------------------------------------------------------------------------------------- files


def pieces(source: str | os.PathLike[str]) -> Iterator[bytes]:
    """The file in pieces of whole lines, unpacked and without byte order marks."""
    path = Path(source)
    check_file(path)
    return map(without_marks, whole_lines(file_bytes.pieces(path, "utf-8", _PIECE)))


def read_fields(parts: Iterator[bytes], many: int) -> Iterator[list[Column]]:
    """The first `many` fields of every record, some records at a time."""
    return (_take_apart(part, many) for part in parts)


def matrix_market(source: str | os.PathLike[str]) -> tuple[int, Iterator[bytes]]:
    """The number of rows of a square coordinate matrix, and its entries in pieces of whole lines."""
    parts = pieces(source)
    first = next(parts, b"")
    banner = re.split(rb"[\r\n]", first, maxsplit=1)[0].lower().split()
    if banner[:3] != [b"%%matrixmarket", b"matrix", b"coordinate"]:
        raise _no_matrix(source)
    size = re.match(
        rb"(?:[ \t]*(?:%[^\r\n]*)?[\r\n])*[ \t]*(\d{1,10})[ \t]+(\d{1,10})[ \t]+\d+[ \t]*(?:[\r\n]|\Z)", first
    )
    if not size or int(size[1]) != int(size[2]) or int(size[1]) >= 2**31:
        raise _no_matrix(source)
    return int(size[1]), chain([first[size.end() :]], parts)


def _no_matrix(source: str | os.PathLike[str]) -> DataError:
    what = "a square coordinate matrix in Matrix Market form"
    return DataError(f"{Path(source).name!r} is not {what}; write it again, or give an edge list.")


# ------------------------------------------------------------------------------------------------------ records


def _take_apart(piece: bytes, many: int) -> list[Column]:
    """The first `many` fields of every record in a piece of whole lines, one column per field."""
    data = b"\n" * _LONGEST + piece + b"\n"  # so that every field has eight bytes before its end
    codes = np.frombuffer(data, dtype=np.uint8)
    kinds = _KIND[codes]
    ends = np.flatnonzero(kinds == _END)[_LONGEST - 1 :]
    begin, ends = ends[:-1], ends[1:]
    edges = np.flatnonzero(np.diff(kinds == _TOKEN)) + 1  # where tokens start and stop, in turn
    starts, stops = edges[::2], edges[1::2]
    first = np.searchsorted(starts, begin)
    enough = np.searchsorted(starts, ends) - first >= many
    quoted: list[bytes] = []
    if b'"' in piece:
        lines = np.unique(np.searchsorted(ends, np.flatnonzero(codes == ord('"'))))
        quoted = _quoted_records([data[begin[i] + 1 : ends[i]] for i in lines.tolist()], many)
        enough[lines] = False
    first, begin = first[enough], begin[enough]
    plain = ~_COMMENT[codes[starts[first]]]
    if b"," in piece or b";" in piece:
        plain &= _well_marked(np.flatnonzero(kinds == _MARK), begin, starts, first, many)
    first = first[plain]
    return [_read_column(data, starts[first + i], stops[first + i], quoted[i::many]) for i in range(many)]


def _read_column(data: bytes, starts: Ints, stops: Ints, more: list[bytes]) -> Column:
    """The fields at these places, and those in `more`."""
    numbers, other = _read_numbers(data, starts, stops)
    spans = zip(starts[other].tolist(), stops[other].tolist(), strict=True)
    return Column(
        np.concatenate([numbers, np.zeros(len(more), dtype=np.int64)]),
        np.concatenate([other, np.ones(len(more), dtype=np.bool_)]),
        [data[start:stop] for start, stop in spans] + more,
    )


def _well_marked(marks: Ints, begin: Ints, starts: Ints, first: Ints, many: int) -> NDArray[np.bool_]:
    """Whether a record has no comma before its first field, and at most one between two fields."""
    before = np.searchsorted(marks, begin)
    well = np.ones(len(first), dtype=np.bool_)
    for place in range(many):
        now = np.searchsorted(marks, starts[first + place])
        well &= now - before <= (place > 0)
        before = now
    return well


def _quoted_records(lines: list[bytes], many: int) -> list[bytes]:
    """The fields of lines with quotes in them, one record after another."""
    records = []
    for line in lines:
        fields: list[bytes] = []
        at = 0
        while len(fields) < many and at < len(line):
            match = _FIELD.match(line, at)
            if match is None or match.end() == at:
                break
            fields.append(match[2] if match[1] is None else match[1].replace(b'""', b'"').strip())
            at = match.end()
        if len(fields) == many and all(fields) and line.lstrip()[:1] not in (b"#", b"%"):
            records += fields
    return records


# ------------------------------------------------------------------------------------------------------ numbers


def _read_numbers(data: bytes, starts: Ints, stops: Ints) -> tuple[Ints, NDArray[np.bool_]]:
    """The numbers at these places, and a mask of fields that are not plain numbers of up to 16 digits."""
    words = np.ndarray(len(data) - _WIDTH + 1, dtype="<u8", buffer=data, strides=(1,))  # one word begins at every byte
    lengths = stops - starts
    numbers, wrong = _read_word(words[stops - _WIDTH], lengths)
    if (lengths > _WIDTH).any():
        high, bad = _read_word(words[stops - _LONGEST], np.maximum(lengths - _WIDTH, 0))
        numbers, wrong = numbers + high * np.uint64(10**_WIDTH), wrong | bad
    wrong |= lengths > _LONGEST
    numbers[wrong] = 0
    return numbers.astype(np.int64), wrong


def _read_word(words: NDArray[np.uint64], digits: Ints) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    """The number in the last `digits` characters (at most eight) of each word, and a mask of words with non-digits.

    The first character is the lowest byte. Two neighbouring digits make a number below 100, two of these one below
    10,000, two of these the whole: three multiplications for eight digits.
    """
    shift = (np.maximum(_WIDTH - digits, 0) * 8).astype(np.uint64)
    shift = np.minimum(shift, np.uint64(63))
    value = (words ^ np.uint64(0x3030303030303030)) >> shift << shift  # digits become 0 to 9, bytes before them 0
    value[digits == 0] = 0
    wrong = ((value + np.uint64(0x7676767676767676)) | value) & np.uint64(0x8080808080808080) != 0
    value = (value * np.uint64(10) + (value >> np.uint64(8))) & np.uint64(0x00FF00FF00FF00FF)
    value = (value * np.uint64(100) + (value >> np.uint64(16))) & np.uint64(0x0000FFFF0000FFFF)
    return (value * np.uint64(10_000) + (value >> np.uint64(32))) & np.uint64(0xFFFFFFFF), wrong

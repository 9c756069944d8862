"""Encoding of a source into the codes of a domain, batch by batch.

The general path is cantle.data.tables followed by the domain's `encode`. A large CSV file goes directly from lines to
codes if its fields are simple (cantle.data._scan_kernel). The domain itself fills the kernel's tables, and fields that
the kernel cannot parse take the general path, so that both paths give the same codes (tests/data/test_encoding.py).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
import polars as pl

from cantle import kernel_choice
from cantle.data.file_forms import CSV, UNPACKED, Paths, are_paths, ending, files
from cantle.data.tables import Lines, as_ids, read_batches, read_lines
from cantle.schema.domain import MISSING, Attribute, Domain, Labels, Plane, unsigned
from cantle.schema.spelling import PLAIN
from cantle.schema.table import TableSchema
from cantle.schema.values import Codes
from cantle.trusted.bounding.persons import with_persons

if TYPE_CHECKING:
    from cantle.data._scan_kernel import Ints, Words

BYTES = 100
"""Rough size of a CSV record in bytes; decides from which file size on loading the kernels is worthwhile."""

PACKED = 5
"""How many times smaller a packed file is, roughly."""

MOST_TEXTS = 1 << 12
"""Most categories and marks of a column that the kernels look up."""

_WHOLE = re.compile(r"-?[0-9]{1,18}")
_PIECE = 1 << 18  # bytes read together, few enough to stay in the cache
_ROWS = 1 << 12  # records encoded together: their codes stay in the cache


def read_codes(source: object, schema: TableSchema, domain: Domain) -> Iterator[tuple[str, list[Codes], Codes]]:
    """Batches of (kind of frame, codes by column, classes), without the records that are dropped."""
    parts = files(cast("Paths", source)) if are_paths(source) else [source]
    for part in parts:
        yield from _read_part(part, schema, domain)


def _read_part(source: object, schema: TableSchema, domain: Domain) -> Iterator[tuple[str, list[Codes], Codes]]:
    """The same for a frame or a single file."""
    if not isinstance(source, Path) or not _is_large_csv(source):
        for batch in read_batches(source, schema):
            yield batch.kind, *domain.encode_columns(batch.frame)
        return
    wanted = schema.wanted
    scanner = None
    for lines in read_lines(source, schema, wanted, piece=_PIECE):
        if lines.quoted or len(lines.columns) == 1:
            yield "polars", *domain.encode_columns(lines.parse(wanted))
        else:
            scanner = scanner or _Scanner(domain.read, lines)
            for codes, classes in scanner.encode(lines):
                yield "polars", *domain.counted(codes, classes)


def read_person_codes(source: object, schema: TableSchema, domain: Domain) -> Iterator[tuple[str, pl.DataFrame]]:
    """Batches of (kind of frame, rows with persons), without dropped records and records without a person."""
    for batch in read_batches(source, schema):
        yield batch.kind, person_codes(batch.frame, domain, str(schema.person), schema.missing_values)


def person_codes(frame: pl.DataFrame, domain: Domain, person: str, missing: tuple[str, ...]) -> pl.DataFrame:
    """The codes of a frame with the identifier of each record's person (cantle.trusted.bounding.persons); records
    without a person are left out."""
    ids = as_ids(frame[person], missing)
    read = domain.read
    columns = [attribute.encode(attribute.given(frame)) for attribute in read.attributes]
    classes = read.target.encode(frame[read.target.name]) if read.target else np.zeros(len(ids), np.int64)
    known = ids.is_not_null().to_numpy() & np.logical_and.reduce([column >= 0 for column in (*columns, classes)])
    kept = [column[known].astype(unsigned(one.size)) for column, one in zip(columns, read.attributes, strict=True)]
    label = classes[known].astype(unsigned(read.target.size if read.target else 1))
    return with_persons(ids.filter(pl.Series(known, dtype=pl.Boolean)), *domain.counted(kept, label))


def _is_large_csv(path: Path) -> bool:
    if ending(path) not in CSV or not os.path.isfile(path):
        return False
    return kernel_choice.worth_loading(
        path.stat().st_size * (PACKED if path.suffix.lower() in UNPACKED else 1) // BYTES
    )


class _Scanner:
    """Reads the lines of one file: plain columns by the kernel, the rest and lines in doubt by the general path."""

    def __init__(self, domain: Domain, lines: Lines) -> None:
        from cantle.data import _scan_kernel as kernel

        self._domain, self._scan = domain, kernel.scan
        self._columns = [*domain.attributes, *([domain.target] if domain.target else [])]
        place = {name: j for j, one in enumerate(self._columns) for name in one.files}
        last = max(lines.columns.index(name) for name in place)
        tables = _Tables(lines)
        for name in lines.columns[: last + 1]:
            tables.add(None if name not in place else self._columns[place[name]], place.get(name, 0))
        self._plain = [j for j in range(len(self._columns)) if j in tables.plain]
        self._others = [j for j in range(len(self._columns)) if j not in tables.plain]
        self._arrays = tables.arrays()
        sizes = [attribute.size for attribute in self._columns]
        self._kinds = [unsigned(size) for size in sizes]
        self._room = np.zeros((_ROWS, len(sizes)), dtype=np.int32 if max(sizes) < 2**31 else np.int64)
        self._doubts = np.empty((_ROWS, 3), dtype=np.int64)

    def encode(self, lines: Lines) -> Iterator[tuple[list[Codes], Codes]]:
        """The codes and classes of these lines, some at a time, as `Domain.encode_columns` returns them."""
        others, number = self._read_others(lines), 0
        for text, size in _with_room_behind(lines.text):
            data, at = np.frombuffer(text, dtype=np.uint8), 0
            while at < size:
                records, doubtful, at = self._scan(data, at, size, *self._arrays, self._room, self._doubts)
                block = self._room[:records]
                if doubtful:
                    self._settle(lines, text, self._doubts[:doubtful], block)
                for j, codes in others.items():
                    block[:, j] = codes[number : number + records]
                if block.min(initial=0) < 0:
                    block = block[(block >= 0).all(axis=1)]
                yield self._narrow(block)
                number += records

    def _narrow(self, block: Codes) -> tuple[list[Codes], Codes]:
        """The codes in the types of the domain."""
        number = len(self._domain.attributes)
        if self._domain.target:
            classes = block[:, number].astype(self._kinds[number])
        else:
            classes = np.zeros(len(block), dtype=unsigned(1))
        return [block[:, j].astype(self._kinds[j]) for j in range(number)], classes

    def _settle(self, lines: Lines, text: bytes, doubts: Codes, block: Codes) -> None:
        """Reads the kernel's columns in lines in doubt by the general path."""
        wanted = [name for j in self._plain for name in self._columns[j].files]
        frame = lines.parse(wanted, b"".join(text[begin:end] for begin, end, _ in doubts.tolist()))
        for j in self._plain:
            block[doubts[:, 2], j] = self._columns[j].encode(self._columns[j].given(frame))

    def _read_others(self, lines: Lines) -> dict[int, Codes]:
        """The columns that the kernel does not read, by the general path."""
        if not self._others:
            return {}
        frame = lines.parse([name for j in self._others for name in self._columns[j].files])
        return {j: self._columns[j].encode(self._columns[j].given(frame)) for j in self._others}


def _with_room_behind(text: bytes) -> tuple[tuple[bytes, int], tuple[bytes, int]]:
    """The lines in two parts, each a text and how much of it to read. The kernel reads up to 64 bytes past the end, so
    the last lines are copied to a longer buffer and get a final line end."""
    last = text.rfind(b"\n", 0, max(0, len(text) - 64)) + 1
    rest = text[last:]
    return (text, last), (rest + b"\n" * 64, len(rest) + (not rest.endswith(b"\n")))


class _Tables:
    """The public tables that the kernel needs for every column of the file."""

    def __init__(self, lines: Lines) -> None:
        from cantle.data import _scan_kernel as kernel

        self._kernel, self._dialect = kernel, lines.dialect
        self._signs = [ord(lines.dialect.separator), int(lines.dialect.skip_initial_space)]
        self._kinds: list[int] = []
        self._infos: list[list[int]] = []
        self._places: list[tuple[int, int, int, int, int]] = []
        self._pool: list[int] = []
        self._marks: list[int] = []
        self.plain: set[int] = set()

    def arrays(self) -> tuple[Ints, Ints, Ints, Words, Words, Ints]:
        signs, kinds, infos = (np.array(one, dtype=np.int64) for one in (self._signs, self._kinds, self._infos))
        places = np.array(self._places, dtype=np.uint64).reshape(-1, 5)
        pool = np.array([*self._pool, 0], dtype=np.uint64)
        return signs, kinds, infos, places, pool, np.array([*self._marks, 0], dtype=np.int64)

    def add(self, attribute: Attribute | None, place: int) -> None:
        """Adds the next column of the file; its code goes to this place. None is a column that is not read."""
        kernel, info = self._kernel, dict.fromkeys(range(10), 0)
        kind = kernel.SKIP if attribute is None or self._dialect.separator > "\x7f" else _kind(attribute)
        if attribute is not None and kind != kernel.SKIP:
            self.plain.add(place)
            scale, texts = attribute.scale, list(attribute.scale.marks)
            if isinstance(scale, Labels):
                texts += scale.texts
                if scale.ignore_case:  # with the usual spellings listed, few texts are in doubt
                    texts += [form for text in scale.texts for form in (text.lower(), text.upper(), text.capitalize())]
            else:
                last, numbers = scale.first + (scale.grid - 1) * scale.step, list(filter(_WHOLE.fullmatch, texts))
                least = scale.first - scale.ahead  # smaller numbers than the first still get code 0
                info |= {kernel.LEAST: least, kernel.MOST: last, kernel.STEP: scale.step * attribute.width}
                info |= {kernel.MARKS: len(self._marks), kernel.MARKED: len(self._marks) + len(numbers)}
                self._marks += [int(text) for text in numbers]
                texts = [text for text in texts if text not in numbers]
            texts = [text for text in dict.fromkeys(texts) if text]
            empty, other, codes = _codes_of(attribute, texts)
            info |= {kernel.PLACE: place, kernel.EMPTY: empty, kernel.OTHER: kernel.DOUBT if other is None else other}
            info[kernel.BASE], info[kernel.MASK] = self._add_texts(texts, codes)
        self._kinds.append(kind)
        self._infos.append(list(info.values()))

    def _add_texts(self, texts: list[str], codes: list[int]) -> tuple[int, int]:
        """Puts texts and their codes into an open-addressing table; returns where it begins, and its size minus one."""
        size, first = 1 << (8 * len(texts)).bit_length(), len(self._places)
        table = [(0, 0, 0, 0, 0)] * size
        for text, code in zip(texts, codes, strict=True):
            encoded = text.encode()
            padded = encoded.ljust(max(16, -(-len(encoded) // 8) * 8), b"\0")
            words = np.frombuffer(padded, dtype="<u8").tolist()
            at = self._kernel.hashed(words) & (size - 1)
            while table[at][0]:
                at = (at + 1) & (size - 1)
            table[at] = (len(encoded), words[0], words[1], code % 2**64, len(self._pool))
            self._pool += words[2:]
        self._places += table
        return first, size - 1


def _codes_of(attribute: Attribute, texts: list[str]) -> tuple[int, int | None, list[int]]:
    """The codes of an empty field, of any unlisted text (None if they differ), and of the listed texts."""
    scale = attribute.scale
    if isinstance(scale, Labels) and scale.type == "integer":
        empty, *codes = attribute.encode(pl.Series([None, *texts], dtype=pl.String)).tolist()
        return empty, None, codes
    if not isinstance(scale, Labels):  # the listed texts are missing-value marks, and an empty field is one too
        empty, *codes = attribute.codes(np.full(len(texts) + 1, MISSING)).tolist()
        return empty, None, codes
    # All texts that are not listed have the same code, so one such text shows the code of all of them. A text with
    # blanks at its ends would be trimmed; the kernel leaves such texts in doubt.
    places = [MISSING, scale.place("?" + "".join(texts) + "?"), *map(scale.place, texts)]
    empty, other, *codes = attribute.codes(np.array(places)).tolist()
    return empty, None if scale.ignore_case else other, codes


def _kind(attribute: Attribute) -> int:
    """How the kernel reads a column; SKIP if it does not."""
    from cantle.data import _scan_kernel as kernel

    scale = attribute.scale
    if attribute.size >= 2**31 or isinstance(scale, Plane):
        return kernel.SKIP
    if isinstance(scale, Labels):
        return kernel.TEXT if len(scale.texts) + len(scale.marks) <= MOST_TEXTS else kernel.SKIP
    ends = scale.first, scale.first + (scale.grid - 1) * scale.step
    plain = scale.type == "integer" and scale.form == PLAIN and not scale.replaced
    fits = plain and ends[0] > -(2**62) and ends[1] < 2**62
    return kernel.WHOLE if fits else kernel.SKIP

"""Files and their forms: what the ending of a name means, and which files a path or pattern names.

A text file is read in pieces of UTF-8. How its bytes are decoded depends on the schema and, in a file with a header, on
the byte order mark before the header, but never on a record (cantle.schema.dialect).
"""

from __future__ import annotations

import codecs
import glob
import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import IO, Any, TypeGuard, cast

from cantle.errors import CantleError, DataError, MissingExtra, install_command, raise_alone
from cantle.schema.dialect import UTF_16, name_of, needs_no_decoding

CSV = (".csv", ".tsv", ".txt", ".data", ".test")
PARQUET = (".parquet", ".pq")
ARROW = (".arrow", ".feather", ".ipc")
JSON_LINES = (".jsonl", ".ndjson")
SHEETS = (".xlsx", ".xlsm", ".ods")
STATISTICS = (".sav", ".zsav", ".por", ".dta", ".sas7bdat", ".xpt")
"""Files of SPSS, Stata and SAS."""
TABLES = CSV + PARQUET + ARROW + JSON_LINES + SHEETS + STATISTICS
"""All endings of files that hold tables."""

UNPACKED = (".gz", ".zst")
"""Endings of packed text files that are unpacked while they are read."""
_PACKED = (*UNPACKED, ".xz", ".bz2", ".zip", ".7z", ".lz4")

MOST_NAMED = 20
_LINE_END = re.compile(rb"\r\n?|\n")
_PIECE = 1 << 24  # bytes read together
_MARKS = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}

OnePath = str | os.PathLike[str]
Paths = OnePath | list[OnePath] | tuple[OnePath, ...]
"""A path, a pattern, a folder, or a list of them."""


def ending(path: str | os.PathLike[str]) -> str:
    """The ending that says what a file holds, in lower case, without the ending of the packing.

    >>> ending("people.CSV"), ending("people.csv.gz"), ending("people.gz")
    ('.csv', '.csv', '')
    """
    name = Path(path)
    return (name.with_suffix("") if name.suffix.lower() in UNPACKED else name).suffix.lower()


def are_paths(data: object) -> bool:
    """Whether a table is handed over as a path, or as a list of them.

    Only for tables: a list of sets or edges is private, and a record in it may look like a path.
    """
    if isinstance(data, list | tuple):
        return bool(data) and all(map(is_path, data))
    return is_path(data)


def is_path(data: object) -> TypeGuard[OnePath]:
    """Whether data is handed over as one path, folder or pattern."""
    return isinstance(data, str | os.PathLike)


def files(data: Paths) -> list[Path]:
    """The files meant by a path, a pattern, a folder or a list of them, in the order of their names."""
    if isinstance(data, list | tuple):
        return [path for one in data for path in files(one)]
    text, path = os.fspath(data), Path(data)
    if not text:  # Path("") would be the working folder
        raise DataError("the path is empty; name a file.")
    if os.path.isdir(path):
        paths = [one for one in sorted(path.iterdir()) if ending(one) in TABLES and one.is_file()]
    elif not os.path.exists(path) and is_pattern(text):
        paths = [Path(one) for one in sorted(glob.glob(text, recursive=True))]
    else:
        return [path]
    if not paths:
        raise DataError(f"{path.name!r} holds or matches no file with a table; check the path.")
    return paths


def taken(data: str) -> str:
    """Which files a folder or a pattern stands for, in words; empty for a single file."""
    if not os.path.isdir(data) and (os.path.exists(data) or not is_pattern(data)):
        return ""
    found = [str(path) for path in files(data)]
    more = f" and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
    return f"{data!r} stands for {len(found)} file{'s' * (len(found) > 1)}: {', '.join(found[:MOST_NAMED])}{more}"


def require_files(paths: list[Path]) -> None:
    """Refuses a file that does not exist."""
    for path in paths:
        if not os.path.exists(path):  # also false for a text that cannot be a path
            raise DataError(f"there is no file {path.name!r}; check the path.")


def is_pattern(text: str) -> bool:
    """Whether a path may stand for several files."""
    return any(mark in text for mark in "*?[")


def check_packing(path: Path, *, text: bool) -> None:
    """Refuses a packed file, unless it is a text file in a packing that can be unpacked while reading."""
    if path.suffix.lower() in _PACKED and not (text and path.suffix.lower() in UNPACKED):
        raise DataError(f"{path.name!r} is compressed; unpack it first (text files may be .gz or .zst).")


# ---- bytes ----------------------------------------------------------------------------------------------------


def open_bytes(path: Path) -> IO[bytes]:
    """The bytes of a file, unpacked."""
    packing = path.suffix.lower()
    if packing == ".gz":
        import gzip

        return cast("IO[bytes]", gzip.open(path, "rb"))
    return _open_zstd(path) if packing == ".zst" else path.open("rb")


def _open_zstd(path: Path) -> IO[bytes]:
    with suppress(ImportError):  # part of Python from 3.14 on
        from compression import zstd  # type: ignore[import-not-found, unused-ignore]

        return cast("IO[bytes]", zstd.open(path, "rb"))
    with suppress(ImportError):
        import zstandard

        return cast("IO[bytes]", _Unpacking(path, zstandard.ZstdDecompressor))
    raise MissingExtra(f"{path.name!r} needs zstandard, which is not installed; {install_command('zstd')}")


class _Unpacking:
    """The bytes in all frames of a zstd file. The package's own reader would accept a truncated file as complete."""

    def __init__(self, path: Path, decompressor: Callable[[], Any]) -> None:
        self._file, self._new = path.open("rb"), decompressor
        self._frame, self._rest = self._new().decompressobj(), b""

    def __enter__(self) -> _Unpacking:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def read(self, size: int) -> bytes:
        """The bytes unpacked from about `size` more packed bytes; empty at the end."""
        while packed := self._rest or self._file.read(size):
            if self._frame.eof:
                self._frame = self._new().decompressobj()
            unpacked = self._frame.decompress(packed)
            self._rest = self._frame.unused_data if self._frame.eof else b""
            if unpacked:
                return bytes(unpacked)
        if not self._frame.eof:
            raise EOFError
        return b""


def pieces(path: Path, encoding: str, size: int | None = None, *, marked: bool = False) -> Iterator[bytes]:
    """The file in pieces of UTF-8, never cut inside CR LF; undecodable bytes become U+FFFD.

    `marked` says that the file has a header, so that a byte order mark of UTF-16 cannot be part of a record. In other
    files the first record would decide how all are read, so there the byte order must be declared.
    """
    if not marked and name_of(encoding) == UTF_16:
        fix = "write the encoding as utf-16-le (as Windows does) or utf-16-be"
        raise DataError(f"{path.name!r} has no header, so a byte order mark would be part of a record; {fix}.")
    held = b""
    try:
        with open_bytes(path) as file:
            piece = file.read(size or _PIECE)
            encoding = _by_mark(piece, encoding) if marked else encoding
            decoder = None if needs_no_decoding(encoding) else codecs.getincrementaldecoder(encoding)("replace")
            while piece:
                decoded = held + (decoder.decode(piece).encode("utf-8", "replace") if decoder else piece)
                held = b"\r" if decoded.endswith(b"\r") else b""
                if len(decoded) > len(held):
                    yield decoded.removesuffix(held)
                piece = file.read(size or _PIECE)
            if last := held + (decoder.decode(b"", final=True).encode("utf-8", "replace") if decoder else b""):
                yield last
    except CantleError:
        raise
    except Exception as error:
        if path.suffix.lower() in UNPACKED:
            raise_alone(DataError(f"{path.name!r} cannot be unpacked: it is damaged or truncated; pack it again."))
        if not isinstance(error, OSError | UnicodeError):
            raise
        raise_alone(DataError(f"{path.name!r} cannot be read; check its permissions and the encoding."))


def _by_mark(first: bytes, encoding: str) -> str:
    """The encoding of a file with a header: UTF-16 if its byte order mark says so, otherwise as declared."""
    if not needs_no_decoding(encoding) and name_of(encoding) != UTF_16:
        return encoding
    known = next((name for mark, name in _MARKS.items() if first.startswith(mark)), None)
    return known or ("utf-16-le" if name_of(encoding) == UTF_16 else encoding)


def below(pieces: Iterator[bytes], lines: int) -> Iterator[bytes]:
    """The bytes below so many lines of titles.

    A line ends at its line end, whatever quotes are in it: a quote in a title that a later record closes would make the
    number of lines depend on that record.
    """
    for piece in pieces:
        ends = [one.end() for one in islice(_LINE_END.finditer(piece), lines)] if lines else []
        lines -= len(ends)
        if not lines and (rest := piece[ends[-1] :] if ends else piece):
            yield rest

"""The bytes of text files: in pieces of UTF-8, unpacked while they are read.

How bytes are decoded depends on the schema and, in a file with a header, on the byte order mark before the header, but
never on a record (cantle.schema.dialect).
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from importlib import import_module
from pathlib import Path
from typing import IO, Any, cast

from cantle.errors import CantleError, DataError, MissingExtra, install_command, raise_alone
from cantle.schema.dialect import UTF_16, name_of, needs_no_decoding

UNPACKED = (".gz", ".zst", ".xz", ".bz2")
"""Endings of packed text files that are unpacked while they are read."""
_PACKED = (*UNPACKED, ".zip", ".7z", ".lz4")
_PIECE = 1 << 23  # bytes read together: several times as many are held while they are parsed
_MARKS = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


def check_file(path: Path, *, text: bool = True) -> None:
    """Refuses what is no file, and packed files, but for text files in a packing that is unpacked while reading."""
    if os.path.isdir(path):
        raise DataError(f"{path.name!r} is a folder; give one file.")
    if not os.path.exists(path):  # also false for a text that cannot be a path
        raise DataError(f"there is no file {path.name!r}; check the path.")
    check_packing(path, text=text)


def check_packing(path: Path, *, text: bool = True) -> None:
    """Refuses a packed file, unless it is a text file in a packing that is unpacked while reading."""
    if path.suffix.lower() in _PACKED and not (text and path.suffix.lower() in UNPACKED):
        known = ", ".join(UNPACKED)
        raise DataError(f"{path.name!r} is compressed; unpack it first (text files may be packed: {known}).")


def open_bytes(path: Path) -> IO[bytes]:
    """The bytes of a file, unpacked."""
    packing = path.suffix.lower()
    if packing == ".zst":
        return _open_zstd(path)
    library = {".gz": "gzip", ".xz": "lzma", ".bz2": "bz2"}.get(packing)
    return path.open("rb") if library is None else import_module(library).open(path, "rb")


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

    def close(self) -> None:
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
        with closing(open_bytes(path)) as file:
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


def whole_lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The pieces, cut again after their last line ends."""
    held: list[bytes] = []  # of a line that goes on; joined once, because a single line may be very long
    for piece in pieces:
        end = max(piece.rfind(b"\n"), piece.rfind(b"\r")) + 1
        if end:
            yield b"".join((*held, memoryview(piece)[:end]))
            held = []
        held.append(piece[end:])
    if rest := b"".join(held):
        yield rest

"""Stores: where an engine keeps its arrays, in memory or in files that no other process can open.

A file has no name, so the operating system deletes it when the engine lets go of it, however the process ends. Its disk
space is claimed before it is mapped, because writing to a mapped file on a full disk would end the process.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from math import prod
from typing import IO, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from cantle.errors import EngineError, replacing
from cantle.trusted.core.arrays import Words

Kind = TypeVar("Kind", bound=np.integer)

FAILURE = "the records could not be stored: the disk of temporary files (TMPDIR) is full or cannot be written"

_ZEROS = 1 << 20
"""Bytes written together where space cannot be claimed otherwise."""


class Store(Protocol):
    """Gives rooms: arrays to be filled, which are gone when nobody holds them."""

    def room(self, shape: tuple[int, ...], kind: type[Kind]) -> npt.NDArray[Kind]:
        """An array of this shape; what it holds at first has no meaning."""

    def gathered(self, parts: Iterable[Words], width: int) -> Words:
        """Rows of `width` words, part after part."""


class InMemory:
    """Rooms are arrays in memory."""

    def room(self, shape: tuple[int, ...], kind: type[Kind]) -> npt.NDArray[Kind]:
        return np.empty(shape, kind)

    def gathered(self, parts: Iterable[Words], width: int) -> Words:
        return np.concatenate([np.empty((0, width), np.uint64), *parts])


class OnDisk:
    """Rooms are files in the folder of temporary files, mapped into memory as far as they are used."""

    def room(self, shape: tuple[int, ...], kind: type[Kind]) -> npt.NDArray[Kind]:
        with guarded(), tempfile.TemporaryFile() as file:
            _claim(file, prod(shape) * np.dtype(kind).itemsize)
            return _mapped(file, shape, kind)

    def gathered(self, parts: Iterable[Words], width: int) -> Words:
        with guarded():
            file = tempfile.TemporaryFile()  # noqa: SIM115 - closed below; errors of the source are not ours to replace
        with file:
            records = 0
            for part in parts:
                with guarded():
                    file.write(np.ascontiguousarray(part).data)
                records += len(part)
            with guarded():
                file.flush()
                return _mapped(file, (records, width), np.uint64)


def _claim(file: IO[bytes], size: int) -> None:
    """Makes the file this long, with space on the disk for all of it."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, max(1, size))
        return
    for first in range(0, size, _ZEROS):
        file.write(bytes(min(_ZEROS, size - first)))
    file.flush()


def _mapped(file: IO[bytes], shape: tuple[int, ...], kind: type[Kind]) -> npt.NDArray[Kind]:
    if not prod(shape):  # an empty file cannot be mapped
        return np.empty(shape, kind)
    return np.asarray(np.memmap(file, dtype=kind, mode="r+", shape=shape))


def guarded() -> replacing:
    """Replaces errors of the operating system, which name folders."""
    return replacing(OSError, lambda _: EngineError(FAILURE))

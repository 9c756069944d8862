"""Stores: where an engine keeps its arrays, in memory or in files that no other process can open.

A file has no name, so the operating system deletes it when the engine lets go of it, however the process ends. Its disk
space is claimed before it is mapped, because writing to a mapped file on a full disk would end the process.

A store also brings rows together that belong together: all records of a person (Claim 40), all items of a set. In
memory that is all rows at once. On disk, rows are first divided among files by a hash of their key, and each file is
small enough to be read into memory. Workers of a cluster divide them in the same way.
"""

from __future__ import annotations

import os
import pickle
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from math import prod
from typing import IO, TYPE_CHECKING, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from cantle.errors import EngineError, replacing
from cantle.trusted.bounding.persons import places

if TYPE_CHECKING:
    from polars import DataFrame

Kind = TypeVar("Kind", bound=np.integer)
Part = TypeVar("Part")

FILES = 64
"""Files among which rows are divided, by default."""

FAILURE = "the records could not be stored: the disk of temporary files (TMPDIR) is full or cannot be written"

_ZEROS = 1 << 20
"""Bytes written together where space cannot be claimed otherwise."""


class Store(Protocol):
    """Gives rooms: arrays to be filled, which are gone when nobody holds them."""

    def room(self, shape: tuple[int, ...], kind: type[Kind]) -> npt.NDArray[Kind]:
        """An array of this shape; what it holds at first has no meaning."""

    def gathered(
        self, parts: Iterable[npt.NDArray[Kind]], shape: tuple[int, ...], kind: type[Kind]
    ) -> npt.NDArray[Kind]:
        """Rows of this shape, part after part."""

    def together(self, frames: Iterable[DataFrame], key: str) -> Iterator[list[DataFrame]]:
        """The same rows in groups: all rows that have the same value of the column `key` are in one of them."""

    def again(self, parts: Iterable[Part]) -> AbstractContextManager[Callable[[], Iterable[Part]]]:
        """Parts that are made once, and read as often as they are asked for."""


class InMemory:
    """Rooms are arrays in memory."""

    def room(self, shape: tuple[int, ...], kind: type[Kind]) -> npt.NDArray[Kind]:
        return np.empty(shape, kind)

    def gathered(
        self, parts: Iterable[npt.NDArray[Kind]], shape: tuple[int, ...], kind: type[Kind]
    ) -> npt.NDArray[Kind]:
        return np.concatenate([np.empty((0, *shape), kind), *parts], dtype=kind)

    def together(self, frames: Iterable[DataFrame], key: str) -> Iterator[list[DataFrame]]:  # noqa: ARG002
        yield list(frames)

    def again(self, parts: Iterable[Part]) -> AbstractContextManager[Callable[[], Iterable[Part]]]:
        held = list(parts)
        return nullcontext(lambda: held)


class OnDisk:
    """Rooms are files in the folder of temporary files, mapped into memory as far as they are used."""

    def __init__(self, files: int = FILES) -> None:
        self._files = files

    def room(self, shape: tuple[int, ...], kind: type[Kind]) -> npt.NDArray[Kind]:
        with guarded(), tempfile.TemporaryFile() as file:
            _claim(file, prod(shape) * np.dtype(kind).itemsize)
            return _mapped(file, shape, kind)

    def gathered(
        self, parts: Iterable[npt.NDArray[Kind]], shape: tuple[int, ...], kind: type[Kind]
    ) -> npt.NDArray[Kind]:
        with guarded():
            file = tempfile.TemporaryFile()  # noqa: SIM115 - closed below; errors of the source are not ours to replace
        with file:
            records = 0
            for part in parts:
                with guarded():
                    file.write(np.ascontiguousarray(part, kind).data)
                records += len(part)
            with guarded():
                file.flush()
                return _mapped(file, (records, *shape), kind)

    def together(self, frames: Iterable[DataFrame], key: str) -> Iterator[list[DataFrame]]:
        with ExitStack() as stack:
            with guarded():
                files = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(self._files)]
            written = [0] * self._files
            for frame in frames:
                for number, rows in divided(frame, key, self._files):
                    with guarded():
                        pickle.dump(rows, files[number])
                    written[number] += 1
            for file, times in zip(files, written, strict=True):
                if times:
                    with guarded():
                        file.seek(0)
                        held = [pickle.load(file) for _ in range(times)]  # noqa: S301 - only this function wrote it
                    yield held
                file.close()

    @contextmanager
    def again(self, parts: Iterable[Part]) -> Iterator[Callable[[], Iterable[Part]]]:
        with guarded():
            file = tempfile.TemporaryFile()  # noqa: SIM115 - closed below; errors of the source are not ours to replace
        with file:
            written = 0
            for part in parts:
                with guarded():
                    pickle.dump(part, file)
                written += 1

            def read() -> Iterator[Part]:
                with guarded():
                    file.seek(0)
                for _ in range(written):
                    with guarded():
                        held = pickle.load(file)  # noqa: S301 - only this function wrote it
                    yield held

            yield read


def divided(frame: DataFrame, key: str, number: int) -> Iterator[tuple[int, DataFrame]]:
    """The rows in up to `number` groups, those with the same key in the same one, and the numbers of the groups."""
    place = places(frame[key], number)
    sizes, rows = np.bincount(place, minlength=number), frame[np.argsort(place.astype(np.uint16), kind="stable")]
    for one, end in zip(np.flatnonzero(sizes).tolist(), np.cumsum(sizes)[sizes > 0].tolist(), strict=True):
        yield one, rows[end - int(sizes[one]) : end]


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

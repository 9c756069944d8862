"""Random words of the tests: the same ones in every run of a test, where a user gets those of the operating system.

A release made with them counts as private for the code, so the tests see what a user sees; but no test passes or
fails by luck. Tests of the real source carry the mark `real_entropy`.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from cantle.postprocess import counts
from cantle.trusted.noise import sources

BASE = "1"  # change it to see whether a test depends on luck
LAUNCH = Path(__file__).with_name("launch.py")


class Stream:
    """Bytes that depend on a name only."""

    def __init__(self, name: str) -> None:
        seed = hashlib.sha256(f"{BASE} {name}".encode()).digest()
        self._dice = np.random.Generator(np.random.PCG64(int.from_bytes(seed, "big")))

    def urandom(self, size: int) -> bytes:
        return self._dice.bytes(size)

    def randbits(self, number: int) -> int:
        return int.from_bytes(self.urandom(number // 8 + 1), "big") % 2**number


@contextmanager
def drawn_from(name: str) -> Iterator[None]:
    """Noise and fresh seeds come from the stream of this name; within another stream, that one goes on afterwards."""
    with _as(Stream(name), Stream(name + " seeds")):
        yield


@contextmanager
def real() -> Iterator[None]:
    """The operating system's words after all."""
    with _as(os, secrets):
        yield


@contextmanager
def _as(words: object, seeds: object) -> Iterator[None]:
    before = sources.os, counts.secrets
    sources.os, counts.secrets = words, seeds  # these two modules only: the rest of Python keeps its own
    try:
        yield
    finally:
        sources.os, counts.secrets = before


def launcher(*flags: str) -> list[str]:
    """The start of a command for a child process whose words follow from the running test's.

    After it come the arguments of `cantle`, or `-c` and a program.
    """
    return [sys.executable, *flags, "-P", str(LAUNCH), sources.os.urandom(8).hex()]

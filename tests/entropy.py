"""Repeatable randomness for tests: each test draws from a stream seeded by its name instead of the operating system.

The code treats a release made this way as private, so tests see what a user sees, but none passes or fails by luck.
Tests of the operating system's randomness carry the mark `real_entropy`.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np

from cantle.drawing import counts
from cantle.trusted.noise import sources

P = ParamSpec("P")
Made = TypeVar("Made")
BASE = "1"  # change it to see whether a test depends on luck
LAUNCH = Path(__file__).with_name("launch.py")


class Stream:
    """A stream of random bytes that depend only on its name."""

    def __init__(self, name: str) -> None:
        seed = hashlib.sha256(f"{BASE} {name}".encode()).digest()
        self._dice = np.random.Generator(np.random.PCG64(int.from_bytes(seed, "big")))

    def urandom(self, size: int) -> bytes:
        return self._dice.bytes(size)

    def randbits(self, number: int) -> int:
        return int.from_bytes(self.urandom(number // 8 + 1), "big") % 2**number


@contextmanager
def drawn_from(name: str) -> Iterator[None]:
    """Inside the block, noise and fresh seeds come from the stream of this name; an outer stream continues after it."""
    with _as(Stream(name), Stream(name + " seeds")):
        yield


def shared(make: Callable[P, Made]) -> Callable[P, Made]:
    """A function like one under `functools.cache`, for what several tests use.

    Its noise comes from a stream of its own, so that the result does not depend on which test asks first.
    """

    @cache
    def made(*given: Any, **named: Any) -> Made:
        with drawn_from(f"{make.__module__} {make.__qualname__} {given} {sorted(named.items())}"):
            return make(*given, **named)

    return cast("Callable[P, Made]", wraps(make)(made))


@contextmanager
def real() -> Iterator[None]:
    """Inside the block, randomness comes from the operating system again."""
    with _as(os, secrets):
        yield


@contextmanager
def _as(bits: object, seeds: object) -> Iterator[None]:
    before = sources.os, counts.secrets
    sources.os, counts.secrets = bits, seeds  # only in these two modules; all other code keeps the real ones
    try:
        yield
    finally:
        sources.os, counts.secrets = before


def launcher(*flags: str) -> list[str]:
    """The start of a command for a child process, whose random stream follows from that of the test.

    Append the arguments of `cantle`, or `-c` and a program.
    """
    return [sys.executable, *flags, "-P", str(LAUNCH), sources.os.urandom(8).hex()]

"""Sources of random words: the operating system, and a seeded hash for tests and trials."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import ClassVar, NoReturn, SupportsIndex

import numpy as np

from cantle.trusted.noise.base import Lanes, Words, scramble
from cantle.trusted.noise.samplers import Sampler


class Secure(Sampler):
    """Words of the operating system, each used once; the only source that makes a release private."""

    private: ClassVar[bool] = True

    def words(self, lanes: Lanes, round: int) -> Words:  # noqa: ARG002 (every word is new)
        # No words are stored: they would be used twice after a fork, or after a snapshot of the machine is restored.
        return np.frombuffer(os.urandom(8 * len(lanes)), dtype=np.uint64).copy()

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError("secure noise cannot be copied or pickled: random words must never be used twice")

    def __repr__(self) -> str:
        return "Secure()"


class Seeded(Sampler):
    """Words hashed from (seed, call, key, cell, round): repeatable whatever the chunks and their order, not private.

    >>> lanes = Lanes(call=1, keys=np.arange(4))
    >>> bool(Seeded(7).coin(lanes, 1000)[3] == Seeded(7).coin(lanes.take(slice(3, 4)), 1000)[0])
    True
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def words(self, lanes: Lanes, round: int) -> Words:
        state = _digest(self._seed, lanes.call, round)
        words = scramble(scramble(lanes.keys) ^ state)
        return words if lanes.cells is None else scramble((words + state) ^ lanes.cells.astype(np.uint64))

    def __repr__(self) -> str:
        return "Seeded(...)"


@lru_cache(maxsize=4096)
def _digest(*numbers: int) -> Words:
    """One word from whole numbers of any size and sign, each as its length and its 64-bit limbs."""
    state = np.zeros(1, dtype=np.uint64)
    for number in numbers:
        limbs = [number >> shift & (2**64 - 1) for shift in range(0, number.bit_length() + 1, 64)]
        for limb in [len(limbs), *limbs]:
            state = scramble(state ^ np.uint64(limb)) + np.uint64(1)
    return state

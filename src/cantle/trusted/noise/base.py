"""The noise interface: five operations, exact rates, and lanes (addresses of random numbers)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cantle.trusted.core.arrays import Bools as Bools
from cantle.trusted.core.arrays import Codes, Index
from cantle.trusted.core.arrays import Floats as Floats
from cantle.trusted.core.arrays import Ints as Ints
from cantle.trusted.core.arrays import Words as Words
from cantle.trusted.core.mixing import scramble as scramble

MOST_VALUE = 2**61
"""Largest noisy value: 64 bits hold it with the noise that is added to it."""


@dataclass(frozen=True)
class Rate:
    """Exact rational rates num/den, all public: one for all, or one per element (or segment).

    >>> Rate(500_000_000, 10**9).exact(7)
    (500000000, 1000000000)
    """

    num: int | Ints
    den: int

    def __post_init__(self) -> None:
        whole = isinstance(self.num, int) or np.asarray(self.num).dtype.kind in "iu"
        whole &= isinstance(self.den, int | np.integer)
        if not whole or self.den < 1 or (np.size(self.num) and np.min(self.num) < 1):
            raise ValueError("a rate must be positive and exact; give whole numbers num >= 1 and den >= 1")

    def take(self, index: Index) -> Rate:
        return Rate(self.num[index], self.den) if isinstance(self.num, np.ndarray) else self

    def repeat(self, sizes: Ints) -> Rate:
        return Rate(np.repeat(self.num, sizes), self.den) if isinstance(self.num, np.ndarray) else self

    def exact(self, i: int) -> tuple[int, int]:
        return int(self.num[i] if isinstance(self.num, np.ndarray) else self.num), int(self.den)

    def floats(self) -> Floats:
        """The rates after three roundings (num, den, quotient)."""
        return np.asarray(np.asarray(self.num, dtype=np.float64) / float(self.den))


@dataclass(frozen=True)
class Lanes:
    """The addresses of the random numbers of a call: the number of the curator's call, and one or two keys per
    element."""

    call: int
    keys: Codes
    cells: Codes | None = None

    def __len__(self) -> int:
        return len(self.keys)

    def take(self, index: Index) -> Lanes:
        return Lanes(self.call, self.keys[index], None if self.cells is None else self.cells[index])

    def inner(self, owner: Ints, cells: Codes) -> Lanes:
        """A lane for each cell of a lane; two keys are folded into one to make room for the cell."""
        keys = self.keys
        if self.cells is not None:
            keys = scramble(scramble(keys) ^ self.cells.astype(np.uint64))
        return Lanes(self.call, keys[owner], cells)


class Noise(ABC):
    """The only randomness that touches exact numbers. Keys, rates, thresholds and totals are public.

    Segments come in CSR form: those of segment s are `x[starts[s]:starts[s + 1]]`, one lane per segment.
    Counts and thresholds lie within +-MOST_VALUE; counts beyond it are cut there. So are noisy values: the noisy value
    is cut, which is post-processing, and never the noise, because a count plus the largest noise would show the count.
    """

    private: ClassVar[bool] = False

    @abstractmethod
    def laplace(self, lanes: Lanes, counts: Ints, rate: Rate) -> Ints:
        """counts + Z with P[Z = k] proportional to exp(-rate * |k|)."""

    @abstractmethod
    def select(
        self,
        lanes: Lanes,
        scores: Ints,
        starts: Ints,
        rate: Rate,
        inverse_weights: Ints | None = None,
        multiplicities: Ints | None = None,
    ) -> Ints:
        """Per segment, the index within it of one candidate: permute-and-flip, or with inverse weights the
        exponential mechanism, P[i] proportional to multiplicities[i] * exp(rate * scores[i]) / inverse_weights[i].
        A multiplicity (1 to 2**53, default 1) stands for that many candidates of the same score and weight."""

    @abstractmethod
    def above(self, lanes: Lanes, counts: Ints, thresholds: Ints, rate: Rate) -> Bools:
        """Whether counts + Z > thresholds; the noisy values are discarded."""

    @abstractmethod
    def sparse(
        self,
        lanes: Lanes,
        starts: Ints,
        cells: Ints,
        counts: Ints,
        total: Ints,
        rate: Rate,
        at_least: Ints | int,
    ) -> tuple[Ints, Ints, Ints]:
        """Noise on all `total` cells of each segment, of which only `cells` are occupied; returns the values of at
        least `at_least` (>= 1), as (starts, cells, values) sorted by segment and cell."""

    @abstractmethod
    def coin(self, lanes: Lanes, sides: Ints | int) -> Ints:
        """Uniform on 0 .. sides-1: public randomness."""


def starts_of(sizes: Ints) -> Ints:
    """Where each of several segments of these sizes begins, and where the last one ends."""
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes, dtype=np.int64)])


def within(sizes: Ints) -> Ints:
    """0, 1, ..., size-1 for each size in turn."""
    return np.arange(int(sizes.sum()), dtype=np.int64) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def spell_out(dense: Bools, starts: Ints, cells: Ints, counts: Ints, total: Ints) -> tuple[Ints, Ints, Ints]:
    """Sizes, cells and counts of the segments, dense ones with all their cells: empty ones have count 0."""
    given = np.diff(starts)
    sizes = np.where(dense, total, given)
    owner = np.repeat(np.arange(len(given)), given)
    place = starts_of(sizes)[owner] + np.where(dense[owner], cells, within(given))
    all_cells = within(sizes)
    all_counts = np.zeros_like(all_cells)
    all_cells[place], all_counts[place] = cells, counts
    return sizes, all_cells, all_counts


def passed(owner: Ints, shifted: Ints, new_owner: Ints, ranks: Ints) -> Ints:
    """For the rank of an empty cell, the number of occupied cells before it.

    The j-th occupied cell o of a segment (j = 0, 1, ...) has o - j empty cells before it, so it lies before
    the empty cell of rank r exactly if o - j <= r; `shifted` is o - j.
    """
    occupied = np.arange(len(owner) + len(new_owner)) < len(owner)
    order = np.lexsort((~occupied, np.concatenate([shifted, ranks]), np.concatenate([owner, new_owner])))
    seen = np.empty(len(order), dtype=np.int64)
    seen[order] = np.cumsum(occupied[order])
    return np.asarray(seen[len(owner) :] - np.searchsorted(owner, new_owner))

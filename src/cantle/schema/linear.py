"""Conditions on sums of several columns, such as `end - start` between 0 and 29.

A sum is over places, each times a whole factor. The condition holds for no record that lacks a value in one of its
columns. For a box of codes it holds nowhere, somewhere or everywhere; interval arithmetic finds out which, exactly for
single points.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import gcd

import numpy as np
from numpy.typing import NDArray

from cantle.trusted.core.arrays import Bools, Codes, Ints

Key = str | int
"""A column by its name; for sets, an item by its code, as a column of the codes 0 (absent) and 1 (present)."""

NOWHERE, SOMEWHERE, EVERYWHERE = 0, 1, 2
Verdicts = NDArray[np.int8]

MOST = 2**62
"""Sums must stay below this, so that 64 bits hold them."""


@dataclass(frozen=True)
class Term:
    """One column of a sum: its factor, and what its codes mean.

    `values` codes have a value, and come before null; each stands for `width` of the `grid` places. With `edges`, codes
    are cells of such codes instead. With `around`, a place stands for all places between the two of these that are
    around it.
    """

    key: Key
    factor: int
    grid: int
    size: int
    width: int = 1
    edges: Ints | None = field(default=None, compare=False)
    around: tuple[int, ...] = ()

    @property
    def values(self) -> int:
        """How many codes have a value."""
        return self.size if self.edges is not None else min(self.size, -(-self.grid // self.width))

    def places(self, lo: Codes, hi: Codes) -> tuple[Ints, Ints]:
        """The first place in spans of codes, and the place after the last; null is the place after all others."""
        low, high = np.asarray(lo).astype(np.int64), np.asarray(hi).astype(np.int64)
        if self.edges is not None:
            low, high = self.edges[low], self.edges[high]
        if self.around:
            known = np.array(self.around)
            low, high = known[np.searchsorted(known, low, side="right") - 1], known[np.searchsorted(known, high)]
        if self.width == 1:
            return low, high
        whole = -(-self.grid // self.width)
        first = np.where(low >= whole, self.grid, low * self.width)
        return first, np.where(high > whole, self.grid + 1, np.minimum(high * self.width, self.grid))

    def reach(self, lo: Ints, hi: Ints) -> tuple[Ints, Ints]:
        """The smallest and the largest part of the sum that spans of places can have."""
        ends = self.factor * lo, self.factor * (hi - 1)
        return ends if self.factor > 0 else ends[::-1]


@dataclass(frozen=True)
class Linear:
    """The condition that a sum of columns is between two bounds, both included; None is no bound.

    For cells of several places it holds if it does for all their points, or, if `touched`, for at least one as far as
    one can see. `left` says how many terms stood on the left of the sign.
    """

    terms: tuple[Term, ...]
    low: int | None
    high: int | None
    touched: bool = False
    left: int = field(default=0, compare=False)

    @property
    def range(self) -> tuple[int, int]:
        """The smallest and the largest sum that can occur."""
        ends = [sorted((0, term.factor * (term.grid - 1))) for term in self.terms]
        return sum(low for low, _ in ends), sum(high for _, high in ends)

    def verdict(self, spans: Callable[[Key], tuple[Ints, Ints]]) -> Verdicts:
        """Whether the condition holds nowhere, somewhere or everywhere in boxes, given by spans of codes.

        For single codes of several places it is one or the other, see above.
        """
        least: Ints = np.zeros((), dtype=np.int64)
        most, whole, some, single = least, np.array(True), np.array(True), np.array(True)
        for term in self.terms:
            lo, hi = spans(term.key)
            single = single & (hi - lo == 1)
            first, end = term.places(lo, hi)
            inside = np.minimum(end, term.grid)
            whole, some = whole & (end <= term.grid), some & (inside > first)
            low, high = term.reach(first, inside)
            least, most = least + low, most + high
        within, beside = np.array(True), np.array(False)
        if self.low is not None:
            within, beside = within & (least >= self.low), beside | (most < self.low)
        if self.high is not None:
            within, beside = within & (most <= self.high), beside | (least > self.high)
        verdict = (SOMEWHERE + (whole & within).astype(np.int8) - (~some | beside).astype(np.int8)).astype(np.int8)
        return np.where(single & (verdict == SOMEWHERE), EVERYWHERE if self.touched else NOWHERE, verdict)

    def holds(self, codes: Callable[[Key], Codes]) -> Bools:
        """For each record, or each combination of cells, whether the condition holds."""
        return self.verdict(lambda key: _single(codes(key))) == EVERYWHERE

    def opposite(self) -> tuple[Linear, ...]:
        """The conditions of which one holds where this one does not although all columns have a value."""
        below = [] if self.low is None else [replace(self, low=None, high=self.low - 1)]
        above = [] if self.high is None else [replace(self, low=self.high + 1, high=None)]
        return (*below, *above)

    def bounds_of(self, key: Key) -> tuple[int, int]:
        """The first place of a column at which the condition can hold, and the place after the last."""
        mine = next(term for term in self.terms if term.key == key)
        least, most = self.range
        low, high = sorted((0, mine.factor * (mine.grid - 1)))
        first, last = least if self.low is None else self.low, most if self.high is None else self.high
        first, last = first - (most - high), last - (least - low)  # what is left for the column at most
        if mine.factor < 0:
            first, last = -last, -first
        step = abs(mine.factor)
        return max(0, -(-first // step)), min(mine.grid, last // step + 1)

    def changes(self, key: Key, codes: Callable[[Key], Codes]) -> list[Ints]:
        """Codes of a column, for each record, between which the condition does not change, given the other columns."""
        mine = next((term for term in self.terms if term.key == key), None)
        if mine is None:
            return []
        others = [term.reach(*term.places(*_single(codes(term.key)))) for term in self.terms if term is not mine]
        found = []
        for rest in (sum(low for low, _ in others), sum(high for _, high in others)):
            for bound in (self.low, self.high):
                if bound is not None:
                    place = (np.asarray(bound - rest) // mine.factor) // mine.width
                    found += [place, place + 1, place + 2]
        return found

    def with_terms(self, change: Callable[[Term], Term]) -> Linear:
        return replace(self, terms=tuple(map(change, self.terms)))


def _single(codes: Codes) -> tuple[Ints, Ints]:
    """Single codes as spans."""
    first = np.asarray(codes).astype(np.int64)
    return first, first + 1


def reduced(terms: tuple[Term, ...], low: int | None, high: int | None, left: int = 0) -> Linear:
    """The condition with the smallest factors."""
    common = gcd(*(term.factor for term in terms))
    return Linear(
        tuple(replace(term, factor=term.factor // common) for term in terms),
        None if low is None else -(-low // common),
        None if high is None else high // common,
        left=left,
    )

"""Post-processing of noisy counts: rounding to non-negative integers, drawing records.

It costs no budget. Floats are allowed here, because everything depends only on answers already released. The generator
that draws records is public; its seed is recorded in the release.

The last digits of numpy's products of matrices (`@`), inverses and the like depend on the number of threads and on the
processor, and so would records, which `verify` draws again. No module of this room or of `methods` uses them on floats,
but `dot`, `mix` and `each_dot`.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from cantle.trusted.core.arrays import Codes
from cantle.trusted.geometry import value_sets
from cantle.trusted.geometry.boxes import Ints

Floats = npt.NDArray[np.float64]
_BLOCK = 1 << 15  # records drawn at once, so that what is held about them stays in the cache
LEAST_VARIANCE = 1e-100
"""At large rates variances and their squares would become 0, and quotients of them would not be numbers."""


class Dice(np.random.Generator):
    """Public dice: they draw records from noisy answers that are released anyway.

    `compiled` says whether compiled kernels draw with them; the records are the same.
    """

    def __init__(self, bits: np.random.BitGenerator, *, compiled: bool = False) -> None:
        super().__init__(bits)
        self.compiled = compiled


def variance(rate: float | Floats) -> Floats:
    """Variance of discrete Laplace noise of this rate: 2a / (1-a)^2 with a = e^-rate.

    >>> round(float(variance(1.0)), 4)
    1.8413
    """
    rate = np.asarray(rate, dtype=np.float64)
    return np.maximum(2 * np.exp(-rate) / np.expm1(-rate) ** 2, LEAST_VARIANCE)


def fresh_seed() -> int:
    """A seed for drawing records; it is not secret and is recorded in the release."""
    return secrets.randbits(53)


def public_dice(seed: int, *, compiled: bool = False) -> Dice:
    """The generator of a recorded seed."""
    return Dice(np.random.PCG64(seed), compiled=compiled)


STREAMS = ("pools", "sets", "subset", "records", "workload", "classes", "places")
"""The uses of public dice that have a stream of their own."""


def workload_dice(seed: int) -> Dice:
    """The dice that draw questions about a release's own error, a stream that nothing else uses."""
    return public_streams(seed, STREAMS)["workload"]


def public_streams(seed: int, names: Sequence[str]) -> dict[str, Dice]:
    """The dice of a recorded seed, one stream per use, so that uses do not affect each other."""
    return {name: Dice(np.random.PCG64([seed, number])) for number, name in enumerate(names)}


def systematic(weight: Floats, number: int, dice: Dice) -> Ints:
    """This many draws by weight, ascending and as even as possible: one from each equal part of the whole."""
    running = np.cumsum(weight)
    at = (np.arange(number) + dice.random()) / max(number, 1) * running[-1]
    return np.minimum(np.searchsorted(running, at, side="right"), int(np.flatnonzero(weight)[-1]) if number else 0)


def project_rows(x: Floats, totals: Floats) -> Floats:
    """Nearest point of each row in {x >= 0, sum = total}: x_i = max(0, x_i - tau).

    >>> project_rows(np.array([[3.0, -1.0], [1.0, 1.0]]), np.array([2.0, 4.0])).tolist()
    [[2.0, 0.0], [2.0, 2.0]]
    """
    if x.shape[1] == 0:
        return x
    falling = -np.sort(-x, axis=1)
    excess = np.cumsum(falling, axis=1) - totals[:, None]
    number = np.arange(1, x.shape[1] + 1)
    kept = (falling - excess / number > 0).sum(axis=1).clip(min=1)
    tau = excess[np.arange(len(x)), kept - 1] / kept
    return np.maximum(0.0, x - tau[:, None])


def round_rows(x: Floats, totals: Ints) -> Ints:
    """Rows of non-negative integers with the given sums, by largest remainder (ties: the earlier cell).

    >>> round_rows(np.array([[0.5, 0.5, 2.0]]), np.array([3])).tolist()
    [[1, 0, 2]]
    """
    floor = np.floor(x).astype(np.int64)
    missing = totals - floor.sum(axis=1)
    order = np.argsort(-(x - floor), axis=1, kind="stable")
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.broadcast_to(np.arange(x.shape[1]), x.shape), axis=1)
    return floor + (rank < missing[:, None])


def distinct_spans(lo: Ints, hi: Ints, size: int) -> tuple[tuple[Ints, Ints], Ints]:
    """The distinct spans [lo, hi) of codes below size, ascending, and for each region the number of its span."""
    spans, which = np.unique(lo * (size + 1) + hi, return_inverse=True)
    return (spans // (size + 1), spans % (size + 1)), which


MOST_MOVED = 100.0
"""By which factor `fit_values` moves a mass at most."""


def fit_values(target: Floats, lo: Ints, hi: Ints, weight: Floats, rounds: int = 40) -> Floats:
    """Masses f over the codes such that regions drawing from f inside [lo, hi) together show the target.

    Iterative proportional fitting of one attribute: scale f(v) by target(v) / current total of v over the regions.
    Spans may stand for sets of codes (geometry/value_sets.py).
    """
    # Many regions share the same few spans, so weights are summed by span first.
    sets, size = (hi > len(target)).any(), len(target)
    code = value_sets.CODE if sets else np.arange(size)
    (lo, hi), which = distinct_spans(lo, hi, len(code))
    weights = np.bincount(which, weight, len(lo)).astype(np.float64)
    # Every code keeps a little mass, so that every region has something to draw; and none moves far from its target: in
    # a region whose count contradicts the target it would grow without end, and all others would vanish beside it.
    floor = max(float(target.sum()), 1.0) * 1e-9
    low, high = np.maximum(target / MOST_MOVED, floor), np.maximum(target * MOST_MOVED, floor)
    f = np.maximum(target, floor)
    for _ in range(rounds):
        below = np.concatenate([[0.0], np.cumsum(value_sets.along(f) if sets else f)])
        share = weights / (below[hi] - below[lo])
        edge = np.bincount(lo, share, len(code) + 1) - np.bincount(hi, share, len(code) + 1)
        held = np.cumsum(edge)[: len(code)]
        shown = f * (np.bincount(code, held)[:size] if sets else held)
        f = np.clip(f * np.where(shown > floor, target / np.maximum(shown, floor), 1.0), low, high)
    return f


class Strata:
    """Draws codes of records region by region, given the records per region; keeps what all attributes share."""

    def __init__(self, counts: Ints) -> None:
        self.starts = np.concatenate([[0], np.cumsum(counts)])
        self.counts, self.total = counts, int(self.starts[-1])
        self._index_bits = max(self.total - 1, 1).bit_length()
        self._key_bits = max(1, min(32, 64 - self._index_bits - max(len(counts) - 1, 1).bit_length()))

    @cached_property
    def _region(self) -> Ints:
        return np.repeat(np.arange(len(self.counts)), self.counts)

    @cached_property
    def _within(self) -> Ints:
        return np.arange(self.total) - self.starts[self._region]

    @cached_property
    def _order(self) -> npt.NDArray[np.uint64]:
        """For each record a word: its region in the upper bits, its number in the lower bits, and between them room for
        a random key. Sorting such words shuffles the records inside their regions."""
        upper = self._region.astype(np.uint64) << np.uint64(self._key_bits + self._index_bits)
        return upper | np.arange(self.total, dtype=np.uint64)

    def draw(self, f: Floats, lo: Ints, hi: Ints, generator: Dice) -> Codes:
        """One code per record, region after region, drawn from f inside the region's span; in a narrow type.

        The draw is stratified: a region with m records takes one draw from each m-th of its mass, in random order, so
        that the records match f as closely as m records can. The upper half of a record's random word is its position
        within its m-th, the lower half decides the order.
        """
        below, kind = np.concatenate([[0.0], np.cumsum(f)]), np.min_scalar_type(max(len(f) - 1, 0))
        if generator.compiled:
            return self._draw_compiled(below, lo, hi, np.empty(self.total, dtype=kind), generator)
        words = generator.integers(0, 2**64, self.total, dtype=np.uint64)
        region = self._region
        place = (self._within + (words >> np.uint64(32)) * 2.0**-32) / self.counts[region]
        mass = below[lo][region] + place * (below[hi] - below[lo])[region]
        drawn = np.searchsorted(below, mass, side="right") - 1
        drawn = np.clip(drawn, lo[region], hi[region] - 1, out=drawn).astype(kind)
        words &= np.uint64(2**32 - 1)
        words >>= np.uint64(32 - self._key_bits)
        words <<= np.uint64(self._index_bits)
        words |= self._order
        words.sort()
        words &= np.uint64((1 << self._index_bits) - 1)
        return drawn[words.view(np.int64)]

    def _draw_compiled(self, below: Floats, lo: Ints, hi: Ints, codes: Codes, generator: Dice) -> Codes:
        """The same codes by a kernel, some regions at a time, so that their random words stay in the cache."""
        from cantle.drawing import _kernels

        first = 0
        while first < len(lo):
            last = max(first + 1, int(np.searchsorted(self.starts, self.starts[first] + _BLOCK, side="right")) - 1)
            starts = self.starts[first : last + 1]
            words = generator.integers(0, 2**64, int(starts[-1] - starts[0]), dtype=np.uint64)
            mine = codes[starts[0] : starts[-1]]
            _kernels.draw(words, starts - starts[0], lo[first:last], hi[first:last], below, self._key_bits, mine)
            first = last
        return codes


def draw_uniform(lo: Ints, hi: Ints, row: Codes, size: int, generator: Dice) -> Codes:
    """One code per record, uniform in [lo, hi) of the record's row, in the narrowest type for codes below `size`."""
    kind, width = np.min_scalar_type(max(size - 1, 0)), hi - lo
    widest = int(width.max(initial=1))
    if widest == 1:
        return lo.astype(kind)[row]
    codes = np.empty(len(row), kind)
    for first in range(0, len(row), _BLOCK):
        here = row[first : first + _BLOCK]
        random = generator.random(len(here), dtype=np.float32 if widest <= 1 << 16 else np.float64)
        room = width[here]
        codes[first : first + _BLOCK] = lo[here] + np.minimum((random * room).astype(np.int64), room - 1)
    return codes


def dot(one: Floats | Ints, other: Floats | Ints) -> float:
    """The sum of the products of two vectors."""
    return float((one * other).sum())


def mix(weights: Floats, rows: Floats) -> Floats:
    """The sum of the rows of a matrix, each times its weight."""
    return np.asarray((weights[:, None] * rows).sum(axis=0))


def each_dot(rows: Floats, vector: Floats) -> Floats:
    """The sum of the products of each row of a matrix and a vector."""
    return np.asarray((rows * vector).sum(axis=1))

"""Sizes of sets from a noisy histogram: where it ends, and one non-negative count per size. Post-processing.

With few records no bin of the histogram stands out of the noise by itself, and a rule that keeps what stands out leaves
sets of one item. Then the sizes are the average of all plausible shapes, each weighted by how likely it makes the noisy
histogram: a shape of few parameters uses all bins together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cantle.drawing.counts import Floats, dot, each_dot, mix, project_rows, variance
from cantle.trusted.geometry.boxes import Ints

_SINGLE = 8  # sizes up to this have a bin of their own
_OCTAVES = 7  # octaves of wider bins, four bins each; the last bin is open
_SURE = (4.0, 3.0, 2.0)  # standard deviations that a tail must exceed to be kept; fewer if no tail exceeds them
_STEEP = 1.0  # steepest change of ln(count) per item inside a bin
_NEGLIGIBLE = 1e-6  # part of the records below which a size of few records is left out


def size_edges(universe: int) -> Ints:
    """The smallest size of each bin: 1, 2, ..., 8, 9, 11, 13, 15, 17, 21, ..., 897, none above the universe.

    >>> size_edges(20).tolist()
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 15, 17]
    """
    wide = [(_SINGLE << octave) + (step << octave + 1) + 1 for octave in range(_OCTAVES) for step in range(4)]
    edges = np.array([*range(1, _SINGLE + 1), *wide], dtype=np.int64)
    return edges[edges <= universe]


@dataclass(frozen=True, eq=False)
class SizeModel:
    """How many records have each size: `count[k]` records of `size[k]` items, `total` records in all.

    `total` is the noisy number itself, which may be 0 or less; `count` always has some mass, so that rules may divide
    by it.
    """

    size: Ints
    count: Floats
    total: float

    @property
    def records(self) -> float:
        """The number of records as rules use it: at least 1."""
        return float(self.count.sum())

    @property
    def occurrences(self) -> float:
        """The sum of all sizes."""
        return dot(self.count, self.size)

    def of(self, size: int) -> float:
        """How many records have this size."""
        return float(self.count[self.size == size].sum())

    def without(self, size: int) -> SizeModel:
        """The records of all other sizes."""
        other = self.size != size
        return SizeModel(self.size[other], self.count[other], self.total - self.of(size))

    @property
    def ordered_pairs_per_item(self) -> float:
        """E[t (t - 1)] / E[t]: the mean number of other items in the record of an occurrence."""
        return dot(self.count, self.size * (self.size - 1)) / self.occurrences

    def counted(self, most: int) -> float:
        """The sum of all sizes when records are cut to `most` items."""
        return dot(self.count, np.minimum(self.size, most))

    def longer(self, most: int) -> tuple[float, float]:
        """How many records have more than `most` items, and how many items these have together."""
        long = self.size > most
        return float(self.count[long].sum()), dot(self.count[long], self.size[long])


def fit_sizes(noisy: Ints, edges: Ints, universe: int, rate: float) -> SizeModel:
    """The sizes behind a noisy histogram whose noise has this rate (epsilon over sensitivity)."""
    deviation = float(np.sqrt(variance(rate)))
    bins = last_bin(noisy, deviation) + 1
    total = float(noisy[: max(bins, _best_sum(noisy, deviation))].sum())
    if total * rate < FEW:
        ends = np.append(edges[1:], min(universe, 2 * int(edges[-1])) + 1)
        share, likely = likely_sizes(noisy, edges, ends, rate)
        if total > 0 or likely * rate > _SURE[0]:  # otherwise there may be no records at all
            kept = share > _NEGLIGIBLE
            return SizeModel(np.arange(1, ends[-1])[kept], share[kept] / share[kept].sum() * max(1.0, likely), likely)
    sure = max(1.0, float(noisy[:bins].sum()))
    count = project_rows(noisy[None, :bins].astype(float), np.array([sure]))[0] * (max(1.0, total) / sure)
    ends = np.append(edges[1:], min(universe, 2 * int(edges[-1])) + 1)[:bins]
    size = np.arange(1, ends[-1])
    spread = in_sizes(count, edges[:bins], ends)
    kept = spread > 0
    return SizeModel(size[kept], spread[kept], total)


def last_bin(noisy: Ints, deviation: float) -> int:
    """The last bin whose upper tail stands out of the noise; bins after it are taken as empty."""
    tail = np.cumsum(noisy[::-1])[::-1]
    noise = deviation * np.sqrt(np.arange(len(noisy), 0, -1))
    return next((int(np.flatnonzero(tail > sure * noise)[-1]) for sure in _SURE if (tail > sure * noise).any()), 0)


def _best_sum(noisy: Ints, deviation: float) -> int:
    """How many bins to add up for the number of records: each bin adds noise, and bins left out may hold records. The
    number minimises an unbiased estimate of the squared error, which up to a constant is the square of the sum left
    out, plus twice the variance of each bin used. So records of sizes that do not stand out of the noise one by one
    still count, as records of other sizes."""
    left_out = np.append(np.cumsum(noisy[::-1])[::-1], 0).astype(float)
    return int(np.argmin(left_out**2 + 2 * deviation**2 * np.arange(len(noisy) + 1)))


def in_sizes(count: Floats, edges: Ints, ends: Ints) -> Floats:
    """Counts of sizes from counts of bins: geometric inside a bin, with the slope between its neighbours."""
    width = ends - edges
    centre = (edges + ends - 1) / 2
    level = np.log(np.maximum(count, 1e-3) / width)
    slope = np.gradient(level, centre) if len(count) > 1 else np.zeros(1)
    bin_of = np.repeat(np.arange(len(count)), width)
    shape = np.exp(np.clip(slope, -_STEEP, _STEEP)[bin_of] * (np.arange(1, ends[-1]) - centre[bin_of]))
    return np.asarray(shape / np.bincount(bin_of, shape)[bin_of] * count[bin_of])


# ---- few records -----------------------------------------------------------------------------------------------------

FEW = 100.0
"""Noisy number of records, in scales of the noise in one bin, below which shapes are averaged."""

_LEAST, _MOST, _RATIO = 0.1, 500.0, 1.28  # expected numbers of items besides the first, in a geometric row
_SPREADS = (0.5, 1.0, 2.0, 4.0, 16.0, 1e3)  # sizes of negative binomial distributions; the last is almost Poisson's
_USUAL = 16  # the largest size that may hold a part of the records besides the distribution
_PARTS = (0.3, 0.6, 1.0)  # these parts


def likely_sizes(noisy: Ints, edges: Ints, ends: Ints, rate: float) -> tuple[Floats, float]:
    """The share of each size from 1 on, and the number of records; the noise of each bin has this rate.

    A shape is a negative binomial distribution of the items besides the first, mixed with a part of the records in one
    bin (all sets of five, say). Half of the prior weight is without such a part. Each shape has the number of records
    that fits best.
    """
    spread = _distributions(int(ends[-1]) - 1)
    width, bins = ends - edges, len(edges)
    usual = np.flatnonzero(edges <= _USUAL)
    part = np.concatenate([[0.0], np.tile(_PARTS, len(usual))])
    place = np.concatenate([[0], np.repeat(usual, len(_PARTS))])
    prior = np.concatenate([[1.0], np.full(len(part) - 1, 1 / (len(part) - 1))])
    binned = np.add.reduceat(spread, edges - 1, axis=1)
    shapes = (1 - part)[:, None] * binned[:, None] + part[:, None] * np.eye(bins)[place]
    records = np.maximum(0.0, (shapes * noisy).sum(axis=2) / (shapes**2).sum(axis=2))
    fit = -rate * np.abs(noisy - records[:, :, None] * shapes).sum(axis=2)
    weight = np.exp(fit - fit.max()) * prior
    weight /= weight.sum()
    usual_share = np.bincount(place, mix(np.ones(len(weight)), weight * part), bins)
    share = mix(each_dot(weight, 1 - part), spread) + np.repeat(usual_share / width, width)
    return share, float((weight * records).sum())


def _distributions(largest: int) -> Floats:
    """Negative binomial distributions over the sizes 1 to `largest`, one per row."""
    most = max(_LEAST, min(_MOST, largest - 0.9))
    means = np.geomspace(_LEAST, most, 2 + int(np.log(most / _LEAST) / np.log(_RATIO)))
    mean, spread = np.repeat(means, len(_SPREADS))[:, None], np.tile(_SPREADS, len(means))[:, None]
    more = np.arange(largest - 1)
    steps = np.log((more + spread) / (more + 1) * mean / (mean + spread))
    log = np.concatenate([np.zeros((len(steps), 1)), np.cumsum(steps, axis=1)], axis=1)
    density = np.exp(log - log.max(axis=1, keepdims=True))
    return np.asarray(density / density.sum(axis=1, keepdims=True))

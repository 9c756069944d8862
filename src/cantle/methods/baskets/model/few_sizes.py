"""Sizes of few sets: the average of all plausible shapes, each weighted by how likely it makes the noisy histogram.

With few records no bin of the histogram stands out of the noise by itself, and a rule that keeps what stands out leaves
sets of one item. A shape of few parameters uses all bins together. Post-processing.
"""

from __future__ import annotations

import numpy as np

from cantle.drawing.counts import Floats, each_dot, mix
from cantle.trusted.geometry.boxes import Ints

FEW = 100.0
"""Noisy number of records, in scales of the noise in one bin, below which shapes are averaged."""

_MEANS = 24  # expected numbers of items besides the first, from _LEAST to _MOST, in a geometric row
_LEAST, _MOST = 0.1, 31.1
_SPREADS = (0.5, 1.0, 2.0, 4.0, 1e3)  # sizes of negative binomial distributions; the last is almost Poisson's
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
    mean = np.repeat(np.geomspace(_LEAST, max(_LEAST, min(_MOST, largest - 0.9)), _MEANS), len(_SPREADS))[:, None]
    spread = np.tile(_SPREADS, _MEANS)[:, None]
    more = np.arange(largest - 1)
    steps = np.log((more + spread) / (more + 1) * mean / (mean + spread))
    log = np.concatenate([np.zeros((len(steps), 1)), np.cumsum(steps, axis=1)], axis=1)
    density = np.exp(log - log.max(axis=1, keepdims=True))
    return np.asarray(density / density.sum(axis=1, keepdims=True))

"""Noisy counts moved towards what is expected of them, by a prior that all of them suggest. Post-processing."""

from __future__ import annotations

import numpy as np

from cantle.drawing.counts import Floats
from cantle.drawing.sums import each_dot, mix

CLEAR = 12.0
"""A noisy count of at least this many noise scales is used as it is."""

_RATIOS = np.concatenate([[0.0], 2.0 ** np.arange(-5, 5.01, 0.5)])  # counts as multiples of what is expected
_SCALES = np.concatenate([[0.5, 1.0, 1.5], np.arange(2.0, 17.0)])  # and as multiples of the noise
_GROUP = 1.5  # octaves of what is expected that share a prior
_ROUNDS = 12
_MOST = 8000  # cells from which a prior is fitted
_BLOCK = 50_000
_KEPT = 6.0  # a sum is kept if it exceeds its noise this often
_LEAST = 0.02  # noise scales that are expected at least


def fit_prior(likelihood: Floats, number: Floats, prior: Floats, rounds: int) -> Floats:
    """The weights of values under which noisy counts are most likely, by expectation-maximisation; the rows of
    `likelihood` are noisy counts, each of which occurs `number` times, its columns are values."""
    whole = number.sum()
    for _ in range(rounds):
        shown = each_dot(likelihood, prior)
        prior = prior * mix(number / np.maximum(shown, 1e-300), likelihood) / whole
    return prior


def shrink(noisy: Floats, expected: Floats, scale: float) -> Floats:
    """Posterior means of counts of which `expected` is expected, given noisy ones with Laplace noise of this scale.

    Where much less than the noise is expected the answer is what is expected; where a count exceeds the noise it is the
    count. Groups of cells of which about as much is expected share a prior, and keep their sum if it is clear.
    """
    expected = np.maximum(expected, _LEAST * scale)
    made = np.maximum(noisy, 0.0)
    group = np.clip(np.floor(np.log2(expected / scale) / _GROUP), -4, 4)
    for one in np.unique(group).tolist():
        mine = np.flatnonzero((group == one) & (noisy < CLEAR * scale))
        if len(mine):
            made[mine] = _of_group(noisy[mine], expected[mine], scale)
    return made


def _of_group(noisy: Floats, expected: Floats, scale: float) -> Floats:
    some = np.arange(len(noisy))[:: -(-len(noisy) // _MOST)]
    prior = np.full(len(_RATIOS) + len(_SCALES), 1 / (len(_RATIOS) + len(_SCALES)))
    prior[: len(_RATIOS)] += np.exp(-(np.log2(np.maximum(_RATIOS, 1e-3)) ** 2))
    likelihood, _ = _likelihood(noisy[some], expected[some], scale)
    prior = fit_prior(likelihood, np.ones(len(some)), prior / prior.sum(), _ROUNDS) + 1e-9
    made = np.empty(len(noisy))
    for first in range(0, len(noisy), _BLOCK):
        here = slice(first, first + _BLOCK)
        likelihood, values = _likelihood(noisy[here], expected[here], scale)
        made[here] = each_dot(likelihood * values, prior) / each_dot(likelihood, prior)
    total, shown = float(noisy.sum()), float(made.sum())
    if shown > 0 and total > _KEPT * scale * len(noisy) ** 0.5:
        made *= np.clip(total / shown, 0.5, 2.0)
    return made


def _likelihood(noisy: Floats, expected: Floats, scale: float) -> tuple[Floats, Floats]:
    """How likely each noisy count is under each value (up to a factor per count), and the values."""
    values = np.concatenate(
        [expected[:, None] * _RATIOS, np.broadcast_to(scale * _SCALES, (len(noisy), len(_SCALES)))], 1
    )
    off = np.abs(noisy[:, None] - values) / scale
    return np.exp(off.min(axis=1, keepdims=True) - off), values

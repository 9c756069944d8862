"""Privelet, a baseline: noise on the Haar wavelet coefficients of one ordered attribute (Xiao, Wang, Gehrke 2010).

The counts of m = 2^l values are the leaves of a full binary tree. The base coefficient is their mean. A node whose left
and right leaves have means a and b has the coefficient (a - b) / 2. One record more changes one count by 1, so it
changes the base coefficient by 1/m, and the coefficient of each node above that count by 1/s if s leaves are below the
node. With weights m and s every such change is 1, and there are 1 + l of them: that is the generalised sensitivity.
Noise of scale (1 + l) / (epsilon * weight) on each coefficient is epsilon-private for neighbours with one record more
or less.

It is for comparison only: its floating-point noise is not safe to publish.
"""

from __future__ import annotations

import numpy as np

from cantle.drawing.counts import Floats, project_rows, round_rows
from cantle.trusted.geometry.boxes import Ints


def coefficients(counts: Floats) -> tuple[float, list[Floats]]:
    """The base coefficient, and the coefficients of the nodes level by level, starting with the root.

    >>> base, nodes = coefficients(np.array([9.0, 3.0, 6.0, 2.0]))
    >>> base, [level.tolist() for level in nodes]
    (5.0, [[1.0], [3.0, 2.0]])
    """
    means, levels = counts.astype(np.float64), []
    while len(means) > 1:
        pairs = means.reshape(-1, 2)
        levels.append((pairs[:, 0] - pairs[:, 1]) / 2)
        means = pairs.mean(axis=1)
    return float(means[0]), levels[::-1]


def counts_from(base: float, levels: list[Floats]) -> Floats:
    """The counts that have these coefficients."""
    means = np.array([base])
    for level in levels:
        means = np.stack([means + level, means - level], axis=1).reshape(-1)
    return means


def weights(size: int) -> list[int]:
    """The weight of the base coefficient, then of the nodes of each level: the number of counts below them.

    >>> weights(8)
    [8, 8, 4, 2]
    """
    return [size, *(size >> level for level in range(size.bit_length() - 1))]


def generalised_sensitivity(size: int) -> int:
    """The sum over all coefficients of weight times the change that one record makes: 1 + log2(size)."""
    return size.bit_length()


def privelet(counts: Ints, epsilon: float, rng: np.random.Generator) -> Floats:
    """Noisy counts. Up to the next power of two, values without records are added at the end and removed again."""
    size = 1 << max(0, len(counts) - 1).bit_length()
    base, levels = coefficients(np.pad(counts, (0, size - len(counts))).astype(np.float64))
    scale = generalised_sensitivity(size) / epsilon
    of_base, *of_levels = weights(size)
    noisy = [
        level + rng.laplace(0, scale / weight, len(level)) for level, weight in zip(levels, of_levels, strict=True)
    ]
    return counts_from(base + rng.laplace(0, scale / of_base), noisy)[: len(counts)]


def released_codes(counts: Ints, epsilon: float, rng: np.random.Generator) -> Ints:
    """Codes of records that have the noisy counts, after these are made non-negative and whole with the same sum."""
    noisy = privelet(counts, epsilon, rng)
    total = np.array([max(0, round(float(noisy.sum())))])
    whole = round_rows(project_rows(noisy[None, :], total.astype(float)), total)[0]
    return np.repeat(np.arange(len(counts)), whole)

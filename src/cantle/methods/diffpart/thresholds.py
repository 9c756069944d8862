"""Thresholds of DiffPart, and the expected number of empty sub-partitions that pass them, from public values.

As printed, the algorithm does not end in reasonable time on large universes: with fan-out 10 and C2 slightly above 1,
about 94 empty sub-partitions pass an operation at height 1, and each of them is split again.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from cantle.drawing.counts import Floats
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.item_partitions import ItemTree

ROOT2 = math.sqrt(2)


def expected(tree: ItemTree, passes: Callable[[int], float]) -> float:
    """A bound on the expected number of empty sub-partitions in a run over no records.

    `passes(h)` bounds the probability p_h that an empty sub-partition passes its test when a node of height h is
    expanded. A partial expansion of a node chooses a set of children for the node and for some nodes below it. R(v)
    sums the probabilities of all partial expansions that start with v: R(v) = p_h * (sum over sets S of children of
    prod_{w in S} (1 + R(w))) = p_h * (prod_w (2 + R(w)) - 1), where R = 0 for an item. In whatever order nodes are
    expanded, the sub-partitions that occur are different partial expansions of the root, so R(root) bounds their
    expected number. A node with a single child is expanded without a test, so its probability is 1.
    """
    below = np.zeros(tree.size)
    for height, edge in enumerate(tree.edges, 1):
        logs = np.add.reduceat(np.log(2.0 + below), edge[:-1])
        below = np.where(np.diff(edge) == 1, 1.0, passes(height)) * np.expm1(np.minimum(logs, 700.0))
    return float(below[0])


def chance(constant: float, height: int, most_rate: float) -> float:
    """The largest probability, for rates up to `most_rate`, that the noise of an empty cell reaches
    sqrt(2) * constant * height noise scales."""
    return math.exp(-ROOT2 * constant * height) / (1 + math.exp(-most_rate))


def threshold(constant: float, rate: Floats, patterns: Ints, eta: float | None, height: Ints) -> Ints:
    """The smallest count that passes a test.

    It is at least C * height standard deviations of the noise (the paper's rule) and, if eta is given, so large that on
    average at most eta empty sets of children pass.
    """
    least = np.ceil(ROOT2 * constant * height / rate)
    if eta is not None:
        least = np.maximum(least, np.ceil(np.log(patterns / ((1 + np.exp(-rate)) * eta)) / rate))
    return np.maximum(1, least).astype(np.int64)


def smallest_constant(tree: ItemTree, most_rate: float, most_cells: int) -> float | None:
    """The smallest C2, in steps of 0.01 up to 100, with which at most `most_cells` empty sub-partitions are expected;
    None if there is none."""
    low, high = 0, 10_000
    if expected(tree, lambda h: chance(high / 100, h, most_rate)) > most_cells:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        if expected(tree, lambda h, c=middle: chance(c / 100, h, most_rate)) > most_cells:  # type: ignore[misc]
            low = middle
        else:
            high = middle
    return high / 100

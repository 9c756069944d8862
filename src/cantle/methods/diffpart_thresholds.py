"""Thresholds of DiffPart, and the expected number of empty sub-partitions that pass them, from public values.

As printed, the algorithm explodes on large universes: with fan-out 10 and C2 slightly above 1, an operation at height
1 lets about 94 empty sub-partitions pass, each of which is split again.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from cantle.postprocess.counts import Floats
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.geometry.item_partitions import ItemTree

ROOT2 = math.sqrt(2)


def expected(tree: ItemTree, passes: Callable[[int], float]) -> float:
    """A bound on the expected number of empty sub-partitions in a run over no records; `passes(h)` bounds the chance
    that an empty sub-partition passes its test when a node of height h is expanded.

    A partial expansion of a node chooses, for some nodes from it down, a set of children each. R(v) sums the chances of
    all partial expansions that start with v: R(v) = p_h * (sum over sets S of children of prod_{w in S} (1 + R(w))) =
    p_h * (prod_w (2 + R(w)) - 1), where an item has R = 0. Whatever the order in which nodes are expanded, the
    sub-partitions that occur are different partial expansions of the root, so R(root) bounds their expected number. A
    node with a single child is expanded without a test: its chance is 1.
    """
    below = np.zeros(tree.size)
    for height, edge in enumerate(tree.edges, 1):
        logs = np.add.reduceat(np.log(2.0 + below), edge[:-1])
        below = np.where(np.diff(edge) == 1, 1.0, passes(height)) * np.expm1(np.minimum(logs, 700.0))
    return float(below[0])


def chance(constant: float, height: int, most_rate: float) -> float:
    """The chance that an empty cell's noise reaches sqrt(2) * constant * height noise scales, for rates up to
    `most_rate`."""
    return math.exp(-ROOT2 * constant * height) / (1 + math.exp(-most_rate))


def threshold(constant: float, rate: Floats, patterns: Ints, eta: float | None, height: Ints) -> Ints:
    """The smallest count that passes: C * height standard deviations of the noise (the paper's rule), and so large that
    on average at most eta empty sets of children pass."""
    least = np.ceil(ROOT2 * constant * height / rate)
    if eta is not None:
        least = np.maximum(least, np.ceil(np.log(patterns / ((1 + np.exp(-rate)) * eta)) / rate))
    return np.maximum(1, least).astype(np.int64)


def smallest_constant(tree: ItemTree, most_rate: float, most_cells: int) -> float | None:
    """The smallest C2, in hundredths, that keeps the expected number in bounds."""
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

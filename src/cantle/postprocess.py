"""What happens to released values: consistency, non-negative integers, records. Free of privacy cost.

Floats are welcome here: everything is a function of what the curator already gave away. The generator that draws
records is public randomness; its seed is recorded in the release.
"""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np
import numpy.typing as npt

from cantle.regions import Ints

Floats = npt.NDArray[np.float64]
Dice = np.random.Generator
"""Public dice: they draw records from what was already given away."""


def variance(rate: Any) -> Floats:
    """Variance of discrete Laplace noise of this rate: 2a / (1-a)^2 with a = e^-rate.

    >>> round(float(variance(1.0)), 4)
    1.8413
    """
    rate = np.asarray(rate, dtype=np.float64)
    return np.asarray(2 * np.exp(-rate) / np.expm1(-rate) ** 2)


def fresh_seed() -> int:
    """A seed for drawing records; no secret, it goes into the release."""
    return secrets.randbits(53)


def public_dice(seed: int) -> Dice:
    """The dice of a recorded seed."""
    return np.random.default_rng(seed)


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


def consistent(levels: list[Ints], cells: dict[str, Floats], size: Floats, size_variance: Floats) -> Floats:
    """Weighted least squares on a binary tree: estimates of every leaf's cells, consistent with all measurements.

    `levels`: ids by depth, children in pairs after their parents' order; `cells`: `ids` of leaves, noisy `value`
    (leaves, cells) and `variance` of a cell; `size`, `size_variance`: direct measurements of nodes, variance inf
    where there is none. Hay et al. 2010 generalised to unequal variances.
    """
    leaf = cells["ids"].astype(np.int64)
    z, v = np.zeros(len(size)), np.zeros(len(size))
    z[leaf], v[leaf] = cells["value"].sum(axis=1), cells["variance"] * cells["value"].shape[1]
    parents = _parents(levels, leaf)
    for depth in reversed(range(len(levels))):
        inner = parents[depth]
        if len(inner):
            kids = levels[depth + 1].reshape(-1, 2)
            z[inner], v[inner] = z[kids].sum(axis=1), v[kids].sum(axis=1)
        ids = levels[depth]
        known = np.isfinite(size_variance[ids])
        weigh = ids[known]
        gain = v[weigh] / (v[weigh] + size_variance[weigh])
        z[weigh] += gain * (size[weigh] - z[weigh])
        v[weigh] *= 1 - gain
    x = z.copy()
    for depth in range(len(levels) - 1):
        kids, inner = levels[depth + 1].reshape(-1, 2), parents[depth]
        spread = v[kids] / np.maximum(v[kids].sum(axis=1, keepdims=True), 1e-300)
        x[kids] = z[kids] + spread * (x[inner] - z[kids].sum(axis=1))[:, None]
    off = x[leaf] - cells["value"].sum(axis=1)
    return cells["value"] + off[:, None] / cells["value"].shape[1]


def _parents(levels: list[Ints], leaf: Ints) -> list[Ints]:
    """The nodes of each level that were split, in order."""
    split = np.ones(sum(len(level) for level in levels), dtype=np.bool_)
    split[leaf] = False
    return [level[split[level]] for level in levels]


def integers(levels: list[Ints], leaf: Ints, cells: Floats) -> Ints:
    """Leaf cells as non-negative integers, class by class from the root down.

    Each class is a tree of its own: its total is rounded at the root, where it is known best, and then divided between
    the two children of every node. Clipping leaf by leaf instead would inflate rare classes.
    """
    nodes = sum(len(level) for level in levels)
    x = np.zeros((nodes, cells.shape[1]))
    x[leaf] = cells
    parents = _parents(levels, leaf)
    for depth in reversed(range(len(levels) - 1)):
        x[parents[depth]] = x[levels[depth + 1].reshape(-1, 2)].sum(axis=1)
    total = np.maximum(0, np.rint(x[:1].sum(axis=1))).astype(np.int64)
    count = np.zeros(x.shape, dtype=np.int64)
    count[:1] = round_rows(project_rows(x[:1], total.astype(float)), total)
    for depth in range(len(levels) - 1):
        kids, whole = levels[depth + 1].reshape(-1, 2), count[parents[depth]].reshape(-1)
        halves = x[kids].transpose(0, 2, 1).reshape(-1, 2)
        parts = round_rows(project_rows(halves, whole.astype(float)), whole)
        count[kids] = parts.reshape(len(kids), -1, 2).transpose(0, 2, 1)
    return count[leaf]


def top_down(noisy: Floats, total: float) -> Floats:
    """A non-negative table near the noisy one with the given sum, halved from the whole range down to the cells.

    Clipping cell by cell would leave a little noise in every empty cell of a wide range, which adds up; a half that
    is empty as a whole is found out while its sum is still one number.

    >>> top_down(np.array([9.0, -1.0, 2.0, -2.0]), 10.0).tolist()
    [9.0, 0.0, 1.0, 0.0]
    """
    sums = [noisy]
    while len(sums[-1]) > 1:
        even = sums[-1] if len(sums[-1]) % 2 == 0 else np.append(sums[-1], 0.0)
        sums.append(even.reshape(-1, 2).sum(axis=1))
    found = np.array([max(total, 0.0)])
    for level in reversed(sums[:-1]):
        whole = len(level) // 2
        pairs = project_rows(level[: 2 * whole].reshape(-1, 2), found[:whole]).reshape(-1)
        found = np.concatenate([pairs, found[whole:]])  # an odd one out is its own half
    return found


def fit_values(target: Floats, lo: Ints, hi: Ints, weight: Floats, rounds: int = 40) -> Floats:
    """Masses f over the codes such that regions drawing from f inside [lo, hi) together show the target.

    Iterative proportional fitting of one attribute: scale f(v) by target(v) / what the regions show of v.
    """
    # Many regions share few spans: their weights are summed first.
    spans, which = np.unique(lo * (len(target) + 1) + hi, return_inverse=True)
    lo, hi = np.divmod(spans, len(target) + 1)
    weights = np.bincount(which, weight, len(spans)).astype(np.float64)
    total = max(float(target.sum()), 1.0)
    floor = total * 1e-9  # every code keeps a trace of mass, so that no region is left with nothing to draw
    f = np.maximum(target, floor)
    for _ in range(rounds):
        below = np.concatenate([[0.0], np.cumsum(f)])
        share = weights / (below[hi] - below[lo])
        edge = np.bincount(lo, share, len(f) + 1) - np.bincount(hi, share, len(f) + 1)
        shown = f * np.cumsum(edge)[: len(f)]
        f = f * np.where(shown > floor, target / np.maximum(shown, floor), 1.0)
        f = np.maximum(f * (total / max(float(f.sum()), floor)), floor)
    return f


def draw_codes(f: Floats, lo: Ints, hi: Ints, counts: Ints, generator: Dice) -> Ints:
    """One code a record, regions one after the other, drawn from f inside the region's span.

    Stratified: a region with m records uses one draw in each m-th of its mass, in random order, so that the records
    show f as closely as m records can.
    """
    region = np.repeat(np.arange(len(counts)), counts)
    start = np.repeat(np.cumsum(counts) - counts, counts)
    shuffled = np.argsort(region + generator.random(len(region)), kind="stable")
    rank = np.empty(len(region), dtype=np.int64)
    rank[shuffled] = np.arange(len(region))
    u = (rank - start + generator.random(len(region))) / counts[region]
    below = np.concatenate([[0.0], np.cumsum(f)])
    mass = below[lo][region] + u * (below[hi] - below[lo])[region]
    code = np.searchsorted(below, mass, side="right") - 1
    return np.clip(code, lo[region], hi[region] - 1)

"""Compiled twins of conditionals.py: the same sums in the same order, hence the same records."""

from __future__ import annotations

import numpy as np

from cantle._arrays import Codes, Floats, Ints
from cantle._jit import compiled


@compiled
def rake(
    rows: Floats, index: Codes, groups: Codes, goals: Floats, starts: Ints, widths: Ints, factors: Floats, order: Ints
) -> None:
    """See conditionals.rake."""
    records, refined = rows.shape
    mass = np.empty((factors.shape[1], refined))
    for table in order:
        width, begin = widths[table], starts[table]
        lines = (starts[table + 1] - begin) // width
        mass[:lines] = 0.0
        for u in range(records):
            c = index[table, u]
            for r in range(refined):
                mass[c, r] += rows[u, r]
        grouped = np.empty(width)
        for c in range(lines):
            total = mass[c, 0]
            for r in range(1, refined):
                total += mass[c, r]
            if total <= 0:
                total = 1.0
            grouped[:] = 0.0
            for r in range(refined):
                grouped[groups[table, r]] += mass[c, r]
            for r in range(refined):
                g = groups[table, r]
                mass[c, r] = goals[begin + c * width + g] * total / grouped[g] if grouped[g] > 0 else 1.0
                factors[table, c, r] *= mass[c, r]
        for u in range(records):
            c = index[table, u]
            for r in range(refined):
                rows[u, r] *= mass[c, r]
            total = rows[u, 0]
            for r in range(1, refined):
                total += rows[u, r]
            scale = 1.0 / total if total > 0 else 1.0
            for r in range(refined):
                rows[u, r] *= scale


@compiled
def _draw(first: Floats, lead: Codes, factors: Floats, index: Codes, uniforms: Floats, drawn: Codes) -> None:
    groups = first.shape[1]
    weights = np.empty(groups)
    for u in range(len(uniforms)):
        for r in range(groups):
            weights[r] = first[lead[u], r]
        for number in range(len(index)):
            c = index[number, u]
            for r in range(groups):
                weights[r] *= factors[number, c, r]
        for r in range(1, groups):
            weights[r] += weights[r - 1]
        bar = uniforms[u] * weights[groups - 1]
        at = 0
        while at < groups - 1 and weights[at] <= bar:
            at += 1
        drawn[u] = at


def draw(first: Floats, lead: Codes, factors: Floats, index: Codes, uniforms: Floats) -> Codes:
    """See conditionals.draw."""
    drawn: Codes = np.empty(len(uniforms), dtype=np.min_scalar_type(first.shape[1] - 1))
    _draw(first, lead, factors, index, uniforms, drawn)
    return drawn


@compiled
def stratified(keys: Codes, strata: int, shuffle: Codes, jitter: Floats) -> Floats:
    """See conditionals.stratified."""
    sizes, ranks = np.zeros(strata, dtype=np.int64), np.zeros(strata, dtype=np.int64)
    for u in range(len(keys)):
        sizes[keys[u]] += 1
    spread = np.empty(len(keys))
    for u in shuffle:
        key = keys[u]
        spread[u] = (ranks[key] + jitter[u]) / sizes[key]
        ranks[key] += 1
    return spread

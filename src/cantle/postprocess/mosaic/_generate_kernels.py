"""Compiled twins of conditionals.py: the same sums in the same order, hence the same records."""

from __future__ import annotations

from typing import Any

import numpy as np

from cantle._jit import compiled


@compiled
def rake(rows: Any, index: Any, groups: Any, goals: Any, starts: Any, widths: Any, factors: Any, order: Any) -> None:
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
def _draw(first: Any, lead: Any, factors: Any, index: Any, uniforms: Any, drawn: Any) -> None:
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


def draw(first: Any, lead: Any, factors: Any, index: Any, uniforms: Any) -> Any:
    """See conditionals.draw."""
    drawn = np.empty(len(uniforms), dtype=np.uint8 if first.shape[1] <= 256 else np.uint16)
    _draw(first, lead, factors, index, uniforms, drawn)
    return drawn


@compiled
def stratified(keys: Any, strata: int, shuffle: Any, jitter: Any) -> Any:
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

"""Noisy tables of strings, without noise as far as possible. Post-processing.

Each cell is moved towards what is expected there, by the prior that the noisy numbers themselves suggest
(cantle.drawing.smooth).
"""

from __future__ import annotations

import numpy as np

from cantle.drawing.counts import Floats
from cantle.drawing.smooth import shrink
from cantle.trusted.core.arrays import Bools
from cantle.trusted.geometry.boxes import Ints

_TINY = 1e-9


def fit_pairs(noisy: Floats, scale: float) -> Floats:
    """Pairs (symbol, next) from noisy ones: a symbol is expected to be independent of the one before, but for
    repeats."""
    diagonal = np.arange(len(noisy))
    alone = _independent(noisy, scale)
    repeats = noisy[diagonal, diagonal].sum() / max(_TINY, alone[diagonal, diagonal].sum())
    alone[diagonal, diagonal] *= max(0.02, repeats)
    return shrink(noisy.ravel(), alone.ravel(), scale).reshape(noisy.shape)


def _independent(noisy: Floats, scale: float) -> Floats:
    """What is expected if a symbol does not depend on the one before, from the sums of rows and columns."""
    total = max(_TINY, float(noisy.sum()))
    sums = list[Floats]()
    for axis in (1, 0):
        made = shrink(noisy.sum(axis=axis), np.full(len(noisy), total / len(noisy)), scale * len(noisy) ** 0.5) + _TINY
        sums.append(made / made.sum())
    return np.outer(*sums) * total


def possible(cells: Ints, order: int, base: int) -> Bools:
    """Which strings can occur: the start comes before all symbols, and a symbol before what is next."""
    able = cells // base % base < base - 1
    for back in range(1, order - 1):
        before, after = cells // base ** (back + 1) % base, cells // base**back % base
        able &= (after < base - 1) | (before == base - 1)
    return able

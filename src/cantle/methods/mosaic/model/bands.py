"""Bands of a numeric target: a few ranges of its values, which lead the tables and are drawn last, like classes.

They follow from noisy counts of the target alone. The value of a record is drawn inside its band at the very end, from
the same counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from cantle.drawing.counts import Dice, Floats
from cantle.drawing.smooth import smooth
from cantle.trusted.core.arrays import Codes
from cantle.trusted.geometry.boxes import Ints

ALONE = "target alone"
"""What receipts call the counts that bands follow from."""

MANY_BANDS, FEW_BANDS = 5, 3
"""The most bands: usually, and with few records for the epsilon."""

LEAST = 0.25
"""The smallest share of a band, in shares of equal bands."""


@dataclass(frozen=True, eq=False)
class Bands:
    """The cells of a numeric target with their estimated numbers of records, and where bands begin."""

    edges: Ints
    masses: Floats
    starts: Ints
    """The first cell of each band, and the number of cells."""

    @staticmethod
    def of(edges: Ints, noisy: Ints, variance: float, total: float, most: int) -> Bands:
        """At most this many bands, from noisy counts of all cells."""
        widths, spread = np.diff(edges).astype(np.float64), np.full(len(noisy), variance)
        masses = smooth(noisy.astype(np.float64), spread, widths, total)
        return Bands(edges, masses, choose(masses, edges, most))

    @property
    def outer(self) -> Ints:
        """The edges of the bands."""
        return np.asarray(self.edges[self.starts])

    def draw(self, band: Codes, dice: Dice) -> Codes:
        """The cell of each record inside its band. Records are spread evenly over the cells of a band."""
        cells: Codes = np.zeros(len(band), dtype=np.min_scalar_type(len(self.masses)))
        for number, (first, end) in enumerate(pairwise(self.starts.tolist())):
            mine = np.flatnonzero(band == number)
            mass = self.masses[first:end]
            shares = np.cumsum(mass if mass.any() else np.diff(self.edges)[first:end].astype(np.float64))
            place = dice.permutation((np.arange(len(mine)) + dice.random(len(mine))) / max(1, len(mine)))
            inside = np.searchsorted(shares, place * shares[-1], side="right")
            cells[mine] = first + np.minimum(inside, end - first - 1)
        return cells


def choose(masses: Floats, edges: Ints, most: int) -> Ints:
    """The first cell of each band, and the number of cells: as many bands as possible, up to `most`.

    Among all bands that are not too small, those are best inside which values vary least, and ranks too.

    >>> choose(np.array([5.0, 5, 5, 5]), np.arange(5), 2).tolist()
    [0, 2, 4]
    """
    cells, shares = len(masses), masses / max(float(masses.sum()), 1e-9)
    below = np.concatenate([[0.0], np.cumsum(shares)])
    inside = below[None, :] - below[:, None]  # the share from one cell to before another
    cost = np.zeros((cells + 1, cells + 1))
    for scale in (below[:-1] + shares / 2, (edges[:-1] + edges[1:] - 1) / 2):
        centred = scale - (shares * scale).sum()
        centred = centred / max(float((shares * centred**2).sum()) ** 0.5, 1e-9)
        first, second = (np.concatenate([[0.0], np.cumsum(shares * centred**power)]) for power in (1, 2))
        sums, squares = first[None, :] - first[:, None], second[None, :] - second[:, None]
        cost += np.maximum(squares - sums**2 / np.maximum(inside, 1e-12), 0)
    cost[(inside < LEAST / most - 1e-12) | np.tri(cells + 1, dtype=bool)] = np.inf
    best, begins = np.full(cells + 1, np.inf), []
    best[0] = 0.0
    found = np.array([0, cells])
    for number in range(most):
        through = best[:, None] + cost
        begins.append(np.argmin(through, axis=0))
        best = through.min(axis=0)
        if np.isfinite(best[cells]):
            found = _traced(begins, cells, number)
    return found


def _traced(begins: list[Ints], end: int, number: int) -> Ints:
    """Where the bands begin that are best up to the last cell."""
    starts = [end]
    for step in range(number, -1, -1):
        starts.append(int(begins[step][starts[-1]]))
    return np.array(starts[::-1], dtype=np.int64)

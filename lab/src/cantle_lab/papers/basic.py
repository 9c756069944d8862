"""Basic, the baseline of the DiffPart paper: Laplace noise on the count of every itemset (section 4.1).

The noise is floating-point noise from numpy, which is good enough to measure errors but not to publish. Nothing here
makes a release.
"""

from __future__ import annotations

import numpy as np

from cantle.errors import ParameterError
from cantle_lab.papers.setqueries import FEW_ITEMS, Cells, tabled
from cantle_lab.papers.sets import Sets


def basic(data: Sets, epsilon: float, rng: np.random.Generator) -> Cells:
    """Noisy counts of all 2^|I| - 1 non-empty sets, which may be fractions and negative.

    A record counts for one set, so each count gets Laplace noise of scale 1 / epsilon.
    """
    if data.size > FEW_ITEMS:
        raise ParameterError(f"Basic lists 2^{data.size} itemsets; it is for {FEW_ITEMS} items at most")
    cells = tabled(data)
    cells += rng.laplace(scale=1 / epsilon, size=len(cells))
    cells[0] = 0.0  # a record is never empty
    return Cells(cells)


def clipped(noisy: Cells) -> Cells:
    """The counts as numbers of records: those below 0 become 0, the others are rounded."""
    return Cells(np.rint(np.maximum(noisy.cells, 0.0)))

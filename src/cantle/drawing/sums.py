"""Sums of products that are the same on every machine.

The last digits of numpy's products of matrices (`@`), inverses and the like depend on the number of threads and on the
processor, and so would records, which `verify` draws again. No module of this room or of `methods` uses them on floats.
"""

from __future__ import annotations

import numpy as np

from cantle.drawing.counts import Floats
from cantle.trusted.geometry.boxes import Ints


def dot(one: Floats | Ints, other: Floats | Ints) -> float:
    """The sum of the products of two vectors."""
    return float((one * other).sum())


def mix(weights: Floats, rows: Floats) -> Floats:
    """The sum of the rows of a matrix, each times its weight."""
    return np.asarray((weights[:, None] * rows).sum(axis=0))


def each_dot(rows: Floats, vector: Floats) -> Floats:
    """The sum of the products of each row of a matrix and a vector."""
    return np.asarray((rows * vector).sum(axis=1))

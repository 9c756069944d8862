"""Noise on the sorted degree sequence and isotonic regression (Hay, Li, Miklau and Jensen 2009).

It is a baseline for evaluation only: its floating-point noise has no guarantee, and `publish` never uses it.
"""

from __future__ import annotations

import numpy as np

from cantle.errors import ParameterError
from cantle_lab.papers.coding import Floats, Ints


def edge(degrees: Ints, epsilon: float, rng: np.random.Generator) -> Ints:
    """An ascending sequence for unit `edge`: one edge changes two degrees by one, so the noise scale is 2 / epsilon."""
    return _release(degrees, 2 / epsilon, max(len(degrees) - 1, 0), rng)


def node(degrees: Ints, epsilon: float, maximum: int, rng: np.random.Generator) -> Ints:
    """An ascending sequence for nodes with at most `maximum` edges: noise scale 2 maximum / epsilon (RPS section 5).

    If `maximum` is taken from the graph, as in the paper's setting (a), this is not private: it reveals the largest
    degree.
    """
    return _release(degrees, 2 * maximum / epsilon, maximum, rng)


def _release(degrees: Ints, scale: float, maximum: int, rng: np.random.Generator) -> Ints:
    if not np.isfinite(scale) or scale < 0:
        raise ParameterError("epsilon must be a positive number")
    noisy = np.sort(degrees) + rng.laplace(0.0, scale, len(degrees))
    return np.clip(np.rint(isotonic(noisy)), 0, maximum).astype(np.int64)


def isotonic(values: Floats) -> Floats:
    """The non-decreasing sequence that is nearest in least squares: the constrained inference of Hay et al.

    >>> isotonic(np.array([1.0, 3.0, 2.0, 5.0])).tolist()
    [1.0, 2.5, 2.5, 5.0]
    """
    from sklearn.isotonic import isotonic_regression

    if not len(values):
        return values
    return np.asarray(isotonic_regression(values), dtype=np.float64)

"""The compiled scan of cantle.trusted.bounding.projection (the extra `fast`).

It is imported only for large graphs, because loading and compiling it takes longer than projecting a small graph. It
follows the definition edge by edge; tests/laws/test_projection.py compares its arrays with those of the plain form.
"""

from __future__ import annotations

from collections.abc import Callable

import numba
import numpy as np
from numpy.typing import NDArray

from cantle.trusted.arrays import Bools, Ints
from cantle.trusted.bounding.graph_arrays import Ends


def _scan(ends: Ends, theta: int, degrees: NDArray[np.int32], kept: Bools) -> None:
    for i in range(len(ends)):
        one, other = ends[i, 0], ends[i, 1]
        if degrees[one] < theta and degrees[other] < theta:
            degrees[one] += 1
            degrees[other] += 1
            kept[i] = True


def _compiled() -> Callable[..., None]:
    try:
        kernel: Callable[..., None] = numba.njit(cache=True)(_scan)
    except RuntimeError:  # no folder in which the machine code could be cached
        kernel = numba.njit(_scan)
    return kernel


_run = _compiled()


def scan(ends: Ends, nodes: int, theta: int) -> tuple[Ints, Bools]:
    """Projected degrees (nodes,), and which edges are kept (edges,)."""
    degrees = np.zeros(nodes, dtype=np.int32)  # half the memory; every theta below the largest degree fits
    kept = np.zeros(len(ends), dtype=np.bool_)
    _run(ends, theta, degrees, kept)
    return degrees.astype(np.int64), kept

"""Distances between degree sequences (RPS section 5.2): KS, and the earth mover's in both of its forms."""

from __future__ import annotations

import numpy as np

from cantle.errors import ParameterError
from cantle.lab.papers.metrics import Metric, Numbers, emd, w1


def _ks(truth: Numbers, release: Numbers) -> float:
    x, y = np.sort(np.asarray(truth).ravel()), np.sort(np.asarray(release).ravel())
    if not len(x):
        raise ParameterError("the raw sample is empty; a distance needs at least one value")
    if not len(y):
        return 1.0  # nothing was released: as bad as it gets
    steps = np.concatenate([x, y])  # the distribution functions change here only
    below_x, below_y = (np.searchsorted(sample, steps, side="right") / len(sample) for sample in (x, y))
    return float(np.abs(below_x - below_y).max())


# RPS section 5.2: the largest difference of the two empirical distribution functions; sizes may differ.
ks = Metric("KS", "min", (0.0, 1.0), _ks)

# RPS sections 4.1 and 5.2 take the root mean square of the sorted differences for the EMD, as Hay et al. 2009 do
# (Mallows, p = 2); W1 is what the name usually means. Both by quantile coupling, so sizes may differ.
MOVED = (emd, w1)

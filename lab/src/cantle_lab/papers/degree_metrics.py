"""Distances between degree sequences (RPS section 5.2): KS, and the earth mover's distance in two forms."""

from __future__ import annotations

import numpy as np

from cantle.errors import ParameterError
from cantle_lab.papers.metrics import Metric, Numbers, emd, w1


def _ks(truth: Numbers, release: Numbers) -> float:
    x, y = np.sort(np.asarray(truth).ravel()), np.sort(np.asarray(release).ravel())
    if not len(x):
        raise ParameterError("the raw sample is empty; a distance needs at least one value")
    if not len(y):
        return 1.0  # nothing was released: the worst value
    steps = np.concatenate([x, y])  # the distribution functions change only at these values
    below_x, below_y = (np.searchsorted(sample, steps, side="right") / len(sample) for sample in (x, y))
    return float(np.abs(below_x - below_y).max())


# RPS section 5.2: the largest difference of the two empirical distribution functions; sizes may differ.
ks = Metric("KS", "min", (0.0, 1.0), _ks)

# In RPS sections 4.1 and 5.2, EMD is the root mean square of the sorted differences, as in Hay et al. 2009 (Mallows,
# p = 2); usually the name means W1. Both are computed by quantile coupling, so sizes may differ.
MOVED = (emd, w1)

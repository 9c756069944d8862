"""The true mass of a release: the number of records that it has in common with the raw data, set by set."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cantle_lab.papers.setqueries import Cells
from cantle_lab.papers.sets import Sets

Keys = npt.NDArray[np.uint64]


def shared_records(data: Sets, released: Sets) -> int:
    """The sum, over the distinct sets of items, of the smaller of its numbers of records in data and release."""
    words = np.random.default_rng(0).integers(0, 2**64, size=max(data.size, released.size), dtype=np.uint64)
    (one, ours), (other, theirs) = (np.unique(_keys(sets, words), return_counts=True) for sets in (data, released))
    _, in_data, in_release = np.intersect1d(one, other, assume_unique=True, return_indices=True)
    return int(np.minimum(ours[in_data], theirs[in_release]).sum())


def shared_cells(data: Cells, released: Cells) -> float:
    """The same from the counts of all sets; negative counts are treated as 0."""
    return float(np.minimum(data.cells, np.maximum(released.cells, 0.0)).sum())


def _keys(sets: Sets, words: Keys) -> Keys:
    """A key for each record: the sum of the random words of its items.

    Among a million different sets, the probability that two have the same key is below one in ten million.
    """
    below = np.concatenate([np.zeros(1, np.uint64), np.cumsum(words[sets.items], dtype=np.uint64)])
    return np.asarray(below[sets.starts[1:]] - below[sets.starts[:-1]])

"""The true share of a release: the records it has in common with the raw data, set by set."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cantle.lab.papers.setqueries import Cells
from cantle.lab.papers.sets import Sets

Keys = npt.NDArray[np.uint64]


def shared_records(data: Sets, released: Sets) -> int:
    """Sum over the distinct sets of items of min(records in one, records in the other)."""
    words = np.random.default_rng(0).integers(0, 2**64, size=max(data.size, released.size), dtype=np.uint64)
    (one, ours), (other, theirs) = (np.unique(_keys(sets, words), return_counts=True) for sets in (data, released))
    _, here, there = np.intersect1d(one, other, assume_unique=True, return_indices=True)
    return int(np.minimum(ours[here], theirs[there]).sum())


def shared_cells(data: Cells, released: Cells) -> float:
    """The same of counts for all sets; a negative count has nothing in common with the data."""
    return float(np.minimum(data.cells, np.maximum(released.cells, 0.0)).sum())


def _keys(sets: Sets, words: Keys) -> Keys:
    """A number for each record, the sum of its items' random words.

    With a million different sets two of them get the same number with a chance of one in ten million.
    """
    below = np.concatenate([np.zeros(1, np.uint64), np.cumsum(words[sets.items], dtype=np.uint64)])
    return np.asarray(below[sets.starts[1:]] - below[sets.starts[:-1]])

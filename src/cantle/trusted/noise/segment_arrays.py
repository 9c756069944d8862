"""Segments of cells in arrays, one after the other: where they begin, and which of their cells are occupied."""

from __future__ import annotations

import numpy as np

from cantle.trusted.core.arrays import Bools, Ints


def starts_of(sizes: Ints) -> Ints:
    """Where each of several segments of these sizes begins, and where the last one ends."""
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes, dtype=np.int64)])


def within(sizes: Ints) -> Ints:
    """0, 1, ..., size-1 for each size in turn."""
    return np.arange(int(sizes.sum()), dtype=np.int64) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def spell_out(dense: Bools, starts: Ints, cells: Ints, counts: Ints, total: Ints) -> tuple[Ints, Ints, Ints]:
    """Sizes, cells and counts of the segments, dense ones with all their cells: empty ones have count 0."""
    given = np.diff(starts)
    sizes = np.where(dense, total, given)
    owner = np.repeat(np.arange(len(given)), given)
    place = starts_of(sizes)[owner] + np.where(dense[owner], cells, within(given))
    all_cells = within(sizes)
    all_counts = np.zeros_like(all_cells)
    all_cells[place], all_counts[place] = cells, counts
    return sizes, all_cells, all_counts


def passed(owner: Ints, shifted: Ints, new_owner: Ints, ranks: Ints) -> Ints:
    """For the rank of an empty cell, the number of occupied cells before it.

    The j-th occupied cell o of a segment (j = 0, 1, ...) has o - j empty cells before it, so it lies before
    the empty cell of rank r exactly if o - j <= r; `shifted` is o - j.
    """
    occupied = np.arange(len(owner) + len(new_owner)) < len(owner)
    order = np.lexsort((~occupied, np.concatenate([shifted, ranks]), np.concatenate([owner, new_owner])))
    seen = np.empty(len(order), dtype=np.int64)
    seen[order] = np.cumsum(occupied[order])
    return np.asarray(seen[len(owner) :] - np.searchsorted(owner, new_owner))

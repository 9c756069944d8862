"""A publisher to compare with: Mondrian. It is k-anonymous, which is weaker than differential privacy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from cantle.errors import ParameterError
from cantle_lab.papers.coding import Coded, Coder, Ints


@dataclass(frozen=True)
class Anonymised:
    """A generalised table: the `group` and class (`labels`) of each record, and `low` and `high` (inclusive codes) of
    each group."""

    group: Ints
    low: Ints
    high: Ints
    labels: Ints

    def records(self, coder: Coder, rng: np.random.Generator) -> pl.DataFrame:
        """Records for classifiers: each value is drawn uniformly from the range that its group publishes.

        The class is not changed: it is the sensitive attribute, which k-anonymity does not touch. RPS section 4.2 does
        not say how classifiers were given Mondrian's ranges. Section 3.2 fills the regions of RPS by drawing, so both
        are treated alike.
        """
        codes = rng.integers(self.low[self.group], self.high[self.group], endpoint=True)
        return coder.decode(Coded(codes.astype(np.int64), self.labels))


def mondrian(table: Coded, *, k: int) -> Anonymised:
    """Strict Mondrian: groups of at least k records that cannot be cut further (LeFevre et al. 2006).

    Each group is cut at the attribute whose range is widest relative to that of the table, as near to the median as the
    values allow, as long as both sides keep k records. If that attribute cannot be cut, the next one is tried.
    Categories are cut in their listed order. The published range is that of the records present.
    """
    if not 1 <= k <= len(table):
        raise ParameterError(f"k is {k}; it must be between 1 and the number of records")
    codes = table.codes
    full = np.maximum(codes.max(axis=0) - codes.min(axis=0), 1)
    group = np.zeros(len(codes), dtype=np.int64)
    open_rows = np.arange(len(codes))
    while len(open_rows):
        open_rows = _cut_level(codes, group, open_rows, full, k)
    group = np.unique(group, return_inverse=True)[1]
    order = np.argsort(group, kind="stable")
    starts = _starts(group[order])
    low = np.minimum.reduceat(codes[order], starts, axis=0)
    high = np.maximum.reduceat(codes[order], starts, axis=0)
    return Anonymised(group, low, high, table.labels)


def _cut_level(codes: Ints, group: Ints, rows: Ints, full: Ints, k: int) -> Ints:
    """Cuts every open group once, changing `group` in place; returns the records of the groups that were cut."""
    names, node = np.unique(group[rows], return_inverse=True)
    sides = [_balanced_cut(node, codes[rows, i]) for i in range(codes.shape[1])]
    spread = np.column_stack([range_ for range_, _, _ in sides]) / full
    smaller = np.column_stack([fewest for _, fewest, _ in sides])
    spread[smaller < k] = -1.0  # not an allowable cut (their definition 4)
    chosen = spread.argmax(axis=1)
    cut = spread[np.arange(len(names)), chosen] >= 0
    at = np.column_stack([last_left for _, _, last_left in sides])[np.arange(len(names)), chosen]
    moving = cut[node]
    right = moving & (codes[rows, chosen[node]] > at[node])
    group[rows[right]] = group.max() + 1 + node[right]
    still_open: Ints = rows[moving]
    return still_open


def _balanced_cut(node: Ints, values: Ints) -> tuple[Ints, Ints, Ints]:
    """For each node: its range, the size of the smaller side of the most even cut, and the last value on the left."""
    order = np.argsort(node * (values.max() + 1) + values, kind="stable")
    sorted_node, sorted_values = node[order], values[order]
    starts = _starts(sorted_node)
    sizes = np.diff(np.append(starts, len(node)))
    left = np.arange(len(node)) - starts[sorted_node] + 1
    fewest = np.minimum(left, sizes[sorted_node] - left)
    # Equal values stay together (this is what "strict" means), so a cut lies only after the last of equal values.
    inside = np.append((np.diff(sorted_node) == 0) & (np.diff(sorted_values) == 0), False)
    fewest[inside] = 0
    ends = starts + sizes - 1
    best = np.lexsort((-left, fewest, sorted_node))[ends]
    return sorted_values[ends] - sorted_values[starts], fewest[best], sorted_values[best]


def _starts(sorted_ids: Ints) -> Ints:
    """The positions at which runs of equal ids begin."""
    return np.flatnonzero(np.r_[True, np.diff(sorted_ids) != 0]).astype(np.int64)

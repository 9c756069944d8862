"""Publishers to compare with: Mondrian, Basic, Privelet, and the noisy degree sequences of Hay et al.

Mondrian is k-anonymous, which is weaker than differential privacy. The others draw floating-point noise from numpy,
which is good enough to measure errors but not to publish. Nothing here makes a release.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from cantle.drawing.counts import project_rows, round_rows
from cantle.errors import ParameterError
from cantle.methods.degrees.results import isotonic
from cantle_lab.papers.coding import Coded, Coder, Floats, Ints
from cantle_lab.papers.setqueries import FEW_ITEMS, Cells, tabled
from cantle_lab.papers.sets import Sets


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


def basic(data: Sets, epsilon: float, rng: np.random.Generator) -> Cells:
    """Noisy counts of all 2^|I| - 1 non-empty sets, which may be fractions and negative (DiffPart, section 4.1).

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


def coefficients(counts: Floats) -> tuple[float, list[Floats]]:
    """The base coefficient, and the coefficients of the nodes level by level, starting with the root.

    >>> base, nodes = coefficients(np.array([9.0, 3.0, 6.0, 2.0]))
    >>> base, [level.tolist() for level in nodes]
    (5.0, [[1.0], [3.0, 2.0]])
    """
    means, levels = counts.astype(np.float64), []
    while len(means) > 1:
        pairs = means.reshape(-1, 2)
        levels.append((pairs[:, 0] - pairs[:, 1]) / 2)
        means = pairs.mean(axis=1)
    return float(means[0]), levels[::-1]


def counts_from(base: float, levels: list[Floats]) -> Floats:
    """The counts that have these coefficients."""
    means = np.array([base])
    for level in levels:
        means = np.stack([means + level, means - level], axis=1).reshape(-1)
    return means


def weights(size: int) -> list[int]:
    """The weight of the base coefficient, then of the nodes of each level: the number of counts below them.

    >>> weights(8)
    [8, 8, 4, 2]
    """
    return [size, *(size >> level for level in range(size.bit_length() - 1))]


def generalised_sensitivity(size: int) -> int:
    """The sum over all coefficients of weight times the change that one record makes: 1 + log2(size)."""
    return size.bit_length()


def privelet(counts: Ints, epsilon: float, rng: np.random.Generator) -> Floats:
    """Noisy counts by noise on the Haar wavelet coefficients of one ordered attribute (Xiao, Wang, Gehrke 2010).

    The counts of m = 2^l values are the leaves of a full binary tree. The base coefficient is their mean. A node whose
    left and right leaves have means a and b has the coefficient (a - b) / 2. One record more changes one count by 1, so
    it changes the base coefficient by 1/m, and the coefficient of each node above that count by 1/s if s leaves are
    below the node. With weights m and s every such change is 1, and there are 1 + l of them: that is the generalised
    sensitivity. Noise of scale (1 + l) / (epsilon * weight) on each coefficient is epsilon-private for neighbours with
    one record more or less. Up to the next power of two, values without records are added at the end and removed again.
    """
    size = 1 << max(0, len(counts) - 1).bit_length()
    base, levels = coefficients(np.pad(counts, (0, size - len(counts))).astype(np.float64))
    scale = generalised_sensitivity(size) / epsilon
    of_base, *of_levels = weights(size)
    noisy = [
        level + rng.laplace(0, scale / weight, len(level)) for level, weight in zip(levels, of_levels, strict=True)
    ]
    return counts_from(base + rng.laplace(0, scale / of_base), noisy)[: len(counts)]


def released_codes(counts: Ints, epsilon: float, rng: np.random.Generator) -> Ints:
    """Codes of records that have the noisy counts, after these are made non-negative and whole with the same sum."""
    noisy = privelet(counts, epsilon, rng)
    total = np.array([max(0, round(float(noisy.sum())))])
    whole = round_rows(project_rows(noisy[None, :], total.astype(float)), total)[0]
    return np.repeat(np.arange(len(counts)), whole)


def hay_edge(degrees: Ints, epsilon: float, rng: np.random.Generator) -> Ints:
    """An ascending sequence by Hay, Li, Miklau and Jensen (2009) for unit `edge`.

    One edge changes two degrees by one, so the noise scale is 2 / epsilon.
    """
    return _hay(degrees, 2 / epsilon, max(len(degrees) - 1, 0), rng)


def hay_node(degrees: Ints, epsilon: float, maximum: int, rng: np.random.Generator) -> Ints:
    """The same for nodes with at most `maximum` edges: the noise scale is 2 maximum / epsilon (RPS section 5).

    If `maximum` is taken from the graph, as in the paper's setting (a), this is not private: it reveals the largest
    degree.
    """
    return _hay(degrees, 2 * maximum / epsilon, maximum, rng)


def _hay(degrees: Ints, scale: float, maximum: int, rng: np.random.Generator) -> Ints:
    if not np.isfinite(scale) or scale < 0:
        raise ParameterError("epsilon must be a positive number")
    noisy = np.sort(degrees) + rng.laplace(0.0, scale, len(degrees))
    return np.clip(np.rint(isotonic(noisy)), 0, maximum).astype(np.int64)

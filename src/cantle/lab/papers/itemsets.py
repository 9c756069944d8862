"""The K most frequent itemsets and the utility that DiffPart's appendix E takes from them.

The paper mines with MAFIA. Of the miners kept up today none fits: mlxtend wants the records as a dense or sparse
frame of booleans, efficient-apriori walks Python sets, pyfim has no wheels, PAMI brings dozens of packages, and
none of them searches by K rather than by support. Here every support is a counting query, so the search is short.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from cantle.lab.papers.metrics import Metric
from cantle.lab.papers.setqueries import Answers, Cells

Itemset = tuple[int, ...]
Frequent = dict[Itemset, float]


def top(answers: Answers, k: int) -> Frequent:
    """The k itemsets of one item or more with the largest support, best first, each with its support.

    Ties go to fewer items, then to smaller codes. Itemsets that nobody holds never count, so fewer than k may
    come back.
    """
    if isinstance(answers, Cells):
        return _best(_listed(answers, k), k)
    return _best(_searched(answers, k), k)


def _best(found: Frequent, k: int) -> Frequent:
    return dict(sorted(found.items(), key=lambda entry: (-entry[1], len(entry[0]), entry[0]))[:k])


def _listed(answers: Cells, k: int) -> Frequent:
    """Every itemset at or above the k-th support. Noisy sums need not fall with size, so all are looked at."""
    sums = answers.sums.copy()
    sums[0] = 0.0  # the empty itemset is none
    bar = np.partition(sums, -k)[-k] if k < len(sums) else 0.0
    cells = np.flatnonzero((sums >= bar) & (sums > 0))
    inside = cells[:, None] >> np.arange(answers.size) & 1
    return {tuple(np.flatnonzero(row).tolist()): float(sums[cell]) for row, cell in zip(inside, cells, strict=True)}


def _searched(answers: Answers, k: int) -> Frequent:
    """Level by level: an itemset's support is at most that of its subsets.

    The bar is the k-th support found so far. A larger set that only equals it would lose the tie, so a set is
    extended only while it is above the bar; a level never has more than k sets.
    """
    supports = answers.supports()
    order = np.argsort(-supports, kind="stable")[:k]
    level: Frequent = {(int(item),): float(supports[item]) for item in np.sort(order) if supports[item] > 0}
    found = dict(level)
    while level:
        bar = _bar(found, k)
        sets = sorted(itemset for itemset, support in level.items() if support > bar)
        joined = [a + b[-1:] for a, b in combinations(sets, 2) if a[:-1] == b[:-1]]
        counts = answers.count(np.array(joined, dtype=np.int32)) if joined else ()
        level = {itemset: float(n) for itemset, n in zip(joined, counts, strict=True) if n > bar}
        found |= level
    return found


def _bar(found: Frequent, k: int) -> float:
    """The k-th largest support, 0 while there are fewer."""
    return sorted(found.values(), reverse=True)[k - 1] if len(found) >= k else 0.0


def _utility(truth: Frequent, released: Frequent) -> float:
    if not truth:
        return 1.0
    losses = [abs(support - released.get(itemset, 0.0)) / support for itemset, support in truth.items()]
    return 1.0 - float(np.mean(losses))


# Appendix E: 1 - mean over F_K(D) of |sup in F_K(D) - sup in F_K(release)| / sup in F_K(D), where the support in
# the release is 0 for an itemset that is not among the top K of the release. Supports that are too large by more
# than their double make it negative.
utility = Metric("top-K utility", "max", (-np.inf, 1.0), _utility)

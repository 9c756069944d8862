"""The K most frequent itemsets, and the utility that DiffPart's appendix E computes from them.

The paper uses the miner MAFIA. None of the miners that are maintained today fits: mlxtend needs the records as a dense
or sparse frame of booleans, efficient-apriori iterates over Python sets, pyfim has no wheels, PAMI needs dozens of
packages, and none of them searches by K rather than by support. Here every support is a counting query, so the search
is short.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from cantle_lab.papers.metrics import Metric
from cantle_lab.papers.setqueries import Answers, Cells

Itemset = tuple[int, ...]
Frequent = dict[Itemset, float]


def top(answers: Answers, k: int) -> Frequent:
    """The k non-empty itemsets with the largest support, best first, each with its support.

    Among equal supports, those with fewer items come first, then those with smaller codes. Itemsets without support
    are left out, so there may be fewer than k.
    """
    if isinstance(answers, Cells):
        return _best(_listed(answers, k), k)
    return _best(_searched(answers, k), k)


def _best(found: Frequent, k: int) -> Frequent:
    return dict(sorted(found.items(), key=lambda entry: (-entry[1], len(entry[0]), entry[0]))[:k])


def _listed(answers: Cells, k: int) -> Frequent:
    """Every itemset at or above the k-th support. All are examined, because noisy sums need not fall with size."""
    sums = answers.sums.copy()
    sums[0] = 0.0  # the empty itemset does not count
    bar = np.partition(sums, -k)[-k] if k < len(sums) else 0.0
    cells = np.flatnonzero((sums >= bar) & (sums > 0))
    inside = cells[:, None] >> np.arange(answers.size) & 1
    return {tuple(np.flatnonzero(row).tolist()): float(sums[cell]) for row, cell in zip(inside, cells, strict=True)}


def _searched(answers: Answers, k: int) -> Frequent:
    """A search level by level, which uses that the support of an itemset is at most that of its subsets.

    The bar is the k-th support found so far. A larger set that only equals the bar would lose the tie, so only sets
    above it are extended. A level never has more than k sets.
    """
    supports = answers.supports()
    order = np.argsort(-supports, kind="stable")[:k]
    level: Frequent = {(int(item),): float(supports[item]) for item in np.sort(order) if supports[item] > 0}
    frequent = dict(level)
    while level:
        bar = _bar(frequent, k)
        sets = sorted(itemset for itemset, support in level.items() if support > bar)
        joined = [a + b[-1:] for a, b in combinations(sets, 2) if a[:-1] == b[:-1]]
        counts = answers.count(np.array(joined, dtype=np.int32)) if joined else ()
        level = {itemset: float(n) for itemset, n in zip(joined, counts, strict=True) if n > bar}
        frequent |= level
    return frequent


def _bar(found: Frequent, k: int) -> float:
    """The k-th largest support; 0 if there are fewer."""
    return sorted(found.values(), reverse=True)[k - 1] if len(found) >= k else 0.0


def _utility(truth: Frequent, released: Frequent) -> float:
    if not truth:
        return 1.0
    losses = [abs(support - released.get(itemset, 0.0)) / support for itemset, support in truth.items()]
    return 1.0 - float(np.mean(losses))


# Appendix E: 1 - mean over F_K(D) of |sup in F_K(D) - sup in F_K(release)| / sup in F_K(D), where the support in
# the release is 0 for an itemset that is not among the top K of the release. It is negative if released supports are
# more than twice too large.
utility = Metric("top-K utility", "max", (-np.inf, 1.0), _utility)

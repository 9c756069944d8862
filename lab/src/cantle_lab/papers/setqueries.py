"""Counting queries over set-valued data: the paper's workload, queries drawn from records, exact answers, errors.

A query is a set of items; its answer is the number of records that contain all of them (definition 3.4). Queries are
rows of a matrix of item codes, padded on the right with -1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, islice
from typing import Protocol

import numpy as np
import numpy.typing as npt

from cantle.errors import ParameterError
from cantle_lab.papers.coding import Floats, Ints
from cantle_lab.papers.sets import Codes, Sets

Queries = Codes

GROUPS = (20, 40, 60, 80, 100)  # longest query of a group, in percent of max|t| (section 5.1)
SANITY = 0.001  # the sanity bound as a share of |D| (section 5.1)
FEW_ITEMS = 20  # up to this many items, all 2^|I| answers are kept in a table


# ---------------------------------------------------------------------------------------------- workloads


def workload(size: int, longest: int, number: int, rng: np.random.Generator, shortest: int = 1) -> Queries:
    """Random queries: lengths are uniform from `shortest` to `longest`, items are drawn uniformly without
    replacement."""
    longest = max(1, min(longest, size))
    lengths = rng.integers(shortest, longest, endpoint=True, size=number)
    return subsets(np.full(number, size), lengths, rng)


def longest_of(data: Sets, percent: int) -> int:
    """The longest query of a group: this percentage of max|t|, rounded down."""
    return max(1, data.longest * percent // 100)


def from_records(data: Sets, items: int, number: int, rng: np.random.Generator) -> Queries:
    """Queries that some record satisfies: this many random items of a random record that has enough."""
    eligible = np.flatnonzero(data.lengths >= items)
    if not len(eligible):
        raise ParameterError(f"no record has {items} items; ask for smaller subsets")
    records = eligible[rng.integers(len(eligible), size=number)]
    places = subsets(data.lengths[records], np.full(number, items), rng)
    return data.items[data.starts[records, None] + places]


def subsets(sizes: Ints, lengths: Ints, rng: np.random.Generator) -> Queries:
    """For each row a uniform subset of `length` of the numbers 0 to `size` - 1, in no particular order.

    This is Floyd's method, for all rows at once: step j draws one of the first size - length + j + 1 numbers. If that
    number is in the subset already, it takes the last of these numbers instead.
    """
    chosen = np.full((len(sizes), int(lengths.max(initial=0))), -1, dtype=np.int32)
    for j in range(chosen.shape[1]):
        rows = np.flatnonzero(lengths > j)
        last = sizes[rows] - lengths[rows] + j
        drawn = rng.integers(last, endpoint=True)
        already_chosen = (chosen[rows, :j] == drawn[:, None]).any(axis=1)
        chosen[rows, j] = np.where(already_chosen, last, drawn)
    return chosen


# ---------------------------------------------------------------------------------------------- answers


class Answers(Protocol):
    """Something that answers counting queries: raw records, a release, a table of noisy counts, a model."""

    @property
    def records(self) -> float:
        """The number of records."""

    def supports(self) -> Floats:
        """The answer for each single item."""

    def count(self, queries: Queries) -> Floats:
        """The answer to each query."""


class Index:
    """Exact answers from records: a query starts with the records of its rarest item and drops those that do not hold
    the other items, rarest first."""

    def __init__(self, data: Sets) -> None:
        self.records = float(len(data))
        self._supports = data.supports()
        holders = data.owners()[np.argsort(data.items, kind="stable")].astype(np.int32)
        self._holders = np.split(holders, np.cumsum(self._supports)[:-1])
        self._holds = np.zeros((data.size, (len(data) >> 3) + 1), dtype=np.uint8)  # a bit per record
        for item, mine in enumerate(self._holders):
            np.bitwise_or.at(self._holds[item], mine >> 3, np.uint8(1) << (mine & 7).astype(np.uint8))

    def supports(self) -> Floats:
        """The answer for each single item."""
        return self._supports.astype(np.float64)

    def count(self, queries: Queries) -> Floats:
        """The answer to each query."""
        return np.array([self._one(tuple(query[query >= 0].tolist())) for query in queries], dtype=np.float64)

    @lru_cache(maxsize=1 << 16)  # noqa: B019 - the same pairs are often asked again
    def _one(self, items: tuple[int, ...]) -> float:
        if not items:
            return self.records
        rarest, *others = sorted(items, key=self._supports.__getitem__)
        left = self._holders[rarest]
        for item in others:
            left = left[self._holds[item, left >> 3] >> (left & 7).astype(np.uint8) & 1 == 1]
        return float(len(left))


class Cells:
    """Answers from one count for each of the 2^|I| sets of items; counts may be exact, noisy or negative.

    Bit i of a cell's number is set if item i is in the set. The answer to a query is the sum of the cells of all sets
    that contain it; all these sums are computed at once, one item after the other.
    """

    def __init__(self, cells: Floats) -> None:
        self.size = len(cells).bit_length() - 1
        if len(cells) != 1 << self.size or self.size > FEW_ITEMS:
            raise ParameterError(f"{len(cells)} cells; a table of cells has 2^items of them, {FEW_ITEMS} items at most")
        self.cells = cells
        self.sums = cells.astype(np.float64)
        for item in range(self.size):
            halves = self.sums.reshape(-1, 2, 1 << item)
            halves[:, 0] += halves[:, 1]

    @property
    def records(self) -> float:
        """The sum of all cells."""
        return float(self.sums[0])

    def supports(self) -> Floats:
        """The answer for each single item."""
        return self.sums[1 << np.arange(self.size)]

    def count(self, queries: Queries) -> Floats:
        """The answer to each query."""
        bits = np.where(queries >= 0, 1 << np.maximum(queries, 0).astype(np.int64), 0)
        return self.sums[np.bitwise_or.reduce(bits, axis=1, initial=0)]


class Independent:
    """The model that has the exact number of records and exact supports, and treats the items as independent."""

    def __init__(self, data: Sets) -> None:
        self.records = float(len(data))
        self._shares = data.supports() / max(len(data), 1)

    def supports(self) -> Floats:
        """The answer for each single item."""
        return self.records * self._shares

    def count(self, queries: Queries) -> Floats:
        """The answer to each query."""
        return self.records * np.append(self._shares, 1.0)[queries].prod(axis=1)  # padding (-1) selects the 1


class Nothing:
    """The empty release: every answer is 0. Its score shows how little a workload demands."""

    records = 0.0

    def __init__(self, size: int) -> None:
        self._size = size

    def supports(self) -> Floats:
        """The answer for each single item."""
        return np.zeros(self._size)

    def count(self, queries: Queries) -> Floats:
        """The answer to each query."""
        return np.zeros(len(queries))


def tabled(data: Sets) -> Floats:
    """The number of records equal to each of the 2^|I| sets of items."""
    sets = np.zeros(len(data), dtype=np.int64)
    np.add.at(sets, data.owners(), np.int64(1) << data.items.astype(np.int64))
    return np.bincount(sets, minlength=1 << data.size).astype(np.float64)


def answers_of(data: Sets) -> Answers:
    """Exact answers from records; from a table of all sets if there are few items."""
    return Cells(tabled(data)) if data.size <= FEW_ITEMS else Index(data)


# ---------------------------------------------------------------------------------------------- errors


def relative_error(truth: Floats, released: Floats, bound: float) -> float:
    """Section 5.1: the mean over the queries of |Q(release) - Q(D)| / max(Q(D), s), where s is the sanity bound.

    For the empty release it is at most 1, and the smaller the more queries no record satisfies.
    """
    return float(np.mean(np.abs(released - truth) / np.maximum(truth, bound)))


def groups(data: Sets, number: int, rng: np.random.Generator, percents: Sequence[int] = GROUPS) -> dict[int, Queries]:
    """The paper's groups of queries: for each percentage, `number` queries of length up to that share of max|t|."""
    return {percent: workload(data.size, longest_of(data, percent), number, rng) for percent in percents}


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


def utility(truth: Frequent, released: Frequent) -> float:
    """Appendix E: 1 - mean over F_K(D) of |sup in F_K(D) - sup in F_K(release)| / sup in F_K(D), at most 1.

    The support in the release is 0 for an itemset that is not among the top K of the release. The utility is negative
    if released supports are more than twice too large.
    """
    if not truth:
        return 1.0
    losses = [abs(support - released.get(itemset, 0.0)) / support for itemset, support in truth.items()]
    return 1.0 - float(np.mean(losses))


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


@dataclass(frozen=True)
class Yardstick:
    """A data set on which releases are measured: queries by the name of their error, with the true answers, and the
    most frequent itemsets."""

    data: Sets
    asked: Mapping[str, Queries]
    truth: Mapping[str, Floats]
    frequent: Frequent
    cells: Cells | None
    """The number of records of every set, if there are few items."""

    @staticmethod
    def of(data: Sets, asked: Mapping[str, Queries], most: int = 0) -> Yardstick:
        """The yardstick with the answers of the data, and this many of its most frequent itemsets."""
        exact = answers_of(data)
        truth = {name: exact.count(queries) for name, queries in asked.items()}
        return Yardstick(
            data, asked, truth, top(exact, most) if most else {}, exact if isinstance(exact, Cells) else None
        )

    def errors(self, answers: Answers) -> dict[str, float]:
        """The relative error of all queries."""
        bound = SANITY * len(self.data)
        return {
            name: relative_error(self.truth[name], answers.count(asked), bound) for name, asked in self.asked.items()
        }

    def true_mass(self, answers: Answers, released: Sets | None) -> dict[str, float]:
        """The share of the true records that the release has in common with the data, set by set; none for a model,
        which has no records."""
        if isinstance(answers, Cells) and self.cells is not None:
            mass = shared_cells(self.cells, answers)
        elif released is not None:
            mass = shared_records(self.data, released)
        elif isinstance(answers, Nothing):
            mass = 0.0
        else:
            return {}
        return {"true mass": mass / max(1, len(self.data))}


def first(frequent: Frequent, k: int) -> Frequent:
    """The first k itemsets."""
    return dict(islice(frequent.items(), k))

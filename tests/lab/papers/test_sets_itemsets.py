"""Top-K itemsets compared with brute force, and the utility of appendix E."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from cantle_lab.papers import sets
from cantle_lab.papers.setqueries import Cells, Frequent, Independent, Index, Nothing, tabled, top, utility
from cantle_lab.papers.sets import Sets, Town


def brute(data: Sets, k: int) -> Frequent:
    """Counts every subset of every record."""
    counts: dict[tuple[int, ...], float] = {}
    for a, b in zip(data.starts[:-1], data.starts[1:], strict=True):
        record = data.items[a:b].tolist()
        for size in range(1, len(record) + 1):
            for itemset in combinations(record, size):
                counts[itemset] = counts.get(itemset, 0) + 1
    return dict(sorted(counts.items(), key=lambda entry: (-entry[1], len(entry[0]), entry[0]))[:k])


@pytest.mark.parametrize("size", [8, 40])
@pytest.mark.parametrize("k", [1, 7, 60, 10_000])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_top_k_agrees_with_brute_force(size: int, k: int, seed: int) -> None:
    data = sets.stand_in(Town(records=150, items=size, stations=4, longest=7), seed)
    truth = brute(data, k)
    assert list(top(Index(data), k).items()) == list(truth.items())
    if size == 8:
        assert list(top(Cells(tabled(data)), k).items()) == list(truth.items())


def test_ties_do_not_make_the_search_slow() -> None:
    """One record of forty items has 2^40 itemsets of the same support, of which the smallest are returned."""
    data = Sets(np.array([0, 40]), np.arange(40, dtype=np.int32), 40)
    itemsets = top(Index(data), 50)
    assert list(itemsets) == [*((item,) for item in range(40)), *((0, item) for item in range(1, 11))]


def test_noisy_tables_are_searched_in_full() -> None:
    """With noise, the count of a pair may exceed those of its items."""
    cells = np.array([0, -3, 1, 9], dtype=np.float64)  # {}, {0}, {1}, {0, 1}
    assert top(Cells(cells), 2) == {(1,): 10, (0, 1): 9}


def test_empty_data_have_no_itemsets() -> None:
    assert top(Nothing(5), 3) == {}
    assert top(Cells(np.zeros(32)), 3) == {}


def test_models_are_mined_too() -> None:
    data = sets.stand_in(Town(records=500, items=30, stations=5, longest=7))
    best = top(Independent(data), 1)
    assert list(best.values()) == [pytest.approx(data.supports().max())]
    assert len(top(Independent(data), 100)) == 100


def test_utility_by_hand() -> None:
    truth: Frequent = {(0,): 100, (1,): 50, (0, 1): 40, (2,): 10}
    assert utility(truth, truth) == 1
    assert utility(truth, {}) == 0
    released: Frequent = {(0,): 90, (1,): 60, (3,): 45, (2,): 10}  # (0, 1) is missing, so its support is 0
    assert utility(truth, released) == pytest.approx(1 - (0.1 + 0.2 + 1 + 0) / 4)
    assert utility(truth, {itemset: 4 * support for itemset, support in truth.items()}) == pytest.approx(-2)

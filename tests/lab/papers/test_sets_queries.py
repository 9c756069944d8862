"""Counting queries: workloads, answers compared with brute force, errors, and the baseline Basic."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from cantle.errors import ParameterError
from cantle_lab.papers import setqueries, sets
from cantle_lab.papers.baselines import basic, clipped
from cantle_lab.papers.setqueries import Cells, Independent, Index, Nothing, Queries, relative_error
from cantle_lab.papers.sets import Sets, Town


def small(size: int = 12, records: int = 400) -> Sets:
    return sets.stand_in(Town(records=records, items=size, stations=4, longest=6))


def brute(data: Sets, queries: Queries) -> list[int]:
    """Answers each query by a search through all records."""
    held = [set(data.items[a:b].tolist()) for a, b in zip(data.starts[:-1], data.starts[1:], strict=True)]
    return [sum({item for item in query.tolist() if item >= 0} <= record for record in held) for query in queries]


def asked(data: Sets) -> Queries:
    """Random queries, queries from records, and the query of no items."""
    rng = np.random.default_rng(3)
    parts = [setqueries.workload(data.size, 5, 150, rng)]
    parts += [setqueries.from_records(data, k, 50, rng) for k in (1, 2, 3, 4)]
    parts.append(np.full((1, 1), -1, dtype=np.int32))
    widest = max(queries.shape[1] for queries in parts)
    return np.vstack([np.pad(q, ((0, 0), (0, widest - q.shape[1])), constant_values=-1) for q in parts])


@pytest.mark.parametrize("size", [12, 60])
def test_answers_agree_with_brute_force(size: int) -> None:
    data = small(size)
    queries = asked(data)
    truth = brute(data, queries)
    assert Index(data).count(queries).tolist() == truth
    assert setqueries.answers_of(data).count(queries).tolist() == truth
    assert Index(data).supports().tolist() == data.supports().tolist()
    assert len(set(truth)) > 20


def test_queries_about_few_items_are_answered_from_a_table() -> None:
    data = small()
    cells = setqueries.answers_of(data)
    assert isinstance(cells, Cells)
    assert cells.records == len(data)
    assert cells.supports().tolist() == data.supports().tolist()
    assert cells.count(asked(data)).tolist() == brute(data, asked(data))
    assert isinstance(setqueries.answers_of(small(60)), Index)
    with pytest.raises(ParameterError, match="6 cells; a table of cells has"):
        Cells(np.zeros(6))


def test_an_empty_release_has_answers() -> None:
    for size in (12, 60):
        empty = Sets(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32), size)
        queries = setqueries.workload(size, 4, 20, np.random.default_rng(0))
        assert not setqueries.answers_of(empty).count(queries).any()
        assert not Nothing(size).count(queries).any()
        assert not Nothing(size).supports().any()


def test_subsets_are_uniform() -> None:
    rng = np.random.default_rng(1)
    number = 30_000
    drawn = setqueries.subsets(np.full(number, 5), np.full(number, 3), rng)
    seen = Counter(tuple(sorted(row)) for row in drawn.tolist())
    assert set(seen) == set(combinations(range(5), 3))
    assert all(abs(count - number / 10) < 5 * np.sqrt(number * 0.09) for count in seen.values())


def test_the_workload_has_the_lengths_of_the_paper() -> None:
    queries = setqueries.workload(17, 10, 20_000, np.random.default_rng(2))
    lengths = (queries >= 0).sum(axis=1)
    counts = np.bincount(lengths, minlength=11)
    assert counts[0] == 0
    assert all(abs(count - 2_000) < 5 * np.sqrt(2_000) for count in counts[1:])
    assert all(len({*row} - {-1}) == n for row, n in zip(queries.tolist(), lengths, strict=True))
    assert np.bincount(queries[queries >= 0]).std() < 200
    whole = setqueries.workload(17, 17, 500, np.random.default_rng(2))
    full = [set(row) for row in whole.tolist() if -1 not in row]
    assert full == [set(range(17))] * len(full) != []
    assert (
        setqueries.workload(3, 9, 100, np.random.default_rng(2)).shape[1] == 3
    )  # queries are no longer than the universe


def test_groups_go_up_to_a_share_of_the_longest_record() -> None:
    data = small()  # the longest record has 6 items
    groups = setqueries.groups(data, 300, np.random.default_rng(0))
    assert {percent: int((q >= 0).sum(axis=1).max()) for percent, q in groups.items()} == {
        20: 1, 40: 2, 60: 3, 80: 4, 100: 6,
    }  # fmt: skip


def test_queries_from_records_are_satisfied_by_some_record() -> None:
    data = small(60)
    queries = setqueries.from_records(data, 3, 200, np.random.default_rng(0))
    assert all(len(set(row)) == 3 for row in queries.tolist())
    assert Index(data).count(queries).min() >= 1
    with pytest.raises(ParameterError, match="no record has 7 items"):
        setqueries.from_records(data, 7, 10, np.random.default_rng(0))


def test_relative_error_by_hand() -> None:
    truth, released = np.array([100.0, 4.0, 0.0]), np.array([90.0, 9.0, 5.0])
    assert relative_error(truth, released, 10) == pytest.approx((10 / 100 + 5 / 10 + 5 / 10) / 3)


def test_independent_items() -> None:
    data = Sets(np.array([0, 1, 3, 4, 4]), np.array([0, 0, 1, 1], dtype=np.int32), 3)
    model = Independent(data)
    queries = np.array([[0, -1], [0, 1], [2, -1]], dtype=np.int32)
    assert model.count(queries).tolist() == pytest.approx([2, 1, 0])
    assert model.supports().tolist() == pytest.approx([2, 2, 0])
    assert model.records == 4


def test_basic_has_laplace_noise_on_every_set_but_the_empty_one() -> None:
    data = small(16, 50)
    exact = setqueries.tabled(data)
    epsilon = 0.5
    noisy = basic(data, epsilon, np.random.default_rng(0))
    assert noisy.cells[0] == 0
    noise = (noisy.cells - exact)[1:]
    assert np.abs(noise).mean() == pytest.approx(1 / epsilon, rel=0.02)  # 65,535 draws
    assert noise.std() == pytest.approx(np.sqrt(2) / epsilon, rel=0.03)
    assert abs(noise.mean()) < 0.05
    assert (np.abs(noise) > np.log(20) / epsilon).mean() == pytest.approx(1 / 20, rel=0.1)
    records = clipped(noisy)
    assert (records.cells == np.rint(np.maximum(noisy.cells, 0))).all()
    assert records.records > 10 * len(data)  # clipping turns half of the noise into records
    with pytest.raises(ParameterError, match=r"20 items at most"):
        basic(small(60), 1, np.random.default_rng(0))


def test_msnbc_gives_the_known_errors(real_data: Path) -> None:
    """The errors of the empty release and of Basic, as two independent programs have measured them."""
    if sets.find("msnbc", real_data) is None:
        pytest.skip("msnbc is not in the data folder")
    data = sets.load("msnbc", real_data)
    exact = setqueries.answers_of(data)
    rng = np.random.default_rng(0)
    groups = setqueries.groups(data, 10_000, rng).values()
    noisy = basic(data, 1, rng)

    def errors(answers: setqueries.Answers) -> list[float]:
        return [relative_error(exact.count(q), answers.count(q), 0.001 * len(data)) for q in groups]

    assert errors(Nothing(17)) == pytest.approx([0.858, 0.552, 0.352, 0.272, 0.210], abs=0.02)
    assert errors(Independent(data)) == pytest.approx([0.340, 0.291, 0.189, 0.148, 0.117], abs=0.02)
    assert errors(clipped(noisy)) == pytest.approx([4.05, 3.18, 1.89, 1.48, 1.13], rel=0.07)
    assert errors(noisy) == pytest.approx([0.059, 0.066, 0.048, 0.038, 0.030], abs=0.05)

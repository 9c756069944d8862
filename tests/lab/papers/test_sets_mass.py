"""The share of records that a release has in common with the raw data: by hand, by brute force, and from cells."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from cantle_lab.papers import sets
from cantle_lab.papers.diffpart_figures import Case
from cantle_lab.papers.setqueries import Cells, Independent, Nothing, answers_of, shared_cells, shared_records, tabled
from cantle_lab.papers.sets import Sets


def made(records: list[list[int]], size: int) -> Sets:
    owners = np.repeat(np.arange(len(records)), [len(record) for record in records])
    return sets.gather(owners, np.concatenate([np.array(record, dtype=np.int64) for record in records]), size)


def counted(data: Sets) -> Counter[tuple[int, ...]]:
    return Counter(tuple(data.items[a:b].tolist()) for a, b in zip(data.starts[:-1], data.starts[1:], strict=True))


def test_the_share_by_hand() -> None:
    data = made([[0], [0], [0], [0, 1], [2]], 3)
    released = made([[0], [0, 1], [0, 1], [1], [2]], 3)
    assert shared_records(data, released) == 1 + 1 + 0 + 1
    assert shared_records(data, data) == 5
    assert shared_cells(Cells(tabled(data)), Cells(tabled(released))) == 3.0


@pytest.mark.parametrize("items", [6, 40])
def test_the_share_agrees_with_brute_force(items: int) -> None:
    one, other = (sets.stand_in(sets.Town(records=3_000, items=items, stations=4), seed=seed) for seed in (1, 2))
    expected = (counted(one) & counted(other)).total()
    assert 500 < expected < 3_000
    assert shared_records(one, other) == expected
    if items == 6:
        assert shared_cells(Cells(tabled(one)), Cells(tabled(other))) == expected


def test_negative_counts_do_not_reduce_the_share() -> None:
    true = Cells(np.array([0.0, 5.0, 3.0, 2.0]))
    assert shared_cells(true, Cells(np.array([0.0, -4.0, 2.5, 9.0]))) == 4.5


@pytest.mark.parametrize("items", [6, 40])
def test_the_share_is_in_the_table_of_results(items: int) -> None:
    one, other = (sets.stand_in(sets.Town(records=1_000, items=items, stations=4), seed=seed) for seed in (1, 2))
    case = Case.of("x", one, {}, mass=True)
    share = (counted(one) & counted(other)).total() / 1_000
    assert case.scores(answers_of(other), other) == pytest.approx({"records": 1.0, "true mass": share})
    assert case.scores(Nothing(items)) == {"records": 0.0, "true mass": 0.0}
    assert "true mass" not in case.scores(Independent(one))

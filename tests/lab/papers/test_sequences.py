"""Measures and baselines for sequences: worked examples, and what every baseline must return."""

from __future__ import annotations

import numpy as np
import pytest

from cantle_lab.papers.sequences import BASELINES, Sequences, edges, long_log, measures, strings

SMALL = Sequences.of([[0, 1, 1], [1], [0, 1]], 2, 5)


def test_a_collection_is_like_itself_and_unlike_another() -> None:
    same = measures(SMALL, SMALL)
    assert {value for name, value in same.items() if name != "top 100"} == {0.0}
    other = measures(SMALL, Sequences.of([[0], [0]], 2, 5))
    assert other["lengths"] == pytest.approx(2 / 3)
    assert other["1-grams"] == pytest.approx(4 / 6)
    assert other["starts"] == pytest.approx(1 / 3)
    assert other["ends"] == 1.0


def test_strings_and_edges_are_counted_inside_sequences() -> None:
    assert [part.tolist() for part in strings(SMALL, 2)] == [[1, 3], [2, 1]]
    cells, number = edges(SMALL)
    assert dict(zip(cells.tolist(), number.tolist(), strict=True)) == {1: 2, 4: 1, 5: 3, 9: 2, 10: 1}


@pytest.mark.parametrize("name", BASELINES)
def test_a_baseline_makes_sequences_of_the_alphabet(name: str) -> None:
    data = long_log(500)
    made = BASELINES[name](data, 5.0, np.random.default_rng(1))
    assert len(made) == len(data)
    assert 1 <= made.lengths.min() <= made.lengths.max() <= data.longest
    assert 0 <= made.codes.min() <= made.codes.max() < data.symbols


@pytest.mark.parametrize("name", ["chain, order 1", "chain, order 2"])
def test_chains_learn_the_data_without_noise(name: str) -> None:
    data = long_log(2000)
    assert measures(data, BASELINES[name](data, 1e6, np.random.default_rng(1)))["2-grams"] < 0.05

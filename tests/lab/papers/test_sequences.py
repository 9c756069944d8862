"""Measures and baselines for sequences: worked examples, and what every baseline must return."""

from __future__ import annotations

import numpy as np
import pytest

from cantle_lab.papers.made_up_logs import work_items
from cantle_lab.papers.sequence_figures import MADE_UP
from cantle_lab.papers.sequences import BASELINES, Sequences, edges, measures, perplexity, strings

SMALL = Sequences.of([[0, 1, 1], [1], [0, 1]], 2, 5)


def test_a_collection_is_like_itself_and_unlike_another() -> None:
    same = measures(SMALL, SMALL, SMALL)
    assert {value for name, value in same.items() if name not in ("top 100", "perplexity")} == {0.0}
    assert same["perplexity"] == 1.0
    other = measures(SMALL, Sequences.of([[0], [0]], 2, 5), SMALL)
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
    data = work_items(500)
    made = BASELINES[name](data, 5.0, np.random.default_rng(1))
    assert len(made) == len(data)
    assert 1 <= made.lengths.min() <= made.lengths.max() <= data.longest
    assert 0 <= made.codes.min() <= made.codes.max() < data.symbols


@pytest.mark.parametrize("name", ["chain, order 1", "chain, order 2"])
def test_chains_learn_the_data_without_noise(name: str) -> None:
    data = work_items(2000)
    made = BASELINES[name](data, 1e6, np.random.default_rng(1))
    assert measures(data, made, data)["2-grams"] < 0.05


def test_perplexity_is_the_number_of_symbols_that_may_come_next() -> None:
    dice = np.random.default_rng(1)
    even = Sequences.of(dice.integers(0, 4, (4_000, 10)).tolist(), 4, 10)
    whether_ends = 9 * (np.log(9) / 9 + 8 / 9 * np.log(9 / 8))  # after two symbols and more, one place in nine ends
    assert perplexity(even, even) == pytest.approx(np.exp((10 * np.log(4) + whether_ends) / 11), rel=0.01)
    turning = Sequences.of([[0, 1, 2, 0, 1, 2]] * 500, 3, 6)
    assert perplexity(turning, turning) < 1.35  # what follows 1 and 2 is certain but for the end
    assert perplexity(even, turning) > perplexity(turning, turning)


@pytest.mark.parametrize("name", MADE_UP)
def test_a_made_up_log_is_the_same_each_time_and_uses_its_alphabet(name: str) -> None:
    make, _ = MADE_UP[name]
    one, again = make(300), make(300)
    assert len(one) == 300
    assert (one.codes == again.codes).all()
    assert 0 <= one.codes.min() <= one.codes.max() < one.symbols
    assert 1 <= one.lengths.min() <= one.lengths.max() <= one.longest

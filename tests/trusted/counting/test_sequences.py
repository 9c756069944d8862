"""The engine of sequences: private on the outside, alike for strings that are listed and those that are not."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from cantle.errors import ParameterError
from cantle.trusted.bounding.persons import sequences_within_bound
from cantle.trusted.claims import sequence_queries
from cantle.trusted.claims.sequence_queries import Lengths, ListedStrings, Strings
from cantle.trusted.core.budget import MOST, Budget, Unit
from cantle.trusted.core.curator import Curator
from cantle.trusted.counting import sequences
from cantle.trusted.counting.ragged import Ragged
from cantle.trusted.counting.sequences import SequenceEngine
from cantle.trusted.geometry.boxes import Cuts
from cantle.trusted.geometry.sequence_strings import SequenceDomain, Shares, count_contained
from cantle.trusted.geometry.workloads import SequenceWorkload, fingerprint
from cantle.trusted.noise import Seeded

ROOT, SHARES = np.zeros(1, np.int64), Shares(4, 420, 420, 4200)


def engine(rows: list[list[int]], symbols: int = 3) -> SequenceEngine:
    starts = np.cumsum([0, *map(len, rows)])
    codes = np.array([code for row in rows for code in row], dtype=np.int32)
    return SequenceEngine(Ragged(starts, codes), SequenceDomain(symbols))


def test_it_shows_nothing_and_cannot_be_pickled() -> None:
    held = engine([[0, 1]])
    assert repr(held) == "SequenceEngine(private)"
    with pytest.raises(TypeError, match="private records"):
        pickle.dumps(held)
    held.keep_all()
    held.close()


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_strings_are_the_same_if_there_are_too_many_to_list(order: int, monkeypatch: pytest.MonkeyPatch) -> None:
    dice = np.random.default_rng(order)
    held = engine([dice.integers(0, 3, dice.integers(1, 7)).tolist() for _ in range(50)])
    listed = held.strings(order, SHARES)
    monkeypatch.setattr(sequences, "MOST_CELLS", 1)
    for one, other in zip(listed, held.strings(order, SHARES), strict=True):
        assert one.tolist() == other.tolist()
    assert [part.tolist() for part in engine([]).strings(order, SHARES)] == [[], []]


def test_sequences_are_one_region_that_is_not_divided() -> None:
    held = engine([[1], [0, 1]])
    assert not list(held.tally(ROOT[:0], Lengths((1,))))
    with Curator(held, Budget(10, Unit()), Seeded(1)) as curator, pytest.raises(ParameterError):
        curator.split(curator.root(), Cuts(np.zeros(1, np.int64), np.ones(1, np.int64)))


def test_order_and_repeats_decide_which_sequences_of_a_person_are_used() -> None:
    rows = [[0, 1], [1, 0], [0, 1, 1], [0, 1]]
    lengths, flat = np.array(list(map(len, rows))), np.array(sum(rows, []), dtype=np.int32)
    used = sequences_within_bound(np.zeros(4, np.int64), lengths, flat, 2)
    again = sequences_within_bound(np.zeros(4, np.int64), lengths[::-1], np.array(sum(rows[::-1], []), np.int32), 2)
    assert used.sum() == again.sum() == 2
    kept = sorted(tuple(row) for row, one in zip(rows, used, strict=True) if one)
    assert kept == sorted(tuple(row) for row, one in zip(rows[::-1], again, strict=True) if one)


PAIRS = np.array([[0, 1], [1, 1]], dtype=np.int64)


@pytest.mark.parametrize("bad", [
    SequenceWorkload(PAIRS.astype(np.int32), 1), SequenceWorkload(PAIRS.reshape(-1), 1),  # type: ignore[arg-type]
    SequenceWorkload(PAIRS[:, :1], 1), SequenceWorkload(PAIRS, 3), SequenceWorkload(PAIRS, -1),
    SequenceWorkload(PAIRS, 1.0), SequenceWorkload(PAIRS + 2, 1), SequenceWorkload(PAIRS - 1, 1),  # type: ignore[arg-type]
    SequenceWorkload(np.zeros((10_001, 2), np.int64), 1),
])  # fmt: skip
def test_workloads_that_do_not_fit_are_refused(bad: Any) -> None:
    assert SequenceWorkload(PAIRS, 1).fits(SequenceDomain(2))
    assert not SequenceWorkload(PAIRS, 1).fits(object())
    assert not bad.fits(SequenceDomain(2))


def test_a_copy_of_a_workload_has_the_same_fingerprint() -> None:
    workload = SequenceWorkload(PAIRS.copy(), 1)
    copy = workload.copy()
    assert fingerprint(copy) == fingerprint(workload) != fingerprint(SequenceWorkload(PAIRS, 2))
    workload.pairs[0, 0] = 1
    assert copy.pairs[0, 0] == 0
    assert count_contained(SequenceWorkload(PAIRS[:0], 0), np.array([0, 1]), np.array([1])).tolist() == []


def test_the_bounds_of_the_claims_are_those_of_the_questions() -> None:
    from cantle.methods.journeys.model import questions

    assert questions.MOST_ORDER <= sequence_queries.MOST_ORDER
    assert questions.DENSE <= sequence_queries.MOST_CELLS


@pytest.mark.parametrize("always", [(), (0, 7, 15)])
def test_listed_strings_are_those_of_the_table_from_the_threshold_on_and_the_ones_always_given(
    always: tuple[int, ...],
) -> None:
    """At so high a price that the noise is 0."""
    rows, price = [[0, 1, 1], [2], [0, 1], [2, 0, 1, 1]], MOST
    counts = next(iter(engine(rows).tally(ROOT, Strings(3, 2, SHARES))))[2][0]
    least = int(np.sort(counts)[-3])
    with Curator(engine(rows), Budget(price, Unit()), Seeded(1)) as curator:
        query = ListedStrings(3, 2, SHARES, np.array(always, dtype=np.int64))
        noisy = curator.measure(curator.root(), query, price, at_least=least, why="strings")
    wanted = sorted({*np.flatnonzero(counts >= least).tolist(), *always})
    assert noisy.cells.tolist() == wanted
    assert noisy.value.tolist() == counts[wanted].tolist()

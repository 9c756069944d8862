"""The declared L1 sensitivities of the questions about sequences hold and are attained (Claims 61 to 66), by brute
force.

All sequences of up to five of three symbols are tried as the record more, beside no record and beside a few others, at
both ends of the data, through the real engine. Mutants exceed the bounds: a sequence of length H among the short and
the long ones, strings that each count in full or are rounded up, a last symbol that counts once more, a distance that
is doubled.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

from cantle.trusted.claims.own_error import OwnError
from cantle.trusted.claims.sequence_queries import (
    SEQUENCE_KEYS,
    EndSymbols,
    Lengths,
    ListedStrings,
    ShortPaths,
    StringDistance,
    Strings,
)
from cantle.trusted.core.budget import Unit
from cantle.trusted.counting import sequences
from cantle.trusted.counting.ragged import Ragged
from cantle.trusted.counting.sequences import SequenceEngine
from cantle.trusted.geometry import sequence_strings
from cantle.trusted.geometry.boxes import Cuts, Frontier
from cantle.trusted.geometry.item_partitions import PARTS
from cantle.trusted.geometry.sequence_strings import SequenceDomain
from cantle.trusted.geometry.workloads import SequenceWorkload

Data = tuple[tuple[int, ...], ...]
SYMBOLS, LONGEST, CUT = 3, 5, 2
RECORDS = [one for length in range(1, LONGEST + 1) for one in product(range(SYMBOLS), repeat=length)]
OTHERS: list[Data] = [(), ((0, 1, 1, 2),), ((2,), (0, 0), (1, 2, 0, 1, 2))]
EXPECTED = np.array([1000, 0, 4000, 20000], dtype=np.int64)

QUERIES: list[tuple[Any, int]] = [
    (Lengths((1,)), 1),
    (Lengths((1, 2, 3, 5)), 1),
    *((EndSymbols(SYMBOLS, classes, weights), PARTS)
      for classes in ((), (3,), (2, 4))
      for weights in ((PARTS // 2, PARTS // 2, 0), (PARTS // 4, PARTS // 4, PARTS // 2))),
    *((Strings(SYMBOLS, order, classes), PARTS) for order, classes in ((2, ()), (2, (3, 5)), (3, ()), (4, ()))),
    (ListedStrings(SYMBOLS, 3, (), np.array([0, 5])), PARTS),
    *((StringDistance(SYMBOLS, order, np.array([0, 3, 5, 9]), EXPECTED), PARTS) for order in (2, 3)),
]  # fmt: skip


def csr(rows: Data) -> tuple[np.ndarray, np.ndarray]:
    return np.cumsum([0, *map(len, rows)]), np.array([code for row in rows for code in row], dtype=np.int32)


def engine_of(rows: Data) -> SequenceEngine:
    return SequenceEngine(Ragged(*csr(rows)), SequenceDomain(SYMBOLS, LONGEST))


def halves(engine: SequenceEngine) -> Frontier:
    """Short and long sequences, as two regions of the engine."""
    cut = Cuts(np.zeros(1, np.int64), np.array([CUT]))
    assert cut.fits(engine.root())
    engine.split(np.zeros(1, np.int64), cut)
    return cut.children(engine.root(), 1)


def counted(query: Any, rows: Data, region: int | None = None) -> np.ndarray:
    """All cells of a question about all sequences, or about short (0) or long ones (1), as the engine counts them."""
    engine = engine_of(rows)
    positions = np.zeros(1, np.int64)
    if region is not None:
        halves(engine)
        positions = np.array([region])
    if isinstance(query, ListedStrings):
        dense = np.zeros(query.cells, np.int64)
        _, cells, counts = query.occupied(engine, positions, engine.root())
        assert (np.diff(cells) > 0).all()
        dense[cells] = counts
        return dense
    ((_, _, counts),) = engine.tally(positions, query.key)
    assert counts.shape == (1, query.key.cells)
    return counts[0]


def worst(count: Callable[[Data], np.ndarray], records: list[tuple[int, ...]] = RECORDS) -> int:
    """The largest L1 change of all cells when one record is added, at the start or at the end."""
    most = 0
    for others in OTHERS:
        before = count(others)
        for record in records:
            for rows in {(record, *others), (*others, record)}:
                most = max(most, int(np.abs(count(rows) - before).sum()))
    return most


@pytest.mark.parametrize(("query", "one"), QUERIES, ids=lambda value: str(value)[:60])
def test_sensitivity_holds_and_is_attained(query: Any, one: int) -> None:
    root = engine_of(()).root()
    assert query.fits(root, engine_of(()).domain)
    assert [query.sensitivity(Unit(k)) for k in (1, 2, 5)] == [one, 2 * one, 5 * one]
    assert worst(lambda rows: counted(query, rows)) == one


def test_a_short_sequence_is_in_one_cell_and_a_long_one_in_none() -> None:
    query, (short, long) = ShortPaths(SYMBOLS, CUT), (np.array([0]), np.array([1]))
    engine = engine_of(())
    nodes = halves(engine)
    assert query.fits(nodes.take(slice(0, 1)), engine.domain)
    assert not query.fits(nodes.take(slice(1, 2)), engine.domain)
    assert not query.fits(engine.root(), engine.domain)
    assert worst(lambda rows: counted(query, rows, int(short[0]))) == 1
    assert query.key is query
    assert [query.sensitivity(Unit(k)) for k in (1, 3)] == [1, 3]
    of = {tuple(record): int(np.argmax(counted(query, (record,), 0))) for record in RECORDS if len(record) <= CUT}
    assert sorted(of.values()) == list(range(query.cells))
    assert all(not counted(query, (record,), 0).any() for record in RECORDS if len(record) > CUT)
    assert int(long[0]) == 1


def both_halves(rows: Data) -> np.ndarray:
    """The lengths in both halves, one after the other."""
    return np.concatenate([counted(Lengths((1, 2, 3, 4, 5)), rows, region) for region in (0, 1)])


def test_each_sequence_is_in_one_region() -> None:
    """Claim 61."""
    assert worst(both_halves) == 1
    for record in RECORDS:
        short, long = (counted(Lengths((1,)), (record,), region)[0] for region in (0, 1))
        assert (short, long) == ((1, 0) if len(record) <= CUT else (0, 1))


@pytest.mark.parametrize("near", [0, 2, 4])
def test_each_number_about_the_own_error_moves_by_at_most_one(near: int) -> None:
    """Claims 55a to 57, for pairs of symbols one after the other."""
    pairs = np.array([[0, 1], [1, 1], [2, 0], [0, 0]], dtype=np.int64)
    asked = OwnError(SequenceWorkload(pairs, near), np.array([1, 0, 2, 1], dtype=np.int64))
    assert asked.fits("sequences", SequenceDomain(SYMBOLS, LONGEST))
    most, total = 0, 0
    for others in OTHERS:
        before = asked.exact_numbers(engine_of(others))  # type: ignore[arg-type]
        for record in RECORDS:
            change = np.abs(asked.exact_numbers(engine_of((*others, record))) - before)  # type: ignore[arg-type]
            most, total = max(most, int(change.max())), max(total, int(change.sum()))
    assert most == 1
    assert total <= asked.sensitivity(Unit(1)) == asked.numbers


def contained(pair: tuple[int, int], record: tuple[int, ...], *, near: bool) -> bool:
    gaps = [1] if near else range(1, len(record))
    return any(record[i] == pair[0] and record[i + gap] == pair[1] for gap in gaps for i in range(len(record) - gap))


def test_pairs_are_counted_as_they_are_said() -> None:
    pairs = [(a, b) for a in range(SYMBOLS) for b in range(SYMBOLS)]
    workload = SequenceWorkload(np.array([*pairs, *pairs], dtype=np.int64), len(pairs))
    rows = tuple(RECORDS[::7])
    wanted = [sum(contained(pair, row, near=near) for row in rows) for near in (True, False) for pair in pairs]
    assert engine_of(rows).count_all(workload).tolist() == wanted


def test_strings_are_counted_as_they_are_said() -> None:
    for order in (2, 3, 4):
        for record in RECORDS[::5]:
            said: dict[tuple[int, ...], int] = {}
            padded = [SYMBOLS] * (order - 2) + [*record, SYMBOLS]
            for last in range(order - 1, len(padded)):
                string = tuple(padded[last - order + 1 : last + 1])
                said[string] = said.get(string, 0) + PARTS // len(record)
            counts = counted(Strings(SYMBOLS, order), (record,)).reshape((SYMBOLS + 1,) * order)
            assert {tuple(at): int(counts[tuple(at)]) for at in np.argwhere(counts).tolist()} == said


@pytest.mark.parametrize("kind", SEQUENCE_KEYS, ids=lambda kind: kind.__name__)
def test_every_question_is_tried_and_states_its_claim(kind: type) -> None:
    assert {kind, ListedStrings} <= {ShortPaths, *(type(query) for query, _ in QUERIES)}
    assert re.search(r"^ *Claim \d+\. Sensitivity ", kind.__doc__ or "", re.MULTILINE)


def test_parts_of_any_sequence_add_up_to_at_most_a_whole() -> None:
    for length in (1, 2, 3, 7, 11, 1000, 5039, 5040, 5041, 6000):
        _, parts = sequence_strings.string_parts(np.array([0, length]), np.zeros(length, np.int32), 2, 3)
        assert len(parts) == length
        assert PARTS - length < parts.sum() <= PARTS or length > PARTS
        assert length <= PARTS or not parts.any()


BAD = [
    Lengths((2, 3)), Lengths((1, 1)), Lengths((1, 6000)), ShortPaths(SYMBOLS, 5), ShortPaths(2, 2), ShortPaths(3, 2.0),  # type: ignore[arg-type]
    EndSymbols(SYMBOLS, (1,), (1, 1, 1)), EndSymbols(SYMBOLS, (), (PARTS, 1, 0)), EndSymbols(2, (), (1, 1, 1)),
    EndSymbols(SYMBOLS, (3, 3), (1, 1, 1)), Strings(SYMBOLS, 1), Strings(SYMBOLS, 5), Strings(2, 2),
    ListedStrings(SYMBOLS, 3, (), np.array([5, 5])), ListedStrings(SYMBOLS, 2, (), np.array([16])),
    StringDistance(SYMBOLS, 2, np.array([1]), np.array([-1])), StringDistance(SYMBOLS, 2, np.array([1]), EXPECTED),
    StringDistance(SYMBOLS, 2, np.array([0, 1]), np.array([2**61, 2**61])), EndSymbols(SYMBOLS, (), (1, 1)),  # type: ignore[arg-type]
    Lengths([1, 2]), Strings(SYMBOLS, 2, (True,)), Strings(SYMBOLS, 2.0), EndSymbols(3.0, (), (1, 1, 1)),  # type: ignore[arg-type]
]  # fmt: skip


@pytest.mark.parametrize("query", BAD, ids=lambda value: str(value)[:60])
def test_questions_that_do_not_fit_are_refused(query: Any) -> None:
    assert not query.fits(engine_of(()).root(), SequenceDomain(SYMBOLS, LONGEST))


@pytest.mark.parametrize("query", [query for query, _ in QUERIES], ids=lambda value: str(value)[:60])
def test_questions_are_for_one_region_of_sequences(query: Any) -> None:
    engine = engine_of(())
    assert not query.fits(halves(engine), engine.domain)
    assert not query.fits(engine.root(), ((3,), 1))


# ---- mutants ----------------------------------------------------------------------------------------------------


def test_a_sequence_in_both_parts_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of exactly the length at which sequences are divided."""
    own = sequences.within
    monkeypatch.setattr(sequences, "within", lambda starts, codes, low, high: own(starts, codes, low - 1, high))
    assert worst(both_halves) == 2


@pytest.mark.parametrize("parts", [
    lambda length: np.full_like(length, PARTS),
    lambda length: -(-PARTS // length) + (PARTS % length == 0) * (length > 4),
], ids=["not divided", "rounded up"])  # fmt: skip
def test_parts_that_add_up_to_more_are_caught(monkeypatch: pytest.MonkeyPatch, parts: Any) -> None:
    own = sequence_strings.string_parts

    def more(starts: np.ndarray, *given: Any) -> tuple[np.ndarray, np.ndarray]:
        cells, _ = own(starts, *given)
        return cells, np.repeat(parts(np.diff(starts)), np.diff(starts))

    monkeypatch.setattr(sequences, "string_parts", more)
    assert worst(lambda rows: counted(Strings(SYMBOLS, 2), rows)) > PARTS


def test_an_end_that_counts_once_more_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A transition to the end that comes on top of one string per symbol."""
    own = sequence_strings.string_parts

    def more(starts: np.ndarray, *given: Any) -> tuple[np.ndarray, np.ndarray]:
        cells, parts = own(starts, *given)
        return np.append(cells, cells[starts[1:] - 1]), np.append(parts, parts[starts[1:] - 1])

    monkeypatch.setattr(sequences, "string_parts", more)
    assert worst(lambda rows: counted(Strings(SYMBOLS, 2), rows)) > PARTS


def test_a_doubled_distance_is_caught() -> None:
    """The form 2 T - 2 e, for which the noise of T - e would be too small."""
    query = StringDistance(SYMBOLS, 2, np.array([0, 3, 5, 9]), EXPECTED)
    assert worst(lambda rows: 2 * counted(query, rows)) == 2 * PARTS

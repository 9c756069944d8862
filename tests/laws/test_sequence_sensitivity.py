"""The declared L1 sensitivities of the questions about sequences hold and are attained (Claims 62 and 65), by brute
force.

All sequences of up to five of three symbols are tried as the record more, beside no record and beside a few others, at
both ends of the data, through the real engine. Mutants exceed the bounds: strings that each count in full or are
rounded up, a last symbol that counts once more.
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
    Lengths,
    ListedStrings,
    Strings,
)
from cantle.trusted.core.budget import Unit
from cantle.trusted.counting import sequences
from cantle.trusted.counting.ragged import Ragged
from cantle.trusted.counting.sequences import SequenceEngine
from cantle.trusted.geometry import sequence_strings
from cantle.trusted.geometry.item_partitions import PARTS
from cantle.trusted.geometry.sequence_strings import SequenceDomain, Shares
from cantle.trusted.geometry.workloads import SequenceWorkload

Data = tuple[tuple[int, ...], ...]
SYMBOLS, LONGEST, CUT = 3, 5, 2
RECORDS = [one for length in range(1, LONGEST + 1) for one in product(range(SYMBOLS), repeat=length)]
OTHERS: list[Data] = [(), ((0, 1, 1, 2),), ((2,), (0, 0), (1, 2, 0, 1, 2))]
SHARES = [Shares(2, 840, 0, 4200), Shares(3, 420, 420, 4200), Shares(9, 0, 1680, 3360), Shares(1, 0, 0, 5040)]
"""Sequences of up to 2, 3 or 9 symbols count in full; the first and the last string differently from the others."""

QUERIES: list[tuple[Any, int]] = [
    (Lengths((1,)), 1),
    (Lengths((1, 2, 3, 5)), 1),
    *((Strings(SYMBOLS, order, shares), PARTS) for order in (1, 2, 3, 4) for shares in SHARES),
    (ListedStrings(SYMBOLS, 3, SHARES[0], np.array([0, 5])), PARTS),
]


def csr(rows: Data) -> tuple[np.ndarray, np.ndarray]:
    return np.cumsum([0, *map(len, rows)]), np.array([code for row in rows for code in row], dtype=np.int32)


def engine_of(rows: Data) -> SequenceEngine:
    return SequenceEngine(Ragged(*csr(rows)), SequenceDomain(SYMBOLS))


def counted(query: Any, rows: Data) -> np.ndarray:
    """All cells of a question, as the engine counts them."""
    engine, positions = engine_of(rows), np.zeros(1, np.int64)
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
    found = worst(lambda rows: counted(query, rows))
    assert found <= one
    assert found == one or query.shares == SHARES[2]  # no sequence of the record's length counts all of its parts


@pytest.mark.parametrize("near", [0, 2, 4])
def test_each_number_about_the_own_error_moves_by_at_most_one(near: int) -> None:
    """Claims 55a to 57, for pairs of symbols one after the other."""
    pairs = np.array([[0, 1], [1, 1], [2, 0], [0, 0]], dtype=np.int64)
    asked = OwnError(SequenceWorkload(pairs, near), np.array([1, 0, 2, 1], dtype=np.int64))
    assert asked.fits("sequences", SequenceDomain(SYMBOLS))
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
    for order, shares in product((1, 2, 3, 4), SHARES):
        for record in RECORDS[::5]:
            said: dict[tuple[int, ...], int] = {}
            padded = [SYMBOLS] * (order - 1) + [*record, SYMBOLS]
            each = shares.others // max(len(record) - 1, shares.span - 1, 1)
            worth = [shares.begins, *[each] * (len(record) - 1), shares.ends]
            for first, parts in enumerate(worth):
                string = tuple(padded[first : first + order])
                said[string] = said.get(string, 0) + parts
            counts = counted(Strings(SYMBOLS, order, shares), (record,)).reshape((SYMBOLS + 1,) * order)
            found = {tuple(at): int(counts[tuple(at)]) for at in np.argwhere(counts).tolist()}
            assert found == {string: parts for string, parts in said.items() if parts}


@pytest.mark.parametrize("kind", SEQUENCE_KEYS, ids=lambda kind: kind.__name__)
def test_every_question_is_tried_and_states_its_claim(kind: type) -> None:
    assert {kind, ListedStrings} <= {type(query) for query, _ in QUERIES}
    assert re.search(r"^ *Claim \d+\. Sensitivity ", kind.__doc__ or "", re.MULTILINE)


def test_parts_of_any_sequence_add_up_to_at_most_a_whole() -> None:
    for length in (1, 2, 3, 7, 11, 1000, 5039, 5040, 5041, 6000):
        for shares in SHARES:
            given = np.array([0, length]), np.zeros(length, np.int32), 2, 3, shares
            _, parts = sequence_strings.string_parts(*given)
            assert len(parts) == length + 1
            assert parts.sum() <= PARTS
            assert parts.sum() > PARTS - length or length < shares.span or length == 1


ALL = SHARES[1]
BAD = [
    Lengths((2, 3)), Lengths((1, 1)), Lengths((1, 6000)), Lengths([1, 2]),  # type: ignore[arg-type]
    Strings(SYMBOLS, 0, ALL), Strings(SYMBOLS, 5, ALL), Strings(2, 2, ALL), Strings(SYMBOLS, 2.0, ALL),  # type: ignore[arg-type]
    ListedStrings(SYMBOLS, 3, ALL, np.array([5, 5])), ListedStrings(SYMBOLS, 2, ALL, np.array([16])),
    Strings(SYMBOLS, 2, Shares(2, 1, 0, PARTS)), Strings(SYMBOLS, 2, Shares(2, -1, 1, PARTS)),
    Strings(SYMBOLS, 2, Shares(0, 0, 0, PARTS)), Strings(SYMBOLS, 2, Shares(PARTS + 1, 0, 0, PARTS)),
    Strings(SYMBOLS, 2, Shares(True, 0, 0, 5)), Strings(SYMBOLS, 2, Shares(2, 0, 0, 5.0)),  # type: ignore[arg-type]
    Strings(SYMBOLS, 2, (2, 0, 0, 5)), Strings(3.0, 2, ALL),  # type: ignore[arg-type]
]  # fmt: skip


@pytest.mark.parametrize("query", BAD, ids=lambda value: str(value)[:60])
def test_questions_that_do_not_fit_are_refused(query: Any) -> None:
    assert not query.fits(engine_of(()).root(), SequenceDomain(SYMBOLS))


@pytest.mark.parametrize("query", [query for query, _ in QUERIES], ids=lambda value: str(value)[:60])
def test_questions_are_for_one_region_of_sequences(query: Any) -> None:
    engine = engine_of(())
    assert not query.fits(engine.root().take(slice(0)), engine.domain)
    assert not query.fits(engine.root(), ((3,), 1))


# ---- mutants ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("parts", [
    lambda length: np.full_like(length, PARTS),
    lambda length: -(-PARTS // length) + (PARTS % length == 0) * (length > 4),
], ids=["not divided", "rounded up"])  # fmt: skip
def test_parts_that_add_up_to_more_are_caught(monkeypatch: pytest.MonkeyPatch, parts: Any) -> None:
    own = sequence_strings.string_parts

    def more(starts: np.ndarray, *given: Any) -> tuple[np.ndarray, np.ndarray]:
        cells, _ = own(starts, *given)
        length = np.diff(starts)
        return cells, np.append(np.zeros_like(length), np.repeat(parts(length), length))

    monkeypatch.setattr(sequences, "string_parts", more)
    assert worst(lambda rows: counted(Strings(SYMBOLS, 2, ALL), rows)) > PARTS


def test_an_end_that_counts_once_more_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    own = sequence_strings.string_parts

    def more(starts: np.ndarray, *given: Any) -> tuple[np.ndarray, np.ndarray]:
        cells, parts = own(starts, *given)
        return np.append(cells, cells[-1:]), np.append(parts, parts[-1:])

    monkeypatch.setattr(sequences, "string_parts", more)
    assert worst(lambda rows: counted(Strings(SYMBOLS, 2, ALL), rows)) > PARTS

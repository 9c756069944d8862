"""The curator's verbs `reserve` and `own_error`: paid once at the root, answered once, about all records (Claim 58)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cantle.errors import BudgetExceeded, ParameterError, Sealed
from cantle.trusted.claims.queries import Size
from cantle.trusted.core.budget import NANO, Budget, Unit
from cantle.trusted.core.curator import Curator
from cantle.trusted.counting.ragged import Ragged
from cantle.trusted.counting.sets import SetEngine
from cantle.trusted.geometry.boxes import Cuts
from cantle.trusted.geometry.item_partitions import ItemTree
from cantle.trusted.geometry.workloads import WHOLE, count_table
from cantle.trusted.noise import Seeded
from tests.laws.strategies import Table
from tests.laws.test_own_error import ABOUT_SETS, CLASSES, SIZES, WORKLOADS, columns

RECORDS = tuple((i % 2, i % 3, i % CLASSES) for i in range(90))
TABLE = Table(SIZES, CLASSES, RECORDS)
WORKLOAD = WORKLOADS["all"]
RELEASED = count_table(WORKLOAD, columns(RECORDS[:60]))
EPSILON = 1000 * NANO  # so large that the noise is almost always 0


def curator(unit: Unit | None = None, epsilon: int = EPSILON) -> Curator:
    return TABLE.curator(epsilon, unit=unit)


def exact() -> list[int]:
    """The three exact numbers, computed by their definitions."""
    tables, rectangles = WORKLOAD.tables, WORKLOAD.rectangles
    true, drawn = (rectangles.counts(tables, cells) for cells in (count_table(WORKLOAD, columns(RECORDS)), RELEASED))
    weighted = zip(true.tolist(), drawn.tolist(), rectangles.weights.tolist(), strict=True)
    errors = [abs(a - b) * weight // WHOLE for a, b, weight in weighted]
    return [max(errors[:4]), max(errors[4:8]), max(errors[8:])]


def test_the_answer_counts_the_records_of_closed_regions_too() -> None:
    with curator() as asked:
        asked.reserve(asked.root(), 300 * NANO, why="accuracy")
        children = asked.split(asked.root(), Cuts(np.array([1]), np.array([1])))
        left = asked.split(children.take(slice(0, 1)), Cuts(np.array([0]), np.array([1])))
        asked.measure(left, Size(), asked.left(left), why="leaf")
        noisy = asked.own_error(WORKLOAD, RELEASED)
        receipt = asked.seal()
    assert noisy.value.tolist() == [exact()]
    assert (noisy.rate_num.tolist(), noisy.rate_den) == ([300 * NANO], 3 * NANO)
    for path in receipt["paths"]:
        first = path["charges"][0]
        assert (first["why"], first["verb"], first["epsilon_nano"]) == ("accuracy", "reserve", 300 * NANO)
    assert max(path["epsilon_nano"] for path in receipt["paths"]) == EPSILON


def test_noise_grows_with_the_numbers_asked_and_the_records_of_a_person() -> None:
    for name, numbers in (("all", 3), ("apart", 1)):
        workload = WORKLOADS[name]
        with curator(Unit(5)) as asked:
            asked.reserve(asked.root(), NANO, why="accuracy")
            noisy = asked.own_error(workload, np.zeros(workload.cells, dtype=np.int64))
            assert noisy.value.shape == (1, numbers)
            assert noisy.rate_den == numbers * 5 * NANO


def test_own_error_is_answered_once() -> None:
    with curator() as asked:
        with pytest.raises(ParameterError, match="nothing is reserved"):
            asked.own_error(WORKLOAD, RELEASED)
        asked.reserve(asked.root(), NANO, why="accuracy")
        asked.own_error(WORKLOAD, RELEASED)
        with pytest.raises(ParameterError, match="answered already"):
            asked.own_error(WORKLOAD, RELEASED)
        with pytest.raises(ParameterError, match="paid for once"):
            asked.reserve(asked.root(), NANO, why="accuracy")


def test_own_error_is_paid_for_before_the_first_split_and_within_the_budget() -> None:
    with curator() as asked:
        with pytest.raises(BudgetExceeded):
            asked.reserve(asked.root(), EPSILON + 1, why="accuracy")
        children = asked.split(asked.root(), Cuts(np.array([1]), np.array([1])))
        for nodes in (children, children.take(slice(0, 1))):
            with pytest.raises(ParameterError, match="before the first split"):
                asked.reserve(nodes, NANO, why="accuracy")


def test_a_question_that_does_not_fit_is_refused_and_the_next_one_is_answered() -> None:
    with curator() as asked:
        asked.reserve(asked.root(), NANO, why="accuracy")
        empty: Any = replace(WORKLOADS["one column"], tables=(), classes=np.zeros(0, np.int64))
        for workload, released in ((WORKLOAD, RELEASED[1:]), (ABOUT_SETS["all"], RELEASED), (empty, RELEASED[:0])):
            with pytest.raises(ParameterError, match="do not fit"):
                asked.own_error(workload, released)
        with pytest.raises(ParameterError, match="has no proof"):
            asked.own_error(object(), RELEASED)  # type: ignore[arg-type]
        asked.own_error(WORKLOAD, RELEASED)


def test_a_sealed_curator_answers_nothing() -> None:
    with curator() as asked:
        asked.reserve(asked.root(), NANO, why="accuracy")
        asked.seal()
        with pytest.raises(Sealed):
            asked.own_error(WORKLOAD, RELEASED)


def test_the_curator_counts_with_its_own_copy_of_the_workload() -> None:
    """So changes that the caller makes later change no count."""
    counted: list[Any] = []

    class Watching(SetEngine):
        def count_all(self, workload: Any) -> np.ndarray:
            counted.append(workload)
            return super().count_all(workload)

    engine = Watching(Ragged(np.array([0, 2, 3]), np.array([0, 1, 2])), tree=ItemTree.of(3, 3, even=True), most=3)
    workload = ABOUT_SETS["all"]
    with Curator(engine, Budget(EPSILON, Unit()), Seeded(1)) as asked:
        asked.reserve(asked.root(), NANO, why="accuracy")
        asked.own_error(workload, np.zeros(workload.cells, dtype=np.int64))
    assert counted[0] is not workload
    assert not np.shares_memory(counted[0].items, workload.items)

"""Epsilon in whole nano-units: exact parsing, exact text, and charges that add up."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest

from cantle.errors import BudgetExceeded, ParameterError
from cantle.trusted.core.budget import MOST, NANO, Budget, Charge, Unit, nano_of, prices, words_of


@pytest.mark.parametrize(
    ("epsilon", "nano"),
    [
        (1, NANO),
        ("1", NANO),
        (0.1, 100_000_000),
        (0.2, 200_000_000),
        (0.3, 300_000_000),
        ("0.3", 300_000_000),
        (1e-9, 1),
        ("1e-9", 1),
        ("1/3", 333_333_333),
        (Fraction(2, 3), 666_666_666),
        (Decimal("0.1"), 100_000_000),
        (Decimal("0.0000000019"), 1),  # rounded down, never up
        (0.9999999999, 999_999_999),
        (np.float64(0.3), 300_000_000),
        (np.int64(2), 2 * NANO),
        (" 0.5 ", 500_000_000),
        (MOST // NANO, MOST),
    ],
    ids=repr,
)
def test_epsilon_is_read_exactly_and_rounded_down(epsilon: object, nano: int) -> None:
    assert nano_of(epsilon) == nano
    assert type(nano_of(epsilon)) is int


def test_tenths_add_up() -> None:
    """0.1 + 0.2 <= 0.3 is false in floats; here charges of 0.1 and 0.2 use up 0.3 exactly."""
    assert nano_of("0.1") + nano_of("0.2") == nano_of("0.3")
    assert nano_of(0.1) + nano_of(0.2) == nano_of(0.3)
    budget = Budget(nano_of(0.3), Unit())
    for price in (0.1, 0.2):
        budget.charge(np.array([0]), prices(nano_of(price), 1), why="a", verb="measure", sensitivity=1, depth=0)
    assert budget.left(np.array([0])).tolist() == [0]


NO_NUMBERS = [nan, inf, -inf, "nan", "inf", "abc", "", None, [], {}, object(), 1j, b"1", "1/0"]
NO_NUMBERS += [Decimal("NaN"), Decimal("Infinity"), np.float64("nan"), np.array([1, 2])]
OUT_OF_BOUNDS = [0, -1, "-0.5", 0.0, 1e-10, "1e-10", True, False, MOST // NANO + 1, 1e300, np.int64(10**7)]


@pytest.mark.parametrize("epsilon", NO_NUMBERS, ids=lambda e: type(e).__name__)
def test_an_epsilon_that_is_no_number_is_refused(epsilon: object) -> None:
    with pytest.raises(ParameterError, match="epsilon must be a positive number") as caught:
        nano_of(epsilon)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


@pytest.mark.parametrize("epsilon", OUT_OF_BOUNDS, ids=repr)
def test_an_epsilon_out_of_bounds_is_refused(epsilon: object) -> None:
    with pytest.raises(ParameterError, match="between 1e-9 and 1e6"):
        nano_of(epsilon)


def test_a_huge_numpy_integer_is_out_of_bounds() -> None:
    """18446744074 * 10^9 is 0.29 * 10^9 modulo 2^64: it must not be read as epsilon 0.29."""
    with np.errstate(over="ignore"), pytest.raises(ParameterError):
        nano_of(np.int64(18_446_744_074))


@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.int32, np.uint32])
def test_epsilon_may_be_a_narrow_numpy_integer(kind: type) -> None:
    with np.errstate(over="ignore"):
        assert nano_of(kind(6)) == 6 * NANO


@pytest.mark.parametrize("nano", [1, 10, 999_999_999, NANO, NANO + 1, 123_456_789_012, MOST])
def test_epsilon_as_text_is_exact_and_reads_back(nano: int) -> None:
    assert nano_of(words_of(nano)) == nano
    assert not words_of(nano).endswith((".", ".0"))


@pytest.mark.parametrize("total", [0, -1, MOST + 1, 0.5, True, np.int64(5), None])
def test_a_budget_needs_a_positive_epsilon(total: object) -> None:
    with pytest.raises(ParameterError, match="positive whole number of nano-units"):
        Budget(total, Unit())


@pytest.mark.parametrize("records", [0, -2, 1.5, "2", True, inf, None, 10**9])
def test_a_unit_is_a_whole_number_of_records(records: object) -> None:
    with pytest.raises(ParameterError, match="whole number of records"):
        Unit(records)


@pytest.mark.parametrize("kind", ["village", 1])
def test_a_unit_of_an_unknown_kind_is_refused(kind: object) -> None:
    with pytest.raises(ParameterError, match="a unit"):
        Unit(kind=kind)


@pytest.mark.parametrize(
    "price", [0, -1, 0.5, 1.0, True, None, "5", MOST + 1, 2**63, 2**64, [5], [5, 5, 5], [[5, 5]], [5, 0], [[5], [5, 5]]]
)
def test_a_price_must_be_one_whole_number_or_one_per_region(price: object) -> None:
    with pytest.raises(ParameterError, match="positive whole number of nano-units"):
        prices(price, 2)


def test_prices_are_copies() -> None:
    each = np.array([5, 6])
    cost = prices(each, 2)
    each[:] = 0
    assert cost.tolist() == [5, 6]
    assert prices(np.uint8(7), 3).tolist() == [7, 7, 7]


def test_units_describe_whom_they_protect() -> None:
    assert Unit().describe() == "one record"
    assert Unit(3).describe() == Unit(3, "person").describe() == "one person, up to 3 records"
    assert Unit(1, "person").describe() == "one person, up to 1 record"


def test_messages_name_the_question_the_price_and_the_fix() -> None:
    budget = Budget(50_000_000, Unit())
    with pytest.raises(BudgetExceeded) as caught:
        budget.charge(
            np.array([0]),
            prices(100_000_000, 1),
            why="counting leaves",
            verb="measure",
            sensitivity=1,
            depth=7,
        )
    text = str(caught.value)
    for part in ("counting leaves", "0.1", "0.05 left", "depth 7", "lower the depth or the shares, or raise epsilon"):
        assert part in text
    with pytest.raises(ParameterError, match="a price is a positive whole number"):
        budget.charge(
            np.array([0]),
            prices(0.5, 1),
            why="counting leaves",
            verb="measure",
            sensitivity=1,
            depth=7,
        )
    with pytest.raises(ParameterError, match="listed once"):
        budget.charge(np.array([0, 0]), prices(5, 2), why="a", verb="measure", sensitivity=1, depth=0)
    budget.inherit(np.array([0]), np.array([2]))
    with pytest.raises(ParameterError, match="cannot be asked again"):
        budget.charge(np.array([0]), prices(5, 1), why="a", verb="measure", sensitivity=1, depth=0)


@pytest.mark.parametrize("poor", [0, 1, 2])
def test_a_charge_that_one_region_cannot_pay_is_refused_for_all(poor: int) -> None:
    """Whichever of the regions it is; nothing is subtracted from the others either."""
    budget = Budget(10, Unit())
    ids = budget.inherit(np.array([0]), np.array([3]))
    budget.charge(ids[[poor]], prices(6, 1), why="a", verb="measure", sensitivity=1, depth=1)
    before = budget.left(ids)
    with pytest.raises(BudgetExceeded, match="0.000000004 left"):
        budget.charge(ids, prices(5, 3), why="b", verb="measure", sensitivity=1, depth=1)
    uneven = np.array([1, 1, 1])
    uneven[poor] = 5
    with pytest.raises(BudgetExceeded, match="needs epsilon 0.000000005"):
        budget.charge(ids, prices(uneven, 3), why="b", verb="measure", sensitivity=1, depth=1)
    assert budget.left(ids).tolist() == before.tolist()


def test_the_receipt_lists_each_kind_of_path_once_in_order() -> None:
    budget = Budget(100, Unit(2))
    budget.charge(np.array([0]), prices(10, 1), why="count", verb="measure", sensitivity=2, depth=0)
    children = budget.inherit(np.array([0]), np.array([2]))
    budget.charge(children, prices(np.array([20, 30]), len(children)), why="cut", verb="choose", sensitivity=6, depth=1)
    leaves = budget.inherit(children, np.full(len(children), 2))
    budget.charge(leaves, prices(budget.left(leaves), len(leaves)), why="leaf", verb="measure", sensitivity=2, depth=2)
    receipt = budget.receipt()
    assert receipt["unit"] == {"kind": "record", "max_records": 2}
    assert receipt["epsilon_nano"] == 100
    assert [[c["epsilon_nano"] for c in path["charges"]] for path in receipt["paths"]] == [[10, 20, 70], [10, 30, 60]]
    assert [c["why"] for c in receipt["paths"][0]["charges"]] == ["count", "cut", "leaf"]
    assert [c["sensitivity"] for c in receipt["paths"][0]["charges"]] == [2, 6, 2]
    assert {path["path"] for path in receipt["paths"]} == set(budget.path(leaves).tolist())
    assert json.loads(json.dumps(receipt)) == receipt


def test_a_dropped_region_stays_in_the_receipt() -> None:
    """A region that was not split when its siblings were is a leaf: what it paid must be shown."""
    budget = Budget(100, Unit())
    children = budget.inherit(np.array([0]), np.array([2]))
    budget.charge(children[:1], prices(40, len(children[:1])), why="a", verb="measure", sensitivity=1, depth=1)
    budget.inherit(children[1:], np.array([2]))
    assert sorted(path["epsilon_nano"] for path in budget.receipt()["paths"]) == [0, 40]


def test_regions_with_the_same_charges_share_a_kind_of_path() -> None:
    """So receipts stay small, however many regions there are."""
    budget, nodes = Budget(1000, Unit()), np.array([0])
    for depth in range(6):
        budget.charge(nodes, prices(10, len(nodes)), why="cut", verb="choose", sensitivity=1, depth=depth)
        nodes = budget.inherit(nodes, np.full(len(nodes), 2))
    assert len(budget.receipt()["paths"]) == 1
    assert len(set(budget.path(nodes).tolist())) == 1


def test_regions_charged_one_after_the_other_share_a_kind_of_path() -> None:
    budget = Budget(100, Unit())
    children = budget.inherit(np.array([0]), np.array([2]))
    for child in (children[:1], children[1:]):
        budget.charge(child, prices(40, 1), why="a", verb="measure", sensitivity=1, depth=1)
    assert [path["epsilon_nano"] for path in budget.receipt()["paths"]] == [40]


@pytest.mark.parametrize("times", [[-1], [2, 2], [2.0]], ids=str)
def test_a_wrong_number_of_children_is_refused(times: list[float]) -> None:
    budget = Budget(100, Unit())
    with pytest.raises(ParameterError, match="whole number of children"):
        budget.inherit(np.array([0]), np.array(times))
    assert budget.left(np.array([0])).tolist() == [100]
    budget.require_open(np.array([0]))


def test_equal_charges_compare_equal() -> None:
    charge = Charge("a", "measure", 5, 1, 0)
    assert charge == Charge("a", "measure", 5, 1, 0)
    assert vars(charge) == {"why": "a", "verb": "measure", "epsilon_nano": 5, "sensitivity": 1, "depth": 0}

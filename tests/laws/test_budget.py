"""Whatever is charged, split or refused, no path pays more than epsilon: the budget compared with a simple model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cantle.errors import BudgetExceeded, CantleError, ParameterError
from cantle.trusted.core.budget import MOST, Budget, Unit, prices
from tests.effort import examples

TOTAL = 1000
WRONG_PRICES = (
    0,
    -1,
    -(10**30),
    0.5,
    1.0,
    np.float64(3),
    True,
    np.True_,
    None,
    "1",
    b"1",
    1 + 0j,
    MOST + 1,
    2**63,
    2**64,
)
RIGHT_PRICES = (1, 7, 100, 400, TOTAL, np.int64(5), np.uint8(9), np.int32(11), np.uint64(13))


def charge(budget: Budget, ids: np.ndarray, price: Any, *, why: str = "a", depth: int = 0) -> np.ndarray:
    """Charges as the curator does: first the prices, then the charge."""
    cost = prices(price, len(ids))
    budget.charge(ids, cost, why=why, verb="measure", sensitivity=1, depth=depth)
    return cost


class Model:
    """A budget in which a path is the list of its charges, and nothing else is kept."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.paths: list[list[int]] = [[]]
        self.open = {0}
        self.inner: set[int] = set()

    def left(self, node: int) -> int:
        return self.total - sum(self.paths[node])

    def charge(self, ids: list[int], prices: list[int]) -> bool:
        """Charges if that is allowed; returns whether it was."""
        if any(self.left(i) < price for i, price in zip(ids, prices, strict=True)):
            return False
        for i, price in zip(ids, prices, strict=True):
            self.paths[i] = [*self.paths[i], price]
        return True

    def inherit(self, ids: list[int]) -> None:
        self.inner |= set(ids)
        self.open = set(range(len(self.paths), len(self.paths) + 2 * len(ids)))
        self.paths += [list(self.paths[i]) for i in ids for _ in range(2)]


def check(budget: Budget, model: Model) -> None:
    all_nodes = np.arange(len(model.paths))
    left = budget.left(all_nodes)
    assert left.tolist() == [model.left(i) for i in all_nodes.tolist()]
    assert (left >= 0).all()


def check_receipt(receipt: dict[str, Any], kinds: np.ndarray, model: Model) -> None:
    """Adds up the charges of every leaf's path again."""
    paths = {path["path"]: path for path in receipt["paths"]}
    assert receipt["epsilon_nano"] == model.total
    for path in paths.values():
        assert path["epsilon_nano"] == sum(charge["epsilon_nano"] for charge in path["charges"]) <= model.total
    for node, path in enumerate(model.paths):
        if node not in model.inner:
            assert [charge["epsilon_nano"] for charge in paths[int(kinds[node])]["charges"]] == path


def ids_of(draw: st.DrawFn, model: Model) -> tuple[np.ndarray, bool]:
    """Regions to ask about, and whether they may be asked: mostly open ones, sometimes forged ones."""
    known = sorted(model.open)
    good = sorted(draw(st.sets(st.sampled_from(known)))) if known else []
    match draw(st.integers(0, 9)):
        case 0:
            bad = [*good, len(model.paths) + draw(st.integers(0, 5))]  # unknown
        case 1:
            bad = [-draw(st.integers(1, 3)), *good]  # an index from the end
        case 2 if good:
            bad = sorted([*good, draw(st.sampled_from(good))])  # twice
        case 3 if len(good) > 1:
            bad = good[::-1]
        case 4 if set(range(len(model.paths))) - model.open:
            closed = draw(st.sampled_from(sorted(set(range(len(model.paths))) - model.open)))
            bad = sorted({*good, closed})
        case 5 if len(good) > 1:
            bad = [good[0], good[-1], *good[1:]]
        case _:
            return np.array(good, dtype=np.int64), True
    return np.array(bad, dtype=np.int64), False


@examples(30)
@given(st.data())
def test_no_sequence_of_calls_makes_a_path_pay_more_than_epsilon(data) -> None:
    draw = data.draw
    budget, model = Budget(TOTAL, Unit()), Model(TOTAL)
    for step in range(draw(st.integers(1, 12))):
        ids, allowed = ids_of(draw, model)
        if draw(st.integers(0, 3)) == 0 and len(model.paths) < 200:
            if allowed:
                children = budget.inherit(ids, np.full(len(ids), 2))
                first = len(model.paths)
                model.inherit(ids.tolist())
                assert children.tolist() == list(range(first, first + 2 * len(ids)))
            else:
                with pytest.raises(ParameterError):
                    budget.inherit(ids, np.full(len(ids), 2))
        else:
            one_per_region = draw(st.booleans())
            price: Any = draw(st.sampled_from(RIGHT_PRICES + WRONG_PRICES))
            right = any(price is known for known in RIGHT_PRICES)
            if right and one_per_region:
                price = np.array([draw(st.integers(1, 500)) for _ in ids], dtype=np.int64)
            costs = np.broadcast_to(price, ids.shape).tolist() if right else []
            question = {"why": f"step {draw(st.integers(0, 1))}", "depth": step % 2}
            if allowed and not len(ids) and not right:
                continue  # no region is asked, so it does not matter whether a wrong price is noticed
            if allowed and right and model.charge(ids.tolist(), costs):
                assert charge(budget, ids, price, **question).tolist() == costs
            else:
                with pytest.raises(BudgetExceeded if allowed and right else ParameterError):
                    charge(budget, ids, price, **question)
        check(budget, model)
    check_receipt(budget.receipt(), budget.path(np.arange(len(model.paths))), model)
    budget.close()
    for node in range(len(model.paths)):
        with pytest.raises(ParameterError):
            charge(budget, np.array([node]), 1, why="late")


@given(st.lists(st.integers(1, 400), max_size=12), st.integers(1, TOTAL))
def test_one_path_pays_exactly_what_fits(prices: list[int], total: int) -> None:
    """Exact to the last nano-unit: a charge that fits is made, and one nano-unit more is refused."""
    budget, root, spent = Budget(total, Unit()), np.array([0]), 0
    for price in prices:
        if spent + price <= total:
            charge(budget, root, price, why="a")
            spent += price
        else:
            with pytest.raises(BudgetExceeded, match="raise epsilon"):
                charge(budget, root, price, why="a")
    if spent < total:
        with pytest.raises(BudgetExceeded):
            charge(budget, root, total - spent + 1, why="b")
        charge(budget, root, total - spent, why="b")
    assert budget.left(root).tolist() == [0]


def test_if_one_region_cannot_pay_no_region_is_charged() -> None:
    budget = Budget(10, Unit())
    children = budget.inherit(np.array([0]), np.array([2]))
    charge(budget, children[:1], 8, why="a")
    with pytest.raises(BudgetExceeded):
        charge(budget, children, 5, why="b")
    assert budget.left(children).tolist() == [2, 10]


def test_a_sibling_cannot_spend_what_another_has_left() -> None:
    budget = Budget(10, Unit())
    children = budget.inherit(np.array([0]), np.array([2]))
    charge(budget, children[1:], 10, why="a")
    grand = budget.inherit(children, np.full(len(children), 2))
    assert budget.left(grand).tolist() == [10, 10, 0, 0]


def test_the_largest_balances_do_not_overflow() -> None:
    budget = Budget(MOST, Unit())
    with pytest.raises(CantleError):
        charge(budget, np.array([0]), MOST + 1, why="a")
    charge(budget, np.array([0]), np.uint64(MOST - 1), why="a")
    with pytest.raises(BudgetExceeded):
        charge(budget, np.array([0]), np.uint64(MOST), why="a")
    assert budget.left(np.array([0])).tolist() == [1]


def test_answers_are_copies() -> None:
    """Writing into the arrays that a budget returns changes no balance and no path."""
    budget = Budget(10, Unit())
    budget.left(np.array([0]))[:] = 99
    budget.path(np.array([0]))[:] = 99
    paid = charge(budget, np.array([0]), 4, why="a")
    paid[:] = -5
    assert budget.left(np.array([0])).tolist() == [6]
    assert [path["epsilon_nano"] for path in budget.receipt()["paths"]] == [4]

"""Stop tests: the lifetime bound is never below the true loss, and `within` buys the strongest tests that fit."""

from __future__ import annotations

from decimal import Decimal, localcontext
from functools import lru_cache
from math import ceil, exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cantle.errors import ParameterError
from cantle.trusted.core.budget import NANO, Budget, Unit
from cantle.trusted.core.curator import Curator
from cantle.trusted.core.stop_test import PrivTree, lifetime_bound
from cantle.trusted.counting.words import WordEngine
from cantle.trusted.geometry.boxes import Cuts
from cantle.trusted.noise import Lanes, Rate, Seeded
from tests.effort import examples

POINTS = [(10**9, 1), (10**9, 2), (5 * 10**8, 2), (10**8, 7), (10**8, 1), (3 * 10**9, 1), (10**7, 70), (2 * 10**10, 1)]


def series(epsilon_nano: int, delta: int, records: int = 1) -> Decimal:
    """L in nano-units, computed in another way: ln of one product, at 120 digits, until the terms are below 10^-30.

    The terms left out are positive, so this is a lower bound, too small by less than 10^-25.
    """
    with localcontext() as context:
        context.prec = 120
        rate = Decimal(epsilon_nano) / NANO / records
        a = (-rate).exp()
        product, power = Decimal(1), (-rate * delta).exp()
        step = power
        while (1 - a) * power > Decimal(10) ** -30:
            product *= (1 + a - a * power) / (1 + a - power)
            power *= step
        return (2 * rate + product.ln()) * records * NANO


@pytest.mark.parametrize("records", [1, 2, 5])
@pytest.mark.parametrize(("epsilon_nano", "delta"), POINTS)
def test_the_bound_is_the_series_rounded_up(epsilon_nano: int, delta: int, records: int) -> None:
    true = series(epsilon_nano, delta, records)
    bound = lifetime_bound(epsilon_nano, delta, records)
    assert bound >= true
    assert bound <= true + 2 + records  # the tail is cut at 10^-12 per record (10^-3 nano-units) and rounded up


@pytest.mark.parametrize("rate", [0.1, 0.5, 1.0, 2.0])
def test_a_decay_of_one_has_a_closed_form(rate: float) -> None:
    """For delta = 1 the series telescopes: L = 2 eps + ln(1 + a)."""
    bound = lifetime_bound(int(rate * NANO), 1)
    assert bound == pytest.approx((2 * rate + log(1 + exp(-rate))) * NANO, abs=3, rel=1e-12)


def test_the_bound_stays_above_the_truth_where_the_series_is_cut() -> None:
    """Small rates and decays would need more than 2000 terms; for delta = 1 the true value has a closed form."""
    for nano in (1, 1000, 10**6):
        with localcontext() as context:
            context.prec = 50
            truth = (2 * Decimal(nano) / NANO + (1 + (-Decimal(nano) / NANO).exp()).ln()) * NANO
        assert lifetime_bound(nano, 1) >= truth


@examples(10)
@given(st.integers(1, 10**10), st.integers(1, 50), st.integers(1, 3))
def test_the_bound_is_never_below_the_first_terms(epsilon_nano: int, delta: int, records: int) -> None:
    rate = epsilon_nano / NANO / records
    a = exp(-rate)
    first_terms = sum(log((1 + a - a ** (1 + j * delta)) / (1 + a - a ** (j * delta))) for j in range(1, 200))
    assert lifetime_bound(epsilon_nano, delta, records) >= (2 * rate + first_terms) * records * NANO * (1 - 1e-12)


@lru_cache
def yes(x: int, rate: float) -> float:
    """f(x) = P[x + Z > 0], Z discrete Laplace."""
    a = exp(-rate)
    return a ** (1 - x) / (1 + a) if x <= 0 else 1 - a**x / (1 + a)


@lru_cache
def no(x: int, rate: float) -> float:
    """P[x + Z <= 0], without cancellation."""
    a = exp(-rate)
    return a**x / (1 + a) if x > 0 else 1 - a ** (1 - x) / (1 + a)


def worst_path(rate: float, delta: int, theta: int, most: int, tests: int) -> float:
    """The largest |loss| of a path over all sequences of counts that do not grow, by dynamic programming.

    D' has one record more on the whole path. A path ends with a "no", or after `tests` tests for a public reason.
    """

    def b(count: int, d: int) -> int:
        return max(theta - delta, count - d * delta) - theta

    highest: dict[int, float] = dict.fromkeys(range(most + 1), 0.0)  # by the count of D at the next test
    lowest: dict[int, float] = dict.fromkeys(range(most + 1), 0.0)
    for d in reversed(range(tests)):
        up, down = {}, {}
        for c in range(most + 1):
            say_yes = log(yes(b(c + 1, d), rate) / yes(b(c, d), rate))
            say_no = log(no(b(c + 1, d), rate) / no(b(c, d), rate))
            further = [highest[e] for e in range(c + 1)], [lowest[e] for e in range(c + 1)]
            up[c] = max(say_yes + max(further[0]), say_no, say_yes)
            down[c] = min(say_yes + min(further[1]), say_no, say_yes)
        highest, lowest = up, down
    return max(max(highest.values()), -min(lowest.values()))


@pytest.mark.parametrize(("rate", "delta", "theta"), [(1.0, 1, 0), (1.0, 2, 3), (0.5, 2, 1), (0.5, 3, 5), (2.0, 1, 4)])
def test_no_sequence_of_counts_loses_more_than_the_bound_and_the_worst_comes_close(
    rate: float, delta: int, theta: int
) -> None:
    tests = 12
    lost = worst_path(rate, delta, theta, theta + delta * (tests + 1), tests)
    bound = lifetime_bound(int(rate * NANO), delta) / NANO
    assert lost <= bound
    assert lost > bound - 2 * exp(-rate * delta * (tests - 2)) - 1e-6  # what further tests could add


@pytest.mark.parametrize("tests", [1, 2, 3])
def test_few_tests_lose_at_most_the_sum_of_their_prices(tests: int) -> None:
    stop = PrivTree(1, 2, NANO // 2)
    lost = worst_path(0.5, 2, 1, 30, tests)
    paid = int(stop.cost(np.array([tests]), 1)[0]) / NANO
    assert lost <= paid + 1e-12
    if tests < 3:
        assert lost == pytest.approx(paid)


def test_the_price_of_tests_grows_up_to_the_lifetime_bound() -> None:
    stop = PrivTree(0, 2, 10**8)
    life = lifetime_bound(10**8, 2)
    prices = stop.cost(np.arange(30), 1).tolist()
    assert prices[:3] == [0, 10**8, 2 * 10**8]
    assert prices[-1] == life
    assert all(a <= b for a, b in zip(prices, prices[1:], strict=False))
    assert life < 30 * 10**8


@examples(10)
@given(st.integers(3, 4 * NANO), st.sampled_from([2, 3, 4, 16]), st.sampled_from([1, 2]))
def test_within_buys_the_strongest_tests_that_fit(budget: int, fanout: int, records: int) -> None:
    """A test that is one nano-unit stronger, with the decay it needs, would not fit."""
    stop = PrivTree.within(budget, 5, fanout, records)

    def decay(nano: int) -> int:
        return max(1, ceil(log(fanout) * NANO * records / nano - 1e-9))

    assert stop.theta == 5
    assert stop.delta >= log(fanout) * NANO * records / stop.epsilon_nano - 1e-6  # spurious splits stay few
    assert stop.delta < log(fanout) * NANO * records / stop.epsilon_nano + 1 + 1e-6
    assert lifetime_bound(stop.epsilon_nano, stop.delta, records) <= budget
    more = stop.epsilon_nano + 1
    assert lifetime_bound(more, decay(more), records) > budget


@pytest.mark.parametrize("budget", [0, 1, 2])
def test_a_budget_too_small_for_any_test_is_refused(budget: int) -> None:
    with pytest.raises(ParameterError, match="raise epsilon"):
        PrivTree.within(budget, 5)


@pytest.mark.parametrize(
    ("theta", "delta", "nano"),
    [(0, 0, 5), (0, -1, 5), (0, 1.5, 5), (0.5, 1, 5), (2**70, 1, 5), (0, 2**63, 5), (0, 1, 0), (0, 1, -3)]
    + [(0, 1, 2**62), (0, 1, True)],
)  # fmt: skip
def test_tests_need_whole_numbers_a_decay_and_a_price(theta: object, delta: object, nano: object) -> None:
    with pytest.raises(ParameterError, match="PrivTree tests need a (whole threshold|price)"):
        PrivTree(theta, delta, nano)


def test_the_bias_falls_at_every_test_above_its_floor() -> None:
    """Claim 12 needs b to fall by delta at every test of a path, even the millionth."""
    stop, many = PrivTree(-(2**30), 1, NANO), 1 << 20
    assert stop.biased(np.array([5]), np.array([many + 1])) == stop.biased(np.array([5]), np.array([many])) - 1


def test_prices_of_very_many_tests_do_not_overflow() -> None:
    prices = PrivTree(0, 1, 10**15).cost(np.array([1, 2, 10**4, 1 << 20]), 1).tolist()
    assert prices == sorted(prices)


def test_the_bias_falls_by_the_decay_and_stops_below_the_threshold() -> None:
    stop = PrivTree(10, 4, NANO)
    assert stop.biased(np.array([100, 100, 12, 0]), np.array([0, 3, 1, 50])).tolist() == [100, 88, 8, 6]


def test_the_published_scale_is_larger() -> None:
    """At fan-out 2 the published lambda = 3 / epsilon exceeds ours by a factor 1.16 to 1.23."""
    for epsilon in (NANO // 10, NANO // 2, NANO, 2 * NANO):
        ours = NANO / PrivTree.within(epsilon, 0).epsilon_nano
        assert 1.15 <= 3 * NANO / epsilon / ours <= 1.24


@pytest.mark.parametrize("records", [1, 2])
def test_a_path_pays_for_every_test_until_the_lifetime_bound_and_decays_all_the_way(records: int) -> None:
    """A region of many records is tested and halved again and again; its balance says what each test cost."""
    depth, many = 12, 10_000
    engine = WordEngine([([np.zeros(many, np.uint16)], np.zeros(many, np.uint8))], sizes=(1 << depth,), class_count=1)
    stop, counts = PrivTree(5, 2, NANO // 2), list[int]()

    class Watching(Seeded):
        def above(self, lanes: Lanes, exact: np.ndarray, thresholds: np.ndarray, rate: Rate) -> np.ndarray:
            counts.extend(exact.tolist())
            return super().above(lanes, exact, thresholds, rate)

    with Curator(engine, Budget(1000 * NANO, Unit(records)), Watching(1)) as curator:
        nodes, left = curator.root(), [1000 * NANO]
        for _ in range(depth):
            assert curator.test(nodes, stop, why="stop").all()
            left += curator.left(nodes).tolist()
            middle = (nodes.lo[:, 0] + nodes.hi[:, 0]) // 2
            children = curator.split(nodes, Cuts(np.zeros(1, np.int64), middle))
            nodes = children.take(np.array([0]))
    paid = left[0] - np.array(left[1:])
    assert paid.tolist() == stop.cost(np.arange(1, depth + 1), records).tolist()
    assert paid[-1] == paid[-2] == stop.lifetime(records)
    assert counts == [many - 2 * test for test in range(depth)]

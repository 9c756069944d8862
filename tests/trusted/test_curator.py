"""The curator's answers and prices, worked out by hand; tests/laws/test_hostile.py has what it must never do."""

from __future__ import annotations

import numpy as np
import pytest

from cantle.errors import BudgetExceeded, EngineError, ParameterError, Sealed
from cantle.trusted.claims.cut_candidates import AllCuts, CutsOf
from cantle.trusted.claims.queries import Histogram, Marginals, Size
from cantle.trusted.claims.scores import BALANCE, CLASS_AWARE
from cantle.trusted.core.budget import NANO, Budget, Unit
from cantle.trusted.core.curator import Curator
from cantle.trusted.core.keys import OneWays
from cantle.trusted.core.stop_test import PrivTree, lifetime_bound
from cantle.trusted.counting.words import WordEngine
from cantle.trusted.geometry.boxes import Cuts
from cantle.trusted.noise import Lanes, Rate, Seeded
from tests.laws.strategies import Table

DATA = Table((4, 2), 2, ((0, 0, 0), (1, 0, 1), (1, 1, 1), (3, 1, 0), (3, 0, 1), (3, 1, 1)))


class Noiseless(Seeded):
    """A noise source that adds no noise and lists the calls it got."""

    def __init__(self) -> None:
        super().__init__(0)
        self.calls: list[tuple[str, int, tuple[int, ...], list[tuple[int, int]]]] = []

    def _list(self, verb: str, lanes: Lanes, rate: Rate) -> None:
        rates = [rate.exact(i) for i in range(len(lanes))]
        self.calls.append((verb, lanes.call, tuple(lanes.keys.tolist()), rates))

    def laplace(self, lanes, counts, rate):
        self._list("laplace", lanes, rate)
        return np.array(counts)

    def select(self, lanes, scores, starts, rate, inverse_weights=None, many=None):  # noqa: ARG002
        self._list("select", lanes, rate)
        self.weights = inverse_weights
        return np.array([int(np.argmax(scores[a:b])) for a, b in zip(starts[:-1], starts[1:], strict=True)])

    def above(self, lanes, counts, thresholds, rate):
        self._list("above", lanes, rate)
        self.biased = counts.tolist()
        return counts > thresholds


def start(epsilon: int = NANO, unit: Unit | None = None):
    noise = Noiseless()
    return DATA.curator(epsilon, unit=unit, noise=noise), noise


def test_measuring_charges_then_counts() -> None:
    curator, noise = start()
    root = curator.root()
    noisy = curator.measure(root, Histogram(2), 10, why="m")
    assert noisy.value.tolist() == [[2, 4]]
    assert (noisy.rate_num.tolist(), noisy.rate_den) == ([10], NANO)
    assert noise.calls == [("laplace", 1, (0, 0), [(10, NANO)] * 2)]
    assert curator.left(root).tolist() == [NANO - 10]


@pytest.mark.parametrize("records", [1, 2, 5])
def test_rates_are_divided_by_sensitivity_and_unit(records: int) -> None:
    curator, noise = start(unit=Unit(records))
    root = curator.root()
    curator.measure(root, Marginals(OneWays((0, 1), (4, 2), 1)), 10, why="m")
    curator.choose(root, AllCuts((4, 2), 2), CLASS_AWARE, 20, why="c")
    curator.test(root, PrivTree(0, 3, 30), why="t")
    first_rates = [rates[0] for _, _, _, rates in noise.calls]
    assert first_rates == [(10, 2 * records * NANO), (20, 3 * records * NANO), (30, records * NANO)]
    receipt = curator.seal()
    assert [c["sensitivity"] for c in receipt["paths"][0]["charges"]] == [2 * records, 3 * records, records]
    assert [c["verb"] for c in receipt["paths"][0]["charges"]] == ["measure", "choose", "test"]


def test_choosing_gives_the_best_cut_when_there_is_no_noise() -> None:
    curator, noise = start()
    cuts = curator.choose(curator.root(), AllCuts((4, 2), 1), BALANCE, 5, why="c")
    assert (cuts.attribute.tolist(), cuts.point.tolist()) == ([0], [2])  # three records each side
    assert noise.weights.tolist() == [3, 3, 3, 1]
    curator.choose(curator.root(), CutsOf(np.array([1]), 4, 1), BALANCE, 5, why="c")
    assert noise.weights is None  # permute-and-flip


def test_prices_may_differ_from_region_to_region() -> None:
    curator, noise = start()
    children = curator.split(curator.root(), Cuts(np.array([0]), np.array([2])))
    noisy = curator.measure(children, Size(), np.array([7, 9]), why="m")
    assert noisy.value.tolist() == [[3], [3]]
    assert noise.calls[-1][3] == [(7, NANO), (9, NANO)]
    assert curator.left(children).tolist() == [NANO - 7, NANO - 9]


def test_every_question_has_a_number_of_its_own() -> None:
    """No two draws share a lane: a seeded run must not reuse its noise."""
    curator, noise = start()
    root = curator.root()
    for _ in range(2):
        curator.measure(root, Size(), 5, why="m")
        curator.choose(root, AllCuts((4, 2), 1), BALANCE, 5, why="c")
        curator.test(root, PrivTree(0, 1, 5), why="t")
    calls = [call for _, call, _, _ in noise.calls]
    assert calls == sorted(set(calls))


def test_repeated_stop_tests_are_biased_further_and_cost_at_most_the_lifetime_bound() -> None:
    curator, noise = start()
    node, stop = curator.root(), PrivTree(-50, 2, 10**8)
    life, spent = lifetime_bound(10**8, 2), []
    biased = []
    for _ in range(12):
        assert curator.test(node, stop, why="t").tolist() == [True]
        biased += noise.biased
        spent.append(NANO - int(curator.left(node)[0]))
    assert biased == [6 - 2 * d for d in range(12)]
    assert spent[:2] == [10**8, 2 * 10**8]
    assert spent[-1] == life == max(spent)


def test_stop_tests_are_counted_along_the_path() -> None:
    curator, noise = start()
    stop = PrivTree(-50, 10, 10**8)
    curator.test(curator.root(), stop, why="t")
    children = curator.split(curator.root(), Cuts(np.array([0]), np.array([2])))
    curator.test(children.take([1]), stop, why="t")
    assert noise.biased == [3 - 10]
    below = curator.split(children, Cuts(np.array([1, 1]), np.array([1, 1])))
    curator.test(below, stop, why="t")
    assert noise.biased == [2 - 10, 1 - 10, 1 - 20, 2 - 20]


def test_all_stop_tests_of_a_run_share_one_setting() -> None:
    curator, _ = start()
    curator.test(curator.root(), PrivTree(0, 1, 5), why="stop")
    with pytest.raises(ParameterError, match="share one threshold"):
        curator.test(curator.root(), PrivTree(0, 1, 6), why="stop")


def test_splitting_is_free_and_closes_the_regions_left_out() -> None:
    curator, _ = start()
    root = curator.root()
    children = curator.split(root, Cuts(np.array([0]), np.array([1])))
    assert curator.left(children).tolist() == [NANO, NANO]
    curator.split(children.take([1]), Cuts(np.array([0]), np.array([3])))
    for closed in (root, children.take([0]), children.take([1])):
        with pytest.raises(ParameterError, match="ask its children"):
            curator.measure(closed, Size(), 1, why="m")
    with pytest.raises(ParameterError, match="the root was already split"):
        curator.root()


def test_refusals_name_the_question_and_the_fix() -> None:
    curator, _ = start(10)
    root = curator.root()
    with pytest.raises(BudgetExceeded, match="counting needs epsilon 0.000000011, this path has 0.00000001 left"):
        curator.measure(root, Size(), 11, why="counting")
    with pytest.raises(ParameterError, match="dict has no proof"):
        curator.measure(root, {}, 5, why="counting")
    with pytest.raises(ParameterError, match="each region needs one cut"):
        curator.split(root, Cuts(np.array([0]), np.array([4])))


def test_a_region_without_candidates_is_refused_before_it_pays() -> None:
    curator, _ = start()
    nodes = curator.split(curator.root(), Cuts(np.array([0]), np.array([1])))
    nodes = curator.split(nodes, Cuts(np.array([1, 1]), np.array([1, 1])))
    with pytest.raises(ParameterError, match="not candidates for these regions"):
        curator.choose(nodes, AllCuts((4, 2), 1), BALANCE, 5, why="cut")
    assert (curator.left(nodes) == NANO).all()


def test_repr_shows_the_budget_and_the_open_regions() -> None:
    curator, _ = start()
    assert repr(curator) == "Curator(Budget(epsilon=1, unit='one record'), 1 open regions)"
    curator.seal()
    assert repr(curator).endswith("sealed)")


class Gone(WordEngine):
    """An engine whose cluster is lost before the records can be discarded."""

    def close(self) -> None:
        super().close()  # a second call would raise another error
        raise EngineError("the cluster is gone")


def test_a_run_is_sealed_even_if_its_records_cannot_be_discarded() -> None:
    engine = Gone([([np.zeros(3, np.int64)], np.zeros(3, np.int64))], sizes=(2,), class_count=1)
    curator = Curator(engine, Budget(NANO, Unit()), Seeded(1))
    with pytest.raises(EngineError, match="gone"), curator:
        curator.seal()
    with pytest.raises(Sealed):
        curator.seal()
    assert "sealed" in repr(curator)

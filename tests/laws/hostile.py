"""A hostile method as a game against a curator: it asks anything, in any order, with forged arguments.

Three accounts are compared: the curator's receipt, a model of the balances, and a noise source (the witness) that adds
up the loss of every draw from its rate and from sensitivities written down here.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import exp, log
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from cantle.errors import CantleError, Sealed
from cantle.trusted.claims.cut_candidates import AllCuts, CutsOf
from cantle.trusted.claims.queries import Cells, Histogram, Marginals, Size
from cantle.trusted.claims.scores import BALANCE, CLASS_AWARE, Gini, HalfGini, InfoGain, JointMajority, Max, Mix
from cantle.trusted.claims.specialisations import JointSplits, OneValue, SplitPoints, Value
from cantle.trusted.claims.terms import TermScore
from cantle.trusted.core.budget import NANO, Budget, Unit
from cantle.trusted.core.curator import Curator
from cantle.trusted.core.keys import OneWays
from cantle.trusted.core.stop_test import PrivTree
from cantle.trusted.counting.base import Engine
from cantle.trusted.geometry.boxes import Cuts, Frontier
from cantle.trusted.geometry.grid import Grid
from cantle.trusted.noise import Lanes, Rate, Seeded
from tests.laws.strategies import Table, able, rule_of, slices

EPSILON = 10**6
SIZES, CLASSES = (4, 3), 2
DATA = Table(SIZES, CLASSES, ((0, 0, 0), (1, 0, 1), (1, 2, 1), (3, 1, 0), (3, 2, 1)))
STOP = PrivTree(2, 300, 90_000)
TOP = Grid.top(SIZES)
NUMBER = Value(0, (0, 4), None)
FIXED = Value(1, (0, 3), ((0, 1), (1, 3)))


def joint(**given: Any) -> JointSplits:
    return JointSplits(**({"grid": TOP, "values": (NUMBER,), "handicaps": (0,), "points": 9, "classes": 2} | given))


def points(*values: Value, size: Any = 4, classes: Any = 2) -> SplitPoints:
    return SplitPoints(values or (NUMBER,), size, classes)


@lru_cache
def lifetime(epsilon: float, delta: int) -> float:
    """L of Claim 12, in plain floats."""
    a, tail = exp(-epsilon), range(1, int(60 / (epsilon * delta)) + 2)
    return 2 * epsilon + sum(log((1 + a - a ** (1 + j * delta)) / (1 + a - a ** (j * delta))) for j in tail)


class Witness(Seeded):
    """A seeded noise source that notes the loss of each draw per region: its rate times the change by one unit."""

    def __init__(self, *, answer: bool | None = None) -> None:
        super().__init__(5)
        self.change = Fraction(0)  # the true range or sensitivity of the question being asked
        self.loss: dict[int, list[Fraction]] = {}
        self.tests: list[tuple[int, Fraction]] = []
        self.answer = answer

    def _note(self, keys: np.ndarray, rate: Rate) -> None:
        for key, i in {int(key): i for i, key in enumerate(keys)}.items():  # once per region, not once per cell
            self.loss.setdefault(key, []).append(Fraction(*rate.exact(i)) * self.change)

    def laplace(self, lanes: Lanes, counts: np.ndarray, rate: Rate) -> np.ndarray:
        self._note(lanes.keys, rate)
        return super().laplace(lanes, counts, rate)

    def select(self, lanes: Lanes, scores: Any, starts: Any, rate: Rate, *weights: Any) -> np.ndarray:
        self._note(lanes.keys, rate)
        return super().select(lanes, scores, starts, rate, *weights)

    def sparse(self, lanes: Lanes, *rest: Any) -> Any:
        self._note(lanes.keys, rest[4])
        return super().sparse(lanes, *rest)

    def above(self, lanes: Lanes, counts: np.ndarray, thresholds: np.ndarray, rate: Rate) -> np.ndarray:
        self.tests += [(int(b - t), Fraction(*rate.exact(0))) for b, t in zip(counts, thresholds, strict=True)]
        if self.answer is not None:
            return np.full(len(lanes), self.answer)
        return Seeded.laplace(self, lanes, counts, rate) > thresholds


class MyQuality:
    """A score without a proof, which must not see exact counts."""

    range = 1

    def scores(self, children: Any) -> np.ndarray:  # noqa: ARG002
        raise AssertionError("an unproved score saw exact counts")


class MyMix(Mix):
    """A subclass of a trusted score that declares another range."""

    range = 1

    def scores(self, children: Any) -> np.ndarray:  # noqa: ARG002
        raise AssertionError("an unproved score saw exact counts")


class MySize(Size):
    """A query that declares almost no sensitivity."""

    def sensitivity(self, unit: Unit) -> int:
        return 10**-9 * unit.max_records


class MyCuts(AllCuts):
    """A subclass of trusted candidates, which must not see exact counts."""

    def sides(self, nodes: Frontier, first: int, exact_counts: np.ndarray) -> Any:  # noqa: ARG002
        raise AssertionError("unproved candidates saw exact counts")


# Questions and the change by one record, which is written down here and not taken from the code under test.
DISTANCE = TermScore((("left", (), 0), ("right", (), 0), ("minus", (0, 1), 0), ("abs", (2,), 0), ("times", (3,), -1)))
QUALITIES = [
    (BALANCE, 1), (CLASS_AWARE, 3), (Mix(3, 2), 5), (Max(), 1), (InfoGain(), 2050), (Gini(), 2050), (DISTANCE, 2),
]  # fmt: skip
SPECIALISATIONS: list[tuple[Any, Any, int]] = [
    (joint(), JointMajority(), 1), (joint(), HalfGini(), 1024), (points(), InfoGain(), 2050), (points(), Max(), 1),
    (OneValue((FIXED,), SIZES, CLASSES), Gini(), 2050),
]  # fmt: skip
PRICES = [1, 1000, 90_000, 250_000, EPSILON, np.int64(77), np.uint16(500), np.int8(3)]
BAD_PRICES = [0, -1, 0.25, 1e-9, True, np.True_, np.float32(5), None, "5", EPSILON + 1, 10**17, 2**63, 2**64, -(2**70)]


@dataclass
class Node:
    """What the model knows about a region: its charges so far, its tests, and whether it may be asked."""

    spent: int
    losses: list[Fraction]
    tests: int
    stopped: bool = False
    open: bool = True
    inner: bool = False


class Game:
    """A game against a curator, with a model that decides independently which questions are allowed."""

    def __init__(self, draw: st.DrawFn, engine: Engine, unit: Unit) -> None:
        self.draw, self.unit = draw, unit
        self.witness = Witness()
        self.curator = Curator(engine, Budget(EPSILON, unit), self.witness)
        self.frontier = self.curator.root()
        self.nodes = {0: Node(0, [], 0)}
        self.all_frontiers = [self.frontier]
        self.sealed = self.tested = False

    # ---- regions and prices

    def regions(self) -> tuple[Frontier, bool]:
        """Regions to ask about, and whether that is allowed."""
        draw, here = self.draw, self.frontier
        if not len(here):
            old = draw(st.sampled_from(self.all_frontiers))
            return old, all(self.nodes[i].open for i in old.ids.tolist())
        mask = np.array([draw(st.booleans()) for _ in range(len(here))], dtype=bool)
        good = here.take(mask if mask.any() else np.ones(len(here), bool))
        match draw(st.integers(0, 11)):
            case 0:
                return forged(good, ids=good.ids + 1000), False
            case 1:
                return forged(good, ids=good.ids - len(self.nodes) - 1), False
            case 2:
                return forged(good, ids=np.repeat(good.ids, 2)), False
            case 3 if len(good) > 1:
                return forged(good, ids=good.ids[::-1]), False
            case 4:
                old = draw(st.sampled_from(self.all_frontiers))
                return old, all(self.nodes[i].open for i in old.ids.tolist())
            case 5:
                # The right regions with forged boxes, parents and depth, which the curator does not rely on.
                wide = np.full_like(good.lo, 99)
                return Frontier(good.ids.copy(), good.ids - 7, 12345, -wide, wide), True
            case 6:
                return forged(good, ids=np.zeros(0, np.int64)), True
            case _:
                return good, True

    def price(self, n: int) -> tuple[Any, list[int] | None]:
        """A price, and the cost of each of n regions; None if the price is not valid."""
        price = self.draw(st.sampled_from(PRICES + BAD_PRICES))
        if any(price is bad for bad in BAD_PRICES[:-5]) or any(price is bad for bad in BAD_PRICES[-4:]):
            return price, None
        if self.draw(st.booleans()):
            price = np.array([self.draw(st.integers(1, 400_000)) for _ in range(n)], dtype=np.int64)
        return price, np.broadcast_to(price, (n,)).tolist()

    # ---- moves

    def ask(self, question: Any, nodes: Frontier, allowed: bool, costs: list[int] | None, change: int) -> Any:
        """Asks a question; it must be answered if and only if the model allows it."""
        ids = nodes.ids.tolist()
        affordable = allowed and costs is not None
        if affordable:
            affordable = all(self.nodes[i].spent + c <= EPSILON for i, c in zip(ids, costs, strict=True))
        self.witness.change = Fraction(change * self.unit.max_records)
        before = len(self.witness.tests), {k: len(v) for k, v in self.witness.loss.items()}
        try:
            answer = question()
        except CantleError:
            assert self.sealed or not affordable or not ids
            assert before == (len(self.witness.tests), {k: len(v) for k, v in self.witness.loss.items()})
            return None
        assert not self.sealed
        assert allowed
        assert affordable or not ids
        for i, cost in zip(ids, costs or [], strict=bool(costs)):
            self.nodes[i].spent += cost
            self.nodes[i].losses.append(self.witness.loss[i][-1])
            assert self.witness.loss[i][-1] <= Fraction(cost, NANO)
        return answer

    def choose(self) -> None:
        nodes, allowed = self.regions()
        price, costs = self.price(len(nodes))
        quality, rho = self.draw(st.sampled_from(QUALITIES))
        own = [self.at(i) for i in nodes.ids.tolist()] if allowed else []
        possible = all((hi - lo > 1).any() for lo, hi in own)
        literal = self.draw(st.booleans())
        rho *= 1 + literal
        candidates: Any = AllCuts(SIZES, self.draw(st.sampled_from([1, CLASSES])), literal)
        if self.draw(st.booleans()) and own and possible:
            attribute = [int(np.flatnonzero(hi - lo > 1)[-1]) for lo, hi in own]
            candidates = CutsOf(np.array(attribute, dtype=np.int64), max(SIZES), CLASSES, literal)
        match self.draw(st.integers(0, 5)):
            case 0:
                quality, possible = self.draw(st.sampled_from([MyQuality(), MyMix(1, 0), Mix, None])), False
            case 1:
                candidates, possible = MyCuts(SIZES, 1), False
            case 2:
                strange = [AllCuts((4, 2), 1), AllCuts(SIZES, 5), CutsOf(np.zeros(len(nodes) + 1, np.int64), 4, 1)]
                candidates, possible = self.draw(st.sampled_from(strange)), False
        cuts = self.ask(
            lambda: self.curator.choose(nodes, candidates, quality, price, why="c"),
            nodes, allowed and possible, costs, rho,
        )  # fmt: skip
        if cuts is not None and len(nodes):
            assert cuts.fits(self.frontier.take(np.searchsorted(self.frontier.ids, nodes.ids)))

    def measure(self) -> None:
        nodes, allowed = self.regions()
        price, costs = self.price(len(nodes))
        n = len(nodes)
        query, change = self.draw(st.sampled_from([
            (Size(), 1), (Histogram(CLASSES), 1), (Marginals(OneWays((0, 1), SIZES, 1)), 2),
            (Marginals(OneWays((0, 1, 0), (*SIZES, 4), CLASSES)), 3),
            (Marginals(OneWays((0, 1), SIZES, 1), (0, 3, 4)), 2), (Marginals(OneWays((0, 1), SIZES, 1), (0, 3)), None),
            (MySize(), None), (DATA, None),
            (Histogram(1), None), (Marginals(OneWays((1,), SIZES, 1)), None), (Marginals(OneWays((0,), (3,), 1)), None),
        ]))  # fmt: skip
        noisy = self.ask(
            lambda: self.curator.measure(nodes, query, price, why="m"),
            nodes, allowed and change is not None, costs, change or 0,
        )  # fmt: skip
        if noisy is not None:
            assert noisy.value.shape == (n, query.key.cells)

    def specialise(self) -> None:
        """Grids are counted over all records, so only the unsplit root may be asked."""
        nodes, allowed = self.regions()
        price, costs = self.price(len(nodes))
        candidates, quality, rho = self.draw(st.sampled_from(SPECIALISATIONS))
        self.ask(
            lambda: self.curator.choose(nodes, candidates, quality, price, why="s"),
            nodes, allowed and nodes.ids.tolist() == [0], costs, rho,
        )  # fmt: skip

    def measure_cells(self) -> None:
        nodes, allowed = self.regions()
        price, costs = self.price(len(nodes))
        grid, least = self.draw(st.sampled_from([TOP, TOP.refine(0, (1, 2, 3))])), self.draw(st.integers(1, 3))
        self.ask(
            lambda: self.curator.measure(nodes, Cells(grid, CLASSES), price, at_least=10**6 * least, why="m"),
            nodes, allowed and nodes.ids.tolist() == [0], costs, 1,
        )  # fmt: skip

    def test(self) -> None:
        nodes, allowed = self.regions()
        records, ids = self.unit.max_records, nodes.ids.tolist()
        if allowed:
            allowed = not any(self.nodes[i].stopped for i in ids)
        done = [self.nodes[i].tests for i in ids] if allowed else []
        costs = [self.test_cost(tests + 1) - self.test_cost(tests) for tests in done]
        allowed = allowed and all(self.nodes[i].spent + c <= EPSILON for i, c in zip(ids, costs, strict=True))
        other = self.tested and self.draw(st.integers(0, 4)) == 0
        before = len(self.witness.tests)
        try:
            answer = self.curator.test(nodes, PrivTree(9, 9, 9) if other else STOP, why="t")
        except CantleError:
            assert self.sealed or not allowed or other
            assert len(self.witness.tests) == before
            return
        assert allowed
        assert not other
        assert not self.sealed
        self.tested = True
        rates = [rate for _, rate in self.witness.tests[before:]]
        assert rates == [Fraction(STOP.epsilon_nano, NANO * records)] * len(ids)
        for i, cost, yes in zip(ids, costs, answer.tolist(), strict=True):
            self.nodes[i].spent += cost
            self.nodes[i].tests += 1
            self.nodes[i].stopped = not yes

    def test_cost(self, tests: int) -> int:
        return int(STOP.cost(np.array([tests]), self.unit.max_records)[0])

    def split(self) -> None:
        nodes, allowed = self.regions()
        own = self.frontier.take(np.isin(self.frontier.ids, nodes.ids))
        if allowed and len(nodes) and able(own).all() and self.draw(st.integers(0, 3)):
            rule = rule_of(self.draw, own)
        else:
            number = self.draw(st.integers(0, 3))
            attribute = [self.draw(st.integers(-1, 2)) for _ in range(number)]
            points = [self.draw(st.lists(st.integers(-1, 5), min_size=1, max_size=2)) for _ in range(number)]
            first = np.array([one[0] for one in points], dtype=np.int64)
            several = self.draw(st.booleans())
            rule = slices(attribute, points) if several else Cuts(np.array(attribute, dtype=np.int64), first)
            allowed = allowed and number == len(own) == len(nodes) and rule.fits(own)
        try:
            children = self.curator.split(nodes, rule)
        except CantleError:
            assert self.sealed or not allowed
            return
        assert allowed
        assert not self.sealed
        for node in self.nodes.values():
            node.open = False
        for i, child in zip(np.repeat(nodes.ids, rule.times(own)).tolist(), children.ids.tolist(), strict=True):
            parent = self.nodes[i]
            parent.inner = True
            self.nodes[child] = Node(parent.spent, list(parent.losses), parent.tests, parent.stopped)
        self.frontier = children
        self.all_frontiers.append(children)

    def coin(self) -> None:
        nodes, allowed = self.regions()
        try:
            toss = self.curator.coin(nodes, np.full(len(nodes), 6))
        except CantleError:
            assert self.sealed or not allowed
            return
        assert allowed
        assert not self.sealed
        assert ((toss >= 0) & (toss < 6)).all()

    def seal(self) -> None:
        if self.draw(st.integers(0, 5)) == 0:
            if self.sealed:
                with pytest.raises(Sealed):
                    self.curator.seal()
                return
            self.receipt = self.curator.seal()
            self.sealed = True

    def at(self, node: int) -> tuple[np.ndarray, np.ndarray]:
        i = int(np.searchsorted(self.frontier.ids, node))
        return self.frontier.lo[i], self.frontier.hi[i]

    def play(self, moves: list[str]) -> None:
        """Plays some of these moves, and checks the accounts after each."""
        with self.curator:
            for _ in range(self.draw(st.integers(1, 14))):
                getattr(self, self.draw(st.sampled_from(moves)))()
                self.check()
            self.finish()

    # ---- checks of the accounts

    def check(self) -> None:
        ids = np.array(sorted(self.nodes), dtype=np.int64)
        left = self.curator.left(forged(self.frontier, ids=ids))
        k = self.unit.max_records
        lost_by_tests = k * NANO * lifetime(STOP.epsilon_nano / NANO / k, STOP.delta)
        for i, balance in zip(ids.tolist(), left.tolist(), strict=True):
            node = self.nodes[i]
            assert balance == EPSILON - node.spent >= 0
            tested = min(node.tests * STOP.epsilon_nano, lost_by_tests) if node.tests else 0
            assert float(sum(node.losses)) * NANO + tested <= EPSILON * (1 + 1e-12)

    def finish(self) -> None:
        if not self.sealed:
            self.receipt = self.curator.seal()
        paths = {path["path"]: path for path in self.receipt["paths"]}
        for path in paths.values():
            assert sum(charge["epsilon_nano"] for charge in path["charges"]) == path["epsilon_nano"] <= EPSILON
        ids = np.array(sorted(self.nodes), dtype=np.int64)
        kinds = self.curator.path(forged(self.frontier, ids=ids)).tolist()
        for i, kind in zip(ids.tolist(), kinds, strict=True):
            if not self.nodes[i].inner:
                assert paths[kind]["epsilon_nano"] == self.nodes[i].spent


def forged(nodes: Frontier, *, ids: np.ndarray) -> Frontier:
    return Frontier(ids, nodes.parent, nodes.depth, nodes.lo, nodes.hi)


MOVES = ["choose", "measure", "measure", "test", "split", "split", "coin", "seal"]
GRID_MOVES = ["specialise", "measure_cells"]

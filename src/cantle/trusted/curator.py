"""The curator: the only object that sees records, budget and noise together.

A method holds a curator and nothing else. Every question follows one order: decide from public values whether it is
admitted, charge the regions it is about, look at the records, return only the noisy answer. Exact counts (`exact_...`)
live inside one call. What is admitted is in admission.py, how noise is drawn in draws.py, what is paid in budget.py.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any, NoReturn, TypeVar, cast, overload

import numpy as np

from cantle.errors import ParameterError, Sealed
from cantle.trusted import admission
from cantle.trusted.answers import Noisy, NoisyCells
from cantle.trusted.budget import NANO, Budget, Price, ReceiptFields, Unit, prices
from cantle.trusted.cut_candidates import AnyScored, Candidates
from cantle.trusted.degree_queries import Projection
from cantle.trusted.draws import Draws
from cantle.trusted.engines.base import Engine, Rule, SplitEngine
from cantle.trusted.geometry.boxes import Bools, Frontier, Ints
from cantle.trusted.geometry.item_partitions import Partitions
from cantle.trusted.geometry.workloads import SetWorkload, TableWorkload
from cantle.trusted.keys import MergedOneWays, PublicDomain, Sizes, finest
from cantle.trusted.noise import Noise
from cantle.trusted.own_error import WORKLOADS, OwnError
from cantle.trusted.queries import Query, SparseQuery
from cantle.trusted.scores import Score
from cantle.trusted.segments import Segments
from cantle.trusted.set_queries import ShorterSets
from cantle.trusted.stop_test import PrivTree
from cantle.trusted.tested_paths import TestedPaths
from cantle.trusted.value_trees import ValueTrees

Nodes = TypeVar("Nodes", bound=Frontier | Partitions)
Judge = TypeVar("Judge", bound=Score)
Answer = TypeVar("Answer")


class Curator:
    """Holds the records, the budget and the noise source; gives noisy answers."""

    __slots__ = ("__budget", "__draws", "__engine", "__frontier", "__reserved", "__tested", "__unit")

    def __init__(self, engine: Engine, budget: Budget, noise: Noise) -> None:
        self.__engine: Engine | None = engine
        self.__budget, self.__unit = budget, budget.unit
        self.__draws, self.__tested = Draws(noise), TestedPaths()
        self.__frontier: Frontier | Partitions = engine.root()
        self.__reserved: int | None = None

    def __repr__(self) -> str:
        state = "sealed" if self.__engine is None else f"{len(self.__frontier)} open regions"
        return f"Curator({self.__budget!r}, {state})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a curator holds private records and cannot be pickled or copied")

    def __enter__(self) -> Curator:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.__forget()

    # ---- public facts -------------------------------------------------------------------------------------

    def root(self) -> Any:  # which of the two, the method knows from its kind of data
        """The whole domain as one region (a Frontier; for sets, Partitions); only before the first split."""
        if self.__frontier.depth:
            raise ParameterError("the root was already split")
        return self.__frontier.copy()

    @property
    def domain(self) -> PublicDomain:
        """The public domain of the data."""
        if self.__engine is None:
            raise Sealed("the curator is sealed; nothing can be asked of the records any more")
        return self.__engine.domain

    @property
    def unit(self) -> Unit:
        """The unit that questions are charged for: after a projection, as many records as one node can change."""
        return self.__unit

    def left(self, nodes: Frontier | Partitions) -> Ints:
        """The balance of each region, in nano-units of epsilon."""
        admission.require_trusted(nodes, admission.REGIONS)
        return self.__budget.left(nodes.ids)

    def path(self, nodes: Frontier | Partitions) -> Ints:
        """Each region's kind of path in the receipt."""
        admission.require_trusted(nodes, admission.REGIONS)
        return self.__budget.path(nodes.ids)

    # ---- questions ----------------------------------------------------------------------------------------

    def choose(
        self,
        nodes: Nodes,
        candidates: Candidates[Nodes, Judge, AnyScored, Answer],
        quality: Judge,
        epsilon: Price,
        *,
        why: str,
    ) -> Answer:
        """One noisy choice per region (or selection) among public candidates, as the candidates name it.

        Claim 13. epsilon-DP in each region's records: the weights are exp(epsilon * score / (range * k)) for a unit
        of k records, by the range lemma (Claim 1); candidates and weights are public. If a row stands for many
        candidates of one score, a uniform draw among these follows, which is the law of choosing among all.
        Claim 38. The bound on degrees is such a choice, for one node, with the range of Claim 37.
        """
        ours, positions, engine, cost = self.__ask(nodes, epsilon)
        admission.admit_candidates(candidates, quality, ours, engine, self.__unit)
        rho = quality.range * self.__unit.max_records
        self.__charge(ours, cost, why, "choose", rho)
        exact_scores = candidates.exact_scores(engine, positions, ours, quality)
        return candidates.answer(ours, [self.__draws.choice(exact, ours, cost, rho) for exact in exact_scores])

    @overload
    def measure(self, nodes: Nodes, query: Query, epsilon: Price, *, why: str) -> Noisy: ...
    @overload
    def measure(
        self, nodes: Nodes, query: SparseQuery[Nodes], epsilon: Price, *, why: str, at_least: int | Ints
    ) -> NoisyCells: ...
    def measure(
        self,
        nodes: Nodes,
        query: Query | SparseQuery[Nodes],
        epsilon: Price,
        *,
        why: str,
        at_least: int | Ints | None = None,
    ) -> Noisy | NoisyCells:
        """Noisy counts of every region: of all cells, or of those from the public threshold `at_least` on.

        Claim 14. epsilon-DP in each region's records: discrete Laplace noise of rate epsilon / sensitivity on an
        integer vector of that L1 sensitivity: P[Z = z] / P[Z = z'] <= e^(rate |z - z'|).
        Claim 25. So are the counts from a threshold on: Claim 14 on all cells, whose small values are withheld by a
        public rule; drawn without listing empty cells (Claim 17). The order of the answer is that of the cells.
        """
        if at_least is None:
            return self.__measure_all(nodes, cast(Query, query), epsilon, why)
        return self.__measure_from(nodes, cast(SparseQuery[Nodes], query), epsilon, at_least, why)

    def __measure_all(self, nodes: Nodes, query: Query, epsilon: Price, why: str) -> Noisy:
        ours, positions, engine, cost = self.__ask(nodes, epsilon)
        key = admission.admit_query(query, ours, engine)
        sensitivity = query.sensitivity(self.__unit)
        self.__charge(ours, cost, why, "measure", sensitivity)
        value = np.empty((len(ours), key.cells), dtype=np.int64)
        for first, last, exact_fine in engine.tally(positions, finest(key)):
            exact_counts = key.merged(exact_fine) if isinstance(key, MergedOneWays) else exact_fine
            value[first:last] = self.__draws.counts(exact_counts, ours.ids[first:last], cost[first:last], sensitivity)
        return Noisy(value, cost, sensitivity * NANO)

    def __measure_from(
        self, nodes: Nodes, query: SparseQuery[Nodes], epsilon: Price, at_least: int | Ints, why: str
    ) -> NoisyCells:
        ours, positions, engine, cost = self.__ask(nodes, epsilon)
        admission.admit_threshold_query(query, ours, engine)
        sensitivity = query.sensitivity(self.__unit)
        segments = Segments.of(query, ours, cost, sensitivity, at_least)
        self.__charge(ours, cost, why, "measure", sensitivity)
        exact_occupied = query.occupied(engine, positions, ours)
        return self.__draws.cells(exact_occupied, segments)

    def test(self, nodes: Frontier, stop: PrivTree, *, why: str) -> Bools:
        """Whether each region is worth splitting: yes or no, at a price that stops growing (Claim 12).

        All tests of a run share one threshold, decay and price, and a "no" ends the tests of its path.
        """
        admission.require_trusted(stop, (PrivTree,))
        ours, positions, engine, _ = self.__ask(nodes, stop.epsilon_nano)
        if engine.kind != "tables":
            raise ParameterError("stop tests are for tables")
        records, tests = self.__unit.max_records, self.__tested.next_tests(positions, stop)
        price = stop.cost(tests + 1, records) - stop.cost(tests, records)
        self.__charge(ours.take(price > 0), price[price > 0], why, "test", records)
        self.__tested.begin(positions, stop)
        goes_on = np.empty(len(ours), dtype=np.bool_)
        for first, last, exact_counts in engine.tally(positions, Sizes()):
            here = slice(first, last)
            goes_on[here] = self.__draws.tests(ours.ids[here], exact_counts[:, 0], tests[here], stop, records)
        self.__tested.end(positions, goes_on)
        return goes_on

    def grow(self, root: Frontier, trees: ValueTrees, stop: PrivTree, *, why: str) -> tuple[Ints, ...]:
        """The edges of the leaves of one binary tree per column, grown over its values; nothing else is given.

        Claim 49. epsilon-DP in the root's records, epsilon = number of trees * lifetime(stop), charged at once and
        before any test. In one tree a record lies on one path, whose tests together lose at most the lifetime bound
        (Claim 12), whatever the depth: the first test of a path has number 0, children are halves of their parents. A
        record lies on one path of each tree, and losses add up. Noisy values are discarded, nothing is refunded.
        """
        admission.require_trusted(stop, (PrivTree,))
        ours, _, engine, _ = self.__ask(root, stop.epsilon_nano)
        table = admission.admit_trees(trees, ours, engine)
        records, number = self.__unit.max_records, len(trees.columns)
        self.__charge(ours, prices(number * stop.lifetime(records), 1), why, "grow", number * records)
        goes_on = self.__draws.tree_test(stop, records)
        return tuple(trees.leaves(table, column, goes_on) for column in range(number))

    def reserve(self, root: Frontier | Partitions, epsilon: Price, *, why: str) -> None:
        """Pays for one later question about all records (`own_error`), wherever splits will put them."""
        ours, _, engine, cost = self.__ask(root, epsilon)
        if self.__reserved is not None or engine.kind not in WORKLOADS or len(ours) != 1 or ours.depth:
            raise ParameterError("own error is paid for once, at the root, before the first split; not for graphs")
        self.__charge(ours, cost, why, "reserve", self.__unit.max_records)
        cast(SplitEngine, engine).keep_all()
        self.__reserved = int(cost[0])

    def own_error(self, workload: TableWorkload | SetWorkload, released: Ints) -> Noisy:
        """Noisy numbers that say how far released records are off, at the price that was reserved for it; once.

        Claim 58. The whole run stays epsilon-DP. Let r be the price reserved. It is charged to the root, so every path
        pays for it (Claim 11), and all other answers together lose at most epsilon - r. Given them, workload and
        released counts are fixed numbers, and this answer about all records, also those of closed regions, is r-DP: K
        integers of sensitivity K per record (Claim 57) with noise of rate r / (K k) for a unit of k records (Claim 14).
        By sequential composition the losses add up to at most epsilon. It is answered once, so r is spent once.
        """
        engine = self.__engine
        if engine is None:
            raise Sealed("the curator is sealed; nothing can be asked of the records any more")
        if not self.__reserved:
            raise ParameterError("nothing is reserved for this question, or it was answered already")
        asked = OwnError(workload, released).checked(engine.kind, engine.domain)
        reserved, self.__reserved = self.__reserved, 0
        self.__draws.number += 1
        sensitivity, cost = asked.sensitivity(self.__unit), np.array([reserved])
        exact_numbers = asked.exact_numbers(cast(SplitEngine, engine)).reshape(1, -1)
        value = self.__draws.counts(exact_numbers, np.zeros(1, dtype=np.int64), cost, sensitivity)
        return Noisy(value, cost, sensitivity * NANO)

    def coin(self, nodes: Frontier | Partitions, sides: Ints) -> Ints:
        """One fair public die per region, 0 to sides - 1; free, because it does not depend on the records."""
        # Numbers of sides follow the rule of prices: positive whole numbers, one for all or one per region.
        ours, _, _, faces = self.__ask(nodes, sides)
        self.__draws.number += 1
        return self.__draws.coin(ours.ids, faces)

    def split(self, nodes: Nodes, rule: Rule[Nodes] | Projection | ShorterSets) -> Nodes:
        """The children of these regions; all other open regions are closed, and their records dropped.

        Free: records follow a public rule, and nothing about them is revealed. A projection and a cut of all records
        do not divide the root but replace its records.
        """
        ours, positions, engine, _ = self.__ask(nodes, 1)
        admission.admit_rule(rule, ours, engine, self.__unit)
        if isinstance(rule, Projection | ShorterSets):
            return cast(Nodes, self.__replace_records(engine, rule))
        times = rule.times(ours)
        ids = self.__budget.inherit(ours.ids, times)
        cast(SplitEngine, engine).split(positions, rule)
        self.__tested.split(positions, times)
        children = rule.children(ours, int(ids[0]) if len(ids) else 0)
        self.__frontier = children
        return cast(Nodes, children.copy())  # the method gets a copy, so that it cannot change ours

    def __replace_records(self, engine: Engine, rule: Projection | ShorterSets) -> Frontier | Partitions:
        """Replaces the root's records by what the rule makes of them, and the unit by theirs (Claims 28, 39)."""
        self.__unit = rule.unit(self.__unit)
        replaced = rule.apply(engine)
        root = replaced.root()
        self.__engine, self.__frontier = replaced, root
        return root.copy()

    def seal(self) -> ReceiptFields:
        """Discards records and noise source and returns the receipt; what follows is post-processing."""
        if self.__engine is None:
            raise Sealed("the curator is sealed already")
        self.__forget()
        return self.__budget.receipt()

    # ---- inside -------------------------------------------------------------------------------------------

    def __ask(self, nodes: Nodes, epsilon: Price) -> tuple[Nodes, Ints, Engine, Ints]:
        """The curator's own copy of the regions, their positions in the engine, the engine, and their prices.

        Only the numbers of the regions are taken from the method. The result must not leave the curator.
        """
        admission.require_trusted(nodes, (type(self.__frontier),))
        ids = nodes.ids
        cost = prices(epsilon, np.size(ids))
        if self.__engine is None:
            raise Sealed("the curator is sealed; nothing can be asked of the records any more")
        self.__budget.require_open(ids)
        positions = np.searchsorted(self.__frontier.ids, ids)
        # Open regions are those of the frontier and are listed once: if the numbers agree, these are all of them.
        ours = self.__frontier if len(ids) == len(self.__frontier) else self.__frontier.take(positions)
        return cast(Nodes, ours), positions, self.__engine, cost

    def __charge(self, nodes: Frontier | Partitions, cost: Ints, why: str, verb: str, sensitivity: int) -> None:
        """Charges a question and gives it a number."""
        if type(why) is not str:
            raise ParameterError("every charge says in words what it is for")
        self.__budget.charge(nodes.ids, cost, why=why, verb=verb, sensitivity=sensitivity, depth=nodes.depth)
        self.__draws.number += 1

    def __forget(self) -> None:
        if self.__engine is None:
            return
        self.__engine.close()
        self.__engine = None
        self.__budget.close()
        del self.__draws

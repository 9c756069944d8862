"""The curator: the only object that sees records, budget and noise together.

A method holds a curator and nothing else. Every question follows one order: decide from public values whether it is
admitted, charge the regions it is about, look at the records, return only the noisy answer. Exact counts (`exact_...`)
exist only inside one call. admission.py decides what is admitted, draws.py draws the noise, budget.py keeps the
charges, and open_run.py is what a curator holds. tests/audit computes the exact loss of whole runs through this code.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any, TypeVar, cast, overload

import numpy as np

from cantle.errors import ParameterError, Sealed
from cantle.trusted.claims.cut_candidates import AnyScored, Candidates
from cantle.trusted.claims.degree_queries import Projection
from cantle.trusted.claims.own_error import WORKLOADS, AnyWorkload, OwnError
from cantle.trusted.claims.queries import Query, Size, SparseQuery
from cantle.trusted.claims.scores import Score
from cantle.trusted.core import admission
from cantle.trusted.core.answers import Noisy, NoisyCells
from cantle.trusted.core.budget import NANO, Budget, Price, ReceiptFields, Unit
from cantle.trusted.core.draws import Segments
from cantle.trusted.core.keys import MergedOneWays, PublicDomain, finest
from cantle.trusted.core.open_run import OpenRun
from cantle.trusted.core.private import Private
from cantle.trusted.core.stop_test import PrivTree
from cantle.trusted.counting.base import Engine, Rule, SplitEngine
from cantle.trusted.geometry.boxes import Bools, Frontier, Ints
from cantle.trusted.geometry.item_partitions import Partitions
from cantle.trusted.noise import Noise

Nodes = TypeVar("Nodes", bound=Frontier | Partitions)
Judge = TypeVar("Judge", bound=Score)
Answer = TypeVar("Answer")


class Curator(Private):
    """Holds the records, the budget and the noise source; returns noisy answers."""

    __slots__ = ("__run",)

    def __init__(self, engine: Engine, budget: Budget, noise: Noise) -> None:
        self.__run = OpenRun(engine, budget, noise)

    def __repr__(self) -> str:
        state = "sealed" if self.__run.engine is None else f"{len(self.__run.frontier)} open regions"
        return f"Curator({self.__run.budget!r}, {state})"

    def __enter__(self) -> Curator:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.__run.forget()

    # ---- public facts -------------------------------------------------------------------------------------

    def root(self) -> Any:  # the kind of data decides which of the two it is
        """The whole domain as one region (a Frontier; for sets, Partitions); only before the first split."""
        if self.__run.frontier.depth:
            raise ParameterError("the root was already split")
        return self.__run.frontier.copy()

    @property
    def domain(self) -> PublicDomain:
        """The public domain of the data."""
        return self.__run.records().domain

    @property
    def unit(self) -> Unit:
        """The unit that questions are charged for: after a projection, as many records as one node can change."""
        return self.__run.unit

    def left(self, nodes: Frontier | Partitions) -> Ints:
        """The balance of each region, in nano-units of epsilon."""
        admission.require_trusted(nodes, admission.REGIONS)
        return self.__run.budget.left(nodes.ids)

    def path(self, nodes: Frontier | Partitions) -> Ints:
        """Each region's kind of path in the receipt."""
        admission.require_trusted(nodes, admission.REGIONS)
        return self.__run.budget.path(nodes.ids)

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
        """One noisy choice per region (or selection) among public candidates.

        Claim 13. epsilon-DP in each region's records: the weights are exp(epsilon * score / (range * margin * k)) for a
        unit of k records, by the range lemma (Claim 1), which holds for every number from the range on, so for every
        whole `margin`; candidates, weights and margin are public. If a row stands for many
        candidates of one score, a uniform draw among these follows, which is the law of choosing among all.
        Claim 38. The bound on degrees is such a choice, for one node, with the range of Claim 37.
        """
        run = self.__run
        ours, positions, engine, cost = run.ask(nodes, epsilon)
        quality = admission.admit_candidates(candidates, quality, ours, engine, run.unit)
        rho = quality.range * run.unit.max_records * candidates.margin
        run.charge(ours, cost, why, "choose", rho)
        exact_scores = candidates.exact_scores(engine, positions, ours, quality)
        return candidates.answer(ours, [run.draws.choice(exact, ours, cost, rho) for exact in exact_scores])

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
        run = self.__run
        ours, positions, engine, cost = run.ask(nodes, epsilon)
        key = admission.admit_query(query, ours, engine)
        sensitivity = query.sensitivity(run.unit)
        run.charge(ours, cost, why, "measure", sensitivity)
        value = np.empty((len(ours), key.cells), dtype=np.int64)
        for first, last, exact_fine in engine.tally(positions, finest(key)):
            exact_counts = key.merged(exact_fine) if isinstance(key, MergedOneWays) else exact_fine
            value[first:last] = run.draws.counts(exact_counts, ours.ids[first:last], cost[first:last], sensitivity)
        return Noisy(value, cost, sensitivity * NANO)

    def __measure_from(
        self, nodes: Nodes, query: SparseQuery[Nodes], epsilon: Price, at_least: int | Ints, why: str
    ) -> NoisyCells:
        run = self.__run
        ours, positions, engine, cost = run.ask(nodes, epsilon)
        admission.admit_threshold_query(query, ours, engine)
        sensitivity = query.sensitivity(run.unit)
        segments = Segments.of(query, ours, cost, sensitivity, at_least)
        run.charge(ours, cost, why, "measure", sensitivity)
        exact_occupied = query.occupied(engine, positions, ours)
        return run.draws.cells(exact_occupied, segments)

    def test(self, nodes: Frontier, stop: PrivTree, *, why: str) -> Bools:
        """Whether each region is worth splitting: yes or no, at a price that stops growing (Claim 12).

        All tests of a run share one threshold, decay and price, and a "no" ends the tests of its path.
        """
        admission.require_trusted(stop, (PrivTree,))
        run = self.__run
        ours, positions, engine, _ = run.ask(nodes, stop.epsilon_nano)
        if engine.kind != stop.kind:
            raise ParameterError(f"stop tests are for {stop.kind}")
        records, tests = run.unit.max_records, run.tested.next_tests(positions, stop)
        price = stop.cost(tests + 1, records) - stop.cost(tests, records)
        run.charge(ours.take(price > 0), price[price > 0], why, "test", records)
        run.tested.begin(positions, stop)
        goes_on = np.empty(len(ours), dtype=np.bool_)
        for first, last, exact_counts in engine.tally(positions, Size()):
            here = slice(first, last)
            goes_on[here] = run.draws.tests(ours.ids[here], exact_counts[:, 0], tests[here], stop, records)
        run.tested.end(positions, goes_on)
        return goes_on

    def reserve(self, root: Frontier | Partitions, epsilon: Price, *, why: str) -> None:
        """Pays for one later question about all records (`own_error`), whatever splits follow."""
        run = self.__run
        ours, _, engine, cost = run.ask(root, epsilon)
        if run.reserved is not None or engine.kind not in WORKLOADS or len(ours) != 1 or ours.depth:
            raise ParameterError("own error is paid for once, at the root, before the first split; not for graphs")
        run.charge(ours, cost, why, "reserve", run.unit.max_records)
        cast(SplitEngine, engine).keep_all()
        run.reserved = int(cost[0])

    def own_error(self, workload: AnyWorkload, released: Ints) -> Noisy:
        """Noisy numbers that say how far released records are off, at the reserved price; can be asked only once.

        Claim 58. The whole run stays epsilon-DP. Let r be the price reserved. It is charged to the root, so every path
        pays for it (Claim 11), and all other answers together lose at most epsilon - r. Given them, workload and
        released counts are fixed numbers, and this answer about all records, also those of closed regions, is r-DP: K
        integers of sensitivity K per record (Claim 57) with noise of rate r / (K k) for a unit of k records (Claim 14).
        By sequential composition the losses add up to at most epsilon. It is answered once, so r is spent once.
        """
        run = self.__run
        engine = run.records()
        if not run.reserved:
            raise ParameterError("nothing is reserved for this question, or it was answered already")
        admission.require_trusted(workload, tuple(WORKLOADS.values()))
        asked = OwnError(workload, released).checked(engine.kind, engine.domain)
        reserved, run.reserved = run.reserved, 0
        run.draws.number += 1
        sensitivity, cost = asked.sensitivity(run.unit), np.array([reserved])
        exact_numbers = asked.exact_numbers(cast(SplitEngine, engine)).reshape(1, -1)
        value = run.draws.counts(exact_numbers, np.zeros(1, dtype=np.int64), cost, sensitivity)
        return Noisy(value, cost, sensitivity * NANO)

    def coin(self, nodes: Frontier | Partitions, sides: Ints) -> Ints:
        """The roll of one fair public die per region, 0 to sides - 1; free, because it does not depend on the
        records."""
        # Numbers of sides follow the rule of prices: positive whole numbers, one for all or one per region.
        run = self.__run
        ours, _, _, faces = run.ask(nodes, sides)
        run.draws.number += 1
        return run.draws.coin(ours.ids, faces)

    def split(self, nodes: Nodes, rule: Rule[Nodes] | Projection) -> Nodes:
        """The children of these regions; all other open regions are closed, and their records dropped.

        Free: records follow a public rule, and nothing about them is revealed. A projection does not
        divide the root but replaces its records.
        """
        run = self.__run
        ours, positions, engine, _ = run.ask(nodes, 1)
        admission.admit_rule(rule, ours, engine, run.unit)
        if isinstance(rule, Projection):
            return cast(Nodes, run.replace_records(engine, rule).copy())
        # The method gets a copy, so that it cannot change ours.
        return cast(Nodes, run.split(ours, positions, engine, rule).copy())

    def seal(self) -> ReceiptFields:
        """Discards records and noise source and returns the receipt; what follows is post-processing."""
        run = self.__run
        if run.engine is None:
            raise Sealed("the curator is sealed already")
        run.forget()
        return run.budget.receipt()

"""The curator: the only object that sees records, budget and noise together.

A method holds a curator and nothing else. Every question follows one order: charge the regions it is about, then look
at the records, then return only the noisy answer. Exact counts (`exact_...`) live inside one call.

Each question has a number, and every random draw is addressed by (question, region, cell), so that neither the
order of records nor the size of chunks nor the engine can change a seeded run.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any, TypeVar, overload

import numpy as np

from cantle.errors import ParameterError, Sealed
from cantle.trusted.answers import Noisy, NoisyCells
from cantle.trusted.budget import NANO, Budget, Unit, prices
from cantle.trusted.cut_candidates import CUT_CANDIDATES, Candidates, Chosen, Scored
from cantle.trusted.degree_queries import GRAPH_KEYS, Bounds, Lag, Projection
from cantle.trusted.engines.base import Engine, TableEngine
from cantle.trusted.geometry.boxes import Bools, Cuts, Frontier, Ints, is_int64_array
from cantle.trusted.geometry.item_partitions import Kept, Partitions
from cantle.trusted.keys import TRUSTED_KEYS, Sizes
from cantle.trusted.noise import Lanes, Noise, Rate
from cantle.trusted.queries import SPARSE_QUERIES, TRUSTED_QUERIES, Query, SparseQuery
from cantle.trusted.scores import CUT_QUALITIES, Score
from cantle.trusted.set_queries import BASKET_KEYS, PairSupports, SetApart
from cantle.trusted.specialisations import SPECIALISATIONS
from cantle.trusted.stop_test import MOST_TESTS, PrivTree
from cantle.trusted.table_candidates import TABLE_CANDIDATES, TABLE_QUALITIES
from cantle.trusted.table_keys import CELL_KEYS
from cantle.trusted.table_queries import CELL_QUERIES, Spikes
from cantle.trusted.value_trees import MOST_DEPTH, ValueTrees

Regions = TypeVar("Regions", Frontier, Partitions)

REGIONS: tuple[type, ...] = (Frontier, Partitions)
RULES: dict[type, type] = {Frontier: Cuts, Partitions: Kept}
TRUSTED_QUALITIES = (*CUT_QUALITIES, *TABLE_QUALITIES, Lag)
TRUSTED_CANDIDATES = (*CUT_CANDIDATES, *SPECIALISATIONS, *TABLE_CANDIDATES, Bounds)
LISTED_QUERIES = (*TRUSTED_QUERIES, *CELL_QUERIES, *GRAPH_KEYS, *BASKET_KEYS)
LISTED_KEYS = (*TRUSTED_KEYS, *CELL_KEYS, *GRAPH_KEYS, *BASKET_KEYS)

MOST_SPURIOUS = 10**7
"""Most empty cells that a question may list on average."""


class Curator:
    """Holds the records, the budget and the noise source; gives noisy answers."""

    __slots__ = ("__budget", "__calls", "__ended", "__engine", "__frontier", "__noise", "__stop", "__tests", "__unit")

    def __init__(self, engine: Engine, budget: Budget, noise: Noise) -> None:
        self.__engine: Engine | None = engine
        self.__budget, self.__noise, self.__unit = budget, noise, budget.unit
        self.__frontier: Any = engine.root()
        self.__tests: Ints = np.zeros(1, dtype=np.int64)
        self.__ended: Bools = np.zeros(1, dtype=np.bool_)
        self.__stop: PrivTree | None = None
        self.__calls = 0

    def __repr__(self) -> str:
        state = "sealed" if self.__engine is None else f"{len(self.__frontier)} open regions"
        return f"Curator({self.__budget!r}, {state})"

    def __reduce__(self) -> Any:
        raise TypeError("a curator holds private records and cannot be pickled or copied")

    def __enter__(self) -> Curator:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.__forget()

    # ---- public facts -------------------------------------------------------------------------------------

    def root(self) -> Any:
        """The whole domain as one region (a Frontier; for sets, Partitions); only before the first split."""
        if self.__frontier.depth:
            raise ParameterError("the root was already split")
        return self.__frontier.copy()

    @property
    def domain(self) -> Any:
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
        _require_trusted(nodes, REGIONS)
        return self.__budget.left(nodes.ids)

    def path(self, nodes: Frontier | Partitions) -> Ints:
        """Each region's kind of path in the receipt."""
        _require_trusted(nodes, REGIONS)
        return self.__budget.path(nodes.ids)

    # ---- questions ----------------------------------------------------------------------------------------

    def choose(self, nodes: Any, candidates: Candidates, quality: Score, epsilon: Any, *, why: str) -> Any:
        """One noisy choice per region (or selection) among public candidates, as the candidates name it.

        Claim 13. epsilon-DP in each region's records: the weights are exp(epsilon * score / (range * k)) for a unit
        of k records, by the range lemma (Claim 1); candidates and weights are public. If a row stands for many
        candidates of one score, a uniform draw among these follows, which is the law of choosing among all.
        Claim 38. The bound on degrees is such a choice, for one node, with the range of Claim 37.
        """
        _require_trusted(quality, TRUSTED_QUALITIES)
        _require_trusted(candidates, TRUSTED_CANDIDATES)
        ours, positions, engine, cost = self.__ask(nodes, epsilon)
        _require_fitting(candidates, engine, ours)
        if not candidates.fits(ours, engine.domain, quality):
            raise ParameterError("these are not candidates for these regions, or the score has no proof for them")
        if isinstance(candidates, Bounds):
            candidates.require(self.__unit)
        rho = quality.range * self.__unit.max_records
        self.__charge(ours, cost, why, "choose", rho)
        found = candidates.exact_scores(engine, positions, ours, quality)
        return candidates.answer(ours, [self.__select(exact, ours, cost, rho) for exact in found])

    def __select(self, exact: Scored, nodes: Any, cost: Ints, rho: int) -> Chosen:
        """Draws one row per selection, and one of the candidates that it stands for."""
        here = slice(exact.first, exact.last)
        keys, rate = nodes.ids[here], Rate(cost[here], rho * NANO)
        if exact.selections is not None:  # several selections in one region, all at its price
            keys, rate = np.repeat(keys, len(exact.selections)), Rate(int(cost[exact.first]), rho * NANO)
        lanes = Lanes(self.__calls, keys, exact.selections)
        row = self.__noise.select(lanes, exact.scores, exact.starts, rate, exact.inverse_weights, exact.many)
        within = np.zeros_like(row)
        if exact.many is not None:
            self.__calls += 1  # the candidate inside the row is another draw
            many = exact.many[exact.starts[:-1] + row]
            within = self.__noise.coin(Lanes(self.__calls, keys, exact.selections), many)
        return Chosen(exact, row, within)

    @overload
    def measure(self, nodes: Any, query: Query, epsilon: Any, *, why: str) -> Noisy: ...
    @overload
    def measure(self, nodes: Any, query: SparseQuery, epsilon: Any, *, why: str, at_least: Any) -> NoisyCells: ...
    def measure(
        self, nodes: Any, query: Query | SparseQuery, epsilon: Any, *, why: str, at_least: Any = None
    ) -> Noisy | NoisyCells:
        """Noisy counts of every region: of all cells, or of those from the public threshold `at_least` on.

        Claim 14. epsilon-DP in each region's records: discrete Laplace noise of rate epsilon / sensitivity on an
        integer vector of that L1 sensitivity: P[Z = z] / P[Z = z'] <= e^(rate |z - z'|).
        Claim 25. So are the counts from a threshold on: Claim 14 on all cells, whose small values are withheld by a
        public rule; drawn without listing empty cells (Claim 17). The order of the answer is that of the cells.
        Claim 65. So are these with a public list of cells given whatever their value: the public rule withholds small
        values of the other cells only. Listed cells leave the sparse draw, so that each cell is drawn once.
        """
        if at_least is None:
            return self.__measure_all(nodes, query, epsilon, why)
        return self.__measure_from(nodes, query, epsilon, at_least, why)

    def __measure_all(self, nodes: Any, query: Any, epsilon: Any, why: str) -> Noisy:
        _require_trusted(query, LISTED_QUERIES)
        ours, positions, engine, cost = self.__ask(nodes, epsilon)
        key = query.key
        _require_trusted(key, LISTED_KEYS)
        if type(key) not in engine.keys or not key.fits(ours, engine.domain):
            raise ParameterError("the query does not fit these regions")
        sensitivity = query.sensitivity(self.__unit)
        self.__charge(ours, cost, why, "measure", sensitivity)
        cells = key.cells
        value = np.empty((len(ours), cells), dtype=np.int64)
        for first, last, exact_counts in engine.tally(positions, key):
            lanes = Lanes(self.__calls, np.repeat(ours.ids[first:last], cells), np.tile(np.arange(cells), last - first))
            rate = Rate(np.repeat(cost[first:last], cells), sensitivity * NANO)
            noisy = self.__noise.laplace(lanes, exact_counts.reshape(-1), rate)
            value[first:last] = noisy.reshape(last - first, cells)
        return Noisy(value, cost, sensitivity * NANO)

    def __measure_from(self, nodes: Any, query: Any, epsilon: Any, at_least: Any, why: str) -> NoisyCells:
        _require_trusted(query, (*SPARSE_QUERIES, Spikes, PairSupports))
        ours, positions, engine, cost = self.__ask(nodes, epsilon)
        _require_fitting(query, engine, ours)
        if not query.fits(ours, engine.domain):
            raise ParameterError("the query does not fit these regions")
        total, owner, sensitivity = query.totals(ours), query.owners(ours), query.sensitivity(self.__unit)
        least = np.full(len(total), at_least, dtype=np.int64) if type(at_least) is int else at_least
        if not is_int64_array(least, len(total)) or (least < 1).any() or (least > 2**61).any():
            raise ParameterError("the threshold of counts is a whole number of at least 1, for all regions or for each")
        rate = Rate(cost[owner], sensitivity * NANO)
        if float((total * np.exp(-rate.floats() * least)).sum()) > MOST_SPURIOUS:
            raise ParameterError("the thresholds let too many empty cells pass; raise them or ask about fewer cells")
        self.__charge(ours, cost, why, "measure", sensitivity)
        exact_starts, exact_cells, exact_counts = query.occupied(engine, positions, ours)
        if isinstance(query, PairSupports):
            cells, values = self.__pairs(query, ours, exact_cells, exact_counts, rate, least)
            return NoisyCells(np.zeros_like(cells), cells, values, cost, sensitivity * NANO, least)
        several = len(owner) > len(ours)  # segments of one region have random numbers of their own
        lanes = Lanes(self.__calls, ours.ids[owner], np.arange(len(owner)) if several else None)
        starts, cells, values = self.__noise.sparse(lanes, exact_starts, exact_cells, exact_counts, total, rate, least)
        rows = np.repeat(np.arange(len(owner)), np.diff(starts))
        return NoisyCells(rows, cells, values, cost[owner], sensitivity * NANO, least)

    def __pairs(
        self, query: PairSupports, root: Any, exact_cells: Ints, exact_counts: Ints, rate: Rate, least: Ints
    ) -> tuple[Ints, Ints]:
        """Draws the listed cells one by one and all others sparsely (Claim 65)."""
        apart = SetApart(query.always.copy())
        other_cells, other_counts, exact_listed = apart.divide(exact_cells, exact_counts)
        total = query.totals(root) - len(apart.always)
        starts = np.array([0, len(other_cells)])
        lanes = Lanes(self.__calls, root.ids)
        _, cells, values = self.__noise.sparse(lanes, starts, other_cells, other_counts, total, rate, least)
        self.__calls += 1  # the listed cells are another draw
        lanes = Lanes(self.__calls, np.repeat(root.ids, len(apart.always)), apart.always)
        listed = self.__noise.laplace(lanes, exact_listed, Rate(int(rate.exact(0)[0]), rate.den))
        return apart.join(cells, values, listed)

    def test(self, nodes: Frontier, stop: PrivTree, *, why: str) -> Bools:
        """Whether each region is worth splitting: yes or no, at a price that stops growing (Claim 12).

        All tests of a run share one threshold, decay and price, and a "no" ends the tests of its path.
        """
        _require_trusted(stop, (PrivTree,))
        nodes, positions, engine, _ = self.__ask(nodes, stop.epsilon_nano)
        if engine.kind != "tables":
            raise ParameterError("stop tests are for tables")
        if self.__stop not in (None, stop):
            raise ParameterError("all stop tests of a run share one threshold, decay and price")
        if self.__ended[positions].any() or (self.__tests[positions] >= MOST_TESTS).any():
            raise ParameterError("a region whose path was told to stop or tested too often cannot be tested again")
        records = self.__unit.max_records
        done = self.__tests[positions]
        price = stop.cost(done + 1, records) - stop.cost(done, records)
        self.__charge(nodes.take(price > 0), price[price > 0], why, "test", records)
        self.__stop = stop
        self.__tests[positions] += 1
        answer = np.empty(len(nodes), dtype=np.bool_)
        for first, last, exact_counts in engine.tally(positions, Sizes()):
            biased = stop.biased(exact_counts[:, 0], done[first:last])
            answer[first:last] = self.__noise.above(
                Lanes(self.__calls, nodes.ids[first:last]),
                biased,
                np.full(last - first, stop.theta, dtype=np.int64),
                Rate(stop.epsilon_nano, records * NANO),
            )
        self.__ended[positions] = ~answer
        return answer

    def grow(self, root: Frontier, trees: ValueTrees, stop: PrivTree, *, why: str) -> tuple[Ints, ...]:
        """The edges of the leaves of one binary tree per column, grown over its values; nothing else is told.

        Claim 49. epsilon-DP in the root's records, epsilon = number of trees * lifetime(stop), charged at once and
        before any test. In one tree a record lies on one path, whose tests together lose at most the lifetime bound
        (Claim 12), whatever the depth: the first test of a path has number 0, children are halves of their parents. A
        record lies on one path of each tree, and losses add up. Noisy values are discarded, nothing is refunded.
        """
        _require_trusted(trees, (ValueTrees,))
        _require_trusted(stop, (PrivTree,))
        ours, _, engine, _ = self.__ask(root, stop.epsilon_nano)
        _require_fitting(trees, engine, ours)
        if not trees.fits(ours, engine.domain):
            raise ParameterError("these are not trees over values of columns of this domain")
        records = self.__unit.max_records
        price = len(trees.columns) * stop.lifetime(records)
        self.__charge(ours, prices(price, 1), why, "grow", len(trees.columns) * records)
        rate = Rate(stop.epsilon_nano, records * NANO)

        def goes_on(column: int, depth: int, first_code: Ints, exact_counts: Ints) -> Bools:
            # A test is addressed by its column, its depth and the first code of its cell.
            lanes = Lanes(self.__calls, np.full(len(first_code), column * MOST_DEPTH + depth), first_code)
            biased = stop.biased(exact_counts, np.full(len(exact_counts), depth))
            return self.__noise.above(lanes, biased, np.full(len(biased), stop.theta, dtype=np.int64), rate)

        return tuple(trees.leaves(engine, number, goes_on) for number in range(len(trees.columns)))

    def coin(self, nodes: Frontier | Partitions, sides: Ints) -> Ints:
        """One fair public die per region, 0 to sides - 1; free, because it does not depend on the records."""
        # Numbers of sides follow the rule of prices: positive whole numbers, one for all or one per region.
        nodes, _, _, faces = self.__ask(nodes, sides)
        self.__calls += 1
        return self.__noise.coin(Lanes(self.__calls, nodes.ids), faces)

    def split(self, nodes: Any, rule: Cuts | Kept | Projection) -> Any:
        """The children of these regions; all other open regions are closed, and their records dropped.

        Free: records follow a public rule, and nothing about them is revealed.
        """
        _require_trusted(rule, (Cuts, Kept, Projection))
        ours, positions, engine, _ = self.__ask(nodes, 1)
        if isinstance(rule, Projection):
            return self.__project(ours, rule)
        if engine.kind == "graphs" or type(rule) is not RULES[type(ours)] or not rule.fits(ours):
            raise ParameterError(
                "each region needs exactly one cut, strictly inside it; sub-partitions must be distinct and in order"
            )
        times = rule.times(ours)
        ids = self.__budget.inherit(ours.ids, times)
        engine.split(positions, rule)
        self.__tests = np.repeat(self.__tests[positions], times)
        self.__ended = np.repeat(self.__ended[positions], times)
        self.__frontier = rule.children(ours, int(ids[0]) if len(ids) else 0)
        return self.__frontier.copy()  # the method gets a copy, so that it cannot change ours

    def __project(self, nodes: Any, rule: Projection) -> Frontier:
        """Makes the graph a table of projected degrees, with as many records per node as its unit (Claim 39)."""
        graph: Any = self.__engine
        if len(nodes) != 1 or not rule.fits(graph, self.__unit):
            raise ParameterError("the graph cannot be projected so, or there is no proof for this unit")
        self.__unit = rule.unit(self.__unit)
        table: TableEngine = graph.as_table(rule.theta)
        graph.close()
        self.__engine, self.__frontier = table, table.root()
        return self.__frontier.copy()

    def seal(self) -> dict[str, Any]:
        """Discards records and noise source and returns the receipt; what follows is post-processing."""
        if self.__engine is None:
            raise Sealed("the curator is sealed already")
        self.__forget()
        return self.__budget.receipt()

    # ---- inside -------------------------------------------------------------------------------------------

    def __ask(self, nodes: Any, epsilon: Any) -> tuple[Any, Ints, Any, Ints]:
        """The curator's own copy of the regions, their positions in the engine, the engine, and their prices.

        Only the numbers of the regions are taken from the method. The result must not leave the curator.
        """
        _require_trusted(nodes, (type(self.__frontier),))
        ids = nodes.ids
        cost = prices(epsilon, np.size(ids))
        if self.__engine is None:
            raise Sealed("the curator is sealed; nothing can be asked of the records any more")
        self.__budget.require_open(ids)
        positions = np.searchsorted(self.__frontier.ids, ids)
        # Open regions are those of the frontier and are listed once: if the numbers agree, these are all of them.
        ours = self.__frontier if len(ids) == len(self.__frontier) else self.__frontier.take(positions)
        return ours, positions, self.__engine, cost

    def __charge(self, nodes: Frontier | Partitions, cost: Ints, why: str, verb: str, sensitivity: int) -> None:
        """Charges a question and returns its number."""
        if type(why) is not str:
            raise ParameterError("every charge says in words what it is for")
        self.__budget.charge(nodes.ids, cost, why=why, verb=verb, sensitivity=sensitivity, depth=nodes.depth)
        self.__calls += 1

    def __forget(self) -> None:
        if self.__engine is None:
            return
        self.__engine.close()
        self.__engine = None
        self.__budget.close()
        del self.__noise


def _require_trusted(thing: object, kinds: tuple[type, ...]) -> None:
    """Refuses objects that would see exact counts without a proof in the trusted base."""
    if type(thing) not in kinds:
        raise ParameterError(f"{type(thing).__name__} has no proof in the trusted base; add it there with its claim")


def _require_fitting(question: Candidates | SparseQuery | ValueTrees, engine: Engine, nodes: Any) -> None:
    """Refuses questions for other kinds of data. If engines answer a question from all their records, whatever the
    region, only the unsplit root may be asked: a region below it pays only for its own records."""
    if engine.kind != question.kind:
        raise ParameterError(f"this question is for {question.kind}")
    if question.everyone and (len(nodes) != 1 or nodes.depth):
        raise ParameterError("this question looks at all records: ask about the root, before the first split")

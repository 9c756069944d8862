"""The curator: the only place where records, budget and dice meet. Trusted.

A method holds a curator and nothing else. Every question follows one order: charge the regions it is asked about,
then look, then give away only the noisy answer. Exact counts (`exact_...`) live inside one call.

Each question has a number, and every random draw is addressed by (question, region, cell), so that neither the
order of records nor the size of chunks nor the engine can change a seeded run.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any, TypeVar

import numpy as np

from cantle.answers import Noisy, NoisyCells, NoisyPatterns, Pick
from cantle.budget import NANO, Budget, Unit, prices
from cantle.candidates import TRUSTED_CANDIDATES, Candidates
from cantle.degree_counts import GRAPH_KEYS, Bounds
from cantle.engines.base import Engine, GraphsEngine, SetsEngine, TableEngine
from cantle.errors import ParameterError, Sealed
from cantle.noise import Lanes, Noise, Rate, Runs
from cantle.partitions import Kept, Partitions
from cantle.patterns import rank, unrank
from cantle.privtree import MOST_TESTS, PrivTree
from cantle.quality import TRUSTED_QUALITIES, Quality
from cantle.queries import TRUSTED_QUERIES, Cells, Query
from cantle.regions import Bools, Cuts, Frontier, Ints, is_ints
from cantle.scoring import cut_scores
from cantle.specialise import TRUSTED_SCORED, Scored
from cantle.tally import TRUSTED_KEYS, Sizes

Regions = TypeVar("Regions", Frontier, Partitions)

REGIONS: tuple[type, ...] = (Frontier, Partitions)
RULES: dict[type, type] = {Frontier: Cuts, Partitions: Kept}

MOST_SPURIOUS = 10**7
"""Empty cells that a question may be expected to show."""


class Curator:
    """Holds the records, the budget and the dice; answers in noise."""

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
        """The whole domain as one region (a Frontier, of sets a Partitions); only before the first split."""
        if self.__frontier.depth:
            raise ParameterError("the root was already split")
        return self.__frontier.copy()

    @property
    def domain(self) -> Any:
        """What is public about the data, as its keys understand it."""
        if self.__engine is None:
            raise Sealed("the curator is sealed; nothing can be asked of the records any more")
        return self.__engine.domain

    @property
    def unit(self) -> Unit:
        """Whom the promise protects, as the questions see it: after `project`, so many records a node."""
        return self.__unit

    def left(self, nodes: Frontier | Partitions) -> Ints:
        """What each region can still spend, in nano-units of epsilon."""
        _require_trusted(nodes, REGIONS)
        return self.__budget.left(nodes.ids)

    def path(self, nodes: Frontier | Partitions) -> Ints:
        """Each region's kind of path in the receipt."""
        _require_trusted(nodes, REGIONS)
        return self.__budget.path(nodes.ids)

    # ---- questions ----------------------------------------------------------------------------------------

    def choose(self, nodes: Frontier, candidates: Candidates, quality: Quality, epsilon: Any, *, why: str) -> Cuts:
        """One noisy choice a region among its public candidates.

        Claim 13. epsilon-DP in each region's records: the weights are exp(epsilon * score / (range * k)) for a unit
        of k records, by the range lemma (Claim 1), candidates and weights being public.
        """
        _require_trusted(quality, TRUSTED_QUALITIES)
        _require_trusted(candidates, TRUSTED_CANDIDATES)
        nodes, positions, engine, cost = self.__ask_table(nodes, epsilon)
        if not candidates.fits(nodes, (engine.sizes, engine.classes)):
            raise ParameterError("the candidates are not those of these regions")
        counts = candidates.counts(nodes)
        if (counts < 1).any():
            raise ParameterError("a region without candidates cannot be split")
        rho = quality.range * self.__unit.max_records
        self.__charge(nodes, cost, why, "choose", rho)
        choice = np.empty(len(nodes), dtype=np.int64)
        for first, last, exact_scores in cut_scores(engine, positions, nodes, candidates, quality):
            part = nodes.take(slice(first, last))
            weights = candidates.inverse_weights(part)
            choice[first:last] = self.__noise.select(
                Lanes(self.__calls, part.ids),
                exact_scores,
                np.concatenate([[0], np.cumsum(counts[first:last])]),
                Rate(cost[first:last], rho * NANO),
                None if weights is None else Runs(*weights),
            )
        return candidates.cuts(nodes, choice)

    def measure(self, nodes: Frontier | Partitions, query: Query, epsilon: Any, *, why: str) -> Noisy:
        """Noisy counts of every region.

        Claim 14. epsilon-DP in each region's records: discrete Laplace noise of rate epsilon / sensitivity on an
        integer vector of that L1 sensitivity: P[Z = z] / P[Z = z'] <= e^(rate |z - z'|).
        """
        _require_trusted(query, (*TRUSTED_QUERIES, *GRAPH_KEYS))
        ours, positions, engine, cost = self.__ask(nodes, epsilon)
        key = query.key
        _require_trusted(key, (*TRUSTED_KEYS, *GRAPH_KEYS))
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

    def specialise(self, root: Frontier, candidates: Scored, quality: Quality, epsilon: Any, *, why: str) -> list[Pick]:
        """One noisy choice a selection among the candidates of a grid: which value, and at which point.

        Claim 24. epsilon-DP in the region's records: for each selection as in Claim 13, the runs standing for all their
        points (see specialise.py); several selections in one question look at disjoint records (Claim 21). Only the
        unsplit root may be asked: every record is looked at, so the path of every record must pay.
        """
        _require_trusted(quality, TRUSTED_QUALITIES)
        _require_trusted(candidates, TRUSTED_SCORED)
        nodes, engine, cost = self.__ask_everyone(root, epsilon)
        if not candidates.fits((engine.sizes, engine.classes), quality):
            raise ParameterError("the candidates are not those of this domain, or this score has no proof for them")
        rho = quality.range * self.__unit.max_records
        self.__charge(nodes, cost, why, "choose", rho)
        exact_runs = candidates.score(engine, quality)
        selections = len(exact_runs.starts) - 1
        lanes = Lanes(self.__calls, np.repeat(nodes.ids, selections), np.arange(selections))
        chosen = exact_runs.starts[:-1] + self.__noise.select(
            lanes,
            exact_runs.scores,
            exact_runs.starts,
            Rate(int(cost[0]), rho * NANO),
            None if exact_runs.many is None else np.ones_like(exact_runs.many),
            exact_runs.many,
        )
        points = exact_runs.point[chosen]
        if exact_runs.many is not None:
            self.__calls += 1  # the point inside the run is another draw
            within = self.__noise.coin(Lanes(self.__calls, lanes.keys, lanes.cells), exact_runs.many[chosen])
            points = np.where(points > 0, points + within, 0)
        values = exact_runs.value[chosen]
        return [Pick(value, point) for value, point in zip(values.tolist(), points.tolist(), strict=True)]

    def measure_cells(self, root: Frontier, query: Cells, epsilon: Any, *, at_least: int, why: str) -> NoisyCells:
        """Noisy counts of all cells of a grid by class, empty ones included; those from `at_least` on are given.

        Claim 25. epsilon-DP: Claim 14 on all cells (Claim 23), whose small values are withheld by a public rule; drawn
        without listing empty cells (Claim 17). The order of the answer is that of the cells. Only the unsplit root may
        be asked, as in Claim 24.
        """
        _require_trusted(query, (Cells,))
        nodes, engine, cost = self.__ask_everyone(root, epsilon)
        if not query.key.fits((engine.sizes, engine.classes)):
            raise ParameterError("the grid is not one of this domain")
        if type(at_least) is not int or not 1 <= at_least <= 2**61:
            raise ParameterError("the threshold of cell counts is a whole number of at least 1")
        sensitivity = query.sensitivity(self.__unit)
        self.__charge(nodes, cost, why, "measure", sensitivity)
        exact_cells, exact_counts = engine.occupied(query.key)
        rate = Rate(int(cost[0]), sensitivity * NANO)
        _, cells, values = self.__noise.sparse(
            Lanes(self.__calls, nodes.ids),
            np.array([0, len(exact_cells)]),
            exact_cells,
            exact_counts,
            np.array([query.key.cells]),
            rate,
            at_least,
        )
        return NoisyCells(cells, values, int(cost[0]), sensitivity * NANO, at_least)

    def measure_patterns(self, nodes: Partitions, epsilon: Any, *, at_least: Ints, why: str) -> NoisyPatterns:
        """For each partition, noisy counts of all sets of children of its next node, empty ones included; those from
        `at_least` on (one a partition) are given.

        Claim 29. epsilon-DP in each partition's records: every record touches exactly one set of children, so the
        counts have sensitivity 1 a record; small values are withheld by a public rule, and empty sets are drawn without
        listing them (Claims 14, 17), numbered by Claim 26. The order of the answer is that of the numbers.
        """
        nodes, positions, sets, cost = self.__ask_sets(nodes, epsilon)
        if not is_ints(at_least, len(nodes)) or (at_least < 1).any() or (at_least > 2**61).any():
            raise ParameterError("the threshold of counts is a whole number of at least 1 for each partition")
        fan, room, total = nodes.fan, nodes.room, nodes.patterns
        sensitivity = self.__unit.max_records
        rate = Rate(cost, sensitivity * NANO)
        if float((total * np.exp(-rate.floats() * at_least)).sum()) > MOST_SPURIOUS:
            raise ParameterError("the thresholds let too many empty sets pass; raise them or lower the fan-out")
        self.__charge(nodes, cost, why, "measure", sensitivity)
        exact_starts, exact_masks, exact_counts = sets.touched(positions)
        owner = np.repeat(np.arange(len(nodes)), np.diff(exact_starts))
        exact_cells = rank(exact_masks, fan[owner], room[owner])
        order = np.lexsort((exact_cells, owner))
        starts, cells, values = self.__noise.sparse(
            Lanes(self.__calls, nodes.ids),
            exact_starts,
            exact_cells[order],
            exact_counts[order],
            total,
            rate,
            at_least,
        )
        rows = np.repeat(np.arange(len(nodes)), np.diff(starts))
        mask = unrank(cells, fan[rows], room[rows])
        return NoisyPatterns(rows, mask, values, cost, sensitivity * NANO)

    def choose_bound(self, root: Frontier, bounds: Bounds, epsilon: Any, *, why: str) -> int:
        """One of the bounds on degrees, by the edges that projection keeps under each.

        Claim 38. epsilon-DP for one node: permute-and-flip on scores of the range of Claim 37 (Claim 1).
        """
        _require_trusted(bounds, (Bounds,))
        nodes, _, graph, cost = self.__ask_graph(root, epsilon)
        if not bounds.fits(graph.domain) or self.__unit.kind not in ("node", "node-isolate"):
            raise ParameterError("the bounds do not fit, or have no proof for this unit")
        self.__charge(nodes, cost, why, "choose", bounds.range)
        exact_scores = np.array(bounds.scores([graph.kept(theta) for theta in bounds.thetas]), dtype=np.int64)
        starts = np.array([0, len(exact_scores)])
        rate = Rate(int(cost[0]), bounds.range * NANO)
        chosen = self.__noise.select(Lanes(self.__calls, nodes.ids), exact_scores, starts, rate)
        return bounds.thetas[int(chosen[0])]

    def project(self, root: Frontier, theta: int) -> Frontier:
        """From here on the graph is a table with one attribute, the projected degree 0 .. theta of every node.

        Claim 39. One node changes that table by at most 2 theta + 1 insertions and deletions of records, 2 theta + 2
        if the node stays and loses its edges: it comes or moves, and at most theta others move (cantle.projection).
        If nodes without edges are not listed, only degrees from 1 on are in it, and 2 theta + 1 still bounds the
        changes. So with that many records as the unit every question is as private for a node as its price says
        (group privacy). Public: nothing is learnt.
        """
        nodes, _, graph, _ = self.__ask_graph(root, 1)
        if type(theta) is not int or not graph.can_project(theta) or self.__unit.kind not in ("node", "node-isolate"):
            raise ParameterError("the graph cannot be projected so, or there is no proof for this unit")
        kind = self.__unit.kind
        self.__unit = Unit(2 * theta + (2 if kind == "node-isolate" else 1), kind)
        self.__engine = graph.as_table(theta)
        graph.close()
        self.__frontier = self.__engine.root()
        return self.__frontier.take(np.arange(len(nodes))).copy()

    def test(self, nodes: Frontier, stop: PrivTree, *, why: str) -> Bools:
        """Whether each region is worth splitting: yes or no, at a price that stops growing (Claim 12).

        All tests of a run share one threshold, decay and price, and a "no" ends the tests of its path.
        """
        _require_trusted(stop, (PrivTree,))
        nodes, positions, engine, _ = self.__ask_table(nodes, stop.epsilon_nano)
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

    def coin(self, nodes: Frontier | Partitions, sides: Ints) -> Ints:
        """A fair public die a region, 0 to sides - 1; costs nothing, for it knows nothing of the records."""
        # Faces obey the rule of prices: whole and positive, one for all or one each.
        nodes, _, _, faces = self.__ask(nodes, sides)
        self.__calls += 1
        return self.__noise.coin(Lanes(self.__calls, nodes.ids), faces)

    def split(self, nodes: Regions, rule: Cuts | Kept) -> Regions:
        """The children of these regions; all other open regions are closed, their records dropped.

        Public: records follow a public rule and nothing is learnt.
        """
        _require_trusted(rule, (Cuts, Kept))
        ours, positions, engine, _ = self.__ask(nodes, 1)
        if engine.kind == "graphs" or type(rule) is not RULES[type(ours)] or not rule.fits(ours):
            raise ParameterError("one cut a region, strictly inside it; of partitions, distinct parts in order")
        times = rule.times(ours)
        ids = self.__budget.inherit(ours.ids, times)
        engine.split(positions, rule)
        self.__tests = np.repeat(self.__tests[positions], times)
        self.__ended = np.repeat(self.__ended[positions], times)
        self.__frontier = rule.children(ours, int(ids[0]) if len(ids) else 0)
        return self.__frontier.copy()  # ours must stay as it is, whatever the method does with its own

    def seal(self) -> dict[str, Any]:
        """Forgets records and dice and gives the receipt; whatever follows is post-processing."""
        if self.__engine is None:
            raise Sealed("the curator is sealed already")
        self.__forget()
        return self.__budget.receipt()

    # ---- inside -------------------------------------------------------------------------------------------

    def __ask(self, nodes: Any, epsilon: Any) -> tuple[Any, Ints, Any, Ints]:
        """The regions asked about as we know them, their positions in the engine, the engine, and their prices.

        Of what the method hands over only the numbers of the regions count. What is given here stays inside.
        """
        _require_trusted(nodes, (type(self.__frontier),))
        ids = nodes.ids
        cost = prices(epsilon, np.size(ids))
        if self.__engine is None:
            raise Sealed("the curator is sealed; nothing can be asked of the records any more")
        self.__budget.require_open(ids)
        positions = np.searchsorted(self.__frontier.ids, ids)
        # Open regions are those of the frontier and are listed once: as many are all of them.
        ours = self.__frontier if len(ids) == len(self.__frontier) else self.__frontier.take(positions)
        return ours, positions, self.__engine, cost

    def __ask_table(self, nodes: Frontier, epsilon: Any) -> tuple[Frontier, Ints, TableEngine, Ints]:
        """The same for a question that only a table can answer."""
        asked = self.__ask(nodes, epsilon)
        _require_kind(asked[2], "tables")
        return asked

    def __ask_everyone(self, root: Frontier, epsilon: Any) -> tuple[Frontier, TableEngine, Ints]:
        """The same for a question that engines answer from all records they hold, whatever the region.

        A region below the root pays for its own records alone, and its sibling would pay again for the same ones.
        """
        nodes, _, engine, cost = self.__ask_table(root, epsilon)
        if len(nodes) != 1 or nodes.depth:
            raise ParameterError("a grid is counted over all records: ask about the root, before the first split")
        return nodes, engine, cost

    def __ask_sets(self, nodes: Partitions, epsilon: Any) -> tuple[Partitions, Ints, SetsEngine, Ints]:
        """The same for a question that only set-valued data can answer."""
        asked = self.__ask(nodes, epsilon)
        _require_kind(asked[2], "sets")
        return asked

    def __ask_graph(self, root: Frontier, epsilon: Any) -> tuple[Frontier, Ints, GraphsEngine, Ints]:
        """The same for a question that only a graph can answer."""
        asked = self.__ask(root, epsilon)
        _require_kind(asked[2], "graphs")
        if len(asked[0]) != 1:
            raise ParameterError("a graph is asked as a whole")
        return asked

    def __charge(self, nodes: Frontier | Partitions, cost: Ints, why: str, verb: str, sensitivity: int) -> None:
        """Charges a question and gives it a number."""
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
    """What sees exact counts must have its proof beside it: no look-alikes, no subclasses."""
    if type(thing) not in kinds:
        raise ParameterError(f"{type(thing).__name__} has no proof in the trusted base; add it there with its claim")


def _require_kind(engine: Engine, kind: str) -> None:
    if engine.kind != kind:
        raise ParameterError(f"this question is for {kind}")

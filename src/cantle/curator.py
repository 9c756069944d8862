"""The curator: the only place where records, budget and dice meet. Trusted.

A method holds a curator and nothing else. Every question follows one order: charge the regions it is asked about,
then look, then give away only the noisy answer. Exact counts (`exact_...`) live inside one call.

Each question has a number, and every random draw is addressed by (question, region, cell), so that neither the
order of records nor the size of chunks nor the engine can change a seeded run.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any

import numpy as np

from cantle.answers import Noisy, NoisyCells, Pick
from cantle.budget import NANO, Budget, Unit, prices
from cantle.candidates import TRUSTED_CANDIDATES, Candidates
from cantle.engines.base import Engine
from cantle.errors import ParameterError, Sealed
from cantle.noise import Lanes, Noise, Rate
from cantle.privtree import MOST_TESTS, PrivTree
from cantle.quality import TRUSTED_QUALITIES, Quality
from cantle.queries import TRUSTED_QUERIES, Cells, Query
from cantle.regions import Bools, Cuts, Frontier, Ints
from cantle.specialise import TRUSTED_SCORED, Scored
from cantle.tally import TRUSTED_KEYS, Sizes


class Curator:
    """Holds the records, the budget and the dice; answers in noise."""

    __slots__ = ("__budget", "__calls", "__ended", "__engine", "__frontier", "__noise", "__stop", "__tests")

    def __init__(self, engine: Engine, budget: Budget, noise: Noise) -> None:
        self.__engine: Engine | None = engine
        self.__budget, self.__noise = budget, noise
        self.__frontier = Frontier.root(engine.sizes)
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

    def root(self) -> Frontier:
        """The whole domain as one region; only before the first split."""
        if self.__frontier.depth:
            raise ParameterError("the root was already split")
        return self.__frontier.copy()

    @property
    def unit(self) -> Unit:
        """Whom the promise protects."""
        return self.__budget.unit

    def left(self, nodes: Frontier) -> Ints:
        """What each region can still spend, in nano-units of epsilon."""
        _require_trusted(nodes, (Frontier,))
        return self.__budget.left(nodes.ids)

    def path(self, nodes: Frontier) -> Ints:
        """Each region's kind of path in the receipt."""
        _require_trusted(nodes, (Frontier,))
        return self.__budget.path(nodes.ids)

    # ---- questions ----------------------------------------------------------------------------------------

    def choose(self, nodes: Frontier, candidates: Candidates, quality: Quality, epsilon: Any, *, why: str) -> Cuts:
        """One noisy choice a region among its public candidates.

        Claim 13. epsilon-DP in each region's records: the weights are exp(epsilon * score / (range * k)) for a unit
        of k records, by the range lemma (Claim 1), candidates and weights being public.
        """
        _require_trusted(quality, TRUSTED_QUALITIES)
        _require_trusted(candidates, TRUSTED_CANDIDATES)
        nodes, positions, engine, cost = self.__ask(nodes, epsilon)
        if not candidates.fits(nodes, (engine.sizes, engine.classes)):
            raise ParameterError("the candidates are not those of these regions")
        counts = candidates.counts(nodes)
        if (counts < 1).any():
            raise ParameterError("a region without candidates cannot be split")
        rho = quality.range * self.__budget.unit.max_records
        self.__charge(nodes, cost, why, "choose", rho)
        choice = np.empty(len(nodes), dtype=np.int64)
        for first, last, exact_counts in engine.tally(positions, candidates.key):
            exact_scores = quality.scores(candidates.sides(nodes, first, exact_counts))
            part = nodes.take(slice(first, last))
            choice[first:last] = self.__noise.select(
                Lanes(self.__calls, part.ids),
                exact_scores,
                np.concatenate([[0], np.cumsum(counts[first:last])]),
                Rate(cost[first:last], rho * NANO),
                candidates.inverse_weights(part),
            )
        return candidates.cuts(nodes, choice)

    def measure(self, nodes: Frontier, query: Query, epsilon: Any, *, why: str) -> Noisy:
        """Noisy counts of every region.

        Claim 14. epsilon-DP in each region's records: discrete Laplace noise of rate epsilon / sensitivity on an
        integer vector of that L1 sensitivity: P[Z = z] / P[Z = z'] <= e^(rate |z - z'|).
        """
        _require_trusted(query, TRUSTED_QUERIES)
        nodes, positions, engine, cost = self.__ask(nodes, epsilon)
        key = query.key
        _require_trusted(key, TRUSTED_KEYS)
        if not key.fits(nodes, (engine.sizes, engine.classes)):
            raise ParameterError("the query does not fit these regions")
        sensitivity = query.sensitivity(self.__budget.unit)
        self.__charge(nodes, cost, why, "measure", sensitivity)
        cells = key.cells
        value = np.empty((len(nodes), cells), dtype=np.int64)
        for first, last, exact_counts in engine.tally(positions, key):
            lanes = Lanes(
                self.__calls, np.repeat(nodes.ids[first:last], cells), np.tile(np.arange(cells), last - first)
            )
            rate = Rate(np.repeat(cost[first:last], cells), sensitivity * NANO)
            noisy = self.__noise.laplace(lanes, exact_counts.reshape(-1), rate)
            value[first:last] = noisy.reshape(last - first, cells)
        return Noisy(value, cost, sensitivity * NANO)

    def specialise(self, root: Frontier, candidates: Scored, quality: Quality, epsilon: Any, *, why: str) -> list[Pick]:
        """One noisy choice a selection among the candidates of a grid: which value, and at which point.

        Claim 24. epsilon-DP in the region's records: for each selection as in Claim 13, the runs standing for all their
        points (see specialise.py); several selections in one question look at disjoint records (Claim 21).
        """
        _require_trusted(quality, TRUSTED_QUALITIES)
        _require_trusted(candidates, TRUSTED_SCORED)
        nodes, _, engine, cost = self.__ask(root, epsilon)
        if len(nodes) != 1 or not candidates.fits((engine.sizes, engine.classes), quality):
            raise ParameterError("the candidates are not those of this domain, or this score has no proof for them")
        rho = quality.range * self.__budget.unit.max_records
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
        without listing empty cells (Claim 17). The order of the answer is that of the cells.
        """
        _require_trusted(query, (Cells,))
        nodes, _, engine, cost = self.__ask(root, epsilon)
        if len(nodes) != 1 or not query.key.fits((engine.sizes, engine.classes)):
            raise ParameterError("the grid is not one of this domain")
        if type(at_least) is not int or not 1 <= at_least <= 2**61:
            raise ParameterError("the threshold of cell counts is a whole number of at least 1")
        sensitivity = query.sensitivity(self.__budget.unit)
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

    def test(self, nodes: Frontier, stop: PrivTree, *, why: str) -> Bools:
        """Whether each region is worth splitting: yes or no, at a price that stops growing (Claim 12).

        All tests of a run share one threshold, decay and price, and a "no" ends the tests of its path.
        """
        _require_trusted(stop, (PrivTree,))
        nodes, positions, engine, _ = self.__ask(nodes, stop.epsilon_nano)
        if self.__stop not in (None, stop):
            raise ParameterError("all stop tests of a run share one threshold, decay and price")
        if self.__ended[positions].any() or (self.__tests[positions] >= MOST_TESTS).any():
            raise ParameterError("a region whose path was told to stop or tested too often cannot be tested again")
        records = self.__budget.unit.max_records
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

    def coin(self, nodes: Frontier, sides: Ints) -> Ints:
        """A fair public die a region, 0 to sides - 1; costs nothing, for it knows nothing of the records."""
        # Faces obey the rule of prices: whole and positive, one for all or one each.
        nodes, _, _, faces = self.__ask(nodes, sides)
        self.__calls += 1
        return self.__noise.coin(Lanes(self.__calls, nodes.ids), faces)

    def split(self, nodes: Frontier, cuts: Cuts) -> Frontier:
        """The children of these regions; all other open regions are closed, their records dropped.

        Public: records follow a public rule and nothing is learnt.
        """
        _require_trusted(cuts, (Cuts,))
        nodes, positions, engine, _ = self.__ask(nodes, 1)
        if not cuts.fits(nodes):
            raise ParameterError("one cut a region, strictly inside it")
        ids = self.__budget.inherit(nodes.ids)
        engine.split(positions, cuts)
        self.__tests, self.__ended = np.repeat(self.__tests[positions], 2), np.repeat(self.__ended[positions], 2)
        self.__frontier = cuts.children(nodes, int(ids[0]) if len(ids) else 0)
        return self.__frontier.copy()  # ours must stay as it is, whatever the method does with its own

    def seal(self) -> dict[str, Any]:
        """Forgets records and dice and gives the receipt; whatever follows is post-processing."""
        if self.__engine is None:
            raise Sealed("the curator is sealed already")
        self.__forget()
        return self.__budget.receipt()

    # ---- inside -------------------------------------------------------------------------------------------

    def __ask(self, nodes: Frontier, epsilon: Any) -> tuple[Frontier, Ints, Engine, Ints]:
        """Our own copy of the regions asked about, their positions in the engine, the engine, and their prices.

        Of what the method hands over only the numbers of the regions count.
        """
        _require_trusted(nodes, (Frontier,))
        ids = nodes.ids
        cost = prices(epsilon, np.size(ids))
        if self.__engine is None:
            raise Sealed("the curator is sealed; nothing can be asked of the records any more")
        self.__budget.require_open(ids)
        positions = np.searchsorted(self.__frontier.ids, ids)
        return self.__frontier.take(positions), positions, self.__engine, cost

    def __charge(self, nodes: Frontier, cost: Ints, why: str, verb: str, sensitivity: int) -> None:
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

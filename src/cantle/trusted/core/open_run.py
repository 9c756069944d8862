"""An open run: the state that a curator holds until it is sealed, and how charges and splits change it.

Records (an engine), budget, noise and the open regions with their stop tests belong together: a charge is about open
regions, and a split closes these and opens their children. Only the curator (curator.py) holds an open run and answers
questions; nothing here does.
"""

from __future__ import annotations

from typing import TypeVar, cast

import numpy as np

from cantle.errors import ParameterError, Sealed
from cantle.trusted.claims.degree_queries import Projection
from cantle.trusted.core import admission
from cantle.trusted.core.budget import Budget, Price, prices
from cantle.trusted.core.draws import Draws
from cantle.trusted.core.private import Private
from cantle.trusted.core.stop_test import TestedPaths
from cantle.trusted.counting.base import Engine, Rule, SplitEngine
from cantle.trusted.geometry.boxes import Frontier, Ints
from cantle.trusted.geometry.item_partitions import Partitions
from cantle.trusted.noise import Noise

Nodes = TypeVar("Nodes", bound=Frontier | Partitions)


class OpenRun(Private):
    """Records, budget, noise source and open regions. `unit` is the unit that questions are charged for; `reserved` is
    the price of the question that was paid in advance: None if there is none, 0 once it was answered."""

    __slots__ = ("budget", "draws", "engine", "frontier", "reserved", "tested", "unit")

    def __init__(self, engine: Engine, budget: Budget, noise: Noise) -> None:
        self.engine: Engine | None = engine
        self.budget, self.unit = budget, budget.unit
        self.draws, self.tested = Draws(noise), TestedPaths()
        self.frontier: Frontier | Partitions = engine.root()
        self.reserved: int | None = None

    def records(self) -> Engine:
        """The engine, unless the run is sealed."""
        if self.engine is None:
            raise Sealed("the curator is sealed; nothing can be asked of the records any more")
        return self.engine

    def ask(self, nodes: Nodes, epsilon: Price) -> tuple[Nodes, Ints, Engine, Ints]:
        """Our own copy of the regions, their positions in the engine, the engine, and their prices.

        Of what the method passes, only the numbers of the regions are used. The result must not leave the curator.
        """
        admission.require_trusted(nodes, (type(self.frontier),))
        ids = nodes.ids
        cost = prices(epsilon, np.size(ids))
        engine = self.records()
        self.budget.require_open(ids)
        positions = np.searchsorted(self.frontier.ids, ids)
        # The open regions are those of the frontier, each listed once. So if as many are asked about, these are all of
        # them.
        ours = self.frontier if len(ids) == len(self.frontier) else self.frontier.take(positions)
        return cast(Nodes, ours), positions, engine, cost

    def charge(self, nodes: Frontier | Partitions, cost: Ints, why: str, verb: str, sensitivity: int) -> None:
        """Charges a question and gives it a number."""
        if type(why) is not str:
            raise ParameterError("every charge says in words what it is for")
        self.budget.charge(nodes.ids, cost, why=why, verb=verb, sensitivity=sensitivity, depth=nodes.depth)
        self.draws.number += 1

    def split(self, nodes: Nodes, positions: Ints, engine: Engine, rule: Rule[Nodes]) -> Nodes:
        """Moves on to the children of these regions, given by `ask`; all others are closed."""
        times = rule.times(nodes)
        ids = self.budget.inherit(nodes.ids, times)
        cast(SplitEngine, engine).split(positions, rule)
        self.tested.split(positions, times)
        children = rule.children(nodes, int(ids[0]) if len(ids) else 0)
        self.frontier = children
        return children

    def replace_records(self, engine: Engine, rule: Projection) -> Frontier | Partitions:
        """Replaces the root's records by what the rule makes of them, and the unit by theirs (Claim 39)."""
        self.unit = rule.unit(self.unit)
        replaced = rule.apply(engine)
        self.engine, self.frontier = replaced, replaced.root()
        return self.frontier

    def forget(self) -> None:
        """Discards records and noise source; no question or charge is possible any more, even if closing fails."""
        engine, self.engine = self.engine, None
        if engine is not None:
            self.budget.close()
            del self.draws
            engine.close()

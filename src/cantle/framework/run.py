"""Runs of recursive partitioning, one level at a time (RPS 3.1, Algorithm 1): ours, and those of users' classes."""

from __future__ import annotations

import copy
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from importlib.metadata import packages_distributions, version
from typing import Any, ClassVar, TypeVar

import numpy as np

from cantle.drawing.counts import Dice
from cantle.drawing.group_frames import spans_frame
from cantle.drawing.records import Results
from cantle.drawing.tree import Tree
from cantle.errors import BudgetExceeded, CantleError, ParameterError
from cantle.framework.ask import Ask
from cantle.framework.partitioning import Partitioning
from cantle.framework.regions import Cut, Regions
from cantle.methods.base import TableMethod
from cantle.methods.own_accuracy import OwnAccuracy
from cantle.methods.rps.one_ways import cell_edges
from cantle.methods.rps.results import Drawing, possible_in, tree_results
from cantle.methods.settings import Echo
from cantle.schema.canonical_json import JSON
from cantle.schema.domain import Domain
from cantle.trusted.core.answers import Noisy
from cantle.trusted.core.arrays import Bools, Ints
from cantle.trusted.core.curator import Curator
from cantle.trusted.geometry.boxes import BOX_RULES, cut_counts

MOST_LEVELS, MOST_REGIONS, MOST_REHEARSED = 200, 1 << 23, 1 << 20
"""A partitioning that goes on beyond these levels, or regions of a level in a run or a rehearsal, is stopped."""

Answer = TypeVar("Answer")


class TreeRun(TableMethod, ABC):
    """A run that grows a tree: its domain, and the noisy answers so far. All of these are public."""

    depth = 0
    """The planned depth, if there is one."""

    sets: tuple[bool, ...] = ()
    """For each attribute whether regions can be any set of its values; empty if none can."""

    def __init__(self, domain: Domain, share: Fraction) -> None:
        self.domain = domain
        self.own_accuracy = OwnAccuracy(share, domain=domain)
        self.tree = Tree(len(self.sizes), self.classes)
        self.cells: list[Ints] = []
        """The edges of the cells of the one-way tables, as codes."""
        self.oneways: Noisy | None = None

    def run(self, curator: Curator) -> None:
        """Asks all questions, level by level (RPS 3.1, Algorithm 1); noisy answers are kept in the tree."""
        ask = Ask(curator, self)
        regions = ask.root()
        self.begin(regions, ask)
        ask.decide()
        while len(regions):
            # The level and the number of regions follow from noisy answers, so they are public.
            logging.getLogger("cantle").info("level %d: %d regions", regions.depth, len(regions))
            self.tree.add_level(regions.nodes)
            leaf = self.closed(regions)
            if not leaf.all():
                leaf[~leaf] = self.stop(regions.take(~leaf) if leaf.any() else regions, ask)
            if leaf.any():
                self.summarize(regions.take(leaf), ask)
            rest = regions.take(~leaf)
            if not len(rest):
                return
            cut = self.partition(rest, ask)
            self.tree.note_cuts(rest.nodes, cut.rule)
            regions = ask.split(Cut(rest, cut.rule))

    # ---- the three sub-routines of RPS 3.1, and the questions before them ---------------------------------

    @abstractmethod
    def begin(self, regions: Regions, ask: Ask) -> None: ...

    @abstractmethod
    def stop(self, regions: Regions, ask: Ask) -> Bools: ...

    @abstractmethod
    def partition(self, regions: Regions, ask: Ask) -> Cut: ...

    @abstractmethod
    def summarize(self, regions: Regions, ask: Ask) -> None: ...

    def cells_of(self, expected: float | None) -> list[Ints]:
        """The cells of one-way tables for so many records, in noise scales."""
        return [cell_edges(attribute, expected) for attribute in self.domain.attributes]

    def closed(self, regions: Regions) -> Bools:
        """Regions that are leaves in any case: those that cannot be cut, and those that rules of the schema forbid,
        which are known to be empty."""
        nodes = regions.nodes
        leaf: Bools = cut_counts(nodes).sum(axis=1) == 0
        if self.domain.rules is not None:
            leaf |= ~possible_in(self.domain, self.domain.rules, nodes.lo, nodes.hi, glance=True).any(axis=1)
        return leaf

    def admit_sizes(self, regions: Regions) -> None:
        """Refuses a question about the sizes of regions, if their noisy numbers could not be kept."""

    @property
    def tables(self) -> tuple[list[Ints], Noisy] | None:
        """The cells of the one-way tables and their noisy counts, if they were asked for."""
        return None if self.oneways is None else (self.cells, self.oneways)


class PartitioningRun(TreeRun):
    """One run of somebody's partitioning: it calls the verbs of a copy of theirs, and checks what they return."""

    Settings: ClassVar[type] = Partitioning

    def __init__(self, plan: Partitioning, domain: Domain, *, rehearsal: bool = False) -> None:
        super().__init__(domain.coarsen(plan.bins), plan.accuracy_share)
        self.rehearsal = rehearsal
        self.plan, self.given = copy.copy(plan), plan
        self.name = plan.name  # each object of this class stands for another method
        self._as_declared = domain
        self._asked = np.zeros(0, dtype=np.int64)

    @classmethod
    def of(cls, schema: Any, plan: Partitioning) -> PartitioningRun:
        """The run for the domain that a schema declares."""
        return cls(plan, cls.declared(schema))

    @cached_property
    def author(self) -> dict[str, Any]:
        """Whose class it is, for the manifest: its address, the package that it came with, and what it says it does."""
        mine = type(self.plan)
        packages = packages_distributions().get(mine.__module__.partition(".")[0], [])
        about = (mine.__doc__ or "").strip().partition("\n")[0]
        stated = {"class": f"{mine.__module__}:{mine.__qualname__}", "about": about}
        return stated | ({"package": f"{packages[0]} {version(packages[0])}"} if packages else {})

    def parameters(self) -> Echo:
        return self.given.parameters()

    def refuse_budget(self, epsilon_nano: int, max_records: int) -> None:
        """Runs the partitioning on made-up records, before anything is charged, so that its errors cost nothing."""
        from cantle.framework.rehearsal import rehearse

        super().refuse_budget(epsilon_nano, max_records)
        rehearse(self, epsilon_nano, max_records)

    def again(self) -> PartitioningRun:
        """The same run from the start, to be rehearsed."""
        return PartitioningRun(self.given, self._as_declared, rehearsal=True)

    def run(self, curator: Curator) -> None:
        """Asks all questions. What is refused outside of the author's verbs is about cuts, so `partition` is named."""
        self._call("partition", super().run, curator)

    def results(self, generator: Dice) -> Results:
        """Records and groups from the noisy tree, and what readers need of them."""
        values = "uniform" if self.oneways is None else "fitted"
        frame, depth = spans_frame(self.domain, self.tree), self.tree.levels[-1].depth
        made = tree_results(self.domain, self.tree, frame, self.tables, Drawing(values), depth, generator)
        read: dict[str, JSON] = {
            "name": "tree",
            "version": 1,
            "bins": self.plan.bins,
            "order_seed": None,
            "values": values,
        }
        return replace(made, structure=read)

    def admit_sizes(self, regions: Regions) -> None:
        if np.isin(regions.nodes.ids, self._asked).any():
            raise ParameterError("the sizes of a region can be asked once; keep the answer")
        self._asked = np.concatenate([self._asked, regions.nodes.ids])

    # ---- the verbs of the author --------------------------------------------------------------------------

    def begin(self, regions: Regions, ask: Ask) -> None:
        self._call("begin", self.plan.begin, regions, ask)

    def stop(self, regions: Regions, ask: Ask) -> Bools:
        if regions.depth >= MOST_LEVELS or len(regions) > (MOST_REHEARSED if self.rehearsal else MOST_REGIONS):
            raise ParameterError(
                f"{self._class}.stop does not come to an end: {len(regions):,} regions at level {regions.depth}"
            )
        answer = self._call("stop", self.plan.stop, regions, ask)
        if isinstance(answer, bool | np.bool_):
            return np.full(len(regions), bool(answer))
        if type(answer) is not np.ndarray or answer.dtype != np.bool_ or answer.shape != (len(regions),):
            raise ParameterError(
                f"{self._class}.stop must return True, False, or an array of {len(regions)} of these, one per region"
            )
        return answer

    def partition(self, regions: Regions, ask: Ask) -> Cut:
        cut = self._call("partition", self.plan.partition, regions, ask)
        ours = type(cut) is Cut and type(cut.rule) in BOX_RULES and type(cut.regions) is Regions
        same = ours and np.array_equal(cut.regions.nodes.ids, regions.nodes.ids)
        if not same or not cut.rule.fits(regions.nodes):
            raise ParameterError(
                f"{self._class}.partition must return one cut for each of its {len(regions)} regions, as "
                "regions.halve, cut, slices, children, ask.choose and join make them"
            )
        return Cut(regions, cut.rule)

    def summarize(self, regions: Regions, ask: Ask) -> None:
        done = len(self.tree.leaves)
        self._call("summarize", self.plan.summarize, regions, ask)
        noted = [nodes.ids for nodes, _, _ in self.tree.leaves[done:]]
        if len(noted) != 1 or not np.array_equal(noted[0], regions.nodes.ids):
            raise ParameterError(f"{self._class}.summarize must count all of its leaves once: ask.counts(leaves)")

    @property
    def _class(self) -> str:
        return type(self.plan).__name__

    def _call(self, verb: str, author: Callable[..., Answer], *given: object) -> Answer:
        """Calls a verb of the author's class; errors name the class and the verb."""
        try:
            return author(*given)
        except Exception as error:
            if str(error).startswith(f"{self._class}."):
                raise  # it is ours already
            told = f": {error}" if isinstance(error, CantleError) else f" failed with {type(error).__name__}: {error}"
            kind = BudgetExceeded if isinstance(error, BudgetExceeded) else ParameterError
            ours = kind(f"{self._class}.{verb}{told}")
            ours.__cause__ = error if self.rehearsal else None  # of made-up records authors may see the whole traceback
        raise ours

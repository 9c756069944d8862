"""RPS for tables: cuts the domain into balanced regions with noisy choices and counts the leaves (Qardaji & Li 2012).

Preset `paper` has the settings of section 4.2. Preset `default` is ours: a shallow tree over all attributes at once, no
stop tests, and a share of the budget for one-way tables, to which the values inside a region are fitted.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import ClassVar

import numpy as np

from cantle.drawing.counts import Dice
from cantle.drawing.results import Results
from cantle.drawing.tree import Tree
from cantle.errors import ParameterError, SchemaError
from cantle.methods.base import TableMethod, grow
from cantle.methods.own_accuracy import OwnAccuracy
from cantle.methods.rps.one_ways import cell_edges
from cantle.methods.rps.results import possible_in, tree_results
from cantle.methods.rps.settings import LITERAL, ONE_ATTRIBUTE, PRESETS, RpsSettings
from cantle.methods.settings import portion, read_settings, refuse_literal
from cantle.schema.domain import Domain
from cantle.trusted.claims.cut_candidates import AllCuts, CutsOf
from cantle.trusted.claims.queries import Histogram, Marginals, Size
from cantle.trusted.claims.scores import BALANCE, CLASS_AWARE, Mix
from cantle.trusted.core.answers import Noisy
from cantle.trusted.core.budget import NANO, Unit
from cantle.trusted.core.curator import Curator
from cantle.trusted.core.keys import OneWays
from cantle.trusted.core.stop_test import PrivTree
from cantle.trusted.geometry.boxes import Bools, Cuts, Frontier, Ints, cut_counts

KAPPA = 10
"""The number of records that an average leaf should hold, in noise scales; it determines the depth if none is given."""

DEEPEST = 24
"""The largest automatic depth, with 2^24 leaves."""


class RPS(TableMethod):
    """One run: settings, the plan made from them, and the tree as it grows. All of these are public."""

    name: ClassVar[str] = "rps"
    Settings: ClassVar[type] = RpsSettings

    def __init__(self, domain: Domain, *, preset: str = "default", **given: object) -> None:
        presets = dict(PRESETS)
        if len(domain.attributes) == 1:
            presets["default"] = {**presets["default"], **ONE_ATTRIBUTE}
        if _names_a_paid_test(given.get("stop")):
            presets["default"] = {**presets["default"], "stop_share": presets["paper"]["stop_share"]}
        if given.get("values") == "set":  # these records have no values to count
            presets["default"] = {**presets["default"], "accuracy_share": 0}
        if given.get("literal") is True:
            presets["paper"] = {**presets["paper"], **LITERAL}
        self.settings = read_settings(RpsSettings, "rps", presets, preset, given)
        self.preset = preset
        self._check()
        refuse_literal("rps", preset, given)
        if self.settings.literal:
            self._refuse_bins(domain)
        if domain.relations is not None and self.settings.values == "set":
            rule = "values=set releases regions, and rules between columns are about single values"
            raise SchemaError(f"rules: {rule}; choose other `values` (or preset default), or leave these rules out.")
        domain = domain.coarsen(self.settings.bins)
        if self.settings.order == "random":
            domain = domain.with_orders(self.settings.order_seed)
        self.domain = domain
        self.own_accuracy = OwnAccuracy(self.settings.accuracy_share, domain=domain)
        self.tree = Tree(len(self.sizes), self.classes)
        self.cells: list[Ints] = []
        """The edges of the cells of the one-way tables, as codes."""
        self.oneways: Noisy | None = None
        self.depth = 0

    def _check(self) -> None:
        """Refuses combinations that cannot work, before any data is opened."""
        s = self.settings
        if s.records is None and not s.count_share:
            for name, value in (("depth", s.depth is None), ("summary", s.summary == "depth")):
                if value:
                    raise ParameterError(
                        f"rps parameter {name}={getattr(s, name) or 'auto'} needs the number of records: "
                        "declare it (records=N) or pay for it (count_share=0.01)"
                    )
        if s.stop.paid and not s.stop_share:
            raise ParameterError(f"rps parameter stop={s.stop} needs a share of the budget: set stop_share")
        if s.values == "fitted" and not s.oneway_share:
            raise ParameterError(
                "rps parameter values=fitted needs one-way tables: set oneway_share, or values=uniform"
            )
        if s.values == "set" and s.accuracy_share:
            raise ParameterError("rps parameter values=set gives no values to measure; set accuracy_share=0")
        if s.oneway_share + s.count_share + s.accuracy_share >= 1:
            raise ParameterError(
                "rps parameters oneway_share, count_share and accuracy_share leave nothing for the tree; lower one"
            )

    def _refuse_bins(self, domain: Domain) -> None:
        """Refuses bins where every value is to be a candidate (RPS 3.2: all multiples of the granularity)."""
        most = self.settings.bins
        if most != LITERAL["bins"]:
            raise ParameterError("rps parameter bins goes against literal=true, which has no bins; leave it out")
        for attribute in domain.attributes:
            if attribute.size > most:
                raise ParameterError(
                    f"rps parameter literal has no bins, and column {attribute.name!r} has {attribute.size:,} values, "
                    f"more than {most:,}; declare a wider step, or leave literal out"
                )

    def refuse_budget(self, epsilon_nano: int, max_records: int) -> None:
        """Refuses an epsilon so small that records cannot be drawn, or that some question would get nothing."""
        super().refuse_budget(epsilon_nano, max_records)
        self.refuse_shares(epsilon_nano, Unit(max_records))

    def refuse_shares(self, epsilon_nano: int, unit: Unit) -> None:
        """Refuses an epsilon so small that some question would get nothing, whatever the noisy number of records is."""
        s = self.settings
        rest = epsilon_nano - self.own_accuracy.at_most(epsilon_nano)
        asked = {
            "count_share": s.count_share if s.records is None else Fraction(0),
            "oneway_share": s.oneway_share if self.sizes else Fraction(0),
        }
        for name, part in asked.items():
            if part and not portion(epsilon_nano, part):
                raise ParameterError(f"rps parameter {name}: epsilon is too small for a share of {part}; raise either")
            rest -= portion(epsilon_nano, part)
        self._plan(rest, None, unit)
        if rest < 1 or not (self._free_leaves() or portion(rest, self._leaf_share())):
            raise ParameterError("rps: epsilon is too small, nothing is left for the leaves; raise epsilon")

    def run(self, curator: Curator) -> None:
        """Asks all questions, level by level."""
        grow(self, curator)

    def results(self, generator: Dice) -> Results:
        """Records and groups from the noisy tree."""
        oneways = None if self.oneways is None else (self.cells, self.oneways)
        return tree_results(self.domain, self.tree, oneways, self.settings, self.depth, generator)

    # ---- budget -------------------------------------------------------------------------------------------

    def begin(self, root: Frontier, curator: Curator) -> None:
        """Measures the number of records and one-way tables, then plans the depth and the price of every level."""
        s, total = self.settings, int(curator.left(root)[0])
        noisy_records = s.records
        if s.records is None and s.count_share:
            counted = curator.measure(root, Size(), portion(total, s.count_share), why="number of records")
            self.tree.note_sizes(root, counted)
            noisy_records = int(counted.value[0, 0])
        elif s.records is not None:
            self.tree.declare(s.records)
        self.own_accuracy.decide(curator, total, noisy_records)
        if s.oneway_share and self.sizes:
            self._measure_one_ways(root, curator, portion(total, s.oneway_share), noisy_records)
        self._plan(int(curator.left(root)[0]), noisy_records, curator.unit)

    def _measure_one_ways(self, root: Frontier, curator: Curator, price: int, noisy_records: int | None) -> None:
        """Measures one-way tables of all attributes; they are coarser if there are few records relative to the
        noise."""
        scale = NANO * len(self.sizes) * curator.unit.max_records / max(1, price)
        expected = None if noisy_records is None else max(0, noisy_records) / scale
        self.cells = [cell_edges(attribute, expected) for attribute in self.domain.attributes]
        tables = OneWays(tuple(range(len(self.sizes))), self.sizes, 1)
        first_codes = zip(tables.offsets.tolist(), self.cells, strict=False)
        starts = tuple(offset + code for offset, edges in first_codes for code in edges[:-1].tolist())
        self.oneways = curator.measure(root, Marginals(tables, starts), price, why="one-way tables")

    def _plan(self, rest: int, noisy_records: int | None, unit: Unit) -> None:
        """Sets depth and prices from public values: what is left, the settings, and the noisy or declared count."""
        s = self.settings
        leaf = 0 if self._free_leaves() else portion(rest, self._leaf_share())
        if s.depth is not None:
            self.depth = s.depth
        else:
            useful = max(1.0, (noisy_records or 0) * leaf / (NANO * KAPPA * unit.max_records))
            self.depth = min(DEEPEST, int(math.log2(useful)))
        trunk = rest - leaf
        tests = portion(trunk, s.stop_share) if self.settings.stop.paid else 0
        self.privtree: PrivTree | None = None
        if s.stop.privtree is not None:
            self.privtree = PrivTree.within(tests, s.stop.privtree, records=unit.max_records)
        self.split_prices = s.levels.spread(trunk - tests, self.depth)
        while not s.halves and self.depth and min(self.split_prices) < 1:
            if s.depth is not None:
                raise ParameterError(f"epsilon is too small for depth {self.depth}; lower the depth or raise epsilon")
            self.depth -= 1  # an automatic depth is lowered instead of refused, because the run is already charged
            self.split_prices = s.levels.spread(trunk - tests, self.depth)
        self.test_prices = s.levels.spread(tests, self.depth)

    def _leaf_share(self) -> Fraction:
        """The share of the tree's budget for leaves: all of it if neither cuts nor stop tests cost anything."""
        free = self.settings.halves and not self.settings.stop.paid
        return Fraction(1) if free else self.settings.leaf_share

    def _free_leaves(self) -> bool:
        """Whether leaves need no question: their sizes follow the N/2^d rule, and there is no class to release."""
        return self.settings.summary == "depth" and self.classes == 1

    # ---- the three sub-routines of RPS 3.1 ------------------------------------------------------------------

    def stop(self, nodes: Frontier, curator: Curator) -> Bools:
        """Which regions are leaves (RPS 3.2).

        These are regions at the last depth, those that cannot be cut, those that rules forbid, narrow ones, and those
        that a noisy test stops.
        """
        self.tree.add_level(nodes)
        leaf: Bools = cut_counts(nodes).sum(axis=1) == 0
        if nodes.depth >= self.depth:
            return np.ones(len(nodes), dtype=np.bool_)
        if self.domain.rules is not None:  # forbidden regions are known to be empty: they are neither tested nor cut
            leaf |= ~possible_in(self.domain, self.domain.rules, nodes.lo, nodes.hi, glance=True).any(axis=1)
        if self.settings.stop.narrow is not None:
            # Deviation: the width is that of the region. That of its records would be an infinite privacy loss.
            leaf |= (nodes.hi - nodes.lo).max(axis=1, initial=0) <= self.settings.stop.narrow
        asked = nodes.take(~leaf)
        if len(asked) and nodes.depth >= self.settings.skip:
            leaf[~leaf] = self._test(asked, curator)
        return leaf

    def _test(self, nodes: Frontier, curator: Curator) -> Bools:
        """Whether the noisy test stops each region."""
        least = self.settings.stop.count
        if least is not None and self.test_prices[nodes.depth] > 0:
            counted = curator.measure(nodes, Size(), self.test_prices[nodes.depth], why="stop test")
            self.tree.note_sizes(nodes, counted)
            return np.asarray(counted.value[:, 0] < least, dtype=np.bool_)
        if self.privtree is not None:
            return ~curator.test(nodes, self.privtree, why="stop test")
        return np.zeros(len(nodes), dtype=np.bool_)

    def partition(self, nodes: Frontier, curator: Curator) -> Cuts:
        """One cut per region: a noisy choice among cuts, or the middle of the widest attribute (RPS 3)."""
        if self.settings.attributes == "midpoint":
            cuts = self._midpoints(nodes, self._widest_attribute(nodes))
        elif self.settings.attributes == "random-midpoint":
            cuts = self._midpoints(nodes, self._random_attribute(nodes, curator))
        elif self.settings.attributes == "random":
            # A single candidate need not be charged, but then nearly every leaf would have its own line in the receipt.
            drawn, literal = self._random_attribute(nodes, curator), self.settings.literal
            each = CutsOf(drawn, max(self.sizes), self._seen_classes(), literal)
            cuts = curator.choose(nodes, each, self._score(), self.split_prices[nodes.depth], why="split")
        else:
            cuts = self._best_of_all(nodes, curator)
        self.tree.note_cuts(nodes, cuts)
        return cuts

    def _best_of_all(self, nodes: Frontier, curator: Curator) -> Cuts:
        """A noisy choice among all cuts of all attributes for each region; a region with a single cut pays nothing."""
        candidates = AllCuts(self.sizes, self._seen_classes(), self.settings.literal)
        price = self.split_prices[nodes.depth]
        open_ = candidates.counts(nodes) > 1  # with a single candidate there is no choice, and nothing to pay
        if open_.all():
            return curator.choose(nodes, candidates, self._score(), price, why="split")
        first = candidates.cuts(nodes, np.zeros(len(nodes), np.int64))
        if open_.any():
            chosen = curator.choose(nodes.take(open_), candidates, self._score(), price, why="split")
            first.attribute[open_], first.point[open_] = chosen.attribute, chosen.point
        return first

    def _random_attribute(self, nodes: Frontier, curator: Curator) -> Ints:
        """One attribute per region, drawn uniformly among those that can still be cut (RPS 4.2)."""
        able = cut_counts(nodes) > 0
        die = curator.coin(nodes, able.sum(axis=1))
        return np.argmax(np.cumsum(able, axis=1) > die[:, None], axis=1)

    def _widest_attribute(self, nodes: Frontier) -> Ints:
        """The attribute of each region that is widest relative to its domain."""
        width = (nodes.hi - nodes.lo) / np.array(self.sizes)
        width[cut_counts(nodes) == 0] = 0
        return np.argmax(width, axis=1)

    def _midpoints(self, nodes: Frontier, attribute: Ints) -> Cuts:
        """The middle of an attribute of each region; free of charge."""
        rows = np.arange(len(nodes))
        return Cuts(attribute, (nodes.lo[rows, attribute] + nodes.hi[rows, attribute]) // 2)

    def summarize(self, leaves: Frontier, curator: Curator) -> None:
        """Measures the class histogram of each leaf with all that is left on the path.

        Deviation: the paper's count and majority vote would have to be paid separately. A histogram over classes costs
        as much as a count, and both size and label follow from it.
        """
        if self._free_leaves():
            self.tree.note_leaves(leaves, None, curator.path(leaves))
            return
        noisy = curator.measure(leaves, Histogram(self.classes), curator.left(leaves), why="leaf")
        self.tree.note_leaves(leaves, noisy, curator.path(leaves))

    def _score(self) -> Mix:
        if self.settings.quality is not None:
            return self.settings.quality.score
        return CLASS_AWARE if self.classes > 1 else BALANCE

    def _seen_classes(self) -> int:
        return self.classes if self._score().apart else 1


def _names_a_paid_test(stop: object) -> bool:
    """Whether the setting `stop` names a test that reads records; a wrong value is refused when settings are read."""
    return any(word in str(stop) for word in ("count", "privtree"))

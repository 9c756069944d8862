"""RPS for tables: cuts the domain into balanced regions with noisy choices and counts the leaves (Qardaji & Li 2012).

Preset `paper` has the settings of section 4.2. Preset `default` is ours: a shallow tree over all attributes at once, no
stop tests, and a share of the budget for one-way tables, to which the values inside a region are fitted. Up to three
columns of numbers without a target are cut at midpoints instead, with stop tests.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from cantle.drawing.counts import Dice
from cantle.drawing.group_frames import spans_frame, tree_frame
from cantle.drawing.records import Results
from cantle.errors import ParameterError, SchemaError, raise_alone
from cantle.framework.ask import Ask
from cantle.framework.regions import Cut, Regions
from cantle.framework.run import TreeRun
from cantle.methods.own_accuracy import DEFAULT_SHARE, accuracy_share
from cantle.methods.rps.results import Drawing, tree_results
from cantle.methods.settings import (
    flag,
    literal_switch,
    maybe,
    one_of,
    parsed,
    portion,
    read_settings,
    refuse_literal,
    setting,
    share,
    whole,
)
from cantle.schema.domain import Domain, Labels, Plane, Steps
from cantle.trusted.claims.scores import BALANCE, CLASS_AWARE, Mix
from cantle.trusted.core.arrays import Bools, Ints
from cantle.trusted.core.budget import NANO
from cantle.trusted.core.stop_test import PrivTree
from cantle.trusted.geometry import value_sets
from cantle.trusted.geometry.boxes import cut_counts

KAPPA = 10
"""The number of records that an average leaf should hold, in noise scales; it determines the depth if none is given."""

DEEPEST = 24
"""The largest automatic depth, with 2^24 leaves."""


# ---- settings --------------------------------------------------------------------------------------------------------

MOST_BINS = 1 << 20
"""The most bins of a column. Halving costs the same whatever their number; a choice among cuts looks at every bin."""

NAMED_SCORES = {"balance": BALANCE, "class": CLASS_AWARE}


@dataclass(frozen=True)
class CutScore:
    """The score of cuts: `balance`, `class`, or `mix:a:b`, a weighted sum of evenness and separation of classes."""

    text: str
    score: Mix

    def __str__(self) -> str:
        return self.text

    @staticmethod
    def parse(text: str) -> CutScore:
        """The score that a text names; raises a ValueError if it names none.

        >>> CutScore.parse("mix:2:1").score
        Mix(even=2, apart=1)
        """
        if text in NAMED_SCORES:
            return CutScore(text, NAMED_SCORES[text])
        word, even, apart = str(text).split(":")
        if word != "mix":
            raise ValueError
        try:
            return CutScore(text, Mix(int(even), int(apart)))
        except ParameterError:
            raise_alone(ValueError())


@dataclass(frozen=True)
class StopTests:
    """The tests that make a region a leaf before the last level: `none`, or count:T, privtree:T, narrow:W, joined by
    +."""

    text: str
    count: int | None = None
    """A region stops if its noisy count is below this number."""
    privtree: int | None = None
    """The threshold of a test whose price does not grow with the depth."""
    narrow: int | None = None
    """A region stops if no attribute has more than this many values left; this test is free."""

    def __str__(self) -> str:
        return self.text

    @property
    def paid(self) -> bool:
        """Whether a test reads records."""
        return self.count is not None or self.privtree is not None

    @staticmethod
    def parse(text: str) -> StopTests:
        """The tests that a text names; raises a ValueError if it is wrong.

        >>> StopTests.parse("count:5+narrow:2")
        StopTests(text='count:5+narrow:2', count=5, privtree=None, narrow=2)
        """
        words = [part.split(":") for part in str(text).split("+")]
        if words == [["none"]]:
            return StopTests(text)
        tests = {word: int(number) for word, number in words}
        allowed = all(word in ("count", "privtree", "narrow") and number >= 0 for word, number in tests.items())
        if not allowed or len(tests) < len(words) or {"count", "privtree"} <= tests.keys():
            raise ValueError
        return StopTests(text, **tests)


@dataclass(frozen=True)
class LevelPrices:
    """The division of the budget among levels: `equal`, or `geometric:r` with ratio r from each level to the next."""

    text: str
    ratio: Fraction

    def __str__(self) -> str:
        return self.text

    @staticmethod
    def parse(text: str) -> LevelPrices:
        """The division that a text names; raises a ValueError if it is wrong.

        >>> LevelPrices.parse("geometric:1.3").ratio
        Fraction(13, 10)
        """
        if text == "equal":
            return LevelPrices(text, Fraction(1))
        word, ratio = str(text).split(":")
        if word != "geometric" or Fraction(ratio) <= 0:
            raise ValueError
        return LevelPrices(text, Fraction(ratio))

    def spread(self, total: int, levels: int) -> list[int]:
        """The price of each level, rounded down; the leaves get what rounding leaves of the total."""
        weights = [self.ratio**level for level in range(levels)]
        whole = sum(weights)
        return [portion(total, weight / whole) for weight in weights]


@dataclass(frozen=True, kw_only=True)
class RpsSettings:
    """The parameters of rps, each described in docs/reference.md."""

    depth: int | None = setting(maybe(whole(0, 1000), "auto"), shown=True)
    attributes: str = setting(one_of("all", "random", "midpoint", "random-midpoint"), shown=True)
    cuts: str = setting(one_of("intervals", "subsets"), shown=True, unless="intervals")
    quality: CutScore | None = setting(maybe(parsed(CutScore.parse, "balance, class or mix:a:b"), "auto"), shown=True)
    stop: StopTests = setting(parsed(StopTests.parse, "none, count:T, privtree:T or narrow:W, joined by +"), shown=True)
    skip: int = setting(whole(0, 1000))
    leaf_share: Fraction = setting(share(positive=True), shown=True)
    oneway_share: Fraction = setting(share(), shown=True)
    count_share: Fraction = setting(share())
    stop_share: Fraction = setting(share())
    levels: LevelPrices = setting(parsed(LevelPrices.parse, "equal or geometric:RATIO"))
    summary: str = setting(one_of("counts", "depth"))
    label: str = setting(one_of("counts", "majority"))
    values: str = setting(one_of("fitted", "uniform", "midpoint", "low", "set"))
    consistency: bool = setting(flag())
    bins: int = setting(whole(2, MOST_BINS), shown=True)
    order: str = setting(one_of("declared", "random"))
    order_seed: int = setting(whole(0, 2**53 - 1))
    records: int | None = setting(maybe(whole(0, 2**53 - 1), "private"), shown=True)
    accuracy_share: Fraction = setting(accuracy_share(), shown=True)
    literal: bool = literal_switch()

    @property
    def halves(self) -> bool:
        """Whether regions are cut in their middle, which costs nothing."""
        return self.attributes in ("midpoint", "random-midpoint")


_COMMON = {"quality": None, "cuts": "intervals", "skip": 0, "leaf_share": "1/2", "levels": "equal", "summary": "counts",
           "bins": 256, "order_seed": 0, "records": None, "literal": False}  # fmt: skip
PRESETS: Mapping[str, Mapping[str, object]] = {
    "default": _COMMON | {"depth": None, "attributes": "all", "stop": "none", "stop_share": 0, "oneway_share": "3/10",
                          "count_share": "1/100", "values": "fitted", "label": "counts", "consistency": True,
                          "order": "declared", "accuracy_share": DEFAULT_SHARE},
    "paper": _COMMON | {"depth": 50, "attributes": "random", "stop": "count:5", "stop_share": "1/2", "oneway_share": 0,
                        "count_share": 0, "values": "uniform", "label": "majority", "consistency": False,
                        "order": "random", "accuracy_share": 0},
}  # fmt: skip


LITERAL = {"bins": 65536}
"""Changes to preset paper if it is literal: every place of a grid is a candidate."""

FEW_NUMBERS = {"attributes": "midpoint", "stop": "privtree:5", "stop_share": "3/4", "leaf_share": "1/3", "depth": 24,
               "bins": MOST_BINS}  # fmt: skip
"""Changes to the defaults for up to three columns of numbers without a target: records often crowd in a few places,
to which free cuts and tests whose price does not grow with the depth lead. Bounds may be much wider than most records
need, so values are put into as many bins as halving can reach.

They were chosen on 22 tables of 2 to 8 columns, real (places, bank, Adult) and made up, at epsilon .1 to 1: with four
columns and little data, the regions of the usual defaults are better.
"""

MOST_FEW = 3

ONE_PLACE = {"bins": 65536}
"""Changes for a single place beside those for few numbers and for a single attribute: a kd-tree of a map."""

FEW_VALUES = 256
"""A single number of at most so many values has leaves of equal width instead: a few values are counted one by one."""

ONE_ATTRIBUTE = {"attributes": "midpoint", "oneway_share": 0, "values": "uniform"}
"""Changes to the defaults for a single attribute: its leaves already are a one-way table, and free cuts are best."""


def defaults_for(domain: Domain, given: Collection[str]) -> Mapping[str, object]:
    """Changes to the defaults that follow from the columns; none for several numbers if the tree is described."""
    attributes = domain.attributes
    numbers = all(isinstance(one.scale, Steps) for one in attributes)
    few = 0 < len(attributes) <= MOST_FEW and numbers and domain.target is None
    few = few and not {"attributes", "stop", "depth", "quality", "summary"} & set(given)
    if len(attributes) > 1:
        return FEW_NUMBERS if few else {}
    if not few or "bins" in given or attributes[0].size <= FEW_VALUES:
        return ONE_ATTRIBUTE if attributes else {}
    place = isinstance(attributes[0].scale, Plane)
    return {**FEW_NUMBERS, **ONE_ATTRIBUTE, **(ONE_PLACE if place else {})}


# ---- the run ---------------------------------------------------------------------------------------------------------


class RPS(TreeRun):
    """One run: settings, the plan made from them, and the tree as it grows. It asks by the verbs that users have."""

    name: ClassVar[str] = "rps"
    Settings: ClassVar[type] = RpsSettings

    def __init__(self, domain: Domain, *, preset: str = "default", **given: object) -> None:
        presets = dict(PRESETS)
        presets["default"] = {**presets["default"], **defaults_for(domain, given)}
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
        super().__init__(domain, self.settings.accuracy_share)
        self.sets = self._small_categories() if self.settings.cuts == "subsets" else ()
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
        if s.cuts == "subsets" and (s.halves or s.values in ("midpoint", "low")):
            raise ParameterError(
                "rps parameter cuts=subsets chooses sets, which have no middle; choose other `attributes` and `values`"
            )
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

    def _small_categories(self) -> tuple[bool, ...]:
        """The columns with so few values without an order that all subsets of them can be tried (RPS 3.2).

        Rules of the schema are about spans, so columns that they name are cut into spans as ever.
        """
        named = () if self.domain.rules is None else self.domain.rules.columns
        return tuple(
            isinstance(one.scale, Labels)
            and not one.ordered
            and one.width == 1
            and 2 < one.size <= value_sets.MOST
            and one.name not in named
            for one in self.domain.attributes
        )

    def refuse_budget(self, epsilon_nano: int, max_records: int) -> None:
        """Refuses an epsilon so small that records cannot be drawn, or that some question would get nothing."""
        super().refuse_budget(epsilon_nano, max_records)
        self.refuse_shares(epsilon_nano, max_records)

    def refuse_shares(self, epsilon_nano: int, unit: int) -> None:
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

    def results(self, generator: Dice) -> Results:
        """Records and groups from the noisy tree."""
        nodes = (spans_frame if any(self.sets) else tree_frame)(self.domain, self.tree)
        s = self.settings
        drawing = Drawing(s.values, s.consistency, s.summary, s.label)
        return tree_results(self.domain, self.tree, nodes, self.tables, drawing, self.depth, generator)

    # ---- budget -------------------------------------------------------------------------------------------

    def begin(self, regions: Regions, ask: Ask) -> None:
        """Measures the number of records and one-way tables, then plans the depth and the price of every level."""
        s, noisy_records = self.settings, self.settings.records
        if s.records is not None:
            self.tree.declare(s.records)
        elif s.count_share:
            noisy_records = int(ask.sizes(regions, s.count_share)[0])
        ask.decide(noisy_records)
        if s.oneway_share and self.sizes:
            ask.one_ways(regions, s.oneway_share, records=noisy_records)
        self._plan(int(ask.left(regions)[0] * NANO), noisy_records, ask.unit)

    def _plan(self, rest: int, noisy_records: int | None, unit: int) -> None:
        """Sets depth and prices from public values: what is left, the settings, and the noisy or declared count."""
        s = self.settings
        leaf = 0 if self._free_leaves() else portion(rest, self._leaf_share())
        if s.depth is not None:
            self.depth = s.depth
        else:
            useful = max(1.0, (noisy_records or 0) * leaf / (NANO * KAPPA * unit))
            self.depth = min(DEEPEST, int(math.log2(useful)))
        trunk = rest - leaf
        tests = portion(trunk, s.stop_share) if self.settings.stop.paid else 0
        self.test_budget = tests
        self.privtree: PrivTree | None = None
        if s.stop.privtree is not None:
            self.privtree = PrivTree.within(tests, s.stop.privtree, records=unit)
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

    def stop(self, regions: Regions, ask: Ask) -> Bools:
        """Which regions are leaves (RPS 3.2): those at the last depth, narrow ones, and those that a noisy test
        stops."""
        nodes = regions.nodes
        leaf: Bools = np.full(len(nodes), nodes.depth >= self.depth)
        if self.settings.stop.narrow is not None:
            # Deviation: the width is that of the region. That of its records would be an infinite privacy loss.
            leaf |= (nodes.hi - nodes.lo).max(axis=1, initial=0) <= self.settings.stop.narrow
        if not leaf.all() and nodes.depth >= self.settings.skip:
            leaf[~leaf] = self._test(regions.take(~leaf), ask)
        return leaf

    def _test(self, regions: Regions, ask: Ask) -> Bools:
        """Whether the noisy test stops each region."""
        least = self.settings.stop.count
        if least is not None and self.test_prices[regions.depth] > 0:
            sizes = ask.sizes(regions, epsilon=Fraction(self.test_prices[regions.depth], NANO))
            return np.asarray(sizes < least, dtype=np.bool_)
        if self.privtree is not None:
            price = Fraction(self.test_budget, NANO)
            return ~ask.worth_splitting(regions, epsilon=price, above=self.privtree.theta)
        return np.zeros(len(regions), dtype=np.bool_)

    def partition(self, regions: Regions, ask: Ask) -> Cut:
        """One cut per region: a noisy choice among cuts, or the middle of the widest attribute (RPS 3)."""
        if self.settings.attributes == "midpoint":
            return regions.halve("widest")
        if self.settings.attributes == "random-midpoint":
            return regions.halve(self._random_attribute(regions, ask))
        column = self._random_attribute(regions, ask) if self.settings.attributes == "random" else None
        price, literal = Fraction(self.split_prices[regions.depth], NANO), self.settings.literal
        return ask.choose(regions, epsilon=price, column=column, score=self._score(), literal=literal)

    def _random_attribute(self, regions: Regions, ask: Ask) -> Ints:
        """One attribute per region, drawn uniformly among those that can still be cut (RPS 4.2)."""
        able = cut_counts(regions.nodes) > 0
        die = ask.coin(regions, able.sum(axis=1))
        return np.argmax(np.cumsum(able, axis=1) > die[:, None], axis=1)

    def summarize(self, regions: Regions, ask: Ask) -> None:
        """Measures the class histogram of each leaf with all that is left on the path.

        Deviation: the paper's count and majority vote would have to be paid separately. A histogram over classes costs
        as much as a count, and both size and label follow from it.
        """
        if self._free_leaves():
            self.tree.note_leaves(regions.nodes, None, ask.curator.path(regions.nodes))
        else:
            ask.counts(regions)

    def _score(self) -> Mix:
        if self.settings.quality is not None:
            return self.settings.quality.score
        return CLASS_AWARE if self.classes > 1 else BALANCE


def _names_a_paid_test(stop: object) -> bool:
    """Whether the setting `stop` names a test that reads records; a wrong value is refused when settings are read."""
    return any(word in str(stop) for word in ("count", "privtree"))

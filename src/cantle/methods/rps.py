"""RPS for tables: cuts the domain into balanced regions with noisy choices and counts the leaves (Qardaji & Li 2012).

Preset `paper` is the setting of section 4.2; `default` is ours: a shallow tree over all attributes at once, no stop
tests, and a share of the budget for one-way tables, to which the values inside a region are fitted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from cantle.errors import ParameterError, raise_alone
from cantle.methods.base import TableMethod, grow
from cantle.methods.settings import Rule, echo, flag, maybe, one_of, portion, read_settings, share, whole
from cantle.postprocess.counts import Dice
from cantle.postprocess.from_tree import tree_results
from cantle.postprocess.results import Results
from cantle.postprocess.tree import Tree
from cantle.schema.domain import Domain, Layout
from cantle.trusted.answers import Noisy
from cantle.trusted.budget import NANO, Unit
from cantle.trusted.curator import Curator
from cantle.trusted.cut_candidates import AllCuts, CutsOf
from cantle.trusted.geometry.boxes import Bools, Cuts, Frontier, Ints, cut_counts
from cantle.trusted.keys import OneWays
from cantle.trusted.queries import Histogram, Marginals, Size
from cantle.trusted.scores import BALANCE, CLASS_AWARE, Mix
from cantle.trusted.stop_test import PrivTree

KAPPA = 10
"""Records that an average leaf should hold, in noise scales; sets the depth if it is not given."""

PAID = {"count", "privtree"}
"""Stop tests that look at records."""

DEEPEST = 24
"""Limit of an automatic depth: 2^24 leaves."""


def _quality(text: str) -> str:
    """balance, class, or mix:a:b."""
    if text in ("balance", "class"):
        return text
    word, even, apart = str(text).split(":")
    if word != "mix":
        raise ValueError
    try:
        Mix(int(even), int(apart))
    except ParameterError:
        raise_alone(ValueError())
    return text


def _stop(text: str) -> str:
    """none, or tests joined by +: count:T, privtree:T, narrow:W."""
    words = [part.split(":") for part in str(text).split("+")]
    if words != [["none"]] and not all(w in ("count", "privtree", "narrow") and int(t) >= 0 for w, t in words):
        raise ValueError
    if len({word[0] for word in words}) < len(words) or {"count", "privtree"} <= {word[0] for word in words}:
        raise ValueError
    return text


def _is_paid(stop: Any) -> bool:
    """Whether one of these tests looks at records."""
    return any(word in str(stop) for word in PAID)


def _levels(text: str) -> str:
    """equal, or geometric:r with a positive ratio from each level to the next."""
    if text != "equal" and (not str(text).startswith("geometric:") or Fraction(text.split(":")[1]) <= 0):
        raise ValueError
    return text


RULES: Mapping[str, Rule] = {
    "depth": maybe(whole(0, 1000), "auto"),
    "attributes": one_of("all", "random", "midpoint"),
    "quality": maybe((_quality, "balance, class or mix:a:b"), "auto"),
    "stop": (_stop, "none, count:T, privtree:T or narrow:W, joined by +"),
    "skip": whole(0, 1000),
    "leaf_share": share(positive=True),
    "oneway_share": share(),
    "count_share": share(),
    "stop_share": share(),
    "levels": (_levels, "equal or geometric:RATIO"),
    "summary": one_of("counts", "depth"),
    "label": one_of("counts", "majority"),
    "values": one_of("fitted", "uniform", "midpoint", "low", "set"),
    "consistency": flag(),
    "bins": whole(2, 65536),
    "order": one_of("declared", "random"),
    "order_seed": whole(0, 2**53 - 1),
    "records": maybe(whole(0, 2**53 - 1), "private"),
}

_COMMON = {"quality": None, "skip": 0, "leaf_share": "1/2", "levels": "equal", "summary": "counts",
           "bins": 256, "order_seed": 0, "records": None}  # fmt: skip
PRESETS: Mapping[str, Mapping[str, Any]] = {
    "default": _COMMON | {"depth": None, "attributes": "all", "stop": "none", "stop_share": 0, "oneway_share": "3/10",
                          "count_share": "1/100", "values": "fitted", "label": "counts", "consistency": True,
                          "order": "declared"},
    "paper": _COMMON | {"depth": 50, "attributes": "random", "stop": "count:5", "stop_share": "1/2", "oneway_share": 0,
                        "count_share": 0, "values": "uniform", "label": "majority", "consistency": False,
                        "order": "random"},
}  # fmt: skip


_ONE_ATTRIBUTE = {"attributes": "midpoint", "oneway_share": 0, "values": "uniform"}
"""Changes to the defaults for a single attribute: its leaves are the one-way table, and free cuts are best."""


class RPS(TableMethod):
    """One run: settings, the plan made from them, and the tree as it grows. All public."""

    name: ClassVar[str] = "rps"
    layout: ClassVar[Layout] = "rows"

    def __init__(self, domain: Domain, *, preset: str = "default", **given: Any) -> None:
        presets = dict(PRESETS)
        if len(domain.attributes) == 1:
            presets["default"] = {**presets["default"], **_ONE_ATTRIBUTE}
        if _is_paid(given.get("stop", "none")):
            presets["default"] = {**presets["default"], "stop_share": presets["paper"]["stop_share"]}
        self.settings = read_settings("rps", RULES, presets, preset, given)
        self.preset = preset
        self._check()
        domain = domain.coarsen(self.settings["bins"])
        if self.settings["order"] == "random":
            domain = domain.with_orders(self.settings["order_seed"])
        self.domain = domain
        self.tests = (
            dict(w.split(":") for w in self.settings["stop"].split("+")) if self.settings["stop"] != "none" else {}
        )
        self.tree = Tree(len(self.sizes), self.classes)
        self.oneways: Noisy | None = None
        self.depth = 0

    def _check(self) -> None:
        """Refuses combinations that cannot work, before any data is opened."""
        s = self.settings
        if s["records"] is None and not s["count_share"]:
            for name, value in (("depth", s["depth"] is None), ("summary", s["summary"] == "depth")):
                if value:
                    raise ParameterError(
                        f"rps parameter {name}={s[name] or 'auto'} needs the number of records: "
                        "declare it (records=N) or pay for it (count_share=0.01)"
                    )
        if _is_paid(s["stop"]) and not s["stop_share"]:
            raise ParameterError(f"rps parameter stop={s['stop']} needs a share of the budget: set stop_share")
        if s["values"] == "fitted" and not s["oneway_share"]:
            raise ParameterError(
                "rps parameter values=fitted needs one-way tables: set oneway_share, or values=uniform"
            )
        if s["oneway_share"] + s["count_share"] >= 1:
            raise ParameterError("rps parameters oneway_share and count_share leave nothing for the tree; lower one")

    def parameters(self) -> dict[str, Any]:
        return {"preset": self.preset, **echo(self.settings)}

    def run(self, curator: Curator) -> None:
        """All questions, level by level."""
        grow(self, curator)

    def results(self, generator: Dice) -> Results:
        """Records and groups from the noisy tree."""
        return tree_results(self.domain, self.tree, self.oneways, self.settings, self.depth, generator)

    # ---- budget -------------------------------------------------------------------------------------------

    def begin(self, root: Frontier, curator: Curator) -> None:
        """Count and one-way tables of the whole data, then the depth and the price of every level."""
        s, total = self.settings, int(curator.left(root)[0])
        noisy_records = s["records"]
        if s["records"] is None and s["count_share"]:
            counted = curator.measure(root, Size(), portion(total, s["count_share"]), why="number of records")
            self.tree.note_sizes(root, counted)
            noisy_records = int(counted.value[0, 0])
        elif s["records"] is not None:
            self.tree.declare(s["records"])
        if s["oneway_share"] and self.sizes:
            tables = OneWays(tuple(range(len(self.sizes))), self.sizes, 1)
            self.oneways = curator.measure(
                root, Marginals(tables), portion(total, s["oneway_share"]), why="one-way tables"
            )
        self._plan(int(curator.left(root)[0]), noisy_records, curator.unit)

    def _plan(self, rest: int, noisy_records: int | None, unit: Unit) -> None:
        """Fixes depth and prices from public values: what is left, the settings, the charged or declared count."""
        s = self.settings
        leaf = 0 if self._free_leaves() else portion(rest, self._leaf_share())
        if s["depth"] is not None:
            self.depth = s["depth"]
        else:
            useful = max(2.0, (noisy_records or 0) * leaf / (NANO * KAPPA * unit.max_records))
            self.depth = min(DEEPEST, int(math.log2(useful)))
        trunk = rest - leaf
        tests = portion(trunk, s["stop_share"]) if PAID & set(self.tests) else 0
        self.privtree: PrivTree | None = None
        if "privtree" in self.tests:
            self.privtree = PrivTree.within(tests, int(self.tests["privtree"]), records=unit.max_records)
        self.split_prices = _spread(trunk - tests, self.depth, s["levels"])
        self.test_prices = _spread(tests, self.depth, s["levels"])
        if s["attributes"] != "midpoint" and self.depth and min(self.split_prices) < 1:
            raise ParameterError(f"epsilon is too small for depth {self.depth}; lower the depth or raise epsilon")

    def _leaf_share(self) -> Fraction:
        """The share of the tree's budget kept for leaves: all of it when neither cuts nor stops cost anything."""
        free = self.settings["attributes"] == "midpoint" and not PAID & set(self.tests)
        return Fraction(1) if free else self.settings["leaf_share"]

    def _free_leaves(self) -> bool:
        """Whether leaves need no question: sizes follow the N/2^d rule, and there is no class."""
        return self.settings["summary"] == "depth" and self.classes == 1

    # ---- the three sub-routines of RPS 3.1 ------------------------------------------------------------------

    def stop(self, nodes: Frontier, curator: Curator) -> Bools:
        """Which regions are leaves: depth reached, nothing left to cut, narrow region, or a noisy test (RPS 3.2)."""
        self.tree.add_level(nodes)
        leaf: Bools = cut_counts(nodes).sum(axis=1) == 0
        if nodes.depth >= self.depth:
            return np.ones(len(nodes), dtype=np.bool_)
        if "narrow" in self.tests:
            # Deviation: decided by the region, never by its records, which would leak (infinite loss).
            leaf |= (nodes.hi - nodes.lo).max(axis=1, initial=0) <= int(self.tests["narrow"])
        asked = nodes.take(~leaf)
        if len(asked) and nodes.depth >= self.settings["skip"]:
            leaf[~leaf] = self._test(asked, curator)
        return leaf

    def _test(self, nodes: Frontier, curator: Curator) -> Bools:
        """Whether the noisy test stops each region."""
        if "count" in self.tests and self.test_prices[nodes.depth] > 0:
            counted = curator.measure(nodes, Size(), self.test_prices[nodes.depth], why="stop test")
            self.tree.note_sizes(nodes, counted)
            return np.asarray(counted.value[:, 0] < int(self.tests["count"]), dtype=np.bool_)
        if self.privtree is not None:
            return ~curator.test(nodes, self.privtree, why="stop test")
        return np.zeros(len(nodes), dtype=np.bool_)

    def partition(self, nodes: Frontier, curator: Curator) -> Cuts:
        """The cuts. Balanced: a noisy choice among cuts; fixed: the middle of the widest attribute (RPS 3)."""
        if self.settings["attributes"] == "midpoint":
            cuts = self._midpoints(nodes)
        elif self.settings["attributes"] == "random":
            # A lone candidate would be free, but then nearly every leaf would have a receipt of its own.
            each = CutsOf(self._random_attribute(nodes, curator), max(self.sizes), self._seen_classes())
            cuts = curator.choose(nodes, each, self._score(), self.split_prices[nodes.depth], why="split")
        else:
            cuts = self._best_of_all(nodes, curator)
        self.tree.note_cuts(nodes, cuts)
        return cuts

    def _best_of_all(self, nodes: Frontier, curator: Curator) -> Cuts:
        candidates, price = AllCuts(self.sizes, self._seen_classes()), self.split_prices[nodes.depth]
        open_ = candidates.counts(nodes) > 1  # one candidate: nothing to choose, nothing to pay
        if open_.all():
            return curator.choose(nodes, candidates, self._score(), price, why="split")
        first = candidates.cuts(nodes, np.zeros(len(nodes), np.int64))
        if open_.any():
            chosen = curator.choose(nodes.take(open_), candidates, self._score(), price, why="split")
            first.attribute[open_], first.point[open_] = chosen.attribute, chosen.point
        return first

    def _random_attribute(self, nodes: Frontier, curator: Curator) -> Ints:
        """One attribute per region, uniform among those that can still be cut (RPS 4.2)."""
        able = cut_counts(nodes) > 0
        die = curator.coin(nodes, able.sum(axis=1))
        return np.argmax(np.cumsum(able, axis=1) > die[:, None], axis=1)

    def _midpoints(self, nodes: Frontier) -> Cuts:
        width = (nodes.hi - nodes.lo) / np.array(self.sizes)
        width[cut_counts(nodes) == 0] = 0
        attribute = np.argmax(width, axis=1)
        rows = np.arange(len(nodes))
        return Cuts(attribute, (nodes.lo[rows, attribute] + nodes.hi[rows, attribute]) // 2)

    def summarize(self, leaves: Frontier, curator: Curator) -> None:
        """The class histogram with all that is left on the path.

        Deviation: the paper's count plus a majority vote would pay twice; a histogram over classes costs the same
        as a count, and size and label both follow from it.
        """
        if self._free_leaves():
            self.tree.note_leaves(leaves, None, curator.path(leaves))
            return
        noisy = curator.measure(leaves, Histogram(self.classes), curator.left(leaves), why="leaf")
        self.tree.note_leaves(leaves, noisy, curator.path(leaves))

    def _score(self) -> Mix:
        text = self.settings["quality"] or ("class" if self.classes > 1 else "balance")
        if text.startswith("mix:"):
            even, apart = (int(part) for part in text.split(":")[1:])
            return Mix(even, apart)
        return CLASS_AWARE if text == "class" else BALANCE

    def _seen_classes(self) -> int:
        return self.classes if self._score().apart else 1


def _spread(total: int, levels: int, how: str) -> list[int]:
    """The total over the levels, each rounded down; what rounding leaves goes to the leaves."""
    ratio = Fraction(1) if how == "equal" else Fraction(how.split(":")[1])
    weights = [ratio**level for level in range(levels)]
    whole = sum(weights)
    return [portion(total, weight / whole) for weight in weights]

"""DiffPart: set-valued data (Chen, Mohammed, Fung, Desai & Xiong 2011).

Preset `default` counts all sets of a small universe at once. Preset `paper` is Algorithm 1: it starts with all records
under the root of a context-free taxonomy of the items, expands one node of every partition per round, keeps the
sub-partitions whose noisy count is large enough, and counts the leaf partitions, each of which is one set of items,
with all that is left. It follows Example 4.2: leaves are not tested, so the prices on every path sum to B.

With the thresholds as printed, the algorithm does not end in reasonable time on large universes: with fan-out 10 and C2
slightly above 1, about 94 empty sub-partitions pass an operation at height 1, and each of them is split again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from cantle.drawing.counts import Dice, Floats
from cantle.drawing.records import Results
from cantle.errors import ParameterError
from cantle.methods.base import Configured
from cantle.methods.baskets.model.questions import AskedSizes
from cantle.methods.diffpart.results import all_sets, kept_sets, sizes_frame
from cantle.methods.diffpart.tree import KeptPartitions
from cantle.methods.own_accuracy import DEFAULT_SHARE, OwnAccuracy, accuracy_share
from cantle.methods.settings import (
    decimal,
    literal_switch,
    maybe,
    one_of,
    portion,
    read_settings,
    refuse_literal,
    setting,
    share,
    whole,
)
from cantle.schema.sets import SetSchema
from cantle.trusted.claims.queries import MOST_SPURIOUS, ChildSets, ItemSets
from cantle.trusted.core.answers import Noisy, NoisyCells
from cantle.trusted.core.budget import NANO
from cantle.trusted.core.curator import Curator
from cantle.trusted.geometry.boxes import Bools, Ints
from cantle.trusted.geometry.item_partitions import MOST_CHILDREN, ItemTree, Kept, Partitions

ROOT2 = math.sqrt(2)


def expected(tree: ItemTree, passes: Callable[[int], float]) -> float:
    """A bound on the expected number of empty sub-partitions in a run over no records.

    `passes(h)` bounds the probability p_h that an empty sub-partition passes its test when a node of height h is
    expanded. A partial expansion of a node chooses a set of children for the node and for some nodes below it. R(v)
    sums the probabilities of all partial expansions that start with v: R(v) = p_h * (sum over sets S of children of
    prod_{w in S} (1 + R(w))) = p_h * (prod_w (2 + R(w)) - 1), where R = 0 for an item. In whatever order nodes are
    expanded, the sub-partitions that occur are different partial expansions of the root, so R(root) bounds their
    expected number. A node with a single child is expanded without a test, so its probability is 1.
    """
    below = np.zeros(tree.size)
    for height, edge in enumerate(tree.edges, 1):
        logs = np.add.reduceat(np.log(2.0 + below), edge[:-1])
        below = np.where(np.diff(edge) == 1, 1.0, passes(height)) * np.expm1(np.minimum(logs, 700.0))
    return float(below[0])


def chance(constant: float, height: int, most_rate: float) -> float:
    """The largest probability, for rates up to `most_rate`, that the noise of an empty cell reaches
    sqrt(2) * constant * height noise scales."""
    return math.exp(-ROOT2 * constant * height) / (1 + math.exp(-most_rate))


def threshold(constant: float, rate: Floats, patterns: Ints, eta: Fraction | None, height: Ints) -> Ints:
    """The smallest count that passes a test.

    It is at least C * height standard deviations of the noise (the paper's rule) and, if eta is given, so large that on
    average at most eta empty sets of children pass.
    """
    least = np.ceil(ROOT2 * constant * height / rate)
    if eta is not None:
        least = np.maximum(least, np.ceil(np.log(patterns / ((1 + np.exp(-rate)) * float(eta))) / rate))
    return np.maximum(1, least).astype(np.int64)


def smallest_constant(tree: ItemTree, most_rate: float, most_cells: int) -> float | None:
    """The smallest C2, in steps of 0.01 up to 100, with which at most `most_cells` empty sub-partitions are expected;
    None if there is none."""
    low, high = 0, 10_000
    if expected(tree, lambda h: chance(high / 100, h, most_rate)) > most_cells:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        if expected(tree, lambda h, c=middle: chance(c / 100, h, most_rate)) > most_cells:  # type: ignore[misc]
            low = middle
        else:
            high = middle
    return high / 100


MOST_LISTED = MOST_SPURIOUS
"""The most empty cells that one question may list on average; the curator refuses more."""

MOST_CELLS = MOST_LISTED // 2
"""The largest `max_cells`, because the curator's bound on empty cells is at most twice their expected number."""

SMALL = 20
"""The largest universe for which all sets are counted at once."""


@dataclass(frozen=True, kw_only=True)
class DiffPartSettings:
    """The parameters of diffpart, each described in docs/reference.md."""

    fanout: int = setting(whole(2, MOST_CHILDREN), shown=True)
    c1: Fraction = setting(decimal(1000), shown=True)
    c2: Fraction = setting(decimal(1000), shown=True)
    eta: Fraction | None = setting(maybe(share(positive=True), "off"), shown=True)
    m: int | None = setting(maybe(whole(1, 10**6), "off"), shown=True)
    leaf_share: Fraction = setting(share(positive=True), shown=True)
    max_cells: int = setting(whole(1, MOST_CELLS), shown=True)
    cells: str = setting(one_of("auto", "tree"))
    accuracy_share: Fraction = setting(accuracy_share(), shown=True)
    literal: bool = literal_switch()


PRESETS: Mapping[str, Mapping[str, object]] = {
    "default": {"fanout": 10, "c1": 0, "c2": 0, "eta": "1/4", "m": None, "leaf_share": "1/4", "max_cells": 10**6,
                "cells": "auto", "accuracy_share": DEFAULT_SHARE, "literal": False},
    "paper": {"fanout": 10, "c1": 3, "c2": "6/5", "eta": None, "m": None, "leaf_share": "1/2", "max_cells": 10**6,
              "cells": "tree", "accuracy_share": 0, "literal": False},
}  # fmt: skip


class DiffPart(Configured):
    """One run: settings, the taxonomy, the partitions that were kept, and the noisy leaves. All of these are public."""

    name: ClassVar[str] = "diffpart"
    Settings: ClassVar[type] = DiffPartSettings
    kind: ClassVar[str] = "sets"
    kernels_from: ClassVar[int | None] = None

    def __init__(self, schema: SetSchema, *, preset: str = "default", **given: object) -> None:
        self.settings = read_settings(DiffPartSettings, "diffpart", PRESETS, preset, given)
        self.preset, self.schema = preset, schema
        s, size = self.settings, schema.universe.size
        self.all_at_once = s.cells == "auto"
        if self.all_at_once and size > SMALL:
            raise ParameterError(
                f"diffpart counts all sets of at most {SMALL} items, this universe has {size}; use method baskets, or "
                "preset=paper, which releases the sets that stand out of the noise"
            )
        if self.all_at_once and (idle := sorted(set(given) - {"cells", "accuracy_share"})):
            raise ParameterError(
                f"diffpart parameter {idle[0]} would do nothing: all sets of {size} items are counted at once; "
                "take it out, or add cells=tree"
            )
        refuse_literal("diffpart", preset, given)
        if s.literal and (s.m is not None or self.all_at_once):
            raise ParameterError("diffpart parameter literal is the algorithm as printed: leave out m and cells")
        fanout = size if self.all_at_once else s.fanout
        self._taxonomy = ItemTree.of(size, max(2, fanout), even=preset == "default")
        self.most = min(s.m, size) if isinstance(s.m, int) and not self.all_at_once else size
        self.seed = 0
        """The seed of the public dice, which is set before the run; only a literal run throws them."""
        self.inner = _inner_nodes(self.tree)
        self.own_accuracy = OwnAccuracy(self.settings.accuracy_share, universe=schema.universe)
        self.kept_partitions = KeptPartitions()
        self.sizes: AskedSizes | None = None
        """What was asked before: `auto` measures the sizes of sets to choose the method."""
        self.noisy: Noisy | None = None
        self.path = 0
        self.empty = 0.0  # the expected number of empty sub-partitions that questions so far have listed

    @property
    def tree(self) -> ItemTree:
        """The taxonomy; with dice if the run is literal."""
        return replace(self._taxonomy, dice=self.seed) if self.settings.literal else self._taxonomy

    def run(self, curator: Curator) -> None:
        """Asks all questions: in each round, every open partition is expanded once."""
        root = curator.root()
        whole = self.sizes.whole if self.sizes is not None else int(curator.left(root)[0])
        self.own_accuracy.decide(curator, whole, None if self.sizes is None else self.sizes.noisy_records)
        total = int(curator.left(root)[0])
        if self.all_at_once:
            self.noisy = curator.measure(root, ItemSets(self.tree.size), total, why="item sets")
            self.path = int(curator.path(root)[0])
            return
        leaf_budget = self._leaf_budget(total)
        nodes, nothing = root, np.zeros(1, np.int64)
        self.kept_partitions.add_round(root, nothing, nothing, nothing, NANO)
        while len(nodes):
            ends = nodes.ends
            self._count_leaves(nodes.take(ends), curator)
            nodes = self._expand(nodes.take(~ends), curator, leaf_budget)

    def results(self, generator: Dice) -> Results:
        """Records and groups from the noisy counts."""
        if self.noisy is not None:
            results = all_sets(self.schema.universe, self.noisy, self.path, generator)
        else:
            results = kept_sets(self.schema.universe, self.kept_partitions, generator)
        asked = self.sizes
        frames = {} if asked is None else {"sizes": sizes_frame(asked.edges, asked.noisy, asked.sizes)}
        return replace(results, frames=frames)

    # ---- one round ----------------------------------------------------------------------------------------

    def _expand(self, nodes: Partitions, curator: Curator, leaf_budget: int) -> Partitions:
        """Expands the next node of every partition, and keeps the sub-partitions that pass their test.

        If too many pass, those with the largest noisy counts are kept.
        """
        # A record touches a node with a single child if and only if it touches the child, so no question is needed.
        asked = np.flatnonzero(nodes.fan > 1)
        noisy, price = self._test(nodes.take(asked), curator, leaf_budget)
        free = np.flatnonzero(nodes.fan == 1)
        rows = np.concatenate([asked[noisy.rows], free])
        mask = np.concatenate([nodes.take(asked).children(noisy.rows, noisy.cells), np.ones(len(free), np.int64)])
        value = np.concatenate([noisy.value, np.zeros(len(free), np.int64)])
        paid = np.concatenate([price[noisy.rows], np.zeros(len(free), np.int64)])
        order = np.lexsort((mask, rows))
        rows, mask, value, paid = rows[order], mask[order], value[order], paid[order]
        keep = _affordable(value, paid > 0, np.ones(len(value)), self.settings.max_cells)
        likely = self._next_empty(Kept(rows[keep], mask[keep]), nodes, curator, leaf_budget)
        affordable = _affordable(value[keep], paid[keep] > 0, likely, self.settings.max_cells - self.empty)
        self.empty += float(likely[affordable].sum())
        keep = keep[affordable]
        children = curator.split(nodes, Kept(rows[keep], mask[keep]))
        rate_den = NANO * curator.unit.max_records
        self.kept_partitions.add_round(children, mask[keep], value[keep], paid[keep], rate_den)
        return children

    def _test(self, nodes: Partitions, curator: Curator, leaf_budget: int) -> tuple[NoisyCells, Ints]:
        """The noisy counts, from the threshold on, of sub-partitions of these nodes, which are not leaves; and the
        price of each test."""
        if not len(nodes):
            none = np.zeros(0, np.int64)
            return NoisyCells(none, none, none, none, NANO, none), none
        price, least = self._inner_terms(nodes, curator.left(nodes) - leaf_budget, curator.unit.max_records)
        return curator.measure(nodes, ChildSets(), price, at_least=least, why="sub-partitions"), price

    def _inner_terms(self, nodes: Partitions, left: Ints, max_records: int) -> tuple[Ints, Ints]:
        """The price and threshold of a test, if `left` remains for this and all later tests of a path."""
        price = left // self._operations(nodes)
        rate = price / (NANO * max_records)
        s = self.settings
        return price, threshold(float(s.c2), rate, nodes.patterns, s.eta, nodes.height)

    def _leaf_threshold(self, nodes: Partitions, left: Ints, max_records: int) -> Ints:
        """The threshold of leaves, which are counted with all that is left."""
        rate, s = left / (NANO * max_records), self.settings
        return threshold(float(s.c1), rate, nodes.patterns, s.eta, np.ones(len(nodes), np.int64))

    def _count_leaves(self, nodes: Partitions, curator: Curator) -> None:
        """Counts leaf partitions once with all that is left, without a test."""
        if not len(nodes):
            return
        left = curator.left(nodes)
        least = self._leaf_threshold(nodes, left, curator.unit.max_records)
        noisy = curator.measure(nodes, ChildSets(), left, at_least=least, why="leaf partitions")
        self.kept_partitions.add_leaves(nodes, noisy, curator.path(nodes))

    def _next_empty(self, kept: Kept, nodes: Partitions, curator: Curator, leaf_budget: int) -> Floats:
        """For each kept sub-partition, how many empty ones below it the next question is expected to list.

        This follows from public values.
        """
        children, records = kept.children(nodes, 0), curator.unit.max_records
        left, likely = curator.left(nodes)[kept.rows], np.zeros(len(kept.rows))
        ends, inner = np.flatnonzero(children.ends), np.flatnonzero(~children.ends & (children.fan > 1))
        if len(ends):
            some = children.take(ends)
            least = self._leaf_threshold(some, left[ends], records)
            likely[ends] = some.patterns * np.exp(-left[ends] / (NANO * records) * least)
        if len(inner):
            some = children.take(inner)
            price, least = self._inner_terms(some, left[inner] - leaf_budget, records)
            likely[inner] = some.patterns * np.exp(-price / (NANO * records) * least)
        return likely

    def _operations(self, nodes: Partitions) -> Ints:
        """The largest number of operations that a record of each partition can still need (Theorem 4.1).

        It is the number of inner nodes below the cut, but at each height at most the number of items of a record.
        """
        under = np.zeros((len(nodes), self.tree.height + 1), dtype=np.int64)
        for height in np.unique(nodes.height).tolist():
            here = np.flatnonzero(nodes.height == height)
            some = nodes.take(here)
            first = np.repeat(some.level_starts[:-1] + some.taken, np.diff(some.level_starts))
            waiting = np.arange(len(some.level)) >= first
            under[here] += _sums(self.inner[height][some.level] * waiting[:, None], some.level_starts)
            under[here] += _sums(self.inner[height - 1][some.below], some.below_starts)
        return np.minimum(under, self.most).sum(axis=1)

    # ---- before any record is seen ------------------------------------------------------------------------

    def refuse_budget(self, epsilon_nano: int, max_records: int) -> None:
        """Refuses an epsilon too small for the taxonomy, and settings with which empty sub-partitions multiply."""
        epsilon_nano -= self.own_accuracy.at_most(epsilon_nano)
        if epsilon_nano < 1:
            raise ParameterError("diffpart: epsilon is too small, nothing is left for the counts; raise epsilon")
        if self.all_at_once:
            return
        for_tests = epsilon_nano - self._leaf_budget(epsilon_nano)
        root = Partitions.root(self.tree, self.most)
        if not root.ends[0] and for_tests // int(self._operations(root)[0]) < 1:
            raise ParameterError(
                f"epsilon is too small for a taxonomy of {self.tree.size} items; raise epsilon or the fan-out"
            )
        self._refuse_explosion(for_tests / (NANO * max_records))

    def useful_error(self, rate: float) -> Callable[[int], float] | None:
        """By how much a query that covers so many different sets is off at most, with a probability of 95 %.

        Theorem 4.2: the probability is at least 1 - k exp(beta gamma - beta error / k) for k sets that occur in the
        data or in the release. beta is the smallest rate of a test, gamma the largest threshold; `rate` is what tests
        and leaves get together. None if records are cut or thresholds follow eta, which the theorem does not know.

        Deviation: gamma has the height of the taxonomy in place of log_f |I|, which may be less, and the threshold of
        leaves if that is larger, which the proof leaves out.
        """
        s = self.settings
        if self.all_at_once or s.m is not None or s.eta is not None:
            return None
        operations = max(1, int(self._operations(Partitions.root(self.tree, self.most))[0]))
        beta = rate * float(1 - s.leaf_share) / operations
        gamma = math.sqrt(2) * max(float(s.c2) * self.tree.height / beta, float(s.c1) / (rate * float(s.leaf_share)))
        return lambda sets: sets * (gamma + math.log(20 * sets) / beta)

    def _leaf_budget(self, total: int) -> int:
        """The least that is left for the leaves of a path."""
        return total - portion(total, 1 - self.settings.leaf_share)

    def _refuse_explosion(self, rate: float) -> None:
        """Refuses settings with which empty sub-partitions multiply; this follows from public values."""
        s = self.settings
        if s.eta is not None:
            return  # thresholds keep the expected number of empty sub-partitions per operation at eta or below
        name = "c1" if self.tree.height == 1 else "c2"  # the only operation of a flat taxonomy counts leaves
        constant = float(s.c1 if self.tree.height == 1 else s.c2)
        number = expected(self.tree, lambda h: chance(constant, h, rate))
        if number <= s.max_cells:
            return
        ways = []
        better = smallest_constant(self.tree, rate, s.max_cells)
        if better is not None:
            ways.append(f"{name}={better:g}")
        for fanout in range(min(s.fanout, self.tree.size) - 1, 1, -1):
            tree = ItemTree.of(self.tree.size, fanout, even=self.preset == "default")
            if expected(tree, lambda h: chance(float(s.c2), h, rate)) <= s.max_cells:
                ways.append(f"fanout={fanout}")
                break
        raise ParameterError(
            f"diffpart with {name}={constant:g} and fanout={s.fanout} expects {number:.2g} empty sub-partitions "
            f"to pass their tests, more than max_cells={s.max_cells}; "
            + (f"use {' or '.join(ways)}, or eta=1/4" if ways else "use eta=1/4")
        )


def _affordable(value: Ints, tested: Bools, cost: Floats, most: float) -> Ints:
    """The positions of the largest noisy counts whose costs add up to at most `most`.

    Sub-partitions that were not tested come first. Only released values are used.
    """
    score = np.where(tested, value, np.iinfo(np.int64).max)
    order = np.argsort(-score, kind="stable")
    return np.sort(order[np.cumsum(cost[order]) <= most])


def _sums(values: Ints, starts: Ints) -> Ints:
    """For each row of a ragged table, the sum of its entries, which are arrays."""
    total = np.concatenate([np.zeros((1, values.shape[1]), np.int64), np.cumsum(values, axis=0)])
    return np.asarray(total[starts[1:]] - total[starts[:-1]])


def _inner_nodes(tree: ItemTree) -> list[Ints]:
    """For each height and node, the number of nodes with two or more children in its subtree, by their height."""
    counts = [np.zeros((tree.size, tree.height + 1), dtype=np.int64)]
    for height, edge in enumerate(tree.edges, 1):
        here = np.add.reduceat(counts[-1], edge[:-1], axis=0)
        here[:, height] += np.diff(edge) > 1
        counts.append(here)
    return counts

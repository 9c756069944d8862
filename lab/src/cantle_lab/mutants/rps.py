"""NOT PRIVATE, on purpose: known ways to get the trusted code and RPS wrong, to show that the audit catches them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

import numpy as np

from cantle.audit import rps
from cantle.audit.enumerating import Enumerating
from cantle.audit.exact import Breakage, Config, Record, Table, replaced
from cantle.framework.ask import Ask
from cantle.framework.regions import Cut, Regions
from cantle.methods.rps.method import RPS
from cantle.trusted.claims.queries import Histogram, Marginals, Size
from cantle.trusted.claims.scores import Mix
from cantle.trusted.core.answers import Noisy
from cantle.trusted.core.budget import NANO, Budget, Price
from cantle.trusted.core.curator import Curator
from cantle.trusted.core.keys import OneWays
from cantle.trusted.core.stop_test import PrivTree
from cantle.trusted.counting.words import WordEngine
from cantle.trusted.geometry.boxes import Bools, Cuts, Frontier, Ints
from cantle.trusted.noise import Lanes, Rate
from cantle_lab.mutants.patches import INFINITE, Call, exact_of, inside, instead, leak, variant


def _codes(curator: Curator, nodes: Frontier, method: RPS) -> Ints:
    """Exact one-way tables of open regions."""
    return exact_of(curator, nodes, OneWays(tuple(range(len(method.sizes))), method.sizes, 1))


# ---- weights and rates --------------------------------------------------------------------------------------------


def _doubled_scores(original: Callable[..., Ints]) -> Callable[..., Ints]:
    return lambda self, children: 2 * original(self, children)


def _range_of_balance(_original: object) -> property:
    return property(lambda _self: 1)


@variant
def _doubled_flip(
    original: Call,
    self: Enumerating,
    lanes: Lanes,
    scores: Ints,
    starts: Ints,
    rate: Rate,
    weights: Ints | None = None,
    many: Ints | None = None,
) -> Ints:
    fast = Rate(2 * rate.num, rate.den) if weights is None else rate
    return original(self, lanes, scores, starts, fast, weights, many)


def doubled_laplace(original: Callable[..., Ints]) -> Callable[..., Ints]:
    return lambda self, lanes, counts, rate: original(self, lanes, counts, Rate(2 * rate.num, rate.den))


@variant
def _window_of_the_data(original: Call, self: Enumerating, lanes: Lanes, counts: Ints, rate: Rate) -> Ints:
    with_data = (0, 1 + int(counts.max(initial=0)))
    with_public, self.window = self.window, with_data
    noisy = original(self, lanes, counts, rate)
    self.window = with_public
    return noisy


def _one_table_only(_original: object) -> Callable[..., int]:
    return lambda _self, unit: unit.max_records


# ---- the budget ---------------------------------------------------------------------------------------------------


def _free(why: str) -> Callable[[Callable[..., Ints]], Callable[..., Ints]]:
    """Charges for this purpose are in the receipt, but not taken from the balance."""

    def make(original: Callable[..., Ints]) -> Callable[..., Ints]:
        def charge(self: Budget, ids: Ints, epsilon_nano: Price, **about: str | int) -> Ints:
            before = self._balance.copy()
            cost = original(self, ids, epsilon_nano, **about)
            if about["why"] == why:
                self._balance = before
            return cost

        return charge

    return make


@variant
def _first_sibling_pays(original: Call, self: Budget, ids: Ints, epsilon_nano: Price, **about: str | int) -> Ints:
    before = self._balance.copy()
    cost = original(self, ids, epsilon_nano, **about)
    self._balance[ids[1:]] = before[ids[1:]]
    return cost


@variant
def _moved(original: Call, self: Budget, parents: Ints, times: Ints) -> Ints:
    ids = original(self, parents, times)
    self._balance[ids[0::2]] -= NANO
    self._balance[ids[1::2]] += NANO
    return ids


def _parent_again() -> AbstractContextManager[None]:
    """Every parent keeps the budget that it passed on to its children, and spends it on its own size after the
    split."""
    split = Curator.__dict__["split"]

    def split_and_ask(self: Curator, nodes: Frontier, cuts: Cuts) -> Frontier:
        exact_size = exact_of(self, nodes, Size())[:, 0]
        children: Frontier = split(self, nodes, cuts)
        budget, noise = inside(self, "budget"), inside(self, "draws").noise
        cost = budget.left(nodes.ids)
        with replaced(Budget, "require_open", lambda _self, _ids: None):
            budget.charge(nodes.ids, cost, why="again", verb="measure", sensitivity=1, depth=nodes.depth)
        leak(noise, noise.laplace(Lanes(99, nodes.ids), exact_size, Rate(cost, NANO)).tolist())
        return children

    return replaced(Curator, "split", split_and_ask)


# ---- private values where only public ones are allowed --------------------------------------------------------------


@variant
def _observed_cuts(_original: Call, self: RPS, regions: Regions, ask: Ask) -> Cut:
    seen = np.flatnonzero(_codes(ask.curator, regions.nodes, self)[0])
    points = seen[seen > 0] if (seen > 0).any() else np.array([1])
    die = ask.coin(regions, np.array([len(points)]))
    return Cut(regions, Cuts(np.zeros(1, dtype=np.int64), points[die]))


@variant
def _narrow_by_data(original: Call, self: RPS, regions: Regions, ask: Ask) -> Bools:
    leaf = original(self, regions, ask)
    return np.asarray(leaf | ((_codes(ask.curator, regions.nodes, self) > 0).sum(axis=1) <= 1), dtype=np.bool_)


@variant
def _attribute_by_data(_original: Call, self: RPS, regions: Regions, ask: Ask) -> Ints:
    varies = (_codes(ask.curator, regions.nodes, self)[:, : self.sizes[0]] > 0).sum(axis=1) > 1
    return np.where(varies, 0, 1)


@variant
def _exact_records(original: Call, self: RPS, root: Regions, ask: Ask) -> None:
    original(self, root, ask)
    self.tree.declare(int(exact_of(ask.curator, root.nodes, Size())[0, 0]))


@variant
def _exact_depth(original: Call, self: RPS, root: Regions, ask: Ask) -> None:
    original(self, root, ask)
    left = int(ask.curator.left(root.nodes)[0])
    self._plan(left, int(exact_of(ask.curator, root.nodes, Size())[0, 0]), ask.unit)


@variant
def _occupied_leaves_only(original: Call, self: RPS, leaves: Regions, ask: Ask) -> None:
    occupied = leaves.take(exact_of(ask.curator, leaves.nodes, Size())[:, 0] > 0)
    if len(occupied):
        original(self, occupied, ask)


@variant
def _unpaid_vote(_original: Call, self: RPS, regions: Regions, ask: Ask) -> None:
    """Leaves as in the paper: a count with all that is left, and a majority vote at one unit that is not charged."""
    curator, leaves = ask.curator, regions.nodes
    counted = curator.measure(leaves, Size(), curator.left(leaves), why="leaf")
    votes = exact_of(curator, leaves, Histogram(self.classes))
    lanes = Lanes(99, leaves.ids)
    label = inside(curator, "draws").noise.laplace(lanes, votes[:, 1] - votes[:, 0], Rate(NANO, NANO))
    both = Noisy(np.column_stack([counted.value, label]), counted.rate_num, counted.rate_den)
    self.tree.note_leaves(leaves, both, curator.path(leaves))


@variant
def _in_both_children(original: Call, self: WordEngine, positions: Ints, cuts: Cuts) -> None:
    """Records just left of a cut, or with the lowest value of a set, are counted on its right as well."""
    twins = [np.zeros((0, self._layout.words), np.uint64)]
    for rows, local in self._read(positions):
        code = self._layout.pick(rows.T, cuts.attribute[local])
        twins.append(rows[code == (cuts.point[local] - 1 if cuts.left is None else 0)])
    original(self, positions, cuts)
    # One region is split here, so its right child is the last.
    self._rows = np.concatenate([self._rows, *twins])
    self._starts[-1] = len(self._rows)


# ---- PrivTree -----------------------------------------------------------------------------------------------------


@variant
def _values_shown(
    _original: Call, self: Enumerating, lanes: Lanes, counts: Ints, thresholds: Ints, rate: Rate
) -> Bools:
    """The noisy count behind each yes or no is released too, cut to a window at the threshold."""
    public, self.window = self.window, (int(thresholds[0]), int(thresholds[0]) + 3)
    noisy = self.laplace(lanes, counts, rate)
    self.window = public
    leak(self, noisy.tolist())
    return np.asarray(noisy > thresholds, dtype=np.bool_)


def _no_decay(_original: object) -> Callable[..., Ints]:
    return lambda self, counts, _tests: np.maximum(self.theta - self.delta, counts)


def _at_most(paid: int) -> Callable[[object], Callable[..., Ints]]:
    """All tests of a path together cost no more than this many of them."""
    return lambda _original: lambda self, tests, _records: np.minimum(tests, paid) * self.epsilon_nano


# ---- the table ----------------------------------------------------------------------------------------------------

_EIGHT: Table = ((0, 0),) * 4 + ((1, 0),) * 4
_SIX: Table = ((1, 0, 0),) * 3 + ((1, 1, 1),) * 3
_FAR: Record = (4, 0)
_SEEN = Config("cuts of ten values", (10,), rps.CHOICE.settings, 3)

RPS_BREAKAGES: tuple[Breakage, ...] = (
    Breakage("selection weight doubled", "2.1, Claim 13: exp(epsilon score / range)", rps.CHOICE, _EIGHT, (2, 0),
             4.99, instead(Mix, "scores", _doubled_scores)),
    Breakage("class-aware score with the range of balance", "2.1, Claim 2: range 3", rps.CLASSES, _SIX, (0, 1, 0),
             9.99, instead(Mix, "range", _range_of_balance)),
    Breakage("permute-and-flip at twice its rate", "2.1, Claim 1", rps.PICK, ((0, 0, 0),), (1, 0, 0),
             5, instead(Enumerating, "select", _doubled_flip)),
    Breakage("Laplace noise at twice its rate", "2.2, Claim 14", rps.LEAF, (), (0, 0),
             4, instead(Enumerating, "laplace", doubled_laplace)),
    Breakage("one-way tables with the sensitivity of one", "Claim 9: one for each table", rps.ONE_WAYS,
             ((0, 0, 0),), (0, 1, 0), 7.3, instead(Marginals, "sensitivity", _one_table_only)),
    Breakage("split not charged", "2.3, Claim 11: every question is paid", rps.CHOICE, _EIGHT, (2, 0),
             4.98, instead(Budget, "charge", _free("split"))),
    Breakage("stop test not charged", "2.3, Claim 11", rps.COUNTED, (), (0, 0),
             6, instead(Budget, "charge", _free("stop test"))),
    Breakage("only the first sibling charged", "2.3 (d): every path pays", rps.COUNTED_MIDDLE, (), (3, 0),
             9, instead(Budget, "charge", _first_sibling_pays)),
    Breakage("balance moved between siblings", "2.3 (e)", rps.COUNTED_MIDDLE, (), (3, 0),
             10, instead(Budget, "inherit", _moved)),
    Breakage("parent asked again after its split", "2.3, Claim 11: only open regions", rps.COUNTED_MIDDLE, (),
             (0, 0), 23, _parent_again),
    Breakage("records at the border in both children", "2.3 (b): exactly one child", rps.COUNTED_MIDDLE, (),
             (1, 0), 16, instead(WordEngine, "split", _in_both_children)),
    Breakage("records of a value in both sets", "Claim 70: exactly one child", rps.SUBSETS, ((1, 0), (1, 0)),
             (0, 0), 3.2, instead(WordEngine, "split", _in_both_children)),
    Breakage("cuts from observed values", "2.1: public candidates (I7)", _SEEN, ((5, 0),), (7, 0),
             INFINITE, instead(RPS, "partition", _observed_cuts)),
    Breakage("attribute picked by the data", "2.1: drawn by a public coin", rps.PICK, ((0, 0, 0),), (1, 0, 0),
             INFINITE, instead(RPS, "_random_attribute", _attribute_by_data)),
    Breakage("narrow judged on the data", "3.3: the width of the region (I6)", rps.CHOICE, ((0, 0),), (1, 0),
             INFINITE, instead(RPS, "stop", _narrow_by_data)),
    Breakage("exact number of records released", "3.3: N/2^d needs a charged N (I4)", rps.SIZED, (), (0, 0),
             INFINITE, instead(RPS, "begin", _exact_records)),
    Breakage("depth planned from the exact number of records", "2.3 (a)", rps.AUTO, (), (0, 0),
             INFINITE, instead(RPS, "begin", _exact_depth)),
    Breakage("empty leaves dropped", "1.1: same support on the empty table (I9)", rps.CHOICE, (), (0, 0),
             INFINITE, instead(RPS, "summarize", _occupied_leaves_only)),
    Breakage("noisy counts cut to a window of the data", "1.2: public bounds", rps.COUNTED, (), (0, 0),
             INFINITE, instead(Enumerating, "laplace", _window_of_the_data)),
    Breakage("unpaid majority vote", "3.3: count and label (I5)", rps.LEAF, (), (0, 0),
             3, instead(RPS, "summarize", _unpaid_vote), enumerate_leaves=True),
    Breakage("PrivTree's noisy values released", "2.4, Claim 12: yes or no only (I17)", rps.CHAIN,
             (_FAR, _FAR), _FAR, 5.4, instead(Enumerating, "above", _values_shown)),
    Breakage("PrivTree without decay", "2.4, Claim 12", rps.CHAIN, (_FAR,), _FAR,
             5.4, instead(PrivTree, "biased", _no_decay)),
    Breakage("PrivTree's lifetime price that of one test", "2.4, Claim 12: L > 2 epsilon_t", rps.CHAIN,
             (_FAR, _FAR), _FAR, 6.3, instead(PrivTree, "cost", _at_most(1))),
    Breakage("PrivTree's lifetime price without its series", "2.4, Claim 12: L > 2 epsilon_t", rps.CHAIN,
             (_FAR, _FAR), _FAR, 5.3, instead(PrivTree, "cost", _at_most(2))),
)  # fmt: skip

"""Known flaws, most of them from the papers, on one pair of inputs each, with their exact numbers.

I1, I2, I10, I11, I13 and I14 are closed forms in natural units of epsilon. All others, and a part of I11, run the
shipped code, sound and broken, in units of ln 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from cantle.audit import Number, degrees, rps, sets
from cantle.audit.enumerating import law
from cantle.audit.exact import Audit, Breakage, Shown, Table, base_two, with_records
from cantle.trusted.claims.scores import BALANCE, CLASS_AWARE, SCALE, InfoGain, Mix
from cantle.trusted.core import stop_test
from cantle.trusted.core.budget import NANO
from cantle.trusted.noise import Lanes, Rate
from cantle_lab.mutants.degrees import DEGREE_BREAKAGES, PRUNED, RECORD
from cantle_lab.mutants.diffgen import DIFFGEN_BREAKAGES, NO_EMPTY, NO_ENDS
from cantle_lab.mutants.diffpart import DIFFPART_BREAKAGES, ORDER, SEEN, TESTED
from cantle_lab.mutants.rps import RPS_BREAKAGES
from cantle_lab.papers.rps_degrees import hub_loss

_BREAKAGES = {one.name: one for one in (*RPS_BREAKAGES, *DIFFGEN_BREAKAGES, *DIFFPART_BREAKAGES)}
_OF_GRAPHS = {one.name: one for one in DEGREE_BREAKAGES}


def _flaw(name: str, what: str, loss: float, within: float = 1e-9) -> Number:
    """The loss that a breakage shows on its pair."""
    return Number(what, loss, (_OF_GRAPHS.get(name) or _BREAKAGES[name]).find(broken=True).loss, within)


# ---- closed forms ---------------------------------------------------------------------------------------------------


def _exponential(scores: Sequence[int], rate: float) -> float:
    """The probability that the exponential mechanism chooses the first candidate."""
    weights = [math.exp(rate * (score - max(scores))) for score in scores]
    return weights[0] / sum(weights)


def _flip_of_two(scores: Sequence[int], rate: float) -> float:
    """The probability that permute-and-flip chooses the first of two candidates, which has the lower score."""
    return math.exp(-rate * (scores[1] - scores[0])) / 2


def _loss(choose: Callable[[Sequence[int], float], float], scores: Sequence[Sequence[int]], rate: float) -> float:
    before, after = (choose(one, rate) for one in scores)
    return abs(math.log(after / before))


def _two_cuts(quality: Mix, records: int) -> list[list[int]]:
    """The scores of cuts by A and by B, before and after a record (A=0, B=1, +) is added.

    Before, there are `records` records of each of (A=1, B=0, +) and (A=1, B=1, -).
    """
    result = []
    for more in (0, 1):
        cut_a = np.array([more, 0]), np.array([records, records])
        cut_b = np.array([records, 0]), np.array([more, records])
        result.append([int(quality.scores(cut)) for cut in (cut_a, cut_b)])
    return result


def i1() -> tuple[Number, ...]:
    """RPS eq. (3) with the published weight exp(epsilon q); the scores here are 2q."""
    three, ten = _two_cuts(CLASS_AWARE, 3), _two_cuts(CLASS_AWARE, 10)
    return (
        Number("score of cut A before", 3, three[0][0]),
        Number("score of cut A after", 6, three[1][0]),
        Number("P[cut A] before, published", 0.0109869426, _exponential(three[0], 1 / 2), 5.1e-11),
        Number("P[cut A] after, published", 0.0474258732, _exponential(three[1], 1 / 2), 5.1e-11),
        Number("loss, published weight (claims 1)", 1.4624604, _loss(_exponential, three, 1 / 2)),
        Number("loss, published weight, ten of each", 1.4999989, _loss(_exponential, ten, 1 / 2)),
        Number("loss, exponential mechanism, range 3", 0.9216593, _loss(_exponential, three, 1 / CLASS_AWARE.range)),
        Number("loss, permute-and-flip, range 3", 1, _loss(_flip_of_two, three, 1 / CLASS_AWARE.range), 1e-12),
    )


def i2() -> tuple[Number, ...]:
    """RPS eq. (2): the published weight uses half of epsilon, ours all of it, and twice ours uses too much."""
    scores = _two_cuts(BALANCE, 5)
    return (
        Number("loss, exp(epsilon min), ours", 0.9885654, _loss(_exponential, scores, 1 / BALANCE.range)),
        Number("loss, exp(2 epsilon min)", 1.9997100, _loss(_exponential, scores, 2)),
        Number("loss, exp(epsilon min / 2), published", 0.4519617, _loss(_exponential, scores, 1 / 2)),
    )


# ---- through the shipped code ---------------------------------------------------------------------------------------


def i3() -> tuple[Number, ...]:
    """Permute-and-flip, range 1: the second candidate is chosen when scores (2, 0, 2, 2) become (3, 0, 3, 3)."""
    lanes, starts = Lanes(0, np.arange(1)), np.array([0, 4])
    before, after = (
        law(lambda noise, s=s: int(noise.select(lanes, np.array(s), starts, Rate(1, 1))[0]))[1]  # type: ignore[misc]
        for s in ([2, 0, 2, 2], [3, 0, 3, 3])
    )
    return (
        Number("P before", 1 / 16, float(before), 0),
        Number("P after", 1 / 32, float(after), 0),
        Number("loss", 1, math.log2(before / after), 0),
    )


def i4() -> tuple[Number, ...]:
    """Leaf sizes N / 2^d that reveal the exact number of records N."""
    return (_flaw("exact number of records released", "loss, exact N", math.inf),)


def i5() -> tuple[Number, ...]:
    """A leaf's count at 2 units and an unpaid vote at 1, with a claim of 2; the sound form is a class histogram."""
    flaw = _BREAKAGES["unpaid majority vote"]
    with flaw.patch():
        audit = Audit(flaw.config, enumerate_leaves=True)
        before, after = audit.law(()), audit.law((flaw.joins,))
    event: Shown = next(out for out in before if out[1] == (0, 1))
    one, two = before[event].probability, after[event].probability
    return (
        Number("P[count 0, label 1] before", 4 / 15, float(one), 0),
        Number("P[count 0, label 1] after", 1 / 30, float(two), 0),
        Number("loss, unpaid vote (claims 2 units)", 3, math.log2(one / two), 1e-12),
        Number("worst loss, class histogram at 2 units", 2, flaw.find(broken=False).loss, 1e-12),
    )


def i6() -> tuple[Number, ...]:
    """A region is called narrow by its records instead of by its public width."""
    return (_flaw("narrow judged on the data", "loss of a split", math.inf),)


def i7() -> tuple[Number, ...]:
    """The candidates for a cut are taken from the data."""
    return (_flaw("cuts from observed values", "loss of cut = 7", math.inf),)


def i8() -> tuple[Number, ...]:
    """The weight of a split is doubled inside a tree: the split pays 2 units and the leaf 1, with a claim of 3."""
    flaw = _BREAKAGES["selection weight doubled"]
    after = with_records(flaw.before, flaw.joins)
    clamped = Audit(rps.CHOICE, enumerate_leaves=True).compare(flaw.before, after)
    return (
        Number("worst loss, sound", 2.983257, flaw.find(broken=False).loss, 5.1e-7),
        Number("worst loss, sound, leaf counts cut to {0, 1}", 2.983257, clamped.loss, 5.1e-7),
        _flaw("selection weight doubled", "loss, doubled", 4.999670, 5.1e-7),
    )


def _share(flaw: Breakage, table: Table, event: Callable[[Shown], bool]) -> float:
    """The probability that the output for this table satisfies `event`."""
    outcomes = Audit(flaw.config, flaw.enumerate_leaves).law(table)
    return float(sum((outcome.probability for shown, outcome in outcomes.items() if event(shown)), Fraction(0)))


def i9() -> tuple[Number, ...]:
    """DiffGen without empty groups, and without end intervals.

    For D = {} and D' = {a}, with cells at 2 units, the event is that group a is listed. On [0, 10], with records at 3
    and 5 and then also at 9, the event is a split above 5.
    """
    groups, ends = _BREAKAGES[NO_EMPTY], _BREAKAGES[NO_ENDS]
    after = with_records(ends.before, ends.joins)

    def has_a(shown: Shown) -> bool:
        return 0 in shown[1][::2]

    def past_five(shown: Shown) -> bool:
        return any(f"cut of a0: [0, {point}, 11]" in shown[0] for point in range(6, 10))

    sound = _share(groups, (), has_a), _share(ends, ends.before, past_five), _share(ends, after, past_five)
    with groups.patch():
        dropped = _share(groups, (), has_a), _share(groups, (groups.joins,), has_a)
    with ends.patch():
        missing = _share(ends, ends.before, past_five), _share(ends, after, past_five)
    return (
        Number("P[group a present] before", 1 / 5, sound[0], 1e-12),
        Number("P[group a present] before, empty groups dropped", 0, dropped[0], 0),
        Number("P[group a present] after, empty groups dropped", 4 / 5, dropped[1], 1e-12),
        _flaw(NO_EMPTY, "loss, empty groups dropped", math.inf),
        Number("P[split in (5, 9)] before", 4 / 10, sound[1], 1e-12),
        Number("P[split in (5, 9)] after", 4 / 10, sound[2], 1e-12),
        Number("P[split in (5, 9)] before, end intervals missing", 0, missing[0], 0),
        Number("P[split in (5, 9)] after, end intervals missing", 4 / 6, missing[1], 1e-12),
        _flaw(NO_ENDS, "loss, end intervals missing", math.inf),
    )


# ---- sets and graphs ------------------------------------------------------------------------------------------------


def _reaches(threshold: float, count: int, rate: float) -> float:
    """P[count + Laplace noise of this rate >= threshold], for thresholds above the count."""
    return math.exp(-rate * (threshold - count)) / 2


def i10() -> tuple[Number, ...]:
    """Procedure 1 on two items with C1 = C2 = 1 and B = 0.1.

    A set that passes a test at B/2 is counted at B/2, and both noisy values must reach sqrt(2) noise scales. For D = {}
    and D' = {{1}}, the event is that {2} and {1, 2} are released and {1} is not.
    """
    rate = 0.05
    p, q = (_reaches(math.sqrt(2) / rate, count, rate) for count in (0, 1))
    # The published form makes four draws for three empty sets, and three for two. A draw for which no empty set is left
    # has no effect.
    two, three, four = 6 * p**2 * (1 - p) ** 2 / 3, 4 * p**3 * (1 - p), p**4
    before = p**2 * (two + (three + four) * (1 - p))
    after = p**2 * (3 * p**2 * (1 - p) + p**3) * (1 - q**2)
    sound = abs(math.log((1 - q**2) / (1 - p**2)))
    return (
        Number("P[{2} and {1, 2}] before, published", 4.217310594e-4, before, 5.1e-14),
        Number("P[{2} and {1, 2}] after, published", 5.921163046e-4, after, 5.1e-14),
        Number("loss, published (claims 0.1)", 0.3393353, math.log(after / before)),
        Number("loss, one draw for each empty set", 0.0015786, sound),
    )


def i11() -> tuple[Number, ...]:
    """Items 1 to 4 with B = 1 and C = 1: {1} is tested at B/6 and B/3, then counted at 5B/6.

    For D = {} and D' = {{1}}, the event is that {1} is released.
    """

    def loss(*passed: tuple[float, float]) -> float:
        """The loss of the event that the noisy value at each rate reaches so many noise scales."""
        chances = [[_reaches(scales / rate, count, rate) for scales, rate in passed] for count in (0, 1)]
        return math.log(math.prod(chances[1]) / math.prod(chances[0]))

    root2 = math.sqrt(2)
    return (
        Number(
            "loss, example budgets and tested leaves (claims 1)",
            4 / 3,
            loss((2 * root2, 1 / 6), (root2, 1 / 3), (root2, 5 / 6)),
            1e-12,
        ),
        Number("loss, leaves counted once", 1, loss((2 * root2, 1 / 6), (root2, 5 / 6)), 1e-12),
        _flaw(TESTED, "loss in units through the shipped code (claims 6)", 8),
        Number("worst loss in units, sound", 6, _BREAKAGES[TESTED].find(broken=False).loss, 1e-9),
    )


def i12() -> tuple[Number, ...]:
    """Three items: 3 units in all, a test at 1, counts from 2 on; D = {} and D' = {{2}}."""
    sound = Audit(sets.LISTED).compare((), ((1,),))
    return (
        _flaw(ORDER, "loss, sets that occur listed first", math.inf),
        _flaw(SEEN, "loss, universe from the data", math.inf),
        Number("worst loss in units, sound", 3, sound.loss, 1e-9),
    )


def i13() -> tuple[Number, ...]:
    """A wheel of 4 spokes loses its hub, with Laplace(5 / epsilon) noise in every bin of one degree.

    Losses are in units of epsilon.
    """
    before, after = np.bincount([4, 3, 3, 3, 3]), np.bincount([2, 2, 2, 2], minlength=5)
    moved = np.abs(before - after) / 5
    return (
        Number("loss of all bins together, over epsilon", 9 / 5, float(moved.sum()), 1e-12),
        Number("largest loss of one bin, over epsilon", 4 / 5, float(moved.max()), 1e-12),
    )


def i14() -> tuple[Number, ...]:
    """Smooth sensitivity applied to each leaf separately: a node is removed whose neighbours are in different
    leaves."""
    stated = ((12, 20, 60, 22.635), (2, 60, 300, 3.948), (1, 130, 700, 2.618))
    return tuple(
        Number(f"loss, {joined} neighbours (claims {epsilon})", loss, hub_loss(epsilon, joined, base), 5.1e-4)
        for epsilon, joined, base, loss in stated
    )


def i13_records() -> tuple[Number, ...]:
    """RPS on projected degrees with bound 2, charged as if a node were one record: a cut at 1 unit, leaves at 2.

    A 4-cycle loses a node, so degrees (2, 2, 2, 2) become (1, 1, 2). The event is a cut at 2, and counts of 1 and 0
    after they are cut to {0, 1}.
    """
    flaw, config = _OF_GRAPHS[RECORD], degrees.CYCLE
    small = degrees.GraphConfig("record budget", (), config.settings, 3, preset="paper", constants=config.constants)
    with flaw.patch():
        audit = Audit(small, enumerate_leaves=True)
        before, after = audit.law(flaw.before), audit.law(flaw.after)
    event = next(out for out in before if any("point [2]" in line for line in out[0]) and out[1] == (1, 0))
    return (
        Number("loss (claims 3 units)", 8.6630, before[event].bits - after[event].bits, 5.1e-5),
        Number("claim of the sound form, in units", 15, config.units, 0),
    )


def i16() -> tuple[Number, ...]:
    """Three disjoint edges, to which a node is added that is joined to all six ends; the bound is 1."""
    flaw, config = _OF_GRAPHS[PRUNED], degrees.STAR

    def change() -> int:
        counts = [np.bincount(config.engine(graph).degrees(1), minlength=2) for graph in (flaw.before, flaw.after)]
        return int(np.abs(counts[0] - counts[1]).sum())

    sound = change()
    with flaw.patch():
        pruned = change()
    return (
        Number("change of the histogram, nodes pruned", 6, pruned, 0),
        Number("change of the histogram, edges left out (at most 3)", 1, sound, 0),
        _flaw(PRUNED, "loss in units, nodes pruned (claims 2)", 6),
    )


def i17() -> tuple[Number, ...]:
    """PrivTree with a = 1/2, decay 1, threshold 1 and three tests on a path: yes or no alone, and with noisy values."""
    flaw = _BREAKAGES["PrivTree's noisy values released"]
    after = with_records(flaw.before, flaw.joins)
    with base_two():
        lifetime = stop_test.lifetime_bound(NANO, 1) / NANO
    answers = Audit(flaw.config).compare(flaw.before, after, leaves=False)
    with flaw.patch():
        values = Audit(flaw.config).compare(flaw.before, after, leaves=False)
    return (
        Number("bound L, any depth", 2.585, lifetime, 5.1e-4),
        Number("worst loss of three yes or no", 2.3219, answers.loss, 5.1e-5),
        Number("loss of three noisy values", 3, values.loss, 1e-9),
    )


def i18() -> tuple[Number, ...]:
    """Information gain is not monotone: one record may raise it by a whole bit, and the next may lower it."""

    def gain(*children: Sequence[int]) -> float:
        return int(InfoGain().scores([np.array(child) for child in children])) / SCALE

    floor = 1.01 / SCALE
    return (
        Number("gain of one record", 0, gain([1, 0], [0, 0]), 0),
        Number("gain of two, new class in a new child", 1, gain([1, 0], [0, 1]), 0),
        Number("gain of three, first class in the second child", 0.2516, gain([1, 0], [1, 1]), floor),
        Number("range over the largest change", 2, InfoGain().range / (SCALE + 1), 0),
    )


INSTANCES: dict[str, Callable[[], tuple[Number, ...]]] = {
    "I1": i1, "I2": i2, "I3": i3, "I4": i4, "I5": i5, "I6": i6, "I7": i7, "I8": i8, "I9": i9, "I10": i10, "I11": i11,
    "I12": i12, "I13": i13, "I13'": i13_records, "I14": i14, "I16": i16, "I17": i17, "I18": i18,
}  # fmt: skip

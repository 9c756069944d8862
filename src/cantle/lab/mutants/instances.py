"""Known flaws, most of them from the papers, on one pair of inputs each, with their exact numbers.

I1, I2, I10, I11, I13 and I14 are closed forms with a real epsilon. Everything else runs through the shipped code in
units of ln 2, sound and broken.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from cantle.audit import Number, degrees, diffpart, rps
from cantle.audit.enumerating import law
from cantle.audit.exact import Audit, Breakage, Shown, Table, base_two, with_records
from cantle.lab.mutants.degrees import DEGREE_BREAKAGES, PRUNED, RECORD, GraphBreakage
from cantle.lab.mutants.diffgen import DIFFGEN_BREAKAGES, NO_EMPTY, NO_ENDS
from cantle.lab.mutants.diffpart import DIFFPART_BREAKAGES, ORDER, SEEN, TESTED
from cantle.lab.mutants.rps import RPS_BREAKAGES
from cantle.trusted import stop_test
from cantle.trusted.budget import NANO
from cantle.trusted.noise import Lanes, Rate
from cantle.trusted.scores import BALANCE, CLASS_AWARE, SCALE, InfoGain, Mix

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def _breakage(name: str) -> Breakage:
    known = (*RPS_BREAKAGES, *DIFFGEN_BREAKAGES, *DIFFPART_BREAKAGES)
    return next(one for one in known if one.name == name)


def _graph_breakage(name: str) -> GraphBreakage:
    return next(one for one in DEGREE_BREAKAGES if one.name == name)


def _named(name: str) -> Breakage | GraphBreakage:
    return _graph_breakage(name) if any(one.name == name for one in DEGREE_BREAKAGES) else _breakage(name)


def _flaw(name: str, what: str, loss: float, within: float = 1e-9) -> Number:
    """The loss that a breakage shows on its pair."""
    return Number(what, loss, _named(name).find(broken=True).loss, within)


# ---- closed forms ---------------------------------------------------------------------------------------------------


def _exponential(scores: Sequence[int], rate: float) -> float:
    """Probability of the first candidate."""
    weights = [math.exp(rate * (score - max(scores))) for score in scores]
    return weights[0] / sum(weights)


def _flip_of_two(scores: Sequence[int], rate: float) -> float:
    """Probability of the first of two candidates, the lower one, by permute-and-flip."""
    return math.exp(-rate * (scores[1] - scores[0])) / 2


def _loss(choose: Callable[[Sequence[int], float], float], scores: Sequence[Sequence[int]], rate: float) -> float:
    before, after = (choose(one, rate) for one in scores)
    return abs(math.log(after / before))


def _two_cuts(quality: Mix, records: int) -> list[list[int]]:
    """Scores of the cuts A and B for records of (A=1, B=0, +) and (A=1, B=1, -), and after (A=0, B=1, +) joins."""
    result = []
    for more in (0, 1):
        cut_a = np.array([more, 0]), np.array([records, records])
        cut_b = np.array([records, 0]), np.array([more, records])
        result.append([int(quality.scores(cut)) for cut in (cut_a, cut_b)])
    return result


def i1() -> tuple[Number, ...]:
    """RPS eq. (3) at the published weight exp(epsilon q), scores 2q."""
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
    """RPS eq. (2): the published weight spends half, ours all, twice ours too much."""
    scores = _two_cuts(BALANCE, 5)
    return (
        Number("loss, exp(epsilon min), ours", 0.9885654, _loss(_exponential, scores, 1 / BALANCE.range)),
        Number("loss, exp(2 epsilon min)", 1.9997100, _loss(_exponential, scores, 2)),
        Number("loss, exp(epsilon min / 2), published", 0.4519617, _loss(_exponential, scores, 1 / 2)),
    )


# ---- through the shipped code ---------------------------------------------------------------------------------------


def i3() -> tuple[Number, ...]:
    """Permute-and-flip, range 1: scores (2, 0, 2, 2) to (3, 0, 3, 3), the second candidate."""
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
    """The exact number of records in N / 2^d."""
    return (_flaw("exact number of records released", "loss, exact N", math.inf),)


def i5() -> tuple[Number, ...]:
    """A leaf's count at 2 units and an unpaid vote at 1, claimed 2; the class histogram instead."""
    flaw = _breakage("unpaid majority vote")
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
    """Narrow judged on the data."""
    return (_flaw("narrow judged on the data", "loss of a split", math.inf),)


def i7() -> tuple[Number, ...]:
    """Candidates from the data."""
    return (_flaw("cuts from observed values", "loss of cut = 7", math.inf),)


def i8() -> tuple[Number, ...]:
    """The split weight doubled inside a tree: split 2 units, leaf 1, claimed 3."""
    flaw = _breakage("selection weight doubled")
    after = with_records(flaw.before, flaw.joins)
    clamped = Audit(rps.CHOICE, enumerate_leaves=True).compare(flaw.before, after)
    return (
        Number("worst loss, sound", 2.983257, flaw.find(broken=False).loss, 5.1e-7),
        Number("worst loss, sound, leaf counts cut to {0, 1}", 2.983257, clamped.loss, 5.1e-7),
        _flaw("selection weight doubled", "loss, doubled", 4.999670, 5.1e-7),
    )


def _share(flaw: Breakage, table: Table, event: Callable[[Shown], bool]) -> float:
    """The probability of an event."""
    found = Audit(flaw.config, flaw.enumerate_leaves).law(table)
    return float(sum((outcome.probability for shown, outcome in found.items() if event(shown)), Fraction(0)))


def i9() -> tuple[Number, ...]:
    """DiffGen on D = {}, D' = {a}: group a listed (cells at 2 units); on [0, 10] with 3, 5 and then 9: split past 5."""
    groups, ends = _breakage(NO_EMPTY), _breakage(NO_ENDS)
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
    """Procedure 1 on two items, C1 = C2 = 1, B = 0.1: what passes a test at B/2 is counted at B/2, and both must reach
    sqrt(2) noise scales. D = {}, D' = {{1}}; {2} and {1, 2} are released and {1} is not."""
    rate = 0.05
    p, q = (_reaches(math.sqrt(2) / rate, count, rate) for count in (0, 1))
    # Published: four draws for three empty sets, three for two; a draw that finds no empty set left is lost.
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
    """Items 1 to 4, B = 1, C = 1, D = {}, D' = {{1}}: {1} is released. Tested at B/6 and B/3, then counted at 5B/6."""

    def loss(*passed: tuple[float, float]) -> float:
        """Of reaching so many noise scales at each rate."""
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
        Number("worst loss in units, sound", 6, _breakage(TESTED).find(broken=False).loss, 1e-9),
    )


def i12() -> tuple[Number, ...]:
    """Three items, total 3 units, test 1, counts from 2 on; D = {}, D' = {{2}}."""
    sound = Audit(diffpart.LISTED).compare((), ((1,),))
    return (
        _flaw(ORDER, "loss, sets that occur listed first", math.inf),
        _flaw(SEEN, "loss, universe from the data", math.inf),
        Number("worst loss in units, sound", 3, sound.loss, 1e-9),
    )


def i13() -> tuple[Number, ...]:
    """A wheel of 4 spokes loses its hub, Laplace(5 / epsilon) in every bin of one degree; in units of epsilon."""
    before, after = np.bincount([4, 3, 3, 3, 3]), np.bincount([2, 2, 2, 2], minlength=5)
    moved = np.abs(before - after) / 5
    return (
        Number("loss of all bins together, over epsilon", 9 / 5, float(moved.sum()), 1e-12),
        Number("largest loss of one bin, over epsilon", 4 / 5, float(moved.max()), 1e-12),
    )


def _near(degrees: Ints, leaves: Ints, beta: float) -> Floats:
    """S of each leaf, one degree d: the largest e^(-beta j) (#{u: |deg - d| <= j + 1} + j + 1) over j."""
    far = math.ceil((2 * math.log(len(degrees)) + 1) / beta)  # e^(-beta j) (n + j + 1) is below 1 here and falls
    j, below = np.arange(far), np.concatenate([[0], np.cumsum(np.bincount(degrees))])
    upper = np.minimum(leaves[:, None] + j + 2, len(below) - 1)
    within = below[upper] - below[np.clip(leaves[:, None] - j - 1, 0, len(below) - 1)]
    return np.asarray((np.exp(-beta * j) * (within + j + 1)).max(axis=1))


def _hub(epsilon: float, joined: int, base: int) -> float:
    """The loss of all leaves, Cauchy noise of scale 6 S / (epsilon / 2), when a node goes: `joined` neighbours have the
    degrees base + 2, base + 4, ..., the rest of their neighbours has one edge. Leaves: degrees base + 1 to base + 2
    joined."""
    ends, leaves = base + 2 * np.arange(1, joined + 1), np.arange(base + 1, base + 2 * joined + 1)
    pendant = np.ones(int((ends - 1).sum()), dtype=np.int64)
    laws = []
    for graph in (np.concatenate([[joined], ends, pendant]), np.concatenate([ends - 1, pendant])):
        scale = 12 * _near(graph, leaves, epsilon / 12) / epsilon
        laws.append((np.bincount(graph, minlength=int(leaves[-1]) + 1)[leaves], scale))
    (one, scale), (two, other) = laws
    apart = np.hypot(one - two, scale - other)  # the largest log ratio is the hyperbolic distance of (place, scale)
    return float((2 * np.arcsinh(apart / np.sqrt(scale * other) / 2)).sum())


def i14() -> tuple[Number, ...]:
    """Smooth sensitivity in each leaf: a node whose neighbours lie in different leaves goes."""
    stated = ((12, 20, 60, 22.635), (2, 60, 300, 3.948), (1, 130, 700, 2.618))
    return tuple(
        Number(f"loss, {joined} neighbours (claims {epsilon})", loss, _hub(epsilon, joined, base), 5.1e-4)
        for epsilon, joined, base, loss in stated
    )


def i13_records() -> tuple[Number, ...]:
    """RPS on projected degrees, bound 2, a cut for 1 unit and leaves for 2, as if a node were one record: a 4-cycle
    loses a node, (2, 2, 2, 2) becomes (1, 1, 2). Cut at 2, counts cut to {0, 1} are 1 and 0."""
    flaw, config = _graph_breakage(RECORD), degrees.CYCLE
    small = degrees.GraphConfig("record budget", (), config.settings, 3, preset="paper", constants=config.constants)
    with flaw.patch():
        audit = Audit(small, enumerate_leaves=True)
        before, after = audit.law(flaw.before), audit.law(flaw.after)
    event = next(out for out in before if any("points [2]" in line for line in out[0]) and out[1] == (1, 0))
    return (
        Number("loss (claims 3 units)", 8.6630, before[event].bits - after[event].bits, 5.1e-5),
        Number("claim of the sound form, in units", 15, config.units, 0),
    )


def i16() -> tuple[Number, ...]:
    """Three disjoint edges, and a node joined to all six ends; bound 1."""
    flaw, config = _graph_breakage(PRUNED), degrees.STAR
    assert isinstance(flaw, GraphBreakage)

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
    """PrivTree with a = 1/2, decay 1, threshold 1, three tests on a path: answers alone, and with noisy values."""
    flaw = _breakage("PrivTree's noisy values released")
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
    """Information gain is not monotone: a record lifts it by a whole bit, and lowers it."""

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

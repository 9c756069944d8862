"""The black-box audit: the shipped publisher with its real noise, run many times on two neighbouring data sets.

The first runs serve to choose an event: the outcomes that distinguish the two data sets best. N further runs per data
set bound the probability of that event, from below on one data set and from above on the other (`confidence`). Epsilon
is then at least the logarithm of the ratio of the two bounds, except in one of 1,000 audits. A claim below that number
is wrong. Passing proves nothing: a flaw that shows only in events too rare for N runs is left to the exact audit.

Confidence bounds of a probability are exact (Clopper & Pearson 1934), without scipy: each is found by bisection on a
binomial tail, and of the last interval it is the end that keeps the bound valid.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from cantle.audit import Progress, Row
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.noise import Lanes, Rate, Secure

RUNS = 200
"""Default number of measured runs per data set; half as many choose the event."""

_SIGMAS = 3.3
"""The 99.95 % quantile of the normal distribution."""
_RARE = 7.6
"""-ln 0.0005: if an event did not occur in n runs, its probability is at most about this divided by n."""

UNLISTED = -(2**63)
"""Stands in for a noisy number that a release does not list."""


@dataclass(frozen=True)
class Outcome:
    """What one run shows: its shape, and noisy numbers by name, which are independent of each other given the shape."""

    shape: Hashable
    numbers: Mapping[Hashable, int] = field(default_factory=dict)


Draw = Callable[[bool, int], Sequence[Outcome]]
"""`draw(joined, runs)` makes this many runs, on the larger data set if `joined` and otherwise on the smaller."""


@dataclass(frozen=True, eq=False)
class Trial:
    """A claimed epsilon and the runs on a pair of neighbours that put it to the test."""

    name: str
    claimed: float
    draw: Draw
    runs: int | None = None
    """The number of measured runs, if the trial needs a certain one."""
    breaks: str = ""
    """The condition that is violated on purpose; empty for sound code."""


def run_statistical(
    trials: Iterable[Trial], progress: Progress | None = None, *, runs: int = RUNS, pilot: int | None = None
) -> list[Row]:
    """One row per trial: the claimed epsilon, and the measured lower bound of the true one."""
    report = progress or (lambda _text: None)
    rows = []
    for trial in trials:
        report(f"statistical: {trial.name}")
        rows.append(measure(trial, trial.runs or runs, pilot))
    return rows


def measure(trial: Trial, runs: int, pilot: int | None = None) -> Row:
    """Chooses an event on `pilot` runs per data set (default: half of `runs`, at least 100), then measures it on
    `runs` further ones."""
    few = pilot or max(100, runs // 2)
    event = choose_event(trial.draw(False, few), trial.draw(True, few), runs)
    smaller, larger = (sum(map(event.holds, trial.draw(joined, runs))) for joined in (False, True))
    more, less = (larger, smaller) if event.for_larger else (smaller, larger)
    lower_bound = epsilon_at_least(more, less, runs)
    side = "larger" if event.for_larger else "smaller"
    note = f"{more} of {runs} on the {side} data set, {less} on the other"
    kind = "broken sampled" if trial.breaks else "sampled"
    ok = lower_bound > trial.claimed if trial.breaks else lower_bound <= trial.claimed
    return Row(
        kind, trial.name, trial.claimed, max(0.0, lower_bound), ok, f"{trial.breaks}; {note}" if trial.breaks else note
    )


# ---- events ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Step:
    """The log odds that a noisy number gives the larger data set: `above` if it is at least `least`, else `below`."""

    least: int
    below: float
    above: float


@dataclass(frozen=True)
class Event:
    """All outcomes whose log odds for one of the two data sets are at least `at_least`."""

    shapes: Mapping[Hashable, float]
    steps: Mapping[Hashable, Mapping[Hashable, Step]]
    for_larger: bool = True
    at_least: float = 0.0

    def odds(self, outcome: Outcome) -> float:
        """The log odds of an outcome for the larger data set; 0 for a shape that did not occur when they were
        chosen."""
        total = self.shapes.get(outcome.shape, 0.0)
        for name, step in self.steps.get(outcome.shape, {}).items():
            total += step.above if outcome.numbers.get(name, UNLISTED) >= step.least else step.below
        return total

    def holds(self, outcome: Outcome) -> bool:
        odds = self.odds(outcome)
        return (odds if self.for_larger else -odds) >= self.at_least - 1e-9


def choose_event(smaller: Sequence[Outcome], larger: Sequence[Outcome], runs: int) -> Event:
    """The event that is expected to give the highest lower bound of epsilon with this many runs.

    The log odds of discrete Laplace noise on two neighbouring counts are a single step (docs/privacy.md, Claim 14), and
    those of independent numbers add up.
    """
    before, after = _by_shape(smaller), _by_shape(larger)
    shapes, steps = {}, {}
    for shape in {**before, **after}:
        one, two = before.get(shape, []), after.get(shape, [])
        shapes[shape] = math.log((len(two) + 0.5) / (len(one) + 0.5))
        names = dict.fromkeys(chain.from_iterable(outcome.numbers for outcome in (*one, *two)))
        steps[shape] = {name: _step(_values(one, name), _values(two, name)) for name in names if one and two}
    plain = Event(shapes, steps)
    odds = [plain.odds(outcome) for outcome in smaller], [plain.odds(outcome) for outcome in larger]
    best = max(_expectations(odds, runs), default=(0.0, True, 0.0))
    return Event(shapes, steps, best[1], best[2])


def _by_shape(outcomes: Iterable[Outcome]) -> dict[Hashable, list[Outcome]]:
    groups: dict[Hashable, list[Outcome]] = {}
    for outcome in outcomes:
        groups.setdefault(outcome.shape, []).append(outcome)
    return groups


def _values(outcomes: Iterable[Outcome], name: Hashable) -> list[int]:
    return [outcome.numbers.get(name, UNLISTED) for outcome in outcomes]


def _step(one: list[int], two: list[int]) -> Step:
    """The threshold at which the two samples differ most, with the log odds on either side of it."""

    def hits(least: int) -> tuple[int, int]:
        return sum(value >= least for value in one), sum(value >= least for value in two)

    def gap(least: int) -> float:
        before, after = hits(least)
        return abs(before / len(one) - after / len(two))

    least = max(sorted({*one, *two}), key=gap)
    before, after = hits(least)
    shares = (after + 0.5) / (len(two) + 1), (before + 0.5) / (len(one) + 1)
    return Step(least, math.log((1 - shares[0]) / (1 - shares[1])), math.log(shares[0] / shares[1]))


def _expectations(odds: tuple[list[float], list[float]], runs: int) -> Iterable[tuple[float, bool, float]]:
    """(expected bound of epsilon, direction, threshold) of each event, if it occurs again as often as in these runs.

    The bounds are Wald's; events whose lower bound is not above zero are left out.
    """
    for for_larger in (True, False):
        more, less = (odds[1], odds[0]) if for_larger else ([-x for x in odds[0]], [-x for x in odds[1]])
        for least in set(more):
            p, q = (sum(x >= least - 1e-9 for x in side) / len(side) for side in (more, less))
            low = p - _SIGMAS * math.sqrt(p * (1 - p) / runs)
            high = q + _SIGMAS * math.sqrt(q * (1 - q) / runs) + _RARE / runs
            if low > 0:
                yield math.log(low / high), for_larger, least


# ---- known instances with the real samplers -------------------------------------------------------------------------
# Instances of cantle_lab.mutants.instances, as single choices and counts, drawn many at a time. A published form that
# is not private needs EXPECTED_RUNS to be seen to break its claim; MARGIN times as many runs leave no doubt.

MARGIN = 4
EXPECTED_RUNS = {"I1": 11_000, "I1, epsilon 1/2": 14_000, "I5": 1_100}
"""Runs per data set after which the bounds (docs/privacy.md, Audits) reject the claim, if every event occurs exactly as
often as expected."""
LN2 = 693_147_180
"""ln 2 in nano-units, rounded down."""
TRIES = 5


def _choices(before: Sequence[int], after: Sequence[int], rate: Rate, *, flip: bool = False) -> Draw:
    """Selections among candidates with these scores, by the exponential mechanism or, with `flip`, permute-and-flip."""
    each = [Outcome(candidate) for candidate in range(len(before))]

    def draw(joined: bool, runs: int) -> list[Outcome]:
        scores = np.tile(np.array(after if joined else before, dtype=np.int64), runs)
        weights = None if flip else np.ones(len(scores), dtype=np.int64)
        starts = np.arange(0, len(scores) + 1, len(before))
        chosen = Secure().select(Lanes(0, np.arange(runs)), scores, starts, rate, weights)
        return [each[candidate] for candidate in chosen.tolist()]

    return draw


def _counts(count: int, runs: int, rate: Rate) -> Ints:
    """`runs` noisy counts of the same exact count."""
    return Secure().laplace(Lanes(0, np.arange(runs)), np.full(runs, count, dtype=np.int64), rate)


def _leaf(*, voted: bool) -> Draw:
    """I5: a leaf that is empty or holds one record of class 0, at 2 ln 2.

    If `voted`, its noisy size and an unpaid vote for the class are published, otherwise its class histogram.
    """

    def draw(joined: bool, runs: int) -> list[Outcome]:
        size = _counts(int(joined), runs, Rate(2 * LN2, 10**9))
        vote = _counts(-int(joined), runs, Rate(LN2, 10**9)) if voted else _counts(0, runs, Rate(2 * LN2, 10**9))
        return [Outcome(shape) for shape in zip((size > 0).tolist(), (vote > 0).tolist(), strict=True)]

    return draw


def _best(joined: bool, runs: int) -> list[Outcome]:
    """I15: the smallest of several counts at epsilon 1 is published."""
    tries = _counts(int(joined), runs * TRIES, Rate(1, 1)).reshape(runs, TRIES)
    return [Outcome(smallest) for smallest in tries.min(axis=1).clip(-TRIES, TRIES).tolist()]


def sampled_instances() -> list[Trial]:
    """Trials of the known instances: sound forms first, then published forms that break their claim."""
    three, two = ([3, 12], [6, 12]), ([0, 5], [1, 5])
    four = [2, 0, 2, 2], [3, 0, 3, 3]
    ln2 = LN2 / 10**9
    enough = {instance: MARGIN * runs for instance, runs in EXPECTED_RUNS.items()}
    eq3, weight = "eq. (3) at exp(epsilon q)", "2.1: exp(epsilon q / range)"
    return [
        Trial("I1: exponential mechanism, range 3", 1.0, _choices(*three, Rate(1, 3)), enough["I1"]),
        Trial("I1: permute-and-flip, range 3", 1.0, _choices(*three, Rate(1, 3), flip=True), enough["I1"]),
        Trial("I2: exp(epsilon min)", 1.0, _choices(*two, Rate(1, 1)), enough["I1"]),
        Trial(
            "I3: permute-and-flip, range 1",
            ln2,
            _choices(*four, Rate(LN2, 10**9), flip=True),
            enough["I1"],
        ),
        Trial("I5: class histogram", 2 * ln2, _leaf(voted=False), enough["I5"]),
        Trial(f"I1: {eq3}", 1.0, _choices(*three, Rate(1, 2)), enough["I1"], weight),
        Trial(
            f"I1: {eq3}, epsilon 1/2",
            0.5,
            _choices(*three, Rate(1, 4)),
            enough["I1, epsilon 1/2"],
            weight,
        ),
        Trial("I2: weight doubled, one record each", 1.0, _choices([0, 1], [1, 1], Rate(2, 1)), 4_000, weight),
        Trial("I5: unpaid majority vote", 2 * ln2, _leaf(voted=True), enough["I5"], "3.3: count and label"),
        Trial(f"I15: the best of {TRIES} published", 1.0, _best, 2_000, "7: K tries cost K epsilon"),
    ]


ALPHA = 0.0005
"""Each bound fails in at most one of 2,000 audits, so at least one of an audit's two bounds in at most one of 1,000
(docs/privacy.md, Audits)."""


def at_least(hits: int, runs: int, alpha: float = ALPHA) -> float:
    """The largest p under which this many hits or more have a probability of at most alpha; 0 without a hit.

    >>> at_least(0, 10), round(at_least(10, 10), 6) == round(0.0005**0.1, 6)
    (0.0, True)
    """
    if not 0 <= hits <= runs:
        raise ValueError("hits must be from 0 to the number of runs")
    if hits == 0:
        return 0.0
    k, choices = _terms(hits, runs)

    def rare(p: float) -> bool:
        return float(np.exp(choices + k * math.log(p) + (runs - k) * math.log1p(-p)).sum()) <= alpha

    return _last(rare)


def at_most(hits: int, runs: int, alpha: float = ALPHA) -> float:
    """The smallest p under which this many hits or fewer have a probability of at most alpha; 1 if all are hits.

    >>> at_most(10, 10), at_most(0, 10) == 1 - at_least(10, 10)
    (1.0, True)
    """
    return 1.0 - at_least(runs - hits, runs, alpha)


def epsilon_at_least(more: int, less: int, runs: int, alpha: float = ALPHA) -> float:
    """The lower bound of epsilon if an event occurred in `more` runs on one data set and in `less` on its neighbour.

    It is -inf if `more` is 0.
    """
    low, high = at_least(more, runs, alpha), at_most(less, runs, alpha)
    return math.log(low / high) if low > 0 else -math.inf


def _last(holds: Callable[[float], bool]) -> float:
    """The largest number in [0, 1] up to which a condition holds, approached from below; it must hold at 0."""
    low, high = 0.0, 1.0
    while high - low > 1e-15 and high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _terms(hits: int, runs: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """All k from `hits` to `runs`, and the logarithm of the number of ways to have k hits in this many runs."""
    k = np.arange(hits, runs + 1)
    first = math.lgamma(runs + 1) - math.lgamma(hits + 1) - math.lgamma(runs - hits + 1)
    return k, first + np.cumsum(np.concatenate([[0.0], np.log(runs - k[:-1]) - np.log(k[1:])]))

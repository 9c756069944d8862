"""The black-box audit: the shipped publisher with its real noise, run many times on two neighbouring data sets.

An event is chosen on runs of its own, by which outcomes tell the two data sets apart best there. On fresh runs, N for
each data set, its probabilities are bounded from below and from above (`bounds`); epsilon is then at least the
logarithm of their ratio, except in one of 1,000 audits. A claim below that number is wrong. Passing proves nothing: a
flaw that needs rarer events than N runs show is for the exact audit to find.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from cantle.audit import Progress, Row
from cantle.audit.confidence import epsilon_at_least

RUNS = 200
"""Runs of each data set that are measured, where the caller does not say; half as many choose the event."""

UNLISTED = -(2**63)
"""Stands for a number that a release leaves out."""


@dataclass(frozen=True)
class Outcome:
    """What one run shows: a public shape, and noisy numbers by name, independent of each other given the shape."""

    shape: Hashable
    numbers: Mapping[Hashable, int] = field(default_factory=dict)


Draw = Callable[[bool, int], Sequence[Outcome]]
"""So many runs, on the larger data set or on the smaller."""


@dataclass(frozen=True, eq=False)
class Trial:
    """A claim about a pair of neighbours; `breaks` says which condition is violated on purpose, if one is."""

    name: str
    claimed: float
    draw: Draw
    runs: int | None = None
    """Where the number of runs is part of the trial."""
    breaks: str = ""


def run_statistical(
    trials: Iterable[Trial], progress: Progress | None = None, *, runs: int = RUNS, pilot: int | None = None
) -> list[Row]:
    """One row a trial: epsilon as claimed, and what it is at least as measured."""
    report = progress or (lambda _text: None)
    rows = []
    for trial in trials:
        report(f"statistical: {trial.name}")
        rows.append(measure(trial, trial.runs or runs, pilot))
    return rows


def measure(trial: Trial, runs: int, pilot: int | None = None) -> Row:
    """Chooses the event on `pilot` runs of each data set (default: half as many), measures it on `runs` others."""
    few = pilot or max(100, runs // 2)
    event = choose_event(trial.draw(False, few), trial.draw(True, few), runs)
    smaller, larger = (sum(map(event.holds, trial.draw(joined, runs))) for joined in (False, True))
    more, less = (larger, smaller) if event.for_larger else (smaller, larger)
    found = epsilon_at_least(more, less, runs)
    side = "larger" if event.for_larger else "smaller"
    note = f"{more} of {runs} on the {side} data set, {less} on the other"
    kind = "broken sampled" if trial.breaks else "sampled"
    ok = found > trial.claimed if trial.breaks else found <= trial.claimed
    return Row(
        kind, trial.name, trial.claimed, max(0.0, found), ok, f"{trial.breaks}; {note}" if trial.breaks else note
    )


# ---- events ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Step:
    """A noisy number speaks by `above` for the larger data set if it reaches `least`, else by `below`."""

    least: int
    below: float
    above: float


@dataclass(frozen=True)
class Event:
    """All outcomes that speak for one of the two data sets by at least so much (log odds)."""

    shapes: Mapping[Hashable, float]
    steps: Mapping[Hashable, Mapping[Hashable, Step]]
    for_larger: bool = True
    at_least: float = 0.0

    def odds(self, outcome: Outcome) -> float:
        """How much an outcome speaks for the larger data set; nothing for a shape that was not seen before."""
        made = self.shapes.get(outcome.shape, 0.0)
        for name, step in self.steps.get(outcome.shape, {}).items():
            made += step.above if outcome.numbers.get(name, UNLISTED) >= step.least else step.below
        return made

    def holds(self, outcome: Outcome) -> bool:
        odds = self.odds(outcome)
        return (odds if self.for_larger else -odds) >= self.at_least - 1e-9


def choose_event(smaller: Sequence[Outcome], larger: Sequence[Outcome], runs: int) -> Event:
    """The event for which so many runs can be expected to bound epsilon best.

    Discrete Laplace noise on two neighbouring counts has odds that are a single step (docs/privacy.md, Claim 14), and
    independent numbers add theirs up.
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
    found: dict[Hashable, list[Outcome]] = {}
    for outcome in outcomes:
        found.setdefault(outcome.shape, []).append(outcome)
    return found


def _values(outcomes: Iterable[Outcome], name: Hashable) -> list[int]:
    return [outcome.numbers.get(name, UNLISTED) for outcome in outcomes]


def _step(one: list[int], two: list[int]) -> Step:
    """The threshold at which the two samples differ most, and what either side of it says."""

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
    """What each event (direction, threshold) would show if it came as often again: Wald's bounds, kept off zero."""
    for for_larger in (True, False):
        more, less = (odds[1], odds[0]) if for_larger else ([-x for x in odds[0]], [-x for x in odds[1]])
        for least in set(more):
            p, q = (sum(x >= least - 1e-9 for x in side) / len(side) for side in (more, less))
            low = p - _SIGMAS * math.sqrt(p * (1 - p) / runs)
            high = q + _SIGMAS * math.sqrt(q * (1 - q) / runs) + _RARE / runs
            if low > 0:
                yield math.log(low / high), for_larger, least


_SIGMAS = 3.3
"""Of a normal bound at 99.95 %."""
_RARE = 7.6
"""Runs without a hit bound a probability by this over their number: -ln 0.0005."""

"""Instances of docs/privacy.md, section 10.3, drawn with the real samplers: single choices and counts, many at once.

The stated number of runs is needed to show that a published form exceeds its claim; we use four times as many.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from cantle.audit.black_box import Draw, Outcome, Trial
from cantle.trusted.geometry.boxes import Ints
from cantle.trusted.noise import Lanes, Rate, Secure

MARGIN = 4
RUNS = {"I1": 11_000, "I1, epsilon 1/2": 14_000, "I5": 1_100}
"""After which docs/privacy.md, section 10.2, expects a rejection."""
LN2 = 693_147_180
"""ln 2 in nano-units, rounded down."""
TRIES = 5


def _choices(before: Sequence[int], after: Sequence[int], rate: Rate, *, flip: bool = False) -> Draw:
    """Selections among candidates of these scores: exponential mechanism, or permute-and-flip."""
    each = [Outcome(candidate) for candidate in range(len(before))]

    def draw(joined: bool, runs: int) -> list[Outcome]:
        scores = np.tile(np.array(after if joined else before, dtype=np.int64), runs)
        weights = None if flip else np.ones(len(scores), dtype=np.int64)
        starts = np.arange(0, len(scores) + 1, len(before))
        chosen = Secure().select(Lanes(0, np.arange(runs)), scores, starts, rate, weights)
        return [each[candidate] for candidate in chosen.tolist()]

    return draw


def _counts(count: int, runs: int, rate: Rate) -> Ints:
    """This many noisy counts."""
    return Secure().laplace(Lanes(0, np.arange(runs)), np.full(runs, count, dtype=np.int64), rate)


def _leaf(*, voted: bool) -> Draw:
    """I5: a leaf of no record or of one of class 0, at 2 ln 2. Its size and an unpaid vote, or its class histogram."""

    def draw(joined: bool, runs: int) -> list[Outcome]:
        size = _counts(int(joined), runs, Rate(2 * LN2, 10**9))
        vote = _counts(-int(joined), runs, Rate(LN2, 10**9)) if voted else _counts(0, runs, Rate(2 * LN2, 10**9))
        return [Outcome(shape) for shape in zip((size > 0).tolist(), (vote > 0).tolist(), strict=True)]

    return draw


def _best(joined: bool, runs: int) -> list[Outcome]:
    """I15: of several counts at epsilon 1 the smallest is published."""
    tries = _counts(int(joined), runs * TRIES, Rate(1, 1)).reshape(runs, TRIES)
    return [Outcome(smallest) for smallest in tries.min(axis=1).clip(-TRIES, TRIES).tolist()]


def best_of(chance: float, other: float, tries: int) -> float:
    """The loss of the event that all tries come out in a way that has these chances (I15)."""
    return tries * abs(math.log(chance / other))


def instances() -> list[Trial]:
    """Sound forms and published ones."""
    three, two = ([3, 12], [6, 12]), ([0, 5], [1, 5])
    four = [2, 0, 2, 2], [3, 0, 3, 3]
    ln2 = LN2 / 10**9
    eq3, weight = "eq. (3) at exp(epsilon q)", "2.1: exp(epsilon q / range)"
    return [
        Trial("I1: exponential mechanism, range 3", 1.0, _choices(*three, Rate(1, 3)), MARGIN * RUNS["I1"]),
        Trial("I1: permute-and-flip, range 3", 1.0, _choices(*three, Rate(1, 3), flip=True), MARGIN * RUNS["I1"]),
        Trial("I2: exp(epsilon min)", 1.0, _choices(*two, Rate(1, 1)), MARGIN * RUNS["I1"]),
        Trial("I3: permute-and-flip, range 1", ln2, _choices(*four, Rate(LN2, 10**9), flip=True), MARGIN * RUNS["I1"]),
        Trial("I5: class histogram", 2 * ln2, _leaf(voted=False), MARGIN * RUNS["I5"]),
        Trial(f"I1: {eq3}", 1.0, _choices(*three, Rate(1, 2)), MARGIN * RUNS["I1"], weight),
        Trial(f"I1: {eq3}, epsilon 1/2", 0.5, _choices(*three, Rate(1, 4)), MARGIN * RUNS["I1, epsilon 1/2"], weight),
        Trial("I2: weight doubled, one record each", 1.0, _choices([0, 1], [1, 1], Rate(2, 1)), 4_000, weight),
        Trial("I5: unpaid majority vote", 2 * ln2, _leaf(voted=True), MARGIN * RUNS["I5"], "3.3: count and label"),
        Trial(f"I15: the best of {TRIES} published", 1.0, _best, 2_000, "7: K tries cost K epsilon"),
    ]

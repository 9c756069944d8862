"""Stop tests whose price does not grow with the depth (PrivTree, integer form).

Test number d = 0, 1, 2, ... on a path, true count c: b = max(theta - delta, c - d * delta); continue iff b + Z > theta,
Z discrete Laplace of rate epsilon_t. Only the yes or no may be used; the noisy value is discarded.

Claim 12. m tests on a path lose at most min(m * epsilon_t, L), whatever the depth and for any splits, with
a = e^-epsilon_t and
    L = 2 epsilon_t + sum over j >= 1 of ln[(1 + a - a^(1 + j delta)) / (1 + a - a^(j delta))].
Let D' be D and one more record, f(x) = P[x + Z > theta]. "No" is less likely under D' by at most e^-epsilon_t and
ends the path. "Yes" at x multiplies by f(x)/f(x-1) >= 1, which is e^epsilon_t for x <= theta + 1 and falls above it.
Counts do not grow along a path, so b falls by at least delta per test until it stays at theta - delta for both
data sets (factor 1). The worst sequence is theta - delta + 1, theta + 1, theta + 1 + delta, ...: the sum above.
For a unit of k records the tests run at rate epsilon_t / k and lose at most k times the bound for one record.
tests/trusted/test_stop_test.py checks the bound, tests/audit the runs that use it.

The bound on the loss of a path holds if all its tests are of one kind, are numbered from 0 without gaps, and end with
the first "no". The curator keeps track of that here (`TestedPaths`).
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal, localcontext
from functools import lru_cache
from typing import ClassVar

import numpy as np

from cantle.errors import ParameterError
from cantle.trusted.core.budget import MOST, NANO
from cantle.trusted.geometry.boxes import Bools, Ints

MOST_COUNT = 1 << 40
MOST_TESTS = 1 << 20  # most tests on a path, so that no product below exceeds 64 bits

_DIGITS = 60
_SLACK = Decimal(10) ** -40  # far above the rounding of the few thousand 60-digit operations below


def _term_bound(a: Decimal, power: Decimal) -> Decimal:
    """Upper bound of the term of the sum with p = power = a^(j delta).

    ln[(1+a-a*p)/(1+a-p)] <= (1-a)p/(1+a-p) because ln(1+x) <= x. From one term to the next p shrinks by a^delta, so
    all terms from this one on are together at most this bound / (1 - a^delta).
    """
    return (1 - a) * power / (1 + a - power)


@lru_cache(maxsize=4096)
def lifetime_bound(epsilon_nano: int, delta: int, records: int = 1) -> int:
    """L in nano-units, rounded up: the total loss of all tests of a path."""
    with localcontext(Context(prec=_DIGITS)):
        rate = Decimal(epsilon_nano) / (NANO * records)
        a, step = (-rate).exp(), (-rate * delta).exp()
        total, power = 2 * rate, step
        for _ in range(2000):
            rest = _term_bound(a, power) / (1 - step)
            if rest < Decimal(10) ** -12:
                break
            total += ((1 + a - a * power) / (1 + a - power)).ln()
            power *= step
        bound = (total + _term_bound(a, power) / (1 - step) + _SLACK) * records * NANO
        return int(bound.to_integral_value(rounding=ROUND_CEILING))


@dataclass(frozen=True)
class PrivTree:
    """The tests of one run: threshold, decay, and the price of a single test in nano-units."""

    theta: int
    delta: int
    epsilon_nano: int
    kind: ClassVar[str] = "tables"

    def __post_init__(self) -> None:
        whole = all(type(number) is int for number in (self.theta, self.delta, self.epsilon_nano))
        if not whole or abs(self.theta) > MOST_COUNT or not 1 <= self.delta <= MOST_COUNT:
            raise ParameterError("PrivTree tests need a whole threshold and a whole decay of at least 1, below 2^40")
        if not 1 <= self.epsilon_nano <= MOST:
            raise ParameterError("PrivTree tests need a price of a whole positive number of nano-units of epsilon")

    def cost(self, tests: Ints, records: int) -> Ints:
        """The loss of a path with this many tests, in nano-units."""
        lifetime = self.lifetime(records)
        paid_up = lifetime // self.epsilon_nano  # from this many tests on, the lifetime price is reached
        return np.where(tests <= paid_up, np.minimum(tests, paid_up) * self.epsilon_nano, lifetime)

    def lifetime(self, records: int) -> int:
        """What all tests of a path lose together, however many they are, in nano-units."""
        return lifetime_bound(self.epsilon_nano, self.delta, records)

    def biased(self, exact_counts: Ints, tests: Ints) -> Ints:
        """b: counts minus the decay, never below theta - delta."""
        return np.maximum(self.theta - self.delta, exact_counts - tests * self.delta)

    @staticmethod
    def within(budget_nano: int, theta: int, fanout: int = 2, records: int = 1) -> PrivTree:
        """The strongest tests whose lifetime price is at most the budget; decay ceil(ln(fanout) / rate).

        The decay keeps the expected number of spurious splits of an empty region below 1.
        """
        low, high = 1, budget_nano
        while low < high:
            middle = (low + high + 1) // 2
            if lifetime_bound(middle, _decay(middle, fanout, records), records) <= budget_nano:
                low = middle
            else:
                high = middle - 1
        if lifetime_bound(low, _decay(low, fanout, records), records) > budget_nano:
            raise ParameterError("the budget for stop tests is too small; raise epsilon or use stop=none")
        return PrivTree(theta, _decay(low, fanout, records), low)


def _decay(epsilon_nano: int, fanout: int, records: int) -> int:
    with localcontext(Context(prec=_DIGITS)):
        rate = Decimal(epsilon_nano) / (NANO * records)
        return int((Decimal(fanout).ln() / rate).to_integral_value(rounding=ROUND_CEILING))


class TestedPaths:
    """The tests of the open regions, by position; starts with the root alone, untested."""

    def __init__(self) -> None:
        self._stop: PrivTree | None = None
        self._tests: Ints = np.zeros(1, dtype=np.int64)
        self._ended: Bools = np.zeros(1, dtype=np.bool_)

    def next_tests(self, positions: Ints, stop: PrivTree) -> Ints:
        """The number of the next test of each region; refuses tests that Claim 12 does not cover."""
        if self._stop not in (None, stop):
            raise ParameterError("all stop tests of a run share one threshold, decay and price")
        if self._ended[positions].any() or (self._tests[positions] >= MOST_TESTS).any():
            raise ParameterError("a region whose path was told to stop or tested too often cannot be tested again")
        return self._tests[positions]

    def begin(self, positions: Ints, stop: PrivTree) -> None:
        """Records that these regions are tested now; the tests are paid for, even if they fail."""
        self._stop = stop
        self._tests[positions] += 1

    def end(self, positions: Ints, goes_on: Bools) -> None:
        """Records the answers."""
        self._ended[positions] = ~goes_on

    def split(self, positions: Ints, times: Ints) -> None:
        """Moves on to the children, `times` of each listed region; they continue the path of their parent."""
        self._tests = np.repeat(self._tests[positions], times)
        self._ended = np.repeat(self._ended[positions], times)

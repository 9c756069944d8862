"""The samplers' decisions in arbitrary precision, for the rare word that a float enclosure cannot decide.

All decide one question about a uniform number V of [0, 1) whose binary digits are drawn as needed: on which side
of a bound does it lie? Digits and precision grow until the answer is certain. The answer is a function of V
alone, so the law is exact, and the fast and the slow stage agree draw by draw.

`exp_minus` is exp(-x) in float64 with a proved error bound, from IEEE additions and multiplications only.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from itertools import accumulate, count
from math import factorial

import numpy as np

from cantle.trusted.noise.base import Floats

SPREAD = 2.0**-43
LARGEST = 128.0

_LOG2_E = 1.4426950408889634
_LN2_HIGH = float.fromhex("0x1.62e42fefa0000p-1")  # 36 significant bits: times k <= 185 it is exact
_LN2_LOW = float.fromhex("0x1.cf79abc9e3b3ap-40")  # ln 2 - _LN2_HIGH, rounded
_TAYLOR = [(-1.0) ** i / factorial(i) for i in range(12)]


def exp_minus(x: Floats) -> Floats:
    """Approximate exp(-x) for an x >= 0 that carries up to five roundings.

    Claim 15. With t = exp(-true x): |result - t| <= SPREAD * result if x <= LARGEST; beyond, the result is
    exp_minus(LARGEST) < 2**-184 and 0 <= t <= result * (1 + SPREAD). In both cases the absolute error is
    below SPREAD * result + 2**-184.

    Proof, in units of u = 2**-53, relative errors unless said otherwise, second order left to the slack.
    1. Five roundings of x <= 128 move exp(-x) by at most 5 * 128 = 640 u.
    2. k = rint(x * log2(e)) <= 185 and |x * log2(e) - k| < 1/2 + 2**-40, so |r| < 0.347 for the exact
       r = x - k ln 2. k * _LN2_HIGH is exact; the two subtractions round by at most u/4 each, _LN2_LOW and
       its product by less than u/4 together: r, hence exp(-r), is off by at most u.
    3. Taylor to degree 11: |remainder| <= 0.347**12 / 12! * e**0.347 < 9.01e-15, that is 115 u of
       exp(-r) >= 0.7068.
    4. Horner with rounded coefficients: (2 * 11 + 1) u * sum |r|**i / i! <= 23 * 1.415 u, that is 47 u.
    5. The power of two is exact: the result is at least 2**-186, far from subnormal numbers.
    Sum: 640 + 1 + 115 + 47 = 803 u < 1024 u = SPREAD. The true exp(-128) is below 2**-184.6.
    """
    x = np.minimum(x, LARGEST)
    k = np.rint(x * _LOG2_E)
    r = x - k * _LN2_HIGH
    r -= k * _LN2_LOW
    result = r * _TAYLOR[11]
    for coefficient in _TAYLOR[10:0:-1]:
        result += coefficient
        result *= r
    result += 1.0
    result *= ((1023 - k.astype(np.int64)) << 52).view(np.float64)  # 2**-k, by its exponent bits
    return np.asarray(result)


def minus_log_complement(p: Floats) -> Floats:
    """-ln(1 - p) for 0 <= p <= 1/64, within a relative 2**-48 for exact p.

    The series p + p**2/2 + ... cut after p**8/8 loses a relative 2**-50, its 8 Horner steps 20 * 2**-53.
    """
    series = np.zeros_like(p)
    for i in range(8, 0, -1):
        series = series * p + 1 / i
    return np.asarray(series * p)


CUT = 2**62


class Uniform:
    """V in [digits, digits + 1) / 2**bits; `more` returns the next 64 digits."""

    def __init__(self, digits: int, bits: int, more: Callable[[], int]) -> None:
        self.digits, self.bits, self._more = digits, bits, more

    def extend(self) -> None:
        self.digits, self.bits = self.digits << 64 | self._more(), self.bits + 64

    def below(self, bounds: Callable[[int], tuple[int, int]]) -> bool:
        """Whether V < p, where bounds(bits) = (low, high) encloses p * 2**bits, a few units apart."""
        while True:
            low, high = bounds(self.bits)
            if self.digits + 1 <= low:
                return True
            if self.digits >= high:
                return False
            self.extend()


def _context(digits: int) -> Context:
    return Context(prec=digits, Emax=MAX_EMAX, Emin=MIN_EMIN)


def exp_bounds(num: int, den: int, bits: int) -> tuple[int, int]:
    """Integers low <= exp(-num/den) * 2**bits <= low + 3.

    For x <= bits the roundings of quotient, exp (correctly rounded) and product come to a relative error of
    (bits + 3) * 10**(1-prec), less than 1 after scaling: 2**bits < 10**(bits*0.302+1), bits+3 < 10**(len+1).
    """
    if num == 0:
        return 1 << bits, 1 << bits
    if num > den * bits:
        return 0, 1  # exp(-x) < 2**-x
    context = _context(bits * 302 // 1000 + len(str(bits)) + 5)
    power = context.exp(context.divide(Decimal(-num), Decimal(den)))
    middle = int(context.multiply(power, Decimal(1 << bits)))
    return max(0, middle - 1), middle + 2


def flag(uniform: Uniform, num: int, den: int) -> bool:
    """Whether V < exp(-num/den)."""
    return uniform.below(lambda bits: exp_bounds(num, den, bits))


def tail_bounds(num: int, den: int, k: int, two_sided: bool, bits: int) -> tuple[int, int]:
    """Bounds of a**k, a = exp(-num/den), or of 2 a**k / (1 + a) if two-sided."""
    if not two_sided:
        return exp_bounds(num * k, den, bits)
    fine = bits + 8
    low, high = exp_bounds(num * k, den, fine)
    less, more = exp_bounds(num, den, fine)
    return (low << bits + 1) // ((1 << fine) + more), -(-(high << bits + 1) // ((1 << fine) + less))


def tail(uniform: Uniform, num: int, den: int, two_sided: bool) -> int:
    """The largest k >= 0 with k = 0 or V < tail(k), cut at 2**62; `Sampler.laplace` says why that changes nothing."""
    while uniform.digits.bit_length() < 96:
        uniform.extend()
    context = _context(60)
    rate = context.divide(Decimal(-num), Decimal(den))
    scaled = context.divide(Decimal(uniform.digits), Decimal(1 << uniform.bits))
    if two_sided:
        scaled = context.multiply(scaled, context.divide(context.add(1, context.exp(rate)), Decimal(2)))
    k = min(CUT, max(0, int(context.divide(context.ln(scaled), rate))))  # a guess, corrected below

    def reaches(k: int) -> bool:
        return uniform.below(lambda bits: tail_bounds(num, den, k, two_sided, bits))

    while k < CUT and reaches(k + 1):
        k += 1
    while k > 0 and not reaches(k):
        k -= 1
    return k


def choice(uniform: Uniform, gaps: Sequence[int], weights: Sequence[tuple[int, int]], num: int, den: int) -> int:
    """The index i with C(i-1) <= V C(n-1) < C(i), C the running sums of m exp(-num/den * gap) / w, (m, w) the weights.

    Each term in units of 2**-bits lies in [t, t + 4m] for the integer t computed, so sums in [C, C + 4 sum(m)].
    """
    n, slack = len(gaps), 4 * sum(m for m, _ in weights)
    while True:
        bits = uniform.bits + 192  # beyond the digits of V also those a weight of 1 / 2**63 shifts out
        powers = {gap: exp_bounds(num * gap, den, bits)[0] for gap in set(gaps)}
        sums = list(accumulate(powers[gap] * m // w for gap, (m, w) in zip(gaps, weights, strict=True)))
        low = uniform.digits * sums[-1] >> uniform.bits
        high = ((uniform.digits + 1) * (sums[-1] + slack) >> uniform.bits) + 1
        i = bisect_right(sums, low)
        if (i == 0 or sums[i - 1] + slack <= low) and (i == n - 1 or high <= sums[i]):
            return i
        uniform.extend()


def binomial_bounds(trials: int, num: int, den: int, at_least: int, k: int, bits: int) -> tuple[int, int]:
    """Bounds of P[K <= k], K ~ Binomial(trials, p = t / (1 + a)), a = exp(-num/den), t = a**at_least.

    With u = 10**(1-prec): a and t are off by 2u absolutely, ln(1-p) by 20u, so the first term by a relative
    trials * 20u < 10**20 u. Each further term adds the relative error of t and of six roundings, below
    10**17 u while at_least * num/den < 10**16; beyond, t < 10**-(10**15) and only the first term matters.
    For trials < 2**62 and k < 1000 the sum is off by less than 10**21 u, far less than 2**-bits.
    """
    context = _context(bits * 302 // 1000 + 60)
    # No operators: they would round by the caller's context.
    rate = context.divide(Decimal(-num), Decimal(den))
    a, t = context.exp(rate), context.exp(context.multiply(rate, Decimal(at_least)))
    both = context.add(1, a)
    rest = context.subtract(both, t)
    odds = context.divide(t, rest)
    term = context.exp(context.multiply(Decimal(trials), context.ln(context.divide(rest, both))))
    total = term
    for i in range(min(k, trials)):
        step = context.divide(context.multiply(odds, Decimal(trials - i)), Decimal(i + 1))
        term = context.multiply(term, step)
        total = context.add(total, term)
    middle = int(context.multiply(total, Decimal(1 << bits)))
    return (1 << bits, 1 << bits) if k >= trials else (middle - 1, middle + 2)


def binomial(uniform: Uniform, trials: int, num: int, den: int, at_least: int) -> int:
    """The smallest k with V < P[K <= k]."""

    def covered(k: int) -> bool:
        return uniform.below(lambda bits: binomial_bounds(trials, num, den, at_least, k, bits))

    return next(k for k in count() if covered(k))

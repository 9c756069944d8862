"""exp(-x) in float64 with a proved error bound, from IEEE additions and multiplications only."""

from __future__ import annotations

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

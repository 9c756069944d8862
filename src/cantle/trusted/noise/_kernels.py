"""The compiled first stage of Laplace noise and of the exponential mechanism: the arithmetic of samplers.py.

Kernels are given the random words, and report which draws they cannot decide; they draw nothing themselves.
"""

from __future__ import annotations

from math import frexp, ldexp, log

import numpy as np

from cantle.trusted.arrays import Bools, Floats, Ints, Words
from cantle.trusted.jit import compiled, contracted, inner
from cantle.trusted.noise.enclosure import _LN2_HIGH, _LN2_LOW, _LOG2_E, _TAYLOR, LARGEST

_T1, _T2, _T3, _T4, _T5, _T6, _T7, _T8, _T9, _T10, _T11 = _TAYLOR[1:]
_POWERS = 2.0 ** -np.arange(186.0)  # exact
_ROOM = 8  # shares written together
_HALF, _LOW = np.uint64(32), np.uint64(2**32 - 1)


@contracted
def _exp_minus(x: float) -> tuple[float, np.int64]:
    """(y, k) with y * 2**-k as near to exp(-x) as Claim 15 states: the operations of `enclosure.exp_minus`, some of
    which round once instead of twice.

    The result need not be the same number: what an enclosure decides is what exact arithmetic would give.
    """
    x = min(x, LARGEST)
    k = np.rint(x * _LOG2_E)
    r = x - k * _LN2_HIGH
    r -= k * _LN2_LOW
    y = r * _T11
    y = (y + _T10) * r
    y = (y + _T9) * r
    y = (y + _T8) * r
    y = (y + _T7) * r
    y = (y + _T6) * r
    y = (y + _T5) * r
    y = (y + _T4) * r
    y = (y + _T3) * r
    y = (y + _T2) * r
    y = (y + _T1) * r
    return y + 1.0, np.int64(k)


@compiled
def tails(words: Words, speed: Floats, two_sided: bool, margin: float, sizes: Ints, sure: Bools) -> None:
    """The size that each word gives, and whether it is sure to: Sampler._tails has the proof.

    A logarithm that differs in its last digit can at worst guess another size, which is then not sure.
    """
    last, a, h = -1.0, 0.0, 1.0
    for i in range(len(words)):
        if speed[i] != last:
            last = speed[i]
            y, k = _exp_minus(last)
            a = y * _POWERS[k]
            h = 0.5 + 0.5 * a if two_sided else 1.0
        level = np.float64(np.int64(words[i] >> np.uint64(1))) * (h * 2.0**-63)
        guess = min(max(np.floor(log(max(level, 2.0**-64)) / -last), 0.0), 2.0**62)
        y, k = _exp_minus(last * guess)
        reached = y * _POWERS[k]
        sizes[i] = np.int64(guess)
        sure[i] = level + 2.0**-62 <= reached * (1.0 - margin) and level >= reached * a * (1.0 + margin) + 2.0**-100


@inner
def _powers(scores: Ints, best: int, speed: float, weights: Floats, bits: Ints) -> None:
    """exp_minus(speed * (best - score)): weights times the powers of two whose bits are given."""
    for i in range(len(scores)):
        weights[i], k = _exp_minus(np.float64(np.uint64(best) - np.uint64(scores[i])) * speed)
        bits[i] = (1023 - k) << 52


@inner
def _sum(weights: Floats) -> float:
    """The sum, in eight independent strands; only its power of two matters."""
    whole = len(weights) - len(weights) % 8
    a, b, c, d, e, f, g, h = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(0, whole, 8):
        a += weights[i]
        b += weights[i + 1]
        c += weights[i + 2]
        d += weights[i + 3]
        e += weights[i + 4]
        f += weights[i + 5]
        g += weights[i + 6]
        h += weights[i + 7]
    for i in range(whole, len(weights)):
        a += weights[i]
    return ((a + b) + (c + d)) + ((e + f) + (g + h))


@inner
def _multiply_high(a: np.uint64, b: np.uint64) -> np.uint64:
    """floor(a * b / 2**64), as in samplers.py."""
    middle = (a >> _HALF) * (b & _LOW) + (((a & _LOW) * (b & _LOW)) >> _HALF)
    other = (a & _LOW) * (b >> _HALF) + (middle & _LOW)
    return (a >> _HALF) * (b >> _HALF) + (middle >> _HALF) + (other >> _HALF)


@compiled
def exponential(
    scores: Ints,
    starts: Ints,
    speed: Floats,
    inverse: Ints,
    times: Ints,
    words: Words,
    shift: int,
    chosen: Ints,
    sure: Bools,
) -> None:
    """chosen[s] of each segment, and whether the word is sure to give it: Sampler._exponential has the proof.

    inverse[i] belongs to times[i] candidates, one run after the other.
    """
    longest = 0
    for s in range(len(chosen)):
        longest = max(longest, starts[s + 1] - starts[s])
    weights, sums, shares = np.empty(longest), np.empty(longest, np.int64), np.empty(longest + _ROOM)
    power = sums.view(np.float64)
    run, left = -1, 0  # the run of the next candidate, and how much of it is left
    for s in range(len(chosen)):
        mine = scores[starts[s] : starts[s + 1]]
        size = len(mine)
        best = mine[0]
        for i in range(size):
            best = max(best, mine[i])
        at = 0
        while at < size:
            while left == 0:
                run += 1
                left = times[run]
            some = min(left, size - at)
            share = 1.0 / inverse[run]  # one more rounding than the plain path: SPREAD + 4 * 2**-53 < 2**-42.9
            shares[at : at + _ROOM] = share  # the surplus is overwritten
            for i in range(at + _ROOM, at + some):
                shares[i] = share
            at += some
            left -= some
        _powers(mine, best, speed[s], weights[:size], sums[:size])
        for i in range(size):
            weights[i] = weights[i] * power[i] * shares[i]
        scale = ldexp(1.0, 61 - frexp(_sum(weights[:size]))[1])
        for i in range(size):
            sums[i] = np.int64(weights[i] * scale)
        total = 0
        for i in range(size):
            total += sums[i]
            sums[i] = total
        target = np.int64(_multiply_high(words[s], np.uint64(total)))
        low, high = 0, size
        while low < high:  # how many sums lie at or below the target
            middle = (low + high) // 2
            if sums[middle] <= target:
                low = middle + 1
            else:
                high = middle
        chosen[s] = low
        away = 4 * size + 6 + (total >> shift)
        sure[s] = (low == 0 or target - sums[low - 1] >= away) and (low == size - 1 or sums[low] - target >= away)

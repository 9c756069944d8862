"""The first stage of the exponential mechanism, compiled: the arithmetic of samplers.py, a segment at a time. Trusted.

It is handed the words and says where they do not decide; it draws nothing.
"""

from __future__ import annotations

from math import frexp, ldexp
from typing import Any

import numpy as np

from cantle.jit import compiled
from cantle.noise.enclosure import _LN2_HIGH, _LN2_LOW, _LOG2_E, _TAYLOR, LARGEST

_T1, _T2, _T3, _T4, _T5, _T6, _T7, _T8, _T9, _T10, _T11 = _TAYLOR[1:]
_HALF, _LOW = np.uint64(32), np.uint64(2**32 - 1)


@compiled
def _exp_minus(scores: Any, best: Any, speed: Any, inverse: Any, weights: Any, bits: Any) -> None:
    """exp_minus(speed * (best - score)) / inverse, with the operations of `enclosure.exp_minus` in their order."""
    for i in range(len(scores)):
        x = min(np.float64(np.uint64(best) - np.uint64(scores[i])) * speed, LARGEST)
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
        weights[i] = y + 1.0
        bits[i] = (1023 - np.int64(k)) << 52
    power = bits.view(np.float64)
    for i in range(len(scores)):
        weights[i] = weights[i] * power[i] / inverse[i]


@compiled
def _sum(weights: Any) -> Any:
    """The sum in eight strands: only its power of two matters."""
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


@compiled
def _multiply_high(a: Any, b: Any) -> Any:
    """floor(a * b / 2**64), as in samplers.py."""
    middle = (a >> _HALF) * (b & _LOW) + (((a & _LOW) * (b & _LOW)) >> _HALF)
    other = (a & _LOW) * (b >> _HALF) + (middle & _LOW)
    return (a >> _HALF) * (b >> _HALF) + (middle >> _HALF) + (other >> _HALF)


@compiled
def exponential(
    scores: Any, starts: Any, speed: Any, inverse: Any, words: Any, shift: Any, chosen: Any, sure: Any
) -> None:
    """chosen[s] of each segment, and whether the word is sure to give it: Sampler._exponential has the proof."""
    longest = 0
    for s in range(len(chosen)):
        longest = max(longest, starts[s + 1] - starts[s])
    weights, sums = np.empty(longest, np.float64), np.empty(longest, np.int64)
    for s in range(len(chosen)):
        mine = scores[starts[s] : starts[s + 1]]
        size = len(mine)
        best = mine[0]
        for i in range(size):
            best = max(best, mine[i])
        _exp_minus(mine, best, speed[s], inverse[starts[s] : starts[s + 1]], weights[:size], sums[:size])
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

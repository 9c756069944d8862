"""The float enclosures and the arbitrary-precision bounds, compared with decimal arithmetic at high precision."""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

from cantle.trusted.noise import exact
from cantle.trusted.noise.base import Rate

HIGH = Context(prec=80)


def true_exp(num: int, den: int) -> Decimal:
    return HIGH.exp(HIGH.divide(Decimal(-num), Decimal(den)))


def points() -> list[tuple[int, int, int]]:
    """(num, den, times) with num * times / den from 0 to beyond the largest argument, random and extreme."""
    rng = np.random.default_rng(1)
    fixed = [
        (1, 10**9, 0),
        (1, 10**9, 1),
        (1, 10**9, 4 * 10**10),
        (10**15, 10**9, 1),
        (1, 1, 127),
        (1, 1, 128),
    ]
    fixed += [(2**63 - 1, 2**63 + 1, k) for k in range(0, 128, 7)]
    drawn = []
    for _ in range(3000):
        den = int(rng.integers(1, 2**62))
        times = int(2 ** rng.uniform(0, 40))
        num = max(1, int(rng.uniform(0, 128) * den / times))
        if num * times <= 128 * den:
            drawn.append((num, den, times))
    return fixed + drawn


@cache
def arguments() -> tuple[Any, list[Decimal]]:
    """The points in floats, as the sampler computes them, and the true exp(-x) at each."""
    inside = [(num, den, times) for num, den, times in points() if num * times <= 128 * den]
    floats = [float(Rate(num, den).floats() * times) for num, den, times in inside]
    return np.array(floats), [true_exp(num * times, den) for num, den, times in inside]


def worst_error() -> float:
    x, expected = arguments()
    got = [Decimal(value) for value in exact.exp_minus(x).tolist()]
    return float(max(abs(approximate - true) / approximate for approximate, true in zip(got, expected, strict=True)))


def test_exp_minus_is_within_its_proved_spread() -> None:
    assert worst_error() <= exact.SPREAD


def test_a_spread_of_two_to_the_minus_48_would_be_too_small() -> None:
    """Five roundings at x near 128 do cost more than that."""
    assert worst_error() > 2.0**-48


@pytest.mark.parametrize("mutation", ["ln2", "taylor"])
def test_a_wrong_constant_is_noticed(mutation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if mutation == "ln2":
        monkeypatch.setattr(exact, "_LN2_LOW", exact._LN2_LOW * 1.001)
    else:
        monkeypatch.setattr(exact, "_TAYLOR", [*exact._TAYLOR[:11], 0.0])
    assert worst_error() > exact.SPREAD


def test_exp_minus_is_constant_beyond_the_largest_argument() -> None:
    far = exact.exp_minus(np.array([128.0, 129.0, 1e6, 1e300]))
    assert np.all(far == far[0])
    assert 0 < far[0] < 2.0**-184


def test_the_two_parts_of_ln2_add_up() -> None:
    parts = Fraction(exact._LN2_HIGH) + Fraction(exact._LN2_LOW)
    error = HIGH.subtract(HIGH.divide(Decimal(parts.numerator), Decimal(parts.denominator)), HIGH.ln(Decimal(2)))
    assert abs(error) < Decimal(2) ** -90
    assert all(Fraction(k * exact._LN2_HIGH) == k * Fraction(exact._LN2_HIGH) for k in range(200))


def test_minus_log_complement_is_accurate() -> None:
    for p in np.concatenate([2.0 ** -np.arange(6, 200, 7), np.linspace(1e-5, 1 / 64, 200)]):
        true = -HIGH.ln(HIGH.subtract(1, Decimal(float(p))))
        got = Decimal(float(exact.minus_log_complement(np.asarray(p))))
        if p > 2.0**-100:
            assert abs(got - true) <= Decimal(2) ** -48 * true


@pytest.mark.parametrize("bits", [63, 127, 192, 1000])
def test_exact_bounds_enclose(bits: int) -> None:
    context = Context(prec=400)
    for num, den in [(1, 10**9), (1, 3), (7, 2), (40, 1), (63, 1), (1000, 1), (10**6, 1)]:
        a = context.exp(context.divide(Decimal(-num), Decimal(den)))
        scale = Decimal(2**bits)
        low, high = exact.exp_bounds(num, den, bits)
        assert low <= context.multiply(a, scale) <= high <= low + 3
        for k in (1, 2, 50):
            true = context.divide(context.multiply(2, context.power(a, k)), context.add(1, a))
            low, high = exact.tail_bounds(num, den, k, True, bits)
            assert low <= context.multiply(true, scale) <= high <= low + 4
    assert exact.exp_bounds(0, 1, bits) == (1 << bits, 1 << bits)


def test_binomial_bounds_enclose_the_rational_sum() -> None:
    """p is enclosed by two rationals; the distribution function falls with p."""
    low, high = exact.exp_bounds(1, 1, 400)
    for trials, at_least in [(1, 1), (10, 1), (40, 3)]:
        for k in range(min(trials, 6)):
            values = []
            for e in (Fraction(low, 2**400), Fraction(high, 2**400)):
                p = e**at_least / (1 + e)
                terms = [p**i * (1 - p) ** (trials - i) * _choose(trials, i) for i in range(k + 1)]
                values.append(sum(terms) * 2**90)
            below, above = exact.binomial_bounds(trials, 1, 1, at_least, k, 90)
            assert below <= min(values)
            assert max(values) <= above <= below + 3


def _choose(n: int, k: int) -> int:
    return n if k == 1 else 1 if k == 0 else _choose(n - 1, k - 1) * n // k


def test_a_callers_decimal_context_changes_nothing() -> None:
    import decimal

    expected = exact.binomial_bounds(10**18, 3, 7, 90, 2, 200), exact.exp_bounds(3, 7, 200)
    with decimal.localcontext() as context:
        context.prec = 3
        context.traps[decimal.Inexact] = True
        assert (exact.binomial_bounds(10**18, 3, 7, 90, 2, 200), exact.exp_bounds(3, 7, 200)) == expected
        uniform = exact.Uniform(2**62 + 12345, 63, lambda: 2**63 + 1)
        assert exact.tail(uniform, 1, 10**9, True) > 0

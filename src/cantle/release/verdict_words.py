"""Sentences about accuracy that releases of all kinds share: shares in percentage points, and sizes of groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

TOO_FEW = "Accuracy not measured: too few records at this epsilon."
BY_EARLIER = "Accuracy not known: cantle 0.1 measured it with questions about unrelated columns, mostly."
SWITCHED_OFF = "Accuracy not measured: no part of epsilon was spent on it."

KNOWN_TO = 0.1
"""A count is called well known if its error is at most this share of it."""


@dataclass(frozen=True)
class Uses:
    """What a release is good for and what it is not good for, as phrases."""

    good: tuple[str, ...]
    bad: tuple[str, ...]


@dataclass(frozen=True)
class Right:
    """How far shares of one kind are right: the error from 0 to 1, what they are about, and whether the error is
    mostly the noise of its measurement."""

    error: float
    about: str
    noisy: bool


def points(share: float) -> str:
    """A share in percentage points, with two digits.

    >>> points(0.0071), points(0.0258), points(0.123), points(3.0)
    ('0.71', '2.6', '12', '100')
    """
    figure = min(100.0, 100 * share)
    return f"{figure:.0f}" if figure >= 10 else f"{figure:.2g}"


def line(what: str, parts: Sequence[Right]) -> str:
    """The one sentence about accuracy, with figures that never fall.

    >>> line("A share", [Right(0.007, "in one column", False), Right(0.006, "in two columns", False)])
    'A share is right to ±0.7 percentage points in one column, ±0.7 in two columns (95 of 100 questions).'
    """
    said, level = list[str](), 0.0
    for number, part in enumerate(parts):
        level = max(level, part.error)
        unit = "" if number else " percentage points"
        said.append(f"{'at most ' if part.noisy else ''}±{points(level)}{unit} {part.about}")
    noisy = "; at most: the measurement itself is noisy" if any(part.noisy for part in parts) else ""
    return f"{what} is right to {', '.join(said)} (95 of 100 questions{noisy})."


def groups(error: float, released: int, counted: str, about: str) -> Uses:
    """For which sizes of groups counts are good: for large ones, unless these would be half of all records or more.

    >>> groups(0.002, 10_000, "records", "in one column").good
    ('counts of groups of 200 records and more in one column: known to about 10 %',)
    >>> groups(0.05, 10_000, "records", "in one column").good
    ()
    """
    small = max(1.0, error * released)
    large = small / KNOWN_TO
    good = f"counts of groups of {rounded(large):,} {counted} and more {about}: known to about 10 %"
    bad = f"counts of groups below {rounded(small):,} {counted}: they cannot be distinguished from the error"
    return Uses((good,) if large < released / 2 else (), (bad,))


def rounded(value: float) -> int:
    """Two leading digits.

    >>> rounded(4321), rounded(7.3)
    (4300, 7)
    """
    digits = max(0, len(str(int(value))) - 2)
    return int(round(value / 10**digits)) * 10**digits

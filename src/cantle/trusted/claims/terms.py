"""Scores of cuts that somebody writes, as terms of the numbers of records on the left and on the right.

A function would see exact counts, and could keep, print or raise them. A term is only a description, made of whole
numbers and known words: its range follows from its form, and no code of its author runs on a count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeGuard

import numpy as np

from cantle.errors import ParameterError
from cantle.trusted.geometry.boxes import Ints

MOST_CHANGE = 1 << 9
MOST_CONSTANT = 1 << 40
MOST_STEPS = 256

Step = tuple[str, tuple[int, ...], int]
"""One part of a term: its word, the numbers of the earlier steps that it takes, and the number in it (0 if none)."""

WORDS = {"left": 0, "right": 0, "constant": 0, "plus": 2, "minus": 2, "times": 1, "abs": 1, "minimum": 2, "maximum": 2}
"""The words of steps, and how many steps each of them takes. `constant` and `times` have a number."""

Span = tuple[int, int]
"""The least and the largest change."""


@dataclass(frozen=True)
class TermScore:
    """A score of cuts in steps, the last of which is its value; each step is evaluated once.

    Claim 60. Let a record join the left side. Then `left` changes by 1, `right` and constants by 0. If two steps change
    by amounts in [a, b] and [c, d], their sum changes by one in [a + c, b + d], their difference by one in
    [a - d, b - c], n times the first by one between n a and n b, its absolute value by at most max(|a|, |b|) either
    way, and minimum and maximum by one in [min(a, c), max(b, d)]. So the value changes by an amount in a computed span;
    likewise if the record joins the right side. Every candidate has the record on one of its sides, so all changes are
    in the hull of both spans, and `range` is its length. 64 bits hold every step and every difference of two: a step is
    at most 2^40 without records, and changes by at most 2^9 with each of up to 2^52 records.
    """

    steps: tuple[Step, ...]

    def __post_init__(self) -> None:
        if not _are_steps(self.steps):
            raise ParameterError(f"a score has at most {MOST_STEPS} steps, each made of a known word and whole numbers")
        spans, nothing = self._spans("left") + self._spans("right"), np.zeros(1, dtype=object)  # numbers of any size
        if any(max(-least, most) > MOST_CHANGE for least, most in spans):
            raise ParameterError(f"a part of this score may change by more than {MOST_CHANGE} with one record")
        if any(abs(int(value[0])) > MOST_CONSTANT for value in self._values(nothing, nothing)):
            raise ParameterError("a part of this score is above 2^40 without records")
        if self.range == 0:
            raise ParameterError("this score is the same for all cuts whatever the records are: its range is 0")

    @property
    def range(self) -> int:
        (least, most), (less, more) = self._spans("left")[-1], self._spans("right")[-1]
        return max(most, more) - min(least, less)

    def scores(self, children: Sequence[Ints]) -> Ints:
        left, right = (child.sum(axis=-1) for child in children)
        return self._values(left, right)[-1]

    def _values(self, left: Ints, right: Ints) -> list[Ints]:
        """The values of every step."""
        found: list[Ints] = []
        for word, takes, number in self.steps:
            found.append(_value(word, [left, right, *(found[i] for i in takes)], number))
        return found

    def _spans(self, side: str) -> list[Span]:
        """By how much every step changes when a record joins this side."""
        found: list[Span] = []
        for word, takes, number in self.steps:
            change = int(word == side)
            found.append(_span(word, [found[i] for i in takes], number) if takes else (change, change))
        return found


def _are_steps(steps: object) -> TypeGuard[tuple[Step, ...]]:
    """Whether these are steps of plain words and numbers, each of which takes only earlier ones."""
    return type(steps) is tuple and 0 < len(steps) <= MOST_STEPS and all(map(_is_step, steps, range(len(steps))))


def _is_step(step: object, before: int) -> bool:
    if type(step) is not tuple or len(step) != 3:
        return False
    word, takes, number = step
    if type(word) is not str or word not in WORDS or type(takes) is not tuple or len(takes) != WORDS[word]:
        return False
    return type(number) is int and all(type(one) is int and 0 <= one < before for one in takes)


_VALUES = {"plus": np.add, "minus": np.subtract, "abs": np.abs, "minimum": np.minimum, "maximum": np.maximum}


def _value(word: str, given: list[Ints], number: int) -> Ints:
    """The values of a step, given both sides and the steps that it takes."""
    left, right, *taken = given
    match word:
        case "left":
            return left
        case "right":
            return right
        case "constant":
            return 0 * left + number
        case "times":
            return number * taken[0]
        case _:
            return np.asarray(_VALUES[word](*taken))


def _span(word: str, spans: list[Span], number: int) -> Span:
    """By how much a step changes, given the changes of those that it takes (Claim 60)."""
    (a, b), (c, d) = spans[0], spans[-1]
    match word:
        case "plus":
            return a + c, b + d
        case "minus":
            return a - d, b - c
        case "times":
            return min(number * a, number * b), max(number * a, number * b)
        case "abs":
            most = max(abs(a), abs(b))
            return -most, most
        case _:
            return min(a, c), max(b, d)

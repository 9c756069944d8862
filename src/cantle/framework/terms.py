"""Scores of cuts as terms: `-abs(left - right)` is a description, which the trusted base checks and evaluates.

A function would see exact counts. A term is made of the numbers of records on both sides of a cut, whole numbers, +, -,
whole factors, abs, minimum and maximum; its range follows from its form (Claim 60).
"""

from __future__ import annotations

from dataclasses import dataclass

from cantle.errors import ParameterError
from cantle.trusted.claims.terms import MOST_STEPS, Step, TermScore


@dataclass(frozen=True)
class Term:
    """A term in steps, the last of which is its value. Equal parts are one step, so each is evaluated once.

    >>> (-abs(left - right)).range, minimum(3 * left, right).range
    (2, 3)
    """

    steps: tuple[Step, ...]

    @property
    def score(self) -> TermScore:
        """The score, checked; a ParameterError if there is no proof for it."""
        return TermScore(self.steps)

    @property
    def range(self) -> int:
        """By how much one record can move two cuts apart; noise grows with it."""
        return self.score.range

    def __add__(self, other: Term | int) -> Term:
        return _joined("plus", self, other)

    def __radd__(self, other: int) -> Term:
        return _joined("plus", other, self)

    def __sub__(self, other: Term | int) -> Term:
        return _joined("minus", self, other)

    def __rsub__(self, other: int) -> Term:
        return _joined("minus", other, self)

    def __mul__(self, factor: int) -> Term:
        return _joined("times", self, number=factor)

    __rmul__ = __mul__

    def __neg__(self) -> Term:
        return self * -1

    def __abs__(self) -> Term:
        return _joined("abs", self)


def minimum(one: Term | int, other: Term | int) -> Term:
    """The smaller of two terms."""
    return _joined("minimum", one, other)


def maximum(one: Term | int, other: Term | int) -> Term:
    """The larger of two terms."""
    return _joined("maximum", one, other)


def _joined(word: str, *parts: Term | int, number: int = 0) -> Term:
    """A term whose last step takes the values of the parts."""
    steps: dict[Step, int] = {}
    takes = []
    for part in parts:
        own: list[int] = []
        for name, earlier, constant in _term(part).steps:
            step = name, tuple(own[i] for i in earlier), constant
            own.append(steps.setdefault(step, len(steps)))
        takes.append(own[-1])
    if type(number) is not int:
        raise ParameterError(f"a factor in a score is a whole number, not {number!r}; scores are exact")
    steps.setdefault((word, tuple(takes), number), len(steps))
    if len(steps) > MOST_STEPS:
        raise ParameterError(f"a score has at most {MOST_STEPS} parts; use a shorter term")
    return Term(tuple(steps))


def _term(part: Term | int) -> Term:
    if isinstance(part, Term):
        return part
    if type(part) is not int:
        raise ParameterError(
            f"a score is made of fw.left, fw.right and whole numbers, not {type(part).__name__}: functions would see "
            "exact counts"
        )
    return Term((("constant", (), part),))


left = Term((("left", (), 0),))
"""The number of records left of a cut: those with lower values."""

right = Term((("right", (), 0),))
"""The number of records right of a cut."""

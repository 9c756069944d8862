"""Sums of columns as questions write them, such as `end - start` or `2 * x + 5`, and their comparisons.

Numbers are added to numbers. A date can only be taken from a date; the difference is a number of days. Datetimes are
alike, but their differences have a unit: `12h`, `90min`. Two columns of categories are compared category by category.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import gcd, lcm

from cantle.schema.code_sets import MOST, CodeSet, OneColumn, Question, Term, join, reduced
from cantle.schema.declared_values import number_in
from cantle.schema.question_columns import HOLDS, TURNED, Categories, Misfit, Named, Numeric, compared
from cantle.schema.question_words import Token

_SECONDS = {"": 1, "sec": 1, "second": 1, "min": 60, "minute": 60, "h": 3600, "hour": 3600, "d": 86_400, "day": 86_400}
"""The seconds of each unit, by its word without an s at the end."""
_DAY = 86_400


@dataclass
class Side:
    """One side of a comparison: columns and values, each times a factor."""

    columns: list[tuple[Fraction, Named]] = field(default_factory=list)
    values: list[tuple[Fraction, Token]] = field(default_factory=list)
    start: Token = Token("end", "", 0)
    """The word where it begins."""

    @property
    def column(self) -> Named | None:
        """The column, if the side is nothing else."""
        alone = len(self.columns) == 1 and not self.values and self.columns[0][0] == 1
        return self.columns[0][1] if alone else None

    @property
    def value(self) -> Token | None:
        """The value, if the side is nothing else."""
        alone = len(self.values) == 1 and not self.columns and self.values[0][0] == 1
        return self.values[0][1] if alone else None


@dataclass(frozen=True)
class Total:
    """A sum of columns with its constant, as exact numbers; of dates in days, of datetimes in seconds."""

    columns: Sequence[tuple[Fraction, Numeric]]
    constant: Fraction

    def question(self, sign: str, left: int = 0) -> Question:
        """The question whether the total stands in this relation to 0."""
        constant = self.constant + sum(factor * column.first for factor, column in self.columns)
        if len(self.columns) == 1:
            ((factor, column),) = self.columns
            place = -constant / (factor * column.unit)
            if sign in ("==", "!=") and place.denominator != 1:
                raise Misfit(f"{column.name} has no such value")
            sign = TURNED[sign] if factor < 0 else sign
            return OneColumn(column.key, compared(sign, place, column.values, column.size))
        parts = [factor * column.unit for factor, column in self.columns]
        scale = lcm(constant.denominator, *(part.denominator for part in parts))
        factors, bound = [int(part * scale) for part in parts], int(-constant * scale)
        if sum(abs(f) * one.values for f, (_, one) in zip(factors, self.columns, strict=True)) + abs(bound) >= MOST:
            raise Misfit("the columns have too many values in common steps; declare larger steps")
        named = [column for _, column in self.columns]
        terms = tuple(Term(one.key, f, one.values, one.size) for f, one in zip(factors, named, strict=True))
        if sign in ("==", "!=") and bound % gcd(*factors):
            raise Misfit("the two sides are never the same, because their values lie on different steps")
        if sign == "!=":
            ends = ((None, bound - 1), (bound + 1, None))
            return join(False, [reduced(terms, low, high, left) for low, high in ends])
        low = {">=": bound, ">": bound + 1, "==": bound}.get(sign)
        high = {"<=": bound, "<": bound - 1, "==": bound}.get(sign)
        return reduced(terms, low, high, left)


def compare(left: Side, sign: str, right: Side) -> Question:
    """The question whether one side stands in this relation to the other; raises Misfit."""
    one, other = left.column, right.column
    if isinstance(one, Categories) and isinstance(other, Categories):
        return join(False, _same_categories(one, sign, other))
    columns = [*left.columns, *((-factor, column) for factor, column in right.columns)]
    values = [*left.values, *((-factor, value) for factor, value in right.values)]
    return total(columns, values).question(sign, len(left.columns) if not left.values else 0)


def total(columns: Iterable[tuple[Fraction, Named]], values: Iterable[tuple[Fraction, Token]] = ()) -> Total:
    """A sum, if its parts are of one kind; raises Misfit."""
    parts = dict[Numeric, Fraction]()
    for factor, column in columns:
        if not isinstance(column, Numeric):
            raise Misfit(f"{column.name} holds no numbers or dates, so that it has no sums and differences")
        parts[column] = parts.get(column, Fraction(0)) + factor
    if not all(parts.values()):
        raise Misfit("a column is compared with itself; name another")
    kind = _kind(parts)
    constant, dates = Fraction(0), sum((f for one, f in parts.items() if one.kind in _DATES), Fraction(0))
    for factor, value in values:
        constant += factor * _number(value, kind)
        dates += factor if value.kind in ("date", "text") else 0
    if dates:
        raise Misfit("a date can be taken from a date, as in `end - start < 30`; other sums of dates mean nothing")
    return Total([(factor, column) for column, factor in parts.items()], constant)


_DATES = ("date", "datetime")


def _kind(parts: dict[Numeric, Fraction]) -> str:
    kinds = {one.kind for one in parts}
    balanced = not sum(factor for one, factor in parts.items() if one.kind == "date")
    if len(kinds) == 1 or (kinds == {"date", "number"} and balanced):
        return "number" if kinds == {"number"} else min(kinds)
    named = " and ".join(f"{one.name} ({one.kind})" for one in list(parts)[:2])
    raise Misfit(f"cantle can keep sums and differences of columns of the same kind, not of {named}")


def _number(value: Token, kind: str) -> Fraction:
    """A value beside columns of a kind, in their unit."""
    if value.kind in ("date", "text"):
        if kind == "number":
            raise Misfit(f"{value.text!r} is no number")
        return Numeric.moment(value, kind)
    if value.kind == "length":
        digits = value.text.rstrip(" abcdefghijklmnopqrstuvwxyz")
        seconds = Fraction(int(digits) * _SECONDS[value.text[len(digits) :].strip().removesuffix("s")])
        if kind == "number" or (kind == "date" and seconds % _DAY):
            raise Misfit(f"{value.text!r} is a length of time; columns of {kind}s have differences in {_UNITS[kind]}")
        return seconds / _DAY if kind == "date" else seconds
    number = number_in(value.text)
    if number is None:
        raise Misfit(f"{value.text!r} is no number")
    if kind == "datetime" and number:
        raise Misfit(f"the difference of datetimes has a unit; write {value.text}d, {value.text}h or {value.text}min")
    return number


_UNITS = {"number": "numbers", "date": "days, as in 30 or 30d", "datetime": "days, hours, minutes or seconds"}


def _same_categories(one: Categories, sign: str, other: Categories) -> list[Question]:
    """For each category of a column the categories of the other with which the comparison holds."""
    if sign not in ("==", "!=") and not (one.is_integer and other.is_integer):
        raise Misfit(f"{one.name} and {other.name} hold categories; compare two columns of these by == or !=")
    found = list[Question]()
    for code in range(one.values):
        label = one.label(code)
        alike = str if sign in ("==", "!=") else int  # categories of any type are the same if their texts are
        kept = (k for k in range(other.values) if HOLDS[sign](alike(label), alike(other.label(k))))
        mine = OneColumn(one.key, CodeSet.of([code], one.size))
        found.append(join(True, [mine, OneColumn(other.key, CodeSet.of(kept, other.size))]))
    return found

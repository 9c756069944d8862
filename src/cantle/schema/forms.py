"""Declared columns as sums over the columns that are counted, and questions about the first as questions about the
second.

Where a rule makes `end` into `start + (end - start)`, the place of `end` is a sum of two places. A column may have
several such forms: where `start` may be missing, `end` is then counted by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from cantle.schema.code_sets import CodeSet, Joined, OneColumn, Question, changed, join
from cantle.schema.linear import Key, Linear, Term, reduced
from cantle.schema.places import Area

VALUE, ALONE, NULL = "value", "alone", "null"


@dataclass(frozen=True)
class Form:
    """A place as a constant plus whole factors times the places of counted columns.

    It holds where the columns in `needs` have a value; then those in `implies` have one too. `case` says for declared
    columns how they are given, so that forms that exclude each other are not combined.
    """

    constant: int
    factors: Mapping[Key, int]
    needs: frozenset[Key]
    implies: frozenset[Key] = frozenset()
    case: Mapping[str, str] = field(default_factory=dict)

    def plus(self, other: Form, factor: int) -> Form | None:
        """The sum with another form, times a factor; None if both never hold together."""
        if any(self.case.get(name, how) != how for name, how in other.case.items()):
            return None
        factors = dict(self.factors)
        for key, more in other.factors.items():
            factors[key] = factors.get(key, 0) + factor * more
        implies = self.implies | other.implies
        return Form(
            self.constant + factor * other.constant,
            {key: one for key, one in factors.items() if one},
            (self.needs | other.needs) - implies,
            implies,
            {**self.case, **other.case},
        )


EMPTY = Form(0, {}, frozenset())


@dataclass(frozen=True)
class Counted:
    """A counted column, as far as questions need to know: how many of its codes are places, and how many there are."""

    grid: int
    size: int

    def where(self, key: Key, first: int, end: int) -> OneColumn:
        return OneColumn(key, CodeSet.span(max(0, first), min(end, self.grid), self.size))


@dataclass(frozen=True)
class Forms:
    """The forms of all declared columns of numbers and dates, the counted columns, and for categories that follow from
    others those categories of the others."""

    forms: Mapping[str, Sequence[Form]]
    counted: Mapping[Key, Counted]
    declared: Mapping[str, Counted]
    looked_up: Mapping[str, tuple[str, Sequence[int]]] = field(default_factory=dict)
    """For a column that follows from another: that column, and the code that follows from each of its codes."""

    def translated(self, question: Question) -> Question:
        """A question about declared columns as one about counted columns."""
        return changed(question, self._translated)

    def _translated(self, one: OneColumn | Linear) -> Question:
        if isinstance(one, Linear):
            return self.between([(str(term.key), term.factor) for term in one.terms], one.low, one.high)
        name = str(one.key)
        if name in self.looked_up:
            source, codes = self.looked_up[name]
            size = self.declared[source].size
            kept = np.flatnonzero(one.codes.holds(np.array(codes[:size])))
            return self.translated(OneColumn(source, CodeSet.of(kept.tolist(), size)))
        if isinstance(one.codes, Area) or one.key in self.counted or name not in self.forms:
            return one
        grid, size = self.declared[name].grid, self.declared[name].size
        parts = [
            self.between([(name, 1)], first or None, min(end, grid) - 1 if end < grid else None)
            for first, end in one.codes.spans()
            if first < grid
        ]
        null = [self.missing(name)] if size > grid and one.codes.holds(np.array([grid]))[0] else []
        return join(False, [*parts, *null])

    def missing(self, name: str) -> Question:
        """The question whether a declared column has no value."""
        if name in self.counted:
            return OneColumn(name, self._there(name).codes.complement())
        return join(
            True,
            [
                join(False, [OneColumn(k, self._there(k).codes.complement()) for k in _sorted(form.needs)])
                for form in self.forms[name]
            ],
        )

    def _there(self, key: Key) -> OneColumn:
        return self.counted[key].where(key, 0, self.counted[key].grid)

    def sums(self, terms: Iterable[tuple[str, int]]) -> list[Form]:
        """All forms of a sum of declared columns."""
        every = [[(form, factor) for form in self.forms[name]] for name, factor in terms]
        return [form for parts in product(*every) if (form := _added(parts)) is not None]

    def between(self, terms: Iterable[tuple[str, int]], low: int | None, high: int | None) -> Question:
        """The question whether a sum of declared places is between two bounds."""
        return join(False, [self.inside(form, low, high) for form in self.sums(terms)])

    def inside(self, form: Form, low: int | None, high: int | None) -> Question:
        """The question whether a form holds and is between two bounds."""
        low, high = (None if bound is None else bound - form.constant for bound in (low, high))
        guards = [self._there(key) for key in _sorted(form.needs) if key not in form.factors]
        if low is None and high is None:
            return join(True, [self._there(key) for key in _sorted(form.needs)])
        if not form.factors:
            holds = (low is None or low <= 0) and (high is None or high >= 0)
            return join(True, guards) if holds else Joined(False, ())
        if len(form.factors) == 1:
            ((key, factor),) = form.factors.items()
            if factor < 0:
                low, high = (None if end is None else -end for end in (high, low))
            first = 0 if low is None else -(-low // abs(factor))
            end = self.counted[key].grid if high is None else high // abs(factor) + 1
            return join(True, [*guards, self.counted[key].where(key, first, end)])
        columns = [Term(key, f, self.counted[key].grid, self.counted[key].size) for key, f in form.factors.items()]
        return join(True, [*guards, reduced(tuple(columns), low, high)])

    def range(self, form: Form) -> tuple[int, int]:
        """The smallest and the largest value of a form."""
        ends = [sorted((0, factor * (self.counted[key].grid - 1))) for key, factor in form.factors.items()]
        return form.constant + sum(low for low, _ in ends), form.constant + sum(high for _, high in ends)


def _added(parts: Iterable[tuple[Form, int]]) -> Form | None:
    """The sum of forms, each times a factor; None if they never hold together."""
    total: Form | None = EMPTY
    for form, factor in parts:
        total = None if total is None else total.plus(form, factor)
    return total


def _sorted(keys: Iterable[Key]) -> list[Key]:
    return sorted(keys, key=str)

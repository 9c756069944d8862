"""Rules between columns as a public bijection of each record: what is counted in place of declared columns.

`end >= start` counts `start` and the difference `end - start`; `total == x + y` counts x and y, and computes the total;
`city -> country` counts the city, and looks the country up in a public table. A column of lists is counted item by
item. Each record is mapped by itself, before it is counted, and each drawn record is mapped back. So no released record
breaks such a rule, and columns that are computed cost nothing.

All of this is about places, so that a difference is exact whatever the steps of its columns are; the difference itself
is then counted in steps. Where a rule makes `end` into `start + (end - start)`, the place of `end` is a sum of two
places; such a sum is called a form. A column may have several: where `start` may be missing, `end` is then counted by
itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cantle.schema.code_sets import (
    CodeSet,
    Joined,
    Key,
    Linear,
    OneColumn,
    Question,
    Term,
    changed,
    ends_of,
    join,
    negated,
    reduced,
)
from cantle.schema.domain import Attribute
from cantle.schema.made_columns import VALUE, Computed, Difference, Drawn, Form, LookedUp, Made, Unfolded, sums_of
from cantle.schema.places import Area
from cantle.schema.scales import Steps
from cantle.trusted.core.arrays import Codes


@dataclass(frozen=True)
class Relations:
    """The declared columns of a schema in order, with one code per place, and those of them that are made of others.

    Lists come first, then differences, each after that of its parent, then sums and what is looked up, each after what
    it needs.
    """

    declared: tuple[Attribute, ...]
    lists: tuple[Unfolded, ...] = ()
    differences: tuple[Difference, ...] = ()
    computed: tuple[Computed, ...] = ()
    looked_up: tuple[LookedUp, ...] = ()

    @cached_property
    def made(self) -> dict[str, Made]:
        """The columns that are made of others, by name."""
        return {one.name: one for one in (*self.lists, *self.differences, *self.computed, *self.looked_up)}

    @cached_property
    def columns(self) -> dict[str, Attribute]:
        return {one.name: one for one in self.declared}

    @cached_property
    def unread(self) -> dict[str, str]:
        """The columns that are not read, each with what it is computed from."""
        unread: list[Computed | LookedUp] = [*self.computed, *self.looked_up]
        return {one.name: " + ".join(one.sources) for one in unread}

    @property
    def read(self) -> list[str]:
        """The columns that are read, in the order of the schema."""
        return [one.name for one in self.declared if one.name not in self.unread]

    @cached_property
    def counted(self) -> dict[str, Attribute | None]:
        """The columns that are counted, in the order of the schema: what others are made of, and None for declared
        columns."""
        columns: dict[str, Attribute | None] = {}
        for name in self.columns:
            columns |= self.made[name].counted if name in self.made else {name: None}
        return columns

    @cached_property
    def lists_by_item(self) -> dict[str, Unfolded]:
        """For each column that is counted for lists, these lists."""
        return {name: one for one in self.lists for name in one.columns}

    @cached_property
    def units(self) -> dict[str, str]:
        """The units of differences of dates and datetimes, such as "in days"."""
        return {one.difference: f"in {one.unit[0]}" for one in self.differences if one.unit[0]}

    def sentences(self) -> list[str]:
        """What rules make of the declared columns, for people."""
        return [one.sentence() for one in (*self.differences, *self.lists, *self.computed, *self.looked_up)]

    # ---- records ------------------------------------------------------------------------------------------

    def to_counted(self, places: Mapping[str, Codes]) -> dict[str, Codes]:
        """Places of the counted columns, from those of the columns that are read."""
        counted = {name: codes for name, codes in places.items() if name not in self.made}
        for one in self.made.values():
            counted |= one.split(places)
        return counted

    def to_declared(self, drawn: Drawn) -> list[tuple[Attribute, Codes]]:
        """The declared columns with their places, from those of the counted columns."""
        every = dict(drawn)
        for name, one in self.made.items():
            every[name] = one.column, one.merged(every)
        return [every[one.name] for one in self.declared]

    # ---- questions ----------------------------------------------------------------------------------------

    @cached_property
    def forms(self) -> dict[str, Sequence[Form]]:
        """The forms of declared columns of numbers and dates."""
        forms: dict[str, Sequence[Form]] = {
            one.name: [Form(0, {one.name: 1}, frozenset([one.name]), case={one.name: VALUE})]
            for one in self.declared
            if isinstance(one.scale, Steps) and one.name not in self.made
        }
        for one in (*self.differences, *self.computed):
            forms[one.name] = one.forms(forms)
        return forms

    @cached_property
    def _on_places(self) -> dict[Key, Attribute]:
        """The counted columns, with one code per place."""
        return {name: self.columns[name] if one is None else one.on_places for name, one in self.counted.items()}

    def translated(self, question: Question) -> Question:
        """A question about declared columns as one about counted columns."""
        return changed(question, self._translated) if self.made else question

    def _translated(self, one: OneColumn | Linear) -> Question:
        if isinstance(one, Linear):
            if str(one.terms[0].key) in self.lists_by_item:  # the size of a list, in counted columns already
                return one
            return self.between([(str(term.key), term.factor) for term in one.terms], one.low, one.high)
        name, codes = str(one.key), one.codes
        made = self.made.get(name)
        if made is None or isinstance(codes, Area):
            return one
        if isinstance(made, Unfolded):  # the only other codes of lists are those that are there
            missing = bool(codes.holds(np.array([codes.size - 1]))[0])
            return Joined(missing, ()) if made.missing is None else OneColumn(made.missing, CodeSet.of([missing], 2))
        if isinstance(made, LookedUp):
            source = self.columns[made.source.name]
            kept = np.flatnonzero(codes.holds(made.codes_of(source)[: source.size]))
            return self.translated(OneColumn(source.name, CodeSet.of(kept.tolist(), source.size)))
        grid, size = made.column.grid, made.column.size
        parts = [
            self.between([(name, 1)], first or None, min(end, grid) - 1 if end < grid else None)
            for first, end in codes.spans()
            if first < grid
        ]
        null = [self.missing(name)] if size > grid and codes.holds(np.array([grid]))[0] else []
        return join(False, [*parts, *null])

    def missing(self, name: str) -> Question:
        """The question whether a declared column has no value."""
        if name in self.counted:
            return negated(self.there(name))
        every = [[negated(self.there(key)) for key in _sorted(form.needs)] for form in self.forms[name]]
        return join(True, [join(False, gone) for gone in every])

    def there(self, key: Key) -> OneColumn:
        """The question whether a counted column has a value."""
        return self._where(key, 0, self._on_places[key].grid)

    def _where(self, key: Key, first: int, end: int) -> OneColumn:
        """The question whether the place of a counted column is one from `first` to before `end`."""
        column = self._on_places[key]
        return OneColumn(column.name, CodeSet.span(first, min(end, column.grid), column.size))

    def sums(self, terms: Iterable[tuple[str, int]]) -> list[Form]:
        """All forms of a sum of declared columns."""
        return sums_of(self.forms, terms)

    def between(self, terms: Iterable[tuple[str, int]], low: int | None, high: int | None) -> Question:
        """The question whether a sum of declared places is between two bounds."""
        return join(False, [self.inside(form, low, high) for form in self.sums(terms)])

    def inside(self, form: Form, low: int | None, high: int | None) -> Question:
        """The question whether a form holds and is between two bounds."""
        low, high = (None if bound is None else bound - form.constant for bound in (low, high))
        guards = [self.there(key) for key in _sorted(form.needs) if key not in form.factors]
        if low is None and high is None:
            return join(True, [self.there(key) for key in _sorted(form.needs)])
        if not form.factors:
            holds = (low is None or low <= 0) and (high is None or high >= 0)
            return join(True, guards) if holds else Joined(False, ())
        if len(form.factors) == 1:
            ((key, factor),) = form.factors.items()
            if factor < 0:
                low, high = (None if end is None else -end for end in (high, low))
            first = 0 if low is None else -(-low // abs(factor))
            end = self._on_places[key].grid if high is None else high // abs(factor) + 1
            return join(True, [*guards, self._where(key, first, end)])
        columns = [(self._on_places[key], factor) for key, factor in form.factors.items()]
        terms = tuple(Term(one.name, factor, one.grid, one.size) for one, factor in columns)
        return join(True, [*guards, reduced(terms, low, high)])

    def range(self, form: Form) -> tuple[int, int]:
        """The smallest and the largest value of a form."""
        low, high = ends_of((factor, self._on_places[key].grid) for key, factor in form.factors.items())
        return form.constant + low, form.constant + high


def _sorted(keys: Iterable[Key]) -> list[Key]:
    return sorted(keys, key=str)

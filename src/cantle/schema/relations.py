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

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import gcd, lcm

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
from cantle.schema.domain import Attribute, Labels, unsigned
from cantle.schema.lists import Lists
from cantle.schema.places import Area
from cantle.schema.scales import Steps
from cantle.schema.taxonomy import Label
from cantle.trusted.core.arrays import Codes

VALUE, ALONE, NULL = "value", "alone", "null"
_UNITS = {"days": 86_400, "hours": 3_600, "minutes": 60, "seconds": 1}
_TRUTH = Labels(type="boolean", labels=(False, True))

Drawn = Mapping[str, tuple[Attribute, Codes]]
"""Columns by name, each with its places; null is the place after the last."""


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
Forms = Mapping[str, Sequence[Form]]
"""The forms of declared columns of numbers and dates."""


def _sums(forms: Forms, terms: Iterable[tuple[str, int]]) -> list[Form]:
    """All forms of a sum of declared columns."""
    found = [EMPTY]
    for name, factor in terms:
        sums = [before.plus(form, factor) for before in found for form in forms[name]]
        found = [form for form in sums if form is not None]
    return found


# ---- what a declared column is made of --------------------------------------------------------------------------


@dataclass(frozen=True)
class Made(ABC):
    """A declared column that is made of others. All columns here have one code per place."""

    column: Attribute

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def counted(self) -> dict[str, Attribute]:
        """The columns that are counted in its place."""
        return {}

    def split(self, places: Mapping[str, Codes]) -> dict[str, Codes]:  # noqa: ARG002 - most count nothing
        """The places of these columns, from those of the columns that are read."""
        return {}

    @abstractmethod
    def merged(self, drawn: Drawn) -> Codes:
        """The places of this column, from those of columns that are counted or that are made already."""

    def forms(self, known: Forms) -> Sequence[Form]:  # noqa: ARG002 - most are no numbers
        """What its places are sums of, given the forms of other columns."""
        return []

    @abstractmethod
    def sentence(self) -> str:
        """What became of it, for people."""

    def typed(self, places: Codes) -> Codes:
        """Places in the smallest type."""
        return places.astype(unsigned(self.column.grid + 1))


@dataclass(frozen=True)
class Difference(Made):
    """Two columns of one resolution: `column` is counted as its distance from `parent`.

    The distance in places is that of the column from its parent, or of the parent from it if not `plus`; it goes from
    `low` to `high`, and others are moved to the nearer end. Where the parent may be missing, these records have a
    column `alone` of their own.
    """

    difference: str
    parent: Attribute
    plus: bool
    low: int
    high: int
    alone: str | None = None
    rules: tuple[str, ...] = ()

    @property
    def places(self) -> int:
        return self.high - self.low + 1

    @property
    def _sign(self) -> int:
        return 1 if self.plus else -1

    @property
    def counted(self) -> dict[str, Attribute]:
        """The difference in steps of the column, and what it has alone."""
        more, less = (one.steps for one in (self.column, self.parent)[:: self._sign])
        scale = lcm(more.scale, less.scale)
        unit = more.step * (scale // more.scale)
        first = self.low * unit + more.first * (scale // more.scale) - less.first * (scale // less.scale)
        long = self.unit[1]
        kind, cell = "number" if more.type == "number" else "integer", self.column.cell
        steps = Steps(type=kind, first=first // long, step=unit // long, grid=self.places, scale=scale, cell=cell)
        nullable = self.column.nullable or self.parent.nullable
        made = {self.difference: Attribute(self.difference, steps, nullable, width=cell)}
        if self.alone is not None:
            made[self.alone] = replace(self.column, name=self.alone, nullable=True, width=cell)
        return made

    @property
    def unit(self) -> tuple[str, int]:
        """The unit of differences of dates and datetimes, and its length in what the scale counts: days, or else the
        longest in which all of them are whole. Numbers have none."""
        scale = self.column.steps
        if scale.type != "datetime":
            return ("days" if scale.type == "date" else ""), 1
        whole = gcd(scale.step, scale.first - self.parent.steps.first)
        return next((unit, size) for unit, size in _UNITS.items() if whole % size == 0)

    def split(self, places: Mapping[str, Codes]) -> dict[str, Codes]:
        child, parent = (places[one.name].astype(np.int64) for one in (self.column, self.parent))
        no_child, no_parent = child >= self.column.grid, parent >= self.parent.grid
        clamped = np.clip(self._sign * (child - parent), self.low, self.high) - self.low
        made = {self.difference: np.where(no_child | no_parent, self.places, clamped)}
        return made if self.alone is None else made | {self.alone: np.where(no_parent, child, self.column.grid)}

    def merged(self, drawn: Drawn) -> Codes:
        parent, apart = (drawn[name][1].astype(np.int64) for name in (self.parent.name, self.difference))
        # rules keep drawn children within their bounds
        there = np.clip(parent + self._sign * (apart + self.low), 0, self.column.grid - 1)
        missing = (apart >= self.places) | (parent >= self.parent.grid)
        return self.typed(np.where(missing, self.column.grid if self.alone is None else drawn[self.alone][1], there))

    def forms(self, known: Forms) -> list[Form]:
        forms = [
            Form(
                parent.constant + self._sign * self.low,
                {**parent.factors, self.difference: self._sign},
                frozenset([self.difference]),
                parent.needs | parent.implies,
                {**parent.case, self.name: VALUE},
            )
            for parent in known[self.parent.name]
        ]
        if self.alone is not None:
            case = {self.parent.name: NULL, self.name: ALONE}
            forms.append(Form(0, {self.alone: 1}, frozenset([self.alone]), case=case))
        return forms

    def sentence(self) -> str:
        name, parent = self.name, self.parent.name
        unit = f", in {self.unit[0]}" if self.unit[0] else ""
        more = "" if self.alone is None else f"; {self.alone!r} has the {name} of records without {parent}"
        return f"{name} follows from {parent} and {self.difference!r}{unit}{more}."


@dataclass(frozen=True)
class Computed(Made):
    """A column that is a sum: its place is a constant plus whole factors times the places of other columns."""

    constant: int
    factors: tuple[tuple[Attribute, int], ...]
    rule: str

    @property
    def sources(self) -> tuple[str, ...]:
        """What it is computed from."""
        return tuple(one.name for one, _ in self.factors)

    def merged(self, drawn: Drawn) -> Codes:
        each = [(drawn[one.name][1].astype(np.int64), one.grid, factor) for one, factor in self.factors]
        total = self.constant + sum(factor * places for places, _, factor in each)
        missing = np.logical_or.reduce([places >= grid for places, grid, _ in each])
        return self.typed(np.where(missing, self.column.grid, total))

    def forms(self, known: Forms) -> list[Form]:
        sums = _sums(known, [(one.name, factor) for one, factor in self.factors])
        return [replace(form, constant=form.constant + self.constant) for form in sums]

    def sentence(self) -> str:
        return f"{self.name} is computed, by the rule {self.rule}."


@dataclass(frozen=True)
class LookedUp(Made):
    """A column of categories that follows from another: the category for each of the other's."""

    source: Attribute
    table: tuple[tuple[Label, Label], ...]

    @property
    def sources(self) -> tuple[str, ...]:
        """What it follows from."""
        return (self.source.name,)

    @property
    def rule(self) -> str:
        return f"{self.source.name} -> {self.name}"

    def codes_of(self, source: Attribute) -> Codes:
        """For each code of the other column, in the order of its labels here, the code that follows; null follows from
        null."""
        table, place = dict(self.table), {label: k for k, label in enumerate(self.column.labels)}
        return self.typed(np.array([*(place[table[label]] for label in source.labels), self.column.grid]))

    def merged(self, drawn: Drawn) -> Codes:
        source, codes = drawn[self.source.name]
        return self.codes_of(source)[codes]

    def sentence(self) -> str:
        return f"{self.name} follows from {self.source.name}, by a public table."


@dataclass(frozen=True)
class Unfolded(Made):
    """A column of lists: counted as a column of truth values per item, and one that says whether the list is missing.
    A missing list holds no item."""

    @property
    def scale(self) -> Lists:
        assert isinstance(self.column.scale, Lists)
        return self.column.scale

    @cached_property
    def items(self) -> tuple[str, ...]:
        return self.scale.names(self.name)

    @property
    def missing(self) -> str | None:
        return f"{self.name} (missing)" if self.column.nullable else None

    @property
    def columns(self) -> list[str]:
        return [*self.items, *([] if self.missing is None else [self.missing])]

    @property
    def labels(self) -> list[str]:
        """What these columns say, for people."""
        items = [name.removeprefix(f"{self.name}: ") for name in self.items]
        return [*items, *([] if self.missing is None else ["missing"])]

    @property
    def counted(self) -> dict[str, Attribute]:
        return {one: Attribute(one, _TRUTH, nullable=False) for one in self.columns}

    def split(self, places: Mapping[str, Codes]) -> dict[str, Codes]:
        codes = places[self.name]
        items = self.scale.columns(self.name, codes)
        return items if self.missing is None else items | {self.missing: (codes >= self.scale.grid).astype(np.uint8)}

    def merged(self, drawn: Drawn) -> Codes:
        codes = self.scale.folded([drawn[name][1] for name in self.items])
        return self.typed(codes if self.missing is None else np.where(drawn[self.missing][1], self.scale.grid, codes))

    def broken(self, items: Collection[str]) -> list[tuple[str, Question]]:
        """When a record breaks, in these columns of items, that a missing list holds none, and that no list holds too
        many."""
        some, broken = [item for item in self.items if item in items], list[tuple[str, Question]]()
        if self.missing is not None:
            holds = [OneColumn(item, CodeSet.of([1], 2)) for item in some]
            both = join(True, [OneColumn(self.missing, CodeSet.of([1], 2)), join(False, holds)])
            broken.append((f"{self.name} where it is missing", both))
        if self.scale.most < len(some):
            terms = tuple(Term(item, 1, 2, 2) for item in some)
            broken.append((f"the most items of {self.name}", Linear(terms, self.scale.most + 1, None)))
        return broken

    def sentence(self) -> str:
        return f"{self.name} is counted item by item, as {self.items[0]!r} and so on."


# ---- all of them ------------------------------------------------------------------------------------------------


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
        return _sums(self.forms, terms)

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

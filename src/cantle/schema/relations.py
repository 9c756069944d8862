"""Rules between columns as a public bijection of each record: what is counted in place of declared columns.

`end >= start` counts `start` and the difference `end - start`; `total == x + y` counts x and y, and computes the total;
`city -> country` counts the city, and looks the country up in a public table. A column of lists is counted item by
item. Each record is mapped by itself, before
it is counted, and each drawn record is mapped back. So no released record breaks such a rule, and columns that are
computed cost nothing.

All of this is about places, so that a difference is exact whatever the steps of its columns are; the difference itself
is then counted in steps. Where a rule makes `end` into `start + (end - start)`, the place of `end` is a sum of two
places; such a sum is called a form. A column may have several: where `start` may be missing, `end` is then counted by
itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import gcd, lcm

import numpy as np

from cantle.schema.code_sets import (
    AnySet,
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


def where(column: Attribute, first: int, end: int) -> OneColumn:
    """The question whether the place of a column is one from `first` to before `end`."""
    return OneColumn(column.name, CodeSet.span(first, min(end, column.grid), column.size))


@dataclass(frozen=True)
class Forms:
    """The forms of all declared columns of numbers and dates, the counted columns, and for categories that follow from
    others those categories of the others. Columns have one code per place."""

    forms: Mapping[str, Sequence[Form]]
    counted: Mapping[Key, Attribute]
    declared: Mapping[str, Attribute]
    looked_up: Mapping[str, tuple[str, Sequence[int]]] = field(default_factory=dict)
    """For a column that follows from another: that column, and the code that follows from each of its codes."""
    lists: Mapping[str, Unfolded] = field(default_factory=dict)

    def translated(self, question: Question) -> Question:
        """A question about declared columns as one about counted columns."""
        return changed(question, self._translated)

    def _translated(self, one: OneColumn | Linear) -> Question:
        if isinstance(one, Linear):
            return self.between([(str(term.key), term.factor) for term in one.terms], one.low, one.high)
        name = str(one.key)
        if name in self.lists:
            return self._about_lists(self.lists[name], one.codes)
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

    def _about_lists(self, lists: Unfolded, codes: AnySet) -> Question:
        """The question whether lists are missing, or are not."""
        null = codes.holds(np.array([codes.size - 1]))[0]
        return Joined(bool(null), ()) if lists.missing is None else OneColumn(lists.missing, CodeSet.of([null], 2))

    def missing(self, name: str) -> Question:
        """The question whether a declared column has no value."""
        if name in self.counted:
            return negated(self.there(name))
        every = [[negated(self.there(key)) for key in _sorted(form.needs)] for form in self.forms[name]]
        return join(True, [join(False, gone) for gone in every])

    def there(self, key: Key) -> OneColumn:
        """The question whether a counted column has a value."""
        return where(self.counted[key], 0, self.counted[key].grid)

    def sums(self, terms: Iterable[tuple[str, int]]) -> list[Form]:
        """All forms of a sum of declared columns."""
        found = [EMPTY]
        for name, factor in terms:
            sums = [before.plus(form, factor) for before in found for form in self.forms[name]]
            found = [form for form in sums if form is not None]
        return found

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
            end = self.counted[key].grid if high is None else high // abs(factor) + 1
            return join(True, [*guards, where(self.counted[key], first, end)])
        columns = [Term(key, f, self.counted[key].grid, self.counted[key].size) for key, f in form.factors.items()]
        return join(True, [*guards, reduced(tuple(columns), low, high)])

    def range(self, form: Form) -> tuple[int, int]:
        """The smallest and the largest value of a form."""
        low, high = ends_of((factor, self.counted[key].grid) for key, factor in form.factors.items())
        return form.constant + low, form.constant + high


def _sorted(keys: Iterable[Key]) -> list[Key]:
    return sorted(keys, key=str)


_UNITS = {"days": 86_400, "hours": 3_600, "minutes": 60, "seconds": 1}

_TRUTH = Labels(type="boolean", labels=(False, True))

Drawn = Mapping[str, tuple[Attribute, Codes]]
"""Columns by name, each with its places; null is the place after the last."""


@dataclass(frozen=True)
class Difference:
    """Two columns of one resolution: `child` is counted as its distance from `parent`.

    The distance in places is that of `child` from `parent`, or of `parent` from `child` if not `plus`; it goes from
    `low` to `high`, and others are moved to the nearer end. Where the parent may be missing, the child has a column
    `alone` of its own for these records.
    """

    name: str
    child: str
    parent: str
    plus: bool
    low: int
    high: int
    alone: str | None = None
    rules: tuple[str, ...] = ()

    @property
    def places(self) -> int:
        return self.high - self.low + 1


@dataclass(frozen=True)
class Computed:
    """A column that is a sum: its place is a constant plus whole factors times the places of other columns."""

    name: str
    constant: int
    factors: tuple[tuple[str, int], ...]
    rule: str = ""

    @property
    def sources(self) -> tuple[str, ...]:
        """What it is computed from."""
        return tuple(name for name, _ in self.factors)


@dataclass(frozen=True)
class LookedUp:
    """A column of categories that follows from another: the category for each of the other's."""

    name: str
    source: str
    table: tuple[tuple[Label, Label], ...]

    @property
    def sources(self) -> tuple[str, ...]:
        """What it follows from."""
        return (self.source,)


@dataclass(frozen=True)
class Unfolded:
    """A column of lists: counted as a column of truth values per item, and one that says whether the list is missing.

    >>> Unfolded("ill", ("ill: flu", "ill: gout"), None).name
    'ill'
    """

    name: str
    items: tuple[str, ...]
    missing: str | None

    @staticmethod
    def of(lists: Attribute) -> Unfolded:
        """The columns of items of a column of lists."""
        assert isinstance(lists.scale, Lists)
        missing = f"{lists.name} (missing)" if lists.nullable else None
        return Unfolded(lists.name, lists.scale.names(lists.name), missing)

    @property
    def columns(self) -> list[str]:
        return [*self.items, *([] if self.missing is None else [self.missing])]

    @property
    def labels(self) -> list[str]:
        """What these columns say, for people."""
        items = [name.removeprefix(f"{self.name}: ") for name in self.items]
        return [*items, *([] if self.missing is None else ["missing"])]


@dataclass(frozen=True)
class Relations:
    """All relations of a schema, and its declared columns in order, with one code per place.

    Differences stand after those of their parents, computed columns after their summands. Lists are solved by
    themselves.
    """

    declared: tuple[Attribute, ...]
    differences: tuple[Difference, ...] = ()
    computed: tuple[Computed, ...] = ()
    looked_up: tuple[LookedUp, ...] = ()
    lists: tuple[Unfolded, ...] = ()

    @cached_property
    def columns(self) -> dict[str, Attribute]:
        return {one.name: one for one in self.declared}

    @cached_property
    def unread(self) -> dict[str, str]:
        """The columns that are not read, each with what it is computed from."""
        made: list[Computed | LookedUp] = [*self.computed, *self.looked_up]
        return {one.name: " + ".join(one.sources) for one in made}

    @property
    def read(self) -> list[str]:
        """The columns that are read, in the order of the schema."""
        return [one.name for one in self.declared if one.name not in self.unread]

    @cached_property
    def differences_by_name(self) -> dict[str, Difference]:
        return {one.name: one for one in self.differences}

    @cached_property
    def _by_child(self) -> dict[str, Difference]:
        return {one.child: one for one in self.differences}

    @cached_property
    def counted(self) -> dict[str, Attribute | None]:
        """The columns that are counted, in the order of the schema: differences, and None for declared columns."""
        columns: dict[str, Attribute | None] = {}
        for name in self.read:
            difference, lists = self._by_child.get(name), self.lists_by_name.get(name)
            if lists is not None:
                columns |= {one: Attribute(one, _TRUTH, nullable=False) for one in lists.columns}
            else:
                columns |= {name: None} if difference is None else self._attributes(difference)
        return columns

    @cached_property
    def lists_by_name(self) -> dict[str, Unfolded]:
        return {one.name: one for one in self.lists}

    @cached_property
    def lists_by_item(self) -> dict[str, Unfolded]:
        """For each column that is counted for lists, these lists."""
        return {name: one for one in self.lists for name in one.columns}

    def _attributes(self, one: Difference) -> dict[str, Attribute | None]:
        """The columns that stand for a child: the difference in steps of the child, and its own one if it needs it."""
        child, parent = self.columns[one.child], self.columns[one.parent]
        more, less = (child, parent) if one.plus else (parent, child)
        assert isinstance(more.scale, Steps)
        assert isinstance(less.scale, Steps)
        scale = lcm(more.scale.scale, less.scale.scale)
        unit = more.scale.step * (scale // more.scale.scale)
        first = one.low * unit + sum(
            sign * side.first * (scale // side.scale) for sign, side in ((1, more.scale), (-1, less.scale))
        )
        long = self.units.get(one.name, ("", 1))[1]
        first, unit = first // long, unit // long
        kind, cell = "number" if more.scale.type == "number" else "integer", child.cell
        steps = Steps(type=kind, first=first, step=unit, grid=one.places, scale=scale, cell=cell)
        made = {one.name: Attribute(one.name, steps, child.nullable or parent.nullable, width=cell)}
        if one.alone is not None:
            made[one.alone] = replace(child, name=one.alone, nullable=True, width=child.cell)
        return {**made}

    @cached_property
    def units(self) -> dict[str, tuple[str, int]]:
        """The units of differences of dates and datetimes: days, or else the longest in which all of them are whole;
        each with its length in what the scale counts."""
        found = {}
        for one in self.differences:
            scale, other = self.columns[one.child].scale, self.columns[one.parent].scale
            assert isinstance(scale, Steps)
            assert isinstance(other, Steps)
            if scale.type == "date":
                found[one.name] = "days", 1
            if scale.type == "datetime":
                whole = gcd(scale.step, scale.first - other.first)
                found[one.name] = next((unit, size) for unit, size in _UNITS.items() if whole % size == 0)
        return found

    def unit(self, name: str) -> str:
        """The unit of a difference in words, such as "in days"; empty for numbers."""
        return f"in {self.units[name][0]}" if name in self.units else ""

    def sentences(self) -> list[str]:
        """What rules make of the declared columns, for people."""
        said = []
        for one in self.differences:
            unit = f", {self.unit(one.name)}" if one.name in self.units else ""
            more = "" if one.alone is None else f"; {one.alone!r} has the {one.child} of records without {one.parent}"
            said.append(f"{one.child} follows from {one.parent} and {one.name!r}{unit}{more}.")
        said += [f"{one.name} is counted item by item, as {one.items[0]!r} and so on." for one in self.lists]
        said += [f"{one.name} is computed, by the rule {one.rule}." for one in self.computed]
        return said + [f"{one.name} follows from {one.source}, by a public table." for one in self.looked_up]

    # ---- records ------------------------------------------------------------------------------------------

    def to_counted(self, places: Mapping[str, Codes]) -> dict[str, Codes]:
        """Places of the counted columns, from those of the columns that are read."""
        changed = {*self._by_child, *self.lists_by_name}
        counted = {name: codes for name, codes in places.items() if name not in changed}
        for lists in self.lists:
            counted |= self._items(lists, places[lists.name])
        for one in self.differences:
            child, parent = (places[name].astype(np.int64) for name in (one.child, one.parent))
            no_child, no_parent = child >= self.columns[one.child].grid, parent >= self.columns[one.parent].grid
            apart = child - parent if one.plus else parent - child
            clamped = np.clip(apart, one.low, one.high) - one.low
            counted[one.name] = np.where(no_child | no_parent, one.places, clamped)
            if one.alone is not None:
                counted[one.alone] = np.where(no_parent, child, self.columns[one.child].grid)
        return counted

    def to_declared(self, drawn: Drawn) -> list[tuple[Attribute, Codes]]:
        """The declared columns with their places, from those of the counted columns."""
        made = {name: drawn[name] for name in self.columns if name in drawn}
        for lists in self.lists:
            made[lists.name] = self.columns[lists.name], self._folded(lists, drawn)
        for one in self.differences:
            made[one.child] = self.columns[one.child], self._child(one, drawn, made[one.parent][1].astype(np.int64))
        for column in self.computed:
            made[column.name] = self.columns[column.name], self._sum(column, made)
        for follows in self.looked_up:
            source, codes = made[follows.source]
            made[follows.name] = self.columns[follows.name], self.codes_of(follows, source)[codes]
        return [made[one.name] for one in self.declared]

    def _items(self, lists: Unfolded, codes: Codes) -> dict[str, Codes]:
        """The columns of items, from the codes of lists. A missing list holds none."""
        scale = self.columns[lists.name].scale
        assert isinstance(scale, Lists)
        items = scale.columns(lists.name, codes)
        return items if lists.missing is None else items | {lists.missing: (codes >= scale.grid).astype(np.uint8)}

    def _folded(self, lists: Unfolded, drawn: Drawn) -> Codes:
        """The codes of lists, from the columns of items."""
        scale = self.columns[lists.name].scale
        assert isinstance(scale, Lists)
        codes = scale.folded([drawn[name][1] for name in lists.items])
        if lists.missing is not None:
            codes = np.where(drawn[lists.missing][1] == 1, scale.grid, codes)
        return codes.astype(unsigned(scale.grid + 1))

    def _child(self, one: Difference, drawn: Drawn, parent: Codes) -> Codes:
        attribute, apart = self.columns[one.child], drawn[one.name][1].astype(np.int64)
        sign = 1 if one.plus else -1
        # rules keep drawn children within their bounds
        there = np.clip(parent + sign * (apart + one.low), 0, attribute.grid - 1)
        missing = (apart >= one.places) | (parent >= self.columns[one.parent].grid)
        otherwise = attribute.grid if one.alone is None else drawn[one.alone][1]
        return np.where(missing, otherwise, there).astype(unsigned(attribute.grid + 1))

    def _sum(self, column: Computed, made: Drawn) -> Codes:
        attribute = self.columns[column.name]
        records = len(made[column.factors[0][0]][1])
        total, missing = np.full(records, column.constant, dtype=np.int64), np.zeros(records, dtype=bool)
        for name, factor in column.factors:
            total += factor * made[name][1].astype(np.int64)
            missing |= made[name][1] >= self.columns[name].grid
        return np.where(missing, attribute.grid, total).astype(unsigned(attribute.grid + 1))

    def codes_of(self, column: LookedUp, source: Attribute) -> Codes:
        """For each code of a column the code that follows from it; null follows from null."""
        mine, table = self.columns[column.name], dict(column.table)
        assert isinstance(source.scale, Labels)
        assert isinstance(mine.scale, Labels)
        place = {label: k for k, label in enumerate(mine.scale.labels)}
        codes = [place[table[label]] for label in source.scale.labels]
        return np.array([*codes, mine.grid]).astype(unsigned(mine.grid + 1))

    # ---- questions ----------------------------------------------------------------------------------------

    def of_lists(self, items: Collection[str]) -> list[tuple[str, Question]]:
        """When a record breaks, in these columns of items, that a missing list holds none, and that no list holds too
        many."""
        broken = list[tuple[str, Question]]()
        for one in self.lists:
            some, most = [item for item in one.items if item in items], self.most_items(one)
            if one.missing is not None:
                holds = [OneColumn(item, CodeSet.of([1], 2)) for item in some]
                both = join(True, [OneColumn(one.missing, CodeSet.of([1], 2)), join(False, holds)])
                broken.append((f"{one.name} where it is missing", both))
            if most < len(some):
                terms = tuple(Term(item, 1, 2, 2) for item in some)
                broken.append((f"the most items of {one.name}", Linear(terms, most + 1, None)))
        return broken

    def most_items(self, lists: Unfolded) -> int:
        """How many items such a list has at most."""
        scale = self.columns[lists.name].scale
        assert isinstance(scale, Lists)
        return scale.most

    @cached_property
    def forms(self) -> Forms:
        """How questions about declared columns are about counted ones."""
        numeric = [one.name for one in self.declared if isinstance(one.scale, Steps) and one.name not in self.unread]
        forms: dict[str, Sequence[Form]] = {
            name: [Form(0, {name: 1}, frozenset([name]), case={name: VALUE})]
            for name in numeric
            if name not in {*self._by_child, *self.lists_by_name}
        }
        for one in self.differences:
            forms[one.child] = _forms_of_child(one, forms[one.parent])
        counted: dict[Key, Attribute] = {
            name: self.columns[name] if one is None else one.on_places for name, one in self.counted.items()
        }
        looked = {
            one.name: (one.source, self.codes_of(one, self.columns[one.source]).tolist()) for one in self.looked_up
        }
        known = Forms(forms, counted, self.columns, looked, self.lists_by_name)
        for column in self.computed:
            forms[column.name] = [
                replace(form, constant=form.constant + column.constant) for form in known.sums(column.factors)
            ]
        return known


def _forms_of_child(one: Difference, parents: Sequence[Form]) -> list[Form]:
    sign = 1 if one.plus else -1
    forms = [
        Form(
            parent.constant + sign * one.low,
            {**parent.factors, one.name: sign},
            frozenset([one.name]),
            parent.needs | parent.implies,
            {**parent.case, one.child: VALUE},
        )
        for parent in parents
    ]
    if one.alone is not None:
        forms.append(Form(0, {one.alone: 1}, frozenset([one.alone]), case={one.parent: NULL, one.child: ALONE}))
    return forms

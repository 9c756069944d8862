"""Columns that are made of others: differences, sums, what is looked up, and lists item by item (see relations.py)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import gcd, lcm

import numpy as np

from cantle.schema.code_sets import CodeSet, Key, Linear, OneColumn, Question, Term, join
from cantle.schema.domain import Attribute, Labels, unsigned
from cantle.schema.lists import Lists
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


def sums_of(forms: Forms, terms: Iterable[tuple[str, int]]) -> list[Form]:
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
        sums = sums_of(known, [(one.name, factor) for one, factor in self.factors])
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

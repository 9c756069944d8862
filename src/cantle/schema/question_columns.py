"""What questions may name (columns of a table, items of sets, degrees), and which codes satisfy a comparison.

A missing value satisfies no comparison, not even `!=`; only `is null` finds it.
"""

from __future__ import annotations

import difflib
import operator
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from math import ceil, floor
from typing import Any

import numpy as np
import polars as pl

from cantle.errors import raise_alone
from cantle.schema.code_sets import CodeSet, Key, Linear, OneColumn, Question, Term, join
from cantle.schema.declared_values import number_in
from cantle.schema.domain import Attribute
from cantle.schema.fields import Field
from cantle.schema.items import Universe
from cantle.schema.lists import Lists
from cantle.schema.places import Area, Plane
from cantle.schema.question_words import Token
from cantle.schema.scales import EPOCH, Labels, Steps
from cantle.schema.taxonomy import Label, printable

MOST_COUNTED = 2**53
"""Sizes of sets, and degrees, are below this."""

SHOWN = 12
_LISTED = 10_000
"""Most items among which a similar name is searched for."""


class Misfit(Exception):  # noqa: N818 - the parser catches it and adds the place
    """The reason why a value does not fit a column."""


def number_of(value: Token, why: str = "") -> Fraction:
    """The number in a word; raises Misfit."""
    number = number_in(value.text)
    if number is None:
        raise Misfit(why or f"{value.text!r} is no number")
    return number


class Named(ABC):
    """A column, or something like one, that a question may name."""

    name: str
    key: Key
    size: int
    """Number of codes, null included."""
    values: int
    """Number of codes, without null."""

    @abstractmethod
    def codes(self, sign: str, value: Token) -> CodeSet:
        """The codes that satisfy a comparison with a value; raises Misfit."""

    def truth(self) -> CodeSet | None:
        """The codes that the name alone means: true, for a column of truth values; None for other columns."""
        return None

    def exact_around(self, edge: int) -> tuple[str, str] | None:  # noqa: ARG002 - most are counted code by code
        """If a question that changes at this code cuts a step, the two values around it that cut none."""
        return None

    @property
    def there(self) -> CodeSet:
        """All codes that have a value."""
        return CodeSet.span(0, self.values, self.size)

    def question(self, codes: CodeSet) -> Question:
        """The question whether the code is one of these."""
        return OneColumn(self.key, codes)


class Numeric(Named):
    """Numbers, dates and times on a grid."""

    def __init__(self, attribute: Attribute) -> None:
        assert isinstance(attribute.scale, Steps)
        self.name = self.key = attribute.name
        self._scale, self.values = attribute.scale, attribute.grid
        self.size = attribute.on_places.size

    @property
    def kind(self) -> str:
        """What its values are: number, date or datetime."""
        return "number" if self._scale.type == "integer" else self._scale.type

    @property
    def first(self) -> Fraction:
        """The value of the first place, of dates in days and of datetimes in seconds since 1970."""
        return Fraction(self._scale.first, self._scale.scale)

    @property
    def unit(self) -> Fraction:
        """The distance of two places."""
        return Fraction(self._scale.step, self._scale.scale)

    def codes(self, sign: str, value: Token) -> CodeSet:
        place = (self._exact(value) * self._scale.scale - self._scale.first) / self._scale.step
        if sign in ("==", "!=") and not (place.denominator == 1 and 0 <= place < self.values):
            raise Misfit(f"{self.name} has no value {value.text}; {self._range()}")
        return compared(sign, place, self.values, self.size)

    def exact_around(self, edge: int) -> tuple[str, str] | None:
        cell = self._scale.cell
        if not edge % cell or edge >= self.values:
            return None
        below = edge // cell * cell
        return self._scale.text(below), self._scale.text(min(below + cell, self.values))

    def exact_around_all(self, edges: Iterable[int]) -> list[tuple[str, str]]:
        """The values around each step that a question with these edges cuts, with commas between thousands."""
        around = dict.fromkeys(filter(None, map(self.exact_around, sorted(edges))))
        return [(_with_commas(low), _with_commas(high)) for low, high in around]

    @property
    def step_in_words(self) -> str:
        """The width of a step."""
        text = _with_commas(self._scale.distance(self._scale.cell))
        return f"{text} days" if self._scale.type == "date" else text

    def _range(self) -> str:
        step = Fraction(self._scale.step, self._scale.scale)
        unit = {"date": " days", "datetime": " seconds"}.get(self._scale.type, "")
        first, last = self._scale.text(0), self._scale.text(self.values - 1)
        return f"its values go from {first} to {last} in steps of {float(step):g}{unit}"

    def _exact(self, value: Token) -> Fraction:
        """The value as an exact number; dates and times as days or seconds since 1970."""
        if self._scale.type in ("date", "datetime"):
            try:
                return self.moment(value, self._scale.type)
            except Misfit as why:
                raise_alone(Misfit(f"{self.name} holds dates, and {why}; {self._range()}"))
        return number_of(value, f"{self.name} holds numbers, and {value.text!r} is none; {self._range()}")

    @staticmethod
    def moment(value: Token, kind: str) -> Fraction:
        """A date as days, or a datetime as seconds since 1970."""
        moment = None
        with suppress(ValueError):
            moment = datetime.fromisoformat(value.text) if value.kind != "number" else None
        if moment is None:
            raise Misfit(f"{value.text!r} is none; write 2024-12-31")
        moment = moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment
        seconds = Fraction(int((moment - EPOCH).total_seconds()))
        return seconds / 86_400 if kind == "date" else seconds


class Place(Named):
    """Numeric on a map."""

    def __init__(self, attribute: Attribute) -> None:
        assert isinstance(attribute.scale, Plane)
        self.name = self.key = attribute.name
        self.plane, self.values, self.size = attribute.scale, attribute.grid, attribute.on_places.size

    def codes(self, sign: str, value: Token) -> CodeSet:  # noqa: ARG002
        box = "(40.7, -74.02, 40.8, -73.93)"
        raise Misfit(f"{self.name} is a place; write `{self.name} within {box}`, or compare {self.name}.lat")

    def box(self, corners: Sequence[Token]) -> Area:
        lat, lon, high_lat, high_lon = map(number_of, corners)
        if lat > high_lat or lon > high_lon:
            raise Misfit("the low corner comes first: (low lat, low lon, high lat, high lon)")
        return self.area(self.plane.corners((lat, lon), (high_lat, high_lon)))

    def circle(self, radius: Token, unit: int, centre: Sequence[Token]) -> Area:
        lat, lon = map(number_of, centre)
        metres = number_of(radius) * unit
        if metres <= 0 or abs(lat) > 90 or abs(lon) > 360:
            raise Misfit("a circle has a positive radius, and a centre (lat, lon)")
        try:
            return self.area(self.plane.circle((float(lat), float(lon)), float(metres)))
        except ValueError:
            raise_alone(Misfit("this circle is too large for the step of the place; write a box"))

    def area(self, area: Area) -> Area:
        return replace(area, nullable=self.size > self.values)

    def coordinates(self) -> list[Coordinate]:
        return [Coordinate(self, one) for one in ("lat", "lon")]


class ListsOf(Named):
    """Lists of items."""

    def __init__(self, attribute: Attribute) -> None:
        assert isinstance(attribute.scale, Lists)
        self.name = self.key = attribute.name
        self._lists, self.values, self.size = attribute.scale, attribute.grid, attribute.size

    def codes(self, sign: str, value: Token) -> CodeSet:  # noqa: ARG002
        raise Misfit(f"{self.name} holds lists; write `{self.name} contains '{self._lists.items.label(0)}'`")

    @property
    def items(self) -> tuple[str, ...]:
        """The columns of truth values that say whether a list holds each item."""
        return self._lists.names(self.name)

    def item(self, value: Token) -> Key:
        """The column of an item."""
        return self.items[item_in(self._lists.items, value)]


class Coordinate(Named):
    """The latitude or longitude of a place, which is compared with numbers."""

    def __init__(self, place: Place, name: str) -> None:
        self.name, self.key, self._place = f"{place.name}.{name}", place.key, place
        self._axis = place.plane.lat if name == "lat" else place.plane.lon
        self._points = Numeric(Attribute(self.name, self._axis.places, place.size > place.values))
        self.values, self.size = self._points.values, self._points.size

    def codes(self, sign: str, value: Token) -> CodeSet:
        return self._points.codes(sign, value)

    def question(self, codes: CodeSet) -> Question:
        """The question whether the place's coordinate is one of these."""
        place, parts = self._place, list[Question]()
        for first, end in codes.spans():
            if first < self.values:
                low, high = self._axis.first(np.array([first, end])).tolist()
                spans = [(0, 1 << axis.bits) for axis in (place.plane.lat, place.plane.lon)]
                spans[self._axis is place.plane.lon] = low, high
                parts.append(OneColumn(place.key, place.area(place.plane.box(*spans))))
        if codes.holds(np.array([self.values]))[0]:
            parts.append(OneColumn(place.key, place.there.complement()))
        return join(False, parts)


def _with_commas(text: str) -> str:
    """A number as text with commas between thousands; a date as it is."""
    return f"{int(text):,}" if text.lstrip("-").isdigit() else text


TURNED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
"""Each sign, with the sides exchanged."""

HOLDS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
"""Whether two values stand in the relation of a sign."""


def compared(sign: str, place: Fraction, values: int, size: int) -> CodeSet:
    """The codes below `values` whose comparison with a place on the grid holds; it never holds for null, the last
    code."""
    if sign in ("==", "!="):
        same = CodeSet.span(int(place), min(int(place) + 1, values), size)
        return same if sign == "==" else same.complement().intersection(CodeSet.span(0, values, size))
    first = {">": floor(place) + 1, ">=": ceil(place)}.get(sign, 0)
    end = {"<": ceil(place), "<=": floor(place) + 1}.get(sign, values)
    return CodeSet.span(first, min(end, values), size)


class Categories(Named):
    """Categories and truth values. They can be compared by size only if the list is ordered or holds integers."""

    def __init__(
        self, attribute: Attribute, order: Sequence[Label] | None, value_labels: Iterable[tuple[Label, str]] = ()
    ) -> None:
        """`order` lists the categories from the smallest on, if they have an order; labels may stand for them too."""
        assert isinstance(attribute.scale, Labels)
        self.name = self.key = attribute.name
        self._attribute, self._labels = attribute, attribute.scale
        self.size, self.values = attribute.size, attribute.grid
        rank = {label: number for number, label in enumerate(order or ())}
        self._ranks = None if order is None else [rank[label] for label in self._labels.labels]
        named = [(label, str(value)) for value, label in value_labels]
        often = Counter(label for label, _ in named)
        self._value_of = {label: value for label, value in named if often[label] == 1}

    def codes(self, sign: str, value: Token) -> CodeSet:
        if sign in ("==", "!="):
            named = self._named(value)
            return named if sign == "==" else named.complement().intersection(self.there)
        if self._labels.type == "integer":
            return self._bynumber_in(sign, value)
        if self._ranks is None:
            raise Misfit(f"the categories of {self.name} have no order; use ==, != or in")
        named, ranks = self._named(value), self._ranks
        if len(named) != 1:
            raise Misfit(f"{value.text!r} is a group of categories of {self.name}; compare with one of them")
        rank = ranks[named.edges[0]]
        return CodeSet.of((k for k in range(self.values) if HOLDS[sign](ranks[k], rank)), self.size)

    def truth(self) -> CodeSet | None:
        return CodeSet.of([1], self.size) if self._labels.type == "boolean" else None

    @property
    def is_integer(self) -> bool:
        return self._labels.type == "integer"

    def label(self, code: int) -> Label:
        return self._labels.labels[code]

    def _named(self, value: Token) -> CodeSet:
        """The codes of a category, or of all categories below a name in the hierarchy."""
        text = value.text
        if text in self._labels.texts:
            return CodeSet.of([self._labels.texts[text]], self.size)
        if text.lower() in ("true", "false") and self._labels.type == "boolean":
            return CodeSet.of([int(text.lower() == "true")], self.size)
        node = self._node(text)
        if node is not None:
            return CodeSet.span(*node, self.size)
        if text in self._value_of:
            return CodeSet.of([self._labels.texts[self._value_of[text]]], self.size)
        raise Misfit(unknown("category", text, self._texts(), f"categories of {self.name}"))

    def _node(self, text: str) -> tuple[int, int] | None:
        tree = self._attribute.taxonomy
        waiting = [tree.root] if tree is not None else []
        while tree is not None and waiting:
            span = waiting.pop()
            if tree.name(*span) == text:
                return span
            if span[1] - span[0] > 1:
                waiting += tree.children(*span)
        return None

    def _texts(self) -> list[str]:
        return [self._labels.text(k) for k in range(self.values)]

    def _bynumber_in(self, sign: str, value: Token) -> CodeSet:
        number = number_of(value, f"the categories of {self.name} are integers, and {value.text!r} is none")
        labels = enumerate(self._labels.labels)
        kept = (k for k, label in labels if isinstance(label, int) and HOLDS[sign](label, number))
        return CodeSet.of(kept, self.size)


class WholeNumber(Named):
    """Whole numbers from 0 on: the size of a set, the degree of a node."""

    size = values = MOST_COUNTED

    def __init__(self, name: str) -> None:
        self.name = self.key = name

    def codes(self, sign: str, value: Token) -> CodeSet:
        place = number_of(value, f"{self.name} is a whole number, and {value.text!r} is none")
        if sign in ("==", "!=") and (place.denominator != 1 or not 0 <= place < self.values):
            raise Misfit(f"{self.name} is a whole number from 0 on, so it is never {value.text}")
        return compared(sign, place, self.values, self.size)


class SizeOfList(WholeNumber):
    """The number of items of a list, for those that are not missing."""

    def __init__(self, lists: ListsOf) -> None:
        super().__init__(f"{lists.name}.size")
        self._lists = lists

    def question(self, codes: CodeSet) -> Question:
        lists, items = self._lists, self._lists.items
        terms = tuple(Term(item, 1, 2, 2) for item in items)
        spans = (Linear(terms, first, end - 1 if end <= len(items) else None) for first, end in codes.spans())
        return join(True, [OneColumn(lists.key, lists.there), join(False, list(spans))])


class Vocabulary:
    """All that a question about one release may name."""

    def __init__(self, columns: Iterable[Named], universe: Universe | None = None) -> None:
        every = list(columns)
        coordinates = [part for one in every if isinstance(one, Place) for part in one.coordinates()]
        self.columns = {column.name: column for column in [*coordinates, *every]}
        self._universe = universe

    @property
    def has_items(self) -> bool:
        return self._universe is not None

    def column(self, name: str) -> Named:
        if name not in self.columns:
            if self._universe is not None and int(self._universe.encode(pl.Series([name]))[0]) >= 0:
                raise Misfit(f"{name!r} is an item; ask for the sets that hold it: contains {printable(name)!r}")
            longer = next((one for one in self.columns if one.startswith(f"{name} ")), None)
            if longer is not None:
                raise Misfit(f"there is no column {name!r}; a name with blanks needs quotes: {printable(longer)!r}")
            if "-" in name and all(part in self.columns for part in name.split("-")):
                raise Misfit(f"there is no column {name!r}; write {name.replace('-', ' - ')!r} with blanks")
            raise Misfit(unknown("column", name, list(self.columns), "columns"))
        return self.columns[name]

    def item(self, value: Token) -> Key:
        """The key of the question whether a record contains this: of sets, the code of an item."""
        return self._code(value)

    def _code(self, value: Token) -> int:
        assert self._universe is not None
        return item_in(self._universe, value)


def item_in(universe: Universe, value: Token) -> int:
    """The code of an item; raises Misfit."""
    code = int(universe.encode(pl.Series([value.text]))[0])
    if code < 0:
        labels = [str(universe.label(k)) for k in range(min(universe.size, _LISTED))]
        longer = next((one for one in labels if one.startswith(f"{value.text} ")), None)
        if longer is not None:
            raise Misfit(f"there is no item {value.text!r}; an item with blanks needs quotes: {printable(longer)!r}")
        raise Misfit(unknown("item", value.text, labels, "items", universe.size))
    return code


def unknown(what: str, given: str, known: Sequence[str], plural: str, total: int | None = None) -> str:
    """The message for a name that is not declared: it suggests a similar one and lists the first of them."""
    same = [name for name in known if name.casefold() == given.casefold()]
    near = same or difflib.get_close_matches(given, known, 1, 0.6)
    shown = ", ".join(printable(name) for name in known[:SHOWN])
    more = f", … ({total or len(known):,} in all)" if len(known) > SHOWN else ""
    hint = f"; did you mean {printable(near[0])}?" if near else "."
    return f"there is no {what} {given!r}{hint} The {plural} are: {shown}{more}"


def column_of(attribute: Attribute, field: Field) -> Named:
    """A column of a table, as questions see it."""
    if isinstance(attribute.scale, Plane):
        return Place(attribute)
    if isinstance(attribute.scale, Lists):
        return ListsOf(attribute)
    if isinstance(attribute.scale, Steps):
        return Numeric(attribute)
    return Categories(attribute, field.categories if field.ordered else None, field.value_labels)

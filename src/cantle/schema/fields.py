"""Declared columns: their keys, the checked content of a schema's field, and the span of codes that it makes.

The parser of fields accepts no other keys of ours than those of the table here; schema_keys.yaml says what they hold.

`step: s` means that values are counted in cells [v, v + s), and released at places drawn evenly inside their cell.
`multipleOf: s` means that the values themselves are multiples of s, so that each of them is a place. With both, values
are multiples of the second, and counted in cells of the first. A target of a few values, which are counted one by one,
is always a grid of its steps. Releases of schema version 1 had `step` only, as a grid on which values were rounded
down.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from cantle.schema.canonical_json import JSON
from cantle.schema.declared_values import plain
from cantle.schema.places import Plane
from cantle.schema.scales import DROP, MISSING, Labels, Steps
from cantle.schema.values import PLAIN, NumberForm

if TYPE_CHECKING:
    from cantle.schema.domain import Attribute
    from cantle.schema.items import Universe
    from cantle.schema.taxonomy import Label, Taxonomy

GRIDS = ("integer", "number", "date", "datetime")
LISTED = ("string", "integer")
PLACE = "geopoint"
LIST = "list"
DELIMITER = ";"
"""What stands between two items of a list in released texts, and by default in texts that are read."""
TYPES = (*GRIDS, "string", "boolean", PLACE, LIST)


@dataclass(frozen=True)
class Key:
    """One key: the types of columns that may have it, and whether these have categories (True) or bounds (False); None
    means either."""

    types: tuple[str, ...] = TYPES
    categories: bool | None = None


_MAY_HAVE = {
    Key(): "name type role constraints missingValues replace",
    Key(LISTED, categories=True): "categories categoriesOrdered hierarchy",
    Key((*LISTED, "boolean"), categories=True): "from map",
    Key((*LISTED, "boolean", LIST), categories=True): "unknown",
    Key((LIST,)): "items itemType delimiter max_items",
    Key((*GRIDS, PLACE), categories=False): "step",
    Key((PLACE,)): "bounds columns share",
    Key(("date", "datetime", PLACE)): "format",
    Key(("boolean",)): "trueValues falseValues",
    Key(("integer", "number", PLACE), categories=False): "decimalChar",
    Key(("integer", "number"), categories=False): "groupChar bareNumber",
    Key(("string", "boolean"), categories=True): "trim ignoreCase",
}
FIELD_KEYS: dict[str, Key] = {name: key for key, names in _MAY_HAVE.items() for name in names.split()}
"""All keys of a field that cantle reads."""

CONSTRAINT_KEYS = ("required", "minimum", "maximum", "enum", "step", "multipleOf")
"""All keys of `constraints`."""

WRITING = (
    "trueValues", "falseValues", "format", "decimalChar", "groupChar", "bareNumber", "trim", "ignoreCase", "replace",
    "delimiter",
)  # fmt: skip
"""The keys that say how values are written in the input. Releases always use true and false, ISO dates, plain numbers,
and one spelling per category."""

_WORDS = {
    "integer": "int integer int8 int16 int32 int64 uint8 uint16 uint32 uint64 long bigint smallint tinyint whole count",
    "number": "float float32 float64 double real decimal number numerical numeric continuous contin",
    "string": "str string text char character varchar object categorical category factor nominal ordinal code discrete",
    "boolean": "bool boolean logical binary",
    "date": "date",
    "datetime": "datetime timestamp datetime64 time",
    LIST: "list array set multiple multiselect select_multiple",
    PLACE: "point geo place location coordinates latlon geopoint geography geometry geojson",
}
TYPE_WORDS = {word: kind for kind, words in _WORDS.items() for word in words.split()}
"""Words of other tools for the types of columns."""

Bound = int | Fraction | date
"""An exact bound: an integer, a number, a date, or a datetime (which is a date to Python)."""

MAX_DIGITS = 10**15  # a float holds numbers of up to 15 digits without change

MAX_GRID = 2**53

MOST_STEPS = 1 << 26
"""Most steps of an axis of a map, so that codes of places are below 2^52."""

_PLACES = 100
"""Places inside a step of decimals, which could be anything."""
_MOST_PLACES = 2**31
_UNITS = (86_400, 3_600, 60, 1)
"""Seconds between two places inside a step of datetimes: the first of these that is at most 1/50 of the step."""

_TRUE, _FALSE = ("true", "True", "TRUE", "1"), ("false", "False", "FALSE", "0")


@dataclass(frozen=True, kw_only=True)
class Field:
    """One declared column. Bounds are exact: int, Fraction, date or datetime; a datetime's step is in seconds.

    `old_step` is the meaning of `step` in schema version 1. `source` is the column from which this one follows, and
    `mapped` has the category that follows from each of that column's. A place has `bounds` for latitude and longitude,
    perhaps two `columns` of the file, and a `share` (cantle.schema.places). A list has `items`, at
    most `most_items` of them, with a `delimiter` between them in texts (cantle.schema.lists).
    """

    name: str
    type: str = "string"
    role: str | None = None
    required: bool = False
    minimum: Bound | None = None
    maximum: Bound | None = None
    step: int | Fraction | None = None
    multiple_of: int | Fraction | None = None
    old_step: bool = False
    categories: tuple[Label, ...] | None = None
    value_labels: tuple[tuple[Label, str], ...] = ()
    ordered: bool = False
    unknown: Label | None = None
    true_values: tuple[str, ...] = ()
    false_values: tuple[str, ...] = ()
    missing_values: tuple[str, ...] | None = None
    formats: tuple[str, ...] = ()
    form: NumberForm = PLAIN
    trim: bool = True
    ignore_case: bool = False
    replaced: tuple[tuple[str, Label | Bound], ...] = ()
    hierarchy: Taxonomy | None = None
    source: str | None = None
    mapped: tuple[tuple[str, str], ...] = ()
    bounds: tuple[tuple[Fraction, Fraction], ...] = ()
    columns: tuple[str, ...] = ()
    share: Fraction | None = None
    items: Universe | None = None
    delimiter: str = DELIMITER
    most_items: int | None = None
    extra: Mapping[str, JSON] = field(default_factory=dict)
    extra_constraints: Mapping[str, JSON] = field(default_factory=dict)

    def to_dict(self) -> dict[str, JSON]:
        """The field in canonical form: values that JSON has, without defaults."""
        constraints: dict[str, JSON] = {
            "multipleOf": plain(self.multiple_of),
            **self.extra_constraints,  # of a release of version 1, a `multipleOf` too
            "required": self.required or None,
            "minimum": plain(self.minimum),
            "maximum": plain(self.maximum),
        }
        keys: dict[str, JSON] = {
            "name": self.name,
            "type": self.type,
            "role": self.role,
            "format": self.formats[0] if len(self.formats) == 1 else list(self.formats) or None,
            "categories": None if self.categories is None else self._listed(),
            "categoriesOrdered": self.ordered or None,
            "unknown": self.unknown,
            "bounds": [[plain(ends[side]) for ends in self.bounds] for side in (0, 1)] if self.bounds else None,
            "columns": list(self.columns) or None,
            "share": plain(self.share),
            "items": None if self.items is None else self.items.to_plain(),
            "itemType": "integer" if self.items is not None and self.items.integers else None,
            "delimiter": None if self.items is None else self.delimiter,
            "max_items": self.most_items,
            "step": plain(self.step),
            "hierarchy": None if self.hierarchy is None else self.hierarchy.to_nested(),
            "from": self.source,
            "map": dict(self.mapped) or None,
            "trueValues": list(self.true_values) or None,
            "falseValues": list(self.false_values) or None,
            "missingValues": None if self.missing_values is None else list(self.missing_values),
            "decimalChar": None if self.form.decimal == "." else self.form.decimal,
            "groupChar": self.form.group,
            "bareNumber": None if self.form.bare else False,
            "trim": None if self.trim else False,
            "ignoreCase": self.ignore_case or None,
            "replace": {text: plain(value) for text, value in self.replaced} or None,
            "constraints": {key: value for key, value in constraints.items() if value is not None} or None,
        }
        return {**self.extra, **{key: value for key, value in keys.items() if value is not None}}

    def _listed(self) -> list[JSON]:
        """The categories; if one has a label, all of them as Frictionless then writes them."""
        labels, every = dict(self.value_labels), self.categories or ()
        if not labels:
            return list(every)
        return [{"value": one, "label": labels[one]} if one in labels else {"value": one} for one in every]

    def captions(self) -> dict[str, str]:
        """For each category that has a label, what people read instead of it: `1 = male`."""
        return {str(value): f"{value} = {label}" for value, label in self.value_labels}

    @property
    def title(self) -> str:
        """What the column is called in full, if the schema says so."""
        given = self.extra.get("title")
        return given.strip() if isinstance(given, str) else ""

    @property
    def file_columns(self) -> tuple[str, ...]:
        """The columns of the file that hold it."""
        return self.columns or (self.name,)

    def attribute(self, missing_values: tuple[str, ...] = ()) -> Attribute:
        """The column as a span of codes; a missing target drops its record, so a target has no null code.

        With a hierarchy the codes are its leaves, depth first, whatever the order of the categories.
        """
        from cantle.schema.domain import Attribute, Lists

        marks = self.missing_values if self.missing_values is not None else missing_values
        if self.bounds:
            assert self.step is not None
            layout = self.formats[0] if self.formats else "default"
            plane = Plane.of(self.bounds, Fraction(self.step), marks, layout, self.columns, self.share, self.form)
            return Attribute(self.name, plane, not self.required)
        if self.items is not None:
            how = {"delimiter": self.delimiter, "unknown": self._unknown, "required": self.required}
            return Attribute(self.name, Lists.of(self.items, self.most_items, marks=marks, **how), not self.required)
        scale = self._labels(marks) if self.categories or self.type == "boolean" else self._steps(marks)
        nullable = not (self.required or self.role in ("target", "weight"))
        width = 1 if self.categories or self.type == "boolean" else grid_of(self).width
        return Attribute(self.name, scale, nullable, width, taxonomy=self.hierarchy)

    def _labels(self, marks: tuple[str, ...]) -> Labels:
        """The list of categories, with their spellings and what becomes of other values."""
        labels: tuple[Label, ...] = self.hierarchy.leaves if self.hierarchy else self.categories or ()
        spellings: list[tuple[str, Label]] = []
        if self.type == "boolean":
            labels = (False, True)
            usual = dict.fromkeys(_TRUE, True) | dict.fromkeys(_FALSE, False)  # declared spellings have precedence
            spoken = usual | dict.fromkeys(self.true_values, True) | dict.fromkeys(self.false_values, False)
            spellings = list(spoken.items())
        elif self.replaced:
            spellings = [(str(label), label) for label in labels]
        spellings += [(text, value) for text, value in self.replaced if isinstance(value, str | int)]
        # a required field drops undeclared values that become null: see `nullable`
        return Labels(
            type=self.type,
            labels=labels,
            spellings=tuple(spellings),
            ordered=self.ordered or self.hierarchy is not None,
            unknown=self._unknown,
            marks=marks,
            trim=self.trim,
            ignore_case=self.ignore_case,
        )

    @property
    def _unknown(self) -> int | tuple[str, Label]:
        """What becomes of an undeclared category or item, as scales have it."""
        return MISSING if self.unknown is None else DROP if self.unknown == "drop" else ("label", self.unknown)

    def _steps(self, marks: tuple[str, ...]) -> Steps:
        grid = grid_of(self)
        return Steps(
            type=self.type,
            first=grid.first,
            step=grid.step,
            scale=grid.scale,
            grid=grid.places,
            cell=grid.width,
            nearest=grid.nearest,
            marks=marks,
            formats=self.formats,
            form=self.form,
            replaced=tuple((text, self._read_as(value)) for text, value in self.replaced),
        )

    def _read_as(self, value: Label | Bound) -> int | float:
        """A declared value as the number that it is read as: a float, a whole number, days or seconds."""
        assert not isinstance(value, str)
        return float(value) if isinstance(value, Fraction) else int(since_1970(value))


MOST_CLASSES = 8
"""A target with at most this many values is counted value by value, as classes."""


class Grid(NamedTuple):
    """The places of a column of numbers or dates: first and last bound, and their distance, as whole numbers over
    `scale`; `width` places per step."""

    first: int
    last: int
    step: int
    scale: int
    width: int
    nearest: bool

    @property
    def places(self) -> int:
        return (self.last - self.first) // self.step + 1

    @property
    def beyond(self) -> int:
        """The end of the last step, if it were whole."""
        return self.first + (self.places // self.width + 1) * self.width * self.step


def grid_of(one: Field) -> Grid:
    """The places of a field with bounds."""
    assert one.minimum is not None
    assert one.maximum is not None
    low, high = since_1970(one.minimum), since_1970(one.maximum)
    listed = _grid(low, high, one.step or one.multiple_of or 1, 1, nearest=not one.old_step)
    if one.old_step or (one.role == "target" and listed.places <= MOST_CLASSES):
        return listed
    if one.multiple_of is not None:
        step = one.step or one.multiple_of
        return _grid(low, high, one.multiple_of, int(step / one.multiple_of), nearest=True)
    step = Fraction(one.step or 1)
    if one.type != "number":
        unit = 1 if one.type != "datetime" else next((u for u in _UNITS if 50 * u <= step and step % u == 0), 1)
        fine = _grid(low, high, unit, int(step / unit))
        fits = fine.places <= MAX_GRID
    else:
        fine = _grid(low, high, step / _PLACES, _PLACES)
        fits = fine.places < _MOST_PLACES and max(abs(fine.first), abs(fine.beyond), fine.scale) < MAX_DIGITS
    return fine if fits else _grid(low, high, step, 1)


def _grid(
    low: int | Fraction, high: int | Fraction, unit: int | Fraction, width: int, *, nearest: bool = False
) -> Grid:
    """Places that are `unit` apart."""
    scale = math.lcm(low.denominator, unit.denominator)
    return Grid(int(low * scale), math.floor(high * scale), int(unit * scale), scale, width, nearest)


def since_1970(bound: Bound) -> int | Fraction:
    """A bound as a number: for a date its days, for a datetime its seconds since 1970."""
    if isinstance(bound, datetime):
        return int((bound - datetime(1970, 1, 1)).total_seconds())
    return bound.toordinal() - 719_163 if isinstance(bound, date) else bound

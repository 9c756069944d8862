"""Declared columns: the checked content of a schema's field, and the span of codes that it makes.

Every check raises a SchemaError that names the field, the rule and the fix; a schema is public, so messages
may quote it.
"""

from __future__ import annotations

import difflib
import math
import os
import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from cantle.schema.documents import MAX_INTEGER, fail

if TYPE_CHECKING:
    from cantle.schema.domain import Attribute, Labels, Steps
    from cantle.schema.taxonomy import Taxonomy

Folder = str | os.PathLike[str] | None

TYPES = ("integer", "number", "string", "boolean", "date", "datetime")
BLANK = "???"  # what `cantle init` leaves for people to fill in
MAX_GRID = 2**53
_MAX_DIGITS = 10**15  # numbers of up to 15 digits are not changed by a float

_OURS = {"name", "type", "role", "format", "constraints", "categories", "categoriesOrdered", "unknown", "step"}
_OURS |= {"hierarchy", "trueValues", "falseValues", "missingValues"}
_FIELD_KEYS = _OURS | {"title", "description", "example", "examples", "rdfType"}
_FIELD_KEYS |= {"bareNumber", "decimalChar", "groupChar"}
_OUR_CONSTRAINTS = {"required", "minimum", "maximum", "enum", "step"}
_CONSTRAINT_KEYS = _OUR_CONSTRAINTS | {"unique", "exclusiveMinimum", "exclusiveMaximum", "pattern"}
_CONSTRAINT_KEYS |= {"minLength", "maxLength", "jsonSchema"}
_MEANT = {"min": "minimum", "max": "maximum", "values": "categories", "ordered": "categoriesOrdered"}
_SECONDS = {"s": 1, "sec": 1, "min": 60, "h": 3600, "d": 86_400}
_TRUE, _FALSE = ("true", "True", "TRUE", "1"), ("false", "False", "FALSE", "0")
_YEAR_10000 = 2_932_897  # days from 1970


@dataclass(frozen=True, kw_only=True)
class Field:
    """One declared column. Bounds are exact: int, Fraction, date or datetime; a datetime's step is in seconds."""

    name: str
    type: str = "string"
    role: str | None = None
    required: bool = False
    minimum: Any = None
    maximum: Any = None
    step: Any = None
    categories: tuple[Any, ...] | None = None
    ordered: bool = False
    unknown: Any = None
    true_values: tuple[str, ...] = ()
    false_values: tuple[str, ...] = ()
    missing_values: tuple[str, ...] | None = None
    format: str | None = None
    hierarchy: Taxonomy | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    extra_constraints: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The field in canonical form: JSON-able, defaults left out."""
        constraints = {
            **self.extra_constraints,
            "required": self.required or None,
            "minimum": plain(self.minimum),
            "maximum": plain(self.maximum),
        }
        made = {
            "name": self.name,
            "type": self.type,
            "role": self.role,
            "format": self.format,
            "categories": None if self.categories is None else list(self.categories),
            "categoriesOrdered": self.ordered or None,
            "unknown": self.unknown,
            "step": plain(self.step),
            "hierarchy": None if self.hierarchy is None else self.hierarchy.to_nested(),
            "trueValues": list(self.true_values) or None,
            "falseValues": list(self.false_values) or None,
            "missingValues": None if self.missing_values is None else list(self.missing_values),
            "constraints": {key: value for key, value in constraints.items() if value is not None} or None,
        }
        return {**self.extra, **{key: value for key, value in made.items() if value is not None}}

    def attribute(self, missing_values: tuple[str, ...] = ()) -> Attribute:
        """The column as a span of codes; a missing target drops its record, so a target has no null code.

        With a hierarchy the codes are its leaves, depth first, whatever the order of the categories.
        """
        from cantle.schema.domain import Attribute

        marks = self.missing_values if self.missing_values is not None else missing_values
        scale = self._labels(marks) if self.categories or self.type == "boolean" else self._steps(marks)
        nullable = not (self.required or self.role == "target")
        return Attribute(self.name, scale, nullable, taxonomy=self.hierarchy)

    def _labels(self, marks: tuple[str, ...]) -> Labels:
        from cantle.schema.domain import DROP, MISSING, Labels

        labels, spellings = self.hierarchy.leaves if self.hierarchy else self.categories or (), []
        if self.type == "boolean":
            labels = (False, True)
            usual = dict.fromkeys(_TRUE, True) | dict.fromkeys(_FALSE, False)  # what the schema declares goes first
            spoken = usual | dict.fromkeys(self.true_values, True) | dict.fromkeys(self.false_values, False)
            spellings = list(spoken.items())
        unknown: Any = MISSING if self.unknown is None else DROP if self.unknown == "drop" else ("label", self.unknown)
        # a required field drops undeclared values that become null: see `nullable`
        return Labels(
            type=self.type,
            labels=labels,
            spellings=tuple(spellings),
            ordered=self.ordered or self.hierarchy is not None,
            unknown=unknown,
            marks=marks,
        )

    def _steps(self, marks: tuple[str, ...]) -> Steps:
        from cantle.schema.domain import Steps

        first, last, step, scale = _whole_grid(self)
        grid = (last - first) // step + 1
        return Steps(type=self.type, first=first, step=step, scale=scale, grid=grid, marks=marks, format=self.format)


# ----------------------------------------------------------------------------------------------- one field


def parse_field(entry: Any, number: int, missing: tuple[str, ...], base_dir: Folder = None) -> Field:
    """A checked field; the path of a hierarchy file is relative to `base_dir`."""
    if not isinstance(entry, Mapping) or not isinstance(entry.get("name"), str) or not entry["name"]:
        fail(f"field number {number}", "it has no name", "give it `name:` as the column is called (in quotes)")
    where, constraints = f"field {entry['name']!r}", entry.get("constraints") or {}
    if not isinstance(constraints, Mapping):
        fail(where, "`constraints` is not a mapping", "write `constraints: {minimum: …, maximum: …}`")
    check_keys(where, entry, _FIELD_KEYS)
    check_keys(f"{where}, constraints", constraints, _CONSTRAINT_KEYS)
    _check_blanks(where, {**entry, **constraints})
    kind, role = entry.get("type", "string"), entry.get("role")
    if kind not in TYPES:
        fail(where, f"type {kind!r} is not known", f"use one of {', '.join(TYPES)}")
    if role not in (None, "target", "identifier"):
        fail(where, f"role {role!r} is not known", "use target, identifier or leave it out")
    common: dict[str, Any] = {
        "name": entry["name"],
        "type": kind,
        "role": role,
        "format": _format(where, kind, entry.get("format")),
        "required": flag(where, "constraints.required", constraints.get("required", False)),
        "extra": plain({key: value for key, value in entry.items() if key not in _OURS}),
        "extra_constraints": plain({key: v for key, v in constraints.items() if key not in _OUR_CONSTRAINTS}),
    }
    if "missingValues" in entry:
        missing = common["missing_values"] = texts(where, "missingValues", entry["missingValues"])
    if role == "identifier":  # never read, so nothing else about it matters
        return Field(**common)
    _refuse_ignored(where, {**entry, **constraints})
    listed, tree = entry.get("categories", constraints.get("enum")), entry.get("hierarchy")
    if kind == "boolean":
        return Field(**common, **_boolean_keys(where, entry, listed))
    if kind == "string" or listed is not None:
        made = Field(**common, **_category_keys(where, kind, entry, listed, missing))
        return made if tree is None else replace(made, hierarchy=_hierarchy(tree, made, base_dir))
    if tree is not None:
        rule = "`hierarchy` is for categories, numeric attributes need none: split points are chosen from the grid"
        fail(where, rule, "take `hierarchy` out")
    return Field(**common, **_grid_keys(where, kind, entry, constraints))


def _refuse_ignored(where: str, given: Mapping[str, Any]) -> None:
    """Refuses unsupported keys that would change how values are read, or which values may occur."""
    for key, plain_value in (("decimalChar", "."), ("groupChar", None), ("bareNumber", True)):
        if given.get(key, plain_value) != plain_value:
            fail(where, f"`{key}: {given[key]}` is not supported", "write numbers as 1234.5 and take it out")
    for key in ("exclusiveMinimum", "exclusiveMaximum"):
        if given.get(key) is not None:
            fail(where, f"`{key}` is not supported", f"give `{key.removeprefix('exclusive').lower()}` on the grid")


def _hierarchy(tree: Any, one: Field, base_dir: Folder) -> Taxonomy:
    from cantle.schema.hierarchy_files import load_hierarchy

    return load_hierarchy(tree, one.categories or (), one.name, base_dir)


def _boolean_keys(where: str, entry: Mapping[str, Any], listed: Any) -> dict[str, Any]:
    if listed is not None:
        fail(where, "a boolean has the categories false and true already", "take `categories` out")
    if entry.get("hierarchy") is not None:
        fail(where, "a boolean has two values and needs no hierarchy", "take `hierarchy` out")
    made = {
        "true_values": texts(where, "trueValues", entry.get("trueValues", [])),
        "false_values": texts(where, "falseValues", entry.get("falseValues", [])),
    }
    if set(made["true_values"]) & set(made["false_values"]):
        fail(where, "a text is in both trueValues and falseValues", "keep it in one")
    return {**made, "unknown": _unknown(where, entry, (False, True))}


def _category_keys(
    where: str, kind: str, entry: Mapping[str, Any], listed: Any, missing: tuple[str, ...]
) -> dict[str, Any]:
    if listed is None:
        fix = "list every value that could occur under `categories`, or give it `role: identifier`"
        fail(where, "a string needs `categories`", fix)
    if kind not in ("string", "integer"):
        fail(where, f"`categories` is not for type {kind}", "use minimum, maximum and step, or type string")
    if not isinstance(listed, list | tuple) or not listed:
        fail(where, "the category list is empty", "list every value that could occur, at least one")
    categories = tuple(_category(where, kind, value) for value in listed)
    for twice in repeated(categories):
        fail(where, f"category {twice!r} is listed twice", "keep it once")
    spelt = set(map(str, categories))
    clash = next((value for value in ("", *missing) if value in spelt), None)
    if clash is not None:
        fail(
            where,
            f"{clash!r} is both a category and a missing value",
            "keep it in one list (empty is missing)",
        )
    ordered = flag(where, "categoriesOrdered", entry.get("categoriesOrdered", False))
    return {"categories": categories, "ordered": ordered, "unknown": _unknown(where, entry, categories)}


def _category(where: str, kind: str, value: Any) -> str | int:
    if isinstance(value, Mapping) and "value" in value:  # Frictionless also writes {value: 0, label: no}
        value = value["value"]
    if kind == "integer":
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= MAX_INTEGER:
            return value
        fail(where, f"category {value!r} is not an integer", "list integers, or use type string")
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        fail(where, f"category {value!r} is not text", "put it in quotes")
    return value


def _unknown(where: str, entry: Mapping[str, Any], categories: tuple[Any, ...]) -> Any:
    policy = entry.get("unknown")
    if policy in (None, "null", "drop"):
        return None if policy == "null" else policy
    if isinstance(categories[0], str) and isinstance(policy, int) and not isinstance(policy, bool):
        policy = str(policy)
    if not any(policy == value and type(policy) is type(value) for value in categories):
        fail(where, f"`unknown: {policy}` is not one of its categories", "use null, drop or a listed category")
    return policy


def _grid_keys(where: str, kind: str, entry: Mapping[str, Any], constraints: Mapping[str, Any]) -> dict[str, Any]:
    for key in ("minimum", "maximum"):
        if key in entry:
            fail(where, f"`{key}` stands beside the type", f"write `constraints: {{{key}: …}}`")
        if constraints.get(key) is None:
            end = "lowest" if key == "minimum" else "highest"
            fail(where, f"it has no {key}", f"add `constraints: {{{key}: …}}`, the {end} value that could occur")
    if "unknown" in entry:
        fail(where, "`unknown` is for categories", "take it out: numbers out of range are clamped")
    bound: Any = {"integer": _integer, "number": _exact, "date": _day, "datetime": _moment}[kind]
    made: dict[str, Any] = {key: bound(where, key, constraints[key]) for key in ("minimum", "maximum")}
    if made["minimum"] > made["maximum"]:
        low, high = plain(made["minimum"]), plain(made["maximum"])
        fail(where, f"minimum {low} is above maximum {high}", "swap them")
    made["step"] = _step(where, kind, entry.get("step", constraints.get("step")))
    _check_grid(where, Field(name="?", type=kind, **made))
    return made


def _step(where: str, kind: str, value: Any) -> Any:
    if value is None:
        if kind in ("integer", "date"):
            return None
        example = "`step: 0.1`" if kind == "number" else "`step: 1h` (or seconds, 15min, 1d)"
        fail(where, f"a {kind} needs a `step`", f"add the precision worth keeping, such as {example}")
    length = re.fullmatch(r"(\d+)\s*(s|sec|min|h|d)", value) if isinstance(value, str) else None
    if kind == "datetime" and length:
        value = int(length[1]) * _SECONDS[length[2]]
    if kind == "date" and length and length[2] == "d":
        value = int(length[1])
    step = _exact(where, "step", value) if kind == "number" else _integer(where, "step", value)
    if step <= 0:
        fail(where, f"step {step} is not positive", "give the distance between two values")
    return step


def _format(where: str, kind: str, value: Any) -> str | None:
    if kind not in ("date", "datetime"):
        return None if value is None else str(value)  # a format for other types, kept as it is
    if value in (None, "default"):
        return None
    # always a full date, and only what the parser knows: a wrong pattern would make every value missing
    given = set(re.findall(r"%(.)", value)) if isinstance(value, str) else set()
    full = given & set("Yy") and given & set("mbB") and given & set("de") or "F" in given
    if not isinstance(value, str) or not full or not given <= set("YymbBdeFHIMSTpRf%z"):
        fail(where, f"format {value!r} is not supported", 'use a pattern such as "%d/%m/%Y", or ISO dates')
    return value


def _whole_grid(one: Field) -> tuple[int, int, int, int]:
    """First and last bound, step and common denominator of a field's grid, as whole numbers."""
    step = one.step or 1
    if one.type == "number":
        scale = math.lcm(one.minimum.denominator, step.denominator)
        return int(one.minimum * scale), math.floor(one.maximum * scale), int(step * scale), scale
    if one.type == "integer":
        return one.minimum, one.maximum, step, 1
    if one.type == "date":
        return one.minimum.toordinal() - 719_163, one.maximum.toordinal() - 719_163, step, 1
    first, last = ((moment - datetime(1970, 1, 1)).total_seconds() for moment in (one.minimum, one.maximum))
    return int(first), int(last), step, 1


def _check_grid(where: str, one: Field) -> None:
    first, last, step, scale = _whole_grid(one)
    if (last - first) // step + 1 > MAX_GRID:
        fail(where, "the grid has more than 2**53 values", "narrow the bounds or take a larger step")
    end = first + ((last - first) // step + 1) * step
    if one.type == "number" and max(abs(first), abs(end), scale) >= _MAX_DIGITS:
        fail(where, "bounds and step need more than 15 digits", "narrow the bounds or take a larger step")
    if one.type in ("date", "datetime") and end >= _YEAR_10000 * (1 if one.type == "date" else _SECONDS["d"]):
        fail(where, "the grid runs to the end of the year 9999", "lower the maximum by a step")


def check_keys(where: str, given: Mapping[str, Any], known: Collection[str]) -> None:
    """Refuse a misspelt key; keys that resemble none of ours belong to other tools and are kept."""
    for key in given:
        if key not in known:
            close = difflib.get_close_matches(str(key), known, 1, 0.75)
            meant = _MEANT.get(key, "") if _MEANT.get(key, "") in known else "".join(close)
            if meant:
                fail(where, f"key {key!r} is not known", f"write {meant!r} if that is meant")


def repeated(values: Iterable[Hashable]) -> list[Hashable]:
    """The values that occur more than once, in order."""
    return [value for value, times in Counter(values).items() if times > 1]


def _check_blanks(where: str, given: Mapping[str, Any]) -> None:
    for key, value in given.items():
        if value == BLANK or (isinstance(value, list) and BLANK in value):
            fail(where, f"`{key}` is still blank ({BLANK})", "fill it in, from what could occur, not from the data")


# ------------------------------------------------------------------------------------------ single values


def flag(where: str, key: str, value: Any) -> bool:
    """A checked true or false."""
    if not isinstance(value, bool):
        fail(where, f"`{key}` must be true or false", "write one of the two")
    return value


def texts(where: str, key: str, value: Any) -> tuple[str, ...]:
    """A checked list of texts; integers are taken as written."""
    if not isinstance(value, list | tuple) or not all(isinstance(one, str | int) for one in value):
        fail(where, f"`{key}` must be a list of texts", 'write ["…", "…"]')
    return tuple(str(one) for one in value)


def _exact(where: str, key: str, value: Any) -> Fraction:
    """A number as the exact decimal that was written."""
    try:
        if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
            raise ValueError
        number = Decimal(str(value).strip())
        if not number.is_finite() or abs(number.adjusted()) > 400:  # no float is that large or that small
            raise ValueError
        return Fraction(number)
    except (InvalidOperation, ValueError, OverflowError):
        fail(where, f"{key} {value!r} is not a number", "write a finite decimal such as 0.5")


def _integer(where: str, key: str, value: Any) -> int:
    exact = _exact(where, key, value)
    if exact.denominator != 1 or abs(exact) > MAX_INTEGER:
        fail(where, f"{key} {value!r} is not a whole number below 2**53", "write one that JSON holds exactly")
    return int(exact)


def _day(where: str, key: str, value: Any) -> date:
    moment = _moment(where, key, value)
    if moment != datetime(moment.year, moment.month, moment.day):
        fail(where, f"{key} {value!s} has a time of day", "write only the date, or use type datetime")
    return moment.date()


def _moment(where: str, key: str, value: Any) -> datetime:
    """A datetime in whole seconds without a zone; one with an offset is converted to UTC."""
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    if isinstance(value, str):
        with suppress(ValueError):  # left as text, it is refused below
            value = datetime.fromisoformat(value.strip())
    if not isinstance(value, datetime):
        fail(where, f"{key} {value!r} is not a date", "write it as 2024-12-31 or 2024-12-31T08:00:00")
    if value.microsecond:
        fail(where, f"{key} {value!s} has a fraction of a second", "give whole seconds")
    return value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value


def plain(value: Any) -> Any:
    """The value as JSON holds it: integers, floats (text where a float would round), ISO dates, lists, mappings."""
    if isinstance(value, Fraction):
        if value.denominator == 1:
            return int(value)
        near = float(value)
        return near if Fraction(repr(near)) == value else str(Decimal(value.numerator) / Decimal(value.denominator))
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if value is not None and not isinstance(value, str | int | float):
        fail("schema", f"a value of type {type(value).__name__} has no form in JSON", "write it as a text or a number")
    return value

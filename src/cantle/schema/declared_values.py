"""Checks of single values in a schema: keys, flags, texts, exact numbers and dates.

Every check raises a SchemaError that names the thing, the rule and the fix; a schema is public, so messages may
quote it.
"""

from __future__ import annotations

import difflib
import os
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction

from cantle.schema.canonical_json import JSON
from cantle.schema.documents import MAX_INTEGER, Problems, fail

Folder = str | os.PathLike[str] | None

MOST_CHARACTERS = 1_000
"""Most characters of a number."""

BLANK = "???"  # what `cantle init` leaves for people to fill in
_FROM = "from what could occur, not from the data"
_MEANT = {"min": "minimum", "max": "maximum", "values": "categories", "ordered": "categoriesOrdered"}


def check_keys(where: str, given: Mapping[str, object], known: Collection[str]) -> None:
    """Refuses misspelt keys; keys that resemble none of ours belong to other tools and are kept."""
    problems = Problems()
    for key in given:
        if key not in known:
            close = difflib.get_close_matches(str(key), known, 1, 0.75)
            meant = _MEANT.get(key, "") if _MEANT.get(key, "") in known else "".join(close)
            if meant:
                with problems.during(key):
                    fail(where, f"key {key!r} is not known", f"write {meant!r} if that is meant")
    problems.refuse()


def repeated(values: Iterable[Hashable]) -> list[Hashable]:
    """The values that occur more than once, in order."""
    return [value for value, times in Counter(values).items() if times > 1]


def check_blanks(where: str, given: Mapping[str, object]) -> None:
    """Refuses blanks that are not filled in."""
    blank = [str(key) for key, value in given.items() if value == BLANK or (isinstance(value, list) and BLANK in value)]
    if blank:
        *first, last = (f"`{key}`" for key in blank)
        these, them = (f"{', '.join(first)} and {last} are", "them") if first else (f"{last} is", "it")
        or_else = ", or delete the line: columns that are not declared are never read" * (blank == ["categories"])
        fail(where, f"{these} still blank ({BLANK})", f"fill {them} in, {_FROM}{or_else}", *blank)


def flag(where: str, key: str, value: object) -> bool:
    """A checked true or false."""
    if not isinstance(value, bool):
        fail(where, f"`{key}` must be true or false", "write one of the two", key)
    return value


def texts(where: str, key: str, value: object) -> tuple[str, ...]:
    """A checked list of texts; an integer becomes its text."""
    if not isinstance(value, list | tuple) or not all(isinstance(one, str | int) for one in value):
        fail(where, f"`{key}` must be a list of texts", 'write ["…", "…"]', key)
    return tuple(str(one) for one in value)


def number_in(text: str) -> Fraction | None:
    """The exact number in a text, if a float could hold it: 1e999999999 would fill the memory."""
    with suppress(ValueError, ArithmeticError):
        number = Decimal(text)
        if len(text) <= MOST_CHARACTERS and number.is_finite() and abs(number.adjusted()) <= 400:
            return Fraction(number)
    return None


def exact(where: str, key: str, value: object) -> Fraction:
    """A number as the exact decimal that was written."""
    written = isinstance(value, int | float | str | Decimal) and not isinstance(value, bool)
    number = number_in(str(value).strip()) if written else None
    if number is None:
        fail(where, f"{key} {value!r} is not a number", "write a finite decimal such as 0.5", key)
    return number


def integer(where: str, key: str, value: object) -> int:
    """A whole number that JSON holds exactly."""
    number = exact(where, key, value)
    if number.denominator != 1 or abs(number) > MAX_INTEGER:
        fail(where, f"{key} {value!r} is not a whole number below 2**53", "write one that JSON holds exactly", key)
    return int(number)


def whole(where: str, key: str, value: object, least: int, most: int, fix: str = "correct it") -> int:
    """A whole number within limits."""
    if type(value) is not int or not least <= value <= most:
        fail(where, f"`{key}` is not a whole number from {least:,} to {most:,}", fix, key)
    return value


def bounds(where: str, given: Mapping[str, object]) -> tuple[int, int]:
    """The whole numbers under `minimum` and `maximum`."""
    check_keys(where, given, ("minimum", "maximum"))
    if set(given) != {"minimum", "maximum"}:
        fail(where, "bounds have a `minimum` and a `maximum`, and nothing else", "write both")
    low, high = (whole(where, key, given[key], -MAX_INTEGER, MAX_INTEGER) for key in ("minimum", "maximum"))
    if low > high:
        fail(where, f"minimum {low} is above maximum {high}", "swap them")
    return low, high


def day(where: str, key: str, value: object) -> date:
    """A date; a datetime must be the start of its day."""
    start = moment(where, key, value)
    if start != datetime(start.year, start.month, start.day):
        fail(where, f"{key} {value!s} has a time of day", "write only the date, or use type datetime", key)
    return start.date()


def moment(where: str, key: str, value: object) -> datetime:
    """A datetime in whole seconds without a zone; one with an offset is converted to UTC."""
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    if isinstance(value, str):
        with suppress(ValueError):  # a text that is not a datetime is refused below
            value = datetime.fromisoformat(value.strip())
    if not isinstance(value, datetime):
        fail(where, f"{key} {value!r} is not a date", "write it as 2024-12-31 or 2024-12-31T08:00:00", key)
    if value.microsecond:
        fail(where, f"{key} {value!s} has a fraction of a second", "give whole seconds", key)
    return value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value


def plain(value: object) -> JSON:
    """The value as JSON: integers, floats (text if a float would round), ISO dates, lists, mappings."""
    if isinstance(value, Fraction):
        if value.denominator == 1:
            return int(value)
        near = float(value)
        return near if Fraction(repr(near)) == value else str(Decimal(value.numerator) / Decimal(value.denominator))
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return plain_mapping(value)
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if value is not None and not isinstance(value, str | int | float):
        fail("schema", f"a value of type {type(value).__name__} has no form in JSON", "write it as a text or a number")
    return value


def plain_mapping(given: Mapping[str, object], without: Collection[str] = ()) -> dict[str, JSON]:
    """A mapping as JSON, without some of its keys."""
    return {str(key): plain(one) for key, one in given.items() if key not in without}

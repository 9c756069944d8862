"""Fields of every type, and difficult values for each: near the limits of a type, of another type, or of no type."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pandas as pd

FIELDS: dict[str, dict[str, Any]] = {
    "whole": {"type": "integer", "constraints": {"minimum": -3, "maximum": 12}},
    "real": {"type": "number", "step": 0.5, "constraints": {"minimum": -2, "maximum": 6}},
    "stepped": {"type": "integer", "step": 4, "constraints": {"minimum": -3, "maximum": 12}},
    "nearest": {"type": "number", "step": 1, "constraints": {"minimum": -2, "maximum": 6, "multipleOf": 0.25}},
    "word": {
        "type": "string",
        "categories": ["Ash", "1", "1.0", "1.5", "0.1", "true", "True", "2020-01-03", "9007199254740992", "é", "0"],
    },
    "dropped": {"type": "string", "categories": ["1", "true", "Ash", "2020-01-03 00:00:00"], "unknown": "drop"},
    "coded": {"type": "integer", "categories": [0, 1, 2, -1]},
    "flag": {"type": "boolean"},
    "spelt": {"type": "boolean", "trueValues": ["ja", "1"], "falseValues": ["nein", "0", "false"]},
    "day": {"type": "date", "constraints": {"minimum": "2019-12-30", "maximum": "2020-01-09"}},
    "hour": {
        "type": "datetime",
        "step": "1h",
        "constraints": {"minimum": "2020-01-01T00:00:00", "maximum": "2020-01-04T23:00:00"},
    },
    "comma": {
        "type": "number",
        "step": 0.5,
        "constraints": {"minimum": -2, "maximum": 2000},
        "decimalChar": ",",
        "groupChar": ".",
        "bareNumber": False,
        "replace": {"much": 2000},
    },
    "folded": {
        "type": "string",
        "categories": ["Ash", "Male", "1", " é"],
        "ignoreCase": True,
        "replace": {"m": "Male", "2": "1"},
        "unknown": "drop",
    },
    "kept": {"type": "string", "categories": ["Ash", "1", "true"], "trim": False, "unknown": "drop"},
    "grouped": {
        "type": "string",
        "categories": ["Ash", "1", "true", "é"],
        "categoriesOrdered": True,
        "hierarchy": {"tree": ["é", "Ash"], "code": ["true", "1"]},
        "missingValues": ["x", "?"],
        "unknown": "drop",
    },
    "listed": {"type": "string", "constraints": {"enum": ["Ash", "1"], "required": True}, "unknown": "1"},
    "dated": {
        "type": "date",
        "format": ["%d.%m.%Y", "%d.%m.%y", "%m/%d/%Y"],
        "replace": {"never": "2020-01-09"},
        "constraints": {"minimum": "2019-12-30", "maximum": "2020-01-09"},
    },
    "side": {"type": "string", "categories": ["left", "right"], "from": "dropped", "map": {
        "1": "left", "true": "right", "Ash": "left", "2020-01-03 00:00:00": "right"}},
    "later": {"type": "integer", "constraints": {"minimum": -3, "maximum": 20}},
    "left": {"type": "date", "constraints": {"minimum": "2019-12-30", "maximum": "2020-01-19"}},
    "sum": {"type": "integer", "constraints": {"minimum": -3, "maximum": 14}},
    "spot": {"type": "geopoint", "bounds": [[-2, -3], [2, 3]], "step": 0.5},
    "spots": {"type": "geopoint", "bounds": [[-2, -3], [2, 3]], "step": 0.5, "format": "array"},
    "point": {"type": "geopoint", "bounds": [[-2, -3], [2, 3]], "step": 0.1, "format": "object", "share": "1/5"},
    "north": {"type": "geopoint", "bounds": [[-2, -3], [2, 3]], "step": 0.25, "columns": ["north", "east"]},
    "held": {"type": "list", "items": ["1", "Ash", "true", "é"], "unknown": "drop"},
    "some": {"type": "list", "itemType": "integer", "items": {"minimum": -1, "maximum": 98}, "max_items": 2,
             "delimiter": ",", "unknown": 2},
    "must": {"type": "list", "items": ["1.5", "1", "male"], "constraints": {"required": True}},
}  # fmt: skip
RELATED = {
    "side": (("dropped",), "dropped -> side"),
    "later": (("whole",), "later - whole <= 6"),
    "left": (("day",), "left >= day"),
    "sum": (("whole", "coded"), "sum == whole + coded"),
}
"""Columns that a rule computes or counts from others: the others, and the rule."""
MARKS = ["", "?", "-999"]

INTS: list[Any] = [0, 1, 2, -1, 7, -999, 2**31, 2**53, 2**53 + 1, -(2**53) - 1, 2**62 + 1]
FLOATS: list[Any] = [0.0, -0.0, 1.0, 1.5, 2.4999, -999.0, 0.1, float("inf"), -float("inf"), 1e300, 5e-324, 2.0**53]
BOOLS: list[Any] = [True, False]
WORDS: list[Any] = [
    "1", "1.0", "01", " 1", "1 ", "1e0", "true", "True", "Ash", "ash", "?", "", "-999", "-999.0", "2020-01-03",
    "2020-01-03 00:00:00", "2020-01-03T05:00:00", "2020-01-03T05:00:00+02:00", "é", "nan", "None", "<NA>", "x", "ja",
    "nein", "inf", "9007199254740993", "9" * 400, "\x00", "\ufeff1", "０", "0.1", "1,5", "null", "1.234,5", "€ -1,5",
    "5 %", "much", " Ash\xa0", "ASH ", "m", "MALE", "É", "never", "03.01.2020", "03.01.20", " 1/3/2020", "2",
    "1.5, -1", "-1,1.5", "200, 1", "1.5;1", "[1.5, -1]", "[1, 2, 3]", "[1.5,", '{"lon": 1, "lat": -1}', '{"lat": 1}',
    "1;Ash", "Ash ; x;1;Ash", '["Ash", 1, null, "x"]', "[]", "3, 2,-1,2", "true;", ";", '["\\ud800"]',
]  # fmt: skip
DAYS: list[Any] = [date(2020, 1, 3), date(2019, 12, 1), date(1, 1, 1), date(9999, 12, 31), date(2020, 1, 2)]
TIMES: list[Any] = [
    datetime(2020, 1, 3), datetime(2020, 1, 3, 5, 59, 59, 999_999), datetime(1970, 1, 1), datetime(2200, 1, 1),
    pd.Timestamp("2020-01-02 03:04:05.000000009"), np.datetime64("2020-01-03T01"),
]  # fmt: skip
ZONED: list[Any] = [
    datetime(2020, 1, 3, tzinfo=UTC), datetime(2020, 1, 3, 23, tzinfo=timezone(timedelta(hours=-5))),
    pd.Timestamp("2020-01-02 01:00", tz="Europe/Vienna"),
]  # fmt: skip
BLANKS: list[Any] = [None, float("nan"), pd.NaT, pd.NA]
ODD: list[Any] = [
    Decimal(1), Decimal("1.0"), Decimal("1.5"), Decimal("NaN"), Decimal("Infinity"), np.float32(0.1), np.float64(1),
    np.int8(1), np.uint64(2**63), np.bool_(True), np.str_("Ash"), 2**63, 2**64, -(2**63) - 1, 10**400, 1j, 1 + 0j,
    timedelta(1), np.timedelta64(1, "D"), b"1", b"Ash", (1,), [1], {1: 1}, {1}, pd.Period("2020-01", "M"),
    pd.Interval(0, 1), Fraction(1, 2), time(1), "\ud800", object(), range(2), np.datetime64("NaT", "ns"),
    np.array([1, 2]), ["Ash", 1, None, "Ash"], [], [True, "é"], ["\ud800", 1.0], [[1]], ("1", "x"), "Ash;1", [object()],
]  # fmt: skip
LISTS: list[Any] = [
    ["Ash "], [" 1", "x"], [""], ["Ash", ""], ["  "], [None, "Ash"], [1, "Ash "], (" male",), {"true "}, ["-999"],
    [1.5], [[" 1"]], np.array(["Ash "]), [], ["cough"], "Ash ; 1", '["Ash "]', '[""]',
]  # fmt: skip
POOLS = {
    "ints": INTS, "floats": FLOATS, "bools": BOOLS, "words": WORDS, "days": DAYS, "times": TIMES, "zoned": ZONED,
    "odd": ODD, "lists": LISTS,
}  # fmt: skip
ANY = [*INTS, *FLOATS, *BOOLS, *WORDS, *DAYS, *TIMES, *ZONED, *BLANKS, *ODD, *LISTS]


def fields_of(dice: Random, most: int) -> list[str]:
    """The columns of a few fields, and of those that their rules name; a place may have two."""
    names = dice.sample(list(FIELDS), dice.randint(1, most))
    others = (other for name in names if name in RELATED for other in RELATED[name][0])
    both = list(dict.fromkeys([*names, *others]))
    return [name for one in both for name in ((one, "east") if one == "north" else (one,))]


def document(fields: list[str], **more: Any) -> dict[str, Any]:
    """The schema of these fields, with the rules of those that have one."""
    listed = [{"name": name, **FIELDS[name]} for name in fields if name in FIELDS]
    rules = [RELATED[name][1] for name in fields if name in RELATED]
    return {"fields": listed, "missingValues": MARKS} | ({"rules": rules} if rules else {}) | more


def column(dice: Random, pool: list[Any], size: int) -> list[Any]:
    """Values of one kind with some that are missing, as in real tables."""
    blank = dice.choice([0.0, 0.0, 0.3])
    return [dice.choice(BLANKS if dice.random() < blank else pool) for _ in range(size)]


def newcomer(dice: Random, pool: list[Any]) -> Any:
    """The value of the added record: like the others, missing, or of any kind."""
    return dice.choice([pool, BLANKS, ANY][dice.randrange(3)])

"""Pairs in batches, for readers that are slow to start: the field `pair` is the number of the pair of each record."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable
from datetime import date
from pathlib import Path
from random import Random
from typing import Any

import polars as pl

from tests.neighbours.law import Codes, Pair, adds_at_most
from tests.neighbours.values import FIELDS, MARKS, TIMES, WORDS

COLUMNS: dict[str, tuple[str, Any, list[Any]]] = {
    "whole": ("BIGINT", pl.Int64, [0, 1, -1, 7, -999, 2**53 + 1, 2**63 - 1, -(2**63), None]),
    "real": ("DOUBLE PRECISION", pl.Float64, [0.0, -0.0, 0.1, -999.0, 1e300, 5e-324, float("nan"), float("inf"), None]),
    "word": ("TEXT", pl.String, [*(word for word in WORDS if "\x00" not in word), None]),
    "folded": ("TEXT", pl.String, [*(word for word in WORDS if "\x00" not in word), None]),
    "coded": ("INTEGER", pl.Int32, [0, 1, 2, -1, 7, -999, None]),
    "flag": ("BOOLEAN", pl.Boolean, [True, False, None]),
    "day": ("DATE", pl.Date, [*(one.date() for one in TIMES[:4]), None]),
    "hour": ("TIMESTAMP", pl.Datetime("us"), [*TIMES[:4], None]),
}
PAIRS = 100

NUMBER = {"name": "pair", "type": "integer", "constraints": {"minimum": 0, "maximum": PAIRS - 1, "required": True}}
SCHEMA = {"fields": [NUMBER, *({"name": name, **FIELDS[name]} for name in COLUMNS)], "missingValues": MARKS}
TYPES = {"pair": pl.Int64} | {name: kind for name, (_, kind, _) in COLUMNS.items()}
Records = list[tuple[Any, ...]]
TAME: dict[str, list[Any]] = {
    "whole": [0, 1, -1, None],
    "word": ["1", "1.0", "0.1", "-999.0", None],
    "folded": ["1", "Ash", None],
}
"""Values of D that JSON writes as one type, here numbers; D' adds texts among others, which need another type."""


def batch(dice: Random, pairs: int) -> tuple[Records, Records]:
    """The records of D and D' of this many pairs, each starting with the number of its pair.

    In a batch the records of D are tame, so that a type that changes by one odd record of D' shows in all pairs.
    """
    tame = pairs > 1 or dice.random() < 0.5

    def record(pair: int, *, added: bool) -> tuple[Any, ...]:
        pools = {name: pool for name, (_, _, pool) in COLUMNS.items()} | ({} if added or not tame else TAME)
        return (pair, *map(dice.choice, pools.values()))

    one, two = [], []
    for pair in range(pairs):
        records = [record(pair, added=False) for _ in range(dice.randint(0, 4))]
        at = dice.randint(0, len(records))
        one += records
        two += [*records[:at], record(pair, added=True), *records[at:]]
    order = dice.getstate()
    for part in (one, two):
        dice.setstate(order)
        dice.shuffle(part)
    return one, two


def each_adds_at_most_one(one: Codes, two: Codes) -> bool:
    return each_adds_at_most(1, one, two)


def each_adds_at_most(records: int, one: Codes, two: Codes) -> bool:
    """The rule for each pair of a batch separately; the code of the field `pair` is the number of the pair."""
    rule = adds_at_most(records)
    parts: defaultdict[Any, list[Codes]] = defaultdict(lambda: [Counter(), Counter()])
    for side, codes in enumerate((one, two)):
        for code, count in codes.items():
            parts[code[0]][side][code] = count  # type: ignore[index]
    return all(rule(*both) for both in parts.values())


def batched(make: Callable[[Records, Path], Any], pairs: int) -> Callable[[Random, Path], Pair]:
    def pair(dice: Random, folder: Path) -> Pair:
        both, inputs = batch(dice, pairs), []
        for part, records in zip(("one", "two"), both, strict=True):
            (folder / part).mkdir(exist_ok=True)
            inputs.append(make(records, folder / part))
        return Pair(SCHEMA, *inputs, each_adds_at_most_one, repr(both))

    return pair


def hand_over(records: Records, _folder: Path) -> pl.DataFrame:
    return pl.DataFrame(records, schema=TYPES, orient="row")


def write_parquet(records: Records, folder: Path) -> Path:
    hand_over(records, folder).write_parquet(folder / "data.parquet")
    return folder / "data.parquet"


def write_csv(records: Records, folder: Path) -> Path:
    rows = [",".join(map(_word, record)) for record in records]
    (folder / "data.csv").write_text("\n".join([",".join(TYPES), *rows, ""]), encoding="utf-8")
    return folder / "data.csv"


def write_json(records: Records, folder: Path) -> Path:
    rows = [{name: other(value) for name, value in zip(TYPES, record, strict=True)} for record in records]
    lines = [json.dumps({name: value for name, value in row.items() if value is not None}) for row in rows]
    (folder / "data.json").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return folder / "data.json"


def _word(value: Any) -> str:
    """A value as text without quotes and commas."""
    if value is None:
        return ""
    text = str(value).lower() if isinstance(value, bool) else str(_plain(value))
    return text.replace(",", ";").replace('"', "'")


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date) else value


def other(value: Any) -> Any:
    """A value in JSON: texts that are numbers as numbers, and the number 7 as a text."""
    if isinstance(value, str) and value in TAME["word"]:
        return float(value)
    if isinstance(value, float) and not abs(value) < 1e308:
        return "much"
    return "7" if value == 7 else _plain(value)

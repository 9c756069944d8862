"""Tables with a column of lists: what the column costs the rest of the table, and how far its items are off.

Patients are made up in two ways. `patients`: which diagnoses they have depends on age, sex, region and on their other
diagnoses. `long tail`: few diagnoses are frequent and most are rare, what they have depends on age, sex and region, and
how many on age. Supports are compared with those of baskets, which publishes the lists alone. Not private: releases are
compared with raw records.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import Any

import numpy as np
import polars as pl

from cantle.trusted.core.arrays import Ints
from cantle_lab.papers.harness import Row, Setting
from cantle_lab.papers.metrics import variation_of_codes

FIGURE = "lists"
PATIENTS, GROUPS = 50_000, 10
PLANTED, TAIL = "patients", "long tail"
CASES = ((PLANTED, 6), (PLANTED, 12), (PLANTED, 24), (TAIL, 24), (TAIL, 200), (TAIL, 1_000))
"""How patients are made, and the number of diagnoses that could occur."""

FREQUENT, PAIRED = 60, 24
"""The most frequent items, of which figures by column and by item are."""

COLUMNS: Mapping[str, int] = {"age": 90, "sex": 2, "region": 8, "insurer": 4, "income": 50, "smokes": 2}
"""The other columns, and how many values each has."""


def lists(setting: Setting) -> Iterator[Row]:
    """Distances of pairs of columns, of items by column, and of supports, with and without the lists."""
    for epsilon, (made_as, number) in product(setting.pick((0.1, 1), (1,)), setting.pick(CASES, CASES[1::2])):
        for repeat in range(setting.repeats):
            table, held = MADE[made_as](PATIENTS, number, repeat)
            whole = table.with_columns(_as_lists(held))
            fields, name = [_field(column) for column in COLUMNS], f"{made_as}, {number} items"
            schema = {"fields": [*fields, _lists(number)]}
            with_lists, spent = setting.timed(whole, schema, epsilon, {"method": "mosaic"}, repeat)
            yield Row(FIGURE, f"{name}: core-seconds", "mosaic", epsilon, repeat, spent)
            alone = setting.release(table, {"fields": fields}, epsilon, {"method": "mosaic"}, repeat)
            sets = setting.release(_as_lists(held).to_frame(), _sets(number), epsilon, {"method": "baskets"}, repeat)
            made = with_lists.records
            for series, records in (("with lists", made), ("without lists", alone.records)):
                yield Row(FIGURE, f"{name}: pairs of columns", series, epsilon, repeat, _pairs(table, records))
            now = _held(made["diagnoses"], number)
            often = np.argsort(-held.sum(0), kind="stable")[:FREQUENT]
            crossed = [_crossed((table, held[:, often]), (made, now[:, often]), column) for column in COLUMNS]
            yield Row(FIGURE, f"{name}: item by column", "mosaic", epsilon, repeat, float(np.mean(crossed)))
            two = [_joint(held, now, pair) for pair in combinations(often[:PAIRED].tolist(), 2)]
            yield Row(FIGURE, f"{name}: item by item", "mosaic", epsilon, repeat, float(np.mean(two)))
            # sets without items are no records of baskets, so its supports are compared as counts
            basket = _held(sets.records["diagnoses"], number)
            for series, items in (("mosaic", now), ("baskets", basket)):
                off = np.abs(items.sum(0) - held.sum(0)) / PATIENTS
                yield Row(FIGURE, f"{name}: supports, %", series, epsilon, repeat, 100 * float(off.mean()))


def patients(number: int, items: int, seed: int) -> tuple[pl.DataFrame, Ints]:
    """Patients, and for each of them which diagnoses they have."""
    dice = np.random.default_rng(seed)
    age, sex = dice.integers(0, 90, number), dice.integers(0, 2, number)
    region = np.minimum(dice.geometric(0.3, number) - 1, 7)
    insurer = (dice.random(number) < 0.2 + 0.006 * age).astype(np.int64) + 2 * (dice.random(number) < 0.15)
    income = np.clip(dice.gamma(3, 4 + region, number) + (insurer == 1) * 5, 0, 49).astype(np.int64)
    smokes = (dice.random(number) < 0.15 + 0.1 * sex + 0.1 * (region < 2)).astype(np.int64)
    plan, held = np.random.default_rng(7), np.zeros((number, items), dtype=np.int64)
    for item in range(items):
        rare = -1.2 - 0.12 * item
        risk = rare + plan.normal(0, 0.8) * (age - 45) / 25 + plan.normal(0, 0.5) * (2 * sex - 1)
        risk = risk + plan.normal(0, 0.5, 8)[region] + plan.normal(0, 0.5) * smokes
        before = held[:, plan.integers(0, item)] if item else 0  # a diagnosis that comes with this one
        held[:, item] = dice.random(number) < 1 / (1 + np.exp(-risk - 1.5 * before))
    made = dict(zip(COLUMNS, (age, sex, region, insurer, income, smokes), strict=True))
    return pl.DataFrame(made), held


def long_tail(number: int, items: int, seed: int) -> tuple[pl.DataFrame, Ints]:
    """The same, where few diagnoses are frequent, most are rare, and no two of them come together by themselves."""
    table, _ = patients(number, 1, seed)
    dice, plan = np.random.default_rng(seed + 1_000), np.random.default_rng(11)
    by_age, by_sex, by_region = plan.normal(0, 0.8, items), plan.normal(0, 0.5, items), plan.normal(0, 0.5, (items, 8))
    age, sex, region = (table[name].to_numpy().astype(np.int64) for name in ("age", "sex", "region"))
    size = np.minimum(dice.negative_binomial(1.5, 1.5 / (3.5 + 4 * age / 90), number), 60)
    held, alike = np.zeros((number, items), dtype=np.int64), age // 9 * 16 + sex * 8 + region
    for group in np.unique(alike).tolist():
        who = np.flatnonzero(alike == group)
        risk = by_age * (group // 16 * 9 - 41) / 25 + by_sex * (2 * (group // 8 % 2) - 1) + by_region[:, group % 8]
        chance = np.exp(risk) / (np.arange(items) + 5)
        record = np.repeat(who, size[who])
        held[record, dice.choice(items, len(record), p=chance / chance.sum())] = 1
    return table, held


MADE = {PLANTED: patients, TAIL: long_tail}


def _as_lists(held: Ints) -> pl.Series:
    record, item = np.nonzero(held)
    lists = np.split(item, np.searchsorted(record, np.arange(1, len(held))))
    return pl.Series("diagnoses", [[f"d{one}" for one in row.tolist()] for row in lists], dtype=pl.List(pl.String))


def _held(lists: pl.Series, items: int) -> Ints:
    """For each list which items it holds."""
    held, number = np.zeros((len(lists), items), dtype=np.int64), lists.list.len().to_numpy()
    item = lists.filter(pl.Series(number > 0)).explode().str.slice(1).cast(pl.Int64).to_numpy()
    held[np.repeat(np.arange(len(lists)), number), item] = 1
    return held


def _field(name: str) -> dict[str, Any]:
    required, size = {"required": True}, COLUMNS[name]
    if size <= GROUPS:
        return {"name": name, "type": "integer", "categories": list(range(size)), "constraints": required}
    return {"name": name, "type": "integer", "constraints": {**required, "minimum": 0, "maximum": size - 1}}


def _items(number: int) -> Sequence[str]:
    return [f"d{item}" for item in range(number)]


def _lists(number: int) -> dict[str, Any]:
    return {"name": "diagnoses", "type": "list", "items": _items(number), "constraints": {"required": True}}


def _sets(number: int) -> dict[str, Any]:
    return {"kind": "sets", "items": _items(number), "column": "diagnoses"}


# ---- distances ------------------------------------------------------------------------------------------------------


def _grouped(table: pl.DataFrame, name: str) -> Ints:
    """A column in at most 10 groups of equal width."""
    size, values = COLUMNS[name], table[name].to_numpy().astype(np.int64)
    return values if size <= GROUPS else values * GROUPS // size


def _pairs(raw: pl.DataFrame, made: pl.DataFrame) -> float:
    """The mean distance of two columns."""
    found = []
    for a, b in combinations(COLUMNS, 2):
        both = [_grouped(table, a) * GROUPS + _grouped(table, b) for table in (raw, made)]
        found.append(variation_of_codes(*both))
    return float(np.mean(found))


def _crossed(raw: tuple[pl.DataFrame, Ints], made: tuple[pl.DataFrame, Ints], column: str) -> float:
    """The mean distance of a column by each item."""
    codes = [(_grouped(table, column), held) for table, held in (raw, made)]
    items = range(raw[1].shape[1])
    return float(np.mean([variation_of_codes(*(2 * one + held[:, item] for one, held in codes)) for item in items]))


def _joint(raw: Ints, made: Ints, pair: tuple[int, int]) -> float:
    """The distance of two items."""
    return variation_of_codes(*(2 * held[:, pair[0]] + held[:, pair[1]] for held in (raw, made)))

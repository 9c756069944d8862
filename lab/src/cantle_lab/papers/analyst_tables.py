"""Tables on which the work of an analyst is tried: other targets of the usual tables, and generated tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from cantle_lab.papers import table_sets
from cantle_lab.papers.made_tables import made_table
from cantle_lab.papers.table_sets import TableSet

Load = Callable[[Path], TableSet]


def with_target(table: TableSet, column: str) -> TableSet:
    """The table with another target, which comes last."""
    fields = table_sets.without_roles(table)
    last = next(field for field in fields if field["name"] == column)
    fields = [*(field for field in fields if field is not last), last | {"role": "target"}]
    frame = table.frame.select(field["name"] for field in fields)
    return TableSet(f"{table.name}, {column}", frame, {"fields": fields})


def undeclared(table: TableSet) -> TableSet:
    """The same table, published without a target."""
    return replace(table, published={"fields": table_sets.without_roles(table)})


NUMBERS: Mapping[str, Load] = {
    "Adult, age": lambda data: with_target(table_sets.load_adult(data), "age"),
    "Adult, hours-per-week": lambda data: with_target(table_sets.load_adult(data), "hours-per-week"),
    "bank, balance": lambda data: with_target(table_sets.load_bank(data), "balance"),
    "bank, duration": lambda data: with_target(table_sets.load_bank(data), "duration"),
}
"""Numeric targets."""


def taxis(records: int = 6_000, seed: int = 3) -> TableSet:
    """Rides of taxis: fares follow the distance, tips the fare if a card pays."""
    dice = np.random.default_rng(seed)
    distance = dice.gamma(1.4, 2.2, records).clip(0.3, 40)
    minutes = (distance * dice.gamma(12, 0.35, records) + dice.gamma(2, 1.5, records)).clip(1, 179)
    fare = (3 + 2.1 * distance + 0.35 * minutes + dice.normal(0, 2.5, records)).clip(3, 149)
    card = dice.random(records) < 0.7
    tip = np.where(card, 0.2 * fare * dice.random(records) * 2, 0).clip(0, 39)
    hour = (dice.normal(15, 5, records) % 24).astype(int)
    zones = dice.integers(0, 20, (2, records))
    return made_table(
        "taxis",
        {
            "payment": card.astype(int), "weekday": dice.integers(0, 7, records),
            "riders": dice.integers(0, 5, records), "from": zones[0], "to": zones[1],
            "vendor": dice.integers(0, 2, records),
        },
        {"distance": (0, 400), "minutes": (0, 179), "fare": (0, 1_499), "tip": (0, 399), "hour": (0, 23)},
        [(part).astype(np.int64) for part in (10 * distance, minutes, 10 * fare, 10 * tip, hour)],
    )  # fmt: skip


def survey(records: int = 14_000, items: int = 80, seed: int = 1, shared: float = 0.0) -> TableSet:
    """Answers from 1 to 5 with five hidden causes, 16 or more for each, which are groups, and six facts about the
    person. The causes share a part of their variance."""
    dice = np.random.default_rng(seed)
    facts = {
        "sex": dice.integers(0, 2, records), "region": dice.integers(0, 8, records),
        "school": dice.choice(4, records, p=[0.2, 0.4, 0.25, 0.15]),
    }  # fmt: skip
    age = dice.normal(45, 16, records).clip(18, 90).astype(np.int64)
    year, members = dice.integers(0, 5, records), dice.integers(0, 6, records)
    cause = dice.normal(size=(records, 5)) + 0.3 * (facts["school"][:, None] - 1.3) * np.array([1, 0, -1, 0.5, 0])
    cause += 0.01 * (age[:, None] - 45) * np.array([0, 1, 0, -1, 0])
    if shared:
        cause = (1 - shared) ** 0.5 * cause + shared**0.5 * dice.normal(size=(records, 1))
    block = max(1, items // 5)
    answers = {}
    for j in range(items):
        factor, item = min(j // block, 4), j % block
        weight = 0.55 + 0.05 * (j % 6)
        raw = weight * cause[:, factor] + np.sqrt(max(0.0, 1 - weight**2)) * dice.normal(size=records)
        cuts = np.array([-1.4, -0.5, 0.4, 1.2]) + 0.4 * dice.normal()
        answers[f"{'abcde'[factor]}{item + 1}"] = np.digitize(raw, cuts)
    categories = {**facts, "year": year, "members": members, **answers}
    name = f"{records:,} x {items + 6} survey{', shared cause' * (shared > 0)}"
    table = made_table(name, categories, {"age": (18, 90)}, [age])
    fields = [one | {"categoriesOrdered": True} if one["name"] in answers else one for one in table.schema["fields"]]
    groups = {f"score {one}": [name for name in answers if name[0] == one] for one in "abcde"}
    return replace(table, schema=table.schema | {"fields": fields}, published={"fields": fields, "groups": groups})

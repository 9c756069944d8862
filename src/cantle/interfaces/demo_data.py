"""A made-up population for `cantle demo`, with mixed types, correlations and nulls, drawn from an ordinary seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from cantle.release import Release
from cantle.release.answers.estimates import Estimate

PEOPLE = 24_000
REGIONS = ("North", "East", "South", "West", "Islands")
SCHOOLING = ("none", "primary", "secondary", "college", "university")

SCHEMA: Any = {
    "fields": [
        {"name": "id", "type": "string", "role": "identifier"},
        {"name": "age", "type": "integer", "constraints": {"minimum": 16, "maximum": 99, "required": True}},
        {"name": "region", "type": "string", "categories": list(REGIONS), "constraints": {"required": True}},
        {"name": "schooling", "type": "string", "categories": list(SCHOOLING), "categoriesOrdered": True},
        {"name": "employed", "type": "boolean", "constraints": {"required": True}},
        {"name": "income", "type": "number", "constraints": {"minimum": 0, "maximum": 12000, "multipleOf": 50}},
        {"name": "last_visit", "type": "date", "constraints": {"minimum": "2023-01-01", "maximum": "2025-12-31"}},
        {"name": "diabetes", "type": "string", "categories": ["no", "yes"], "role": "target"},
    ],
    "missingValues": [""],
}


def population(seed: int = 2012, people: int = PEOPLE) -> pl.DataFrame:
    """The table that the demo treats as private; the same seed gives the same people."""
    dice = np.random.default_rng(seed)
    age = np.clip(dice.normal(46, 19, people), 16, 99).astype(int)
    region = dice.choice(5, people, p=[0.34, 0.26, 0.2, 0.15, 0.05])
    school = np.clip(np.rint(dice.normal(2.6 - (age > 60) * 0.7 + (region == 0) * 0.4, 1.0)), 0, 4).astype(int)
    employed = dice.random(people) < np.where((age > 20) & (age < 65), 0.62 + 0.06 * school, 0.12)
    income = np.where(employed, 1300 + 520 * school, 700) * dice.lognormal(0, 0.35, people)
    risk = -6.2 + 0.055 * age - 0.25 * school + 0.5 * (region == 2)
    ill = dice.random(people) < 1 / (1 + np.exp(-risk))
    visit = np.datetime64("2025-12-31") - dice.exponential(260 - 130 * ill).astype(int).clip(0, 1000)
    seen = dice.random(people) < 0.35 + 0.5 * ill
    answered = dice.random(people) < 0.95
    return pl.DataFrame(
        {
            "id": [f"P{number:06d}" for number in range(people)],
            "age": age,
            "region": np.array(REGIONS)[region],
            "schooling": pl.Series(np.array(SCHOOLING)[school]),
            "employed": employed,
            "income": np.round(income.clip(0, 12000) / 50) * 50.0,
            "last_visit": pl.Series(visit).cast(pl.Date),
            "diabetes": np.where(ill, "yes", "no"),
        }
    ).with_columns(
        last_visit=pl.when(pl.Series(seen)).then("last_visit"),
        schooling=pl.when(pl.Series(answered)).then("schooling"),
    )


@dataclass(frozen=True)
class Compared:
    """One fact in the private table, which only a demo may show, and in the release with its margin of error."""

    fact: str
    question: str
    private: float
    released: Estimate


def comparison(truth: pl.DataFrame, release: Release) -> list[Compared]:
    """A few counts, and means of a column, each as the answer to a question about the release."""
    everybody, employed, ill = pl.lit(True), pl.col("employed"), pl.col("diabetes") == "yes"
    asked: list[tuple[str, str, pl.Expr, str | None]] = [
        ("people", "", everybody, None),
        ("mean age", "", everybody, "age"),
        ("mean income", "", everybody, "income"),
        ("employed", "employed", employed, None),
        ("university", "schooling == 'university'", pl.col("schooling") == "university", None),
        ("schooling missing", "schooling is null", pl.col("schooling").is_null(), None),
        ("seen in 2025", "last_visit >= 2025-01-01", pl.col("last_visit") >= pl.date(2025, 1, 1), None),
        ("diabetes", "diabetes == 'yes'", ill, None),
        ("diabetes over 65", "age > 65 and diabetes == 'yes'", ill & (pl.col("age") > 65), None),
        ("mean income, employed", "employed", employed, "income"),
        ("mean income, others", "not employed", ~employed, "income"),
    ]
    made = []
    for fact, question, chosen, mean in asked:
        rows = truth.filter(chosen)
        private = len(rows) if mean is None else rows.select(pl.col(mean).mean()).item()
        released = release.count(question) if mean is None else release.mean(mean, question)
        made.append(Compared(fact, question, private, released))
    return made

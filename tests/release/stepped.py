"""A table whose values lie inside the steps of its schema, with questions whose answers are known."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from cantle.release import Release
from cantle.release.answers.estimates import Estimate

SCHEMA: dict[str, Any] = {
    "fields": [
        {"name": "income", "type": "number", "step": 500, "constraints": {"minimum": 0, "maximum": 20_000}},
        {"name": "weight", "type": "number", "step": 5, "constraints": {"minimum": 0, "maximum": 200}},
        {"name": "day", "type": "date", "step": 30, "constraints": {"minimum": "2025-01-01", "maximum": "2025-12-31"}},
        {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 95, "multipleOf": 5}},
        {"name": "stay", "type": "number", "step": 24, "constraints": {"minimum": 0, "maximum": 1000}},
    ]
}


def table(records: int, seed: int) -> pl.DataFrame:
    """Incomes (their mean is about 4,000), weights, days of a year, ages in fives, and lengths of stay."""
    dice = np.random.default_rng(seed)
    day = np.datetime64("2025-01-01") + dice.integers(0, 365, records)
    return pl.DataFrame(
        {
            "income": dice.gamma(4, 1000, records),
            "weight": dice.normal(70, 10, records),
            "day": pl.Series(day).cast(pl.Date),
            "age": dice.integers(0, 20, records) * 5,
            "stay": np.minimum(dice.exponential(30, records), 1000),
        }
    )


COUNTS = ("income >= 4200", "income >= 4000", "weight < 63.7", "day >= 2025-06-10", "age >= 50", "stay < 10")
MEANS = ("income", "weight", "age", "stay")


def answers(release: Release, private: pl.DataFrame) -> Iterator[tuple[str, float, Estimate]]:
    """Ten questions, each with the true answer and that of the release."""
    for name in MEANS:
        yield f"mean {name}", float(str(private[name].mean())), release.mean(name)
    for question in COUNTS:
        where = question.replace("2025-06-10", "DATE '2025-06-10'")
        true = pl.SQLContext(t=private).execute(f"SELECT COUNT(*) FROM t WHERE {where}", eager=True).item()  # noqa: S608
        yield question, float(true), release.count(question)

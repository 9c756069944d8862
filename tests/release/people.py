"""A small table with every type, shared by the tests of releases and of the command line."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

SCHEMA: dict[str, Any] = {
    "fields": [
        {"name": "id", "type": "string", "role": "identifier"},
        {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 99}},
        {"name": "weight", "type": "number", "step": 0.5, "constraints": {"minimum": 30, "maximum": 150}},
        {"name": "town", "type": "string", "categories": ["Ash", "Birch", "Cedar", "Dogwood"]},
        {"name": "grade", "type": "string", "categories": ["low", "mid", "high"], "categoriesOrdered": True},
        {"name": "member", "type": "boolean"},
        {"name": "joined", "type": "date", "constraints": {"minimum": "2020-01-01", "maximum": "2020-12-31"}},
        {
            "name": "seen",
            "type": "datetime",
            "step": "1h",
            "constraints": {"minimum": "2020-01-01T00:00:00", "maximum": "2020-01-31T23:00:00"},
        },
        {"name": "ill", "type": "string", "categories": ["no", "yes"], "role": "target"},
    ]
}


def people(n: int = 400, seed: int = 7) -> pl.DataFrame:
    """Records of the schema, with nulls."""
    dice = np.random.default_rng(seed)
    age = dice.integers(0, 100, n)
    frame = pl.DataFrame(
        {
            "id": [f"id{i}" for i in range(n)],
            "age": age,
            "weight": dice.integers(60, 300, n) / 2,
            "town": dice.choice(["Ash", "Birch", "Cedar", "Dogwood"], n),
            "grade": dice.choice(["low", "mid", "high"], n),
            "member": dice.random(n) < 0.5,
            "joined": pl.Series(np.datetime64("2020-01-01") + dice.integers(0, 366, n)).cast(pl.Date),
            "seen": pl.Series(
                np.datetime64("2020-01-01T00:00:00", "us") + dice.integers(0, 744, n) * np.timedelta64(1, "h")
            ),
            "ill": np.where(dice.random(n) < age / 100, "yes", "no"),
        }
    ).with_columns(pl.col("seen").cast(pl.Datetime("us")))
    gap = pl.Series(dice.random(n) < 0.1)
    return frame.with_columns(pl.when(~gap).then(pl.col(name)).alias(name) for name in ("age", "town", "joined"))

"""A table whose lists have more items than a machine word has bits: the same release from every source, verified."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import cantle
from cantle.release.verify import verify_folder
from cantle.schema.lists import as_texts

ITEMS = 70
SCHEMA: dict[str, Any] = {
    "fields": [
        {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 9, "required": True}},
        {"name": "ill", "type": "list", "items": [f"i{number}" for number in range(ITEMS)]},
    ],
    "rules": ["ill contains i69 -> age >= 5"],
}


def records() -> pl.DataFrame:
    dice = np.random.default_rng(1)
    lists: list[list[str] | None] = [
        None if size == 5 else [f"i{one}" for one in np.minimum(dice.geometric(0.05, size), ITEMS - 1)]
        for size in dice.integers(0, 6, 400).tolist()
    ]
    return pl.DataFrame({"age": dice.integers(0, 10, 400), "ill": pl.Series(lists, dtype=pl.List(pl.String))})


def test_lists_of_many_items(tmp_path: Path) -> None:
    frame = records()
    release = cantle.publish(frame, SCHEMA, epsilon=9, insecure_seed=5)
    release.save(tmp_path / "release")
    assert verify_folder(tmp_path / "release") == []
    made = release.records
    assert made.filter(pl.col("ill").list.contains("i69"))["age"].min() in (None, *range(5, 10))
    held = frame.filter(pl.col("ill").list.contains("i1")).height
    assert abs(release.count("ill contains i1").value - held) < 40
    assert abs(release.count("ill is null").value - frame["ill"].null_count()) < 30


@pytest.mark.slow
def test_they_are_the_same_from_every_source(tmp_path: Path) -> None:
    frame = records()
    frame.with_columns(as_texts(frame["ill"]).fill_null("")).write_csv(tmp_path / "records.csv")
    frame.write_parquet(tmp_path / "records.parquet")
    made = cantle.publish(frame, SCHEMA, epsilon=9, insecure_seed=5).records
    for source, engine in (("records.csv", "memory"), ("records.parquet", "duckdb")):
        assert cantle.publish(tmp_path / source, SCHEMA, epsilon=9, insecure_seed=5, engine=engine).records.equals(made)

"""Sets of persons: a person is all rows with one identifier, and at most `max_records` sets of each are used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import cantle
from cantle.data.sets import read_baskets
from cantle.errors import DataError
from cantle.schema.sets import SetSchema

Row = tuple[Any, Any, Any]


def schema(k: int = 2, **more: Any) -> dict[str, Any]:
    return {"kind": "sets", "items": {"minimum": 1, "maximum": 40}, "unit": {"person": "who", "max_records": k}, **more}


def frame(rows: list[Row]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema={"who": pl.String, "id": pl.String, "item": pl.Int64}, orient="row")


def sets(rows: list[Row], k: int = 2) -> list[tuple[int, ...]]:
    baskets = read_baskets(frame(rows), SetSchema.from_dict(schema(k)))
    return (
        sorted(tuple(one.tolist()) for one in np.split(baskets.items, baskets.starts[1:-1]))
        if len(baskets.starts) > 1
        else []
    )


def shop(people: int, seed: int = 1) -> list[Row]:
    rng = np.random.default_rng(seed)
    return [
        (f"p{person}", f"b{basket}", int(item))
        for person in range(people)
        for basket in range(rng.integers(1, 6))
        for item in rng.choice(40, rng.integers(1, 5), replace=False) + 1
    ]


@pytest.mark.parametrize("k", [1, 2, 3])
def test_a_person_changes_at_most_k_sets(k: int) -> None:
    """Removing any person removes at most k sets, and no other set appears or changes (Claim 40)."""
    rows = shop(12)
    whole = sets(rows, k)
    for person in {row[0] for row in rows}:
        rest = sets([row for row in rows if row[0] != person], k)
        gone = list(whole)
        for one in rest:
            gone.remove(one)  # every other set is unchanged
        assert 1 <= len(gone) <= k


def test_neither_the_order_of_rows_nor_repeated_rows_matter() -> None:
    rows = shop(12)
    order = np.random.default_rng(2).permutation(len(rows))
    assert sets(rows) == sets([rows[i] for i in order]) == sets(rows + rows)


def test_a_set_belongs_to_one_person() -> None:
    """An id that two persons use gives two sets; otherwise rows of one person would change a set of the other."""
    assert sets([("a", "1", 1), ("b", "1", 2), ("a", "1", 3)]) == [(0, 2), (1,)]


def test_rows_without_a_person_an_id_or_a_declared_item_are_dropped() -> None:
    rows: list[Row] = [(None, "1", 1), ("", "1", 2), ("a", None, 3), ("a", "2", 99), ("a", "3", 4)]
    assert sets(rows) == [(3,)]
    assert sets([]) == []


@pytest.mark.parametrize("given", [{"method": "baskets"}, {"method": "diffpart", "cells": "tree"}], ids=str)
@pytest.mark.parametrize("kind", ["csv", "parquet", "pandas"])
def test_releases_protect_persons(given: Any, kind: str, tmp_path: Path) -> None:
    data: Any = frame(shop(300))
    if kind == "pandas":
        data = data.to_pandas()
    else:
        getattr(data, f"write_{kind}")(tmp_path / f"sets.{kind}")
        data = tmp_path / f"sets.{kind}"
    release = cantle.publish(data, schema(3), epsilon=30, **given)
    release.verify()
    assert release.manifest.receipt.unit.max_records == 3
    assert all(charge.sensitivity % 3 == 0 for charge in release.manifest.receipt.charges())
    assert list(release.records.columns) == ["id", "item"]
    loaded = cantle.Release.load(release.save(tmp_path / "out"))
    loaded.verify()
    statement = (tmp_path / "out" / "statement.md").read_text()
    assert "at most 3 records per person are used" in statement


def test_a_table_without_the_column_of_persons_is_refused() -> None:
    with pytest.raises(DataError, match="who"):
        cantle.publish(frame(shop(5)).drop("who"), schema(), epsilon=1)
    with pytest.raises(DataError):
        cantle.publish([[1, 2]], schema(), epsilon=1)


def test_the_canonical_form_of_the_schema_keeps_persons() -> None:
    given = SetSchema.from_dict(schema(4))
    assert given.protects == (4, "person")
    assert SetSchema.from_dict(given.to_dict()) == given

"""Sets on disk (engine duckdb): the bytes of engine memory for all file forms, whatever the batches, no file left."""

from __future__ import annotations

import pickle
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cantle
from cantle.errors import DataError, ParameterError

pytest.importorskip("duckdb", reason="DuckDB is not installed (extra duckdb)")


from cantle.data import arrow_batches  # noqa: E402
from cantle.trusted.claims.set_queries import HeadPatterns, ItemSupports, SetSizes  # noqa: E402
from cantle.trusted.counting import ragged, stores  # noqa: E402
from cantle.trusted.counting.ragged import Ragged  # noqa: E402
from cantle.trusted.counting.sets import SetEngine  # noqa: E402
from cantle.trusted.counting.stores import InMemory, OnDisk  # noqa: E402
from cantle.trusted.geometry.item_partitions import ItemTree  # noqa: E402
from tests.effort import examples, one_in

SCHEMA: dict[str, Any] = {"kind": "sets", "items": {"minimum": 1, "maximum": 40}}
Rows = list[tuple[int, int]]
ROOT = np.zeros(1, np.int64)


@cache
def rows() -> Rows:
    """Rows (id, item) in random order, some repeated, some with unknown items."""
    dice = np.random.default_rng(5)
    pairs = [(i, int(item)) for i in range(1500) for item in np.minimum(dice.zipf(1.4, dice.integers(1, 8)), 45)]
    dice.shuffle(pairs)
    return pairs


def written(folder: Path, form: str) -> Path:
    long = pl.DataFrame(rows(), schema=["id", "item"], orient="row")
    path = folder / form
    if form == "lists.parquet":
        long.group_by("id", maintain_order=True).agg(items="item").select("items").write_parquet(
            path, row_group_size=100
        )
    elif form == "lines.dat":
        lists = long.group_by("id", maintain_order=True).agg("item")["item"].to_list()
        path.write_text("".join(" ".join(map(str, record)) + "\n" for record in lists))
    elif form == "long.csv":
        long.write_csv(path)
    else:
        ids = pl.col("id").cast(pl.String) + "é" if form == "texts.parquet" else pl.col("id")
        long.with_columns(ids).write_parquet(path, row_group_size=100)
    return path


def same(one: cantle.Release, other: cantle.Release) -> bool:
    frames = all(one.frames[name].equals(other.frames[name]) for name in one.frames)
    return (
        one.manifest == other.manifest
        and frames
        and bool(one.groups.equals(other.groups))
        and bool(one.records.equals(other.records))
    )


@pytest.mark.parametrize("given", [{"method": "baskets"}, {"method": "diffpart", "cells": "tree"}], ids=str)
@pytest.mark.parametrize("form", one_in(2, ["long.parquet", "texts.parquet", "long.csv", "lists.parquet", "lines.dat"]))
def test_the_same_seed_gives_the_same_bytes(
    form: str, given: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ragged, "BATCH", 500)
    monkeypatch.setattr(arrow_batches, "BATCH", 300)
    path = written(tmp_path, form)
    releases = [
        cantle.publish(path, SCHEMA, epsilon=20, engine=engine, insecure_seed=2, **given)
        for engine in ("memory", "duckdb")
    ]
    assert same(*releases)
    assert releases[0].manifest.summary["records"] > 1000


def test_a_record_may_have_rows_in_several_files(tmp_path: Path) -> None:
    long = pl.DataFrame(rows(), schema=["id", "item"], orient="row")
    long.write_parquet(tmp_path / "all.parquet")
    parts = tmp_path / "parts"
    parts.mkdir()
    for number in range(3):
        long[number::3].write_parquet(parts / f"{number}.parquet")
    whole = cantle.publish(tmp_path / "all.parquet", SCHEMA, epsilon=20, insecure_seed=2)
    assert same(whole, cantle.publish(parts, SCHEMA, epsilon=20, insecure_seed=2, engine="duckdb"))
    long.with_columns(pl.col("id").cast(pl.String)).write_parquet(parts / "9.parquet")
    with pytest.raises(DataError, match="different types in the files"):
        cantle.publish(parts, SCHEMA, epsilon=20, engine="duckdb")


PERSONS = SCHEMA | {"unit": {"person": "who", "max_records": 2}}


def long_with_persons(folder: Path, form: str) -> Path:
    """A long table of persons with up to 20 baskets; ids repeat from person to person, and some rows have no person."""
    long = pl.DataFrame(rows(), schema=["id", "item"], orient="row")
    who = pl.when(pl.col("id") % 50 == 1).then(None).otherwise((pl.col("id") ** 2) % 97)
    long = long.with_columns(who.alias("who"), pl.col("id") % 211)
    if form == "texts.parquet":
        long = long.with_columns("p" + pl.col("who").cast(pl.String), pl.col("id").cast(pl.String))
    path = folder / form
    long.write_csv(path) if form.endswith("csv") else long.write_parquet(path, row_group_size=100)
    return path


@pytest.mark.parametrize("form", ["long.parquet", "texts.parquet", "long.csv"])
def test_engines_bound_persons_alike(form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrow_batches, "BATCH", 300)
    path = long_with_persons(tmp_path, form)
    releases = [
        cantle.publish(path, PERSONS, epsilon=40, engine=engine, insecure_seed=2) for engine in ("memory", "duckdb")
    ]
    assert same(*releases)
    assert 60 < releases[0].manifest.summary["records"] < 140  # 48 persons with two each


@examples(12)
@given(st.lists(st.sets(st.integers(0, 8), min_size=1), max_size=15), st.integers(1, 9))
def test_records_are_counted_alike_in_any_store_and_batch(records: list[set[int]], batch: int) -> None:
    tree = ItemTree.of(9, 3, even=True)
    lengths = np.array([len(record) for record in records], dtype=np.int64)
    items = np.array([item for record in records for item in sorted(record)], dtype=np.int32)
    packs = [(lengths[:4], items[: lengths[:4].sum()]), (lengths[4:], items[lengths[:4].sum() :])]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ragged, "BATCH", batch)
        on_disk = Ragged.gathered(packs, OnDisk())
        rows = [row.tolist() for starts, some in on_disk._batches() for row in np.split(some, starts[1:-1])]
        assert rows == ([sorted(record) for record in records] or [[]])
        in_memory = Ragged.gathered(packs, InMemory())
        filed, plain = (SetEngine(one, tree=tree, most=9) for one in (on_disk, in_memory))
        cut = [SetEngine(one, tree=tree, most=2) for one in (on_disk, in_memory)]
        supports = ItemSupports(9, 2, True), ItemSupports(9, 3, False), ItemSupports(9, 2, True, True)
        for key in (SetSizes((1, 2, 4)), *supports, HeadPatterns((0, 4, 7))):
            (counts,) = filed.tally(ROOT, key)
            patch.setattr(ragged, "BATCH", 1 << 22)
            (expected,) = plain.tally(ROOT, key)
            patch.setattr(ragged, "BATCH", batch)
            assert counts[2].tolist() == expected[2].tolist()
        question = (0, 2, 3, 8), 2
        for some, others in zip(filed.pairs(*question), plain.pairs(*question), strict=True):
            assert some.tolist() == others.tolist()
    for one, other in ((filed, plain), cut):
        for some, others in zip(one.touched(ROOT), other.touched(ROOT), strict=True):
            assert some.tolist() == others.tolist()
    filed.close()


def test_no_file_is_left_after_a_release_or_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    path = written(tmp_path, "long.parquet")
    cantle.publish(path, SCHEMA, epsilon=20, engine="duckdb")
    assert not list(folder.iterdir())
    monkeypatch.setattr(stores, "divided", lambda *_: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        cantle.publish(path, SCHEMA, epsilon=20, engine="duckdb")
    assert not list(folder.iterdir())


def test_records_show_nothing_and_cannot_be_pickled() -> None:
    records = Ragged(np.array([0, 1]), np.array([1]))
    assert repr(records) == "Ragged(private)"
    with pytest.raises(TypeError, match="private"):
        pickle.dumps(records)


@pytest.mark.parametrize(("memory", "files"), [(None, 64), ("1GiB", 200), ("8GB", 32)])
def test_less_memory_means_more_files(memory: str | None, files: int, tmp_path: Path, monkeypatch: Any) -> None:
    used: set[int] = set()
    monkeypatch.setattr(stores, "divided", lambda _frame, _key, number: used.add(number) or [])
    cantle.publish(written(tmp_path, "long.parquet"), SCHEMA, epsilon=20, engine="duckdb", memory=memory)
    assert used == {files}


def test_records_are_cut_before_every_question_if_the_method_says_so() -> None:
    tree = ItemTree.of(4, 4, even=True)
    filed = SetEngine(Ragged.gathered([(np.array([4, 1]), np.array([0, 1, 2, 3, 2]))], OnDisk()), tree=tree, most=2)
    plain = SetEngine(Ragged(np.array([0, 4, 5]), np.array([0, 1, 2, 3, 2])), tree=tree, most=2)
    question = (0, 1, 2, 3), 2
    for counts, expected in zip(filed.pairs(*question), plain.pairs(*question), strict=True):
        assert counts.tolist() == expected.tolist()
    assert filed.pairs(*question)[1].sum() <= 5040  # at most one pair, as records are cut to two items
    ((_, _, sizes),) = filed.tally(ROOT, SetSizes((1, 2, 3)))
    assert sizes.tolist() == [[1, 1, 0]]
    for most in (0, 5):
        with pytest.raises(ParameterError, match="not sound"):
            SetEngine(Ragged(np.array([0]), np.array([], dtype=np.int32)), tree=tree, most=most)

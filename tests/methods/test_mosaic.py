"""Mosaic through `publish`: every branch spends its budget, verifies, and is the same on every engine."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import cantle
from cantle.drawing.column_cells import column_of
from cantle.drawing.counts import STREAMS, public_streams
from cantle.errors import SchemaError, VerifyError
from cantle.methods.mosaic import run as mosaic_run
from cantle.methods.mosaic.method import Mosaic
from cantle.methods.mosaic.plan import first_tables
from cantle.methods.mosaic.results import drawn_codes
from cantle.release import Release
from cantle.release.structures.tables import released_tables
from cantle.schema.base import Schema
from cantle.schema.domain import Attribute, Labels, Steps
from cantle.schema.taxonomy import Taxonomy
from tests.effort import slow


def number(name: str, low: int, high: int) -> dict[str, Any]:
    return {"name": name, "type": "integer", "constraints": {"minimum": low, "maximum": high}}


def category(name: str, labels: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": "string", "categories": list(labels), **more}


pytestmark = pytest.mark.filterwarnings("ignore:.*is deprecated:DeprecationWarning")

WIDE = [number("age", 0, 99), number("income", 0, 99_999), category("town", "abc")]
YES = category("ill", "ny", role="target")


def people(n: int = 2000, seed: int = 1) -> pl.DataFrame:
    dice = np.random.default_rng(seed)
    income = np.where(dice.random(n) < 0.3, 0, dice.integers(0, 500, n) * 10)
    return pl.DataFrame(
        {
            "age": dice.integers(18, 90, n),
            "income": income,
            "town": dice.choice(list("abc"), n),
            "ill": np.where(income + dice.normal(0, 500, n) > 1500, "y", "n"),
            "id": dice.integers(0, n, n),
        }
    )


def many_columns(n: int = 400) -> tuple[pl.DataFrame, list[dict[str, Any]]]:
    dice = np.random.default_rng(2)
    names = [f"c{i}" for i in range(42)]
    frame = pl.DataFrame({name: dice.choice(list("abc"), n) for name in names})
    return frame, [category(name, "abc") for name in names]


def asked(release: Release) -> list[str]:
    return [charge.why for charge in release.manifest.receipt.charges()]


def published(fields: list[dict[str, Any]], data: Any = None, **more: Any) -> Release:
    given = {"epsilon": 1, "insecure_seed": 4} | more
    return cantle.publish(people() if data is None else data, {"fields": fields}, method="mosaic", **given)


BRANCHES: dict[str, tuple[Callable[[], Release], set[str]]] = {
    "gate open": (lambda: published([*WIDE, YES], epsilon=20), {"cells of wide columns", "frequent values"}),
    "gate shut": (lambda: published([*WIDE, YES], epsilon=1), {"one frequent value", "leaves by class"}),
    "low": (lambda: published([*WIDE, YES], epsilon="0.01"), {"first tables, 17 to 32 cells", "leaves by class"}),
    "no target": (lambda: published([*WIDE, category("ill", "ny")], epsilon=5), {"choice of table 1", "table 1"}),
    "three classes": (lambda: published([*WIDE[:2], category("town", "abc", role="target")]), {"one frequent value"}),
    "a wide target": (lambda: published([number("age", 0, 99) | {"role": "target"}, WIDE[2]]), {"target alone"}),
    "a hub": (lambda: published(many_columns()[1], many_columns()[0], epsilon=50), {"hub column"}),
    "one column": (lambda: published(WIDE[2:]), {"number of records", "first tables, 3 to 4 cells"}),
    "the target alone": (lambda: published([YES]), {"first tables, 2 cells"}),
    "the target and one category": (
        lambda: published([YES, category("town", "a", constraints={"required": True})]),
        {"first tables, 2 cells"},
    ),
    "no record": (lambda: published([*WIDE, YES], people().head(0)), {"leaves by class"}),
}


@cache
def branch(name: str) -> Release:
    """The release of a branch; tests must not change it."""
    return BRANCHES[name][0]()


@pytest.mark.parametrize("name", BRANCHES)
def test_every_branch_spends_all_of_epsilon_and_adds_up(name: str) -> None:
    expected, release = BRANCHES[name][1], branch(name)
    assert expected <= set(asked(release))
    assert sum(charge.epsilon_nano for charge in release.manifest.receipt.charges()) == (
        release.manifest.receipt.epsilon_nano
    )
    release.verify()
    assert len(release.records) == release.manifest.summary["records"]


def test_first_tables_with_more_cells_get_more_of_the_budget() -> None:
    groups = first_tables([2, 16, 3, 9, 1], Fraction(1, 2), alone=True)
    assert [(group.columns, group.why.removeprefix("first tables, ")) for group in groups] == [
        ((4,), "1 cell"), ((0,), "2 cells"), ((2,), "3 to 4 cells"), ((1, 3), "9 to 16 cells"),
    ]  # fmt: skip
    assert sum(group.paid for group in groups) == Fraction(1, 2)
    assert float(groups[3].paid / 2 / groups[1].paid) == pytest.approx(2, rel=0.01)  # 2 = cube root of 16 / 2
    assert [group.why for group in first_tables([2, 16], Fraction(1, 2), alone=False)] == ["first tables"]


def test_persons_pay_for_all_their_records() -> None:
    identifier = {"name": "id", "type": "integer", "role": "identifier"}
    schema = {"fields": [*WIDE, YES, identifier], "unit": {"person": "id", "max_records": 3}}
    release = cantle.publish(people(), schema, epsilon=20, method="mosaic", insecure_seed=1)
    release.verify()
    charges = {charge.why: charge.sensitivity for charge in release.manifest.receipt.charges()}
    assert charges["number of records"] == 3
    assert charges["cells of wide columns"] == charges["frequent values"] == 2 * 3
    assert sum(number for why, number in charges.items() if why.startswith("first tables")) == 3 * 3
    assert charges["choice of table 1"] == 2 * 3
    assert charges["leaves by class"] == 3


@cache
def of_many() -> tuple[pl.DataFrame, Release]:
    """Many people and their release; tests must not change it."""
    data = people(12_000)
    return data, published([*WIDE, YES], data, epsilon=5)


def test_a_frequent_value_and_a_dependence_between_columns_are_kept() -> None:
    data, release = of_many()
    records = release.records
    share = [(frame["income"] == 0).mean() for frame in (data, records)]
    assert abs(share[0] - share[1]) < 0.02
    for label in "ny":
        true, made = (frame.filter(pl.col("ill") == label)["income"].mean() for frame in (data, records))
        assert abs(made - true) < 0.15 * true


def test_saved_releases_are_read_back_and_sampled(tmp_path: Path) -> None:
    release = branch("gate open")
    folder = release.save(tmp_path / "out")
    assert (folder / "NOT-PRIVATE.tables.parquet").exists()
    loaded = Release.load(folder)
    loaded.verify()
    assert loaded.frames["tables"].equals(release.frames["tables"])
    drawn = loaded.sample(50, seed=3)
    assert drawn.columns == loaded.records.columns
    assert len(drawn) == 50
    known = loaded.records.unique()
    assert len(drawn.join(known, on=drawn.columns, how="semi")) < 25  # most records are new


@pytest.mark.parametrize("name", slow(list(BRANCHES), "a hub", "gate shut", "low", "three classes"))
def test_more_records_follow_the_noisy_tables(name: str) -> None:
    """As many records as were released have nearly the same counts; one record and none can be drawn too."""
    release = branch(name)
    n = len(release.records)
    again = release.sample(n, seed=8)
    assert again.schema == release.records.schema
    for column in again.columns:
        shares = [frame[column].cast(pl.String).fill_null("none").value_counts() for frame in (release.records, again)]
        both = shares[0].join(shares[1], on=column, how="full").fill_null(0)
        moved = both["count"].cast(pl.Int64) - both["count_right"].cast(pl.Int64)
        assert len(both) > 10 or moved.abs().max() <= 3 * n**0.5
    assert [len(release.sample(k, seed=1)) for k in (0, 1)] == [0, 1]
    assert release.sample(20, seed=8).equals(release.sample(20, seed=8))


def test_more_records_keep_dependences_between_columns() -> None:
    _, release = of_many()
    released, *drawn = [
        {label: frame.filter(pl.col("ill") == label)["income"].to_numpy() for label in "ny"}
        for frame in (release.records, release.sample(3_000, seed=1), release.sample(30_000, seed=1))
    ]
    assert np.mean(released["y"]) > 8 * np.mean(released["n"])
    for more in drawn:
        assert np.mean(more["y"]) > 7 * np.mean(more["n"])
        for label in "ny":
            chance = np.hypot(*(np.std(one[label]) / len(one[label]) ** 0.5 for one in (released, more)))
            assert abs(np.mean(more[label]) - np.mean(released[label])) < 3 * chance


def test_the_released_records_follow_from_the_saved_tables() -> None:
    """`sample` and `verify` compute from the saved tables what the run computed from its answers."""
    for release in map(branch, BRANCHES):
        tables = released_tables(release)
        seed = release.manifest.postprocessing["seed"]
        places = public_streams(seed, STREAMS)["places"]
        assert drawn_codes(tables.domain, tables.records(seed), places).frame().equals(release.records)


def test_rates_of_tables_follow_from_their_charges() -> None:
    release = branch("gate open")
    charges = {charge.why: charge for charge in release.manifest.receipt.charges() if charge.verb == "measure"}
    for why, num, den in release.frames["tables"].select("why", "rate_num", "rate_den").unique().rows():
        assert (num, den) == (charges[why].epsilon_nano, charges[why].sensitivity * 10**9)


OF_FIRST = pl.col("why").str.starts_with("first tables")
TAMPERED: dict[str, Callable[[Release], None]] = {
    "a rate": lambda r: r.frames.update(tables=r.frames["tables"].with_columns(rate_num=pl.col("rate_num") + 1)),
    "a missing cell": lambda r: r.frames.update(tables=r.frames["tables"].slice(1)),
    "a table too many": lambda r: r.manifest.structure["tables"].append(
        {"why": "table 99", "columns": [], "edges": []}
    ),
    "other cells": lambda r: r.manifest.structure["cells"].update(town=[0, 2, 4]),
    "cells that do not cover": lambda r: r.manifest.structure["cells"].update(town=[0, 2]),
    "other counts": lambda r: r.frames.update(
        tables=r.frames["tables"].with_columns(noisy=pl.col("noisy") + 90 * OF_FIRST)
    ),
    "another number of records": lambda r: r.frames.update(
        tables=r.frames["tables"].with_columns(noisy=pl.col("noisy") * ~OF_FIRST)
    ),
    "other groups": lambda r: next(one for one in r.manifest.structure["tables"] if one["why"] == "table 1")["edges"][
        0
    ].__setitem__(1, 17),
    "another seed": lambda r: r.manifest.postprocessing.update(seed=99),
    "other records": lambda r: vars(r).update(records=r.records.with_columns(town=pl.lit("a"))),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_changed_releases_are_found(name: str) -> None:
    release = deepcopy(branch("gate open"))
    TAMPERED[name](release)
    with pytest.raises(VerifyError):
        release.verify()
    with suppress(VerifyError):
        assert release.sample(3, seed=1).columns == release.records.columns


@pytest.mark.parametrize(("engine", "subset"), [
    ("duckdb", True), *(pytest.param(*one, marks=pytest.mark.slow)
                        for one in (("duckdb", False), ("database", False), ("database", True))),
])  # fmt: skip
def test_the_same_seed_gives_the_same_bytes_with_the_gate_open(
    engine: str, subset: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ibis = pytest.importorskip("ibis", reason="ibis is not installed (extra database)")
    monkeypatch.setattr(mosaic_run, "SUBSET", 500 if subset else 200_000)
    data: Any = people()
    expected = published([*WIDE, YES], data, epsilon=20)
    if engine == "database":
        data.write_parquet(tmp_path / "people.parquet")
        backend = ibis.duckdb.connect()
        backend.raw_sql(f"CREATE TABLE people AS FROM read_parquet('{tmp_path / 'people.parquet'}')")
        data = backend.table("people")
    other = published([*WIDE, YES], data, epsilon=20, engine=engine)
    files = [
        {path.name: path.read_bytes() for path in one.save(tmp_path / name).iterdir()}
        for one, name in ((expected, "memory"), (other, "other"))
    ]
    assert files[0] == files[1]
    assert len(asked(expected)) > 10


def test_scores_on_a_subset_change_what_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the test above could not fail for subsets."""
    whole = branch("gate open")
    monkeypatch.setattr(mosaic_run, "SUBSET", 20)
    assert not published([*WIDE, YES], epsilon=20).frames["tables"].equals(whole.frames["tables"])


def test_the_target_is_released_like_other_columns() -> None:
    domain = Schema.from_dict({"fields": [WIDE[0], YES, WIDE[2]]}).domain()
    method = Mosaic(domain)
    assert [column.name for column in method.columns] == ["age", "ill", "town"]
    assert method.target == 1
    assert (method.classes, method.domain.target) == (1, None)


def test_too_many_categories_are_refused_without_the_data() -> None:
    fields = [{"name": "x", "type": "string", "categories": [f"v{i}" for i in range(70_000)]}]
    with pytest.raises(SchemaError, match="at most 65536 categories"):
        cantle.publish("no such file", {"fields": fields}, epsilon=1, method="mosaic")


def test_columns_follow_from_the_schema() -> None:
    steps = Steps(type="number", first=-30, step=5, scale=10, grid=100)
    column = column_of(Attribute("x", steps, nullable=True))
    assert (column.values, column.null, column.numeric, column.origin) == (100, True, True, -6)
    assert column_of(Attribute("x", Steps(type="integer", first=2, step=5, grid=9), nullable=False)).origin is None
    assert column_of(Attribute("d", Steps(type="date", first=0, step=1, grid=9), nullable=False)).origin is None
    tree = Taxonomy.from_nested([{"left": ["p", "q"]}, {"right": [{"far": ["r", "s"]}, "t"]}])
    labels = Attribute("c", Labels(type="string", labels=tree.leaves), nullable=False, taxonomy=tree)
    assert column_of(labels).levels == ((0, 2, 5), (0, 1, 2, 4, 5))

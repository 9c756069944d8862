"""Releases of tables with columns of lists: the same from every kind of input, saved, verified and asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import cantle
from cantle.drawing.records import csv_of
from cantle.errors import ParameterError
from cantle.release import Release
from cantle.release.bundle import bundle
from cantle.release.kinds import texts_of
from cantle.release.show import column_section
from tests.effort import slow
from tests.neighbours.forms import without_spark

ITEMS = ["flu", "gout", "mumps", "asthma"]
SCHEMA: dict[str, Any] = {
    "fields": [
        {"name": "age", "type": "integer", "step": 5, "constraints": {"minimum": 0, "maximum": 89}},
        {"name": "ill", "type": "list", "items": ITEMS, "max_items": 3},
    ]
}
SEED = 7


def patients(number: int = 3000) -> pl.DataFrame:
    """Patients of whom the old have gout, and of whom some have no list."""
    dice = np.random.default_rng(1)
    age = dice.integers(0, 90, number)
    held = dice.random((number, len(ITEMS))) < np.stack([age * 0 + 0.2, age / 100, (age < 20) * 0.4, age * 0 + 0.1], 1)
    lists = [[item for item, has in zip(ITEMS, row, strict=True) if has] for row in held]
    given = [None if some < 0.1 else one for one, some in zip(lists, dice.random(number), strict=True)]
    return pl.DataFrame({"age": age, "ill": pl.Series(given, dtype=pl.List(pl.String))})


def publish(data: Any, method: str = "mosaic", **more: Any) -> Release:
    return cantle.publish(data, {**SCHEMA, **more}, epsilon=5, method=method, insecure_seed=SEED)


@pytest.fixture(scope="module")
def release() -> Release:
    return publish(patients())


def test_the_relations_of_items_are_kept(release: Release) -> None:
    given, made = patients(), release.records
    assert isinstance(made, pl.DataFrame)
    for item in ITEMS:
        shares = [(frame["ill"].list.contains(item).fill_null(False), frame["age"] >= 65) for frame in (given, made)]
        (there, old), (there_made, old_made) = shares
        assert there_made.mean() == pytest.approx(there.mean(), abs=0.02)
        assert there_made.filter(old_made).mean() == pytest.approx(there.filter(old).mean(), abs=0.1)
    assert made["ill"].is_null().mean() == pytest.approx(0.1, abs=0.02)
    assert made["ill"].list.len().max() <= 3  # type: ignore[operator]


def test_every_input_has_the_same_release(release: Release, tmp_path: Path) -> None:
    given = patients()
    joined = pl.when(pl.col("ill").list.len() > 0).then(pl.col("ill").list.join(" ;")).otherwise(pl.lit("[]"))
    texts = given.with_columns(pl.when(pl.col("ill").is_not_null()).then(joined).alias("ill"))
    texts.write_csv(tmp_path / "a.csv")
    given.write_parquet(tmp_path / "a.parquet")
    given.write_ipc(tmp_path / "a.arrow")
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, given.to_dicts())))
    objects = given.with_columns(pl.Series("ill", given["ill"].to_list(), dtype=pl.Object))
    files = [tmp_path / f"a.{ending}" for ending in ("csv", "parquet", "arrow", "jsonl")]
    for data in (given.to_pandas(), given.to_arrow(), objects, texts, texts.to_pandas(), *files):
        assert publish(data).frames["tables"].equals(release.frames["tables"])


@pytest.mark.parametrize("method", ["mosaic", "rps", "diffgen"])
@pytest.mark.parametrize("data", ["csv", "parquet"])
def test_a_release_comes_back_as_it_was(method: str, data: str, tmp_path: Path) -> None:
    target = [{"name": "smokes", "type": "boolean", "role": "target"}]
    given = patients(600).with_columns(smokes=pl.Series([True, False, False] * 200))
    made = publish(given, method, fields=[*SCHEMA["fields"], *target])
    loaded = Release.load(made.save(tmp_path / "made", data=data))
    loaded.verify()
    assert isinstance(made.records, pl.DataFrame)
    assert made.records.equals(loaded.records)


@pytest.mark.parametrize("more", [{}, {"constraints": {"required": True}}, {"items": ["flu"], "max_items": 1}])
def test_a_table_may_be_one_column_of_lists(more: dict[str, Any], tmp_path: Path) -> None:
    made = publish(patients(600).select("ill"), fields=[{**SCHEMA["fields"][1], **more}])
    loaded = Release.load(made.save(tmp_path / "made", data="csv"))
    loaded.verify()
    assert loaded.records.equals(made.records)  # type: ignore[union-attr]


def test_answers_count_items(release: Release) -> None:
    given = patients()
    exact = {f"ill contains {item}": given.filter(pl.col("ill").list.contains(item)).height for item in ITEMS}
    exact |= {"ill is null": given["ill"].null_count()}
    size = given["ill"].list.len()
    exact |= {"ill.size >= 2": (size >= 2).sum(), "ill.size == 0": (size == 0).sum()}
    exact |= {"ill.size between 1 and 2": size.is_between(1, 2).sum(), "ill.size < 99": size.is_not_null().sum()}
    for question, number in exact.items():
        found = release.count(question)
        assert found.low <= number <= found.high


TWO: list[dict[str, Any]] = [
    *SCHEMA["fields"],
    {"name": "help", "type": "list", "items": ["food", "rent"], "constraints": {"required": True}},
]


def helped(number: int = 8000) -> pl.DataFrame:
    """Patients who get food if they have flu, and rent if they are old."""
    given, dice = patients(number), np.random.default_rng(4)
    flu = given["ill"].list.contains("flu").fill_null(False).to_numpy() & (dice.random(number) < 0.9)
    rent = (given["age"] >= 60).to_numpy() & (dice.random(number) < 0.8)
    lists = [["food"] * int(one) + ["rent"] * int(other) for one, other in zip(flu, rent, strict=True)]
    return given.with_columns(help=pl.Series(lists, dtype=pl.List(pl.String)))


def share(made: Any, inside: pl.Expr, held: pl.Expr) -> float:
    return float(made.filter(inside).select(held.mean()).item())


def test_items_of_two_lists_are_related_and_rules_hold() -> None:
    flu, food = (pl.col(name).list.contains(item).fill_null(False) for name, item in (("ill", "flu"), ("help", "food")))
    rent, gout = (
        pl.col(name).list.contains(item).fill_null(False) for name, item in (("help", "rent"), ("ill", "gout"))
    )
    young = pl.col("age") < 40
    given, made = helped(), publish(helped(), fields=TWO, rules=["age < 40 -> not ill contains gout"]).records
    assert share(given, flu, food) == pytest.approx(0.9, abs=0.02)
    assert share(made, flu, food) == pytest.approx(0.9, abs=0.12)
    assert share(made, ~flu, food) < 0.1
    assert share(made, pl.col("age") >= 60, rent) > 0.6
    assert share(made, young, rent) < 0.15
    assert share(made, young & pl.col("ill").is_not_null(), gout) == 0


def test_lists_cost_the_same_share_however_many_items_they_have() -> None:
    """So the other tables of a release have the same noise."""
    fields = SCHEMA["fields"]
    more = [fields[0], {**fields[1], "items": [*ITEMS, *(f"rare {number}" for number in range(50))]}]
    spent = []
    for one in (fields, more):
        made = publish(patients(), fields=one)
        charges = [charge for path in made.manifest.receipt.paths for charge in path.charges]
        spent.append(sum(charge.epsilon_nano for charge in charges if "lists" in charge.why))
        assert sum(charge.epsilon_nano for charge in charges) == made.manifest.receipt.epsilon_nano
    assert spent[0] == spent[1] == 1_000_000_000


def test_a_missing_list_takes_no_item_from_the_others() -> None:
    """Items are drawn for records whose list is there, so that they are as many as were counted."""
    given = patients(8000).with_columns(ill=pl.when(pl.int_range(8000) % 2 == 0).then("ill"))
    made: Any = publish(given).records
    for item in ITEMS:
        both = [frame["ill"].list.contains(item).fill_null(False).sum() for frame in (given, made)]
        assert both[1] == pytest.approx(both[0], abs=80)


def test_pandas_gets_python_lists() -> None:
    made: Any = publish(patients(500).to_pandas()).records
    assert {type(one) for one in made["ill"]} <= {list, type(None)}


def test_categories_of_pandas_mean_what_their_objects_mean() -> None:
    pd = pytest.importorskip("pandas")
    given = pd.DataFrame(
        {"age": [1, 2, 3, 4], "ill": pd.Series([frozenset({"gout"}), range(2), "flu;gout", None], dtype=object)}
    )
    made = [publish(frame).records for frame in (given, given.astype({"ill": "category"}))]
    assert made[0].to_dict("list") == made[1].to_dict("list")


def test_groups_are_items(release: Release) -> None:
    table: Any = release.count("age >= 65", by=["ill"])
    single = [release.count(f"age >= 65 and ill contains {item}").value for item in ITEMS]
    assert table["ill"].to_list() == [*ITEMS, None]
    assert table["value"].to_list() == pytest.approx([*single, release.count("age >= 65 and ill is null").value])


def test_lists_have_one_card_and_one_block_of_bars(release: Release, tmp_path: Path) -> None:
    folder = release.save(tmp_path / "made")
    page, shown = release.report(), "\n".join(column_section(Release.load(folder), everything=False)[1])
    assert "lists of 4 items" in page
    assert "more are in the data" not in page
    assert shown.count("gout") == 1


def test_the_data_package_says_how_lists_are_written(release: Release, tmp_path: Path) -> None:
    folder = release.save(tmp_path / "made")
    package = json.loads(next(folder.glob("*datapackage.json")).read_text())
    field = package["resources"][0]["schema"]["fields"][1]
    assert field == {"name": "ill", "type": "list", "items": ITEMS, "max_items": 3, "delimiter": ";"}
    assert "list of 4 items, at most 3 in each" in str(texts_of(release.manifest))


def test_a_workbook_has_lists_as_texts(release: Release, tmp_path: Path) -> None:
    for library in ("fastexcel", "xlsxwriter"):
        pytest.importorskip(library)
    bundle(release, tmp_path / "a.xlsx")
    data = pl.read_excel(tmp_path / "a.xlsx", sheet_name="data", drop_empty_rows=False)
    assert data["ill"].fill_null("").to_list() == csv_lists(release)


def csv_lists(release: Release) -> list[str]:
    return [line.split(",")[1] for line in csv_of(release.records).splitlines()[1:]]  # type: ignore[arg-type]


def test_check_counts_what_becomes_of_lists() -> None:
    frame = pl.DataFrame({"age": [1, 2, 3], "ill": ["flu;cough;cough", "", "flu;gout;mumps;asthma"]})
    found = {
        one.what: (one.count, one.of) for section in cantle.check(frame, SCHEMA).sections for one in section.findings
    }
    assert found["items not declared"] == (2, 7)  # of items, not of records
    assert found["lists of more than 3 items"] == (1, 3)


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
@pytest.mark.parametrize("person", [False, True])
@pytest.mark.parametrize(
    "engine", slow(["kernels", "duckdb", "database", "spark", "spark: csv"], "database", "spark", "spark: csv")
)
def test_the_same_seed_gives_the_same_records_on_every_engine(
    tmp_path: Path, engine: str, person: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = patients(400).with_columns(who=pl.int_range(400) // 2)
    unit = {"unit": {"person": "who", "max_records": 1}} if person else {}
    data: Any = tmp_path / "a.parquet"
    given.write_parquet(data)
    expected = publish(given, **unit).records
    engine, _, ending = engine.partition(": ")
    if engine == "kernels":
        pytest.importorskip("numba", reason="numba is not installed (extra fast)")
        monkeypatch.setattr("cantle.kernel_choice.FROM", 0)
        made = publish(data, **unit)
        Release.load(made.save(tmp_path / "made", data="csv")).verify()
        assert made.records.equals(expected)  # type: ignore[union-attr]
        return
    if engine == "spark" and (reason := without_spark()):
        pytest.skip(reason)
    if ending == "csv":
        data = tmp_path / "a.csv"
        data.write_text(csv_of(given))
    if engine == "database":
        ibis = pytest.importorskip("ibis", reason="ibis is not installed (extra database)")
        connection = ibis.duckdb.connect()
        connection.raw_sql(f"CREATE TABLE patients AS SELECT * FROM read_parquet('{data}')")
        data = connection.table("patients")
    how: dict[str, Any] = {"epsilon": 5, "method": "mosaic", "insecure_seed": SEED, "engine": engine}
    assert cantle.publish(data, {**SCHEMA, **unit}, **how).records.equals(expected)


def test_linked_tables_may_have_lists(tmp_path: Path) -> None:
    dice = np.random.default_rng(3)
    key = {"name": "id", "type": "integer", "role": "identifier"}
    lists = {"name": "ill", "type": "list", "items": ITEMS}
    package: dict[str, Any] = {
        "resources": [
            {"name": "homes", "path": "h.csv", "schema": {"primaryKey": "id", "fields": [key, SCHEMA["fields"][0]]}},
            {"name": "people", "path": "p.csv", "schema": {
                "fields": [key, {"name": "sex", "type": "string", "categories": ["F", "M"]}, lists],
                "foreignKeys": [{"fields": "id", "reference": {"resource": "homes", "fields": "id"}}],
            }},
        ],
        "unit": {"family": "homes", "max_children": 3},
    }  # fmt: skip
    homes = patients(500).select("age", id=pl.int_range(500))
    people = patients(900).select("ill", id=pl.int_range(900) // 2, sex=pl.Series(dice.choice(["F", "M"], 900)))
    made = cantle.publish({"homes": homes, "people": people}, package, epsilon=5, insecure_seed=1)
    loaded = Release.load(made.save(tmp_path / "made"))
    loaded.verify()
    tables: Any = made.tables
    assert tables["people"]["ill"].dtype == pl.List(pl.String)
    assert tables["people"].equals(loaded.tables["people"])
    assert made.count("people: ill contains flu").value == pytest.approx(holding(tables["people"], "flu"), abs=1)
    two = int((tables["people"]["ill"].list.len() >= 2).sum())
    assert made.count("people: ill.size >= 2 and sex == F").value <= made.count("people: ill.size >= 2").value == two
    assert made.count("", by=["ill: flu"])["value"].sum() == pytest.approx(len(tables["people"]), abs=1)  # type: ignore[index]
    with pytest.raises(ParameterError, match="name an item after --by, such as 'ill: flu'"):
        made.count("", by=["ill"])


def holding(table: Any, item: str) -> int:
    return int(table["ill"].list.contains(item).sum())

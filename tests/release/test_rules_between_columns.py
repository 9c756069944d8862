"""No released record breaks a rule between columns, whatever the method, the engine and the data; and what such rules
do to questions, checks and reports."""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import yaml

import cantle
from cantle.data.draft_schema import draft
from cantle.errors import ParameterError, SchemaError
from cantle.release.verify import problems
from tests.effort import one_in, slow
from tests.interfaces.cli.inside import run
from tests.neighbours.forms import without_spark
from tests.release.random_rules import made

DAYS = {"minimum": "2024-01-01", "maximum": "2024-12-31"}
FIELDS: list[dict[str, Any]] = [
    {"name": "came", "type": "date", "constraints": {**DAYS, "required": True}},
    {"name": "left", "type": "date", "constraints": DAYS},
    {"name": "ward", "type": "string", "categories": ["a", "b"], "role": "target"},
    {"name": "city", "type": "string", "categories": ["Graz", "Linz", "Oslo", "Bergen"]},
    {"name": "country", "type": "string", "categories": ["Austria", "Norway"], "from": "city",
     "map": {"Austria": ["Graz", "Linz"], "Norway": ["Oslo", "Bergen"]}},
    {"name": "room", "type": "integer", "constraints": {"minimum": 0, "maximum": 900, "multipleOf": 10}},
    {"name": "drugs", "type": "integer", "constraints": {"minimum": 0, "maximum": 300}},
    {"name": "bill", "type": "integer", "constraints": {"minimum": 0, "maximum": 1200}},
]  # fmt: skip
RULES = ["left >= came", "left - came < 30", "bill == room + drugs", "room > 500 -> drugs < 100"]
SCHEMA: dict[str, Any] = {"fields": FIELDS, "rules": RULES}


def stays(n: int = 2000) -> pl.DataFrame:
    """Stays in a hospital."""
    dice = np.random.default_rng(2)
    came = [date(2024, 1, 1) + timedelta(days=int(day)) for day in dice.integers(0, 330, n)]
    ward = dice.choice(["a", "b"], n)
    stay = np.minimum(29, dice.gamma(1.5, np.where(ward == "a", 2, 5))).astype(int)
    city, room = dice.choice(["Graz", "Linz", "Oslo", "Bergen"], n), stay * 30
    drugs = dice.integers(0, np.where(room > 500, 100, 300))
    left = [
        None if dice.random() < 0.1 else day + timedelta(days=int(more)) for day, more in zip(came, stay, strict=True)
    ]
    country = np.where(np.isin(city, ["Graz", "Linz"]), "Austria", "Norway")
    return pl.DataFrame(
        {"who": np.arange(n) // 2, "came": came, "left": left, "ward": ward, "city": city, "country": country,
         "room": room, "drugs": drugs, "bill": room + drugs}
    )  # fmt: skip


def lengths(records: pl.DataFrame) -> Any:
    return (records["left"] - records["came"]).dt.total_days().drop_nulls().to_numpy()


def broken(records: pl.DataFrame) -> int:
    """How many records break a rule, in plain polars."""
    stay = (pl.col("left") - pl.col("came")).dt.total_days()
    sums = pl.col("bill").eq_missing(pl.col("room") + pl.col("drugs"))
    austria = pl.col("city").is_in(["Graz", "Linz"])
    country = pl.when(austria).then(pl.lit("Austria")).when(pl.col("city").is_not_null()).then(pl.lit("Norway"))
    wrong = (stay < 0) | (stay >= 30) | ~sums | ~pl.col("country").eq_missing(country)
    wrong = wrong | ((pl.col("room") > 500) & (pl.col("drugs") >= 100))
    return int(records.select(wrong.fill_null(False).sum()).item())


METHODS: dict[str, dict[str, Any]] = {
    "mosaic": {"method": "mosaic"},
    "rps": {"method": "rps"},
    "rps in random order": {"method": "rps", "order": "random", "order_seed": 3, "bins": 16},
    "diffgen": {"method": "diffgen"},
}


@pytest.mark.parametrize("name", METHODS)
def test_no_released_record_breaks_a_rule_between_columns(tmp_path: Path, name: str) -> None:
    assert broken(stays()) == 0
    release = cantle.publish(stays(), SCHEMA, epsilon=1, insecure_seed=4, **METHODS[name])
    assert release.records.columns == [field["name"] for field in FIELDS]
    assert broken(release.records) == 0
    assert len(release.records) > 1800
    assert problems(release) == []
    release.save(tmp_path / "out")
    loaded = cantle.Release.load(tmp_path / "out")
    loaded.verify()
    assert broken(loaded.sample(300, seed=1)) == 0
    assert broken(loaded.sample(100, seed=1, where="left - came > 10")) == 0
    assert loaded.sample(100, seed=1, where="left - came > 10").select(
        (pl.col("left") - pl.col("came")).min()
    ).item() >= timedelta(11)
    loaded.report()


@pytest.mark.parametrize("method", slow(["mosaic", "rps", "diffgen"], "rps", "diffgen"))
def test_data_that_breaks_every_rule_is_counted_and_not_released(method: str) -> None:
    wrong = stays(300).with_columns(left=pl.lit(date(2024, 1, 1)), bill=pl.lit(7), country=pl.lit("Norway"))
    wrong = wrong.with_columns(came=pl.lit(date(2024, 12, 31)))
    release = cantle.publish(wrong, SCHEMA, epsilon=1, method=method, insecure_seed=4)
    assert broken(release.records) == 0


def test_a_difference_is_far_more_accurate_than_its_two_columns() -> None:
    free = {"fields": [{key: part for key, part in one.items() if key not in ("from", "map")} for one in FIELDS]}
    true = lengths(stays()).std()
    ruled, without = (cantle.publish(stays(), schema, epsilon=10, insecure_seed=1).records for schema in (SCHEMA, free))
    assert abs(lengths(ruled).std() / true - 1) < 0.08
    assert lengths(without).std() > 2 * true


@pytest.mark.parametrize("seeds", one_in(25, [range(first, first + 2) for first in range(0, 500, 2)]))
def test_any_rules_between_columns_hold_for_any_data(seeds: range) -> None:
    for seed in seeds:
        found = made(seed)
        if found is None:
            continue
        schema, frame = found
        rules = schema.as_declared().rules
        assert rules is not None
        epsilon = (0.1, 1, 5)[seed % 3]
        for method in ("mosaic", "rps", *(["diffgen"] if schema.target else [])):
            release = cantle.publish(frame, schema, epsilon=epsilon, method=method, insecure_seed=seed)
            numbers = rules.numbers(schema.as_declared().coder(release.records))
            assert not any(number for _, number in numbers), (seed, method, numbers)
            assert problems(release) == [], (seed, method)


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
@pytest.mark.parametrize("person", [False, True])
@pytest.mark.parametrize("engine", slow(["kernels", "duckdb", "database", "spark"], "database", "spark"))
def test_the_same_seed_gives_the_same_records_on_every_engine(
    tmp_path: Path, engine: str, person: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = {**SCHEMA, "unit": {"person": "who", "max_records": 2}} if person else SCHEMA
    stays(400).write_csv(tmp_path / "t.csv")
    how: dict[str, Any] = {"epsilon": 1, "method": "mosaic", "insecure_seed": 2}
    expected = cantle.publish(stays(400), schema, **how).records
    data: Any = tmp_path / "t.csv"
    if engine == "kernels":
        pytest.importorskip("numba", reason="numba is not installed (extra fast)")
        monkeypatch.setattr("cantle.kernel_choice.FROM", 0)
        assert cantle.publish(data, schema, **how).records.equals(expected)
        return
    if engine == "spark" and (reason := without_spark()):
        pytest.skip(reason)
    if engine == "database":
        ibis = pytest.importorskip("ibis", reason="ibis is not installed (extra database)")
        connection = ibis.duckdb.connect()
        connection.raw_sql(f"CREATE TABLE stays AS SELECT * FROM read_csv('{data}')")
        data = connection.table("stays")
    assert cantle.publish(data, schema, engine=engine, **how).records.equals(expected)


def test_questions_and_means_are_about_differences_and_computed_columns() -> None:
    release = cantle.publish(stays(), SCHEMA, epsilon=20, method="mosaic", insecure_seed=1)
    records, private = release.records, stays()
    for question, holds in (
        ("left - came > 7", lengths(private) > 7),
        ("left >= 2024-07-01", (private["left"] >= date(2024, 7, 1)).drop_nulls()),
        ("country == 'Norway' and bill > 400", (private["country"] == "Norway") & (private["bill"] > 400)),
        ("room > drugs", private["room"] > private["drugs"]),
        ("left is null", private["left"].is_null()),
    ):
        estimate = release.count(question)
        assert estimate.low <= holds.sum() <= estimate.high, question
        assert estimate.high - estimate.low < 900
    assert release.count("left - came > 7").value == pytest.approx((lengths(records) > 7).sum(), abs=20)
    for column, true in (("left - came", lengths(private).mean()), ("bill", private["bill"].mean()),
                         ("room - drugs", (private["room"] - private["drugs"]).mean())):  # fmt: skip
        estimate = release.mean(column)
        assert estimate.low <= true <= estimate.high, column
        assert "in days" in estimate.note or column != "left - came"
    by = release.count(by="country")
    assert by["country"].to_list() == ["Austria", "Norway", None]
    assert by["value"].sum() == pytest.approx(len(records), rel=0.05)
    with pytest.raises(ParameterError, match="with blanks"):
        release.count("left-came > 3")
    with pytest.raises(ParameterError, match="a date can be taken from a date"):
        release.count("left + came > 3")


def test_a_sum_of_columns_can_be_asked_for_without_any_rule() -> None:
    frame = pl.DataFrame({"x": [1, 2, 3] * 200, "y": [3, 2, 1] * 200})
    ends = {"minimum": 0, "maximum": 9, "required": True}
    schema = {"fields": [{"name": name, "type": "integer", "constraints": ends} for name in "xy"]}
    release = cantle.publish(frame, schema, epsilon=50, method="mosaic", insecure_seed=1)
    assert release.count("x + y == 4").value == pytest.approx(600, abs=10)
    assert release.mean("x + 2 * y").value == pytest.approx(6, abs=0.1)


def test_check_counts_what_breaks_each_rule_and_says_what_becomes_of_it(tmp_path: Path) -> None:
    wrong = stays(100).with_columns(country=pl.lit("Norway"), bill=pl.col("bill") + 1)
    wrong = wrong.with_columns(
        left=pl.when(pl.int_range(100) < 7).then(pl.lit(date(2024, 1, 1))).otherwise(pl.col("left"))
    )
    wrong = wrong.with_columns(
        came=pl.when(pl.int_range(100) < 7).then(pl.lit(date(2024, 1, 9))).otherwise(pl.col("came"))
    )
    wrong.write_csv(tmp_path / "t.csv")
    (tmp_path / "s.json").write_text(json.dumps(SCHEMA))
    done = run("check", "t.csv", "--schema", "s.json", "--json", cwd=tmp_path)
    findings = {one["what"]: one for one in json.loads(done.stdout)["sections"][0]["findings"]}
    moved = findings["records that break the rule 'left >= came'"]
    assert (moved["count"], moved["becomes"]) == (7, "the difference is moved to the nearest that obeys")
    computed = findings["records that break the rule 'bill == room + drugs'"]["becomes"]
    assert computed == "bill is computed instead, in multiples of 1"
    assert 0 < findings["records that break the rule 'city -> country'"]["count"] < 100
    assert findings["values of bill, which is computed from room + drugs and not read"]["count"] == 100


def test_the_report_and_show_have_the_difference(tmp_path: Path) -> None:
    release = cantle.publish(stays(), SCHEMA, epsilon=1, method="mosaic", insecure_seed=1)
    report = release.report()
    assert "left - came" in report
    assert "left follows from came" in report
    assert "bill is computed, by the rule bill == room + drugs." in report
    release.save(tmp_path / "out")
    shown = run("show", "out", "--all", cwd=tmp_path).stdout
    assert "left - came: in days" in shown


def test_init_proposes_rules_by_names_as_comments() -> None:
    dates = [date(2024, 1, 1)]
    frame = pl.DataFrame(
        {"admission_date": dates, "dischargeDate": dates, "opened at": dates, "closed at": dates, "end": [1]}
    )
    text = draft(frame.with_columns(start=pl.lit(2)))
    rules = [line for line in text.splitlines() if line.startswith("#   - ")]
    assert rules == ['#   - "dischargeDate >= admission_date"', '#   - "`closed at` >= `opened at`"']
    taken_in = yaml.safe_load("\n".join(line.removeprefix("# ") for line in ["# rules:", *rules]))
    assert taken_in == {"rules": ["dischargeDate >= admission_date", "`closed at` >= `opened at`"]}
    assert "# rules:" in text
    assert "# rules:" not in draft(
        pl.DataFrame({"start": [1], "end": [2]})
    )  # numbers: nothing says that they are times


def test_regions_and_other_tables_are_refused_with_rules_between_columns() -> None:
    with pytest.raises(SchemaError, match="values=set releases regions"):
        cantle.publish(stays(50), SCHEMA, epsilon=1, method="rps", values="set")
    release = cantle.publish(stays(300), SCHEMA, epsilon=1, method="diffgen", insecure_seed=1)
    with pytest.raises(ParameterError, match="counts other columns"):
        release.generalise(stays(50))

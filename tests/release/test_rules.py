"""No released record breaks a rule, whatever the method; verify and check look at rules."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import cantle
from cantle.release.verify import problems, verify_folder
from tests.cli.inside import run
from tests.effort import slow
from tests.release.changes import with_manifest, with_parts

FIELDS: list[dict[str, Any]] = [
    {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 99}},
    {"name": "income", "type": "integer", "constraints": {"minimum": 0, "maximum": 1000}},
    {"name": "married", "type": "boolean"},
    {"name": "town", "type": "string", "categories": ["a", "b", "c", "d", "e", "f"]},
    {"name": "job", "type": "string", "categories": ["none", "clerk", "baker"], "role": "target"},
]
RULES = ["age < 15 -> income is null", "married -> age >= 15", "age < 15 -> job == 'none'", "town != 'f'"]
SCHEMA = {"fields": FIELDS, "rules": RULES}


def people(n: int = 1000) -> pl.DataFrame:
    dice = np.random.default_rng(5)
    age = dice.integers(0, 90, n)
    income = [None if years < 15 else int(dice.integers(0, 1000)) for years in age]
    married = (age >= 15) & (dice.random(n) < 0.5)
    job = np.where(age < 15, "none", dice.choice(["clerk", "baker"], n))
    return pl.DataFrame(
        {"age": age, "income": income, "married": married, "town": dice.choice(list("abcde"), n), "job": job}
    )


def broken(records: pl.DataFrame) -> int:
    young = pl.col("age") < 15
    known = pl.col("age") >= 15
    wrong = (young & pl.col("income").is_not_null()) | (pl.col("married") & ~known.fill_null(False))
    wrong = wrong | (young & (pl.col("job") != "none")) | ~(pl.col("town") != "f").fill_null(False)
    return int(records.select(wrong.fill_null(False).sum()).item())


METHODS: dict[str, dict[str, Any]] = {
    "mosaic": {"method": "mosaic"},
    "rps": {"method": "rps"},
    "rps as published": {"method": "rps", "preset": "paper"},
    "rps in a few bins": {"method": "rps", "values": "midpoint", "bins": 7},
    "diffgen": {"method": "diffgen"},
    "diffgen as published": {"method": "diffgen", "preset": "paper"},
}


@pytest.mark.parametrize("name", slow(list(METHODS), "rps as published", "diffgen as published"))
def test_no_released_record_breaks_a_rule(tmp_path: Path, name: str) -> None:
    how = METHODS[name]
    free = cantle.publish(people(), {"fields": FIELDS}, epsilon=1, insecure_seed=4, **how)
    assert broken(free.records) > 0  # without rules noise makes such records
    release = cantle.publish(people(), SCHEMA, epsilon=1, insecure_seed=4, **how)
    assert broken(release.records) == 0
    again = cantle.publish(people(), SCHEMA, epsilon=1, insecure_seed=4, **how)
    assert release.records.equals(again.records)
    release.save(tmp_path / "out")
    assert verify_folder(tmp_path / "out") == []
    (statement,) = (tmp_path / "out").glob("*statement.md")
    assert "No released record breaks any of the 4 public rules in the schema" in statement.read_text()
    loaded = cantle.Release.load(tmp_path / "out")
    assert broken(loaded.sample(400, seed=1)) == 0
    if name == "mosaic":  # the young are kept, as the rules want them
        young, true = (len(one.filter(pl.col("age") < 15)) for one in (release.records, people()))
        assert young > true / 2


@pytest.mark.parametrize("method", slow(["mosaic", "rps", "diffgen"], "diffgen"))
def test_data_that_breaks_every_rule_is_counted_and_not_released(method: str) -> None:
    wrong = people().with_columns(age=pl.lit(5), income=pl.lit(7), married=pl.lit(True), town=pl.lit("f"))
    release = cantle.publish(wrong, SCHEMA, epsilon=1, method=method, insecure_seed=4)
    assert broken(release.records) == 0


def test_verify_finds_a_record_that_breaks_a_rule() -> None:
    """Rules are added to the schema of a release that was made without them."""
    release = cantle.publish(people(), {"fields": FIELDS}, epsilon=1, insecure_seed=4, method="rps")
    changed = with_manifest(release, lambda document: document["schema"].update(rules=RULES))
    found = [one for one in problems(changed) if "records break the rule" in one]
    assert len(found) == len(RULES)


def test_check_counts_records_that_break_rules(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text(json.dumps(SCHEMA))
    (tmp_path / "t.csv").write_text(
        "age,income,married,town,job\n" + "5,7,false,a,none\n" * 3 + "30,7,true,a,clerk\n" * 7
    )
    done = run("check", "t.csv", "--schema", "s.json", "--json", cwd=tmp_path)
    assert done.returncode == 1
    findings = json.loads(done.stdout)["sections"][0]["findings"]
    assert [(one["what"], one["count"]) for one in findings] == [
        ("records that break the rule 'age < 15 -> income is null'", 3)
    ]


@pytest.mark.parametrize("method", slow(["mosaic", "rps"], "mosaic"))
def test_rules_mean_the_same_on_another_engine(tmp_path: Path, method: str) -> None:
    people(600).write_csv(tmp_path / "t.csv")
    made = [
        cantle.publish(tmp_path / "t.csv", SCHEMA, epsilon=1, method=method, insecure_seed=2, engine=engine).records
        for engine in ("memory", "duckdb")
    ]
    assert made[0].equals(made[1])


CONDITIONS = (
    "age < 15", "age >= 40", "age is null", "income is null", "income > 500", "income is not null", "married",
    "not married", "married is null", "town in ('a', 'b')", "town is null", "job == 'none'", "job != 'baker'",
)  # fmt: skip


@pytest.mark.parametrize("number", slow([0, 1, 2, 3, 4, 5], 0, 2, 3, 5))
def test_any_rules_hold_for_any_data(number: int) -> None:
    dice = np.random.default_rng(number)
    pairs = [dice.choice(CONDITIONS, 2, replace=False) for _ in range(1 + number % 4)]
    rules = [f"{left} or {right}" if number % 3 == 0 else f"{left} -> {right}" for left, right in pairs]
    how = list(METHODS.values())[number]
    schema = cantle.Schema.from_dict({"fields": FIELDS, "rules": rules})
    release = cantle.publish(people(300).head(number % 2), schema, epsilon=1, insecure_seed=number, **how)
    domain = schema.domain()  # type: ignore[attr-defined]
    for records in (release.records, release.sample(60, seed=1)):
        assert sum(broken for _, broken in domain.rules.numbers(domain.coder(records))) == 0, rules
    assert problems(release) == []


@pytest.mark.parametrize("method", ["rps", "diffgen"])
def test_a_sample_of_a_release_without_records_obeys_rules(method: str) -> None:
    """All regions then have equal shares, but those that are forbidden must have none."""
    release = cantle.publish(people(), SCHEMA, epsilon=1, insecure_seed=4, method=method)
    empty = with_parts(release, groups=release.groups.with_columns(count=pl.lit(0, dtype=pl.Int64)))
    sample = empty.sample(300, seed=1)
    assert len(sample) == 300
    assert broken(sample) == 0

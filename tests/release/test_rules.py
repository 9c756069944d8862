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
from tests.release.changes import with_manifest

FIELDS: list[dict[str, Any]] = [
    {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 99}},
    {"name": "income", "type": "integer", "constraints": {"minimum": 0, "maximum": 1000}},
    {"name": "married", "type": "boolean"},
    {"name": "town", "type": "string", "categories": ["a", "b", "c", "d", "e", "f"]},
    {"name": "job", "type": "string", "categories": ["none", "clerk", "baker"], "role": "target"},
]
RULES = ["age < 15 -> income is null", "married -> age >= 15", "age < 15 -> job == 'none'", "town != 'f'"]
SCHEMA = {"fields": FIELDS, "rules": RULES}


def people(n: int = 1500) -> pl.DataFrame:
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


METHODS: list[dict[str, Any]] = [
    {"method": "mosaic"},
    {"method": "rps"},
    {"method": "rps", "preset": "paper"},
    {"method": "rps", "values": "midpoint", "bins": 7},
    {"method": "diffgen"},
    {"method": "diffgen", "preset": "paper"},
]


@pytest.mark.parametrize("how", METHODS, ids=lambda how: "-".join(map(str, how.values())))
def test_no_released_record_breaks_a_rule(tmp_path: Path, how: dict[str, Any]) -> None:
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
    for n in (40, 1200):
        assert broken(loaded.sample(n, seed=1)) == 0
    young = release.records.filter(pl.col("age") < 15)
    assert len(young) > 0


@pytest.mark.parametrize("method", ["mosaic", "rps", "diffgen"])
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


@pytest.mark.parametrize("method", ["mosaic", "rps"])
def test_rules_mean_the_same_on_another_engine(tmp_path: Path, method: str) -> None:
    people(600).write_csv(tmp_path / "t.csv")
    made = [
        cantle.publish(tmp_path / "t.csv", SCHEMA, epsilon=1, method=method, insecure_seed=2, engine=engine).records
        for engine in ("memory", "duckdb")
    ]
    assert made[0].equals(made[1])

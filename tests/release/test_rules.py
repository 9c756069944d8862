"""No released record breaks a rule, whatever the method; `verify` and `check` test rules too."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import cantle
from benchmarks.server import postgres
from cantle.methods.mosaic.model import fitted
from cantle.release.verify import problems, verify_folder
from tests.effort import slow
from tests.interfaces.cli.inside import run
from tests.neighbours.forms import without_spark
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
    assert broken(free.records) > 0  # without rules, noise leads to such records
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
    if name == "mosaic":  # young people are kept, with values that the rules allow
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
    broken_rules = [one for one in problems(changed) if "records break the rule" in one]
    assert len(broken_rules) == len(RULES)


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


STAGES = ["home", "school", "work", "retired"]
STRICT: dict[str, Any] = {
    "fields": [
        {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 89, "required": True}},
        {"name": "stage", "type": "string", "categories": STAGES, "constraints": {"required": True}},
        {"name": "job", "type": "string", "categories": list("-abc"), "constraints": {"required": True}},
        {"name": "region", "type": "string", "categories": list("NESW"), "constraints": {"required": True}},
    ],
    "rules": [
        "stage == 'school' -> age >= 6 and age < 20", "stage == 'work' -> age >= 15 and age < 66",
        "stage == 'retired' -> age >= 66", "age >= 66 -> stage == 'retired'",
        "age >= 6 and age < 15 -> stage == 'school'", "stage == 'work' -> job != '-'", "job != '-' -> stage == 'work'",
    ],
}  # fmt: skip


def lives(n: int, seed: int) -> pl.DataFrame:
    """People about whom rules say a lot."""
    dice = np.random.default_rng(seed)
    age, luck = dice.integers(0, 90, n), dice.random(n)
    grown = np.where(age < 20, np.where(luck < 0.7, "school", "work"), np.where(luck < 0.8, "work", "home"))
    stage = np.select([age < 6, age < 15, age < 66], ["home", "school", grown], "retired")
    job = np.where(stage == "work", dice.choice(list("abc"), n, p=[0.6, 0.3, 0.1]), "-")
    return pl.DataFrame({"age": age, "stage": stage, "job": job, "region": dice.choice(list("NESW"), n)})


def distance(true: pl.DataFrame, released: pl.DataFrame) -> float:
    """The mean total variation distance of pairs of columns, ages in bands of 10 years."""
    true, released = (one.with_columns(pl.col("age") // 10) for one in (true, released))
    distances = []
    for pair in combinations(true.columns, 2):
        shares = [frame.group_by(pair).agg(pl.len() / len(frame)) for frame in (true, released)]
        both = shares[0].join(shares[1], on=list(pair), how="full", coalesce=True).fill_null(0.0)
        distances.append(float((both["len"] - both["len_right"]).abs().sum()) / 2)
    return float(np.mean(distances))


def test_rules_make_a_release_of_mosaic_more_accurate(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is nearer to the data than without rules, and than with records repaired one by one, which changes shares."""
    free = {"fields": STRICT["fields"]}

    def mean(schema: dict[str, Any]) -> float:
        releases = [
            distance(
                lives(2000, seed), cantle.publish(lives(2000, seed), schema, epsilon=1, insecure_seed=seed).records
            )
            for seed in range(2)
        ]
        return float(np.mean(releases))

    ruled = mean(STRICT)
    assert ruled < 0.9 * mean(free)
    monkeypatch.setattr(fitted, "enough", lambda _kept: False)
    assert ruled < 0.9 * mean(STRICT)


@pytest.mark.parametrize("method", ["rps", "diffgen"])
def test_noise_in_forbidden_regions_loses_no_record(method: str) -> None:
    """The counts of forbidden regions are known to be 0, so all declared records are in the other regions."""
    target = [{**one, "role": "target"} if one["name"] == "job" else one for one in STRICT["fields"]]
    how = {"method": method, "records": 2000, "insecure_seed": 3}
    release = cantle.publish(lives(2000, 1), {**STRICT, "fields": target}, epsilon=1, **how)
    assert len(release.records) == 2000


def test_rps_does_not_cut_forbidden_regions() -> None:
    """A forbidden region is a leaf, whatever its noise: it is neither tested nor cut."""
    ends = {"minimum": 0, "maximum": 15, "required": True}
    fields = [{"name": name, "type": "integer", "constraints": ends} for name in "ab"]
    data = pl.DataFrame({"a": np.arange(400) % 16, "b": np.arange(400) % 13})
    schema = {"fields": fields, "rules": ["a < 8 and b < 12"]}
    release = cantle.publish(data, schema, epsilon=1, method="rps", depth=7, insecure_seed=1)
    never = release.groups.filter((pl.col("a.lo") >= 8) | (pl.col("b.lo") >= 12))
    assert never["count"].sum() == 0
    assert never["parent"].n_unique() == len(never) > 0  # no two have the same parent, which would be forbidden as well


OTHER_ENGINES = ["duckdb", "database: duckdb", "database: postgres", "spark"]


@pytest.mark.filterwarnings("ignore:.*is deprecated:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
@pytest.mark.parametrize("method", slow(["mosaic", "rps", "diffgen"], "mosaic", "diffgen"))
@pytest.mark.parametrize("engine", slow(OTHER_ENGINES, *OTHER_ENGINES[1:]))
def test_rules_have_the_same_effect_on_another_engine(tmp_path: Path, method: str, engine: str) -> None:
    people(600).write_csv(tmp_path / "t.csv")
    how: dict[str, Any] = {"epsilon": 1, "method": method, "insecure_seed": 2}
    expected = cantle.publish(tmp_path / "t.csv", SCHEMA, **how).records
    with opened(engine, tmp_path) as (data, name):
        assert cantle.publish(data, SCHEMA, engine=name, **how).records.equals(expected)


@contextmanager
def opened(engine: str, folder: Path) -> Iterator[tuple[Any, str]]:
    """The people in a file or in a table of a database, and the name of the engine that counts them."""
    name, _, backend = engine.partition(": ")
    if not backend:
        if name == "spark" and (reason := without_spark()):
            pytest.skip(reason)
        pytest.importorskip({"spark": "pyspark"}.get(name, name))
        yield str(folder / "t.csv"), name
        return
    ibis = pytest.importorskip("ibis", reason="ibis is not installed (extra database)")
    with ExitStack() as open_:
        if backend == "postgres":
            url = open_.enter_context(postgres())
            if url is None:
                pytest.skip("PostgreSQL (initdb, postgres) is not installed")
            connection = ibis.connect(url)
        else:
            connection = ibis.duckdb.connect()
        open_.callback(connection.disconnect)
        held = people(600)
        kinds = {"age": "INTEGER", "income": "INTEGER", "married": "BOOLEAN", "town": "TEXT", "job": "TEXT"}
        connection.raw_sql(f"CREATE TABLE people ({', '.join(f'{one} {kind}' for one, kind in kinds.items())})")
        rows = ", ".join(f"({', '.join(map(_literal, row))})" for row in held.rows())
        connection.raw_sql(f"INSERT INTO people VALUES {rows}")
        yield connection.table("people"), name


def _literal(value: Any) -> str:
    return "NULL" if value is None else f"'{value}'" if isinstance(value, str) else str(value)


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
    """Without records all regions have equal shares, but forbidden ones must have none."""
    release = cantle.publish(people(), SCHEMA, epsilon=1, insecure_seed=4, method=method)
    empty = with_parts(release, groups=release.groups.with_columns(count=pl.lit(0, dtype=pl.Int64)))
    sample = empty.sample(300, seed=1)
    assert len(sample) == 300
    assert broken(sample) == 0

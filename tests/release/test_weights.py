"""Weights: a column that says for how much each record counts, and answers in sums of it."""

from __future__ import annotations

import copy
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import cantle
from cantle.errors import ParameterError, SchemaError
from cantle.release import Release
from tests.interfaces.cli.inside import run

WEIGHT: dict[str, Any] = {
    "name": "w",
    "type": "number",
    "role": "weight",
    "constraints": {"minimum": 0, "maximum": 5, "multipleOf": 0.1},
}
SCHEMA: dict[str, Any] = {
    "fields": [
        {"name": "region", "type": "string", "categories": ["north", "south"]},
        {"name": "age", "type": "integer", "constraints": {"minimum": 18, "maximum": 89}},
        WEIGHT,
    ]
}


def survey(n: int = 20_000) -> pl.DataFrame:
    """People of the south were asked five times as often, and count for a fifth."""
    dice = np.random.default_rng(4)
    south = dice.random(n) < 5 / 6
    weight = np.where(south, 0.8, 4.0) + dice.choice([-0.2, 0, 0.2], n)
    age = np.clip(dice.normal(np.where(south, 40, 60), 12), 18, 89).astype(int)
    return pl.DataFrame({"region": np.where(south, "south", "north"), "age": age, "w": weight.round(1)})


@cache
def release(epsilon: float = 1, seed: int = 3) -> Release:
    return cantle.publish(survey(), SCHEMA, epsilon=epsilon, insecure_seed=seed)


QUESTIONS = ["", "region == 'north'", "age >= 60", "age >= 60 and region == 'south'", "not (age < 30)"]


@pytest.mark.parametrize("question", QUESTIONS)
def test_weighted_values_are_those_of_the_released_records(question: str) -> None:
    made = release()
    records = pl.DataFrame(made.records)
    inside = made._asker.inside(made._asker.parse(question))
    w, age = records["w"].to_numpy()[inside], records["age"].to_numpy()[inside]
    assert made.count(question, weighted=True).value == pytest.approx(w.sum(), rel=0.05)
    there = ~np.isnan(age)
    known = made.mean("age", question, weighted=True).value
    assert known == pytest.approx(np.average(age[there], weights=w[there]))


def test_most_intervals_hold_the_weighted_numbers_of_the_data() -> None:
    data = survey()
    w, age, north = data["w"].to_numpy(), data["age"].to_numpy(), data["region"].to_numpy() == "north"
    groups = {
        "": np.ones(len(w), bool), "region == 'north'": north, "age >= 60": age >= 60,
        "age >= 60 and region == 'north'": (age >= 60) & north,
    }  # fmt: skip
    held = []
    for seed in range(1, 6):
        made = release(1, seed)
        for question, inside in groups.items():
            number, mean = made.count(question, weighted=True), made.mean("age", question, weighted=True)
            held.append(number.low <= w[inside].sum() <= number.high)
            held.append(mean.low <= np.average(age[inside], weights=w[inside]) <= mean.high)
            assert number.covers == mean.covers == "measured"
            assert number.confidence == 0.95
    assert np.mean(held) >= 0.95


def test_answers_differ_from_those_that_count_records() -> None:
    made = release(5)
    assert made.count("region == 'north'", weighted=True).value > 3 * made.count("region == 'north'").value
    assert made.mean("age", weighted=True).value > made.mean("age").value + 4
    rows = made.count(by="region", weighted=True)
    assert rows.columns == ["region", "value", "low", "high", "covers"]
    assert rows["value"][0] == pytest.approx(made.count("region == 'north'", weighted=True).value)


def test_no_record_has_no_weight() -> None:
    nobody = release().count("age < 30 and age > 40", weighted=True)
    assert (nobody.value, nobody.low) == (0, 0)
    assert np.isnan(release().mean("age", "age < 30 and age > 40", weighted=True).value)


def without_weights() -> dict[str, Any]:
    schema = copy.deepcopy(SCHEMA)
    del schema["fields"][2]["role"]
    return schema


def test_a_release_without_weights_says_so() -> None:
    made = cantle.publish(survey(500), without_weights(), epsilon=1, insecure_seed=1)
    with pytest.raises(ParameterError, match="no column of weights; the schema declares one with role: weight"):
        made.count(weighted=True)
    sets = cantle.publish([["a"], ["a", "b"]] * 50, {"kind": "sets", "items": ["a", "b"]}, epsilon=1, insecure_seed=1)
    with pytest.raises(ParameterError, match="only releases of tables have weights"):
        sets.count(weighted=True)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"type": "string", "categories": ["1"], "constraints": None}, "a weight is a number; give it type number"),
        (
            {"constraints": {"minimum": -1, "maximum": 5, "multipleOf": 0.1}},
            "weights from -1 to 5 are not all positive",
        ),
        ({"constraints": {"minimum": 0, "maximum": 0, "multipleOf": 0.1}}, "weights from 0 to 0 are not all positive"),
        ({"constraints": {"minimum": 0, "multipleOf": 0.1}}, "it has no maximum"),
    ],
    ids=["text", "negative", "nothing", "no maximum"],
)
def test_a_schema_with_wrong_weights_is_refused(changes: dict[str, Any], message: str) -> None:
    fields = [SCHEMA["fields"][0], {key: v for key, v in (WEIGHT | changes).items() if v is not None}]
    with pytest.raises(SchemaError, match=message):
        cantle.Schema.from_dict({"fields": fields})


def test_two_columns_of_weights_are_refused() -> None:
    with pytest.raises(SchemaError, match="2 fields have `role: weight`; keep one"):
        cantle.Schema.from_dict({"fields": [WEIGHT, WEIGHT | {"name": "v"}]})


@pytest.mark.parametrize("method", ["rps", "diffgen"])
def test_methods_that_cannot_keep_weights_refuse_them(method: str) -> None:
    with pytest.raises(SchemaError, match="field w: this method does not keep weights .* use method mosaic, or"):
        cantle.plan(SCHEMA, epsilon=1, records=1000, method=method)


def test_a_record_without_a_weight_is_left_out_and_others_go_to_the_bounds() -> None:
    domain = cantle.Schema.from_dict(SCHEMA).domain()  # type: ignore[attr-defined]
    codes = domain.attributes[2].encode(pl.Series(["", "0.3", "9", "-2", "many"]))
    assert codes.tolist() == [-1, 3, 50, 0, -1]


def test_the_plan_says_what_the_declared_maximum_costs() -> None:
    plan = cantle.plan(SCHEMA, epsilon=1, records=1000)
    assert any(
        "counts for up to 5 in weighted counts (w), so their noise is up to 5 times" in r for r in plan.remarks()
    )
    assert not any("weighted" in r for r in cantle.plan(without_weights(), epsilon=1, records=1000).remarks())


def test_the_command_line_weighs(tmp_path: Path) -> None:
    release().save(tmp_path / "r")
    folder = str(tmp_path / "r")
    answer = json.loads(run("query", folder, "region == 'north'", "--weighted", "--json", cwd=tmp_path).stdout)
    assert answer["weighted"] is True
    assert answer["value"] == release().count("region == 'north'", weighted=True).value
    mean = json.loads(run("query", folder, "--weighted", "--mean", "age", "--json", cwd=tmp_path).stdout)
    assert mean["value"] == release().mean("age", weighted=True).value
    assert "holds weights: in weighted answers a record counts for up to 5." in release().statement
    assert run("verify", folder, cwd=tmp_path).returncode == 0

"""Steps as cells: values are counted in whole steps, written inside them, and asked about with honest intervals."""

from __future__ import annotations

import json
from datetime import date, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import cantle
from cantle.errors import SchemaError, VerifyError
from cantle.release import Release
from cantle.release.verify import problems
from cantle.schema import Schema
from tests.effort import slow
from tests.interfaces.cli.inside import Cantle
from tests.interfaces.cli.inside import cantle as command  # noqa: F401 - a fixture
from tests.release import stepped

OLD = Path(__file__).with_name("schema_version_1")
"""A release by the last version in which a step was a grid and values were rounded down to it."""


@cache
def released(method: str = "mosaic", records: int = 20_000) -> tuple[pl.DataFrame, Release]:
    private = stepped.table(records, 0).with_columns(late=pl.col("stay") > 40)
    late = {"name": "late", "type": "boolean", "role": "target"}  # diffgen needs one
    return private, cantle.publish(private, {"fields": [*stepped.SCHEMA["fields"], late]}, epsilon=1, method=method)


@pytest.mark.parametrize("seed", slow([*range(10)], *range(1, 10)))
def test_nine_of_ten_answers_about_values_inside_steps_are_right(seed: int) -> None:
    private = stepped.table(100_000, seed)
    release = cantle.publish(private, stepped.SCHEMA, epsilon=1)
    right = {name: one.low <= true <= one.high for name, true, one in stepped.answers(release, private)}
    assert len(right) == 10
    assert sum(right.values()) >= 9, right


def test_incomes_counted_in_steps_of_500_keep_their_mean_and_counts() -> None:
    private = stepped.table(100_000, 7)
    release = cantle.publish(private, stepped.SCHEMA, epsilon=1)
    mean, true = release.mean("income"), float(str(private["income"].mean()))
    assert mean.low <= true <= mean.high
    assert abs(mean.value - true) < 75  # rounding down would be off by 250
    assert mean.high - mean.low < 500 + 150  # all incomes may be round
    count = release.count("income >= 4200")
    exact = int((private["income"] >= 4200).sum())
    assert count.low <= exact <= count.high
    assert abs(count.value - exact) < 1_000
    middle = [frame["day"].cast(pl.Int32).mean() for frame in (private, release.records)]
    assert abs(middle[0] - middle[1]) < 1.5  # rounding down would be two weeks early


@pytest.mark.parametrize("method", ["mosaic", "rps", "diffgen"])
def test_every_method_writes_values_inside_their_steps(method: str) -> None:
    private, release = released(method)
    release.verify()
    records = release.records
    assert set(records["age"].drop_nulls().unique()) <= set(range(0, 100, 5))
    for name in ("income", "weight", "stay"):
        step = next(one["step"] for one in stepped.SCHEMA["fields"] if one["name"] == name)
        inside = records[name].drop_nulls().to_numpy() % step / step
        assert 0.4 < inside.mean() < 0.6
        assert inside.std() == pytest.approx(12**-0.5, abs=0.05)
    true = float(str(private["weight"].mean()))
    assert abs(float(str(records["weight"].mean())) - true) < 2  # rounding down would be 2.5 too low


def test_a_question_that_cuts_a_step_says_so_and_reaches_from_whole_steps_to_steps_touched() -> None:
    _, release = released()
    cut, low, high = (release.count(f"income >= {bound}") for bound in (4200, 4500, 4000))
    assert cut.note == "income cuts a step of 500; bounds at 4,000 and 4,500 (< or >=) are exact"
    assert str(cut).endswith(cut.note)
    assert (low.note, high.note) == ("", "")
    held = release.records["income"]
    assert cut.low < (held >= 4500).sum() < cut.value < (held >= 4000).sum() < cut.high
    assert "day cuts a step of 30 days; bounds at 2025-05-31 and 2025-06-30" in release.count("day >= 2025-06-10").note
    assert release.mean("weight", "income >= 4200").note == cut.note
    assert release.count("income <= 4000").note == cut.note  # 4,000 itself is in the step


def test_steps_that_are_cut_count_where_no_error_was_measured() -> None:
    """At a small epsilon the interval of a single column is its noise, besides the records in the step that is cut."""
    private = stepped.table(20_000, 0)
    release = cantle.publish(private, stepped.SCHEMA, epsilon=1, accuracy_share=0)
    cut, held = release.count("income >= 4200"), release.records["income"]
    assert (cut.covers, cut.confidence) == ("noise only", None)
    assert cut.low < (held >= 4500).sum() < (held >= 4000).sum() < cut.high
    assert cut.low <= (private["income"] >= 4200).sum() <= cut.high


def test_the_command_line_says_which_bounds_are_exact(command: Cantle, tmp_path: Path) -> None:  # noqa: F811
    folder = released()[1].save(tmp_path / "out")
    assert "are exact" in command("query", str(folder), "income >= 4200").out
    assert json.loads(command("query", str(folder), "income >= 4200", "--json").out)["note"].startswith("income cuts")
    by = command("query", str(folder), "income >= 4200", "--by", "age")
    assert ("are exact" in by.err, "are exact" in by.out) == (True, False)


def test_groups_of_a_table_hold_whole_steps() -> None:
    for method in ("mosaic", "rps", "diffgen"):
        _, release = released(method)
        for name, step in (("income", 500), ("weight", 5), ("stay", 24)):
            groups = release.count(by=[name])[name].drop_nulls()
            starts = [float(text[1:].split(",")[0]) for text in groups]
            assert all(start % step == 0 for start in starts)
            assert starts == sorted(starts)


def test_means_allow_for_what_steps_hide() -> None:
    """An exponential distribution whose steps are as wide as its mean, without noise worth mentioning."""
    fields = [{"name": "x", "type": "number", "step": 30, "constraints": {"minimum": 0, "maximum": 600}}]
    dice = np.random.default_rng(1)
    private = pl.DataFrame({"x": np.minimum(dice.exponential(30, 20_000), 600)})
    release = cantle.publish(private, {"fields": fields}, epsilon=1000)
    mean, true = release.mean("x"), float(str(private["x"].mean()))
    assert mean.value - true > 1  # the values of a step are not spread evenly
    assert mean.low <= true <= mean.high
    assert mean.high - mean.low < 32


@pytest.mark.parametrize("value", [12, 30, 59])
def test_a_mean_allows_for_values_that_all_lie_at_one_place_of_a_step(value: int) -> None:
    """Values are drawn evenly inside a step, wherever they were: round numbers lie at its beginning."""
    fields = [{"name": "minutes", "type": "integer", "step": 60, "constraints": {"minimum": 0, "maximum": 599}}]
    private = pl.DataFrame({"minutes": np.repeat(np.arange(4) * 60 + value, 2_000)})
    mean = cantle.publish(private, {"fields": fields}, epsilon=10).mean("minutes")
    assert mean.low <= 90 + value <= mean.high
    assert mean.high - mean.low < 70


def test_values_that_are_multiples_are_released_as_multiples_without_bias() -> None:
    private, release = released()
    mean, true = release.mean("age"), float(str(private["age"].mean()))
    assert mean.low <= true <= mean.high
    assert release.count("age >= 50").note == ""


# ---- verification -------------------------------------------------------------------------------------------------


def _with_income(release: Release, change: pl.Expr) -> Release:
    return Release(release.records.with_columns(income=change), release.groups, release.frames, release.manifest)


def test_verify_draws_the_places_inside_steps_again() -> None:
    _, release = released()
    release.verify()
    inside = pl.col("income") // 500 * 500
    wrong = _with_income(release, pl.when(pl.col("income") < 20_000).then(inside + (pl.col("income") + 5) % 500))
    assert "the values of income are not at the places inside their steps that the stated seed draws" in problems(wrong)
    with pytest.raises(VerifyError, match="do not have the counts of the cells"):
        _with_income(release, (pl.col("income") + 500).clip(0, 20_000)).verify()


def test_more_records_are_drawn_inside_steps() -> None:
    for method in ("mosaic", "rps", "diffgen"):
        _, release = released(method)
        more = release.sample(2_000, seed=3)
        assert more.equals(release.sample(2_000, seed=3))
        assert 0.4 < (more["weight"].drop_nulls() % 5 / 5).mean() < 0.6  # type: ignore[operator]


def test_persons_and_drops_are_as_before() -> None:
    fields = [{**stepped.SCHEMA["fields"][0], "constraints": {"minimum": 0, "maximum": 20_000, "required": True}}]
    private = pl.DataFrame({"income": [100.0, 600.0, None, 700.0], "who": ["a", "a", "b", "c"]})
    release = cantle.publish(private, {"fields": fields, "unit": {"person": "who", "max_records": 1}}, epsilon=1000)
    assert len(release.records) == 2


# ---- rules --------------------------------------------------------------------------------------------------------

STEP: dict[str, Any] = {"name": "pay", "type": "integer", "step": 500, "constraints": {"minimum": 0, "maximum": 9_800}}
JOB: dict[str, Any] = {"name": "job", "type": "string", "categories": ["none", "clerk"], "role": "target"}


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("pay < 4200 -> job == 'none'", "cuts the step of pay from 4000 to 4500"),
        ("job == 'none' -> pay == 0", "cuts the step of pay from 0 to 500"),
        ("pay <= 9600", "cuts the step of pay from 9500 to 9801"),
        ("job == 'none' -> pay <= 1000", "`pay < 1000` or `pay >= 1500`"),
    ],
)
def test_a_rule_that_cuts_a_step_is_refused_with_the_bounds_around_it(rule: str, said: str) -> None:
    with pytest.raises(SchemaError, match=said):
        Schema.from_dict({"fields": [STEP, JOB], "rules": [rule]})


@pytest.mark.parametrize("method", ["mosaic", "rps", "diffgen"])
def test_rules_between_steps_are_obeyed(method: str) -> None:
    dice = np.random.default_rng(2)
    private = pl.DataFrame({"pay": dice.integers(0, 9_800, 3_000), "job": dice.choice(["none", "clerk"], 3_000)})
    schema = {"fields": [STEP, JOB], "rules": ["job == 'none' -> pay < 500 or pay is null"]}
    release = cantle.publish(private, schema, epsilon=5, method=method)
    release.verify()
    bad = release.records.filter((pl.col("job") == "none") & (pl.col("pay") >= 500))
    assert len(bad) == 0
    assert release.records.filter(pl.col("job") == "none")["pay"].n_unique() > 20  # still spread over the step


# ---- datetimes ----------------------------------------------------------------------------------------------------


def test_datetimes_are_written_in_whole_seconds_at_round_places(tmp_path: Path, command: Cantle) -> None:  # noqa: F811
    bounds = {"minimum": "2025-01-01", "maximum": "2025-02-01"}
    fields: list[dict[str, Any]] = [
        {"name": "seen", "type": "datetime", "step": "1h", "constraints": bounds},
        {"name": "day", "type": "datetime", "constraints": {**bounds, "maximum": "2025-01-09", "multipleOf": "1d"}},
    ]
    dice, first = np.random.default_rng(1), datetime(2025, 1, 1)
    seen = [first + timedelta(seconds=int(one)) for one in dice.integers(0, 31 * 86_400, 500)]
    day = [first + timedelta(days=int(one)) for one in dice.integers(0, 9, 500)]
    release = cantle.publish(pl.DataFrame({"seen": seen, "day": day}), {"fields": fields}, epsilon=5)
    folder = release.save(tmp_path / "out")
    Release.load(folder).verify()
    lines = (folder / "data.csv").read_text().splitlines()[1:]
    texts = [text for line in lines for text in line.split(",") if text]
    assert all(len(text) == len("2025-01-01T00:00:00") and text.endswith(":00") for text in texts)
    assert command("query", str(folder), "--by", "day", "-o", str(tmp_path / "by.csv")).code == 0
    assert "2025-01-02T00:00:00," in (tmp_path / "by.csv").read_text()


# ---- releases of schema version 1 ---------------------------------------------------------------------------------


def test_a_release_of_schema_version_1_is_read_with_the_old_meaning() -> None:
    """Its values, taken when it was made: 170.14 records of 4,500 or more, and a mean of lower edges."""
    release = Release.load(OLD)
    assert problems(release) == []
    assert "schemaVersion" not in release.manifest.schema
    assert release.schema.to_dict() == release.manifest.schema
    assert release.count("pay >= 4200").value == pytest.approx(170.14150598390063)
    assert release.count("pay >= 4200").note == ""
    assert release.mean("pay").value == pytest.approx(4950.342465753424)
    assert set(release.records["pay"].drop_nulls() % 500) == {0}
    assert set(release.sample(100, seed=1)["pay"].drop_nulls() % 500) == {0}
    assert release.records["seen"].drop_nulls().dt.minute().max() == 0
    again = cantle.publish(release.records, release.schema, epsilon=1)  # its schema keeps its meaning
    assert set(again.records["pay"].drop_nulls() % 500) <= {0}
    assert "schemaVersion" not in again.manifest.schema
    again.verify()


def test_a_schema_without_steps_needs_no_version() -> None:
    assert "schemaVersion" not in Schema.from_dict({"fields": [JOB]}).to_dict()
    assert Schema.from_dict({"fields": [STEP]}).to_dict()["schemaVersion"] == 2
    days = {"name": "d", "type": "date", "constraints": {"minimum": date(2025, 1, 1), "maximum": date(2025, 2, 1)}}
    assert "schemaVersion" not in Schema.from_dict({"fields": [days]}).to_dict()


@pytest.mark.parametrize("epsilon", [0.1, 1])
def test_intervals_hold_counts_of_columns_whose_values_lie_on_few_points_of_wide_cells(epsilon: float) -> None:
    dice = np.random.default_rng(3)
    sizes = np.log(dice.choice([1, 2, 3, 4, 5, 6], 6_000, p=[0.08, 0.14, 0.18, 0.3, 0.2, 0.1])).round(3)
    private = pl.DataFrame({"size": sizes, **{f"n{i}": dice.normal(50, 10, 6_000).clip(0, 100) for i in range(8)}})
    wide = [
        {"name": name, "type": "number", "step": 0.001, "constraints": {"minimum": 0, "maximum": 3 if at == 0 else 100}}
        for at, name in enumerate(private.columns)
    ]
    release = cantle.publish(private, {"fields": wide}, epsilon=epsilon)
    for low in np.log([2, 3, 4, 5, 6]).round(3):
        answer = release.count(f"size >= {low}")
        assert answer.low <= (sizes >= low).sum() <= answer.high, answer

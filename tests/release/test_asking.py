"""Answers with error bars: which numbers they come from, what intervals allow for, how often they contain the truth."""

from __future__ import annotations

import pickle
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import cantle
from cantle.errors import ParameterError
from cantle.interfaces import demo_data
from cantle.postprocess.accuracy import Accuracy, QuestionError
from cantle.release import Release
from cantle.release.asking import Asker
from cantle.release.bins import inside_and_around
from cantle.release.estimates import Estimate, Noise, rescaled
from cantle_lab.papers.interval_coverage import Truth, check_counts, check_means
from cantle_lab.papers.table_sets import TableSet
from tests.effort import slow
from tests.release.kinds import EDGE, GRAPH, ISOLATE, NUMBERS, baskets, edges
from tests.release.people import SCHEMA, people

TABLE_METHODS = ("mosaic", "rps", "diffgen")


@cache
def released(method: str = "mosaic", epsilon: float = 2, seed: int = 1, n: int = 3_000) -> Release:
    return cantle.publish(people(n), SCHEMA, epsilon=epsilon, method=method, insecure_seed=seed)  # type: ignore[arg-type]


def with_error(release: Release, one: int, more: int, scale: float = 1) -> Release:
    """The release as if these errors had been measured."""
    kinds = [
        QuestionError(q=500, records=records, rate=(1_000_000, round(1_000_000 * scale))) for records in (one, more)
    ]
    measured = Accuracy(
        bought=True, share=Fraction(1, 25), noisy_records=3_000, one_column=kinds[0], more_columns=kinds[1]
    )
    return replace(release, manifest=replace(release.manifest, accuracy=measured))


@pytest.mark.parametrize("method", TABLE_METHODS)
def test_a_count_is_the_number_of_released_records(method: str) -> None:
    release = released(method)
    frame = release.records
    question, meant = "age > 50 and (weight < 80 or member)", (pl.col("weight") < 80) | pl.col("member")
    inside = frame.filter((pl.col("age") > 50) & meant)
    estimate = release.count(question)
    assert (estimate.value, estimate.covers) == (len(inside), "measured")
    assert estimate.low < estimate.value < estimate.high
    assert release.mean("weight", question).value == pytest.approx(inside["weight"].mean())


def test_a_measured_error_gives_the_interval() -> None:
    release = with_error(released(), one=200, more=300, scale=10)
    estimate = release.count("age > 50 and weight < 80.5")
    assert estimate.covers == "measured"
    assert estimate.high - estimate.value == pytest.approx(300 + 10 * np.log(5))
    wide = release.count("age > 50 and weight < 80.5", confidence=0.99)
    assert wide.high - wide.value == pytest.approx((300 + 10 * np.log(5)) * rescaled(0.99))
    assert rescaled(0.95) == pytest.approx(1)
    assert rescaled(0.8) < 1 < rescaled(0.99)


def test_the_interval_of_a_measured_error_is_at_least_as_wide_as_known_noise() -> None:
    """The question is about two columns and answered from records. A measured error of 0 may be off by some scales of
    its noise."""
    release, question = released(), "age > 50 and weight < 80.5"
    unmeasured = replace(release, manifest=replace(release.manifest, accuracy=None))
    known = unmeasured.count(question)
    noise = known.high - known.value
    assert known.covers == "noise only"
    for scale, margin in ((1, np.log(200)), (noise / 4, noise), (noise, noise * np.log(5))):
        estimate = with_error(release, one=0, more=0, scale=scale).count(question)
        assert (estimate.covers, estimate.high - estimate.value) == ("measured", pytest.approx(margin))


def test_a_count_of_zero_has_the_noise_of_the_tables_behind_it() -> None:
    """No released record has these values, but the tables from which records were drawn are noisy."""
    release = released()
    unmeasured = replace(release, manifest=replace(release.manifest, accuracy=None))
    for by in (["town", "age"], ["weight", "age"]):  # columns that were counted together, and that were not
        nothing = unmeasured.count(by=by).filter((pl.col("value") == 0) & (pl.col("covers") == "noise only"))
        assert len(nothing)
        assert (nothing["high"] > 0).all()


def test_a_question_about_counted_columns_is_answered_from_the_noisy_tables() -> None:
    """The target is in every first table, and all tables together are more precise than one."""
    release = with_error(released(), one=10_000, more=10_000)
    estimate = release.count("ill == 'yes'")
    assert estimate.covers == "noise"
    stated = release.manifest.structure["tables"]
    numbers = [i for i, table in enumerate(stated) if table["why"].startswith("first tables")]
    tables = release.frames["tables"].partition_by("table", as_dict=True)
    one = tables[(numbers[0],)]
    assert stated[numbers[0]]["columns"][1] == "ill"
    alone = Noise.of(2 * (one["rate_den"][0] / one["rate_num"][0]) ** 2, times=len(one) / 2).margin(0.95)
    assert 0 < estimate.high - estimate.value < alone
    exact = int((people(3_000)["ill"] == "yes").sum())
    assert abs(estimate.value - exact) < 4 * (estimate.high - estimate.value)


def test_a_small_measured_error_is_used_where_noise_is_larger() -> None:
    release = with_error(released(), one=0, more=0)
    assert release.count("ill == 'yes'").covers == "measured"


@pytest.mark.parametrize("times", [1, 2, 5, 40])
def test_margins_of_noise_hold_as_often_as_they_promise(times: int) -> None:
    dice = np.random.default_rng(times)
    drawn = np.abs(dice.laplace(0, 3, (50_000, times)).sum(axis=1))
    for confidence in (0.8, 0.95, 0.99):
        held = float((drawn <= Noise.of(18.0, times=times).margin(confidence)).mean())
        assert confidence - 0.004 <= held <= confidence + (0.02 if confidence >= 0.95 else 0.04), confidence


@pytest.mark.parametrize("releases", slow([7, 20], 20))
def test_intervals_from_tables_contain_the_truth(releases: int) -> None:
    """Over many releases, because the answers of one release share their noise."""
    private = people(2_000)
    truth = [int((private["grade"] == "mid").sum()), int((private["member"] & (private["ill"] == "no")).sum()), 2_000]
    questions = ["grade == 'mid'", "member and ill == 'no'", ""]
    schema = {"fields": [one for one in SCHEMA["fields"] if one["name"] in ("grade", "member", "ill", "town")]}
    held = []
    for seed in range(releases):
        release = cantle.publish(private, schema, epsilon=1, method="mosaic", insecure_seed=seed)
        for question, exact in zip(questions, truth, strict=True):
            estimate = release.count(question)
            assert estimate.covers == "noise"
            held.append(estimate.low <= exact <= estimate.high)
    assert np.mean(held) >= 0.9  # of intervals at 95 %, which are dependent within a release
    assert np.mean(held) < 1


def _inside_steps() -> TableSet:
    """The demo data with incomes and days that lie inside the steps of the schema."""
    private, dice = demo_data.population(people=6_000), np.random.default_rng(3)
    moved = (pl.col("income") + pl.Series(dice.uniform(-25, 25, 6_000))).clip(0, 12_000)
    steps = {"income": {"step": 200, "constraints": {"minimum": 0, "maximum": 12_000}}, "last_visit": {"step": 7}}
    fields = [field | steps.get(field["name"], {}) for field in demo_data.SCHEMA["fields"]]
    return TableSet("inside", private.with_columns(moved), {"fields": fields})  # type: ignore[typeddict-item]


@pytest.mark.parametrize(
    "table", [TableSet("demo", demo_data.population(people=6_000), demo_data.SCHEMA), _inside_steps()]
)
def test_intervals_from_measured_errors_contain_the_truth(table: TableSet) -> None:
    """Random questions about the demo data; its error is computed here without noise."""
    release = cantle.publish(table.frame, table.schema, epsilon=2, method="mosaic", insecure_seed=1)
    truth, dice = Truth(table), np.random.default_rng(1)
    asked = _errors(release, truth)
    checked = list(check_counts(Asker(with_error(release, *asked)), truth, 300, dice))
    assert len(checked) == 300
    assert {one.covers for one in checked} == {"noise", "measured"}
    assert np.mean([one.held for one in checked]) >= 0.93
    means = list(check_means(Asker(release), truth, 40, dice))
    assert np.mean([one.held for one in means]) >= 0.93


def _errors(release: Release, truth: Truth) -> tuple[int, int]:
    from cantle_lab.papers.interval_coverage import random_question

    asker, dice, pairs = Asker(release), np.random.default_rng(2), []
    for columns in (1, 2):
        drawn = [random_question(asker, columns, dice) for _ in range(150)]
        whole = [inside_and_around(one, asker.bins)[1] for one in drawn if one is not None]  # as a release asks itself
        errors = [abs(int(truth.inside(one).sum()) - int(asker.inside(one).sum())) for one in whole]
        pairs.append(int(np.quantile(errors, 0.95)))
    return pairs[0], pairs[1]


def test_a_table_has_one_row_per_group_and_adds_up() -> None:
    release = released()
    table = release.count("age > 20", by=["town", "member"])
    assert table.columns == ["town", "member", "value", "low", "high", "covers"]
    assert table.shape[0] == 5 * 3
    assert table["town"].null_count() == 3
    assert table["value"].sum() == release.count("age > 20 and age is not null").value
    one = table.filter((pl.col("town") == "Ash") & pl.col("member"))
    estimate = release.count("age > 20 and town == 'Ash' and member")
    assert one.row(0)[2:] == (estimate.value, estimate.low, estimate.high, estimate.covers)


@pytest.mark.parametrize("method", TABLE_METHODS)
def test_numbers_and_dates_are_grouped_by_ranges(method: str) -> None:
    release = released(method)
    ages = release.count("weight > 0", by="age")
    assert ages["age"][0].startswith("[0, ")
    assert ages["value"].sum() == pytest.approx(len(release.records), rel=0.2)
    assert release.count(by=["joined"]).height > 4
    means = release.mean("weight", by=["ill"])
    assert ((means["low"] <= means["value"]) & (means["value"] <= means["high"])).all()


def test_the_mean_of_nothing_is_unknown() -> None:
    release = released()
    estimate = release.mean("weight", "age > 98 and age < 98")
    assert np.isnan(estimate.value)
    assert (estimate.low, estimate.high) == (30, 150)
    assert estimate.to_dict()["value"] is None
    assert "unknown" in str(estimate)


def test_counts_are_never_below_zero() -> None:
    estimate = Estimate(-3.0, -9.0, 3.0, 0.95, "noise").at_least_zero()
    assert (estimate.value, estimate.low, estimate.high) == (0, 0, 3)
    for value in released(epsilon=0.1).count(by=["town", "grade", "ill"]).select("value", "low", "high").rows():
        assert 0 <= value[1] <= value[0] <= value[2]


@pytest.mark.parametrize("method", ["baskets", "diffpart"])
def test_questions_about_items_and_sizes_of_sets(method: Any) -> None:
    release = cantle.publish(baskets(NUMBERS, 2_000), NUMBERS, epsilon=2, method=method, insecure_seed=1)
    sets = [set(one) for one in release.records["items"].to_list()]
    estimate = release.count("contains 1 and not contains 2 and size <= 3")
    assert estimate.value == sum(1 in one and 2 not in one and len(one) <= 3 for one in sets)
    assert estimate.low < estimate.value < estimate.high
    assert release.count().value == len(sets)
    with pytest.raises(ParameterError, match="no item '31'"):
        release.count("contains 31")
    with pytest.raises(ParameterError, match="only releases of tables"):
        release.count(by=["size"])


@pytest.mark.parametrize(("schema", "mode"), [(GRAPH, "counts"), (GRAPH, "rps"), (EDGE, "counts")])
def test_questions_about_degrees_of_graphs(schema: dict[str, Any], mode: str) -> None:
    frame = pl.DataFrame(edges(), schema=["a", "b"], orient="row")
    release = cantle.publish(frame, schema, epsilon=2, insecure_seed=1, mode=mode)
    degrees = release.records["degree"]
    estimate = release.count("degree >= 3 and degree < 9")
    assert estimate.value == degrees.is_between(3, 8).sum()
    assert estimate.covers == "noise only"
    assert estimate.low <= estimate.value <= estimate.high
    assert release.count().value == len(degrees)


@pytest.mark.parametrize(("schema", "listed"), [(GRAPH, None), (GRAPH, range(300)), (ISOLATE, None), (EDGE, None)])
def test_the_mean_degree_has_an_interval(schema: dict[str, Any], listed: Any) -> None:
    frame = pl.DataFrame(edges(), schema=["a", "b"], orient="row")
    pairs = {tuple(sorted(pair)) for pair in edges()}
    true = np.bincount(np.array(list(pairs)).ravel(), minlength=300)  # every node has an edge
    release = cantle.publish(frame, schema, epsilon=10, insecure_seed=1, nodes=listed)
    for question, asked in (("", true >= 0), ("degree >= 3", true >= 3), ("degree in (3, 4)", (true > 2) & (true < 5))):
        estimate = release.mean("degree", question)
        assert estimate.low <= true[asked].mean() <= estimate.high
        assert 0 < estimate.high - estimate.low < 4
        assert estimate.low <= estimate.value <= estimate.high
        assert estimate.covers == "noise only"
    empty = release.mean("degree", "degree == 299")
    assert "unknown" in str(empty)
    with pytest.raises(ParameterError, match="columns of numbers: degree"):
        release.mean("size")


def test_degrees_above_the_bound_are_a_guess_and_so_are_their_counts() -> None:
    frame = pl.DataFrame(edges(), schema=["a", "b"], orient="row")
    release = cantle.publish(frame, GRAPH, epsilon=50, insecure_seed=1, theta=4)
    assert (release.records["degree"] > 4).any()
    top = release.count("degree >= 4")
    for question in ("degree >= 6", "degree == 9", "degree >= 1000"):
        estimate = release.count(question)
        assert estimate.low == 0
        assert estimate.high == pytest.approx(top.high, abs=1)
    below = release.count("degree < 6")
    assert below.low == pytest.approx(release.count("degree < 4").low, abs=3)
    with pytest.raises(ParameterError, match="ask for degree < 4, degree >= 4, or all nodes"):
        release.mean("degree", "degree < 6")
    ranges = cantle.publish(frame, GRAPH, epsilon=50, insecure_seed=1, theta=4, mode="rps")
    with pytest.raises(ParameterError, match="counted ranges of degrees"):
        ranges.mean("degree")
    assert ranges.count("degree >= 1000").high > 0


def test_a_saved_release_gives_the_same_answers(tmp_path: Path) -> None:
    for method in TABLE_METHODS:
        release = released(method)
        loaded = Release.load(release.save(tmp_path / method))
        for question in ("age > 50 and member", "town == 'Ash'", "ill == 'no' or joined is null"):
            assert loaded.count(question) == release.count(question)
        assert loaded.mean("age").value == release.mean("age").value
        again = pickle.loads(pickle.dumps(release))
        assert again.count("age > 50") == release.count("age > 50")


def test_questions_that_cannot_be_answered_are_refused() -> None:
    release = released()
    for wrong in (0.2, 1, "high", True):
        with pytest.raises(ParameterError, match="confidence"):
            release.count(confidence=wrong)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="columns of numbers: age, weight"):
        release.mean("town")
    with pytest.raises(ParameterError, match="did you mean town"):
        release.count(by=["twon"])
    with pytest.raises(ParameterError, match="a question is a text"):
        release.count(3)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="rows"):
        release.count(by=["age", "weight", "joined", "seen", "town"])
    paper = cantle.publish(
        people(200), SCHEMA, epsilon=2, method="rps", preset="paper", insecure_seed=1, values="set", depth=3
    )
    with pytest.raises(ParameterError, match="ranges"):
        paper.count()

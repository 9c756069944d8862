"""Answers with error bars: which numbers they come from, what intervals allow for, how often they contain the truth."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import cantle
from cantle.errors import ParameterError
from cantle.interfaces import demo_data
from cantle.methods.own_error.accuracy import Accuracy, PairError, QuestionError
from cantle.release import Release
from cantle.release.answers.estimates import Estimate, Noise, rescaled
from cantle.release.answers.sums import _there
from cantle.release.answers.table_answers import TableAsker, inside_bins, numbers_of
from cantle.release.answers.widths import BY_NOISE, TAIL, tail_errors
from cantle.release.tables import pairs_of
from cantle.schema.code_sets import EVERYTHING, CodeSet, OneColumn, columns_of
from cantle.schema.made_columns import Form
from cantle_lab.papers import made_tables
from cantle_lab.papers.interval_questions import Numbers, Truth, check
from cantle_lab.papers.table_sets import TableSet
from tests.effort import slow
from tests.release.kinds import EDGE, GRAPH, ISOLATE, NUMBERS, baskets, edges
from tests.release.people import SCHEMA, people

TABLE_METHODS = ("mosaic", "rps", "diffgen")


@cache
def released(method: str = "mosaic", epsilon: float = 2, seed: int = 1, n: int = 3_000) -> Release:
    return cantle.publish(people(n), SCHEMA, epsilon=epsilon, method=method, insecure_seed=seed)  # type: ignore[arg-type]


def with_error(release: Release, one: int, near: int, far: int | None = None, scale: float = 1) -> Release:
    """The release as if these errors had been measured."""
    rate = 1_000_000, round(1_000_000 * scale)
    measured = Accuracy(
        bought=True,
        share=Fraction(1, 25),
        noisy_records=3_000,
        one_column=QuestionError(q=500, records=one, rate=rate),
        together=PairError(pairs=9, records=near, rate=rate),
        apart=PairError(pairs=9, records=near if far is None else far, rate=rate),
    )
    return replace(release, manifest=replace(release.manifest, accuracy=measured))


def unmeasured(release: Release) -> Release:
    return replace(release, manifest=replace(release.manifest, accuracy=None))


def part_of(frame: pl.DataFrame, one: pl.Expr, other: pl.Expr) -> float:
    """The part of the level of two columns of numbers that a question about both gets; their largest spread is 1/4."""
    p, q, c = (
        float(frame.select(expression.fill_null(False).mean()).item()) for expression in (one, other, one & other)
    )
    scale = max(0.7 * sqrt(c * (1 - c)), 2 * sqrt(p * (1 - p) * q * (1 - q)))
    return scale / 0.3


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


OLD, LIGHT = pl.col("age") > 50, pl.col("weight") < 80.5


def test_a_measured_error_gives_the_interval_by_the_scale_of_the_question() -> None:
    release = with_error(released(), one=100_000, near=300, scale=10)
    part = part_of(release.records, OLD, LIGHT)
    estimate = release.count("age > 50 and weight < 80.5")
    assert estimate.covers == "measured"
    assert estimate.high - estimate.value == pytest.approx(part * (300 + 10 * np.log(5)), rel=1e-6)
    wide = release.count("age > 50 and weight < 80.5", confidence=0.99)
    assert wide.high - wide.value == pytest.approx(part * (300 + 10 * np.log(5)) * rescaled(0.99), rel=1e-6)
    assert rescaled(0.95) == pytest.approx(1)
    assert rescaled(0.8) < 1 < rescaled(0.99)
    rare = release.count("age > 90 and weight < 40")
    assert rare.high - rare.value < (estimate.high - estimate.value) / 2, "small groups get a part of the level"


def test_pairs_apart_have_the_larger_level_and_a_note() -> None:
    release = released()
    questions = {"age": "age > 50", "weight": "weight < 80.5", "town": "town == 'Ash'", "member": "member"}
    _, together = pairs_of(release.manifest)
    wide, narrow = (with_error(release, 100_000, 100, apart) for apart in (2_000, 100))
    seen = set()
    for pair in combinations(questions, 2):
        near = frozenset(pair) in together
        answers = [one.count(" and ".join(questions[name] for name in pair)) for one in (wide, narrow)]
        assert ("not measured together" in str(answers[0])) == (not near)
        if {one.covers for one in answers} == {"measured"}:
            seen.add(near)
            assert (answers[0].high > answers[1].high) == (not near)
    assert False in seen


@pytest.mark.parametrize("seed", slow([1, 2, 3], 2, 3))
def test_rare_outcomes_that_another_column_decides_are_inside_their_intervals(seed: int) -> None:
    """An illness of the old, measured apart from age: the error of the few ill is as large as that of the many well."""
    dice = np.random.default_rng(seed)
    age = dice.integers(0, 100, 50_000)
    ill = dice.random(len(age)) < 0.002 + 0.1 * (age >= 85)
    private = pl.DataFrame({"age": age, "ill": np.where(ill, "yes", "no")})
    ages = {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 99}}
    fields = [ages, {"name": "ill", "type": "string", "categories": ["no", "yes"]}]
    release = cantle.publish(private, {"fields": fields}, epsilon=1, method="rps", insecure_seed=seed)
    asker = TableAsker(release)
    for bound in (40, 60, 80, 85):
        exact = int((ill & (age >= bound)).sum())
        estimate = release.count(f"age >= {bound} and ill == 'yes'")
        assert estimate.low <= exact <= estimate.high, (bound, exact, str(estimate))
        few, many = (asker.parse(f"age >= {bound} and ill {sign} 'yes'") for sign in ("==", "!="))
        assert asker.widths._scale(few) == pytest.approx(asker.widths._scale(many), rel=0.01)  # noqa: SLF001
        none = asker.parse(f"not (age >= {bound} and ill == 'yes')")
        assert asker.widths._scale(none) == pytest.approx(asker.widths._scale(few))  # noqa: SLF001
    mean = release.mean("age", "ill == 'yes'")
    assert mean.low <= age[ill].mean() <= mean.high, str(mean)


def test_or_and_not_have_the_width_of_the_opposite_question() -> None:
    release = with_error(released(), one=100_000, near=200, scale=10)
    asked = release.count("age > 50 and weight < 80.5 and age is not null and weight is not null")
    for opposite in (
        "not (age > 50 and weight < 80.5)",
        "age <= 50 or age is null or weight >= 80.5 or weight is null",
    ):
        estimate = release.count(opposite)
        assert estimate.value == release.summary["records"] - asked.value
        assert estimate.high - estimate.value == pytest.approx(asked.high - asked.value, rel=1e-6)
    two_groups = release.count("(age > 50 and weight < 80.5) or (age < 20 and weight > 90)")
    assert two_groups.high - two_groups.value >= asked.high - asked.value


def test_single_columns_limit_what_two_columns_may_have_in_common() -> None:
    release = with_error(released(), one=10, near=3_000)
    question = "age > 85 and weight < 80.5"
    estimate, alone = release.count(question), release.count("age > 85")
    assert estimate.covers == "measured"
    everything = release.count()
    least = max(10 + np.log(5), everything.high - everything.value)
    assert (estimate.low, estimate.high) == (0, pytest.approx(max(alone.value + least, alone.high)))


def test_the_interval_of_a_measured_error_is_at_least_as_wide_as_known_noise() -> None:
    """The question is about two columns and answered from records. A measured error of 0 may be off by some scales of
    its noise."""
    release = released("rps")
    question = "age > 50 and weight < 80.5"
    known = unmeasured(release).count(question)
    noise = known.high - known.value
    assert known.covers == "noise only"
    part = part_of(release.records, OLD, LIGHT)
    for scale, margin in ((1, part * np.log(200)), (noise / 4 / part, noise), (noise, part * noise * np.log(5))):
        estimate = with_error(release, one=100_000, near=0, scale=scale).count(question)
        assert estimate.covers == "measured"
        assert estimate.high - estimate.value >= 0.999 * margin


def test_without_a_measured_error_related_columns_have_limits_and_no_confidence() -> None:
    release = unmeasured(released())
    estimate = release.count("age > 50 and weight < 80.5")
    assert (estimate.covers, estimate.confidence) == ("limits", None)
    assert "95 %" not in str(estimate).replace("no 95 % interval exists", "")
    ends = [release.count(one) for one in ("age > 50", "weight < 80.5")]
    assert {one.covers for one in ends} <= {"noise", "noise only"}
    assert estimate.low <= estimate.value <= estimate.high <= min(one.high for one in ends) * 1.2 + 40
    assert estimate.to_dict()["confidence"] is None
    mean = release.mean("weight", "age > 50")
    assert (mean.covers, mean.low, mean.high) == ("limits", 30, 150)
    for method in ("rps", "diffgen"):
        only = unmeasured(released(method)).count("age > 50 and weight < 80.5")
        assert (only.covers, only.confidence) == ("noise only", None)
        assert "95 %" not in str(only)


def test_a_condition_inside_one_counted_cell_may_hold_none_or_all_of_the_cell() -> None:
    release = with_error(released(epsilon=0.5), one=5, near=5)
    name, edges = next(
        (name, edges) for name, edges in release.manifest.structure["cells"].items() if name in ("age", "weight")
    )
    attribute = release._asker.attributes[name]
    first = next(a for a, b in zip(edges[:-1], edges[1:], strict=True) if b - a > 2 and b <= attribute.grid)
    value = float(numbers_of(attribute, np.array([first + 1]))[0])
    estimate = release.count(f"{name} == {value:g}")
    assert (estimate.covers, estimate.confidence, estimate.low) == ("measured", 0.95, 0)
    end = next(b for a, b in zip(edges[:-1], edges[1:], strict=True) if a == first)
    inside = release._asker.drawn(OneColumn(name, CodeSet.span(first, end, attribute.size)))
    assert estimate.high >= inside


def test_a_count_of_zero_has_the_noise_of_the_tables_behind_it() -> None:
    """No released record has these values, but the tables from which records were drawn are noisy."""
    release = unmeasured(released())
    for by in (["town", "age"], ["weight", "age"]):  # columns that were counted together, and that were not
        nothing = release.count(by=by).filter((pl.col("value") == 0) & (pl.col("covers") != "noise"))
        assert len(nothing)
        assert (nothing["high"] > 0).all()


def test_a_question_about_counted_columns_is_answered_from_the_noisy_tables() -> None:
    """The target is in every first table, and all tables together are more precise than one."""
    release = with_error(released(), one=10_000, near=10_000)
    estimate = release.count("ill == 'yes'")
    assert estimate.covers == "noise"
    stated = release.manifest.structure["tables"]
    numbers = [i for i, table in enumerate(stated) if table["why"].startswith("first tables")]
    tables = release.frames["tables"].partition_by("table", as_dict=True)
    one = tables[(numbers[0],)]
    assert stated[numbers[0]]["columns"][1] == "ill"
    alone = BY_NOISE * Noise.of(2 * (one["rate_den"][0] / one["rate_num"][0]) ** 2, times=len(one) / 2).margin(0.95)
    assert 0 < estimate.high - estimate.value < alone
    exact = int((people(3_000)["ill"] == "yes").sum())
    assert abs(estimate.value - exact) < 4 * (estimate.high - estimate.value)


def test_a_small_measured_error_is_used_where_noise_is_larger() -> None:
    release = with_error(released(), one=0, near=0)
    assert release.count("age > 50").covers == "measured"


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
    held, errors = [], []
    for seed in range(releases):
        release = cantle.publish(private, schema, epsilon=1, method="mosaic", insecure_seed=seed)
        for question, exact in zip(questions, truth, strict=True):
            estimate = release.count(question)
            assert estimate.covers == "noise"
            held.append(estimate.low <= exact <= estimate.high)
            errors.append(abs(estimate.value - exact) / (estimate.high - estimate.value))
    assert np.mean(held) >= 0.9  # of intervals at 95 %, which are dependent within a release
    assert max(errors) > 0.4  # and none is far too wide


def _inside_steps() -> TableSet:
    """The demo data with incomes and days that lie inside the steps of the schema."""
    private, dice = demo_data.population(people=6_000), np.random.default_rng(3)
    moved = (pl.col("income") + pl.Series(dice.uniform(-25, 25, 6_000))).clip(0, 12_000)
    steps = {"income": {"step": 200, "constraints": {"minimum": 0, "maximum": 12_000}}, "last_visit": {"step": 7}}
    fields = [field | steps.get(field["name"], {}) for field in demo_data.SCHEMA["fields"]]
    return TableSet("inside", private.with_columns(moved), {"fields": fields})  # type: ignore[typeddict-item]


@pytest.mark.parametrize("epsilon", slow([1.0, 0.3], 0.3))
@pytest.mark.parametrize("made", [lambda: made_tables.hospital(12_000), _inside_steps])
def test_intervals_from_measured_errors_contain_the_truth(made: Callable[[], TableSet], epsilon: float) -> None:
    """Random and related questions, by the shipped measurement, about a generated hospital with steps of 1, and about
    people whose incomes and days lie inside steps."""
    table = made()
    release = cantle.publish(table.frame, table.schema, epsilon=epsilon, method="mosaic", insecure_seed=2)
    truth, classes = Truth(table), dict[str, list[bool]]()
    for one in check(TableAsker(release), truth, Numbers(60, 40, 6, 30, 2), np.random.default_rng(1)):
        for name in one.classes:
            classes.setdefault(name, []).append(one.held)
    for name in ("1 column", "random, 2 and 3 columns", "related pair", "mean, random", "mean, related"):
        assert np.mean(classes[name]) >= 0.93, name
    assert {"covers: noise", "covers: measured"} <= set(classes)


def test_a_mean_covers_the_noise_of_its_cells_and_a_tail_that_was_not_released() -> None:
    """That noise is known: a measured error that is large or small by itself says nothing more. And noise empties long
    tails."""
    small, large = (TableAsker(with_error(released(), one=one, near=0)) for one in (0, 900))
    measured, weight = small.mean("weight", EVERYTHING, 0.95), small.attributes["weight"]
    every = OneColumn("weight", CodeSet.span(0, weight.grid, weight.size))
    known = small._known_errors(weight, every, 0.95)
    assert known is not None
    noise, inside = known
    counted = inside_bins(weight, small.bins.get("weight"))
    assert measured.covers == "measured"
    assert measured.high - measured.low == pytest.approx(noise.sum() + 2 * (inside + counted))
    assert min(*noise, inside) > 0
    assert large.mean("weight", EVERYTHING, 0.95) == measured
    values, below = np.array([0.0, 1, 2, 3, 1_000]), np.array([0.6, 0.9, 1, 1])
    own = np.full(4, 0.05)
    above, under = tail_errors(values, below, own), tail_errors(-values[::-1], 1 - below[::-1], own)
    np.testing.assert_allclose(above, under[::-1])
    assert (above[:2] == 0).all()  # where records are, no tail is missing
    assert 0.05 >= above[2] > above[3] > 0
    assert (np.diff(values) * above).sum() == pytest.approx(0.05 * TAIL * 2, rel=0.01)  # as far again as records reach
    alone = tail_errors(np.array([0.0, 0, 80]), np.array([0.0, 1]), own[:2])
    assert 0.05 > alone[1] > alone[0] == 0  # if all records have one value, other values may have been emptied


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


def test_the_columns_of_a_sum_have_an_order() -> None:
    """Otherwise notes and last digits would vary from run to run, as the order of texts in a set does."""
    asker = TableAsker(released())
    names = [*asker.attributes][:6]
    assert columns_of(_there(asker, Form(0, {}, frozenset(names)))) == sorted(names)


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


@pytest.mark.parametrize("given", [{"method": "baskets"}, {"method": "diffpart", "cells": "tree"}], ids=str)
def test_questions_about_items_and_sizes_of_sets(given: Any) -> None:
    release = cantle.publish(baskets(NUMBERS, 2_000), NUMBERS, epsilon=2, insecure_seed=1, **given)
    sets = [set(one) for one in release.records["items"].to_list()]
    estimate = release.count("contains 1 and not contains 2 and size <= 3")
    assert estimate.value == sum(1 in one and 2 not in one and len(one) <= 3 for one in sets)
    assert estimate.low < estimate.value < estimate.high
    assert release.count().value == len(sets)
    with pytest.raises(ParameterError, match="no item '31'"):
        release.count("contains 31")
    with pytest.raises(ParameterError, match="only releases of tables"):
        release.count(by=["size"])


@pytest.mark.parametrize(("schema", "preset"), [(GRAPH, "default"), (GRAPH, "paper"), (EDGE, "default")])
def test_questions_about_degrees_of_graphs(schema: dict[str, Any], preset: str) -> None:
    frame = pl.DataFrame(edges(), schema=["a", "b"], orient="row")
    release = cantle.publish(frame, schema, epsilon=2, insecure_seed=1, preset=preset)
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
        assert 0 < estimate.high - estimate.low < 8
        assert estimate.low <= estimate.value <= estimate.high
        beyond = schema != EDGE and question != "degree in (3, 4)"  # edges that the bound removed are allowed for
        assert estimate.covers == ("limits" if beyond else "noise only")
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
    ranges = cantle.publish(frame, GRAPH, epsilon=50, insecure_seed=1, theta=4, preset="paper")
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

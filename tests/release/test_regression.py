"""Regressions from a release alone: what formulas may say, what is fitted, and when there are intervals."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numpy.linalg import lstsq

import cantle
from cantle.errors import ParameterError
from cantle.release import Release
from cantle.release.answers.regression import LeastSquares
from tests.interfaces.cli.inside import run

FIELDS = [
    {"name": "x", "type": "integer", "constraints": {"minimum": 0, "maximum": 20}},
    {"name": "a+b", "type": "integer", "constraints": {"minimum": 0, "maximum": 10}},
    {"name": "town", "type": "string", "categories": ["north", "south", "west"]},
    {"name": "y", "type": "integer", "constraints": {"minimum": 0, "maximum": 99}, "role": "target"},
    {"name": "late", "type": "string", "categories": ["no", "yes"]},
]


def people() -> pl.DataFrame:
    dice = np.random.default_rng(3)
    x, town = dice.integers(0, 21, 20_000), dice.choice(3, 20_000, p=[0.5, 0.3, 0.2])
    y = (2 * x + 10 * (town == 1) + dice.normal(20, 5, 20_000)).clip(0, 99).astype(int)
    return pl.DataFrame(
        {
            "x": [None if one == 20 else one for one in x.tolist()],
            "a+b": dice.integers(0, 11, 20_000),
            "town": np.array(["north", "south", "west"])[town],
            "y": y,
            "late": np.where(y > 45, "yes", "no"),
        }
    )


@cache
def release() -> Release:
    """A release; tests must not change it."""
    return cantle.publish(people(), {"fields": FIELDS}, epsilon=3, insecure_seed=8)


def test_least_squares_are_those_of_numpy() -> None:
    dice = np.random.default_rng(1)
    x, z = dice.normal(5, 2, 500), dice.normal(0, 1, 500)
    y = 3 + 2 * x - z + dice.normal(0, 1, 500)
    fit = LeastSquares.of(lambda: iter([np.stack([y, x, z])[:, here] for here in (slice(200), slice(200, 500))]), 500)
    design = np.column_stack([np.ones(500), x, z])
    assert fit.coefficients == pytest.approx(lstsq(design, y, rcond=None)[0])
    rest = y - design @ fit.coefficients
    errors = np.sqrt(np.diag(np.linalg.inv(design.T @ design)) * (rest**2).sum() / 497)
    assert fit.drawn == pytest.approx(errors[1:], rel=0.01)


def test_intervals_hold_the_coefficients_of_the_private_records() -> None:
    told = release().regress("y ~ x + town + `a+b`")
    assert list(told.coefficients) == ["intercept", "x", "town: south", "town: west", "a+b"]
    truth = {"x": 2, "town: south": 10, "town: west": 0, "a+b": 0}
    for term, one in told.coefficients.items():
        if term != "intercept":
            assert one.low < truth[term] < one.high
            assert one.confidence == 0.95
    assert told.coefficients["x"].high < 4
    assert told.coefficients["intercept"].confidence is None
    drawn = pl.DataFrame(release().records)
    assert told.records == len(drawn.drop_nulls(["x", "town", "a+b", "y"]))


def test_more_confidence_takes_wider_intervals() -> None:
    narrow, wide = (release().regress("y ~ x", confidence=given).coefficients["x"] for given in (0.8, 0.99))
    assert wide.low < narrow.low < narrow.high < wide.high


def test_two_categories_are_an_outcome_and_what_is_not_the_target_comes_out_too_small() -> None:
    told = release().regress("late ~ y")
    assert told.outcome == "late: yes"
    assert told.coefficients["y"].value > 0
    assert np.isnan(told.coefficients["y"].low)  # how much too small cannot be seen in the release
    assert "late is not the target of this release" in told.notes[-1]


def test_without_a_measured_error_there_are_no_intervals() -> None:
    none = cantle.publish(people(), {"fields": FIELDS}, epsilon=3, insecure_seed=8, accuracy_share=0)
    told = none.regress("y ~ x")
    assert np.isnan(told.coefficients["x"].low)
    assert "there are no intervals, because no error was measured" in told.notes[0]
    tree = cantle.publish(people().drop("late"), {"fields": FIELDS[:-1]}, epsilon=3, insecure_seed=8, method="rps")
    assert "y was not measured together with town" in tree.regress("y ~ town").notes[0]


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("y", "cannot be read; write an outcome"),
        ("y ~", "cannot be read"),
        ("y ~ x +", "cannot be read"),
        ("y ~ x ~ town", "cannot be read"),
        ("y + x ~ town", "cannot be read"),
        ("y ~ 'x", "cannot be read"),
        ("y ~ x + x", "names a column twice"),
        ("y ~ town + xx", "there is no column 'xx'"),
        ("town ~ x", "has 3 categories; an outcome is a number"),
    ],
)
def test_formulas_that_cannot_be_fitted_are_refused(formula: str, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        release().regress(formula)
    with pytest.raises(ParameterError, match="the confidence must be a number"):
        release().regress("y ~ x", confidence=2)


def test_sets_have_no_regressions() -> None:
    sets = cantle.publish([[1, 2], [2]] * 50, {"kind": "sets", "items": {"minimum": 1, "maximum": 3}}, epsilon=1,
                          insecure_seed=1)  # fmt: skip
    with pytest.raises(ParameterError, match="only releases of tables have columns for a regression"):
        sets.regress("y ~ x")


def test_query_prints_and_writes_coefficients(tmp_path: Path) -> None:
    release().save(tmp_path / "out")
    done = run("query", "out", "--regress", "y ~ x + town", cwd=tmp_path)
    assert "95 % interval" in done.stdout
    assert run("query", "out", "--regress", "y ~ x", "-o", "slopes.csv", cwd=tmp_path).returncode == 0
    assert pl.read_csv(tmp_path / "NOT-PRIVATE.slopes.csv")["term"].to_list() == ["intercept", "x"]
    assert (
        json.loads(run("query", "out", "--regress", "y ~ x", "--json", cwd=tmp_path).stdout)["rows"][0]["low"] is None
    )
    refused = run("query", "out", "--regress", "y ~ x", "--mean", "y", cwd=tmp_path)
    assert "leave out --mean" in refused.stderr


def test_intervals_hold_the_slope_of_an_outcome_with_a_long_tail() -> None:
    """Most of the variance of such an outcome is inside its highest band, where little relates it to other columns."""
    dice = np.random.default_rng(8)
    distance = dice.lognormal(6.6, 0.9, 12_000).astype(int).clip(10, 50_000)
    fare = (250 + 0.2 * distance + dice.normal(0, 60, 12_000)).astype(int).clip(0, 20_000)
    frame = pl.DataFrame({"distance": distance, "fare": fare, "vendor": dice.choice(["a", "b"], 12_000)})
    fields = [
        {"name": "distance", "type": "integer", "constraints": {"minimum": 0, "maximum": 60_000}},
        {"name": "vendor", "type": "string", "categories": ["a", "b"]},
        {"name": "fare", "type": "integer", "constraints": {"minimum": 0, "maximum": 25_000}, "role": "target"},
    ]
    true = float(np.cov(distance, fare)[0, 1] / distance.var())
    held = []
    for seed in range(5):
        made = cantle.publish(frame, {"fields": fields}, epsilon=3, insecure_seed=seed)
        one = made.regress("fare ~ distance").coefficients["distance"]
        held.append(one.low <= true <= one.high)
    assert sum(held) >= 4

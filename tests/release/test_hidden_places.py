"""Questions about what was never counted: parts of cells and of groups of categories, streets, and far tails. Their
intervals allow for the worst case."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import cantle
from cantle.release import Release

PARTS = [f"part {number}" for number in range(80)]


def city() -> pl.DataFrame:
    """Parts of a city in precincts at random, so that parts that were counted as one group may be anywhere; and stops,
    half of them in one street."""
    dice = np.random.default_rng(5)
    n, precinct_of = 40_000, dice.integers(1, 6, len(PARTS))
    part = dice.choice(len(PARTS), n, p=(weight := dice.uniform(1, 4, len(PARTS))) / weight.sum())
    street = dice.random(n) < 0.5
    return pl.DataFrame(
        {
            "part": np.array(PARTS)[part],
            "precinct": precinct_of[part],
            "lat": dice.uniform(44.90, 45.00, n),
            "lon": np.where(street, -93.2781, dice.uniform(-93.33, -93.20, n)),
        }
    )


@pytest.fixture(scope="module")
def release() -> Release:
    place = {"name": "stop", "type": "geopoint", "columns": ["lat", "lon"], "step": 0.0001}
    fields = [
        {"name": "part", "type": "string", "categories": PARTS},
        {"name": "precinct", "type": "integer", "constraints": {"minimum": 1, "maximum": 5}},
        place | {"bounds": [[44.88, -93.34], [45.02, -93.18]]},
    ]
    return cantle.publish(city(), {"fields": fields}, epsilon=2, insecure_seed=3)


def test_categories_of_one_group_may_have_nothing_in_common(release: Release) -> None:
    """Counts and means about single parts of the city: each lies in one precinct."""
    private, right = city(), list[bool]()
    for name in PARTS:
        true = private.filter(pl.col("part") == name)["precinct"]
        count = release.count(f"part == '{name}' and precinct == {true[0]}")
        mean = release.mean("precinct", f"part == '{name}'")
        right += [count.low <= len(true) <= count.high, mean.low <= true[0] <= mean.high]
    assert np.mean(right) >= 0.95, right


def test_a_street_at_the_edge_of_an_area_may_lie_on_either_side(release: Release) -> None:
    for north in np.arange(44.92, 45.0, 0.01).round(2):
        true = city()["lat"].is_between(44.9, north) & city()["lon"].is_between(-93.278, -93.22)
        area = release.count(f"stop within (44.9, -93.278, {north}, -93.22)")
        assert area.low <= true.sum() <= area.high


def test_a_difference_of_columns_cuts_the_cells_in_which_they_were_counted_together() -> None:
    """The second number is never larger than the first, and equal to it in a third of the records."""
    dice = np.random.default_rng(6)
    first = dice.integers(0, 1_000, 30_000)
    private = pl.DataFrame(
        {"first": first, "second": first - dice.choice([0, 1, 2], 30_000) * dice.integers(0, 20, 30_000)}
    )
    fields = [
        {"name": name, "type": "integer", "constraints": {"minimum": -50, "maximum": 1_000}} for name in private.columns
    ]
    release = cantle.publish(private, {"fields": fields}, epsilon=1, insecure_seed=3)
    for least in (0, 1, 2, 5):
        answer = release.count(f"first - second >= {least}")
        assert answer.low <= (private["first"] - private["second"] >= least).sum() <= answer.high


@pytest.mark.parametrize("epsilon", [0.3, 1])
def test_a_mean_holds_where_far_values_are_hidden_by_noise(epsilon: float) -> None:
    """A clump at the bound, as of Adult's capital gains, and a few far values between nothing."""
    right = list[bool]()
    for seed in range(8):
        dice = np.random.default_rng(seed)
        small = dice.choice([0, 1], 40_000, p=[0.92, 0.08]) * dice.exponential(4_000, 40_000)
        for far in (99_999, 60_000):
            private = pl.DataFrame({"gain": np.append(small, np.full(200, far)).clip(0, 99_999).round()})
            field = {"name": "gain", "type": "number", "step": 10, "constraints": {"minimum": 0, "maximum": 99_999}}
            other = {"name": "one", "type": "string", "categories": ["a", "b", "c"]}
            table = private.with_columns(one=pl.Series(dice.choice(["a", "b", "c"], len(private))))
            release = cantle.publish(table, {"fields": [field, other]}, epsilon=epsilon / 3, insecure_seed=seed)
            mean = release.mean("gain")
            right.append(mean.low <= float(str(private["gain"].mean())) <= mean.high)
    assert np.mean(right) >= 0.9

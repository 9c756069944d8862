"""Bins of values: the answer to a question that cuts a bin has an interval that allows for every value in the bin."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cantle
from cantle.release import Release
from cantle.release.answers.asking import Bins, bins_of, inside_and_around
from cantle.release.answers.table_answers import TableAsker
from cantle.schema.code_sets import CodeSet, OneColumn
from tests.effort import examples

TOWNS = [f"t{number}" for number in range(12)]
SCHEMA: dict[str, Any] = {
    "fields": [
        {"name": "gain", "type": "integer", "constraints": {"minimum": 0, "maximum": 9_999, "required": True}},
        {"name": "town", "type": "string", "categories": TOWNS, "constraints": {"required": True}},
    ]
}


def released(order: str = "declared") -> Release:
    """A release in which most records have the lowest value, in a bin of 1,250; bins of towns have two values."""
    dice = np.random.default_rng(1)
    gain = np.where(dice.random(8_000) < 0.9, 0, dice.integers(0, 10_000, 8_000))
    frame = pl.DataFrame({"gain": gain, "town": dice.choice(TOWNS[:3], 8_000)})
    return cantle.publish(frame, SCHEMA, epsilon=5, method="rps", bins=8, order=order, insecure_seed=1)  # type: ignore[arg-type]


@pytest.mark.parametrize("order", ["declared", "random"])
def test_an_interval_contains_the_truth_whatever_values_a_bin_has(order: str) -> None:
    release = released(order)
    assert set(bins_of(release.manifest)) == {"gain", "town"}
    lowest, whole = release.count("gain == 0"), release.count("gain < 1250")
    assert lowest.low <= 7_200 <= lowest.high
    assert whole.high - whole.low < 1_000 < lowest.high - lowest.low
    towns = release.count(by=["town"])
    assert (towns["low"][:3] <= 8_000 / 3 + 200).all()
    assert (towns["high"][:3] >= 8_000 / 3 - 200).all()


def test_the_limits_of_single_columns_allow_for_every_value_in_a_bin() -> None:
    """0.9 of the records have gain 0, which draws spread over its bin; a third of them live in one town."""
    estimate = released().count("gain == 0 and town in ('t0', 't1')")
    assert estimate.covers == "measured"
    assert estimate.value < 100
    assert estimate.low <= 7_200 * 2 / 3 <= estimate.high


def test_means_allow_for_the_width_of_a_bin() -> None:
    estimate = released().mean("gain", "")
    assert estimate.low <= 500 <= estimate.high


def test_numbers_are_grouped_by_whole_bins() -> None:
    release = released()
    asker = TableAsker(release)
    edges = asker.groups("gain").edges
    assert (edges % 1_250 == 0).all()
    assert len(edges) == 8


def test_the_statement_says_that_values_inside_a_bin_are_a_guess() -> None:
    assert "whole bins of columns gain, town" in released().statement


@examples(50)
@given(
    st.integers(2, 5),
    st.integers(3, 14),
    st.booleans(),
    st.sets(st.integers(0, 14)),
    st.randoms(use_true_random=False),
)
def test_whole_and_touched_bins_agree_with_brute_force(
    width: int, grid: int, nullable: bool, some: set[int], random: Any
) -> None:
    size = grid + nullable
    codes = CodeSet.of((code for code in some if code < size), size)
    order = random.sample(range(grid), grid)
    for place in (None, tuple(order)):
        where = range(grid) if place is None else place
        of_code = [where[code] // width if code < grid else -1 for code in range(size)]
        inside = set(np.flatnonzero(codes.holds(np.arange(size))).tolist())
        touched = {code for code in range(size) if any(of_code[code] == of_code[one] for one in inside)}
        whole = {code for code in inside if all(of_code[code] != of_code[one] for one in set(range(size)) - inside)}
        bins = Bins(width, grid, place)
        assert bins.whole(codes) == CodeSet.of(whole, size)
        assert bins.touched(codes) == CodeSet.of(touched, size)
        asked = OneColumn("x", codes)
        assert inside_and_around(asked, {"x": bins}) == (
            OneColumn("x", CodeSet.of(whole, size)),
            OneColumn("x", CodeSet.of(touched, size)),
        )


def test_bins_of_rps_hold_whole_steps() -> None:
    fields = [SCHEMA["fields"][0] | {"step": 300}, SCHEMA["fields"][1]]
    dice = np.random.default_rng(2)
    frame = pl.DataFrame({"gain": dice.integers(0, 10_000, 4_000), "town": dice.choice(TOWNS, 4_000)})
    release = cantle.publish(frame, {"fields": fields}, epsilon=5, method="rps", bins=8)
    gain = bins_of(release.manifest)["gain"]
    assert (gain.width, gain.wide) == (1_500, True)
    release.verify()
    fine = cantle.publish(frame, {"fields": fields[:1]}, epsilon=5, method="rps")
    assert (bins_of(fine.manifest)["gain"].width, bins_of(fine.manifest)["gain"].wide) == (300, False)

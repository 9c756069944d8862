"""Numeric targets: their bands, when they are used, and the releases that they lead."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest

import cantle
from cantle.drawing.column_cells import Column
from cantle.errors import SchemaError, VerifyError
from cantle.methods.mosaic.model.bands import Bands, choose
from cantle.methods.mosaic.plan import usable_target
from cantle.release import Release
from cantle.release.structures import opened
from cantle.release.structures.tables import released_tables
from cantle.release.verify import problems

FIELDS: list[dict[str, Any]] = [
    {"name": "x", "type": "integer", "constraints": {"minimum": 0, "maximum": 9}},
    {"name": "g", "type": "string", "categories": ["a", "b", "c"]},
]
RECORDS = 6_000


def people() -> dict[str, Any]:
    dice = np.random.default_rng(7)
    x = dice.integers(0, 10, RECORDS)
    income = (1_000 * x + dice.gamma(2, 1_500, RECORDS)).clip(0, 49_999)
    return {"x": x, "g": dice.choice(list("abc"), RECORDS), "y": income}


def published(target: dict[str, Any], epsilon: float = 2, **more: Any) -> Release:
    fields = [*FIELDS, {"name": "y", "role": "target"} | target]
    given = {"method": "mosaic", "insecure_seed": 5, "data": people()} | more
    return cantle.publish(pl.DataFrame(given.pop("data")), {"fields": fields}, epsilon=epsilon, **given)


AMOUNT = {"type": "number", "step": 100, "constraints": {"minimum": 0, "maximum": 50_000}}


@cache
def amounts() -> Release:
    """A release with a numeric target; tests must not change it."""
    return published(AMOUNT)


@pytest.mark.parametrize(
    ("masses", "most", "bands"),
    [
        ([1, 1, 1, 1, 1, 1], 3, [0, 2, 4, 6]),
        ([10, 0, 0, 0, 0, 10], 2, [0, 1, 6]),
        ([0, 0, 5, 0], 3, [0, 4]),
        ([0, 0, 0], 3, [0, 3]),
        ([99, 1, 0, 0, 0, 0], 2, [0, 6]),
        ([8, 1, 1, 1, 1, 8], 5, [0, 1, 2, 4, 5, 6]),
    ],
)
def test_bands_separate_records_and_are_not_too_small(masses: list[int], most: int, bands: list[int]) -> None:
    assert choose(np.array(masses, dtype=float), np.arange(len(masses) + 1), most).tolist() == bands


def test_values_are_spread_over_the_cells_of_their_band_as_they_were_counted() -> None:
    bands = Bands(np.array([0, 1, 2, 10, 20]), np.array([30.0, 10.0, 0.0, 0.0]), np.array([0, 2, 4]))
    cells = bands.draw(np.repeat(np.array([0, 1], dtype=np.uint8), 4_000), np.random.default_rng(1))
    assert np.bincount(cells[:4_000]).tolist() == [3_000, 1_000]
    assert np.bincount(cells[4_000:], minlength=4)[2:] == pytest.approx([4_000 * 8 / 18, 4_000 * 10 / 18], abs=1)


def test_a_numeric_target_leads_and_a_target_of_many_categories_does_not() -> None:
    other, number = Column("x", 3), Column("y", 5_000, numeric=True)
    assert usable_target([other, number], 1) == 1
    assert usable_target([other, replace(number, numeric=False)], 1) is None
    assert usable_target([replace(other, values=1), number], 1) is None
    assert usable_target([other, replace(number, values=1)], 1) is None


def test_a_numeric_target_is_related_to_the_other_columns_and_keeps_its_distribution() -> None:
    release, raw = amounts(), people()
    assert not list(problems(release))
    receipt = release.manifest.receipt
    assert sum(charge.epsilon_nano for charge in receipt.charges()) == receipt.epsilon_nano
    assert {"target alone", "leaves by class"} <= {charge.why for charge in receipt.charges()}
    drawn = pl.DataFrame(release.records)
    kept = np.corrcoef(drawn["x"], drawn["y"])[0, 1] / np.corrcoef(raw["x"], raw["y"])[0, 1]
    assert kept > 0.9
    assert drawn["y"].mean() == pytest.approx(raw["y"].mean(), rel=0.03)
    assert drawn["y"].std() == pytest.approx(raw["y"].std(), rel=0.1)
    shown = dict(opened(release).lines(1, everything=False))
    assert "related to the other columns in 5 bands" in shown["Target"][0]


def test_more_records_follow_the_bands_too() -> None:
    more = pl.DataFrame(amounts().sample(500))
    assert np.corrcoef(more["x"], more["y"])[0, 1] > 0.6


def test_other_bands_than_those_of_the_noisy_counts_are_noticed() -> None:
    release = published(AMOUNT)
    release.manifest.structure["bands"][1] += 1
    with pytest.raises(VerifyError, match="the bands of the target"):
        released_tables(release)
    assert any("the bands of the target" in problem for problem in problems(release))


@pytest.mark.parametrize(
    "target",
    [
        {"type": "integer", "constraints": {"minimum": 0, "maximum": 50_000, "multipleOf": 500}},
        {"type": "integer", "constraints": {"minimum": 0, "maximum": 49_999}},
    ],
)
def test_steps_and_multiples_are_targets(target: dict[str, Any]) -> None:
    release = published(target)
    assert not list(problems(release))
    values = pl.DataFrame(release.records)["y"].to_numpy()
    assert (values % target["constraints"].get("multipleOf", 1) == 0).all()


def test_noise_alone_makes_no_bands_and_the_target_is_a_column_like_others() -> None:
    none = published(AMOUNT, data=people() | {"y": np.full(RECORDS, None)})
    assert not list(problems(none))
    constant = published(AMOUNT, data=people() | {"y": np.full(RECORDS, 7.0)})
    assert constant.manifest.structure["lead"] is None
    assert not list(problems(constant))


@pytest.mark.parametrize("method", ["rps", "diffgen"])
def test_other_methods_take_numbers_as_classes_and_say_how_many(method: str) -> None:
    with pytest.raises(SchemaError, match=r"at most 1000 classes, this one 50001; use method mosaic, a wider step"):
        published({"type": "integer", "constraints": {"minimum": 0, "maximum": 50_000}}, method=method)
    release = published(AMOUNT | {"step": 500}, method=method)
    assert not list(problems(release))
    assert len(set(pl.DataFrame(release.records)["y"].to_list())) > 101  # drawn inside their steps

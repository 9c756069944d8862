"""DiffGen: settings, candidates for specialisation, the threshold of counts, and that all of epsilon is spent."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cantle
from cantle.drawing.counts import public_dice
from cantle.errors import ParameterError, SchemaError, VerifyError
from cantle.interfaces.publishing import run
from cantle.methods.diffgen import method as diffgen
from cantle.methods.diffgen.method import DiffGen
from cantle.schema.domain import Attribute, Domain, Labels, Steps
from cantle.schema.taxonomy import Taxonomy
from cantle.trusted.claims.scores import HalfGini, JointMajority, Quality, WeightedMajority
from cantle.trusted.claims.specialisations import Value
from cantle.trusted.core.budget import NANO, Unit
from cantle.trusted.counting.words import WordEngine
from cantle.trusted.geometry.grid import Grid
from cantle.trusted.noise import Seeded
from tests.effort import examples
from tests.laws.strategies import public_domain

DOMAIN = public_domain()


def engine(domain: Domain, records: int, seed: int = 1) -> WordEngine:
    dice = np.random.default_rng(seed)
    assert domain.target is not None
    sizes = tuple(a.size for a in domain.attributes)
    columns = [dice.integers(0, size, records).astype(np.uint8) for size in sizes]
    label = dice.integers(0, domain.target.size, records).astype(np.uint8)
    return WordEngine([(columns, label)], sizes=sizes, class_count=domain.target.size)


def finished(domain: Domain, people: int, nano: int = NANO, **given: Any) -> tuple[DiffGen, dict[str, Any]]:
    method = DiffGen(domain, **given)
    return method, run(method, engine(domain, people), epsilon_nano=nano, unit=Unit(), noise=Seeded(3))


# ---- settings --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [
        {"preset": "paper", "score": "majority"},
        {"preset": "default", "score": "max"},
        {"preset": "paper", "rounds": None},
        {"count_share": 0},
        {"rounds": -1},
        {"rounds": 1001},
        {"rounds": 2.5},
        {"cells": 0},
        {"score": "entropy"},
        {"structure_share": 0},
        {"structure_share": 1},
        {"preset": "published"},
        {"round": 3},
    ],
    ids=str,
)
def test_settings_that_make_no_sense_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        DiffGen(DOMAIN, **given)


def test_a_class_is_needed() -> None:
    with pytest.raises(SchemaError, match="target"):
        DiffGen(public_domain(target=0))


# ---- candidates ------------------------------------------------------------------------------------------------------


def test_null_is_a_separate_child_of_the_root() -> None:
    tree = Taxonomy.from_nested([{"g": ["a", "b"]}, "c"])
    job = Attribute("job", Labels(type="string", labels=tree.leaves), nullable=True, taxonomy=tree)
    one = Attribute("one", Labels(type="string", labels=("only",)), nullable=True)
    method = DiffGen(Domain((job, one), DOMAIN.target, ("job", "one", "kind")))
    assert method._values(100, 100) == (
        Value(0, (0, 4), ((0, 2), (2, 3), (3, 4))), Value(1, (0, 2), ((0, 1), (1, 2))),
    )  # fmt: skip
    method._push(method._values(100, 100)[0], 0)
    assert method._values(100, 100)[0] == Value(0, (0, 2), ((0, 1), (1, 2)))


def test_values_with_too_many_children_are_no_candidates() -> None:
    many = Attribute("many", Labels(type="string", labels=tuple("abcde")), nullable=False)
    age = Attribute("age", Steps(type="integer", first=0, step=1, grid=9), nullable=False)
    method = DiffGen(Domain((many, age), DOMAIN.target, ("many", "age", "kind")))
    assert [v.attribute for v in method._values(5, 100)] == [0, 1]
    assert [v.attribute for v in method._values(4, 100)] == [1]
    assert [v.attribute for v in method._values(2, 100)] == [1]
    assert method._values(1, 100) == ()
    assert [v.attribute for v in method._values(5, 4)] == [1]


@examples(10)
@given(st.integers(0, 6), st.sampled_from([1, 7, 60]), st.integers(1, 40), st.sampled_from(["default", "paper"]))
def test_every_cut_follows_the_taxonomy_and_epsilon_is_spent(
    rounds: int, records: int, units: int, preset: str
) -> None:
    nano = units * NANO // 10
    method, receipt = finished(DOMAIN, records, nano, preset=preset, rounds=rounds)
    assert method.rounds <= rounds
    assert method.grid.fits(method.sizes)
    assert method.grid.shape[2] in (1, 3)  # job is flat, so it is cut into all values or not at all
    [path] = receipt["paths"]
    assert path["epsilon_nano"] == nano
    assert path["charges"][-1]["why"] == "cells"
    assert method.noisy is not None
    assert (method.noisy.value >= method.noisy.at_least).all()
    assert (np.diff(method.noisy.cells) > 0).all()
    assert (method.noisy.cells < method.grid.cells * method.classes).all()


def test_declared_records_are_not_paid_for() -> None:
    _, receipt = finished(DOMAIN, 50, records=50, count_share=0, score="majority", rounds=2, cells=50, oneway_share=0)
    assert [c["why"] for c in receipt["paths"][0]["charges"]] == ["specialise", "specialise", "cells"]


def test_prices_do_not_depend_on_the_records() -> None:
    """If everything is declared, prices and their order follow from the settings alone."""
    paid = []
    for records in (0, 1, 300):
        _, receipt = finished(DOMAIN, records, records=100, count_share=0, score="gini", rounds=3)
        paid.append([(c["why"], c["epsilon_nano"], c["sensitivity"]) for c in receipt["paths"][0]["charges"]])
    assert paid[0] == paid[1] == paid[2]


def test_prices_of_rounds_rise_for_half_gini_and_are_equal_for_other_scores() -> None:
    def prices(score: str, rounds: int) -> list[int]:
        given: dict[str, Any] = {
            "records": 100,
            "count_share": 0,
            "structure_share": "1/2",
            "cells": 50,
            "oneway_share": 0,
        }
        _, receipt = finished(DOMAIN, 40, score=score, rounds=rounds, **given)
        return [c["epsilon_nano"] for c in receipt["paths"][0]["charges"] if c["why"] == "specialise"]

    assert prices("majority", 2) == [250_000_000, 250_000_000]
    # 25, 35 and 49 parts of 109; 109 does not divide the half, so each is rounded down
    assert prices("gini", 3) == [half * NANO // 218 for half in (25, 35, 49)]
    assert prices("gini", 1) == [NANO // 2]


TEMPERED = WeightedMajority((512, 1024))
"""Weights for class totals of 4 : 1; the larger class has sqrt(1/4) of 1024."""


@pytest.mark.parametrize(
    ("given", "records", "first", "later", "usual"),
    [
        ({"objective": "accuracy"}, 30_000, TEMPERED, JointMajority(), Fraction(2, 3)),
        ({"objective": "accuracy"}, 3_000, TEMPERED, TEMPERED, Fraction(3, 4)),
        ({"objective": "auto"}, 30_000, HalfGini(), HalfGini(), Fraction(1, 2)),
        ({"objective": "auto"}, 3_000, TEMPERED, TEMPERED, Fraction(3, 4)),
        ({"objective": "balanced"}, 3_000, HalfGini(), HalfGini(), Fraction(3, 4)),
        ({"score": "majority"}, 30_000, JointMajority(), JointMajority(), Fraction(2, 3)),
        ({"score": "weighted"}, 30_000, *[WeightedMajority((256, 1024))] * 2, Fraction(1, 2)),
    ],
    ids=str,
)
def test_the_scores_follow_from_objective_and_size(
    given: dict[str, Any], records: int, first: Quality, later: Quality, usual: Fraction
) -> None:
    method = DiffGen(DOMAIN, records=records, **given)
    assert method._scores([4 * records // 5, records // 5], NANO) == (first, later, usual)


@pytest.mark.parametrize("rounds", [0, 1, 9, 12, 13, 1000])
@pytest.mark.parametrize("score", [HalfGini(), JointMajority(), WeightedMajority((3, 2))], ids=repr)
def test_rounds_pay_no_more_than_the_structure_has(rounds: int, score: Quality) -> None:
    structure = 489_999_999
    paid = diffgen._prices(structure, rounds, score)
    assert len(paid) == rounds
    assert paid == sorted(paid)
    assert structure - rounds <= sum(paid) <= structure or not rounds
    assert all(paid)  # even the first of a thousand rounds has a price


# ---- counts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [0.01, 0.1, 1.0, 5.0])
@pytest.mark.parametrize("digits", [20, 27, 34, 50])
def test_the_threshold_bounds_the_empty_cells_that_are_listed(rate: float, digits: int) -> None:
    method = DiffGen(DOMAIN)
    method.grid = Grid(tuple(np.array([0, 1, 2]) for _ in range(digits)))
    at_least = method._threshold(int(rate * NANO))

    def expected(threshold: float) -> float:
        shown = method.grid.cells * 2 * math.exp(-rate * threshold) / (1 + math.exp(-rate))
        return shown * (threshold + 1 / rate)

    assert expected(at_least) <= diffgen.MOST_SPURIOUS
    assert at_least == 1 or expected(at_least - 1 - int(0.1 / rate)) > diffgen.MOST_SPURIOUS


def test_the_threshold_does_not_depend_on_the_records() -> None:
    thresholds = set()
    for records in (0, 200):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(diffgen, "MOST_SPURIOUS", 1)
            domain = Domain(DOMAIN.attributes[2:], DOMAIN.target, ("job", "kind"))
            method, _ = finished(domain, records, preset="paper", rounds=0)
            assert method.noisy is not None
            thresholds.add((method.grid.cells, *method.noisy.at_least.tolist()))
    assert len(thresholds) == 1
    assert min(thresholds)[1] > 1


# ---- limits, each with a clear error or a stated fallback ------------------------------------------------------------


def many(columns: int, labels: int = 2) -> Domain:
    steps = Steps(type="integer", first=0, step=1, grid=2)
    attributes = tuple(Attribute(f"a{i}", steps, nullable=False) for i in range(columns))
    target = Attribute("y", Labels(type="string", labels=tuple(f"k{i}" for i in range(labels))), nullable=False)
    return Domain(attributes, target, (*(a.name for a in attributes), "y"))


def test_a_table_of_many_columns_is_released() -> None:
    method, _ = finished(many(70), 30, rounds=2)
    assert len(method.results(public_dice(1)).records.columns) == 71


@pytest.mark.parametrize(("columns", "labels"), [(62, 2), (58, 255)])
def test_specialisation_stops_before_cells_cannot_be_numbered(columns: int, labels: int) -> None:
    method, _ = finished(many(columns, labels), 5, 2 * NANO, preset="paper", rounds=columns)
    assert 2**49 <= method.grid.cells <= 2**50
    assert method.rounds < columns
    assert method.noisy is not None
    assert method.noisy.at_least > 1
    assert len(method.noisy.cells) < 10**6


def test_the_cap_on_cells_holds_in_both_presets() -> None:
    for preset in ("default", "paper"):
        method, _ = finished(many(12), 50, 100 * NANO, preset=preset, rounds=12, cells=20)
        assert 20 <= method.grid.cells <= 80


def skewed(records: int) -> tuple[pl.DataFrame, dict[str, Any]]:
    """A table with a skewed column that is independent of the class, and a column that determines the class."""
    dice = np.random.default_rng(3)
    kind = dice.random(records) < 0.4
    frame = pl.DataFrame(
        {
            "pay": np.minimum(dice.exponential(2_000, records).astype(int), 99_999),
            "place": np.where(dice.random(records) < 0.9, "b", "d"),
            "part": np.where(kind, 1, 8),
            "y": np.where(kind, "yes", "no"),
        }
    )
    fields: list[dict[str, Any]] = [
        {"name": "pay", "type": "integer", "constraints": {"minimum": 0, "maximum": 99_999}},
        {"name": "place", "type": "string", "categories": list("abcde"), "constraints": {"required": True}},
        {"name": "part", "type": "integer", "constraints": {"minimum": 0, "maximum": 9, "required": True}},
        {"name": "y", "type": "string", "categories": ["no", "yes"], "role": "target"},
    ]
    return frame, {"fields": fields}


def test_columns_that_were_not_cut_keep_their_distributions() -> None:
    frame, schema = skewed(20_000)
    release = cantle.publish(frame, schema, epsilon=1, method="diffgen", rounds=1, insecure_seed=2)
    drawn, more = release.records, release.sample(20_000, seed=1)
    for records in (drawn, more):
        assert records["pay"].mean() == pytest.approx(frame["pay"].mean(), rel=0.15)
        assert (records["place"] == "b").mean() == pytest.approx(0.9, abs=0.03)
    without = cantle.publish(frame, schema, epsilon=1, method="diffgen", rounds=1, oneway_share=0, insecure_seed=2)
    assert without.records["pay"].mean() > 10 * frame["pay"].mean()  # values are uniform in the cell
    assert "marginals" not in without.frames


def test_one_way_tables_are_paid_and_saved(tmp_path: Path) -> None:
    frame, schema = skewed(3_000)
    release = cantle.publish(frame, schema, epsilon=1, method="diffgen", rounds=1, oneway_share="3/10")
    charges = release.manifest.receipt.paths[0].charges
    values = [charge for charge in charges if charge.why == "one-way tables"]
    assert len(values) == len(release.manifest.structure["tables"]) == 3
    assert {(charge.epsilon_nano, charge.sensitivity) for charge in values} == {(100_000_000, 1)}
    assert sum(charge.epsilon_nano for charge in charges) == 10**9
    again = cantle.Release.load(release.save(tmp_path / "out"))
    again.verify()
    assert again.sample(500, seed=4).equals(release.sample(500, seed=4))
    finer = again.frames["marginals"].with_columns(rate_num=pl.col("rate_num") * 2)
    with pytest.raises(VerifyError, match="noise of the one-way tables"):
        replace(again, frames={"marginals": finer}).verify()


def test_cells_tell_the_number_of_records_better_than_class_totals_alone() -> None:
    frame = pl.DataFrame({"x": [*range(50)] * 20, "y": ["p", "q", "q", "q"] * 250})
    fields = [
        {"name": "x", "type": "integer", "constraints": {"minimum": 0, "maximum": 49}},
        {"name": "y", "type": "string", "categories": ["p", "q"], "role": "target"},
    ]
    off = [
        cantle.publish(frame, {"fields": fields}, epsilon=1, method="diffgen", insecure_seed=seed).summary["records"]
        - 1000
        for seed in range(12)
    ]
    assert np.abs(off).mean() < 50  # noise of class totals alone is off by 80 on average

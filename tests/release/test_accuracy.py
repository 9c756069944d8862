"""The accuracy that a release states: measured if there are enough records, saved, described, and verified."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import cantle
from cantle.errors import ParameterError, VerifyError
from cantle.methods.own_error.accuracy import Accuracy, PairError, QuestionError, affordable
from cantle.release.accuracy import accuracy_from, accuracy_to, share_errors
from cantle.release.kinds import texts_of
from cantle.release.report.page import tiles
from cantle.release.show import facts, overview, sections
from cantle.release.verify import problems, verify_folder
from cantle.trusted.core.budget import NANO
from tests.release.changes import with_manifest, with_parts
from tests.release.kinds import NUMBERS, baskets
from tests.release.people import SCHEMA, people

TABLES = ("mosaic", "rps", "diffgen")
SETS = ("baskets", "diffpart")


def released(method: str, epsilon: Any = 10, n: int = 600, **given: Any) -> cantle.Release:
    data: Any = people(n) if method in TABLES else baskets(NUMBERS, n)
    schema = SCHEMA if method in TABLES else NUMBERS
    given = {"cells": "tree"} | given if method == "diffpart" else given
    return cantle.publish(data, schema, epsilon=epsilon, method=method, **given)


def measured(release: cantle.Release) -> Accuracy:
    assert release.accuracy is not None
    assert release.accuracy.bought
    return release.accuracy


@pytest.mark.parametrize("method", [*TABLES, *SETS])
def test_every_method_measures_its_error_and_saves_it(method: str, tmp_path: Path) -> None:
    release = released(method)
    accuracy = measured(release)
    numbers = len(accuracy.numbers())
    assert numbers == 2 + (accuracy.together is not None and accuracy.apart is not None)
    assert {one.rate for one in accuracy.numbers()} == {(10 * NANO // 25, numbers * NANO)}
    for path in release.manifest.receipt.paths:
        assert [charge.why for charge in path.charges if charge.verb == "reserve"] == ["accuracy of the release"]
        assert path.epsilon_nano <= 10 * NANO
    release.verify()
    folder = release.save(tmp_path / "out")
    assert verify_folder(folder) == []
    again = cantle.Release.load(folder)
    again.verify()
    assert again.accuracy == accuracy


@pytest.mark.parametrize("method", [*TABLES, *SETS])
def test_with_few_records_nothing_is_spent_on_accuracy(method: str) -> None:
    """n0 * epsilon must be at least 1,250 for tables and 2,475 for sets, and is about 600 here."""
    release = released(method, epsilon=1)
    accuracy = release.accuracy
    assert accuracy is not None
    assert not accuracy.bought
    assert accuracy.numbers() == []
    assert not any(charge.verb == "reserve" for charge in release.manifest.receipt.charges())
    assert max(path.epsilon_nano for path in release.manifest.receipt.paths) == NANO
    assert "Accuracy not measured: too few records at this epsilon." in release.statement
    assert str(release.accuracy) == "Accuracy not measured: too few records at this epsilon."
    release.verify()


@pytest.mark.parametrize("method", [*TABLES, *SETS])
def test_a_share_of_zero_switches_the_measurement_off(method: str) -> None:
    release = released(method, accuracy_share=0)
    assert release.accuracy is None
    assert "Accuracy not measured: no part of epsilon was spent on it." in release.statement
    release.verify()


@pytest.mark.parametrize("method", ["rps", "diffgen", "diffpart"])
def test_presets_of_papers_do_not_measure(method: str) -> None:
    given = {"depth": 5} if method == "rps" else {}
    assert released(method, preset="paper", **given).accuracy is None


def test_a_share_may_be_chosen_up_to_a_quarter() -> None:
    assert measured(released("mosaic", accuracy_share="1/10")).share == Fraction(1, 10)
    with pytest.raises(ParameterError, match="a share from 0 to 1/4"):
        released("mosaic", accuracy_share=0.3)
    with pytest.raises(ParameterError, match="no values to measure"):
        released("rps", values="set", accuracy_share=0.1)
    assert released("rps", values="set").accuracy is None


def test_persons_need_more_records() -> None:
    """With k records per person noise is k times larger, so n0 * epsilon must be k times as large."""
    share = Fraction(1, 25)
    for is_table in (True, False):
        for k in (1, 2):
            assert affordable(share, NANO, k * 2475, k, of_tables=is_table) == 3
            assert affordable(share, NANO, k * 2475 - 1, k, of_tables=is_table) == is_table
        assert affordable(share, NANO, -5, 1, of_tables=is_table) == 0


def test_between_two_thresholds_one_number_is_about_all_pairs() -> None:
    """n0 * epsilon is about 1,800, which is enough for one number of three."""
    release = released("mosaic", epsilon=3)
    accuracy = measured(release)
    assert [accuracy.one_column, accuracy.together] == [None, None]
    assert accuracy.apart is not None
    assert accuracy.apart.pairs == accuracy.all_pairs > accuracy.pairs_together > 0
    assert accuracy.apart.rate == (3 * NANO // 25, NANO)
    release.verify()


def test_the_numbers_of_classes_that_were_not_measured_are_those_of_the_other_class() -> None:
    near, far = (PairError(pairs=3, records=records, rate=(1, 1)) for records in (70, 50))
    both = Accuracy(bought=True, share=Fraction(1, 25), noisy_records=9_000, together=near, apart=far)
    assert both.of_pairs(together=True) == [near]
    assert both.of_pairs(together=False) == [near, far]
    assert replace(both, together=None).of_pairs(together=True) == [far]
    assert replace(both, apart=None).of_pairs(together=False) == [near]
    assert replace(both, apart=None, together=None).of_pairs(together=True) == []


def test_levels_are_shares_that_never_fall_and_include_the_noise_of_the_measurement() -> None:
    rate = (1, 10)
    one, near, far = (
        QuestionError(q=9, records=100, rate=rate),
        *(PairError(pairs=3, records=records, rate=rate) for records in (20, 300)),
    )
    accuracy = Accuracy(
        bought=True, share=Fraction(1, 25), noisy_records=9_000, one_column=one, together=near, apart=far
    )
    levels, doubt = share_errors(accuracy, 1_000), 10 * np.log(5)
    assert levels is not None
    assert levels.one_column == pytest.approx((100 + doubt) / 1_000, rel=0.01)
    assert levels.together == levels.one_column, "one column never looks worse than two"
    assert levels.apart == pytest.approx(1.44 * (300 + doubt) / 1_000, rel=0.01)
    assert levels.missing == 1.0
    assert share_errors(accuracy, 100_000).missing == pytest.approx(2 * (300 + doubt) / 30_000, rel=0.01)  # type: ignore[union-attr]
    assert levels.noisy == frozenset()
    drowned = share_errors(
        replace(accuracy, together=replace(near, records=2), apart=replace(far, records=-9), one_column=None), 1_000
    )
    assert drowned is not None
    assert drowned.one_column is None
    assert drowned.noisy == {"together", "apart"}
    assert share_errors(replace(accuracy, together=None, apart=None), 1_000) is None
    assert share_errors(None, 1_000) is None


def test_measured_errors_are_near_the_truth_and_show_what_is_lost() -> None:
    """A release whose hours have lost their spike is off by thousands in questions about one column."""
    dice = np.random.default_rng(3)
    hours = np.where(dice.random(6000) < 0.5, 40, dice.integers(1, 100, 6000))
    frame = pl.DataFrame({"hours": hours, "half": dice.integers(0, 2, 6000).astype(str), "y": ["n", "p"] * 3000})
    number = {"type": "integer", "constraints": {"required": True, "minimum": 1, "maximum": 99}}
    fields = [{"name": "hours"} | number, {"name": "half", "type": "string", "categories": ["0", "1"]}]
    fields.append({"name": "y", "type": "string", "categories": ["n", "p"], "role": "target"})
    kept = measured(cantle.publish(frame, {"fields": fields}, epsilon=20, method="mosaic"))
    lost = measured(cantle.publish(frame, {"fields": fields}, epsilon=20, method="diffgen", rounds=0, oneway_share=0))
    assert kept.one_column is not None
    assert lost.one_column is not None
    assert kept.one_column.records < 400
    assert lost.one_column.records > 2000


def test_an_accuracy_survives_release_json() -> None:
    error = QuestionError(q=500, records=527, rate=(NANO // 25, 3 * NANO))
    accuracy = Accuracy(bought=True, share=Fraction(1, 25), noisy_records=45_000, one_column=error)
    assert accuracy_from(accuracy_to(accuracy)) == accuracy


def test_a_wide_table_is_shown_in_part_unless_all_columns_are_requested() -> None:
    fields = [{"name": f"q{k}", "type": "string", "categories": ["n", "y"]} for k in range(30)]
    release = cantle.publish(pl.DataFrame({f"q{k}": ["y"] for k in range(30)}), {"fields": fields}, epsilon=1)
    part, whole = (dict(sections(release, everything=all_of_it)) for all_of_it in (False, True))
    assert [line for line in part["Columns"] if "left out" in line] == [
        "… 18 columns are left out here; see them with --all"
    ]
    assert part["Columns"][-4] == "q29"
    assert sum(line.startswith("q") for line in whole["Columns"]) == 30
    assert len(whole["Noisy tables"]) > len(part["Noisy tables"]) == 21


@pytest.mark.parametrize("method", ["mosaic", "baskets"])
def test_every_output_has_the_same_sentence_about_accuracy(method: str, tmp_path: Path) -> None:
    release = released(method)
    line, *more = texts_of(release.manifest).accuracy
    assert str(release.accuracy) == dict(overview(release))["accuracy"] == line
    assert [tile.words for tile in tiles(release) if tile.name == "accuracy"] == [line]
    assert dict(sections(release))["Accuracy"] == [line, *more]
    assert line in release.statement
    assert line in (release.save(tmp_path / "out") / "registry.yaml").read_text(encoding="utf-8")
    assert facts(release)["accuracy"]["bought"] is True


# ---- verify -------------------------------------------------------------------------------------------------------


def of(key: str, change: Callable[[dict[str, Any]], Any]) -> Callable[[dict[str, Any]], Any]:
    return lambda document: change(document["accuracy"] if not key else document["accuracy"][key])


CHANGES: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "dropped": (lambda document: document.update(accuracy=None), "does not state"),
    "another share": (of("", lambda one: one.update(share=[1, 20])), "is not that of the parameters"),
    "too few records": (of("", lambda one: one.update(noisy_records=3)), "does not follow from the noisy number"),
    "not bought": (of("", lambda one: one.update(bought=False)), "does not follow"),
    "less noise": (of("apart", lambda one: one.update(rate=[1, 1])), "is not what the receipt paid for"),
    "more pairs together": (of("", lambda one: one.update(pairs_together=99)), "not those of the released tables"),
    "fewer pairs asked": (of("apart", lambda one: one.update(pairs=1)), "not those that the stated seed"),
    "fewer questions": (of("questions", lambda one: one["one_column"].update(q=1)), "not those that the stated seed"),
    "other questions": (of("", lambda one: one.update(workload="0" * 64)), "not those that the stated seed"),
    "one number less": (of("questions", lambda one: one.pop("one_column")), "is not what the receipt paid for"),
}


@pytest.fixture(scope="module")
def sound() -> cantle.Release:
    release = released("diffgen", n=400)
    assert problems(release) == []
    return release


@pytest.mark.parametrize("name", CHANGES)
def test_changes_of_the_accuracy_are_found(sound: cantle.Release, name: str) -> None:
    change, message = CHANGES[name]
    listed = problems(with_manifest(sound, change))
    assert any(message in one for one in listed), listed


def test_an_unpaid_accuracy_is_found(sound: cantle.Release) -> None:
    def unpaid(document: dict[str, Any]) -> None:
        for path in document["receipt"]["paths"]:
            for charge in path["charges"]:
                if charge["verb"] == "reserve":
                    charge["epsilon_nano"] -= 1
                    path["epsilon_nano"] -= 1

    assert any("did not pay for the accuracy once" in one for one in problems(with_manifest(sound, unpaid)))


def test_questions_about_other_records_are_found(sound: cantle.Release) -> None:
    shuffled = sound.records.sample(fraction=1.0, shuffle=True, seed=1)
    assert any("not those that the stated seed" in one for one in problems(with_parts(sound, records=shuffled)))


@pytest.mark.parametrize(
    "change",
    [
        of("", lambda one: one.update(share=[1, 0])),
        of("", lambda one: one.update(share=[2, 1])),
        of("", lambda one: one.update(bought=1)),
        of("apart", lambda one: one.update(pairs="0")),
        of("apart", lambda one: one.pop("rate")),
        of("questions", lambda one: one.update(four_columns=one["one_column"])),
        of("", lambda one: one.update(more=1)),
    ],
)
def test_malformed_accuracies_are_refused(sound: cantle.Release, change: Callable[[dict[str, Any]], Any]) -> None:
    with pytest.raises(VerifyError, match=r"release\.json"):
        with_manifest(sound, change)


def test_sampled_records_have_no_accuracy(sound: cantle.Release) -> None:
    """`sample` returns records only, because nothing was measured about them."""
    assert isinstance(sound.sample(10, seed=1), pl.DataFrame)

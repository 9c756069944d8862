"""Acceptance criteria: met, missed or undecided, by what a release measured privately; refused if they are unclear."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import cantle
from cantle.errors import SchemaError
from cantle.methods.own_error.accuracy import Accuracy, PairError, QuestionError
from cantle.release.statement import verdict
from cantle.release.verify import verify_folder
from cantle.schema.table import Criterion, criteria_of
from tests.release.people import SCHEMA, people

RATE = (1, 100)  # noise of scale 100 records; log 20 scales are 300


@pytest.fixture(scope="module")
def release() -> cantle.Release:
    return cantle.publish(people(60), SCHEMA, epsilon=1)


def decided(release: cantle.Release, criterion: Criterion, one: int, together: int | None, apart: int | None) -> str:
    """The verdict if these numbers had been measured of 100,000 records."""
    measured = Accuracy(
        bought=True,
        share=Fraction(1, 25),
        noisy_records=100_000,
        one_column=QuestionError(q=9, records=one, rate=RATE),
        together=None if together is None else PairError(pairs=3, records=together, rate=RATE),
        apart=None if apart is None else PairError(pairs=3, records=apart, rate=RATE),
    )
    summary = {"records": 100_000}
    return verdict(criterion, replace(release.manifest, accuracy=measured, summary=summary)).split(",")[0]


@pytest.mark.parametrize(
    ("one", "said"), [(699, "**met**"), (702, "**undecided**"), (1298, "**undecided**"), (1302, "**missed**")]
)
def test_one_column_is_decided_beyond_three_scales_of_noise(one: int, said: str, release: cantle.Release) -> None:
    assert decided(release, Criterion(1, 0.01), one, 0, 0) == said


@pytest.mark.parametrize(
    ("together", "apart", "said"),
    [
        (300, 300, "**met**"),
        (300, 1_100, "**missed**"),
        (1_100, 300, "**missed**"),
        (300, 600, "**undecided**"),
        (None, 300, "**met**"),
        (None, None, "**undecided**"),
    ],
)
def test_pairs_must_hold_both_where_they_were_measured_together_and_elsewhere(
    together: int | None, apart: int | None, said: str, release: cantle.Release
) -> None:
    assert decided(release, Criterion(2, 0.01), 0, together, apart) == said


def test_statement_and_overview_say_it_and_the_release_verifies(tmp_path: Path) -> None:
    dice = np.random.default_rng(1)
    table = pl.DataFrame({"a": dice.integers(0, 4, 20_000), "b": dice.integers(0, 4, 20_000)})
    bounds = {"minimum": 0, "maximum": 3}
    schema: dict[str, Any] = {
        "fields": [{"name": name, "type": "integer", "constraints": bounds} for name in table.columns],
        "criteria": [{"questions": "one column", "within": 0.2}, {"questions": "two columns", "within": 0.00001}],
    }
    release = cantle.publish(table, schema, epsilon=2)
    assert "* A share of 10 % must be right to ±20 percentage points in one column: **met**\n" in release.statement
    assert "±0.001 percentage points in two columns: **" in release.statement
    assert "in one column: met" in release._repr_html_()
    assert verify_folder(release.save(tmp_path / "out")) == []
    unmeasured = cantle.publish(table, schema, epsilon=2, accuracy_share=0)
    assert "in one column: **undecided**, because the error was not measured" in unmeasured.statement


@pytest.mark.parametrize(
    "criteria",
    [
        "two columns",
        [{"questions": "two columns"}],
        [{"questions": "three columns", "within": 0.1}],
        [{"questions": "one column", "within": 1}],
        [{"questions": "one column", "within": "1 %"}],
        [{"questions": "one column", "within": 0.1, "often": 1}],
        [{"questions": ["one column"], "within": 0.1}],
        ["one column"],
    ],
)
def test_unclear_criteria_are_refused_with_the_schema(criteria: Any) -> None:
    with pytest.raises(SchemaError, match="criteri"):
        cantle.Schema.from_dict(SCHEMA | {"criteria": criteria})
    assert criteria_of(SCHEMA) == []

"""Groups of items in mosaic: answers that hang together, at the price of counting each item alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import cantle
from cantle.drawing.counts import Floats
from cantle.errors import VerifyError
from cantle.methods.mosaic.model.items import Items, item_shares, strength
from cantle.methods.mosaic.model.noisy_tables import NoisyTable, rising_together
from cantle.release.structures.tables import released_tables
from cantle.schema.table import TableSchema

ITEMS = [f"w{number}" for number in range(1, 13)]
GROUPS = {"worry": [f"-{name}" if number % 4 == 3 else name for number, name in enumerate(ITEMS)]}


def survey(records: int = 6_000, nulls: float = 0.1) -> pl.DataFrame:
    """Twelve answers from 1 to 5 to one hidden cause, of which three are worded the other way round, and the age."""
    dice = np.random.default_rng(4)
    cause = dice.normal(size=records)
    columns: dict[str, Any] = {"old": (cause + dice.normal(size=records) > 0).astype(int)}
    for number, name in enumerate(ITEMS):
        raw = 0.7 * cause + 0.7 * dice.normal(size=records)
        answer = 1 + np.digitize(-raw if number % 4 == 3 else raw, [-1, -0.2, 0.5, 1.1])
        columns[name] = [
            None if missing else int(one) for one, missing in zip(answer, dice.random(records) < nulls, strict=True)
        ]
    return pl.DataFrame(columns)


def schema(groups: object = GROUPS) -> dict[str, Any]:
    item = {"type": "integer", "constraints": {"minimum": 1, "maximum": 5}}
    old = {"name": "old", "type": "integer", "constraints": {"minimum": 0, "maximum": 1, "required": True}}
    return {"fields": [old, *({"name": name, **item} for name in ITEMS)], **({"groups": groups} if groups else {})}


def sums(frame: pl.DataFrame) -> np.ndarray:
    parts = [6 - pl.col(name) if number % 4 == 3 else pl.col(name) for number, name in enumerate(ITEMS)]
    return frame.select(pl.sum_horizontal(part.fill_null(3) for part in parts)).to_series().to_numpy()


@pytest.fixture(scope="module")
def release() -> cantle.Release:
    return cantle.publish(survey(), schema(), epsilon=1, insecure_seed=3)


def test_answers_of_a_group_hang_together_and_with_other_columns(release: cantle.Release) -> None:
    data, drawn = survey(), pl.DataFrame(release.records)
    assert drawn.columns == data.columns
    assert sums(drawn).std() == pytest.approx(sums(data).std(), rel=0.1)
    pairs = [("w1", "w2"), ("w1", "w4"), ("w5", "w12")]
    for pair in pairs:
        kept, true = (frame.select(pl.corr(*pair)).item() for frame in (drawn, data))
        assert kept == pytest.approx(true, abs=0.12)
    raw, kept = (np.corrcoef(frame["old"], sums(frame))[0, 1] for frame in (data, drawn))
    assert kept > 0.6 * raw


def test_each_answer_keeps_its_counts(release: cantle.Release) -> None:
    for name in ITEMS:
        data, drawn = (
            frame[name].value_counts().sort(name)["count"].to_numpy().astype(int)
            for frame in (survey(), release.records)
        )
        assert np.abs(data - drawn).sum() / 2 < 0.06 * 6_000


def test_the_release_is_verified_answers_questions_and_draws_more(release: cantle.Release) -> None:
    release.verify()
    assert release.count("w1 <= 2").value == pytest.approx(survey().filter(pl.col("w1") <= 2).height, abs=400)
    again = pl.DataFrame(release.sample(2_000, seed=1))
    assert sums(again).std() == pytest.approx(sums(release.records).std(), rel=0.1)
    asked = [about["columns"] for about in release.manifest.structure["tables"] if about["why"] == "items of groups"]
    assert asked == [[name] for name in ITEMS]


def test_other_items_than_those_of_the_schema_are_noticed(release: cantle.Release) -> None:
    tables = release.manifest.structure["tables"]
    first = next(about for about in tables if about["why"] == "items of groups")
    columns = first["columns"]
    try:
        first["columns"] = ["w2"]
        with pytest.raises(VerifyError, match="items of groups"):
            released_tables(release)._with_items([], np.random.default_rng())  # type: ignore[arg-type]
    finally:
        first["columns"] = columns


def test_every_engine_counts_the_same_scores(tmp_path: Path) -> None:
    data = survey(1_500).with_row_index("who").with_columns(pl.col("who") // 2)
    data.write_csv(tmp_path / "data.csv")
    document = schema()
    document["fields"].append({"name": "who", "type": "integer", "role": "identifier"})
    of_persons = document | {"unit": {"person": "who", "max_records": 2}}
    for one in (document, of_persons):
        both = [
            cantle.publish(tmp_path / "data.csv", one, epsilon=1, insecure_seed=3, engine=engine)
            for engine in ("memory", "duckdb")
        ]
        frames = [pl.DataFrame(release.records) for release in both]
        assert frames[0].equals(frames[1])


def test_groups_leave_tables_without_them_as_they_are() -> None:
    domain = TableSchema.from_dict(schema(None)).domain()
    assert domain.with_scores() == domain


def test_the_strength_is_that_with_which_the_sum_varies_as_much() -> None:
    """Two values, as many answers of both: with correlation r of the cause, pairs covary by arcsin(r^2) / (2 pi)."""
    shares = np.full((10, 2), 0.5)
    part = 0.6
    spread = 10 / 4 + 90 * np.arcsin(part**2) / (2 * np.pi)
    assert strength(shares, np.zeros(10), float(spread)) == pytest.approx(part, abs=0.03)
    assert strength(shares, np.zeros(10), 2.0) == pytest.approx(0, abs=0.01)  # answers cannot be that different


def test_counts_that_differ_by_noise_only_become_alike() -> None:
    dice, worth = np.random.default_rng(1), np.array([0, 1, 2])
    group = Items(0, tuple(range(1, 31)), (worth,) * 30, 3, 1)
    same = [(np.array([200, 500, 300]) + dice.normal(0, 50, 3)).astype(np.int64) for _ in range(30)]
    shares = item_shares(group, same, 2500.0, 1_000.0)
    assert np.abs(shares[:, :3] - [0.2, 0.5, 0.3]).max() < 0.03
    assert not shares[:, 3].any()
    apart = [np.array([700, 200, 100]) if number % 2 else np.array([100, 200, 700]) for number in range(30)]
    assert item_shares(group, apart, 2500.0, 1_000.0)[1, 0] == pytest.approx(0.7, abs=0.02)


def test_turned_answers_are_put_in_the_order_of_their_worth() -> None:
    group = Items(0, (1, 2, 3), (np.array([0, 1, 2, 1]), np.array([2, 1, 0]), np.array([0, 1, 2])), 3, 1)
    noisy = [np.array([100, 200, 600, 100]), np.array([700, 200, 100]), np.array([100, 200, 700])]
    shares = item_shares(group, noisy, 1e-6, 1_000.0)
    assert shares[1] == pytest.approx([0.1, 0.2, 0.7, 0], abs=1e-6)
    assert shares[0] == pytest.approx([0.1, 0.2, 0.6, 0.1], abs=1e-6)


def test_scores_of_two_groups_are_related_with_few_records_too() -> None:
    data = survey(6_000, nulls=0)
    groups = {"first": GROUPS["worry"][:6], "second": GROUPS["worry"][6:]}
    release = cantle.publish(data, schema(groups), epsilon=1, insecure_seed=3)
    release.verify()
    assert sum(about["why"] == "pairs of scores" for about in release.manifest.structure["tables"]) == 1

    def of_halves(frame: pl.DataFrame) -> float:
        signs = np.array([-1 if number % 4 == 3 else 1 for number in range(len(ITEMS))])
        answers = frame.select(ITEMS).fill_null(3).to_numpy() * signs
        return float(np.corrcoef(answers[:, :6].sum(axis=1), answers[:, 6:].sum(axis=1))[0, 1])

    assert of_halves(pl.DataFrame(release.records)) > 0.6 * of_halves(data)


def test_a_correlation_stands_out_of_noise_in_which_no_cell_does() -> None:
    dice, sides = np.random.default_rng(5), (np.full(5, 2_000.0), np.full(5, 2_000.0))
    ranks = (np.arange(5) - 2) / 2**0.5
    true = 400 * (1 + 0.4 * np.outer(ranks, ranks) / 2)

    def off(expected: Floats, sd: float) -> tuple[float, float]:
        """How far the noisy counts are off in the mean, and how far what is made of them."""
        noisy = [NoisyTable((0, 1), (5, 5), expected + sd * dice.standard_normal((5, 5)), sd**2) for _ in range(40)]
        made = [rising_together(one, sides) for one in noisy]
        assert np.mean([one.variance for one in made]) < sd**2
        return tuple(float(np.mean([(one.counts - expected) ** 2 for one in each])) ** 0.5 for each in (noisy, made))  # type: ignore[return-value]

    given, kept = off(true, 150)
    assert kept < 0.4 * given
    given, kept = off(true, 1)
    assert kept <= 1.05 * given  # without noise the counts stay as they are
    one_cell = np.full((5, 5), 400.0)
    one_cell[1, 3], one_cell[1, 1] = 900, -100
    given, kept = off(one_cell, 50)
    assert kept <= 1.05 * given  # what is no correlation is kept too

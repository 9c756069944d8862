"""Scores of generalised records: weights equal repetitions, codes of cuts, baselines."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from cantle.errors import DataError
from cantle_lab.papers import classify, generalised
from cantle_lab.papers.classify import C45
from cantle_lab.papers.coding import Coded, Coder

SCHEMA: dict[str, Any] = {
    "fields": [
        {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 99}},
        {"name": "job", "type": "string", "categories": ["Dancer", "Engineer", "Lawyer", "Writer"]},
        {"name": "id", "type": "string", "role": "identifier"},
        {"name": "y", "type": "string", "categories": ["no", "yes"], "role": "target"},
    ]
}


class Cut:
    """A release with ages cut at 30 and 100 (nobody is that old) and jobs in two groups, with the true counts."""

    def __init__(self, train: pl.DataFrame) -> None:
        self.cells = self.generalise(train).with_columns(train["y"]).group_by(pl.all()).agg(count=pl.len())

    def generalised(self) -> pl.DataFrame:
        return self.cells

    def generalise(self, frame: pl.DataFrame, /) -> pl.DataFrame:
        art = pl.col("job").is_in(["Dancer", "Writer"])
        return frame.select(
            age=pl.when(pl.col("age") < 30).then(pl.lit("[0, 30)")).otherwise(pl.lit("[30, 100)")),
            job=pl.when(art).then(pl.lit("Artist")).otherwise(pl.lit("Professional")),
        )


def people(count: int, seed: int) -> pl.DataFrame:
    """People whose class is yes for artists under 30, and for nobody else."""
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "age": rng.integers(0, 100, count),
            "job": rng.choice(["Dancer", "Engineer", "Lawyer", "Writer"], count),
        }
    )
    young_artist = (pl.col("age") < 30) & pl.col("job").is_in(["Dancer", "Writer"])
    return frame.with_columns(y=pl.when(young_artist).then(pl.lit("yes")).otherwise(pl.lit("no")))


def random_table(rng: np.random.Generator, rows: int) -> tuple[Coder, Coded]:
    coder = Coder(SCHEMA)
    codes = np.column_stack([rng.integers(0, 6, rows), rng.integers(0, 4, rows)])
    noisy = (codes[:, 0] >= 3) ^ (codes[:, 1] == 2) ^ (rng.random(rows) < 0.3)
    return coder, Coded(codes, noisy.astype(np.int64))


@pytest.mark.parametrize("seed", range(60))
def test_weights_equal_repetitions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    coder, table = random_table(rng, int(rng.integers(1, 80)))
    weights = rng.integers(0, 4, len(table))
    weighted, repeated = C45(coder), C45(coder)
    weighted.fit(table, weights)
    repeated.fit(table.take(np.repeat(np.arange(len(table)), weights)))
    a, b = weighted._tree, repeated._tree
    for name in ("feature", "threshold", "left", "right", "counts"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


def test_a_leaf_needs_weight_two() -> None:
    coder = Coder(SCHEMA)
    table = Coded(np.array([[10, 0], [20, 0]]), np.array([0, 1]))
    for weights, leaves in (([1, 1], 1), ([2, 1], 1), ([1, 9], 1), ([2, 2], 2)):
        model = C45(coder)
        model.fit(table, np.array(weights))
        grown = int((model._tree.feature < 0).sum())
        assert grown <= leaves
        assert model._tree.counts[0].tolist() == weights


def test_a_cut_that_fits_classifies_perfectly() -> None:
    train, test = people(400, 1), people(200, 2)
    scores = generalised.measure(Cut(train), test, SCHEMA)
    assert scores == {"accuracy": 1.0, "balanced accuracy": 1.0, "AUC": 1.0}


def test_codes_follow_the_order_of_intervals() -> None:
    frame = pl.DataFrame({"age": ["[9, 30)", "[30, 100)", "[0, 9)"], "job": ["b", "a", "a"], "y": ["no", "no", "yes"]})
    coder = generalised.cut_coder(SCHEMA, frame)
    assert coder.encode(frame).codes.T.tolist() == [[1, 2, 0], [1, 0, 0]]
    assert [grid.kind for grid in coder.attributes] == ["ordered", "nominal"]


def test_labels_of_test_records_that_were_not_released_have_codes() -> None:
    train = people(400, 1).filter(pl.col("age") < 30)
    scores = generalised.measure(Cut(train), people(200, 2), SCHEMA)
    assert 0 < scores["accuracy"] < 1


def test_an_empty_release_has_the_score_of_a_guess() -> None:
    empty = Cut(people(10, 1))
    empty.cells = empty.cells.head(0)
    scores = generalised.measure(empty, people(200, 2), SCHEMA)
    assert scores["AUC"] == 0.5
    assert scores["balanced accuracy"] == 0.5


def test_dropped_test_records_and_a_missing_target_are_refused() -> None:
    class Dropping(Cut):
        def generalise(self, frame: pl.DataFrame, /) -> pl.DataFrame:
            return super().generalise(frame).head(3)

    with pytest.raises(DataError, match="not as many"):
        generalised.measure(Dropping(people(3, 1)), people(5, 2), SCHEMA)
    no_target = {"fields": SCHEMA["fields"][:2]}
    with pytest.raises(DataError, match="role: target"):
        generalised.measure(Cut(people(9, 1)), people(5, 2), no_target)


def test_scores_of_raw_data_and_of_the_majority() -> None:
    train, test = people(400, 1), people(200, 2)
    assert generalised.measure_raw(train, test, SCHEMA)["accuracy"] > 0.97
    share = float((test["y"] == "no").mean())  # type: ignore[arg-type]
    expected = {"accuracy": share, "balanced accuracy": 0.5, "AUC": 0.5}
    assert generalised.majority(train, test, SCHEMA) == pytest.approx(expected)


def test_splits_cover_all_records_once() -> None:
    learn, held = classify.halves(100, 3)
    assert (len(learn), len(held)) == (66, 34)
    assert sorted([*learn, *held]) == list(range(100))
    folds = classify.folds(100, 10, 3)
    assert sorted(np.concatenate([held for _, held in folds])) == list(range(100))
    assert all(len(learn) == 90 and not set(learn) & set(held) for learn, held in folds)

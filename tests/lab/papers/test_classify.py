"""Classifiers of the evaluation: Naive Bayes and pruning by hand, scores, folds, and a check on the real data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy

from cantle.errors import ParameterError
from cantle_lab.papers import adult, classify, generalised
from cantle_lab.papers.classify import C45, NaiveBayes, Tree, auc, balanced_accuracy, upper_error
from cantle_lab.papers.coding import Coded, Coder
from cantle_lab.papers.rps_figures import cross_validate

TARGET = {"name": "y", "type": "string", "categories": ["no", "yes"], "role": "target"}
NUMBER = {"name": "n", "type": "integer", "constraints": {"minimum": 0, "maximum": 9}}
COLOUR = {"name": "c", "type": "string", "categories": ["red", "green", "blue"]}


def coder(*fields: dict[str, Any]) -> Coder:
    return Coder({"fields": [*fields, TARGET]})


def table(columns: list[list[int]], labels: list[int]) -> Coded:
    return Coded(np.array(columns, dtype=np.int64).T, np.array(labels, dtype=np.int64))


def test_naive_bayes_by_hand() -> None:
    model = NaiveBayes(coder(COLOUR))
    model.fit(table([[0, 0, 1, 2]], [0, 0, 0, 1]))
    # prior (3+1) : (1+1); red given no (2+1)/(3+3), given yes (0+1)/(1+3)
    no, yes = 4 * 3 / 6, 2 * 1 / 4
    assert model.proba(np.array([[0]]))[0] == pytest.approx([no / (no + yes), yes / (no + yes)])


def test_naive_bayes_gaussian_by_hand() -> None:
    model = NaiveBayes(coder(NUMBER))
    model.fit(table([[1, 3, 6, 8]], [0, 0, 1, 1]))
    # equal priors, means 2 and 7, deviations 1: at 4 the odds are exp(-2) : exp(-4.5)
    assert model.proba(np.array([[4]]))[0, 1] == pytest.approx(1 / (1 + np.exp(2.5)))


@pytest.mark.parametrize("build", [NaiveBayes, C45])
def test_an_empty_release_gives_equal_probabilities(build: Any) -> None:
    model = build(coder(NUMBER, COLOUR))
    model.fit(table([[], []], []))
    assert model.proba(np.array([[4, 1]]))[0] == pytest.approx([0.5, 0.5])


@pytest.mark.parametrize("build", [NaiveBayes, C45])
def test_a_release_of_one_class_predicts_that_class(build: Any) -> None:
    model = build(coder(NUMBER))
    model.fit(table([[1, 2, 3]], [1, 1, 1]))
    assert model.proba(np.array([[2]])).argmax() == 1


@pytest.mark.parametrize(("errors", "size", "rate"), [(0, 6, 0.206), (0, 9, 0.143), (0, 1, 0.750), (1, 16, 0.157)])
def test_upper_errors_equal_those_that_quinlan_prints(errors: int, size: int, rate: float) -> None:
    got = upper_error(np.array([errors]), np.array([size]))[0]
    assert got == pytest.approx(rate, abs=6e-4)
    assert scipy.stats.binom.cdf(errors, size, got) == pytest.approx(0.25, abs=0.01)  # it approximates a binomial bound


def quinlan_subtree(counts: list[tuple[int, int]]) -> Tree:
    """A root with a left leaf and a right node of two leaves, with these counts of the three leaves."""
    a, b, c = map(np.array, counts)
    return Tree(
        feature=np.array([0, -1, 0, -1, -1]),
        threshold=np.array([0.5, 0, 1.5, 0, 0]),
        left=np.array([1, -1, 3, -1, -1]),
        right=np.array([2, -1, 4, -1, -1]),
        counts=np.array([a + b + c, a, b + c, b, c], dtype=np.float64),
    )


def test_pruning_replaces_the_subtree_of_quinlans_example() -> None:
    # Quinlan 1993, section 4.2: leaves (6), (9), (1) of one class predict 6*.206 + 9*.143 + .75 = 3.273
    # errors, a leaf of 15 to 1 predicts 16*.157 = 2.512: the subtree is replaced
    tree = quinlan_subtree([(6, 0), (9, 0), (0, 1)])
    tree.prune(0.25)
    assert tree.leaves == 1


def test_pruning_keeps_a_useful_subtree() -> None:
    # as a leaf, the inner node of 10 + 10 costs about 20 * .6; its two pure leaves cost 2 * 10 * .129
    tree = quinlan_subtree([(50, 0), (10, 0), (0, 10)])
    tree.prune(0.25)
    assert tree.leaves == 3
    assert tree.apply(np.array([[0.0], [1.0], [2.0]])).tolist() == [1, 3, 4]


def test_c45_finds_a_rule_and_prunes_noise() -> None:
    rng = np.random.default_rng(0)
    colour, number = rng.integers(0, 3, 2_000), rng.integers(0, 10, 2_000)
    labels = ((colour == 1) & (number >= 4)).astype(np.int64)
    model = C45(coder(NUMBER, COLOUR))
    model.fit(table([list(number), list(colour)], list(labels)))
    assert model.leaves == 3
    noise = C45(coder(NUMBER, COLOUR))
    noise.fit(table([list(number), list(colour)], list(rng.permutation(2_000) < 200)))
    assert noise.leaves == 1
    assert noise.proba(np.array([[0, 0]]))[0] == pytest.approx([1801 / 2002, 201 / 2002])


def test_scores_by_hand() -> None:
    labels = np.array([0, 0, 0, 1])
    proba = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.3, 0.7]])
    assert classify.accuracy(labels, proba) == 0.75
    assert balanced_accuracy(labels, proba) == pytest.approx((2 / 3 + 1) / 2)
    assert auc(labels, proba) == pytest.approx((1 + 1 + 0.5) / 3)
    assert auc(labels[:3], proba[:3]) == 0.5


def small_frame(rows: int = 100) -> tuple[pl.DataFrame, dict[str, Any]]:
    frame = pl.DataFrame({"id": range(rows), "y": ["yes" if i % 4 == 0 else "no" for i in range(rows)]})
    number = {"name": "id", "type": "integer", "constraints": {"minimum": 0, "maximum": rows - 1}}
    return frame, {"fields": [number, TARGET]}


def parts(frame: pl.DataFrame) -> list[pl.DataFrame]:
    """The records of all folds but one, for each."""
    return [frame[kept] for kept, _ in classify.folds(frame.height, 5, 3)]


def test_folds_are_held_out_and_cover_all_records() -> None:
    frame, schema = small_frame()
    held = [set(range(100)) - set(part["id"].to_list()) for part in parts(frame)]
    assert [len(fold) for fold in held] == [20] * 5
    assert set().union(*held) == set(range(100))
    scores = cross_validate(frame, schema, parts(frame), 3)
    assert len(scores) == len(classify.CLASSIFIERS) * len(classify.SCORES) + 1
    assert scores == cross_validate(frame, schema, parts(frame), 3)
    assert scores["TVD1"] == 0.0


def test_classifiers_are_tested_on_raw_records() -> None:
    frame, schema = small_frame()
    liar = cross_validate(frame, schema, parts(frame.with_columns(y=pl.lit("yes"))), 3)
    assert [liar["a: NB accuracy"], liar["b: C4.5* accuracy"]] == pytest.approx([0.25, 0.25])
    assert [liar["NB balanced accuracy"], liar["C4.5* balanced accuracy"]] == pytest.approx([0.5, 0.5])
    with pytest.raises(ParameterError, match="folds"):
        classify.folds(100, 1, 3)


def test_the_evaluator_measures_what_it_did_when_the_figures_were_made(real_data: Path) -> None:
    table, schema = adult.load(real_data, "all"), adult.schema("all")
    halves = [classify.halves(table.height, seed) for seed in range(3)]
    scores = [generalised.measure_raw(table[learn], table[held], schema)["accuracy"] for learn, held in halves]
    assert np.mean(scores) == pytest.approx(0.847, abs=0.003)

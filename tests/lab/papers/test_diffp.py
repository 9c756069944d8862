"""DiffP-C4.5: scores by brute force, a separable table with a huge epsilon, and effects of noise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cantle.errors import ParameterError
from cantle_lab.papers.classify import scores
from cantle_lab.papers.coding import Coded, Coder
from cantle_lab.papers.diffp import DiffPC45, threshold_scores

SCHEMA: dict[str, Any] = {
    "fields": [
        {"name": "n", "type": "integer", "constraints": {"minimum": 0, "maximum": 99}},
        {"name": "c", "type": "string", "categories": ["red", "green", "blue"]},
        {"name": "y", "type": "string", "categories": ["no", "yes"], "role": "target"},
    ]
}


def table(rows: int, seed: int) -> Coded:
    """A table whose class is yes for green, and for blue from 40 on."""
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, 100, rows), rng.integers(0, 3, rows)])
    labels = (codes[:, 1] == 1) | ((codes[:, 1] == 2) & (codes[:, 0] >= 40))
    return Coded(codes, labels.astype(np.int64))


def model(epsilon: float, **options: Any) -> DiffPC45:
    return DiffPC45(Coder(SCHEMA), epsilon=epsilon, rng=np.random.default_rng(0), **options)


def test_scores_of_thresholds_agree_with_brute_force() -> None:
    rng = np.random.default_rng(1)
    values, labels = rng.integers(3, 18, 12), rng.integers(0, 3, 12)
    scores, first, wide = threshold_scores(values, labels, 3, 0, 20)
    assert np.repeat(scores, wide).tolist() == [
        sum(np.bincount(labels[side], minlength=3).max() for side in (values < t, values >= t)) for t in range(1, 20)
    ]
    assert first.tolist() == [1, *(first[:-1] + wide[:-1]).tolist()]


@pytest.mark.parametrize("joint", [True, False])
def test_a_huge_epsilon_separates_the_classes(joint: bool) -> None:
    tree = model(1e6, joint=joint)
    tree.fit(table(2_000, 1))
    assert scores(tree, table(500, 2))["accuracy"] > 0.99
    assert tree.leaves >= 4


def test_shares_of_the_budget_and_depth_of_the_tree() -> None:
    assert model(1.2, depth=5).share == pytest.approx(0.1)  # 2 (depth + 1) questions
    assert model(1.7, depth=5, joint=False).share == pytest.approx(
        0.1
    )  # one more question per level for the single number
    stump = model(1e6, depth=0)
    stump.fit(table(2_000, 1))
    assert stump.leaves == 1
    one = model(1e6, depth=1)
    one.fit(table(2_000, 1))
    assert one.leaves == 3  # colour splits into all its values


def test_a_noisy_count_stops_the_growth() -> None:
    # at a share of 1/12, 2000 / (3 branches x 2 classes) is above sqrt(2) x 12, and 60 / 6 is far below
    small, large = model(1.0), model(1.0)
    small.fit(table(60, 1))
    large.fit(table(2_000, 1))
    assert small.leaves == 1
    assert large.leaves > 1


def test_a_small_epsilon_still_gives_probabilities() -> None:
    tree = model(1e-3)
    tree.fit(table(200, 1))
    proba = tree.proba(table(50, 2).codes)
    assert (proba > 0).all()
    assert proba.sum(axis=1) == pytest.approx(np.ones(50))


def test_an_empty_table_and_repeated_seeds() -> None:
    empty = model(1.0)
    empty.fit(table(0, 1))
    assert empty.leaves == 1
    runs = []
    for _ in range(2):
        tree = model(2.0)
        tree.fit(table(3_000, 1))
        runs.append(tree.proba(table(50, 2).codes).tolist())
    assert runs[0] == runs[1]


def test_parameters_are_checked() -> None:
    with pytest.raises(ParameterError, match="epsilon must be positive"):
        model(0)
    with pytest.raises(ParameterError, match="depth 0 or more"):
        model(1, depth=-1)

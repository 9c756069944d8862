"""The label model of several classes: its fit, its tree, its draws, and when it is used."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from cantle.methods.mosaic import plan as rules
from cantle.methods.mosaic.model import label_classes, label_fit
from cantle.methods.mosaic.model.label_tree import label_tree
from cantle.methods.mosaic.model.table_sets import candidates

TRUTH = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.05, 0.05, 0.9], [0.34, 0.33, 0.33]])
"""Classes by cell."""


def test_the_model_recovers_the_classes_of_each_cell() -> None:
    cell = np.random.default_rng(1).integers(4, size=6_000)
    block = label_fit.Block(cell, TRUTH * 10_000, 50.0, (), 10.0)
    fitted = label_classes.fit([block], label_fit)
    p = fitted.probability(label_fit.stack([np.arange(4)], fitted.starts), label_fit)
    assert p == pytest.approx(TRUTH.T, abs=0.02)
    assert p.sum(axis=0) == pytest.approx(1)


def test_a_class_that_is_nearly_certain_does_not_make_the_fit_diverge() -> None:
    cell = np.random.default_rng(3).integers(2, size=3_000)
    counts = np.array([[10_000.0, 3.0, -2.0], [9_990.0, -4.0, 5.0]])
    block = label_fit.Block(cell, counts, 200.0, (), 0.3)
    fitted = label_classes.fit([block], label_fit, label_classes.fit([block], label_fit))
    assert np.isfinite(fitted.effects).all()
    assert fitted.probability(label_fit.stack([np.arange(2)], fitted.starts), label_fit)[0].min() > 0.99


def test_drawn_classes_have_the_known_shares_and_follow_their_probabilities() -> None:
    dice = np.random.default_rng(4)
    cell = np.repeat(np.arange(4), 5_000)
    shares = np.array([0.3, 0.3, 0.4])
    labels = label_classes.redraw(TRUTH[cell].T.copy(), shares, dice)
    assert np.bincount(labels, minlength=3) / len(labels) == pytest.approx(shares, abs=0.002)
    most = [np.bincount(labels[cell == one], minlength=3).argmax() for one in range(3)]
    assert most == [0, 1, 2]


def test_the_tree_of_several_classes_separates_them_and_cuts_categories_by_their_classes() -> None:
    dice = np.random.default_rng(5)
    cells = [dice.integers(6, size=3_000), dice.integers(4, size=3_000)]
    soft = TRUTH[[0, 1, 0, 1, 2, 2]][cells[0]].T
    tree = label_tree(cells, [6, 4], [False, False], soft, 3)
    assert tree.leaves == 3
    leaf = tree.locate(cells)
    assert [len(set(leaf[np.isin(cells[0], group)])) for group in ([0, 2], [1, 3], [4, 5])] == [1, 1, 1]


@pytest.mark.parametrize(("classes", "records", "labelled"), [(2, 20_000, True), (5, 20_000, True), (5, 1_000, False),
                                                              (8, 2_500, True), (8, 1_500, False)])  # fmt: skip
def test_the_label_step_needs_enough_records_per_class(classes: int, records: int, labelled: bool) -> None:
    start = rules.opening(records, 1.0, 0, [4] * 5, Fraction(1, 25))
    made = rules.plan(start, [4] * 5, 6, classes, hub_asked=False, hub=False)
    assert (made.label > 0) == labelled
    assert not rules.plan(start, [4] * 5, 6, classes, hub_asked=False, hub=True).label


def test_chosen_tables_keep_all_classes_of_the_target() -> None:
    found = candidates([5, 9, 9, 9], 0, with_lead=True, cap=60, taken=set(), dice=np.random.default_rng(6))
    with_target = [groups[members.index(0)] for members, groups in found if 0 in members]
    assert with_target
    assert set(with_target) == {5}

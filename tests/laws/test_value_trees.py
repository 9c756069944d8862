"""Claim 49: trees over values that are grown inside the curator, with their tests, charges and leaves."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cantle.errors import BudgetExceeded, ParameterError
from cantle.trusted.claims.value_trees import ValueTrees
from cantle.trusted.core.budget import NANO, Budget, Unit
from cantle.trusted.core.curator import Curator
from cantle.trusted.core.stop_test import PrivTree, lifetime_bound
from cantle.trusted.noise import Seeded
from tests.laws.tables_of_cells import engine_of

SIZES = (17, 3)
ROOT = np.array([0, 1, 9, 16])
"""The edges of the root cells of column 0, which has 16 values and null."""


def curator_of(records: Any, *, unit: int = 1, epsilon: int = 100 * NANO) -> Curator:
    return Curator(engine_of(tuple(records), SIZES), Budget(epsilon, Unit(unit)), Seeded(1))


@pytest.mark.parametrize("unit", [1, 3])
def test_every_tree_is_charged_its_lifetime_bound_at_once(unit: int) -> None:
    stop = PrivTree.within(3 * NANO, 10, 2, unit)
    trees = ValueTrees((0, 1), (ROOT, np.array([0, 3])), SIZES)
    with curator_of([(3, 0)], unit=unit) as curator:
        root = curator.root()
        curator.grow(root, trees, stop, why="trees")
        lifetime = lifetime_bound(stop.epsilon_nano, stop.delta, unit)
        assert 100 * NANO - curator.left(root)[0] == 2 * lifetime
        charge = curator.seal()["paths"][0]["charges"][0]
        assert (charge["verb"], charge["sensitivity"]) == ("grow", 2 * unit)


def test_trees_that_exceed_the_budget_are_not_grown() -> None:
    stop = PrivTree.within(3 * NANO, 10)
    with curator_of([(3, 0)], epsilon=4 * NANO) as curator, pytest.raises(BudgetExceeded):
        curator.grow(curator.root(), ValueTrees((0, 1), (ROOT, np.array([0, 3])), SIZES), stop, why="trees")


def test_cells_with_many_records_are_halved() -> None:
    """At a high rate noise does not matter: cells of more than theta + d * delta records are halved."""
    records = [(12, 0)] * 200 + [(16, 1)] * 500  # the last 500 are null, which is in no cell
    stop = PrivTree(20, 1, 20 * NANO)
    with curator_of(records) as curator:
        (edges,) = curator.grow(curator.root(), ValueTrees((0,), (ROOT,), SIZES), stop, why="trees")
    assert edges.tolist() == [0, 1, 9, 12, 13, 14, 16]


def test_the_tests_of_a_path_are_numbered_from_0() -> None:
    """The bias grows by delta per test: with delta = 60 a path of 200 records is split at tests 0, 1 and 2."""
    records = [(12, 0)] * 200
    with curator_of(records) as curator:
        trees = ValueTrees((0,), (np.array([0, 16]),), SIZES)
        (edges,) = curator.grow(curator.root(), trees, PrivTree(50, 60, 20 * NANO), why="trees")
    assert edges.tolist() == [0, 8, 12, 14, 16]


@pytest.mark.parametrize("trees", [
    ValueTrees((0, 0), (ROOT, ROOT), SIZES),
    ValueTrees((0,), (np.array([0, 9]),), SIZES),
    ValueTrees((0,), (np.array([0, 9, 9, 16]),), SIZES),
    ValueTrees((2,), (ROOT,), SIZES),
    ValueTrees((), (), SIZES),
    ValueTrees((0,), (ROOT,), (16, 3)),
])  # fmt: skip
def test_trees_without_a_proof_are_refused(trees: ValueTrees) -> None:
    with curator_of([(3, 0)]) as curator:
        with pytest.raises(ParameterError):
            curator.grow(curator.root(), trees, PrivTree(5, 1, NANO), why="bad")
        assert curator.left(curator.root())[0] == 100 * NANO


def test_only_the_unsplit_root_fits() -> None:
    engine = engine_of((), SIZES)
    trees, root = ValueTrees((0,), (ROOT,), SIZES), engine.root()
    assert trees.fits(root, engine.domain)
    assert not trees.fits(replace(root, depth=1), engine.domain)

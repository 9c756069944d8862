"""The public part of mosaic: cells, groupings, smoothing, budget rules, and kernels compared with plain code."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from cantle.drawing.column_cells import (
    Column,
    largest_spikes,
    split_edges,
    starting_edges,
    with_null,
    with_single_values,
)
from cantle.drawing.smooth import combine, project, segments, smooth
from cantle.methods.mosaic import plan as rules
from cantle.methods.mosaic.model import conditionals, label_classes, label_fit
from cantle.methods.mosaic.model.classes import CLASSES, learn_classes
from cantle.methods.mosaic.model.conditionals import Places
from cantle.methods.mosaic.model.estimates import draw_values, steepness
from cantle.methods.mosaic.model.generate import Model, generate
from cantle.methods.mosaic.model.groupings import Groupings, barriers
from cantle.methods.mosaic.model.label_tree import label_tree
from cantle.methods.mosaic.model.noisy_tables import NoisyTable
from cantle.methods.mosaic.model.table_sets import Survivors, candidates
from cantle.trusted.geometry.value_classes import ValueClasses


def test_wide_columns_have_single_cells_for_the_lowest_value_and_zero() -> None:
    column = Column("balance", 1000, numeric=True, origin=-300)
    edges = starting_edges(column)
    assert edges[0] == 0
    assert edges[-1] == 1000
    assert {0, 1, 300, 301} <= set(edges.tolist())
    assert (np.diff(edges) > 0).all()
    assert len(starting_edges(column, 16)) < len(edges)


@pytest.mark.parametrize(("values", "numeric", "cells"), [(64, True, 64), (1000, False, 1000), (1, True, 1)])
def test_narrow_columns_and_categories_have_one_cell_per_value(values: int, numeric: bool, cells: int) -> None:
    assert len(starting_edges(Column("x", values, numeric=numeric))) == cells + 1


def test_the_null_cell_is_the_last_and_spikes_cut_a_cell_in_three() -> None:
    column = Column("x", 100, null=True, numeric=True, origin=0)
    edges = with_single_values(np.array([0, 50, 100]), np.array([40]))
    assert with_null(column, edges).tolist() == [0, 40, 41, 50, 100, 101]


def test_the_largest_spikes_are_kept_with_ties_by_code() -> None:
    codes = np.arange(30)
    counts = np.full(30, 7)
    counts[29] = 8
    assert largest_spikes(codes, counts).tolist() == [*range(23), 29]


def test_class_sizes_equal_those_of_the_listed_classes() -> None:
    classes = ValueClasses(-7, (1, 5, 10))
    listed = np.bincount(classes.of(np.arange(3, 60)), minlength=3)
    assert classes.sizes(3, 60).tolist() == listed.tolist()


def test_groupings_are_nested() -> None:
    masses = np.random.default_rng(1).exponential(1, 40)
    groupings = Groupings(masses, np.ones(39))
    for fine, coarse in product((3, 8, 16, 40), (1, 3, 8)):
        if coarse <= fine:
            assert np.array_equal(groupings.coarsen(fine, coarse)[groupings.map(fine)], groupings.map(coarse))
    assert groupings.at_most(39) == 39


def test_groups_follow_the_hierarchy_and_null_stays_alone() -> None:
    column = Column("job", 6, null=True, levels=((0, 2, 6),))
    edges = np.arange(8)
    groupings = Groupings(np.full(7, 1.0), barriers(column, edges))
    assert groupings.map(3).tolist() == [0, 0, 1, 1, 1, 1, 2]


def test_projection_is_the_nearest_point_of_the_simplex() -> None:
    assert project(np.array([3.0, 1.0, -5.0]), 2.0).tolist() == [2.0, 0.0, 0.0]
    assert np.allclose(project(np.array([1.0, 2.0, 3.0]), 6.0), [1, 2, 3])


def test_segments_find_a_step_and_ignore_noise() -> None:
    counts = np.concatenate([np.full(10, 100.0), np.full(10, 10.0)]) + np.tile([1.0, -1.0], 10)
    assert segments(counts, np.ones(20), np.full(20, 4.0)).tolist() == [0, 10]


def test_smoothing_leaves_hardly_any_mass_in_an_empty_tail() -> None:
    counts = np.array([500.0, 520.0, 3.0, -4.0, 6.0, 2.0])
    smoothed = smooth(counts, np.full(6, 25.0), np.ones(6), 1000.0)
    assert smoothed[2:].sum() < 0.1
    assert smoothed.sum() == pytest.approx(1000)


def test_combination_moves_counts_to_precise_sums() -> None:
    counts, variance = combine(
        np.array([10.0, 20.0, 5.0]), np.full(3, 4.0), np.array([0, 0, 1]), np.array([40.0, 5.0]), np.array([1e-9, 1e9])
    )
    assert counts == pytest.approx([15.0, 25.0, 5.0])
    assert variance[0] < 4
    assert variance[2] == pytest.approx(4)


@pytest.mark.parametrize("hub", [False, True])
@pytest.mark.parametrize("classes", [0, 2, 5])
@pytest.mark.parametrize("noisy", [-500, 0, 40, 3_000, 30_000, 10**7])
@pytest.mark.parametrize("wide", [0, 3])
@pytest.mark.parametrize("accuracy", [Fraction(0), Fraction(1, 25), Fraction(1, 4)])
def test_the_shares_of_every_branch_sum_to_one(
    hub: bool, classes: int, noisy: int, wide: int, accuracy: Fraction
) -> None:
    cells = [5, 40, 40, 2]
    start = rules.opening(noisy, 1.0, wide, cells, accuracy)
    plan = rules.plan(start, cells, 5, classes, hub, hub)
    spent = rules.SIZE + start.shape + accuracy + plan.hub + plan.label + plan.first + plan.selection + plan.tables
    assert spent == 1
    assert (plan.count == 0) == (plan.tables == 0)


def test_candidates_respect_the_cap_and_leave_out_pairs_with_the_target() -> None:
    pairs = candidates([2, 30, 5, 1, 16], 0, True, 40, {(1, 2)}, np.random.default_rng(0))
    assert pairs
    for members, groups in pairs:
        assert np.prod(groups) <= 40
        assert 3 not in members
        assert members != (1, 2)
        assert not (len(members) == 2 and 0 in members)
    assert any(0 in members for members, _ in pairs)


def test_first_round_survivors_join_components_and_the_list_starts_again() -> None:
    survivors = Survivors([(0, 1), (1, 2), (0, 2)], 3, joining=True)
    survivors.choose(0)
    assert survivors.left().tolist() == [1, 2]
    survivors.choose(1)
    assert survivors.left().tolist() == [
        2
    ]  # all columns are joined, so the list starts again with pairs that were not chosen
    survivors.choose(2)
    assert not len(survivors.left())


def test_a_label_tree_separates_soft_labels() -> None:
    dice = np.random.default_rng(2)
    cells = [dice.integers(6, size=2000), dice.integers(4, size=2000)]
    soft = np.where(cells[0] < 3, 0.1, np.where(cells[1] % 2 == 0, 0.9, 0.4))
    tree = label_tree(cells, [6, 4], [True, False], np.stack([1 - soft, soft]), 3)
    leaf = tree.locate(cells)
    assert tree.leaves == 3
    assert max(np.ptp(soft[leaf == number]) for number in range(3)) < 1e-12


def test_the_label_model_recovers_a_strong_effect_from_tables() -> None:
    dice = np.random.default_rng(3)
    cell = dice.integers(4, size=5000)
    counts = np.array([[9000.0, 1000.0], [5000.0, 5000.0], [2000.0, 8000.0], [9900.0, 100.0]])
    block = label_fit.Block(cell, counts, 50.0, (), 10.0)
    fitted = label_classes.fit([block], label_fit)
    p = fitted.probability(label_fit.stack([np.arange(4)], fitted.starts), label_fit)
    assert p[1] == pytest.approx([0.1, 0.5, 0.8, 0.01], abs=0.01)


def test_redrawn_labels_have_the_expected_number() -> None:
    probability = np.random.default_rng(4).random(10_000)
    share = probability.mean()
    labels = label_classes.redraw(
        np.stack([1 - probability, probability]), np.array([1 - share, share]), np.random.default_rng(5)
    )
    assert abs(labels.sum() - probability.sum()) <= 1


# ---- kernels compared with plain code ------------------------------------------------------------------------


def _random_model(seed: int, learned: bool) -> Model:
    dice = np.random.default_rng(seed)
    sizes = (2, 20, 5, 7, 3)
    groupings = tuple(Groupings(dice.random(size), np.ones(size - 1)) for size in sizes)
    one_way = tuple(dice.dirichlet(np.ones(size)) for size in sizes)
    classes = 4 if learned else sizes[0]
    given = tuple(dice.dirichlet(np.ones(size), classes) for size in sizes)
    tables = tuple(
        NoisyTable(columns, groups, dice.normal(60, 30, groups), 50.0)
        for columns, groups in [((1, 2), (8, 5)), ((0, 1, 3), (2, 4, 7)), ((2, 3, 4), (3, 4, 3)), ((1, 4), (16, 3))]
    )
    mixture = dice.dirichlet(np.ones(classes)) if learned else None
    return Model(one_way, given, groupings, tables, 5_000.0, None if learned else 0, mixture, 0 if learned else None)


@pytest.mark.parametrize("learned", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_kernels_draw_the_same_records_as_the_specification(seed: int, learned: bool) -> None:
    kernels = pytest.importorskip("cantle.methods.mosaic.model._generate_kernels")
    model = _random_model(seed, learned)
    plain = generate(model, 3_000, np.random.default_rng(seed), conditionals)
    fast = generate(model, 3_000, np.random.default_rng(seed), kernels)
    for left, right in zip(plain, fast, strict=True):
        assert left.dtype == right.dtype
        assert np.array_equal(left, right)


def test_density_inside_a_cell_follows_the_flatter_neighbour() -> None:
    """By hand: cells of an exponential, however wide they are, fall by their width times its rate. The one before a
    level cell is even, and so are cells at an end, a null cell, and cells of one density."""
    edges = np.array([0, 10, 15, 30, 60, 80, 100, 120, 121])
    below = 1 - np.exp(-edges[:6] / 20)
    counts = np.array([*np.rint(1e9 * np.diff(below)), 1e6, 1e6, 9])
    assert steepness(counts, edges, null=True)[1:4].tolist() == pytest.approx([-5 / 20, -15 / 20, -30 / 20], rel=0.02)
    assert not steepness(counts, edges, null=True)[[0, 6, 7]].any()
    assert np.abs(steepness(np.diff(edges) * 7, edges, null=False)).max() < 1e-9


def test_cells_with_few_records_are_joined_far_from_the_others() -> None:
    """By hand: only the second cell holds many records. From 20 on cells are about half as wide as they are far from
    it, 10, 10, 10, 20, 30; the last stays by itself. Without a cell of many records all stay."""
    edges, few = np.arange(0, 121, 10), np.zeros(12, dtype=np.int64)
    many = few + 50 * (np.arange(12) == 1)
    assert split_edges(edges, many, 0.1).tolist() == [0, 10, 20, 30, 40, 50, 70, 100, 110, 120]
    assert split_edges(edges, few, 0.1).tolist() == edges.tolist()


def test_values_inside_cells_follow_a_falling_density() -> None:
    """Cells of ten values of an exponential: each is hit about as often as it should be, where even cells miss some by
    half; a frequent value keeps its neighbours as they were."""
    dice, edges = np.random.default_rng(1), np.arange(0, 101, 10)
    true = np.minimum(dice.exponential(20, 200_000).astype(np.int64), 99)
    drawn = draw_values((true // 10).astype(np.uint8), edges, False, dice)
    assert (drawn // 10 == true // 10).all()
    inner = slice(10, 90)
    off, even = (
        np.abs(np.bincount(some, minlength=100) - np.bincount(true, minlength=100))[inner].sum()
        for some in (drawn, true // 10 * 10 + dice.integers(10, size=len(true)))
    )
    assert off < even / 2
    spike = np.repeat([0, 1, 2], [1_000, 50_000, 1_000])
    values = draw_values(spike.astype(np.uint8), np.array([0, 50, 51, 101]), False, dice)
    assert abs(np.mean(values[spike == 0]) - 24.5) < 2


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 1.0])
def test_kernels_draw_the_same_records_from_factors_that_are_mostly_zero(share: float) -> None:
    """The kernel leaves out the ends of rows that are 0, as those of fine counts often are."""
    kernels = pytest.importorskip("cantle.methods.mosaic.model._generate_kernels")
    dice, groups = np.random.default_rng(5), 20
    cells = dice.integers(12, size=(2, 4_000)).astype(np.uint8)
    factors = dice.random((24, groups))
    apart = np.abs(np.arange(24)[:, None] % 12 - np.arange(groups) * 12 / groups)
    factors[(apart > 3) | (dice.random(factors.shape) < share)] = 0.0
    rows = [[(0, np.arange(12))], [(1, np.arange(12, 24))], [(0, np.arange(12))]]
    places = Places.of([[(column, adds.astype(np.uint32)) for column, adds in one] for one in rows])
    words = np.array([3, 4], dtype=np.uint64)
    plain = conditionals.draw(cells, places, factors, 12, words)
    assert np.array_equal(plain, kernels.draw(cells, places, factors, 12, words))


@pytest.mark.parametrize("size", [1, 2, 3, 5, 64, 1000])
def test_each_part_of_a_stratum_has_one_uniform_number(size: int) -> None:
    """This holds for any size, and independently in two columns with the same strata."""
    keys = np.repeat(np.arange(4, dtype=np.uint32), size)
    first, second = (conditionals.spread(keys, 4, np.array(seed, dtype=np.uint64)) for seed in ((1, 2), (3, 4)))
    for key in range(4):
        assert np.array_equal(np.sort(np.floor(first[keys == key] * size)), np.arange(size))
    if size >= 64:
        assert abs(np.corrcoef(first, second)[0, 1]) < 4 / np.sqrt(len(keys))


def test_drawn_records_follow_a_strong_table() -> None:
    sizes = (6, 6)
    groupings = tuple(Groupings(np.ones(size), np.ones(size - 1)) for size in sizes)
    one_way = tuple(np.full(size, 1 / size) for size in sizes)
    table = NoisyTable((0, 1), sizes, np.eye(6) * 1000, 1.0)
    model = Model(one_way, tuple(p[None, :] for p in one_way), groupings, (table,), 6_000.0)
    first, second = generate(model, 6_000, np.random.default_rng(0), conditionals)
    assert (first == second).mean() > 0.98


def test_label_kernels_equal_their_specification() -> None:
    kernels = pytest.importorskip("cantle.methods.mosaic.model._label_kernels")
    dice = np.random.default_rng(7)
    rows = dice.integers(50, size=(6, 999)).astype(np.uint32)
    effects, values = dice.normal(size=50), dice.normal(size=999)
    assert np.array_equal(label_fit.gather(effects, rows), kernels.gather(effects, rows))
    assert np.array_equal(label_fit.scatter(values, rows, 50), kernels.scatter(values, rows, 50))


def test_classes_have_shares_even_if_their_distributions_have_no_common_cell() -> None:
    """Noise may lead to this if there are few records; all shares were 0, and drawing divided by 0."""
    one_way = [np.array([1.0, 0.0]), np.array([0.0, 1.0])]
    tables = [NoisyTable((0, 1), (2, 2), np.array([[0.0, 0.0], [9.0, 0.0]]), 1.0)]
    groupings = [Groupings(p, np.ones(1)) for p in one_way]
    shares, within = learn_classes(tables, one_way, groupings, 9.0, np.random.default_rng(1))
    assert len(shares) == CLASSES
    assert shares.sum() == pytest.approx(1)
    for p, column in zip(one_way, within, strict=True):
        assert shares @ column == pytest.approx(p)

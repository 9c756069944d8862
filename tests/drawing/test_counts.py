"""Post-processing compared with slow and plain solutions: least squares, projection, rounding, fitting, drawing."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cantle.drawing.counts import (
    Strata,
    fit_values,
    fresh_seed,
    project_rows,
    public_dice,
    round_rows,
    variance,
)
from cantle.drawing.tree import consistent, integers
from tests.effort import examples

SEEDS = st.integers(0, 2**32 - 1)


def random_tree(
    generator: np.random.Generator, deepest: int = 3
) -> tuple[list[tuple[np.ndarray, np.ndarray]], np.ndarray, dict[int, int]]:
    """Ids and parents by level, leaves, and the parent of every node; two to four children, or in every other tree
    two."""
    levels, leaves, parent, first = [(np.array([0]), np.array([-1]))], [], {}, 1
    most = int(generator.choice([2, 4]))
    for depth in range(deepest + 1):
        ids = levels[-1][0]
        split = generator.random(len(ids)) < 0.7
        if depth == deepest:
            split[:] = False
        leaves += ids[~split].tolist()
        if not split.any():
            break
        above = np.repeat(ids[split], generator.integers(2, most + 1, int(split.sum())))
        children = np.arange(first, first + len(above))
        parent |= dict(zip(children.tolist(), above.tolist(), strict=True))
        levels.append((children, above))
        first += len(children)
    return levels, np.array(leaves), parent


def number_of(levels: list[tuple[np.ndarray, np.ndarray]]) -> int:
    return sum(len(ids) for ids, _ in levels)


PAIR = [(np.array([0]), np.array([-1])), (np.array([1, 2]), np.array([0, 0]))]


def below(node: int, leaves: np.ndarray, parent: dict[int, int]) -> list[int]:
    """The positions of the leaves under a node."""
    positions = []
    for place, leaf in enumerate(leaves.tolist()):
        at = leaf
        while at != node and at in parent:
            at = parent[at]
        if at == node:
            positions.append(place)
    return positions


@examples(24)
@given(SEEDS, st.sampled_from([1.0, 0.6]))
def test_consistency_is_weighted_least_squares(seed: int, possible: float) -> None:
    """The cells of leaves are the unknowns; every cell and every measured node is an equation of weight 1/variance.

    Cells that are known to be empty are no unknowns, and their noise has no effect.
    """
    generator = public_dice(seed)
    levels, leaves, parent = random_tree(generator)
    nodes, width = number_of(levels), int(generator.integers(1, 4))
    value = generator.normal(10, 20, (len(leaves), width))
    cell_variance = generator.uniform(0.1, 9, len(leaves))
    size, size_variance = generator.normal(30, 20, nodes), generator.uniform(0.1, 9, nodes)
    size_variance[generator.random(nodes) < 0.4] = np.inf
    rows, target, weight = list(np.eye(value.size)), list(value.reshape(-1)), list(np.repeat(1 / cell_variance, width))
    for node in range(nodes):
        if np.isfinite(size_variance[node]):
            row = np.zeros((len(leaves), width))
            row[below(node, leaves, parent)] = 1
            rows.append(row.reshape(-1))
            target.append(size[node])
            weight.append(1 / size_variance[node])
    root, may = np.sqrt(np.array(weight)), generator.random(value.shape) < possible
    unknowns, solved = (np.array(rows) * root[:, None])[:, may.reshape(-1)], np.zeros(value.size)
    used = np.concatenate([may.reshape(-1), np.ones(len(rows) - value.size, dtype=np.bool_)])
    solution = np.linalg.lstsq(unknowns[used], (np.array(target) * root)[used], rcond=None)[0]
    solved[may.reshape(-1)] = solution
    cells = {"ids": leaves, "value": value, "variance": cell_variance}
    estimate = consistent(levels, cells, size.copy(), size_variance, None if possible == 1 else may)
    np.testing.assert_allclose(estimate.reshape(-1), solved, atol=1e-8)


@examples(24)
@given(SEEDS)
def test_impossible_cells_get_no_records(seed: int) -> None:
    """The total is kept, however small the estimates of the possible cells are."""
    generator = public_dice(seed)
    levels, leaves, _ = random_tree(generator)
    may = generator.random((len(leaves), 3)) < 0.5
    may[0, 0] = True
    estimate = np.where(may, generator.normal(3, 20, may.shape), 0.0)
    counts = integers(levels, leaves, estimate, may)
    assert (counts >= 0).all()
    assert not counts[~may].any()
    assert counts.sum() == max(0, round(float(estimate.sum())))


def test_consistency_by_hand() -> None:
    """The root is measured as 10, the leaves as 2 and 4, all with variance 1; three nodes share the gap of 4."""
    cells = {"ids": np.array([1, 2]), "value": np.array([[2.0], [4.0]]), "variance": np.ones(2)}
    estimate = consistent(PAIR, cells, np.array([10.0, 0, 0]), np.array([1, np.inf, np.inf]))
    assert estimate.reshape(-1).tolist() == pytest.approx([2 + 4 / 3, 4 + 4 / 3])


ROWS = arrays(np.float64, st.tuples(st.integers(1, 4), st.integers(1, 6)), elements=st.floats(-50, 50, width=32))


@given(ROWS, st.floats(0, 100))
def test_projection_satisfies_its_optimality_conditions(x: np.ndarray, total: float) -> None:
    """x* >= 0, sum = total, and one tau for the row: x*_i = x_i - tau where positive, x_i <= tau where 0."""
    projected = project_rows(x, np.full(len(x), total))
    assert (projected >= 0).all()
    np.testing.assert_allclose(projected.sum(axis=1), total, atol=1e-6)
    for before, after in zip(x, projected, strict=True):
        positive = after > 1e-9
        if positive.any():
            tau = (before - after)[positive]
            assert np.ptp(tau) < 1e-6
            assert (before[~positive] <= tau.mean() + 1e-6).all()


@pytest.mark.parametrize("seed", range(6))
def test_projection_is_the_nearest_point(seed: int) -> None:
    generator = public_dice(seed)
    x, total = generator.normal(0, 5, 5), 7.0
    nearest = scipy.optimize.minimize(
        lambda y: ((y - x) ** 2).sum(), np.full(5, total / 5), jac=lambda y: 2 * (y - x), bounds=[(0, None)] * 5,
        constraints={"type": "eq", "fun": lambda y: y.sum() - total, "jac": lambda y: np.ones_like(y)},
        method="SLSQP", options={"ftol": 1e-14, "maxiter": 500},
    )  # fmt: skip
    assert nearest.success or nearest.status == 8  # 8 means no further descent at this precision
    np.testing.assert_allclose(project_rows(x[None], np.array([total]))[0], nearest.x, atol=1e-5)


def test_projection_of_no_cells_is_no_cells() -> None:
    assert project_rows(np.zeros((3, 0)), np.zeros(3)).shape == (3, 0)


@given(ROWS, st.integers(0, 200))
def test_rounding_keeps_the_total_and_moves_each_cell_by_less_than_one(x: np.ndarray, total: int) -> None:
    exact = project_rows(x, np.full(len(x), float(total)))
    rounded = round_rows(exact, np.full(len(x), total))
    assert rounded.dtype == np.int64
    assert (rounded.sum(axis=1) == total).all()
    assert (rounded >= 0).all()
    assert (np.abs(rounded - exact) < 1 + 1e-6).all()


def test_rounding_gives_what_is_missing_to_the_largest_remainders() -> None:
    x = np.array([[0.2, 0.7, 0.6, 1.5]])
    assert round_rows(x, np.array([3])).tolist() == [[0, 1, 1, 1]]
    assert round_rows(np.array([[0.5, 0.5]]), np.array([1])).tolist() == [
        [1, 0]
    ]  # of equal remainders, the earlier cell


@examples(24)
@given(SEEDS)
def test_integers_add_up_at_every_node(seed: int) -> None:
    generator = public_dice(seed)
    levels, leaves, parent = random_tree(generator)
    nodes, width = number_of(levels), int(generator.integers(1, 4))
    cells = {"ids": leaves, "value": generator.normal(3, 9, (len(leaves), width)), "variance": np.ones(len(leaves))}
    estimate = consistent(levels, cells, np.zeros(nodes), np.full(nodes, np.inf))
    counts = integers(levels, leaves, estimate)
    assert counts.dtype == np.int64
    assert counts.shape == (len(leaves), width)
    assert (counts >= 0).all()
    assert counts.sum() == max(0, round(float(estimate.sum())))
    # A class whose estimates are all whole and not negative is unchanged.
    whole = np.abs(np.rint(estimate))
    assert integers(levels, leaves, whole).tolist() == whole.astype(int).tolist()


def test_integers_divide_each_class_from_the_root_down() -> None:
    """The root has (4, 3). In the first class -2 and 6 become 0 and 4, in the second 1.4 and 1.6 become 1 and 2."""
    cells = np.array([[-2.0, 1.4], [6.0, 1.6]])
    assert integers(PAIR, np.array([1, 2]), cells).tolist() == [[0, 1], [4, 2]]


@pytest.mark.parametrize("seed", range(5))
def test_fitted_values_reach_a_target_that_can_be_reached(seed: int) -> None:
    """The target comes from a known f, from which overlapping regions draw."""
    generator = public_dice(seed)
    truth = generator.uniform(0.2, 3, 12)
    lo = np.array([0, 2, 5, 0, 6])
    hi = np.array([6, 9, 12, 12, 8])
    weight = generator.uniform(50, 300, 5)
    target = np.zeros(12)
    for a, b, w in zip(lo, hi, weight, strict=True):
        target[a:b] += w * truth[a:b] / truth[a:b].sum()
    f = fit_values(target, lo, hi, weight)
    shown = np.zeros(12)
    for a, b, w in zip(lo, hi, weight, strict=True):
        shown[a:b] += w * f[a:b] / f[a:b].sum()
    np.testing.assert_allclose(shown, target, rtol=2e-3)


def test_fitted_values_are_positive_somewhere_in_every_region() -> None:
    f = fit_values(np.array([10.0, 0, 0, 0]), np.array([0, 2]), np.array([2, 4]), np.array([5.0, 5.0]))
    assert (f > 0).all()
    assert np.isfinite(f).all()
    assert np.isfinite(fit_values(np.zeros(3), np.array([0]), np.array([3]), np.array([0.0]))).all()


@given(SEEDS)
def test_drawn_codes_stay_in_their_spans_and_have_the_right_counts(seed: int) -> None:
    generator = public_dice(seed)
    size, regions = int(generator.integers(1, 9)), int(generator.integers(1, 6))
    lo = generator.integers(0, size, regions)
    hi = lo + 1 + generator.integers(0, size - lo)
    counts = generator.integers(0, 12, regions)
    f = generator.uniform(0, 2, size) * (generator.random(size) < 0.8)
    codes = Strata(counts).draw(f, lo, hi, generator)
    assert len(codes) == counts.sum()
    for i, (a, b) in enumerate(pairwise([0, *np.cumsum(counts).tolist()])):
        assert ((codes[a:b] >= lo[i]) & (codes[a:b] < hi[i])).all()


@given(SEEDS)
def test_drawn_codes_follow_f_as_closely_as_possible(seed: int) -> None:
    """Draws are stratified: each code of a region appears within two of its expected number."""
    generator = public_dice(seed)
    f = generator.uniform(0.1, 3, 6)
    count = int(generator.integers(1, 200))
    codes = Strata(np.array([count])).draw(f, np.array([1]), np.array([5]), generator)
    expected = count * f[1:5] / f[1:5].sum()
    assert (np.abs(np.bincount(codes, minlength=6)[1:5] - expected) < 2).all()


def test_drawing_is_shuffled_within_a_region() -> None:
    """Stratified draws must not be sorted, because the order of records would show their values."""
    codes = Strata(np.array([500])).draw(np.ones(50), np.array([0]), np.array([50]), public_dice(1))
    assert abs(np.corrcoef(codes, np.arange(500))[0, 1]) < 0.2


@pytest.mark.parametrize("rate", [0.01, 0.5, 1.0, 3.0])
def test_variance_is_that_of_discrete_laplace_noise(rate: float) -> None:
    k = np.arange(-6000, 6001)
    law = np.exp(-rate * np.abs(k))
    assert float(variance(rate)) == pytest.approx(float((law * k**2).sum() / law.sum()), rel=1e-9)


def test_seeds_are_fresh_and_fit_into_json() -> None:
    seeds = {fresh_seed() for _ in range(50)}
    assert len(seeds) == 50
    assert all(0 <= seed < 2**53 for seed in seeds)


def test_a_variance_is_never_nothing() -> None:
    assert (1 / variance(np.array([1e-9, 1.0, 800.0, 1e6])) > 0).all()
    assert np.isfinite(1 / variance(np.array([1e-9, 1.0, 800.0, 1e6]))).all()

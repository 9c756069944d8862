"""Post-processing of `baskets`: sizes, supports, plans, pool, raking, draw; kernels compared with plain code."""

from fractions import Fraction

import numpy as np
import pytest

from cantle.drawing.counts import public_dice, systematic
from cantle.errors import ParameterError
from cantle.methods.baskets.model import pair_plan, synthesis
from cantle.methods.baskets.model.given_pairs import GivenPairs, find_pairs
from cantle.methods.baskets.model.item_supports import ItemSupports, fit_supports
from cantle.methods.baskets.model.pool import HeadModel, make_pool
from cantle.methods.baskets.model.sizes import SizeModel, fit_sizes, size_edges
from cantle.methods.baskets.model.synthesis import Features
from cantle.trusted.counting import basket_counts
from cantle.trusted.geometry.item_partitions import PARTS


def some_sizes(records=1000.0):
    return SizeModel(np.array([1, 2, 4]), records * np.array([0.5, 0.25, 0.25]), records)


def some_measured(universe=12, records=1000.0, head=False):
    """Sizes, decreasing supports and three pairs; items 0 and 1 are the head if there is one."""
    sizes = some_sizes(records)
    support = sizes.occurrences / np.arange(1, universe + 1) / (1 / np.arange(1, universe + 1)).sum()
    items = ItemSupports(support, np.zeros(universe), support, 4, 1.0)
    pairs = GivenPairs(np.arange(universe), np.array([0, 2, 7]), records * np.array([0.1, 0.05, 0.04]), 6, 2.0, 1.0)
    patterns = HeadModel(np.array([0, 1]), np.array([0, 1, 3]), records * np.array([0.4, 0.4, 0.1]), records * 0.1)
    return synthesis.Measured(sizes, items, patterns if head else HeadModel.none(records), pairs)


# ---- sizes ------------------------------------------------------------------------------------------------


def test_size_bins_cover_all_sizes_in_four_steps_per_octave():
    edges = size_edges(100_000)
    assert edges[0] == 1
    assert edges[-1] == 897
    assert np.diff(edges)[8:].tolist() == [2] * 4 + [4] * 4 + [8] * 4 + [16] * 4 + [32] * 4 + [64] * 4 + [128] * 3
    assert size_edges(1).tolist() == [1]


def test_sizes_without_noise_equal_the_counts():
    edges = size_edges(40)
    truth = np.array([500, 300, 200, 100, 80, 60, 50, 40, 60, 40, 30, 20, 20, 10, 8, 6, 5])
    model = fit_sizes(truth, edges, 40, rate=100.0)
    assert model.total == truth.sum()
    bins = np.bincount(np.searchsorted(edges, model.size, side="right") - 1, model.count)
    assert np.allclose(bins, truth[: len(bins)])
    inside = model.count[(model.size >= 17) & (model.size <= 20)]
    assert (np.diff(inside) < 0).all()  # counts fall inside a wide bin, as in adjacent bins


@pytest.mark.parametrize("noisy", [[0, 0, 0], [-50, -7, 3], [1, 0, 0]])
def test_sizes_of_very_few_records_are_positive(noisy):
    model = fit_sizes(np.array(noisy), size_edges(3), 3, rate=0.04)
    assert model.records >= 1
    assert model.occurrences >= 1
    assert np.isfinite(model.ordered_pairs_per_item)


def test_a_tail_of_noise_is_removed():
    noisy = np.array([1000, 400, 100, 3, -2, 1, 0, 2])
    assert fit_sizes(noisy, size_edges(8), 8, rate=0.5).size.max() == 3


# ---- supports ---------------------------------------------------------------------------------------------


def noisy_supports(rng, truth, scale, strata):
    split = np.stack([truth * 0.6, truth * 0.4]) if strata == 2 else truth[None, :]
    return split + rng.laplace(0, scale, split.shape)


@pytest.mark.parametrize("strata", [1, 2])
def test_posterior_means_are_nearer_than_clipped_counts(strata):
    rng = public_dice(3)
    truth = 3000 / np.arange(1, 2001)
    sizes = SizeModel(np.array([3]), np.array([truth.sum() / 3]), truth.sum() / 3)
    noisy = noisy_supports(rng, truth, 10.0, strata)
    fitted = fit_supports(noisy, 10.0, 3, sizes)
    clipped = np.maximum(noisy.sum(axis=0), 0)
    assert np.abs(fitted.support - truth).sum() < 0.65 * np.abs(clipped - truth).sum()
    assert fitted.support.min() >= 0


def test_departments_improve_estimates_of_items_below_the_noise():
    rng = public_dice(4)
    departments = np.arange(4000) // 500
    truth = np.repeat([0.0, 0.0, 1.0, 0.0, 12.0, 0.0, 6.0, 0.0], 500)
    sizes = SizeModel(np.array([2]), np.array([truth.sum() / 2]), truth.sum() / 2)
    noisy = noisy_supports(rng, truth, 20.0, 1)
    without = fit_supports(noisy, 20.0, 2, sizes)
    with_them = fit_supports(noisy, 20.0, 2, sizes, departments)
    assert np.abs(with_them.support - truth).sum() < 0.7 * np.abs(without.support - truth).sum()


def test_counts_of_long_records_are_scaled_back():
    sizes = SizeModel(np.array([1, 10]), np.array([1000.0, 1000.0]), 2000.0)
    short, long = np.array([900.0, 100.0, 0.0, 0.0]), np.array([100.0, 100.0, 1000.0, 800.0])
    fitted = fit_supports(np.stack([short, long]), 0.01, 2, sizes)
    assert np.allclose(fitted.support, np.minimum(short + long * 5, 2000), rtol=0.02)


def test_items_below_the_noise_follow_the_stratum_with_most_records():
    rng = public_dice(6)
    truth = 60_000 / np.arange(100, 3100)
    sizes = SizeModel(np.array([2, 8]), truth.sum() * np.array([0.05, 0.225]), truth.sum() * 0.275)
    noisy = np.stack([truth * 0.1, truth * 0.9]) + rng.laplace(0, 50.0, (2, 3000))
    apart = fit_supports(noisy, 50.0, 4, sizes)
    added = fit_supports(noisy.sum(axis=0)[None], 50.0 * 2**0.5, 4, sizes)
    support = truth * (0.1 + 0.9 * apart.enlarge)
    assert np.abs(apart.support - support).sum() < 0.9 * np.abs(added.support - support).sum()


def test_frequent_items_keep_their_share_in_each_stratum():
    sizes = SizeModel(np.array([2, 8]), np.array([500.0, 2250.0]), 2750.0)
    noisy = np.array([[900.0, 0.0, 100.0], [1000.0, 4500.0, 3500.0]])
    fitted = fit_supports(noisy, 0.5, 4, sizes)
    assert np.allclose(np.stack([fitted.short, fitted.long]), noisy, atol=10)


def test_items_of_short_records_are_expected_in_the_shorter_ones_of_the_long_records():
    size, most = np.arange(1, 41), 4
    sizes = SizeModel(size, 20_000.0 / size, float((20_000 / size).sum()))
    chance = size ** np.linspace(-1, 1, 90)[:, None]
    held = sizes.count * size * chance / chance.sum(axis=0)
    noisy = np.stack([held[:, :most].sum(axis=1), (held * most / size)[:, most:].sum(axis=1)])
    fitted, truth = fit_supports(noisy, 0.01, most, sizes), held.sum(axis=1)
    as_measured = noisy[0] + noisy[1] * fitted.enlarge
    assert np.abs(fitted.support - truth).sum() < 0.6 * np.abs(as_measured - truth).sum()
    assert np.isclose(fitted.support.sum(), truth.sum(), rtol=1e-3)


def test_without_short_records_there_is_no_trend():
    sizes = SizeModel(np.array([8]), np.array([1000.0]), 1000.0)
    noisy = np.array([[3.0, -5.0, 9.0], [2000.0, 1000.0, 1000.0]])
    fitted = fit_supports(noisy, 0.5, 4, sizes)
    assert np.allclose(fitted.long, noisy[1], rtol=0.01)


def test_records_of_one_item_have_less_noise_if_counted_separately():
    rng = public_dice(5)
    single, other = np.linspace(0, 300, 60), np.linspace(900, 0, 60)
    sizes = SizeModel(np.array([1, 3]), np.array([single.sum(), other.sum() / 3]), single.sum() + other.sum() / 3)
    noisy = np.stack([3 * single, other]) + rng.laplace(0, 30.0, (2, 60))
    fitted = fit_supports(noisy, 30.0, 3, sizes, singles=True)
    assert np.abs(fitted.single - single).mean() < 15
    assert np.allclose(fitted.support, fitted.single + fitted.short + fitted.long)


# ---- plans ------------------------------------------------------------------------------------------------


def test_shares_never_exceed_epsilon():
    for records in (1.0, 1e4, 1e5, 1e7):
        for accuracy in (Fraction(0), Fraction(1, 25)):
            plan = pair_plan.plan_items(some_sizes(records), 300, 1.0, accuracy, True)
            rest = 1 - pair_plan.SIZES_SHARE - accuracy
            assert plan.share == rest if not plan.pairs else plan.share <= rest - pair_plan.HEAD_SHARE
            assert plan.pairs == (records >= pair_plan.POOR)


def test_with_more_noise_fewer_items_per_record_are_counted():
    size = np.arange(1, 31)
    shape = size * np.exp(-size / 6)
    plans = {
        records: pair_plan.plan_items(
            SizeModel(size, records * shape / shape.sum(), records), 10_000, 1.0, Fraction(0), True
        )
        for records in (8_000, 40_000, 80_000)
    }
    most = [plan.most for plan in plans.values()]
    assert most == sorted(set(most))


def test_items_get_more_than_half_only_where_noise_hides_most_of_them():
    sizes = some_sizes(30_000.0)
    few, many = (pair_plan.plan_items(sizes, items, 1.0, Fraction(0), True) for items in (50, 100_000))
    assert few.share <= Fraction(1, 2) < many.share <= Fraction(11, 20)
    assert many.pairs


def test_cells_of_pairs_and_their_positions_are_inverse():
    high = np.repeat(np.arange(1, 400), np.arange(1, 400))
    low = np.arange(len(high)) - high * (high - 1) // 2
    cells = pair_plan.pair_cells(low, high)
    assert np.array_equal(cells, np.arange(len(cells)))
    assert all(np.array_equal(a, b) for a, b in zip(pair_plan.pair_places(cells), (low, high), strict=True))
    far = np.array([3000 * 2999 // 2 - 1])
    assert [int(place[0]) for place in pair_plan.pair_places(far)] == [2998, 2999]


def test_cells_that_are_always_given_are_expected_above_the_threshold():
    support, sizes = np.array([10.0, 500.0, 300.0, 90.0]), some_sizes(1000.0)
    cells = pair_plan._expected(support, sizes, 40.0)
    spread = sizes.ordered_pairs_per_item / sizes.occurrences
    expected = [
        int(pair_plan.pair_cells(np.array([a]), np.array([b]))[0])
        for b in range(4)
        for a in range(b)
        if support[a] * support[b] * spread > 40.0
    ]
    assert expected
    assert cells.tolist() == expected


@pytest.mark.parametrize("universe", [2, 3, 50, 5000])
def test_pair_plans_fit_the_universe(universe):
    support = 10_000 / np.arange(1, universe + 1)
    plan = pair_plan.plan_pairs(support, some_sizes(50_000.0), 1.0, 0.5)
    assert 2 <= len(plan.items) <= universe
    assert plan.scale >= 1
    assert plan.at_least >= 1
    assert (np.diff(plan.always) > 0).all()
    assert plan.always.max(initial=0) < plan.pairs == len(plan.items) * (len(plan.items) - 1) // 2


# ---- pool, raking, draw -----------------------------------------------------------------------------------


@pytest.mark.parametrize("head", [False, True])
@pytest.mark.parametrize("universe", [6, 12, 2000])
def test_kernels_make_the_same_pool_and_weights(head, universe):
    pytest.importorskip("numba")
    measured, answers = some_measured(universe, head=head), []
    for compiled in (False, True):
        pool = make_pool(
            measured.head,
            measured.sizes,
            synthesis.first_model(measured),
            measured.items.support,
            700,
            public_dice(5, compiled=compiled),
        )
        pairs = find_pairs(pool, measured.pairs, universe, compiled=compiled)
        weights = synthesis.pool_weights(pool, measured, compiled=compiled)
        answers.append((pool.starts, pool.items, pool.cell, pairs.starts, pairs.rows, pairs.top, weights))
    for plain, kernel in zip(*answers, strict=True):
        assert plain.dtype == kernel.dtype
        assert plain.tobytes() == kernel.tobytes()


@pytest.mark.parametrize("head", [False, True])
def test_records_of_the_pool_are_sets_of_their_size(head):
    measured = some_measured(head=head)
    pool = make_pool(
        measured.head, measured.sizes, synthesis.first_model(measured), measured.items.support, 2000,
        public_dice(1),
    )  # fmt: skip
    inside = np.diff(pool.items)
    inside[pool.starts[1:-1] - 1] = 1
    assert (inside > 0).all()  # items of a record are ascending and distinct
    assert set(np.diff(pool.starts).tolist()) <= {1, 2, 3, 4}
    if head:
        held = [
            sum((item in record) << j for j, item in enumerate((0, 1)))
            for record in np.split(pool.items, pool.starts[1:-1])
        ]
        known = pool.cell < 3
        assert np.array_equal(np.array(held)[known], measured.head.mask[pool.cell[known]])


def test_patterns_with_equally_many_head_items_have_the_same_sizes():
    """Patterns and sizes are both drawn in order; matched by order, one pattern would get all small sizes."""
    sizes = some_sizes(1000.0)
    head = HeadModel(np.array([0, 1]), np.array([1, 2]), np.array([500.0, 500.0]), 0.0)
    measured = synthesis.Measured(sizes, some_measured().items, head, GivenPairs.none())
    model = synthesis.first_model(measured)
    pool = make_pool(head, sizes, model, measured.items.support, 4000, public_dice(2))
    alone = [(np.diff(pool.starts)[pool.cell == cell] == 1).mean() for cell in (0, 1)]
    assert abs(alone[0] - alone[1]) < 0.1


@pytest.mark.parametrize("compiled", [False, True])
def test_a_record_of_the_largest_size_has_every_item(compiled):
    if compiled:
        pytest.importorskip("numba")
    sizes = SizeModel(np.array([5]), np.array([100.0]), 100.0)
    items = ItemSupports(np.array([100.0, 1e-6, 0.0, 0.0, 0.0]), np.zeros(5), np.full(5, 1e-9), 5, 1.0)
    measured = synthesis.Measured(sizes, items, HeadModel.none(100.0), GivenPairs.none())
    starts, codes = synthesis.synthesise(measured, public_dice(0, compiled=compiled))
    assert codes.reshape(100, 5).tolist() == [[0, 1, 2, 3, 4]] * 100
    assert starts[-1] == 500


def exact_answers(records, universe, most):
    """The answers to the questions about these records without noise; pairs of items, and no head."""
    sizes = [len(record) for record in records]
    starts, items = np.cumsum([0, *sizes]), np.concatenate(records)
    counts = basket_counts.count_sizes(starts, size_edges(universe))
    model = fit_sizes(counts, size_edges(universe), universe, rate=1000.0)
    supports = basket_counts.count_items(starts, items, universe, most, True).reshape(2, universe) / PARTS
    pairs = basket_counts.count_pairs(starts, items, universe, np.arange(universe), most)
    cells = np.flatnonzero(pairs)
    given = GivenPairs(np.arange(universe), cells, pairs[cells] / PARTS, most, 5.0, 1.0)
    return synthesis.Measured(model, fit_supports(supports, 1e-3, most, model), HeadModel.none(model.records), given)


def _measured(feature, weights):
    """The measurement of each feature under these weights."""
    owner = np.repeat(np.arange(len(feature.target)), np.diff(feature.starts))
    return np.bincount(owner, (weights * feature.part)[feature.rows], len(feature.target))


def test_raked_weights_of_the_pool_match_pairs_supports_and_sizes():
    rng, universe = public_dice(8), 14
    kinds = [np.sort(rng.choice(universe, size, replace=False)) for size in rng.integers(1, 5, size=60)]
    measured = exact_answers([kinds[k] for k in rng.integers(len(kinds), size=5000)], universe, 3)
    model = synthesis.first_model(measured)
    pool = make_pool(measured.head, measured.sizes, model, measured.items.support, 20_000, public_dice(1))
    [pairs], (items, _, sizes) = synthesis.features_of(pool, measured)
    unraked = np.full(20_000, 5000 / 20_000)
    weights = synthesis.pool_weights(pool, measured)
    off = np.abs(_measured(pairs, weights) - pairs.target)
    assert np.median(off) <= 2 * measured.pairs.noise
    assert off.sum() < 0.4 * np.abs(_measured(pairs, unraked) - pairs.target).sum()
    assert np.abs(_measured(items, weights) - items.target).sum() < 0.01 * items.target.sum()
    assert np.allclose(_measured(sizes, weights), sizes.target, rtol=1e-6)


def test_weights_stay_below_their_cap():
    features = Features(np.array([0, 1]), np.zeros(1, np.int32), np.array([1e9]), np.ones(2), 1e-9, (0.25, 4.0))
    nothing = Features(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0), np.ones(2), 1.0, (0.25, 4.0))
    assert synthesis.rake(np.ones(2), [nothing], [features], 7.0).tolist() == [7.0, 1.0]


def test_systematic_draws_follow_weights_and_never_take_a_weight_of_zero():
    drawn = systematic(np.array([0.0, 3.0, 1.0, 0.0]), 400, public_dice(0))
    assert np.bincount(drawn, minlength=4).tolist() == [0, 300, 100, 0]


@pytest.mark.parametrize("total", [-40.0, 0.0, 0.4])
def test_no_records_are_drawn_where_the_noisy_number_is_below_one(total):
    measured = some_measured()
    sizes = SizeModel(measured.sizes.size, measured.sizes.count / 1000, total)
    starts, codes = synthesis.synthesise(
        synthesis.Measured(sizes, measured.items, measured.head, measured.pairs), public_dice(0)
    )
    assert starts.tolist() == [0]
    assert not len(codes)


def test_more_records_than_can_be_drawn_are_refused():
    with pytest.raises(ParameterError, match="raise epsilon"):
        synthesis.synthesise(some_measured(), public_dice(0), 10**9)


def test_the_same_seed_draws_the_same_records():
    first, second = (synthesis.synthesise(some_measured(head=True), public_dice(9)) for _ in range(2))
    assert all(a.tobytes() == b.tobytes() for a, b in zip(first, second, strict=True))
    assert len(first[0]) == 1001


FEW_SIZES = {
    "geometric": (np.array([0.3 * 0.7**size for size in range(30)]), 0.3),
    "up to six": (np.full(6, 1 / 6), 0.3),
    "all of four": (np.array([0.0, 0.0, 0.0, 1.0]), 0.1),
    "one, or about nine": (np.array([0.6, 0, 0, 0, 0, 0, 0.05, 0.1, 0.1, 0.1, 0.05]), 0.5),
}
"""Shares of sizes from 1 on, and the relative error of the mean size that 500 records may have at epsilon 1."""


@pytest.mark.parametrize("name", FEW_SIZES)
def test_few_records_keep_their_sizes(name):
    share, allowed = FEW_SIZES[name]
    rng, edges, size = public_dice(4), size_edges(50), np.arange(1, len(share) + 1)
    truth = np.bincount(np.searchsorted(edges, size, side="right") - 1, 500 * share, len(edges)).round().astype(int)
    chance = -np.expm1(-0.04)
    noisy = [truth + rng.geometric(chance, len(edges)) - rng.geometric(chance, len(edges)) for _ in range(40)]
    models = [fit_sizes(one, edges, 50, 0.04) for one in noisy]
    errors = [model.occurrences / model.records / (share @ size / share.sum()) - 1 for model in models]
    assert np.median(np.abs(errors)) < allowed
    assert all(model.count.sum() == pytest.approx(model.total) for model in models)


def test_few_records_are_not_lost_with_their_uncertain_sizes():
    """If hardly any size exceeds the noise, the number of records is still right on average."""
    rng, edges, truth = public_dice(2), size_edges(30), np.zeros(16, np.int64)
    truth[:6] = 100
    chance = -np.expm1(-0.04)
    noisy = [truth + rng.geometric(chance, 16) - rng.geometric(chance, 16) for _ in range(200)]
    totals = [fit_sizes(one, edges, 30, 0.04).total for one in noisy]
    assert 540 < np.mean(totals) < 660


def test_few_sets_of_many_items_keep_their_number_and_sizes() -> None:
    dice, edges = np.random.default_rng(4), size_edges(500)
    for shortest, longest in ((40, 80), (100, 200), (3, 8)):
        sizes = dice.integers(shortest, longest, 1000)
        exact = np.bincount(np.searchsorted(edges, sizes, side="right") - 1, minlength=len(edges))
        for _ in range(5):
            noisy = np.rint(exact + dice.laplace(0, 25, len(edges))).astype(np.int64)
            fitted = fit_sizes(noisy, edges, 500, 0.04)
            assert fitted.total == pytest.approx(1000, rel=0.5)
            assert fitted.occurrences / fitted.records == pytest.approx(sizes.mean(), rel=0.35)

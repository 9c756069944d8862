"""Estimates of one column's counts from noisy ones: segments, combination with other tables, projection.

Far outside of where the records of a numeric column are, noisy counts are replaced by what is expected there (`tail`):
noise must not become a long tail. A bounded column may have most of its cells where no record is. Their noise adds up
to a good part of the records, spread over the whole range; means and spreads of skewed columns would then be many times
too large. Emptying these cells would make them too small. Everything here is computed from noisy counts.

`shrink` moves noisy counts towards what is expected of them, by a prior that all of them suggest.
"""

from __future__ import annotations

import numpy as np

from cantle.drawing.counts import Floats, each_dot, mix
from cantle.trusted.core.arrays import Bools, Codes
from cantle.trusted.geometry.boxes import Ints

STRONG = 6.0
"""A piece whose sum exceeds this many standard deviations of its noise surely holds records. Of fifty empty cells, one
exceeds three standard deviations in every second column, and it would make the whole range a place of records."""

REACH = 0.25
"""A cell is far if it is farther from the span of all strong pieces than this part of the span's length."""

_RATES = 2.0 ** np.arange(-3, 8, 0.25)  # how fast a tail may fall at first, per length of the span
_LIKELY = 4.0  # such a rate if the last two strong pieces suggest none
_UNSURE, _SPREAD = 1.0, 0.5  # the spread of the logarithm of this rate, and of one that two pieces suggest
_HEAVY, _POWER = 0.25, 3.0  # how likely it is that density falls with a power of the distance, and that power
# Both were chosen on columns of 13 tables, with bounds as wide as their values and five times as wide: if a faster rate
# is presumed more firmly, most records of a small table end up in its one clear piece.
_ENDS = 0.1  # how likely it is that there is no tail, beside that rate
_AMOUNT = 4.0  # inverse variance of the number of records in the tail, relative to what the rate lets expect
_SURE = 2.5  # standard deviations from which on the last cell is believed, in full from one more on


def tail(counts: Floats, variance: Floats, widths: Floats, starts: Ints) -> tuple[Bools, Floats]:
    """Which cells are far above all strong pieces, and how many records are expected in them.

    `starts` are those of pieces of constant density. Beyond the last strong piece density falls exponentially or with a
    power of the distance: expected is the mean over all such tails, by how likely the last two strong pieces and the
    noisy counts make them; the counts also say how much of a tail there is.
    The last cell, where values above the bound count too, may hold more; that is believed if it clearly exceeds its
    noise. A span of one value is no place where records are: beyond a frequent value comes the rest of the column.
    """
    place = np.concatenate([[0.0], np.cumsum(widths)])
    first, last = place[starts], place[np.append(starts[1:], len(widths))]
    sums, noise = np.add.reduceat(counts, starts), np.add.reduceat(variance, starts)
    strong = np.flatnonzero(sums > STRONG * np.sqrt(noise))
    if not len(strong) or last[strong[-1]] - first[strong[0]] <= 1:
        return np.zeros(len(widths), dtype=np.bool_), np.zeros(len(widths))
    low, high = first[strong[0]], last[strong[-1]]
    density, middle = sums[strong] / (last - first)[strong], (first + last)[strong] / 2
    likely, spread = _LIKELY / (high - low), _UNSURE
    if len(strong) > 1 and density[-1] < density[-2]:
        likely, spread = np.log(density[-2] / density[-1]) / (middle[-1] - middle[-2]), _SPREAD

    rates = _RATES / (high - low)
    fallen = rates[:, None] * np.maximum(place - high, 0.0)
    beyond = (sums[strong[-1]] / np.expm1(rates * (last - first)[strong[-1]]))[:, None]
    tails = [beyond * -np.diff(above) for above in (np.exp(-fallen), (1 + fallen / _POWER) ** -_POWER)]
    expected = np.concatenate([*tails, np.zeros((1, len(widths)))])
    certain, seen = (_AMOUNT + (part * expected / variance).sum(axis=1) for part in (expected, counts))
    amount = np.maximum(seen / certain, 0.0)
    usual = -((np.log(rates / likely) / spread) ** 2) / 2
    prior = np.concatenate([usual + np.log(1 - _HEAVY), usual + np.log(_HEAVY), [np.log(_ENDS)]])
    score = prior + amount * seen - (amount**2 * certain + np.log(certain)) / 2
    weights = np.exp(score - score.max())
    mean = mix(weights / weights.sum() * amount, expected)
    more = counts[-1:] - mean[-1:]
    mean[-1:] += more * np.clip(more / np.sqrt(variance[-1:]) - _SURE, 0.0, 1.0)
    return place[:-1] >= high + REACH * (high - low), mean


_FEW = 16
"""Up to so many categories no prior is fitted, which gains nothing there."""

SEGMENT_PRICE = 3.0
"""The price of one more segment: how much more it must explain, in units of the noise variance."""

LEAST_COUNT = 1e-3
"""A cell far outside in which fewer records are expected stays empty: ratios to such counts would exceed all bounds."""

LEAST_VARIANCE = 1e-6
"""The smallest variance used: counts known better than this count as exact, and nothing is divided by 0."""


_DOUBT = 2.0
"""Where nothing is known of its surroundings, half of a count is believed at about this many times its noise."""


def believed(counts: Floats, noise: Floats) -> Floats:
    """Which part of noisy counts is believed by themselves; `noise` are their variances."""
    return np.maximum(0.0, 1 - _DOUBT**2 * noise / np.maximum(counts, LEAST_VARIANCE) ** 2)


def project(values: Floats, total: float) -> Floats:
    """The nearest vector (Euclidean) with entries >= 0 that sum to `total`."""
    return project_rows(values[None, :], np.array([total]))[0]


def project_onto(values: Floats, total: float, may: Bools | None) -> Floats:
    """The same, with entries of 0 where `may` is false."""
    if may is None or not may.any():
        return project(values, total)
    projected = np.zeros(len(values))
    projected[may] = project(values[may], total)
    return projected


def project_rows(values: Floats, totals: Floats) -> Floats:
    """`project` for every row."""
    falling = -np.sort(-values, axis=1)
    excess = (np.cumsum(falling, axis=1) - totals[:, None]) / np.arange(1, values.shape[1] + 1)
    last = np.maximum((falling > excess).sum(axis=1) - 1, 0)
    shift = np.take_along_axis(excess, last[:, None], axis=1)
    return np.maximum(values - shift, 0.0)


def project_runs(values: Floats, starts: Ints, totals: Floats) -> Floats:
    """Each run of values, projected onto those that are not negative and sum to its total; runs of similar length
    together, since a group of nearly empty cells may hold hundreds."""
    many = np.diff(np.append(starts, len(values)))
    lengths = np.ceil(np.log2(many)).astype(np.int64)
    projected = np.zeros(len(values))
    for length in np.unique(lengths).tolist():
        runs = np.flatnonzero((lengths == length) & (totals > 0))
        places = np.arange(1 << length)
        there = places < many[runs, None]
        at = np.where(there, starts[runs, None] + places, 0)
        low = np.where(there, values[at], -1e300)  # so low that it stays out of the projection
        projected[at[there]] = project_rows(low, totals[runs])[there]
    return projected


def segments(counts: Floats, widths: Floats, variance: Floats) -> Ints:
    """Starts of the optimal pieces of constant density: least squares in units of the noise, plus a price per piece."""
    cells = len(counts)
    variance = np.maximum(variance, LEAST_VARIANCE)
    sum_xx = np.concatenate([[0.0], np.cumsum(counts**2 / variance)])
    sum_xw = np.concatenate([[0.0], np.cumsum(counts * widths / variance)])
    sum_ww = np.concatenate([[0.0], np.cumsum(widths**2 / variance)])
    best = np.zeros(cells + 1)
    start = np.zeros(cells + 1, dtype=np.int64)
    for end in range(1, cells + 1):
        misfit = sum_xx[end] - sum_xx[:end] - (sum_xw[end] - sum_xw[:end]) ** 2 / (sum_ww[end] - sum_ww[:end])
        costs = best[:end] + misfit + SEGMENT_PRICE
        start[end] = np.argmin(costs)
        best[end] = costs[start[end]]
    starts, end = [], cells
    while end:
        end = int(start[end])
        starts.append(end)
    return np.array(starts[::-1], dtype=np.int64)


def smooth(counts: Floats, variance: Floats, widths: Floats | None, total: float) -> Floats:
    """Non-negative counts that sum to `total`.

    Numeric columns (`widths` given, one per cell of values) become pieces of constant density, with what is expected
    far outside of the pieces that surely hold records. The other pieces of a column that has one frequent value, and a
    null cell after all pieces, are believed as far as they exceed their noise. Many categories follow the prior
    that their counts suggest, because most of them may be below the noise.
    """
    values = counts.astype(np.float64)
    if widths is None and len(values) > _FEW:
        values = by_their_prior(values, float(variance.mean() / 2) ** 0.5)
    if widths is None:
        return project(values, total)
    cells = len(widths)
    own, spread = values[:cells], variance[:cells]
    starts = segments(own, widths, spread)
    lengths = np.diff(np.append(starts, cells))
    sums, noise = np.add.reduceat(own, starts), np.add.reduceat(spread, starts)
    density = np.add.reduceat(own * widths / spread, starts) / np.add.reduceat(widths**2 / spread, starts)
    strong = np.flatnonzero(sums > STRONG * np.sqrt(noise))
    if len(strong) == 1 and widths[starts[strong[0]]] * lengths[strong[0]] <= 1:
        density = density * believed(sums, noise)
    null = values[cells:] * believed(values[cells:], variance[cells:])
    fitted = np.append(np.repeat(density, lengths) * widths, null)
    above, upper = tail(own, spread, widths, starts)
    below, lower = tail(own[::-1], spread[::-1], widths[::-1], cells - (starts + lengths)[::-1])
    result = np.zeros(len(values))
    result[:cells] = np.where(above, upper, np.where(below, lower, 0.0)[::-1])
    result[result < LEAST_COUNT] = 0.0
    result *= min(1.0, total / max(float(result.sum()), 1.0))
    kept = fitted > 0
    kept[:cells] &= ~(above | below[::-1])
    if not kept.any():
        return project(fitted, total)
    result[kept] = project(fitted[kept], total - float(result.sum()))
    return result


def combine(
    counts: Floats, variance: Floats, group: Codes, sums: Floats, sums_variance: Floats
) -> tuple[Floats, Floats]:
    """Counts and variances corrected by noisy sums of groups of counts; the gain is var_x / (var_x + var_y), and the
    correction is divided equally inside a group."""
    size = np.bincount(group)
    own = np.bincount(group, variance)
    gain = own / (own + sums_variance)
    step = gain * (sums - np.bincount(group, counts)) / size
    return counts + step[group], np.maximum(variance * (1 - gain / size)[group], LEAST_VARIANCE)


CLEAR = 12.0
"""A noisy count of at least this many noise scales is used as it is."""

_RATIOS = np.concatenate([[0.0], 2.0 ** np.arange(-5, 5.01, 0.5)])  # counts as multiples of what is expected
_SCALES = np.concatenate([[0.5, 1.0, 1.5], np.arange(2.0, 17.0)])  # and as multiples of the noise
_EMPTY, _BEFORE = 0.7, 10.0  # the share of empty cells before any is seen, and how many cells that is worth
_GROUP = 1.5  # octaves of what is expected that share a prior
_ALIKE = 30.0  # how many cells of a group the prior of all cells is worth
_ROUNDS = 100
_MOST = 8000  # cells from which a prior is fitted
_BLOCK = 50_000
_KEPT = 6.0  # a sum is kept if it exceeds its noise this often
_LEAST = 0.02  # noise scales that are expected at least


def fit_prior(likelihood: Floats, number: Floats, usual: Floats, rounds: int, worth: float = 0.0) -> Floats:
    """The weights of values under which noisy counts are most likely, by expectation-maximisation; the rows of
    `likelihood` are noisy counts, each of which occurs `number` times, its columns are values. What is usual is worth
    so many counts."""
    whole, prior = number.sum() + worth, usual
    for _ in range(rounds):
        shown = each_dot(likelihood, prior)
        prior = (prior * mix(number / np.maximum(shown, 1e-300), likelihood) + worth * usual) / whole
    return prior


def shrink(noisy: Floats, expected: Floats, scale: float) -> Floats:
    """Posterior means of counts of which `expected` is expected, given noisy ones with Laplace noise of this scale.

    Where much less than the noise is expected the answer is what is expected; where a count exceeds the noise it is the
    count. The prior is the one under which the noisy counts are most likely. Groups of cells of which about as much is
    expected have their own, near that of all cells, and keep their sum if it is clear.
    """
    made = np.maximum(noisy, 0.0)
    unclear, expected = np.flatnonzero(noisy < CLEAR * scale), np.maximum(expected, _LEAST * scale)
    usual = np.full(len(_RATIOS) + len(_SCALES), (1 - _EMPTY) / (len(_RATIOS) + len(_SCALES)))
    usual[0] += _EMPTY
    usual = _prior(noisy[unclear], expected[unclear], scale, usual, _BEFORE)
    group = np.clip(np.floor(np.log2(expected[unclear] / scale) / _GROUP), -4, 4)
    for one in np.unique(group).tolist():
        mine = unclear[group == one]
        made[mine] = _of_group(noisy[mine], expected[mine], scale, usual)
    return made


def by_their_prior(noisy: Floats, scale: float) -> Floats:
    """Posterior means of counts that are all of one kind, given noisy ones with Laplace noise of this scale."""
    weak = noisy < CLEAR * scale
    if not weak.any():
        return noisy
    values = np.concatenate([[0.0], scale * 2.0 ** np.arange(-3, 4.5, 0.5)])
    off = np.abs(noisy[weak, None] - values) / scale
    likelihood = np.exp(off.min(axis=1, keepdims=True) - off)
    prior = fit_prior(likelihood, np.ones(len(off)), np.full(len(values), 1 / len(values)), 48)
    made = noisy.copy()
    made[weak] = each_dot(likelihood * values, prior) / each_dot(likelihood, prior)
    return made


def _of_group(noisy: Floats, expected: Floats, scale: float, usual: Floats) -> Floats:
    prior = _prior(noisy, expected, scale, usual, _ALIKE)
    made = np.empty(len(noisy))
    for first in range(0, len(noisy), _BLOCK):
        here = slice(first, first + _BLOCK)
        likelihood, values = _likelihood(noisy[here], expected[here], scale)
        made[here] = each_dot(likelihood * values, prior) / each_dot(likelihood, prior)
    total = float(noisy.sum())
    if total > _KEPT * scale * len(noisy) ** 0.5:
        made *= np.clip(total / max(float(made.sum()), 1e-300), 0.5, 2.0)
    return made


def _prior(noisy: Floats, expected: Floats, scale: float, usual: Floats, worth: float) -> Floats:
    """The weights of values under which noisy counts are most likely, by expectation-maximisation; what is usual is
    worth so many counts."""
    some = np.arange(len(noisy))[:: max(1, -(-len(noisy) // _MOST))]
    likelihood, _ = _likelihood(noisy[some], expected[some], scale)
    return fit_prior(likelihood, np.ones(len(some)), usual, _ROUNDS, worth)


def _likelihood(noisy: Floats, expected: Floats, scale: float) -> tuple[Floats, Floats]:
    """How likely each noisy count is under each value (up to a factor per count), and the values."""
    values = np.concatenate(
        [expected[:, None] * _RATIOS, np.broadcast_to(scale * _SCALES, (len(noisy), len(_SCALES)))], 1
    )
    off = np.abs(noisy[:, None] - values) / scale
    return np.exp(off.min(axis=1, keepdims=True) - off), values
